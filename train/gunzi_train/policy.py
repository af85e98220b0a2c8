"""A policy over the legal actions: probabilities, entropy, sampling and the clipped policy loss."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from gunzi_agents.networks import ILLEGAL


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
