"""The commands, one module each: arguments, checks, printing. Nothing else imports them."""
