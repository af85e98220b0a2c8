"""Published tables, one version a preset: the states that hands start from, and match equity."""
