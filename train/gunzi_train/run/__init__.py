"""One training from start to stop."""
