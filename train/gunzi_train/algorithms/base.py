"""The interface of a training algorithm, and how one is made.

A new algorithm is a module here, with a class that has the attributes of :class:`Algorithm` (:mod:`.learner` holds what
algorithms that learn from rollouts share), and a line in :data:`gunzi_train.config.sections.ALGORITHMS` with its
section of settings. An algorithm of another package is registered instead (:func:`gunzi_train.config.register`).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Protocol

import numpy.typing as npt

from gunzi_agents.base import Agent
from gunzi_agents.networks import Network
from gunzi_train.config import algorithm_class
from gunzi_train.group import Group
from gunzi_train.plan import Plan
from gunzi_train.rollout.collector import Source

Arrays = dict[str, npt.NDArray[Any]]


@dataclass
class Counters:
    """Progress of a run, summed over its processes."""

    updates: int = 0
    hands: int = 0
    decisions: int = 0

    def as_dict(self) -> dict[str, int]:
        """Convert into plain JSON types."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Counters:
        """Read the counters of a checkpoint, which may hold other entries; ``KeyError`` if one is missing."""
        return cls(*(int(values[name]) for name in ("updates", "hands", "decisions")))


class Algorithm(Protocol):
    """One process of a training: what a session (:mod:`gunzi_train.run.session`) needs of an algorithm."""

    figures: ClassVar[tuple[str, ...]]
    """Names of the figures of an update that the log, the curve and the progress table show."""
    net: Network
    """The network whose weights are saved."""
    source: Source
    """The source of its rollouts."""
    counters: Counters

    def update(self, done: float) -> dict[str, float]:
        """Collect and learn once, together with the other processes; returns figures for the log.

        Args:
            done: completed share of the schedule, 0 to 1.

        Raises:
            NonFinite: naming the update and the tensor; the weights are those before the faulty step.
        """

    def agent(self, name: str) -> Agent:
        """Make the agent that plays with the present weights in matches and samples."""

    def start_from(self, weights: Arrays) -> None:
        """Take the weights of another training, those of process 0; ``ValueError`` if they do not fit."""

    def shared_state(self) -> Arrays:
        """Return the state that is equal in all processes: weights and optimiser."""

    def own_state(self) -> Arrays:
        """Return the state of this process: its source and generators."""

    def restore(self, shared: Arrays, own: Arrays | None, counters: dict[str, Any]) -> None:
        """Continue from a checkpoint, with new tables if ``own`` is None; ``ValueError`` if it does not fit."""


def make(plan: Plan, group: Group, source: Source | None = None) -> Algorithm:
    """Make the algorithm that ``plan.config.algorithm`` names.

    Args:
        plan: the settings, equal in all processes.
        group: the processes of the run.
        source: the source of rollouts; None for tables in this process.

    Raises:
        KeyError: no such algorithm.
    """
    made: Algorithm = algorithm_class(plan.config.algorithm)(plan, group, source)
    return made
