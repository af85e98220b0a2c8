"""The training environment: N tables, stepped with one call.

>>> env = VectorEnv(64, "dalian", seed=7)
>>> view, legal = env.reset()
>>> view, legal, rewards, done = env.step(legal.argmax(axis=1))
>>> rewards.shape, legal.shape
((64, 4), (64, 184))
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

import numpy as np
import numpy.typing as npt

from gunzi_env import actions
from gunzi_env.planes import Words
from gunzi_env.rewards import Episode, Reward, Rewards, check_episode
from gunzi_env.rules import Rules, load_rules
from gunzi_env.tables import Flags, Int8, Tables
from gunzi_env.vector.episodes import Result, Settings, TableShard
from gunzi_env.vector.pool import Pool, partition
from gunzi_env.vector.processes import WorkerLost
from gunzi_env.views import View


class VectorEnv:
    """N tables of the game with autoreset in the same step: when an episode ends, ``step`` returns its rewards and
    ``done`` with the observation and legal actions of the next one."""

    def __init__(
        self,
        num_tables: int,
        rules: str | Path | Rules = "dalian",
        *,
        seed: int = 0,
        episode: Episode = "hand",
        reward: Reward | None = None,
        deal_value: float = 0.5,
        skip_forced: bool = True,
        table_ids: Words | None = None,
        num_workers: int = 1,
    ) -> None:
        """``seed`` and ``table_ids uint64[N]`` (default 0, 1, ...) determine every card; ``deal_value``: see
        :func:`gunzi_env.rewards.team_rewards`. ``num_workers`` processes, this one included, step the tables; the
        games do not depend on their number. A script that uses more than one must create the environment under
        ``if __name__ == "__main__":``."""
        self.rules = load_rules(rules)
        self.episode: Episode = episode
        self.reward = check_episode(episode, reward, self.rules)
        self.deal_value = deal_value
        self.skip_forced = skip_forced
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 2**64:
            raise ValueError(f"seed is {seed!r}: it must be a whole number from 0 to 2**64 - 1")
        self.seed = int(seed)
        self.table_ids = table_ids
        self.num_tables, self.num_workers = num_tables, num_workers
        self.num_actions = actions.space(self.rules).n
        settings = Settings(self.rules, self.seed, episode, self.reward, deal_value, skip_forced)
        parts = partition(num_tables, num_workers)
        self._backend: TableShard | Pool = (
            TableShard(settings, num_tables) if num_workers == 1 else Pool(settings, parts)
        )
        self.points = np.zeros(num_tables, np.int16)
        """Change of S in the last step, positive in favour of team {0, 2}: ``int16[N]``."""
        self.result = Result.made(num_tables, np.zeros)
        self._begun = False

    def reset(self) -> tuple[View, npt.NDArray[np.bool_]]:
        """Deal every table anew from the seed; return the View of the seats to move and their legal actions
        ``bool[N, A]``."""
        self._backend.reset(self.table_ids)
        self._begun = True
        return self.observe()

    def step(self, actions: npt.ArrayLike) -> tuple[View, npt.NDArray[np.bool_], Rewards, Flags]:
        """Apply one action per table, ``int[N]``; return the View, legal actions ``bool[N, A]``, rewards by seat
        ``float32[N, 4]`` and done ``bool[N]``.

        Raises:
            IllegalAction: an action is illegal; no table has changed.
            WorkerLost: a worker process was lost; the environment is closed.
        """
        if not self._begun:
            raise ValueError("call reset() before step()")
        result, (view, legal) = self._backend.step(actions)
        self.points = result.points
        if result.result and result.over.any():
            self.result = result.result
        return view, legal, result.rewards, result.done

    @property
    def tables(self) -> Tables:
        """The state of all tables; ``AttributeError`` with several workers, where :meth:`get_state` collects it."""
        if isinstance(self._backend, Pool):
            raise AttributeError(f"the tables are in {self.num_workers} processes: get_state() collects them")
        return self._backend.tables

    @property
    def seats(self) -> Int8:
        """The seat to move at each table, ``int8[N]``."""
        return self._backend.seats()

    def observe(self) -> tuple[View, npt.NDArray[np.bool_]]:
        """Return the View of the seats to move and their legal actions ``bool[N, A]``."""
        return self._backend.observe()

    @property
    def legal_words(self) -> Words:
        """The legal actions as words ``uint64[N, D + 1]`` with D decks, an eighth of the mask's bytes: the input of
        :meth:`gunzi_env.actions.ActionSpace.count` and :meth:`~gunzi_env.actions.ActionSpace.pick`."""
        return self._backend.legal_words()

    def view_privileged(self) -> npt.NDArray[np.uint8]:
        """Return the hidden hands and the kitty, for a critic: see :func:`gunzi_env.observe.privileged`."""
        return self._backend.privileged()

    def get_state(self) -> bytes:
        """Return the state of all tables for :meth:`set_state`, in this or any other process."""
        return self._backend.save()

    def set_state(self, state: bytes) -> None:
        """Restore a state of :meth:`get_state`; ``ValueError`` if it has other rules or another number of tables."""
        loaded = Tables.load(self.rules, state)
        if loaded.num != self.num_tables:
            raise ValueError(f"the state has {loaded.num} tables, this environment {self.num_tables}")
        self._backend.load(loaded)
        self._begun = True

    @property
    def worker_pids(self) -> tuple[int, ...]:
        """The process ids of the workers, this process excluded."""
        return self._backend.pids if isinstance(self._backend, Pool) else ()

    def close(self) -> None:
        """End the worker processes, and the environment with them. Further calls have no effect."""
        if isinstance(self._backend, Pool):
            self._backend.close()

    def __enter__(self) -> VectorEnv:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


__all__ = ["Result", "VectorEnv", "WorkerLost"]
