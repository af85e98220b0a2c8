"""The maths of the learner, apart from all else: advantages for four seats in two teams, a policy over legal actions.

**Advantages.** At one table decisions follow each other, t = 0, 1, ..., made by different seats. ``rewards[t]`` is what
team 0 is paid by team 1 between decision t and decision t + 1; ``done[t]`` says that the hand ended there, so that
decision t + 1 belongs to another hand. Values are always those of the seat that moves. Two chains are offered:

``seat``
    The successor of a decision is the *same seat's* next decision in the hand. What a seat knows only grows, so the
    chain of its own values is consistent for any critic, one that sees the mover's cards alone included. The error of
    a step holds what three other players did.
``table``
    The successor is the table's next decision, whoever makes it, its value negated when the other team moves. The error
    of a step holds nothing but the decision itself (between two decisions nothing is drawn), which makes it less noisy;
    but E[E[R | cards of B] | cards of A] is not E[R | cards of A], so it needs a critic that sees all hands.

Where a rollout ends within a hand: with ``table`` the value of the mover after the last step takes over; with ``seat``
a decision whose successor is not in the rollout only serves as the successor of the one before, and is not learned
from (``valid`` is False).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from gunzi_agents.networks import ILLEGAL

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
    """Generalised advantages along the decisions of each table, from the view of each mover's team.

    Args:
        rewards: float32[T, N], to team 0 after each decision.
        values: float32[T, N], of the mover.
        seats: int8[T, N], the mover.
        done: bool[T, N], the hand ended with the decision.
        last_values, last_seats: float32[N], int8[N], of the decision that comes after the rollout.
        gamma, lam: discount and lambda per decision.

    Returns:
        advantages float32[T, N], and valid bool[T, N] (all True).
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
    """Generalised advantages along the decisions of each seat; arguments and results as in :func:`table_advantages`.

    What is paid while others move belongs to the seat's last decision before. Rows without a successor in the rollout
    are 0 and not valid.
    """
    advantages = np.zeros_like(values)
    valid = np.zeros_like(done)
    tables = values.shape[1]
    rows = np.arange(tables)
    sign = np.where(np.arange(4) % 2 == 0, 1.0, -1.0).astype(np.float32)
    paid = np.zeros((tables, 4), np.float32)  # to each seat since its next decision, seen backwards
    next_value = np.zeros((tables, 4), np.float32)
    next_advantage = np.zeros((tables, 4), np.float32)
    known = np.zeros((tables, 4), np.bool_)  # is the successor in the rollout?
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


def masked_logits(logits: Tensor, legal: Tensor) -> Tensor:
    """float32[B, A], illegal actions (``legal`` bool[B, A]) at :data:`ILLEGAL`: finite, and probability exactly 0."""
    return torch.where(legal, logits.float(), ILLEGAL)


def log_probs(logits: Tensor, legal: Tensor) -> Tensor:
    """Log probabilities float32[B, A] over legal actions, about -1e9 where illegal; each row needs a legal one."""
    return torch.log_softmax(masked_logits(logits, legal), dim=1)


def entropy(logits: Tensor, legal: Tensor) -> Tensor:
    """Entropy float32[B] of the policy in nats; 0, with finite gradients, where one action is legal."""
    masked = masked_logits(logits, legal)
    return -(torch.softmax(masked, dim=1) * torch.log_softmax(masked, dim=1)).sum(dim=1)


def sample(logits: Tensor, legal: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw one legal action for each row.

    Returns:
        actions int64[B], and their log probabilities float32[B].
    """
    masked = masked_logits(logits, legal)
    ends = torch.softmax(masked, dim=1).cumsum(dim=1)
    # The first action whose end lies above a uniform point. An illegal one ends where the one before it does, so it
    # never is the first; the factor keeps rounding from lifting the point to the last end.
    point = torch.rand((len(ends), 1), generator=generator) * ends[:, -1:] * (1 - 1e-6)
    actions = (ends <= point).sum(dim=1)
    return actions, torch.log_softmax(masked, dim=1).gather(1, actions[:, None])[:, 0]


class _PolicyLoss(torch.autograd.Function):
    """The clipped objective and the entropy bonus with the gradient written out.

    Autograd's way through softmax, gather and entropy costs as much as the network; most of it is passes over [B, A]
    and ``exp`` at -1e9, which takes the slow path of the vector library. The gradient by the logits is, for each row,
    ``weight * (g * (onehot - p) + c * p * (log p + H))`` with g = -A * ratio inside the clip and 0 outside.
    """

    @staticmethod
    def forward(
        ctx: Any,
        logits: Tensor,
        legal: Tensor,
        actions: Tensor,
        old: Tensor,
        advantages: Tensor,
        clip: float,
        bonus: float,
    ) -> tuple[Tensor, Tensor, Tensor]:
        rows = len(actions)
        masked = masked_logits(logits, legal)
        p = torch.softmax(masked, dim=1)
        logp = torch.log_softmax(masked, dim=1)
        h = -(p * logp).sum(dim=1)
        chosen = logp.gather(1, actions[:, None])[:, 0]
        # A policy that moved by e^20 in one update is broken either way; the bound keeps the loss finite.
        ratio = (chosen - old).clamp(-20.0, 20.0).exp()
        objective = torch.minimum(ratio * advantages, ratio.clamp(1 - clip, 1 + clip) * advantages)
        inside = torch.where(advantages > 0, ratio <= 1 + clip, ratio >= 1 - clip)
        g = torch.where(inside, -advantages * ratio, 0.0) / rows
        gradient = logp.add_(h[:, None]).mul_(bonus / rows).sub_(g[:, None]).mul_(p)
        gradient.scatter_add_(1, actions[:, None], g[:, None])
        ctx.save_for_backward(gradient)
        return -objective.mean() - bonus * h.mean(), h, ratio

    @staticmethod
    def backward(ctx: Any, *outputs: Any) -> Any:
        (gradient,) = ctx.saved_tensors
        return gradient.mul_(outputs[0]), None, None, None, None, None, None


def policy_loss(
    logits: Tensor, legal: Tensor, actions: Tensor, old: Tensor, advantages: Tensor, clip: float, bonus: float
) -> tuple[Tensor, Tensor, Tensor]:
    """``-mean(min(r A, clip(r) A)) - bonus * mean(H)``, differentiable once by ``logits``.

    Args:
        logits: float32[B, A].
        legal: bool[B, A].
        actions: int64[B].
        old: float32[B], log probabilities of the actions when they were drawn.
        advantages: float32[B].
        clip: bound on r - 1.
        bonus: weight of the entropy.

    Returns:
        loss (scalar), entropy float32[B] and ratio r float32[B], the latter two for the log only.
    """
    loss, h, ratio = _PolicyLoss.apply(logits, legal, actions, old, advantages, clip, bonus)
    return loss, h.detach(), ratio.detach()
