"""Many tables for training, stepped with one call, in one process or several."""

from gunzi_env.vector.env import VectorEnv
from gunzi_env.vector.episodes import Result
from gunzi_env.vector.processes import WorkerLost

__all__ = ["Result", "VectorEnv", "WorkerLost"]
