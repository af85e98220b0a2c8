"""Tuning of the weights of the expert bot."""
