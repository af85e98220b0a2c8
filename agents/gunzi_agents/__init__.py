"""Bots that play Da Gunzi.

An agent answers a batch of decisions at once: :class:`~gunzi_agents.base.Agent`. :func:`make` builds one from a
text such as ``"uniform"``, ``"greedy"`` or the path of a training run.
"""

from gunzi_agents.base import Agent, AgentError
from gunzi_agents.registry import make, names

__all__ = ["Agent", "AgentError", "make", "names"]
