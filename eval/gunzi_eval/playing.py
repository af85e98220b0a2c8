"""Play tables on, each seat by an agent of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from gunzi_agents.base import Agent
from gunzi_agents.playing import ask
from gunzi_env import engine, observe
from gunzi_env.keys import mix
from gunzi_env.tables import NOBODY, Index, Phase, Tables
from gunzi_eval.matches.duplicate import MAX_HANDS


@dataclass
class Sitting:
    """Tables and who plays at them.

    ``who int8[N, 4]`` is the number of each seat's agent; decisions are keyed by ``keys uint64[N]``, the seat and the
    ply alone, so that a table plays the same in any batch.
    """

    tables: Tables
    agents: Sequence[Agent]
    who: npt.NDArray[np.int8]
    keys: npt.NDArray[np.uint64]
    plies: npt.NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self.plies = np.zeros(self.tables.num, np.int64)
        for agent in self.agents:
            agent.reset()

    @classmethod
    def alone(cls, tables: Tables, agent: Agent, keys: npt.NDArray[np.uint64]) -> Sitting:
        """One agent in all seats."""
        return cls(tables, [agent], np.zeros((tables.num, 4), np.int8), keys)

    def _advance(self) -> Index:
        """One decision at every table whose hand is not over; returns these tables."""
        t = self.tables
        live = np.flatnonzero(t.phase != Phase.OVER)
        actions = np.full(t.num, t.actions.PASS, np.int32)
        number = self.who[live, t.seat[live]]
        for k, agent in enumerate(self.agents):
            rows = live[number == k]
            if len(rows):
                legal = t.actions.unpack(t.legal[rows])
                keys = mix(self.keys[rows], t.seat[rows], self.plies[rows])
                actions[rows] = ask(agent, observe.view(t, rows), legal, keys, t, rows)
        if len(live):
            engine.step(t, actions, skip_forced=True)
            self.plies[live] += 1
        return live

    def play_hands(self) -> None:
        """To the end of every hand."""
        while len(self._advance()):
            pass

    def play_matches(self) -> None:
        """To the end of every match; tables that end a hand go on at once, so that the batches stay large.

        Raises:
            RuntimeError: a match has not ended after MAX_HANDS hands.
        """
        t = self.tables
        while len(self._advance()):
            going = np.flatnonzero((t.phase == Phase.OVER) & (t.match_winner == NOBODY))
            if len(going):
                if int(t.hand.max()) >= MAX_HANDS:
                    raise RuntimeError(f"a match has not ended after {MAX_HANDS} hands")
                engine.next_hand(t, going)
