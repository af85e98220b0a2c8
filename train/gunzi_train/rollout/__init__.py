"""Rollouts: the decisions that algorithms learn from."""
