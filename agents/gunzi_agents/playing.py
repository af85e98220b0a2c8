"""The playing loop: ask the agents to move, check their actions, carry them out, until hands or matches end.

Every command, bot and benchmark that lets agents play uses :func:`play_hands` or :func:`play_matches`; what differs
between them is an argument: who sits where and the keys (:class:`Seating`), how actions are carried out (``step``),
compaction, and what happens where a hand begins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gunzi_agents.base import Agent, AgentError
from gunzi_env import engine, observe
from gunzi_env.keys import mix
from gunzi_env.planes import Words
from gunzi_env.tables import NOBODY, Flags, Index, Phase, Tables

Actions = npt.NDArray[np.int32]
Plies = npt.NDArray[np.int64]
Step = Callable[[Tables, Index, Actions], None]
"""Carries out actions ``int32[N]`` at the unfinished tables ``rows``: ``step(tables, rows, actions)``."""

MAX_HANDS = 200
"""Default maximum of hands in a match; the longest of 12,000 random matches took 35."""


class AgentFault(ValueError):
    """An agent raised an exception or returned an illegal action; the message names the agent and the place."""

    exit_code = 2


@dataclass(frozen=True)
class Seating:
    """Which agent decides for which seat at N tables, and the keys of the decisions.

    A table's decisions depend on its own key, seats and plies, never on the other tables of a batch.
    """

    agents: Sequence[Agent]
    seat: npt.NDArray[np.int8]
    """``int8[N, 4]``: index in ``agents`` of each seat's agent."""
    keys: Words | None = None
    """``uint64[N]``: a decision's key is the hash of the table's key, the seat and the ply. Without them it is the hash
    of the table's seed, its id and the ply."""
    order: Sequence[Index] | None = None
    """For each agent a permutation of the tables, ``int[N]``: the order of its batches. By number without it."""

    @classmethod
    def alone(cls, agent: Agent, num: int, keys: Words | None = None) -> Seating:
        """Seat one agent in all four seats of ``num`` tables."""
        return cls((agent,), np.zeros((num, 4), np.int8), keys)

    def reset(self) -> None:
        """Reset every agent."""
        for agent in self.agents:
            agent.reset()

    def select(self, rows: Index) -> Seating:
        """Return the seating of some of the tables."""
        order = None
        if self.order is not None:
            new = np.full(len(self.seat), -1)
            new[rows] = np.arange(len(rows))
            order = [new[tables][new[tables] >= 0] for tables in self.order]
        return Seating(self.agents, self.seat[rows], None if self.keys is None else self.keys[rows], order)

    def actions(self, t: Tables, live: Index, plies: Plies) -> Actions:
        """Ask for an action at each of the tables ``live``; ``int32[N]``, a pass at the other tables.

        Raises:
            AgentFault: see :func:`ask`.
        """
        actions = np.full(t.num, t.actions.PASS, np.int32)
        for number, agent in enumerate(self.agents):
            rows = live if len(self.agents) == 1 else self._rows(number, t, live)
            if len(rows):
                legal = t.actions.unpack(t.legal[rows])
                actions[rows] = ask(agent, observe.view(t, rows), legal, self._keys(t, rows, plies), t, rows)
        return actions

    def _rows(self, number: int, t: Tables, live: Index) -> Index:
        mine = np.zeros(t.num, np.bool_)
        mine[live] = self.seat[live, t.seat[live]] == number
        if self.order is None:
            return np.flatnonzero(mine)
        order = self.order[number]
        return order[mine[order]]

    def _keys(self, t: Tables, rows: Index, plies: Plies) -> Words:
        if self.keys is None:
            return mix(t.seed[rows], t.table_id[rows], plies[rows])
        return mix(self.keys[rows], t.seat[rows], plies[rows])


def skip_forced(t: Tables, rows: Index, actions: Actions) -> None:
    """Carry out actions and every forced move that follows; the default ``step`` of the loops."""
    engine.step(t, actions, skip_forced=True)


def advance(t: Tables, seating: Seating, plies: Plies, step: Step = skip_forced) -> Index:
    """Play one decision at every unfinished table.

    Args:
        t: N tables.
        seating: their agents.
        plies: ``int64[N]``, decisions made so far; counted on.
        step: how the actions are carried out.

    Returns:
        The tables that were unfinished, in order; none if every hand is over.
    """
    live = np.flatnonzero(t.phase != Phase.OVER)
    if len(live):
        step(t, live, seating.actions(t, live, plies))
        plies[live] += 1
    return live


def play_hands(t: Tables, seating: Seating, *, step: Step = skip_forced, compact: float = 0.0) -> None:
    """Play every table to the end of its hand, in place. Agents are not reset.

    Args:
        t: N tables in any phase.
        seating: their agents.
        step: how actions are carried out, for callers that record or show them. With ``compact`` its tables may be a
            selection of ``t``.
        compact: when a smaller share of the tables than this is unfinished, they are moved to a smaller batch, because
            finished tables cost time too. It changes no action.

    Raises:
        AgentFault: an agent raised an exception or returned an illegal action.
    """
    _play_on(t, seating, np.zeros(t.num, np.int64), step, compact)


def _play_on(t: Tables, seating: Seating, plies: Plies, step: Step, compact: float) -> None:
    while True:
        if compact:
            live = np.flatnonzero(t.phase != Phase.OVER)
            if 0 < len(live) < compact * t.num:
                rest = t.select(live)
                _play_on(rest, seating.select(live), plies[live], step, compact)
                t.assign(live, rest)
                return
        if not len(advance(t, seating, plies, step)):
            return


def play_matches(
    t: Tables,
    seating: Seating,
    *,
    step: Step = skip_forced,
    max_hands: int = MAX_HANDS,
    on_hand: Callable[[Tables, Index], None] | None = None,
    together: bool = False,
) -> Flags:
    """Play every table to the end of its match, in place. Agents are not reset.

    Args:
        t: N tables whose first hand has begun.
        seating: their agents; plies are counted over the whole match.
        step: how actions are carried out.
        max_hands: maximum number of hands per match, at least 1.
        on_hand: called as ``on_hand(tables, rows)`` after hands have begun at the tables ``rows``, the first included.
        together: begin the next hands once every table has ended its hand. By default a table goes on at once, which
            keeps the batches large.

    Returns:
        ``bool[N]``, the matches that have not ended after ``max_hands`` hands.

    Raises:
        AgentFault: an agent raised an exception or returned an illegal action.
    """
    plies, hands = np.zeros(t.num, np.int64), np.ones(t.num, np.int64)
    if on_hand is not None:
        on_hand(t, np.arange(t.num))
    while len(advance(t, seating, plies, step)):
        over = t.phase == Phase.OVER
        if together and not over.all():
            continue
        going = np.flatnonzero(over & (t.match_winner == NOBODY) & (hands < max_hands))
        if len(going):
            engine.next_hand(t, going)
            hands[going] += 1
            if on_hand is not None:
                on_hand(t, going)
    return np.asarray(t.match_winner == NOBODY)


def ask(
    agent: Agent,
    view: observe.View,
    legal: npt.NDArray[np.bool_],
    keys: npt.NDArray[np.uint64],
    tables: Tables,
    rows: Index,
) -> npt.NDArray[np.int32]:
    """Ask an agent for actions and check them.

    Args:
        agent: who is asked.
        view: B decisions.
        legal: ``bool[B, A]``.
        keys: ``uint64[B]``.
        tables: the tables of the decisions, for messages.
        rows: ``int[B]``, their numbers.

    Returns:
        ``int32[B]``.

    Raises:
        AgentFault: it raised an exception, or returned another shape or type, or an illegal action. The exit code is
            that of the exception if it has one.
    """
    try:
        answer = np.asarray(agent.act(view, legal, keys))
    except Exception as error:
        fault = AgentFault(f"agent {agent.name!r} crashed: {type(error).__name__}: {error}")
        fault.exit_code = getattr(error, "exit_code", AgentFault.exit_code)
        raise fault from error
    if answer.shape != (len(rows),) or not np.issubdtype(answer.dtype, np.integer):
        raise AgentFault(
            f"agent {agent.name!r} returned {answer.dtype}{list(answer.shape)}, expected int32[{len(rows)}]"
        )
    inside = (answer >= 0) & (answer < legal.shape[1])
    fine = inside & legal[np.arange(len(rows)), np.where(inside, answer, 0)]
    if not fine.all():
        bad = int(np.argmin(fine))
        table = int(rows[bad])
        place = f"deal {int(tables.table_id[table])}, seat {int(tables.seat[table])}"
        raise AgentFault(
            f"agent {agent.name!r} returned the illegal action {_name(tables, table, int(answer[bad]))} in phase "
            f"{Phase(int(tables.phase[table])).name}, {place}"
        )
    return answer.astype(np.int32)


def decide(agent: Agent, tables: Tables, seed: int, ply: int) -> int:
    """Ask for one action at a single table, keyed by seed, seat and ply; :class:`AgentFault` as in :func:`ask`."""
    seating = Seating.alone(agent, 1, np.array([seed], np.uint64))
    return int(seating.actions(tables, np.array([0]), np.array([ply]))[0])


def _name(tables: Tables, table: int, action: int) -> str:
    if not 0 <= action < tables.actions.n:
        return str(action)
    return f"{action} ({tables.actions.name(action, int(tables.level[table]), tables.trump_or_provisional(table))})"


def identity(agent: Agent) -> str:
    """Read an agent's :attr:`~gunzi_agents.base.Agent.identity`; :class:`AgentError` if it is not a text."""
    if not isinstance(agent.identity, str):
        raise AgentError(f"agent {agent.name!r}: its identity is {agent.identity!r}, it must be a text")
    return agent.identity
