"""The commands, one module each: options, checks and printing. No other module imports them."""
