"""Determinised Monte-Carlo search over another bot.

The hidden cards are drawn as they may lie (:func:`gunzi_env.resample.resample`: worlds), every candidate is played in
the same worlds to the end of the hand with the base bot in all four seats, and the base bot's own move is overridden
only by a candidate that is better by more than the uncertainty of so few worlds: without this guard few worlds play
worse than the base itself, since the luckiest of several noisy means is taken for the best.

It knows what the View knows: worlds are drawn from the View alone, and the base bot plays them from each seat's own
View. What all determinised search is weak at, it is weak at: candidates are compared over worlds as if the next
decisions could differ from world to world (Frank and Basin 1998, "strategy fusion"), though here the base bot plays on
without knowing the world; and the others are taken for the base bot.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from gunzi_agents.base import Agent
from gunzi_agents.rollouts import play_out
from gunzi_env import engine
from gunzi_env.keys import mix
from gunzi_env.observe import View
from gunzi_env.resample import resample
from gunzi_env.tables import Phase, Tables

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Actions = npt.NDArray[np.int32]
Keys = npt.NDArray[np.uint64]

SEARCHED = (Phase.JOKERS, Phase.LEAD, Phase.FOLLOW)
"""Where a single action decides; elsewhere (bids, sets of cards to give or bury) the base bot's move stands."""

ROUND = 32
"""Worlds drawn at a time. After each round the candidates that are clearly no better are given up. At one table it is
the steps of a hand that cost, however many tables take them: in smaller rounds an answer would take as many times as
long."""
MOST_TABLES = 16384
"""Tables played at a time: 2.4 kB each."""

MOST_LEVELS = 3
"""Levels count up to so many: buried jokers may multiply them, and a rare +7 would decide every mean."""
POINTS_A_LEVEL = 100.0

_WORLD, _ORDER = np.uint64(0x776F726C64), np.uint64(0x6F72646572)


@runtime_checkable
class Appraiser(Protocol):
    """A bot that can say what it thinks of every legal action, and so which are worth searching."""

    def appraise(self, view: View, legal: Flags) -> npt.NDArray[np.float32]:
        """The worth of each action in the bot's own measure, ``float32[B, A]``; what is not legal may hold anything."""
        ...


@dataclass(frozen=True)
class Budget:
    """How much is searched, and when the base bot's move is overridden."""

    worlds: int = 32
    """At most so many worlds a decision, in rounds of 32."""
    candidates: int = 4
    """At most so many actions, the base bot's own among them."""
    confidence: float = 1.5
    """Standard errors by which a candidate's mean gain must exceed ``margin``."""
    margin: float = 0.02
    """Levels (100 points are one)."""
    milliseconds: float | None = None
    """No new round of worlds after so much time for a whole call; results then depend on the machine."""


@dataclass
class _Tally:
    """What the candidates of n decisions gained over the base bot's move (column 0), world by world."""

    alive: Flags  # [n, C]
    total: Floats = field(init=False)
    squares: Floats = field(init=False)
    worlds: npt.NDArray[np.int64] = field(init=False)  # [n, C]: a candidate given up is played in no more of them

    def __post_init__(self) -> None:
        self.total, self.squares = np.zeros(self.alive.shape), np.zeros(self.alive.shape)
        self.worlds = np.zeros(self.alive.shape, np.int64)

    def add(self, rows: npt.NDArray[np.intp], gains: Floats) -> None:
        """``gains`` float64[rows, C, worlds]."""
        self.total[rows] += gains.sum(axis=2)
        self.squares[rows] += (gains**2).sum(axis=2)
        self.worlds[rows] += self.alive[rows] * gains.shape[2]

    def estimate(self) -> tuple[Floats, Floats]:
        """Mean gains and their standard errors, float64[n, C]."""
        number = np.maximum(self.worlds, 2)
        mean = self.total / number
        variance = np.maximum(self.squares / number - mean**2, 0) / (number - 1)
        return mean, np.sqrt(variance)


@dataclass(frozen=True)
class Weighing:
    """What a search found of B decisions, C candidates each; column 0 is the base bot's own move."""

    candidates: Actions  # int32[B, C], -1 where there are fewer
    gains: Floats  # float64[B, C] levels gained over the base bot's move, mean over the worlds
    errors: Floats  # float64[B, C] their standard errors
    worlds: npt.NDArray[np.int64]  # [B, C] in how many each was played: 0 where nothing is searched
    choice: Actions  # int32[B] what is played


class Search:
    """Searches what a base bot would do; see :mod:`gunzi_agents.search`."""

    block = 64
    """Duplicate deals are played in blocks of so many: an interrupted tournament loses at most one."""

    def __init__(self, base: Agent, budget: Budget | None = None, name: str | None = None) -> None:
        self.base = base
        self.budget = budget or Budget()
        self.name = name or f"search({base.name}, worlds={self.budget.worlds})"

    def reset(self) -> None:
        """The base bot's memory, if it has one."""
        self.base.reset()

    def act(self, view: View, legal: Flags, keys: Keys) -> Actions:
        """See :meth:`gunzi_agents.base.Agent.act`."""
        return self.weigh(view, legal, keys).choice

    def weigh(self, view: View, legal: Flags, keys: Keys) -> Weighing:
        """What is found of each decision, and with it the choice of :meth:`act`, whose arguments these are."""
        own = np.asarray(self.base.act(view, legal, keys), np.int32)
        most = min(self.budget.candidates, legal.shape[1])
        candidates = np.full((len(own), most), -1, np.int32)
        candidates[:, 0] = own
        gains, errors, worlds = np.zeros(candidates.shape), np.zeros(candidates.shape), np.zeros(candidates.shape, int)
        choice = own.copy()
        rows = np.flatnonzero(np.isin(view.phase, SEARCHED) & (legal.sum(axis=1) > 1))
        if len(rows):
            part = view.rows(rows)
            candidates[rows] = self._candidates(part, legal[rows], own[rows], keys[rows])
            tally = self._played(part, candidates[rows], keys[rows])
            gains[rows], errors[rows] = tally.estimate()
            worlds[rows] = tally.worlds
            choice[rows] = self._choose(candidates[rows], tally)
        return Weighing(candidates, gains, errors, worlds, choice)

    def _candidates(self, view: View, legal: Flags, own: Actions, keys: Keys) -> Actions:
        """The base bot's action and the others it thinks most of, ``int32[n, C]``, -1 where there are fewer."""
        here = np.arange(len(view))
        if isinstance(self.base, Appraiser):
            worth = self.base.appraise(view, legal).astype(np.float64)
        else:  # any of them, drawn by the key
            worth = mix(keys[:, None], _ORDER, np.arange(legal.shape[1])).astype(np.float64)
        worth = np.where(legal, worth, -np.inf)
        worth[here, own] = np.inf
        most = min(self.budget.candidates, legal.shape[1])
        order = np.argsort(-worth, axis=1, kind="stable")[:, :most].astype(np.int32)
        return np.where(np.take_along_axis(legal, order, axis=1), order, np.int32(-1))

    def _played(self, view: View, candidates: Actions, keys: Keys) -> _Tally:
        """The candidates in common worlds, until the budget is spent or none is left that may be better."""
        tally = _Tally(candidates >= 0)
        budget, started = self.budget, time.monotonic()
        for first in range(0, budget.worlds, ROUND):
            late = budget.milliseconds is not None and (time.monotonic() - started) * 1000 > budget.milliseconds
            open_rows = np.flatnonzero(tally.alive[:, 1:].any(axis=1))
            if not len(open_rows) or (late and first):
                break
            number = min(ROUND, budget.worlds - first)
            step = max(1, MOST_TABLES // (number * candidates.shape[1]))
            for start in range(0, len(open_rows), step):
                rows = open_rows[start : start + step]
                worlds = mix(keys[rows, None], _WORLD, np.arange(first, first + number))
                tally.add(rows, self._gains(view.rows(rows), candidates[rows], tally.alive[rows], worlds))
            mean, error = tally.estimate()
            tally.alive[:, 1:] &= (mean + budget.confidence * error > budget.margin)[:, 1:]
        return tally

    def _choose(self, candidates: Actions, tally: _Tally) -> Actions:
        """The candidate whose gain is sure, or the base bot's own."""
        mean, error = tally.estimate()
        sure = np.where(tally.alive, mean - self.budget.confidence * error, -np.inf)
        sure[:, 0] = self.budget.margin  # the base bot's own move
        best = sure.argmax(axis=1)  # the first of equals: the base bot's
        return candidates[np.arange(len(best)), best]

    def _gains(self, view: View, candidates: Actions, alive: Flags, keys: Keys) -> Floats:
        """What each candidate gains over the first one in each world, ``float64[n, C, K]`` for keys ``[n, K]``."""
        rows, number = keys.shape
        worlds = resample(view.rows(np.repeat(np.arange(rows), number)), keys.reshape(-1))
        team = (worlds.seat & 1).reshape(rows, number)
        row, column, world = np.nonzero(np.broadcast_to(alive[:, :, None], (*alive.shape, number)))
        place = row * number + world
        tables = worlds.select(place)
        engine.step(tables, candidates[row, column], skip_forced=True)
        play_out(self.base, tables, keys.reshape(-1)[place])
        worth = np.zeros((*alive.shape, number))
        worth[row, column, world] = _worth(tables, team[row, world])
        return np.where(alive[:, :, None], worth - worth[:, :1], 0.0)


def _worth(tables: Tables, team: npt.NDArray[np.int8]) -> Floats:
    """What finished hands are worth to a team, in levels, ``float64[N]``: levels gained, and points beside them."""
    here = np.arange(tables.num)
    gain = tables.gain.astype(np.float64)
    levels = np.clip(gain[here, team] - gain[here, 1 - team], -MOST_LEVELS, MOST_LEVELS)
    margin = tables.score.astype(np.float64) - tables.rules.take
    attacks = (tables.dealer & 1) != team
    return levels + np.where(attacks, margin, -margin) / POINTS_A_LEVEL
