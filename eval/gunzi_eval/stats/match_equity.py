"""Match equity by value iteration: from how hands end to the chance of winning the match.

What a hand ends in (S, dug, jokers in the kitty, dry) depends on the blood owed in it and little on its level: only
where the level cards are worth points, at 5 and at 10, are the trumps and the tribute (R5.2) others (in 32,768 hands of
``greedy`` the other levels showed no difference). So hands are pooled by blood and by what a level card is worth; hands
of much blood are rare and much alike, and are pooled with their neighbours. What such an end means is the rules' to
say (R9): each is settled at every two levels, which gives the chances of the next state and of the match's end, and the
table V is the fixed point of

    V(dealers, attackers, blood) = P(dealers win) + sum of P(next state) * (V(next), or 1 - V(next) for the other side)

The two sides play alike, so each state's two chances sum to 1 by construction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gunzi_agents.base import Agent
from gunzi_agents.playing import Seating, play_hands
from gunzi_env import engine
from gunzi_env.cards import ACE, POINTS_OF_RANK
from gunzi_env.chapters.deal import start_keys
from gunzi_env.chapters.settlement import Settlement, settle
from gunzi_env.keys import mix
from gunzi_env.order import BIG_JOKER_SLOT, SMALL_JOKER_SLOT
from gunzi_env.planes import BIT, count
from gunzi_env.published import equity, starts
from gunzi_env.rules import Rules
from gunzi_env.tables import KITTY, NOBODY, Tables

BLOCK = 4096
_PLAY, _STATES = np.uint64(3), np.uint64(7)
"""Streams of the seed: decisions, and the states that hands start from."""
POOL = 4
"""Hands of blood b are pooled with those of up to b // POOL more or less."""
_WORTH = np.array([POINTS_OF_RANK.get(level, 0) for level in range(ACE + 1)])
TOLERANCE = 1e-12
MAX_SWEEPS = 10_000

Floats = npt.NDArray[np.float64]
Ends = npt.NDArray[np.int16]
"""How hands ended, ``int16[n, 5]``: S, dug, big and small jokers in the kitty, dry."""


class EquityError(ValueError):
    """These hands make no table; the message says what is wrong with them."""

    exit_code = 2


@dataclass(frozen=True)
class Hands:
    """Hands that were played: the level and the blood owed of each, ``int16[n]``, and how it ended."""

    level: Ends
    blood: Ends
    ends: Ends


def play(rules: Rules, agent: Agent, hands: int, seed: int) -> Hands:
    """Later hands of a match, one agent in all seats.

    What the level card is worth, and a level of that worth, are drawn uniformly, so that the one level worth 10 is as
    well known as the six worth nothing. The blood of two hands in three is drawn as it is owed in matches
    (:mod:`gunzi_env.published.starts`), that of the third uniformly, so that rare states are met.

    Raises:
        gunzi_agents.playing.AgentFault: the agent crashed or played an illegal action.
    """
    parts = [
        _play_block(rules, agent, np.arange(first, min(first + BLOCK, hands), dtype=np.uint64), seed)
        for first in range(0, hands, BLOCK)
    ]
    return Hands(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("level", "blood", "ends")))


def _play_block(rules: Rules, agent: Agent, numbers: npt.NDArray[np.uint64], seed: int) -> Hands:
    t = Tables(rules, len(numbers))
    everyone = np.arange(t.num)

    def draw(question: int, choices: int) -> npt.NDArray[np.intp]:
        return (mix(seed, _STATES, numbers, question) % np.uint64(choices)).astype(np.intp)

    engine.reset(t, seed, table_ids=numbers, begin=False)
    _, _, blood = starts.sample(rules, start_keys(t, everyone))
    blood = np.where(draw(0, 3) == 0, draw(1, rules.max_blood + 1), blood).astype(np.int16)
    levels = np.arange(rules.first_level, rules.last_level + 1)
    alike = [levels[_WORTH[levels] == worth] for worth in np.unique(_WORTH[levels])]
    mine = np.choose(draw(2, len(alike)), [some[draw(3, len(some))] for some in alike])
    levels = np.stack([mine, levels[draw(4, len(levels))]], axis=1).astype(np.int8)
    engine.begin_hand(t, everyone, levels=levels, dealer=np.zeros(t.num, np.int8), blood=blood)
    agent.reset()
    play_hands(t, Seating.alone(agent, t.num, mix(seed, _PLAY, numbers)))
    kitty = t.holder(everyone, KITTY)
    jokers = (count(kitty & BIT[slot]) for slot in (BIG_JOKER_SLOT, SMALL_JOKER_SLOT))
    ends = np.stack([t.score, t.dug, *jokers, t.dry], axis=1).astype(np.int16)
    return Hands(t.level.astype(np.int16), t.blood.copy(), ends)


@dataclass(frozen=True)
class Chain:
    """The match as a chain of states, numbered as in a table of ``shape``.

    From state ``row`` it goes with chance ``weight`` to state ``column``, where the same side deals (``stays``) or the
    other; ``won float64[states]`` is the chance that the hand wins the match for its dealers.
    """

    shape: tuple[int, int, int]
    row: npt.NDArray[np.intp]
    column: npt.NDArray[np.intp]
    stays: npt.NDArray[np.bool_]
    weight: Floats
    won: Floats

    def sweep(self, chances: equity.Chances) -> equity.Chances:
        """One step of value iteration over a table of ``shape``."""
        next_chance = chances.reshape(-1)[self.column]
        worth = self.weight * np.where(self.stays, next_chance, 1 - next_chance)
        return (self.won + _sums(self.row, worth, len(self.won))).reshape(self.shape)

    def solve(self) -> equity.Chances:
        """The fixed point, to within the chance that a match goes on for as many hands as there were sweeps.

        Raises:
            EquityError: there is none: with these hands a match need not end.
        """
        chances, going = np.full(self.shape, 0.5), np.ones(len(self.won))
        for _ in range(MAX_SWEEPS):
            chances = self.sweep(chances)
            going = _sums(self.row, self.weight * going[self.column], len(going))
            if float(going.max()) < TOLERANCE:
                return chances
        raise EquityError(f"not settled after {MAX_SWEEPS} sweeps: with hands like these matches do not end")


def _sums(number: npt.NDArray[np.intp], weight: Floats, length: int) -> Floats:
    """The weights of each number 0..length-1 added up."""
    return np.asarray(np.bincount(number, weight, length), np.float64)


def _pooled(hands: Hands, level: int, blood: int) -> npt.NDArray[np.bool_]:
    """The hands that tell how one of this level and blood ends, ``bool[n]``; wider where there are none so near."""
    alike = _WORTH[hands.level] == _WORTH[level]
    if not alike.any():
        raise EquityError(f"no hand was played at a level like {level}: play more hands")
    distance = np.abs(hands.blood - blood)
    return alike & (distance <= max(blood // POOL, int(distance[alike].min())))


def chain(rules: Rules, hands: Hands) -> Chain:
    """The match that follows from how these hands ended, for every two levels and blood."""
    shape = equity.shape(rules)
    span, _, bloods = shape
    won = np.zeros(span * span * bloods)
    parts = []
    for mine in range(span):
        for blood in range(bloods):
            ends = hands.ends[_pooled(hands, rules.first_level + mine, blood)]
            kinds, times = np.unique(ends, axis=0, return_counts=True)
            for theirs in range(span):
                state = (mine * span + theirs) * bloods + blood
                out = _settled(rules, kinds, mine, theirs)
                won[state] = times[out.match_winner == 0].sum() / len(ends)
                parts.append(_steps(rules, out, times / len(ends), state, shape))
    row, column, stays, weight = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Chain(shape, row, column, stays, weight, won)


def _settled(rules: Rules, kinds: Ends, mine: int, theirs: int) -> Settlement:
    score, dug, big, small, dry = kinds.T
    levels = np.tile(np.array([rules.first_level + mine, rules.first_level + theirs], np.int8), (len(kinds), 1))
    return settle(rules, score, dug > 0, big, small, dry > 0, levels, np.zeros(len(kinds), np.int8))


def _steps(
    rules: Rules, out: Settlement, chance: Floats, state: int, shape: tuple[int, int, int]
) -> tuple[npt.NDArray[Any], ...]:
    """Row, column, stays and weight of the hands that do not end the match, alike ones put together."""
    on = np.flatnonzero(out.match_winner == NOBODY)
    stays = (out.next_dealer[on] & 1) == 0
    levels = np.where(stays[:, None], out.levels[on], out.levels[on, ::-1]).astype(np.intp) - rules.first_level
    column = np.ravel_multi_index((levels[:, 0], levels[:, 1], out.blood[on]), shape)
    step, inverse = np.unique(2 * column + stays, return_inverse=True)
    return np.full(len(step), state), step // 2, step % 2 == 1, _sums(inverse, chance[on], len(step))
