"""Determinised Monte-Carlo search over another bot.

The hidden cards are sampled (:func:`gunzi_env.resample.resample`): each sample is a *world*. Every candidate action is
rolled out to the end of the hand in the same worlds, with the base bot in all four seats. A candidate replaces the base
bot's own move only if its mean gain exceeds the sampling error of the worlds. Without this condition a search with few
worlds plays worse than its base bot, because the largest of several noisy means is chosen.

The search uses the information of the View only: worlds are sampled from the View, and the base bot plays each seat
from that seat's own View. It has the weaknesses of determinised search: candidates are compared over worlds as if later
decisions could differ between them (strategy fusion, Frank and Basin 1998), although here the base bot plays on without
knowing the world; and it assumes that the other players play like the base bot.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from gunzi_agents.base import Agent, Appraiser, joined
from gunzi_agents.options import number
from gunzi_agents.playing import Seating, play_hands
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
"""Phases that are searched: a single action is a whole move. In other phases (bids, sets of cards to give or bury) the
base bot decides."""

ROUND = 32
"""Worlds per round. After each round, candidates that are clearly no better are dropped. Rounds are not smaller because
the time at a single table depends on the number of steps, not of tables."""
MOST_TABLES = 16384
"""Maximum number of tables per rollout, 2.4 kB each."""
SPARSE = 0.7
"""Share of unfinished tables below which a rollout moves them to a smaller batch."""

MOST_LEVELS = 3
"""Levels gained are clipped to this: buried jokers can multiply them, and a rare +7 would dominate every mean."""
POINTS_A_LEVEL = 100.0

_WORLD, _ORDER = np.uint64(0x776F726C64), np.uint64(0x6F72646572)


@dataclass(frozen=True)
class Budget:
    """Options of ``search(AGENT)``: how much is searched, and when the base bot's move is replaced."""

    worlds: int = number(32, 2)
    """Maximum number of worlds per decision, in rounds of 32."""
    candidates: int = number(4, 2)
    """Maximum number of actions, the base bot's own included."""
    confidence: float = 1.5
    """Standard errors by which a candidate's mean gain must exceed ``margin``."""
    margin: float = 0.02
    """Levels (100 points are one)."""
    ms: float | None = None
    """No new round of worlds starts after this many milliseconds of a call; results then depend on the machine."""


@dataclass
class _Tally:
    """Running sums over worlds of the candidates' gains over the base bot's move (column 0), for n decisions."""

    alive: Flags  # [n, C]
    total: Floats = field(init=False)
    squares: Floats = field(init=False)
    worlds: npt.NDArray[np.int64] = field(init=False)  # [n, C]: a dropped candidate is played in no more of them

    def __post_init__(self) -> None:
        self.total, self.squares = np.zeros(self.alive.shape), np.zeros(self.alive.shape)
        self.worlds = np.zeros(self.alive.shape, np.int64)

    def add(self, rows: npt.NDArray[np.intp], gains: Floats) -> None:
        """Add ``gains``, float64[rows, C, worlds]."""
        self.total[rows] += gains.sum(axis=2)
        self.squares[rows] += (gains**2).sum(axis=2)
        self.worlds[rows] += self.alive[rows] * gains.shape[2]

    def estimate(self) -> tuple[Floats, Floats]:
        """Compute mean gains and their standard errors, float64[n, C]."""
        number = np.maximum(self.worlds, 2)
        mean = self.total / number
        variance = np.maximum(self.squares / number - mean**2, 0) / (number - 1)
        return mean, np.sqrt(variance)


@dataclass(frozen=True)
class Weighing:
    """Result of a search of B decisions with C candidates each; column 0 is the base bot's own move."""

    candidates: Actions  # int32[B, C], -1 where there are fewer
    gains: Floats  # float64[B, C] levels gained over the base bot's move, mean over worlds
    errors: Floats  # float64[B, C] their standard errors
    worlds: npt.NDArray[np.int64]  # [B, C] number of worlds of each; 0 where nothing is searched
    choice: Actions  # int32[B] action played


class Search(Agent):
    """Improves a base bot by search; see :mod:`gunzi_agents.search`."""

    max_deals = 64

    def __init__(self, base: Agent, budget: Budget | None = None, name: str | None = None) -> None:
        self.base = base
        self.budget = budget or Budget()
        self.name = name or f"search({base.name}, worlds={self.budget.worlds})"
        self.identity = joined(base)

    def reset(self) -> None:
        """Reset the base bot."""
        self.base.reset()

    def act(self, view: View, legal: Flags, keys: Keys) -> Actions:
        """See :meth:`gunzi_agents.base.Agent.act`."""
        return self.weigh(view, legal, keys).choice

    def weigh(self, view: View, legal: Flags, keys: Keys) -> Weighing:
        """Search each decision; arguments as in :meth:`act`, whose actions are the ``choice`` of the result."""
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
        """List the base bot's action and its next best ones, ``int32[n, C]``, -1 where there are fewer."""
        here = np.arange(len(view))
        if isinstance(self.base, Appraiser):
            worth = self.base.appraise(view, legal).astype(np.float64)
        else:  # random ones, by the key
            worth = mix(keys[:, None], _ORDER, np.arange(legal.shape[1])).astype(np.float64)
        worth = np.where(legal, worth, -np.inf)
        worth[here, own] = np.inf
        most = min(self.budget.candidates, legal.shape[1])
        order = np.argsort(-worth, axis=1, kind="stable")[:, :most].astype(np.int32)
        return np.where(np.take_along_axis(legal, order, axis=1), order, np.int32(-1))

    def _played(self, view: View, candidates: Actions, keys: Keys) -> _Tally:
        """Roll the candidates out in common worlds until the budget is spent or no candidate can still be better."""
        tally = _Tally(candidates >= 0)
        budget, started = self.budget, time.monotonic()
        for first in range(0, budget.worlds, ROUND):
            late = budget.ms is not None and (time.monotonic() - started) * 1000 > budget.ms
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
        """Choose the candidate with the largest lower bound of its gain, or else the base bot's own."""
        mean, error = tally.estimate()
        sure = np.where(tally.alive, mean - self.budget.confidence * error, -np.inf)
        sure[:, 0] = self.budget.margin  # the base bot's own move
        best = sure.argmax(axis=1)  # the first of equals, so the base bot's
        return candidates[np.arange(len(best)), best]

    def _gains(self, view: View, candidates: Actions, alive: Flags, keys: Keys) -> Floats:
        """Compute each candidate's gain over the first one in each world, ``float64[n, C, K]`` for keys ``[n, K]``."""
        rows, number = keys.shape
        worlds = resample(view.rows(np.repeat(np.arange(rows), number)), keys.reshape(-1))
        team = (worlds.seat & 1).reshape(rows, number)
        row, column, world = np.nonzero(np.broadcast_to(alive[:, :, None], (*alive.shape, number)))
        place = row * number + world
        tables = worlds.select(place)
        engine.step(tables, candidates[row, column], skip_forced=True)
        seating = Seating.alone(self.base, tables.num, keys.reshape(-1)[place])
        play_hands(tables, seating, compact=SPARSE)
        worth = np.zeros((*alive.shape, number))
        worth[row, column, world] = _worth(tables, team[row, world])
        return np.where(alive[:, :, None], worth - worth[:, :1], 0.0)


def _worth(tables: Tables, team: npt.NDArray[np.int8]) -> Floats:
    """Value finished hands for a team, ``float64[N]`` in levels: levels gained, plus points."""
    here = np.arange(tables.num)
    gain = tables.gain.astype(np.float64)
    levels = np.clip(gain[here, team] - gain[here, 1 - team], -MOST_LEVELS, MOST_LEVELS)
    margin = tables.score.astype(np.float64) - tables.rules.take
    attacks = (tables.dealer & 1) != team
    return levels + np.where(attacks, margin, -margin) / POINTS_A_LEVEL
