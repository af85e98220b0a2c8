"""Short duplicate matches during training, played as in the arena, to measure the present strength.

A few dozen deals in one batch are split over the processes. Matches do not affect learning.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gunzi_agents import registry
from gunzi_agents.base import Agent, AgentError
from gunzi_agents.checkpoint import CheckpointError
from gunzi_agents.playing import AgentFault
from gunzi_env.rules import Rules
from gunzi_eval.matches.duplicate import hands_of_block
from gunzi_eval.stats.intervals import Interval, mean_interval, share_interval
from gunzi_train.errors import FaultElsewhere, Interrupted
from gunzi_train.group import Group
from gunzi_train.logs.history import FIGURES

FAULTS = (AgentFault, AgentError, CheckpointError)
"""Errors of an opponent."""


def match(
    agent: Agent,
    opponent: str,
    rules: Rules,
    *,
    seed: int,
    deals: int,
    group: Group,
    signalled: Callable[[], int] = lambda: 0,
) -> dict[str, Interval]:
    """Measure levels per hand, points per hand and share of hands won by ``agent``; each deal is played twice.

    Args:
        agent: the agent to measure.
        opponent: spec of the other agent.
        rules: the rules to play.
        seed: the same seed gives the same deals.
        deals: number of deals.
        group: the processes, which share the deals; each gets the whole result.
        signalled: returns the exit code of a signal to this process, 0 without one.

    Raises:
        Interrupted: in all processes, after a signal to one of them.
        AgentFault, AgentError, CheckpointError: the opponent failed in this process.
        FaultElsewhere: the opponent failed in another process.
    """
    own = np.arange(group.rank, deals, group.world, dtype=np.uint64)
    values = np.zeros((len(FIGURES), deals))

    def playing(here: bool = True, *, wrong: bool = False) -> bool:
        """Ask, equally often in every process, whether one still plays: an opponent may be slow at each ply."""
        anyone, code, faults = group.sum(np.array([here, signalled(), wrong], np.float64))
        if faults and not wrong:
            raise FaultElsewhere(f"{opponent} failed in another process")
        if code and not faults:
            raise Interrupted(int(code), "in a match")
        return bool(anyone)

    try:
        if len(own):
            agents = (agent, registry.make(opponent, rules))
            figures = hands_of_block(agents, rules, own, seed, watch=playing).metrics()
            values[:, own] = [getattr(figures, name) for name in FIGURES]
        while playing(False):
            pass
    except FAULTS:
        playing(wrong=True)
        raise
    values = group.sum(values)
    return {
        name: (share_interval if name == "hands_won" else mean_interval)(row)
        for name, row in zip(FIGURES, values, strict=True)
    }


def row(opponent: str, deals: int, found: dict[str, Interval]) -> dict[str, Any]:
    """Format the result for metrics.jsonl."""
    return {"opponent": opponent, "deals": deals} | {name: interval.as_dict() for name, interval in found.items()}
