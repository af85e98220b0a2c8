"""Tuning of the expert bot's weights."""
