"""From episode to episode: what a step brings, what a finished hand is worth, and how the next one begins.

A :class:`Share` is tables that go on for ever by themselves. A :class:`gunzi_env.vector.VectorEnv` has one, or one in
each of its processes (:mod:`gunzi_env.vector.pool`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gunzi_env import engine, observe
from gunzi_env.chapters.deal import start_keys
from gunzi_env.engine import IllegalAction
from gunzi_env.planes import U64, Words
from gunzi_env.published import starts
from gunzi_env.rewards import Episode, Reward, Rewards, team_rewards
from gunzi_env.rules import Rules
from gunzi_env.tables import NOBODY, Flags, Index, Int8, Int16, Phase, Tables
from gunzi_env.views import View

Make = Callable[[tuple[int, ...], npt.DTypeLike], npt.NDArray[Any]]
"""Makes an array of a shape and dtype, its contents whatever they are."""


@dataclass(frozen=True, eq=False)
class Result:
    """The hands that ended in a step; a row means something where ``done`` was true."""

    score: Int16  # [N] S with R8.2
    dealer: Int8  # [N] absolute seat
    dug: Flags  # [N]
    winner_dealers: Flags  # [N] S < take
    gain: Int8  # [N, 2] levels gained before R9.2, teams {0, 2} and {1, 3}
    match_winner: Int8  # [N] team, -1 for none

    @classmethod
    def made(cls, num: int, make: Make = np.empty) -> Result:
        """Arrays for ``num`` tables."""
        kinds = {"score": np.int16, "dealer": np.int8, "dug": np.bool_, "winner_dealers": np.bool_}
        arrays = {name: make((num,), kind) for name, kind in kinds.items()}
        return cls(**arrays, gain=make((num, 2), np.int8), match_winner=make((num,), np.int8))

    def each(self, change: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]) -> Result:
        """The same with every array changed."""
        return Result(**{name: change(array) for name, array in vars(self).items()})

    def write(self, t: Tables) -> None:
        """Take it from tables where hands have just ended."""
        self.score[:], self.dealer[:], self.dug[:] = t.score, t.dealer, t.dug
        np.less(t.score, t.rules.take, out=self.winner_dealers)
        self.gain[:], self.match_winner[:] = t.gain, t.match_winner


@dataclass(eq=False)
class Outcome:
    """What a step brings at N tables besides the View and the legal actions."""

    rewards: Rewards  # [N, 4] by seat
    done: Flags  # [N] has the episode ended?
    over: Flags  # [N] has a hand ended?
    points: Int16  # [N] change of S, positive for team {0, 2}'s good
    result: Result | None = None
    """Made when a hand has ended, if it is not there yet."""

    @classmethod
    def made(cls, num: int, make: Make = np.empty) -> Outcome:
        """Arrays for ``num`` tables, to be written by :meth:`Share.advance`; no result yet."""
        flags = make((num,), np.bool_), make((num,), np.bool_)
        return cls(make((num, 4), np.float32), *flags, make((num,), np.int16))

    def each(self, change: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]) -> Outcome:
        """The same with every array changed: a part of it, or a copy."""
        result = self.result.each(change) if self.result else None
        return Outcome(change(self.rewards), change(self.done), change(self.over), change(self.points), result)


@dataclass(frozen=True)
class Settings:
    """What the environment was asked for."""

    rules: Rules
    seed: int
    episode: Episode
    reward: Reward
    deal_value: float
    skip_forced: bool


class Share:
    """Tables of an environment, all or the part of one process; each goes on to its next episode at once."""

    def __init__(self, settings: Settings, num: int, first: int = 0) -> None:
        """``num`` tables of which the environment counts the first as number ``first``."""
        self.settings, self.first = settings, first
        self.tables = Tables(settings.rules, num)

    def reset(self, table_ids: Words | None = None) -> None:
        """Deal every table anew; ``table_ids uint64[n]`` name the deals, 0, 1, ... if not given."""
        engine.reset(self.tables, self.settings.seed, table_ids=table_ids, begin=False)
        everyone = np.arange(self.tables.num)
        if self.settings.episode == "hand":
            self._start_hands(everyone)
        else:
            engine.begin_hand(self.tables, everyone)
            self._play_forced(everyone)

    def step(self, actions: npt.ArrayLike) -> tuple[Outcome, tuple[View, Flags]]:
        """One action a table, ``int[n]``, and what :meth:`observe` gives then; :class:`IllegalAction`, nothing changed,
        if any of them is illegal."""
        out = Outcome.made(self.tables.num)
        self.advance(engine.checked(self.tables, actions), out)
        return out, self.observe()

    def advance(self, chosen: Index, out: Outcome) -> None:
        """Carry out actions known to be legal, and begin the next episode where one has ended."""
        t, settings = self.tables, self.settings
        before, dealers_even = t.score.copy(), (t.dealer & 1) == 0
        engine.advance(t, chosen, skip_forced=settings.skip_forced)
        change = t.score - before
        out.points[:] = np.where(dealers_even, -change, change)
        out.rewards[:] = 0
        np.equal(t.phase, Phase.OVER, out=out.over)
        over = np.flatnonzero(out.over)
        out.done[:] = False
        if len(over) and not out.result:
            out.result = Result.made(t.num)
        if out.result:
            out.result.write(t)
        if len(over):
            team = team_rewards(t, over, settings.reward, settings.deal_value)
            out.rewards[over] = np.stack([team, -team, team, -team], axis=1)
            out.done[over] = (t.match_winner[over] != NOBODY) | (settings.episode == "hand")
            self._go_on(over)

    def observe(self) -> tuple[View, Flags]:
        """The View of the seats to move and their legal actions ``bool[n, A]``."""
        t = self.tables
        return observe.view(t), t.actions.unpack(t.legal, np.empty((t.num, t.actions.n), np.bool_))

    def legal_words(self) -> Words:
        """The legal actions as words ``uint64[n, D + 1]``."""
        return self.tables.legal.copy()

    def privileged(self) -> npt.NDArray[np.uint8]:
        """See :func:`gunzi_env.observe.privileged`."""
        return observe.privileged(self.tables)

    def save(self) -> bytes:
        """See :meth:`gunzi_env.tables.Tables.save`."""
        return self.tables.save()

    def load(self, tables: Tables) -> None:
        """Go on from these tables, which are the share's own from now on."""
        self.tables = tables

    def seats(self) -> Int8:
        """The seats to move, ``int8[n]``."""
        return self.tables.seat

    def illegal(self, n: int, action: int) -> IllegalAction:
        """The error for an action that is not legal at the share's table ``n``, by the environment's number."""
        return engine.illegal(self.tables, n, action, name=self.first + n)

    def _go_on(self, g: Index) -> None:
        if self.settings.episode == "hand":
            self.tables.hand[g] += 1
            self._start_hands(g)
        else:
            engine.next_hand(self.tables, g)
            self._play_forced(g)

    def _start_hands(self, g: Index) -> None:
        levels, dealer, blood = starts.sample(self.settings.rules, start_keys(self.tables, g))
        engine.begin_hand(self.tables, g, levels=levels, dealer=dealer, blood=blood)
        self._play_forced(g)

    def _play_forced(self, g: Index) -> None:
        if self.settings.skip_forced:
            # It stops before the hand ends: a burial leaves a choice (R6.2), and so do hands that can have a dry pot.
            engine.play_forced(self.tables, g)


def numbered(num: int, table_ids: Words | None) -> Words:
    """The tables' ids ``uint64[num]``: 0, 1, ... if not given."""
    ids = np.arange(num, dtype=U64)
    if table_ids is not None:
        ids[:] = table_ids
    return ids
