"""Rollouts: where the decisions that an algorithm learns from come from."""
