"""The parts that algorithms which learn from rollouts share: network, optimiser, source, counters and state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from gunzi_agents.base import Agent
from gunzi_agents.networks import ActorCritic, Network, from_arrays, to_arrays
from gunzi_agents.neural import NeuralAgent
from gunzi_train.algorithms.base import Arrays, Counters
from gunzi_train.algorithms.optimiser import FlatAdam
from gunzi_train.device import FORWARD_ROWS, autocast, choose
from gunzi_train.errors import NonFinite
from gunzi_train.group import Group
from gunzi_train.plan import Plan
from gunzi_train.rollout.collector import Floats, HandStats, Rollout, Source, make_collector, shape_of
from gunzi_train.seeds import derived_seed


def linear(start: float, end: float, done: float) -> float:
    """Interpolate a setting over the schedule.

    >>> linear(1.0, 0.5, 0.5)
    0.75
    """
    return start + (end - start) * done


class Learner(ABC):
    """An :class:`~gunzi_train.algorithms.base.Algorithm` that collects a rollout and learns from it, over and over.

    A subclass says how it learns (:meth:`learn`), and may say what network it trains (:meth:`make_network`).

    Args:
        plan: the settings.
        group: the processes of the run.
        source: the source of rollouts; None for tables in this process.
        lr: learning rate of the first step.
    """

    figures: ClassVar[tuple[str, ...]] = ()

    def __init__(self, plan: Plan, group: Group, source: Source | None = None, *, lr: float) -> None:
        config = plan.config
        self.config, self.rules, self.group, self.bf16 = config, plan.rules, group, plan.bf16
        self.device = choose(config.device, group.rank)
        first = torch.Generator().manual_seed(derived_seed(config.seed, "weights"))
        self.net: Any = self.make_network(first).to(self.device)
        self.optimiser = FlatAdam(self.net, lr)
        self.generator = torch.Generator().manual_seed(derived_seed(config.seed, "minibatches", group.rank))
        self.source: Source = source or make_collector(config, plan.rules, group.rank)
        self.counters = Counters()

    def make_network(self, generator: torch.Generator) -> Network:
        """Make the untrained network, equal in all processes."""
        return ActorCritic(shape_of(self.config, self.rules), generator)

    @abstractmethod
    def learn(self, rollout: Rollout, done: float) -> dict[str, float]:
        """Improve the weights, in all processes together; returns figures for the log.

        Raises:
            FloatingPointError: naming a tensor that is not finite, in every process and before a step is made.
        """

    def update(self, done: float) -> dict[str, float]:
        """See :class:`~gunzi_train.algorithms.base.Algorithm`."""
        rollout, hands = self._collect()
        try:
            figures = self.learn(rollout, done)
            self.optimiser.require_finite(self.group)
        except FloatingPointError as error:
            raise NonFinite(f"update {self.counters.updates + 1}: {error}") from None
        self.counters.updates += 1
        self.counters.decisions += self.group.world * rollout.actions.size
        return figures | self._hand_figures(hands)

    def _collect(self) -> tuple[Rollout, HandStats]:
        """Collect; errors tell the position, so that it can be reproduced."""
        number = self.counters.updates + 1
        try:
            return self.source.collect(self.net, self.bf16)
        except NonFinite as error:
            raise NonFinite(f"update {number}: {error}") from None
        except Exception as error:
            error.add_note(f"in update {number}: {self.source.where()}")
            raise

    def _hand_figures(self, stats: HandStats) -> dict[str, float]:
        sums = dict(zip(HandStats.NAMES, self.group.sum(stats.vector()).tolist()))
        hands = sums.pop("hands")
        self.counters.hands += int(hands)
        return {f"hand_{name}": total / hands for name, total in sums.items()} if hands else {}

    def points_weight(self, done: float) -> float:
        """Compute the weight of points in the reward."""
        return linear(self.config.reward.points, self.config.reward.points_final, done)

    def rewards(self, rollout: Rollout, done: float) -> Floats:
        """Compute the rewards of team 0 after each decision, float32[T, N]."""
        return rollout.levels + np.float32(self.points_weight(done)) * rollout.points

    def forward(self, rows: int, compute: Callable[[slice], Tensor]) -> Tensor:
        """Compute float32[rows] in parts and without gradient; ``compute`` gets the rows of each part."""
        out = torch.empty(rows)
        with torch.inference_mode(), autocast(self.bf16, self.device):
            for start in range(0, rows, FORWARD_ROWS):
                part = slice(start, start + FORWARD_ROWS)
                out[part] = compute(part)
        return out

    def agent(self, name: str) -> Agent:
        """See :class:`~gunzi_train.algorithms.base.Algorithm`."""
        return NeuralAgent(self.net, self.rules, name)

    def start_from(self, weights: Arrays) -> None:
        """See :class:`~gunzi_train.algorithms.base.Algorithm`."""
        from_arrays(self.net, weights)
        self.group.broadcast_(self.optimiser.weights.data)  # the other training may have saved in between

    def shared_state(self) -> Arrays:
        """See :class:`~gunzi_train.algorithms.base.Algorithm`."""
        return to_arrays(self.net) | self.optimiser.state()

    def own_state(self) -> Arrays:
        """See :class:`~gunzi_train.algorithms.base.Algorithm`."""
        return self.source.state() | {"minibatches": self.generator.get_state().numpy().copy()}

    def restore(self, shared: Arrays, own: Arrays | None, counters: dict[str, Any]) -> None:
        """See :class:`~gunzi_train.algorithms.base.Algorithm`."""
        from_arrays(self.net, shared)
        self.optimiser.restore(shared)
        self.counters = Counters.from_dict(counters)
        if own is not None:
            self.source.restore(own)
            self.generator.set_state(torch.from_numpy(own["minibatches"].copy()))
