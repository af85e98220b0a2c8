"""Short duplicate matches while training goes on, by the arena's own means: where a run stands.

A few dozen deals in one batch, shared by the processes. Nothing here touches what is learned from.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gunzi_agents import registry
from gunzi_agents.base import AgentError
from gunzi_agents.checkpoint import CheckpointError
from gunzi_agents.networks import ActorCritic
from gunzi_agents.neural import NeuralAgent
from gunzi_agents.playing import AgentFault
from gunzi_env.rules import Rules
from gunzi_eval.matches.duplicate import hands_of_block
from gunzi_eval.stats.intervals import Interval, mean_interval, share_interval
from gunzi_train.errors import FaultElsewhere, Interrupted
from gunzi_train.group import Group
from gunzi_train.logs.history import FIGURES

FAULTS = (AgentFault, AgentError, CheckpointError)
"""How an opponent may go wrong."""


def match(
    net: ActorCritic,
    opponent: str,
    rules: Rules,
    *,
    seed: int,
    deals: int,
    group: Group,
    signalled: Callable[[], int] = lambda: 0,
) -> dict[str, Interval]:
    """Levels per hand, points per hand and share of hands won by ``net`` against an agent, each deal played twice.

    The processes of ``group`` share the deals; each gets the whole result. The same ``seed`` gives the same deals.
    ``signalled`` gives the exit code for a signal that came to this process, 0 for none.

    All processes come to the same end:

    Raises:
        Interrupted: one of them got a signal.
        AgentFault, AgentError, CheckpointError: the opponent went wrong here.
        FaultElsewhere: it went wrong in another process.
    """
    mine = np.arange(group.rank, deals, group.world, dtype=np.uint64)
    values = np.zeros((len(FIGURES), deals))

    def playing(here: bool = True, *, wrong: bool = False) -> bool:
        """Asked by each process as often: does one of them still play? An opponent may think for long at each ply."""
        anyone, code, faults = group.sum(np.array([here, signalled(), wrong], np.float64))
        if faults and not wrong:
            raise FaultElsewhere(f"{opponent} went wrong in another process")
        if code and not faults:
            raise Interrupted(int(code), "in a match")
        return bool(anyone)

    try:
        if len(mine):
            agents = (NeuralAgent(net, rules, "trained"), registry.make(opponent, rules))
            figures = hands_of_block(agents, rules, mine, seed, watch=playing).metrics()
            values[:, mine] = [getattr(figures, name) for name in FIGURES]
        while playing(False):
            pass
    except FAULTS:
        playing(wrong=True)
        raise
    finally:
        net.train()
    values = group.sum(values)
    return {
        name: (share_interval if name == "hands_won" else mean_interval)(row)
        for name, row in zip(FIGURES, values, strict=True)
    }


def row(opponent: str, deals: int, found: dict[str, Interval]) -> dict[str, Any]:
    """The result as it stands in metrics.jsonl."""
    return {"opponent": opponent, "deals": deals} | {name: interval.as_dict() for name, interval in found.items()}
