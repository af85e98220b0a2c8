"""Short duplicate matches while training goes on, by the arena's own means: where a run stands.

A few dozen deals in one batch, shared by the processes. Nothing here touches what is learned from.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gunzi_agents import registry
from gunzi_agents.networks import ActorCritic
from gunzi_agents.neural import NeuralAgent
from gunzi_env.rules import Rules
from gunzi_eval.duplicate import play_block
from gunzi_eval.intervals import Interval, mean_interval, share_interval
from gunzi_train.distributed import Group
from gunzi_train.history import FIGURES


def match(net: ActorCritic, opponent: str, rules: Rules, *, seed: int, deals: int, group: Group) -> dict[str, Interval]:
    """Levels per hand, points per hand and share of hands won by ``net`` against an agent, each deal played twice.

    The processes of ``group`` share the deals; each gets the whole result. The same ``seed`` gives the same deals.
    """
    mine = np.arange(group.rank, deals, group.world, dtype=np.uint64)
    values = np.zeros((len(FIGURES), deals))
    if len(mine):
        agents = (NeuralAgent(net, rules, "trained"), registry.make(opponent, rules))
        figures = play_block(agents, rules, mine, seed)
        values[:, mine] = [getattr(figures, name) for name in FIGURES]
    net.train()
    values = group.sum(values)
    return {
        name: (share_interval if name == "hands_won" else mean_interval)(row)
        for name, row in zip(FIGURES, values, strict=True)
    }


def row(opponent: str, deals: int, found: dict[str, Interval]) -> dict[str, Any]:
    """The result as it stands in metrics.jsonl."""
    return {"opponent": opponent, "deals": deals} | {name: interval.as_dict() for name, interval in found.items()}
