"""Weaker opponents: two bots mixed decision by decision.

A decision's key determines which of the two decides, so a mixed bot is as reproducible as its parts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gunzi_agents.base import Agent, joined
from gunzi_agents.options import number
from gunzi_agents.uniform import Uniform
from gunzi_env.keys import mix
from gunzi_env.observe import View

BLUNDERS = {"easy": 0.3, "medium": 0.12, "hard": 0.04}
"""Probability of a random move in ``NAME@LEVEL``."""

_SALT = np.uint64(0x6D69786564)
_UNIT = 2.0**-64


@dataclass(frozen=True)
class MixedOptions:
    """Options of ``mixed(AGENT, AGENT)``."""

    share: float = number(0.5, 0, 1)
    """Probability that the second agent decides."""


@dataclass(frozen=True)
class WeakOptions:
    """Options of ``weak(AGENT)``."""

    blunders: float = number(0.1, 0, 1)
    """Probability of a random move."""


class Mixed(Agent):
    """Two bots in one: each decision is the second one's with probability ``share``, else the first one's."""

    def __init__(self, first: Agent, second: Agent, share: float, name: str | None = None) -> None:
        if not 0 <= share <= 1:
            raise ValueError(f"share is {share}: it must be within 0..1")
        self.agents = (first, second)
        self.share = share
        self.name = name or f"mixed({first.name}, {second.name}, share={share:g})"
        self.identity = joined(first, second)

    def reset(self) -> None:
        """Reset both."""
        for agent in self.agents:
            agent.reset()

    def act(self, view: View, legal: npt.NDArray[np.bool_], keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
        """See :meth:`gunzi_agents.base.Agent.act`."""
        second = mix(keys, _SALT) * _UNIT < self.share
        actions = np.zeros(len(view), np.int32)
        for agent, rows in zip(self.agents, (np.flatnonzero(~second), np.flatnonzero(second)), strict=True):
            if len(rows):
                actions[rows] = agent.act(view.rows(rows), legal[rows], keys[rows])
        return actions


def weak(agent: Agent, blunders: float, name: str | None = None) -> Mixed:
    """Mix a bot with random moves, whose probability is ``blunders``."""
    return Mixed(agent, Uniform(), blunders, name or f"weak({agent.name}, blunders={blunders:g})")
