"""N tables for training: step them all with one call.

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
from gunzi_env.vector.episodes import Result, Settings, Share
from gunzi_env.vector.pool import Pool, shares
from gunzi_env.vector.processes import WorkerLost
from gunzi_env.views import View


class VectorEnv:
    """N tables of the game. A finished episode is followed by the next at once: what ``step`` returns besides
    rewards and ``done`` then belongs to the next one (autoreset in the same step)."""

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
        """``table_ids uint64[N]`` (0, 1, ...) and ``seed`` fix every card; ``deal_value``: see
        :func:`gunzi_env.rewards.team_rewards`. ``num_workers`` processes, this one included, step the tables: the
        games are the same for any number of them. A script that asks for more than one does so under
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
        parts = shares(num_tables, num_workers)
        self._played: Share | Pool = Share(settings, num_tables) if num_workers == 1 else Pool(settings, parts)
        self.points = np.zeros(num_tables, np.int16)
        """Change of S in the last step, positive for team {0, 2}'s good: ``int16[N]``."""
        self.result = Result.made(num_tables, np.zeros)
        self._begun = False

    def reset(self) -> tuple[View, npt.NDArray[np.bool_]]:
        """Deal every table anew from the seed; the View of the seats to move and their legal actions ``bool[N, A]``."""
        self._played.reset(self.table_ids)
        self._begun = True
        return self.observe()

    def step(self, actions: npt.ArrayLike) -> tuple[View, npt.NDArray[np.bool_], Rewards, Flags]:
        """One action a table, ``int[N]``; returns the View, legal actions ``bool[N, A]``, rewards by seat
        ``float32[N, 4]`` and done ``bool[N]``.

        Raises :class:`gunzi_env.engine.IllegalAction`, nothing changed, if any action is illegal; :class:`WorkerLost`
        if a worker process was lost.
        """
        if not self._begun:
            raise ValueError("call reset() before step()")
        outcome, (view, legal) = self._played.step(actions)
        self.points = outcome.points
        if outcome.result and outcome.over.any():
            self.result = outcome.result
        return view, legal, outcome.rewards, outcome.done

    @property
    def tables(self) -> Tables:
        """The state; with several workers it lies in several processes, see :meth:`get_state`."""
        if isinstance(self._played, Pool):
            raise AttributeError(f"the tables lie in {self.num_workers} processes: get_state() gathers them")
        return self._played.tables

    @property
    def seats(self) -> Int8:
        """The seat to move at each table, ``int8[N]``."""
        return self._played.seats()

    def observe(self) -> tuple[View, npt.NDArray[np.bool_]]:
        """What the seats to move may know and do."""
        return self._played.observe()

    @property
    def legal_words(self) -> Words:
        """The legal actions again as words, ``uint64[N, D + 1]`` with D decks, an eighth of the bytes: what
        :meth:`gunzi_env.actions.ActionSpace.count` and :meth:`~gunzi_env.actions.ActionSpace.pick` take."""
        return self._played.legal_words()

    def view_privileged(self) -> npt.NDArray[np.uint8]:
        """The other hands and the kitty, for a critic: see :func:`gunzi_env.observe.privileged`."""
        return self._played.privileged()

    def get_state(self) -> bytes:
        """All tables, to go on from later in any process; see :meth:`set_state`."""
        return self._played.save()

    def set_state(self, state: bytes) -> None:
        """Go on from :meth:`get_state`; ``ValueError`` if it does not fit rules or number of tables."""
        loaded = Tables.load(self.rules, state)
        if loaded.num != self.num_tables:
            raise ValueError(f"the state has {loaded.num} tables, this environment {self.num_tables}")
        self._played.load(loaded)
        self._begun = True

    @property
    def worker_pids(self) -> tuple[int, ...]:
        """The process ids of the workers besides this process; none with one worker."""
        return self._played.pids if isinstance(self._played, Pool) else ()

    def close(self) -> None:
        """End the workers, if there are any: the environment with them. Again does nothing."""
        if isinstance(self._played, Pool):
            self._played.close()

    def __enter__(self) -> VectorEnv:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


__all__ = ["Result", "VectorEnv", "WorkerLost"]
