"""Duplicate deals: each deal is played twice on the same cards, the teams exchanged.

Luck of the cards falls on both sides alike, so what is left is how they were played. Deals come in fixed blocks of
256 (fewer, where an agent asks for it): networks' floats depend a little on the batch they are computed in, and fixed
blocks make a result a function of (agents, rules, seed, deals) alone.

With *rotations* a deal is played four times as often: its four hands move on by 0, 1, 2 and 3 seats, while dealer,
levels and kitty stay where they are, and the teams are exchanged at each. (To turn the dealer along with the hands
would be the exchange of the teams once more: the rules know no seat by its number, R11.)

Within a block the first half of the tables has agent a in team 0 ({0, 2}), the second half has it in team 1. Each agent
meets its rows with its own team-0 tables first, so that exchanging the agents gives both exactly the batches they
had before, and mirrored figures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gunzi_agents.base import Agent, AgentError
from gunzi_agents.playing import ask
from gunzi_env import engine, observe
from gunzi_env.chapters.deal import shuffle, start_keys
from gunzi_env.keys import mix
from gunzi_env.published import starts
from gunzi_env.rules import Rules
from gunzi_env.tables import NOBODY, Index, Phase, Tables
from gunzi_eval.matches.hands import HandResults, Metrics

BLOCK = 256
"""Deals a block, at most."""
ROTATIONS = 4
MAX_HANDS = 200
"""A match that has not ended after so many hands counts half for each side; the longest of 12,000 at random took 35."""

# Streams of the seed: what it is drawn for.
_HANDS, _MATCHES, _ROTATED = np.uint64(1), np.uint64(2), np.uint64(3)

Progress = Callable[[int], None]


@dataclass(frozen=True)
class _Seating:
    """Who sits where: the agents, the team 0 or 1 of the first one at each table, and what decisions are keyed by."""

    agents: tuple[Agent, Agent]
    team: npt.NDArray[np.int8]
    deal: npt.NDArray[np.uint64]
    key: npt.NDArray[np.uint64]
    rotation: npt.NDArray[np.uint8]
    """By how many seats the hands of the deal have moved on."""

    @classmethod
    def of(
        cls,
        agents: tuple[Agent, Agent],
        deals: npt.NDArray[np.uint64],
        seed: int,
        stream: np.uint64,
        rotations: int = 1,
    ) -> _Seating:
        deal = np.tile(deals, 2 * rotations)
        rotation = np.tile(np.repeat(np.arange(rotations, dtype=np.uint8), len(deals)), 2)
        team = np.repeat(np.array([0, 1], np.int8), rotations * len(deals))
        key = mix(np.uint64(seed), stream, deal)
        return cls(agents, team, deal, np.where(rotation == 0, key, mix(key, _ROTATED, rotation)), rotation)

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


def _play_hands(
    seats: _Seating, tables: Tables, plies: npt.NDArray[np.int64], watch: Callable[[], object] = lambda: None
) -> None:
    """Play every table to the end of its hand; ``plies`` counts each table's decisions, ``watch`` is called before."""
    while (live := tables.phase != Phase.OVER).any():
        watch()
        actions = _decide(seats, tables, plies)
        plies += live
        engine.step(tables, actions, skip_forced=True)


def hands_of_block(
    agents: tuple[Agent, Agent],
    rules: Rules,
    deals: npt.NDArray[np.uint64],
    seed: int,
    rotations: int = 1,
    watch: Callable[[], object] = lambda: None,
) -> HandResults:
    """Play deals by number (uint64[n]), each at 2 * ``rotations`` tables, as one batch; agents are reset before.

    ``watch`` is called before each round of decisions; what it raises ends the block.
    """
    for agent in agents:
        agent.reset()
    seats = _Seating.of(agents, deals, seed, _HANDS, rotations)
    tables = Tables(rules, len(seats.deal))
    everyone = np.arange(tables.num)
    engine.reset(tables, seed, table_ids=seats.deal, begin=False)
    levels, dealer, blood = starts.sample(rules, start_keys(tables, everyone))
    rotated = {"draw": _moved_on(rules, shuffle(tables, everyone), seats.rotation)} if rotations > 1 else {}
    engine.begin_hand(tables, everyone, levels=levels, dealer=dealer, blood=blood, **rotated)
    _play_hands(seats, tables, np.zeros(tables.num, np.int64), watch)
    return HandResults.of(tables, seats.team, len(deals))


def _moved_on(rules: Rules, draw: npt.NDArray[np.uint8], seats: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Deals ``uint8[N, D, 54]`` in which each hand has gone ``seats[N]`` seats on; the kitty stays.

    Should such a deal name no suit, the cards dealt again (R4.8) are those of the deal's other tables, unmoved.
    """
    moved = (draw & ~np.uint8(3)) | ((draw + seats[:, None, None]) & np.uint8(3))
    out = np.where(draw < rules.num_dealt, moved, draw)
    out.sort(axis=1)  # copies in dealing order, as the deal has them
    return out


def block_size(*agents: Agent) -> int:
    """Deals a block between these agents: 256, or the fewest that one of them asks for.

    Raises:
        AgentError: an agent asks for something else than 1 to 256.
    """
    sizes = [BLOCK]
    for agent in agents:
        size: Any = getattr(agent, "block", BLOCK)
        if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= 256:
            raise AgentError(f"agent {agent.name!r} asks for blocks of {size!r} deals, allowed are 1 to 256")
        sizes.append(size)
    return min(sizes)


def blocks(deals: int, size: int) -> list[npt.NDArray[np.uint64]]:
    """The numbers 0..deals-1 in blocks.

    >>> [len(block) for block in blocks(600, 256)]
    [256, 256, 88]
    """
    return [np.arange(first, min(first + size, deals), dtype=np.uint64) for first in range(0, deals, size)]


def play(
    agents: tuple[Agent, Agent], rules: Rules, deals: int, seed: int, progress: Progress = lambda done: None
) -> Metrics:
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
    return play_hands(agents, rules, deals, seed, progress).metrics()


def play_hands(
    agents: tuple[Agent, Agent],
    rules: Rules,
    deals: int,
    seed: int,
    progress: Progress = lambda done: None,
    rotations: int = 1,
) -> HandResults:
    """As :func:`play`, with all that is kept of each table."""
    parts = []
    for block in blocks(deals, block_size(*agents)):
        parts.append(hands_of_block(agents, rules, block, seed, rotations))
        progress(len(block))
    return HandResults.joined(parts)


def play_matches(
    agents: tuple[Agent, Agent], rules: Rules, matches: int, seed: int, progress: Progress = lambda done: None
) -> npt.NDArray[np.float64]:
    """Whole matches from the first level, each played twice with the teams exchanged.

    Returns:
        float64[matches], the share of its two matches that the first agent won.
    """
    parts = []
    for block in blocks(matches, block_size(*agents)):
        parts.append(matches_of_block(agents, rules, block, seed))
        progress(len(block))
    return np.concatenate(parts)


def matches_of_block(
    agents: tuple[Agent, Agent], rules: Rules, numbers: npt.NDArray[np.uint64], seed: int
) -> npt.NDArray[np.float64]:
    """Play matches by number (uint64[n]) twice each, as one batch: the shares of :func:`play_matches`."""
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
