"""Vectorised environment: many tables stepped with one call, in one or several processes."""

from gunzi_env.vector.env import VectorEnv
from gunzi_env.vector.episodes import Result
from gunzi_env.vector.processes import WorkerLost

__all__ = ["Result", "VectorEnv", "WorkerLost"]
