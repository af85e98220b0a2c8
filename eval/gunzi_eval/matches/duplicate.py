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

import numpy as np
import numpy.typing as npt

from gunzi_agents import playing
from gunzi_agents.base import MAX_DEALS, Agent, AgentError
from gunzi_agents.playing import Seating, skip_forced
from gunzi_env import engine
from gunzi_env.chapters.deal import shuffle
from gunzi_env.keys import mix
from gunzi_env.rules import Rules
from gunzi_env.tables import Index, Tables
from gunzi_eval.matches.hands import HandResults, Metrics

ROTATIONS = 4
MAX_HANDS = playing.MAX_HANDS
"""A match that has not ended after this many hands counts half for each side."""

# Streams of the seed: the purpose of a draw.
_HANDS, _MATCHES, _ROTATED = np.uint64(1), np.uint64(2), np.uint64(3)

Progress = Callable[[int], None]


@dataclass(frozen=True)
class _Block:
    """N tables of duplicate deals, the first half with the first agent in team 0.

    Each agent meets its own team-0 tables first, so that exchanging the agents exchanges their batches.
    """

    team: npt.NDArray[np.int8]
    """``int8[N]``: team of the first agent."""
    deal: npt.NDArray[np.uint64]
    """``uint64[N]``: number of the deal."""
    key: npt.NDArray[np.uint64]
    """``uint64[N]``: key of the table's decisions."""
    rotation: npt.NDArray[np.uint8]
    """``uint8[N]``: seats by which the hands have moved on."""

    @classmethod
    def of(cls, deals: npt.NDArray[np.uint64], seed: int, stream: np.uint64, rotations: int = 1) -> _Block:
        deal = np.tile(deals, 2 * rotations)
        rotation = np.tile(np.repeat(np.arange(rotations, dtype=np.uint8), len(deals)), 2)
        team = np.repeat(np.array([0, 1], np.int8), rotations * len(deals))
        key = mix(np.uint64(seed), stream, deal)
        return cls(team, deal, np.where(rotation == 0, key, mix(key, _ROTATED, rotation)), rotation)

    def seating(self, agents: tuple[Agent, Agent]) -> Seating:
        number = (np.arange(4) & 1) != self.team[:, None]
        first, second = np.split(np.arange(len(self.team)), 2)
        order = (np.concatenate([first, second]), np.concatenate([second, first]))
        return Seating(agents, number.astype(np.int8), self.key, order)

    def draw(self, t: Tables) -> npt.NDArray[np.uint8]:
        """Compute the deals ``uint8[N, D, 54]`` with the hands moved on; the kitty stays.

        If such a deal names no suit, the cards dealt again (R4.8) are those of the deal's other tables, unmoved.
        """
        draw = shuffle(t, np.arange(t.num))
        moved = (draw & ~np.uint8(3)) | ((draw + self.rotation[:, None, None]) & np.uint8(3))
        out = np.where(draw < t.rules.num_dealt, moved, draw)
        out.sort(axis=1)  # copies in dealing order, as in every deal
        return out


def hands_of_block(
    agents: tuple[Agent, Agent],
    rules: Rules,
    deals: npt.NDArray[np.uint64],
    seed: int,
    rotations: int = 1,
    watch: Callable[[], object] = lambda: None,
) -> HandResults:
    """Play deals by number (uint64[n]), each at 2 * ``rotations`` tables, as one batch; agents are reset before.

    ``watch`` is called once per round of decisions; an exception that it raises ends the block.
    """

    def step(t: Tables, rows: Index, actions: npt.NDArray[np.int32]) -> None:
        watch()
        skip_forced(t, rows, actions)

    block = _Block.of(deals, seed, _HANDS, rotations)
    tables, seating = Tables(rules, len(block.deal)), block.seating(agents)
    seating.reset()
    engine.deal_hands(tables, seed, table_ids=block.deal, draw=block.draw if rotations > 1 else None)
    playing.play_hands(tables, seating, step=step)
    return HandResults.of(tables, block.team, len(deals))


def block_size(*agents: Agent) -> int:
    """Compute the deals per block between these agents: the smallest of their ``max_deals``.

    Raises:
        AgentError: a ``max_deals`` is not a whole number from 1 to 256.
    """
    for agent in agents:
        size: object = agent.max_deals
        if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= MAX_DEALS:
            raise AgentError(f"agent {agent.name!r}: max_deals is {size!r}, allowed are 1 to {MAX_DEALS}")
    return min((agent.max_deals for agent in agents), default=MAX_DEALS)


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
    block = _Block.of(numbers, seed, _MATCHES)
    tables, seating = Tables(rules, 2 * len(numbers)), block.seating(agents)
    seating.reset()
    engine.reset(tables, seed, table_ids=block.key)
    endless = playing.play_matches(tables, seating, max_hands=MAX_HANDS, together=True)
    share = np.where(endless, 0.5, (tables.match_winner == block.team).astype(np.float64))
    first, second = np.split(share, 2)
    return (first + second) / 2
