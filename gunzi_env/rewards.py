"""Rewards for finished hands."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from gunzi_env.published import equity
from gunzi_env.rules import Rules
from gunzi_env.tables import NOBODY, Index, Tables

Episode = Literal["hand", "match"]
Reward = Literal["levels", "points", "match", "equity"]
Rewards = npt.NDArray[np.float32]


def check_episode(episode: str, reward: str | None, rules: Rules) -> Reward:
    """Validate the arguments and return the reward, by default ``levels`` for hands and ``match`` for matches."""
    if episode not in get_args(Episode):
        raise ValueError(f"unknown episode {episode!r}: use one of {', '.join(get_args(Episode))}")
    if reward is None:
        return "levels" if episode == "hand" else "match"
    if reward not in get_args(Reward):
        raise ValueError(f"unknown reward {reward!r}: use one of {', '.join(get_args(Reward))}")
    if reward == "match" and episode == "hand":
        raise ValueError("reward 'match' needs episode 'match': a single hand has no match to win")
    if reward == "equity":
        equity.table(rules)  # fail now if there is no table, not at the end of the first hand
    return reward  # type: ignore[return-value]  # checked above


def team_rewards(t: Tables, g: Index, reward: Reward, deal_value: float) -> Rewards:
    """Compute the reward of team {0, 2} for finished hands, ``float32[n]``; the other team gets its negative.

    ``levels``: levels gained minus the opponents' (before R9.2), plus ``deal_value`` for the side that deals next.
    ``points``: (S - take) / take for the attackers, clipped to -1..1. ``match``: 1 for a match won, -1 for one lost.
    ``equity``: the change in match-winning probability, see :func:`gunzi_env.published.equity.gained`.
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
