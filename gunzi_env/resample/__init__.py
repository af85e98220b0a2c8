"""Uniform sampling of hidden hands consistent with a View (determinisation)."""

from gunzi_env.resample.draw import resample

__all__ = ["resample"]
