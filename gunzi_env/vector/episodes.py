"""Tables with autoreset: the result of a step, and the start of the next episode.

A :class:`gunzi_env.vector.VectorEnv` has one :class:`TableShard`, or one in each of its processes
(:mod:`gunzi_env.vector.pool`).
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
"""Makes an uninitialised array of a shape and dtype."""


@dataclass(frozen=True, eq=False)
class Result:
    """Results of the hands that ended in a step; the other rows are meaningless."""

    score: Int16  # [N] S with R8.2
    dealer: Int8  # [N] absolute seat
    dug: Flags  # [N]
    winner_dealers: Flags  # [N] S < take
    gain: Int8  # [N, 2] levels gained before R9.2, teams {0, 2} and {1, 3}
    match_winner: Int8  # [N] team, -1 for none

    @classmethod
    def made(cls, num: int, make: Make = np.empty) -> Result:
        """Allocate arrays for ``num`` tables."""
        kinds = {"score": np.int16, "dealer": np.int8, "dug": np.bool_, "winner_dealers": np.bool_}
        arrays = {name: make((num,), kind) for name, kind in kinds.items()}
        return cls(**arrays, gain=make((num, 2), np.int8), match_winner=make((num,), np.int8))

    def each(self, change: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]) -> Result:
        """Return a Result of ``change(array)`` for every array."""
        return Result(**{name: change(array) for name, array in vars(self).items()})

    def write(self, t: Tables) -> None:
        """Copy the results from the tables."""
        self.score[:], self.dealer[:], self.dug[:] = t.score, t.dealer, t.dug
        np.less(t.score, t.rules.take, out=self.winner_dealers)
        self.gain[:], self.match_winner[:] = t.gain, t.match_winner


@dataclass(eq=False)
class StepResult:
    """Results of one step at N tables, apart from the View and the legal actions."""

    rewards: Rewards  # [N, 4] by seat
    done: Flags  # [N] the episode has ended
    over: Flags  # [N] a hand has ended
    points: Int16  # [N] change of S, positive in favour of team {0, 2}
    result: Result | None = None
    """Allocated in the first step in which a hand ends."""

    @classmethod
    def made(cls, num: int, make: Make = np.empty) -> StepResult:
        """Allocate arrays for ``num`` tables, for :meth:`TableShard.advance`; without a result."""
        flags = make((num,), np.bool_), make((num,), np.bool_)
        return cls(make((num, 4), np.float32), *flags, make((num,), np.int16))

    def each(self, change: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]) -> StepResult:
        """Return a StepResult of ``change(array)`` for every array, for example a slice or a copy."""
        result = self.result.each(change) if self.result else None
        return StepResult(change(self.rewards), change(self.done), change(self.over), change(self.points), result)


@dataclass(frozen=True)
class Settings:
    """Arguments of the environment; see :class:`gunzi_env.vector.VectorEnv`."""

    rules: Rules
    seed: int
    episode: Episode
    reward: Reward
    deal_value: float
    skip_forced: bool


class TableShard:
    """Tables of one process, each of which starts its next episode as soon as one ends."""

    def __init__(self, settings: Settings, num: int, first: int = 0) -> None:
        """``first`` is the number of the first of ``num`` tables within the environment."""
        self.settings, self.first = settings, first
        self.tables = Tables(settings.rules, num)

    def reset(self, table_ids: Words | None = None) -> None:
        """Deal every table anew; ``table_ids uint64[n]`` identify the deals, default 0, 1, ..."""
        engine.reset(self.tables, self.settings.seed, table_ids=table_ids, begin=False)
        everyone = np.arange(self.tables.num)
        if self.settings.episode == "hand":
            self._start_hands(everyone)
        else:
            engine.begin_hand(self.tables, everyone)
            self._play_forced(everyone)

    def step(self, actions: npt.ArrayLike) -> tuple[StepResult, tuple[View, Flags]]:
        """Apply one action per table, ``int[n]``; return the result and :meth:`observe`.

        Raises:
            IllegalAction: an action is illegal; no table has changed.
        """
        out = StepResult.made(self.tables.num)
        self.advance(engine.checked(self.tables, actions), out)
        return out, self.observe()

    def advance(self, chosen: Index, out: StepResult) -> None:
        """Apply legal actions and start the next episode where one has ended; write the result to ``out``."""
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
            self._next_hands(over)

    def observe(self) -> tuple[View, Flags]:
        """Return the View of the seats to move and their legal actions ``bool[n, A]``."""
        t = self.tables
        return observe.view(t), t.actions.unpack(t.legal, np.empty((t.num, t.actions.n), np.bool_))

    def legal_words(self) -> Words:
        """Return the legal actions as words ``uint64[n, D + 1]``."""
        return self.tables.legal.copy()

    def privileged(self) -> npt.NDArray[np.uint8]:
        """See :func:`gunzi_env.observe.privileged`."""
        return observe.privileged(self.tables)

    def save(self) -> bytes:
        """See :meth:`gunzi_env.tables.Tables.save`."""
        return self.tables.save()

    def load(self, tables: Tables) -> None:
        """Continue from these tables, without copying them."""
        self.tables = tables

    def seats(self) -> Int8:
        """Return the seats to move, ``int8[n]``."""
        return self.tables.seat

    def illegal(self, n: int, action: int) -> IllegalAction:
        """Return the error for an illegal action at table ``n`` of the shard, with its number in the environment."""
        return engine.illegal(self.tables, n, action, name=self.first + n)

    def _next_hands(self, g: Index) -> None:
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
            # Stops before the hand ends: a burial leaves a choice (R6.2), and so do hands with a possible dry pot.
            engine.play_forced(self.tables, g)


def numbered(num: int, table_ids: Words | None) -> Words:
    """Return the table ids ``uint64[num]``, default 0, 1, ..."""
    ids = np.arange(num, dtype=U64)
    if table_ids is not None:
        ids[:] = table_ids
    return ids
