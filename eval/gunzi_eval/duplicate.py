"""Duplicate deals: each deal is played twice on the same cards, the teams exchanged.

Luck of the cards falls on both sides alike, so what is left is how they were played. Deals come in fixed blocks of
256: networks' floats depend a little on the batch they are computed in, and fixed blocks make a result a function
of (agents, rules, seed, deals) alone.

Within a block the tables 0..n-1 have agent a in team 0 ({0, 2}), the tables n..2n-1 have it in team 1. Each agent
meets its rows with its own team-0 tables first, so that exchanging the agents gives both exactly the batches they
had before, and mirrored figures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from gunzi_agents.base import Agent
from gunzi_env import engine, observe, starts
from gunzi_env.deal import mix, start_keys
from gunzi_env.rules import Rules
from gunzi_env.tables import NOBODY, Index, Phase, Tables

BLOCK = 256
MAX_HANDS = 200
"""A match that has not ended after so many hands counts half for each side; the longest of 12,000 at random took 35."""

# Streams of the seed: what it is drawn for.
_HANDS, _MATCHES = np.uint64(1), np.uint64(2)

Progress = Callable[[int], None]


class AgentFault(ValueError):
    """An agent that crashed or played what is not legal; the message names it and the place."""

    exit_code = 2


@dataclass(frozen=True)
class Figures:
    """One value a deal, float64[deals], from the first agent's view, each the mean of the deal's two tables."""

    levels: npt.NDArray[np.float64]
    """R9's gain of the own side before R9.2, minus the other's."""
    points: npt.NDArray[np.float64]
    """S - take when attacking, take - S when dealing."""
    hands_won: npt.NDArray[np.float64]
    """1 where S decided for the own side (R9), else 0."""


@dataclass(frozen=True)
class _Seating:
    """Who sits where: the agents, the team 0 or 1 of the first one at each table, and what decisions are keyed by."""

    agents: tuple[Agent, Agent]
    team: npt.NDArray[np.int8]
    deal: npt.NDArray[np.uint64]
    key: npt.NDArray[np.uint64]

    @classmethod
    def of(cls, agents: tuple[Agent, Agent], deals: npt.NDArray[np.uint64], seed: int, stream: np.uint64) -> _Seating:
        both = np.concatenate([deals, deals])
        team = np.repeat(np.array([0, 1], np.int8), len(deals))
        return cls(agents, team, both, mix(np.uint64(seed), stream, both))

    def rows(self, number: int, tables: Tables, live: npt.NDArray[np.bool_]) -> Index:
        """The tables where agent ``number`` is to move, its own team-0 tables first."""
        half = len(self.team) // 2
        mine = live & (((tables.seat & 1) == self.team) == (number == 0))
        found = np.flatnonzero(mine)
        return found if number == 0 else np.concatenate([found[found >= half], found[found < half]])


def _decide(seats: _Seating, tables: Tables, plies: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
    """An action for each table, int32[N]; those whose hand is over get a pass, which the engine does not look at."""
    live = tables.phase != Phase.OVER
    actions = np.full(tables.num, tables.actions.PASS, np.int32)
    for number, agent in enumerate(seats.agents):
        rows = seats.rows(number, tables, live)
        if not len(rows):
            continue
        legal = tables.actions.unpack(tables.legal[rows])
        keys = mix(seats.key[rows], tables.seat[rows], plies[rows])
        actions[rows] = ask(agent, observe.view(tables, rows), legal, keys, tables, rows)
    return actions


def ask(
    agent: Agent,
    view: observe.View,
    legal: npt.NDArray[np.bool_],
    keys: npt.NDArray[np.uint64],
    tables: Tables,
    rows: Index,
) -> npt.NDArray[np.int32]:
    """The agent's actions, int32[B], checked.

    Raises:
        AgentFault: it raised, returned another shape or type, or an action that is not legal.
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
    """One agent's action at a single table, keyed by seed, seat and ply; :class:`AgentFault` as in :func:`ask`."""
    here = np.array([0])
    keys = mix(np.uint64(seed), tables.seat[here], ply)
    return int(ask(agent, observe.view(tables, here), tables.actions.unpack(tables.legal), keys, tables, here)[0])


def _name(tables: Tables, table: int, action: int) -> str:
    if not 0 <= action < tables.actions.n:
        return str(action)
    return f"{action} ({tables.actions.name(action, int(tables.level[table]), max(int(tables.trump[table]), 0))})"


def _play_hands(seats: _Seating, tables: Tables, plies: npt.NDArray[np.int64]) -> None:
    """Play every table to the end of its hand; ``plies`` counts each table's decisions."""
    while (live := tables.phase != Phase.OVER).any():
        actions = _decide(seats, tables, plies)
        plies += live
        engine.step(tables, actions, skip_forced=True)


def _figures(tables: Tables, team: npt.NDArray[np.int8], rules: Rules) -> Figures:
    """The figures of finished tables, table by table, from the view of each table's ``team``."""
    rows = np.arange(tables.num)
    attacks = (tables.dealer & 1) != team
    over = tables.score.astype(np.float64) - rules.take
    gain = tables.gain.astype(np.float64)
    return Figures(
        levels=gain[rows, team] - gain[rows, 1 - team],
        points=np.where(attacks, over, -over),
        hands_won=(attacks == (over >= 0)).astype(np.float64),
    )


def play_block(agents: tuple[Agent, Agent], rules: Rules, deals: npt.NDArray[np.uint64], seed: int) -> Figures:
    """Play deals by number (uint64[n]) twice each, as one batch; agents are reset before."""
    for agent in agents:
        agent.reset()
    seats = _Seating.of(agents, deals, seed, _HANDS)
    tables = Tables(rules, 2 * len(deals))
    everyone = np.arange(tables.num)
    engine.reset(tables, seed, table_ids=seats.deal, begin=False)
    levels, dealer, blood = starts.sample(rules, start_keys(tables, everyone))
    engine.begin_hand(tables, everyone, levels=levels, dealer=dealer, blood=blood)
    _play_hands(seats, tables, np.zeros(tables.num, np.int64))
    return _mean_of_halves(_figures(tables, seats.team, rules))


def _mean_of_halves(figures: Figures) -> Figures:
    halves = {f.name: np.split(getattr(figures, f.name), 2) for f in fields(figures)}
    return Figures(**{name: (first + second) / 2 for name, (first, second) in halves.items()})


def blocks(deals: int) -> list[npt.NDArray[np.uint64]]:
    """The numbers 0..deals-1 in blocks of 256.

    >>> [len(block) for block in blocks(600)]
    [256, 256, 88]
    """
    return [np.arange(first, min(first + BLOCK, deals), dtype=np.uint64) for first in range(0, deals, BLOCK)]


def play(
    agents: tuple[Agent, Agent], rules: Rules, deals: int, seed: int, progress: Progress = lambda done: None
) -> Figures:
    """Play ``deals`` duplicate deals of single hands between two agents.

    Args:
        agents: The two sides; the figures are from the first one's view.
        rules: What is played.
        deals: How many deals, each played twice.
        seed: Names the deals and the keys of all decisions.
        progress: Called with the number of deals done after each block.

    Raises:
        AgentFault: an agent crashed or played an illegal action.
    """
    parts = []
    for block in blocks(deals):
        parts.append(play_block(agents, rules, block, seed))
        progress(len(block))
    return _joined(parts)


def _joined(parts: Sequence[Figures]) -> Figures:
    return Figures(**{f.name: np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(Figures)})


def play_matches(
    agents: tuple[Agent, Agent], rules: Rules, matches: int, seed: int, progress: Progress = lambda done: None
) -> npt.NDArray[np.float64]:
    """Whole matches from the first level, each played twice with the teams exchanged.

    Returns:
        float64[matches], the share of its two matches that the first agent won.
    """
    parts = []
    for block in blocks(matches):
        parts.append(_match_block(agents, rules, block, seed))
        progress(len(block))
    return np.concatenate(parts)


def _match_block(
    agents: tuple[Agent, Agent], rules: Rules, numbers: npt.NDArray[np.uint64], seed: int
) -> npt.NDArray[np.float64]:
    for agent in agents:
        agent.reset()
    seats = _Seating.of(agents, numbers, seed, _MATCHES)
    tables = Tables(rules, 2 * len(numbers))
    engine.reset(tables, seed, table_ids=seats.key)
    plies = np.zeros(tables.num, np.int64)
    for _ in range(MAX_HANDS):
        _play_hands(seats, tables, plies)
        going = np.flatnonzero(tables.match_winner == NOBODY)
        if not len(going):
            break
        engine.next_hand(tables, going)
    winner = tables.match_winner
    share = np.where(winner == NOBODY, 0.5, (winner == seats.team).astype(np.float64))
    first, second = np.split(share, 2)
    return (first + second) / 2
