"""Generalised advantages (Schulman et al. 2016) for four seats in two teams.

The decisions of a table are t = 0, 1, ..., made by different seats. ``rewards[t]`` is paid to team 0 by team 1 between
decisions t and t + 1; ``done[t]`` marks the end of a hand, so decision t + 1 belongs to another hand. Values are those
of the seat to move. There are two credit chains:

``seat``
    The successor of a decision is the next decision of the *same seat* in the hand. A seat's information only grows, so
    the chain of its own values is consistent for any critic, also for one that sees only the mover's cards. The error
    of a step contains the actions of three other players.
``table``
    The successor is the next decision of the table, with its value negated if the other team moves. The error of a step
    contains only the decision itself (nothing is drawn between two decisions), so it is less noisy; but
    E[E[R | cards of B] | cards of A] is not E[R | cards of A], so the critic has to see all hands.

If a rollout ends within a hand: with ``table`` the chain ends with the value of the next mover; with ``seat`` a
decision without a successor in the rollout only serves as the successor of its predecessor, and is not learned from
(``valid`` is False).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]


def table_advantages(
    rewards: Floats,
    values: Floats,
    seats: npt.NDArray[np.int8],
    done: npt.NDArray[np.bool_],
    last_values: Floats,
    last_seats: npt.NDArray[np.int8],
    gamma: float,
    lam: float,
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Compute generalised advantages along the decisions of each table, for the team of each mover.

    Args:
        rewards: float32[T, N], of team 0 after each decision.
        values: float32[T, N], of the mover.
        seats: int8[T, N], the mover.
        done: bool[T, N], the hand ended with the decision.
        last_values, last_seats: float32[N], int8[N], of the decision after the rollout.
        gamma, lam: discount and lambda per decision.

    Returns:
        Advantages float32[T, N], and valid bool[T, N] (all True).
    """
    advantages = np.zeros_like(values)
    next_team, next_value = last_seats % 2, last_values
    running = np.zeros_like(last_values)
    for t in range(len(values) - 1, -1, -1):
        team = seats[t] % 2
        go_on = np.where(done[t], 0.0, np.where(team == next_team, 1.0, -1.0)).astype(np.float32)
        reward = np.where(team == 0, rewards[t], -rewards[t])
        delta = reward + np.float32(gamma) * go_on * next_value - values[t]
        running = delta + np.float32(gamma * lam) * go_on * running
        advantages[t] = running
        next_team, next_value = team, values[t]
    return advantages, np.ones_like(done)


def seat_advantages(
    rewards: Floats,
    values: Floats,
    seats: npt.NDArray[np.int8],
    done: npt.NDArray[np.bool_],
    gamma: float,
    lam: float,
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Compute generalised advantages along the decisions of each seat; see :func:`table_advantages`.

    Rewards paid while others move belong to the seat's last decision before. Rows without a successor in the rollout
    are 0 and not valid.
    """
    advantages = np.zeros_like(values)
    valid = np.zeros_like(done)
    tables = values.shape[1]
    rows = np.arange(tables)
    sign = np.where(np.arange(4) % 2 == 0, 1.0, -1.0).astype(np.float32)
    paid = np.zeros((tables, 4), np.float32)  # to each seat until its next decision
    next_value = np.zeros((tables, 4), np.float32)
    next_advantage = np.zeros((tables, 4), np.float32)
    known = np.zeros((tables, 4), np.bool_)  # whether the successor is in the rollout
    for t in range(len(values) - 1, -1, -1):
        ended = done[t]
        paid[ended] = next_value[ended] = next_advantage[ended] = 0.0
        known[ended] = True
        paid += rewards[t][:, None] * sign
        seat = seats[t].astype(np.intp)
        delta = paid[rows, seat] + np.float32(gamma) * next_value[rows, seat] - values[t]
        advantage = delta + np.float32(gamma * lam) * next_advantage[rows, seat]
        valid[t] = known[rows, seat]
        advantages[t] = np.where(valid[t], advantage, 0.0)
        next_value[rows, seat] = values[t]
        next_advantage[rows, seat] = advantages[t]
        paid[rows, seat] = 0.0
        known[rows, seat] = True
    return advantages, valid
