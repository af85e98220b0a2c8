"""Hidden hands consistent with a View, drawn uniformly."""

from gunzi_env.resample.draw import resample

__all__ = ["resample"]
