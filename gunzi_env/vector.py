"""N tables for training: step them all with one call.

>>> env = VectorEnv(64, "dalian", seed=7)
>>> view, legal = env.reset()
>>> view, legal, rewards, done = env.step(legal.argmax(axis=1))
>>> rewards.shape, legal.shape
((64, 4), (64, 184))
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from gunzi_env import engine, equity, observe, starts
from gunzi_env.deal import start_keys
from gunzi_env.observe import View
from gunzi_env.planes import Words
from gunzi_env.rules import Rules, load_rules
from gunzi_env.tables import NOBODY, Flags, Index, Int8, Int16, Phase, Tables

Episode = Literal["hand", "match"]
Reward = Literal["levels", "points", "match", "equity"]
Rewards = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Result:
    """The hands that ended in a step; a row means something where ``done`` was true."""

    score: Int16  # [N] S with R8.2
    dealer: Int8  # [N] absolute seat
    dug: Flags  # [N]
    winner_dealers: Flags  # [N] S < take
    gain: Int8  # [N, 2] levels gained before R9.2, teams {0, 2} and {1, 3}
    match_winner: Int8  # [N] team, -1 for none


def check_episode(episode: str, reward: str | None) -> Reward:
    """The reward to use: ``levels`` for hands, ``match`` for matches if none is named; ``ValueError`` on a bad one."""
    if episode not in get_args(Episode):
        raise ValueError(f"unknown episode {episode!r}: use one of {', '.join(get_args(Episode))}")
    if reward is None:
        return "levels" if episode == "hand" else "match"
    if reward not in get_args(Reward):
        raise ValueError(f"unknown reward {reward!r}: use one of {', '.join(get_args(Reward))}")
    if reward == "match" and episode == "hand":
        raise ValueError("reward 'match' needs episode 'match': a single hand has no match to win")
    return reward  # type: ignore[return-value]  # checked above


def team_rewards(t: Tables, g: Index, reward: Reward, deal_value: float) -> Rewards:
    """Team {0, 2}'s reward for finished hands, ``float32[n]``; the other team gets its negative.

    ``levels``: levels gained less those lost (before R9.2), and ``deal_value`` to the side that deals next.
    ``points``: (S - take) / take for the attackers, at most 1. ``match``: 1 for a match won, -1 for one lost.
    ``equity``: by how much the hand changed the chance to win the match, see :func:`gunzi_env.equity.gained`.
    """
    if reward == "equity":
        return equity.gained(t, g).astype(np.float32)
    dealers_even = (t.dealer[g] & 1) == 0
    if reward == "points":
        margin = np.clip((t.score[g] - t.rules.take) / t.rules.take, -1, 1)
        return np.where(dealers_even, -margin, margin).astype(np.float32)
    winner = t.match_winner[g]
    if reward == "match":
        return np.where(winner == NOBODY, 0, 1 - 2 * winner).astype(np.float32)
    gain = t.gain[g].astype(np.float32)
    deals_next = (t.score[g] < t.rules.take) == dealers_even
    deal = np.where(winner != NOBODY, 0, np.where(deals_next, deal_value, -deal_value))
    return (gain[:, 0] - gain[:, 1] + deal).astype(np.float32)


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
    ) -> None:
        """``table_ids uint64[N]`` (0, 1, ...) and ``seed`` fix every card; ``deal_value``: see :func:`team_rewards`."""
        self.rules = load_rules(rules)
        self.episode: Episode = episode
        self.reward = check_episode(episode, reward)
        if self.reward == "equity":
            equity.table(self.rules)  # now, not at the end of the first hand, is the time to say that there is none
        self.deal_value = deal_value
        self.skip_forced = skip_forced
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 2**64:
            raise ValueError(f"seed is {seed!r}: it must be a whole number from 0 to 2**64 - 1")
        self.seed = int(seed)
        self.table_ids = table_ids
        self.num_tables = num_tables
        self.tables = Tables(self.rules, num_tables)
        self.num_actions = self.tables.actions.n
        self._legal = np.zeros((num_tables, self.num_actions), np.bool_)
        self.points = np.zeros(num_tables, np.int16)
        """Change of S in the last step, positive for team {0, 2}'s good: ``int16[N]``."""
        self.result = self._result()
        self._begun = False

    def reset(self) -> tuple[View, npt.NDArray[np.bool_]]:
        """Deal every table anew from the seed; the View of the seats to move and their legal actions ``bool[N, A]``."""
        engine.reset(self.tables, self.seed, table_ids=self.table_ids, begin=False)
        self._begun = True
        everyone = np.arange(self.num_tables)
        if self.episode == "hand":
            self._start_hands(everyone)
        else:
            engine.begin_hand(self.tables, everyone)
            self._play_forced(everyone)
        return self.observe()

    def step(self, actions: npt.ArrayLike) -> tuple[View, npt.NDArray[np.bool_], Rewards, Flags]:
        """One action a table, ``int[N]``; returns the View, legal actions ``bool[N, A]``, rewards by seat
        ``float32[N, 4]`` and done ``bool[N]``.

        Raises :class:`gunzi_env.engine.IllegalAction`, nothing changed, if any action is illegal.
        """
        if not self._begun:
            raise ValueError("call reset() before step()")
        t = self.tables
        before, dealers_even = t.score.copy(), (t.dealer & 1) == 0
        engine.step(t, actions, skip_forced=self.skip_forced)
        over = np.flatnonzero(t.phase == Phase.OVER)
        self.points = np.where(dealers_even, before - t.score, t.score - before).astype(np.int16)
        rewards = np.zeros((self.num_tables, 4), np.float32)
        done = np.zeros(self.num_tables, np.bool_)
        if len(over):
            self.result = self._result()
            team = team_rewards(t, over, self.reward, self.deal_value)
            rewards[over] = np.stack([team, -team, team, -team], axis=1)
            done[over] = (t.match_winner[over] != NOBODY) | (self.episode == "hand")
            self._go_on(over)
        view, legal = self.observe()
        return view, legal, rewards, done

    @property
    def seats(self) -> Int8:
        """The seat to move at each table, ``int8[N]``."""
        return self.tables.seat

    def observe(self) -> tuple[View, npt.NDArray[np.bool_]]:
        """What the seats to move may know and do."""
        return observe.view(self.tables), self.tables.actions.unpack(self.tables.legal, self._legal).copy()

    def view_privileged(self) -> npt.NDArray[np.uint8]:
        """The other hands and the kitty, for a critic: see :func:`gunzi_env.observe.privileged`."""
        return observe.privileged(self.tables)

    def get_state(self) -> bytes:
        """All tables, to go on from later in any process; see :meth:`set_state`."""
        return self.tables.save()

    def set_state(self, state: bytes) -> None:
        """Go on from :meth:`get_state`; ``ValueError`` if it does not fit rules or number of tables."""
        loaded = Tables.load(self.rules, state)
        if loaded.num != self.num_tables:
            raise ValueError(f"the state has {loaded.num} tables, this environment {self.num_tables}")
        self.tables = loaded
        self._begun = True

    def _go_on(self, g: Index) -> None:
        if self.episode == "hand":
            self.tables.hand[g] += 1
            self._start_hands(g)
        else:
            engine.next_hand(self.tables, g)
            self._play_forced(g)

    def _start_hands(self, g: Index) -> None:
        levels, dealer, blood = starts.sample(self.rules, start_keys(self.tables, g))
        engine.begin_hand(self.tables, g, levels=levels, dealer=dealer, blood=blood)
        self._play_forced(g)

    def _play_forced(self, g: Index) -> None:
        if self.skip_forced:
            # It stops before the hand ends: a burial leaves a choice (R6.2), and so do hands that can have a dry pot.
            engine.play_forced(self.tables, g)

    def _result(self) -> Result:
        t = self.tables
        return Result(
            score=t.score.copy(),
            dealer=t.dealer.copy(),
            dug=t.dug.copy(),
            winner_dealers=t.score < t.rules.take,
            gain=t.gain.copy(),
            match_winner=t.match_winner.copy(),
        )


__all__ = ["Result", "VectorEnv", "check_episode", "team_rewards"]
