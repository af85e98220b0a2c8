"""One training from start to stop, with its matches and sampled hands."""
