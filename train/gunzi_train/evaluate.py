"""Short duplicate matches while training goes on: the same deals with the teams exchanged, played by argmax.

Not the arena: a few dozen deals in one batch, to see where a run stands. Nothing here touches what is learned from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gunzi_agents import registry
from gunzi_agents.base import Agent
from gunzi_agents.networks import ActorCritic
from gunzi_agents.neural import NeuralAgent
from gunzi_env import engine, observe, starts
from gunzi_env.deal import mix
from gunzi_env.rules import Rules
from gunzi_env.tables import Phase, Tables
from gunzi_train.distributed import Group

FIGURES = ("levels", "points", "hands_won")
_EVALUATION = 0x65766C  # keeps these deals apart from those of self-play


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % interval from paired deals."""

    mean: float
    low: float
    high: float

    def as_dict(self) -> dict[str, float]:
        """Plain JSON types."""
        return {"mean": self.mean, "low": self.low, "high": self.high}


def match(net: ActorCritic, opponent: str, rules: Rules, *, seed: int, deals: int, group: Group) -> dict[str, Estimate]:
    """Levels per hand, points per hand and share of hands won by ``net`` against an agent, each deal played twice.

    The processes of ``group`` share the deals; each gets the whole result. The same ``seed`` gives the same deals.
    """
    mine = np.arange(group.rank, deals, group.world, dtype=np.uint64)
    sums = np.zeros((2 * len(FIGURES) + 1,), np.float64)
    if len(mine):
        pairs = _play(NeuralAgent(net, rules, "trained"), registry.make(opponent, rules), rules, seed, mine)
        sums[0] = len(mine)
        sums[1 : 1 + len(FIGURES)] = pairs.sum(axis=0)
        sums[1 + len(FIGURES) :] = np.square(pairs).sum(axis=0)
    net.train()
    sums = group.sum(sums)
    count = sums[0]
    means = sums[1 : 1 + len(FIGURES)] / count
    spread = np.maximum(sums[1 + len(FIGURES) :] / count - means**2, 0.0) * count / max(1.0, count - 1)
    reach = 1.96 * np.sqrt(spread / count)
    return {name: Estimate(float(m), float(m - r), float(m + r)) for name, m, r in zip(FIGURES, means, reach)}


def _play(
    first: Agent, second: Agent, rules: Rules, seed: int, deals: npt.NDArray[np.uint64]
) -> npt.NDArray[np.float64]:
    """float64[deals, figures] from the first agent's view, the mean of the two tables of each deal."""
    count = len(deals)
    ids = np.concatenate((deals, deals))
    tables = Tables(rules, 2 * count)
    engine.reset(tables, seed, table_ids=ids, begin=False)
    levels, dealer, blood = starts.sample(rules, mix(np.uint64(seed), np.uint64(_EVALUATION), ids))
    engine.begin_hand(tables, np.arange(2 * count), levels=levels, dealer=dealer, blood=blood)
    team = np.repeat(np.array([0, 1], np.int8), count)  # of the first agent
    actions = np.zeros(2 * count, np.int32)
    ply = 0
    while (open_ := np.flatnonzero(tables.phase != Phase.OVER)).size:
        legal = engine.legal(tables)
        for agent, side in ((first, team), (second, 1 - team)):
            rows = open_[tables.seat[open_] % 2 == side[open_]]
            if len(rows):
                keys = mix(np.uint64(seed), ids[rows], tables.seat[rows].astype(np.uint64), np.uint64(ply))
                actions[rows] = agent.act(observe.view(tables, rows), legal[rows], keys)
        engine.step(tables, actions, skip_forced=True)
        ply += 1
    figures = _figures(tables, team)
    return (figures[:count] + figures[count:]) / 2


def _figures(tables: Tables, team: npt.NDArray[np.int8]) -> npt.NDArray[np.float64]:
    rows = np.arange(tables.num)
    gain = tables.gain.astype(np.float64)
    levels = gain[rows, team] - gain[rows, 1 - team]
    attacks = tables.dealer % 2 != team
    above = tables.score.astype(np.float64) - tables.rules.take
    points = np.where(attacks, above, -above)
    won = np.where(attacks, above >= 0, above < 0)
    return np.stack((levels, points, won.astype(np.float64)), axis=1)


def row(opponent: str, deals: int, found: dict[str, Estimate]) -> dict[str, Any]:
    """The result as it stands in metrics.jsonl."""
    return {"opponent": opponent, "deals": deals} | {name: estimate.as_dict() for name, estimate in found.items()}
