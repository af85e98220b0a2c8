"""Play hands to their end with one bot in all four seats."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gunzi_agents.base import Agent
from gunzi_env import engine, observe
from gunzi_env.keys import mix
from gunzi_env.tables import Phase, Tables

_SPARSE = 0.7
"""Once fewer of the tables are still playing, they are moved together: finished ones cost time as well."""


def play_out(agent: Agent, tables: Tables, keys: npt.NDArray[np.uint64]) -> None:
    """Play every table to the end of its hand, in place.

    Args:
        agent: decides for whoever is to move.
        tables: N tables in any phase.
        keys: uint64[N]; the decisions of a table are keyed by its key, the seat and the ply.
    """
    _play_on(agent, tables, keys, 0)


def _play_on(agent: Agent, tables: Tables, keys: npt.NDArray[np.uint64], ply: int) -> None:
    while True:
        live = np.flatnonzero(tables.phase != Phase.OVER)
        if len(live) == 0:
            return
        if len(live) < _SPARSE * tables.num:
            rest = tables.select(live)
            _play_on(agent, rest, keys[live], ply)
            tables.assign(live, rest)
            return
        actions = np.full(tables.num, tables.actions.PASS, np.int32)  # not looked at where the hand is over
        legal = tables.actions.unpack(tables.legal[live])
        actions[live] = agent.act(observe.view(tables, live), legal, mix(keys[live], tables.seat[live], ply))
        engine.step(tables, actions, skip_forced=True)
        ply += 1
