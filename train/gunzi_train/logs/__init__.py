"""Metrics of a run: writing, reading, drawing and showing them."""
