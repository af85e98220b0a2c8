"""One example for each clause of the rules."""
