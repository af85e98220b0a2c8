"""A policy over the legal actions: probabilities, entropy, sampling and the clipped policy loss."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from gunzi_agents.networks import ILLEGAL


def masked_logits(logits: Tensor, legal: Tensor) -> Tensor:
    """Set the logits of illegal actions to :data:`ILLEGAL`: finite, with probability exactly 0; float32[B, A]."""
    return torch.where(legal, logits.float(), ILLEGAL)


def log_probs(logits: Tensor, legal: Tensor) -> Tensor:
    """Compute log probabilities float32[B, A], about -1e9 for illegal actions; each row needs a legal one."""
    return torch.log_softmax(masked_logits(logits, legal), dim=1)


def entropy(logits: Tensor, legal: Tensor) -> Tensor:
    """Compute the entropy float32[B] in nats; 0, with finite gradients, for rows with one legal action."""
    masked = masked_logits(logits, legal)
    return -(torch.softmax(masked, dim=1) * torch.log_softmax(masked, dim=1)).sum(dim=1)


def sample(logits: Tensor, legal: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw one legal action for each row.

    Returns:
        Actions int64[B] and their log probabilities float32[B].
    """
    masked = masked_logits(logits, legal)
    ends = torch.softmax(masked, dim=1).cumsum(dim=1)
    # Take the first action whose end lies above a uniform point. An illegal action ends where its predecessor ends, so
    # it is never the first; the factor keeps rounding from lifting the point to the last end.
    point = torch.rand((len(ends), 1), generator=generator) * ends[:, -1:] * (1 - 1e-6)
    actions = (ends <= point).sum(dim=1)
    return actions, torch.log_softmax(masked, dim=1).gather(1, actions[:, None])[:, 0]


class _PolicyLoss(torch.autograd.Function):
    """The clipped objective and the entropy bonus with an explicit gradient.

    Autograd through softmax, gather and entropy costs as much as the network: it passes over [B, A] many times and
    evaluates ``exp`` at -1e9, the slow path of the vector library. The gradient with respect to the logits of a row is
    ``weight * (g * (onehot - p) + c * p * (log p + H))`` with g = -A * ratio inside the clip and 0 outside.
    """

    @staticmethod
    def forward(
        ctx: Any,
        logits: Tensor,
        legal: Tensor,
        actions: Tensor,
        old_log_probs: Tensor,
        advantages: Tensor,
        clip: float,
        entropy_coef: float,
    ) -> tuple[Tensor, Tensor, Tensor]:
        rows = len(actions)
        masked = masked_logits(logits, legal)
        p = torch.softmax(masked, dim=1)
        logp = torch.log_softmax(masked, dim=1)
        h = -(p * logp).sum(dim=1)
        chosen = logp.gather(1, actions[:, None])[:, 0]
        # A ratio of e^20 in one update means a broken policy in any case; the bound keeps the loss finite.
        ratio = (chosen - old_log_probs).clamp(-20.0, 20.0).exp()
        objective = torch.minimum(ratio * advantages, ratio.clamp(1 - clip, 1 + clip) * advantages)
        inside = torch.where(advantages > 0, ratio <= 1 + clip, ratio >= 1 - clip)
        g = torch.where(inside, -advantages * ratio, 0.0) / rows
        gradient = logp.add_(h[:, None]).mul_(entropy_coef / rows).sub_(g[:, None]).mul_(p)
        gradient.scatter_add_(1, actions[:, None], g[:, None])
        ctx.save_for_backward(gradient)
        return -objective.mean() - entropy_coef * h.mean(), h, ratio

    @staticmethod
    def backward(ctx: Any, *outputs: Any) -> Any:
        (gradient,) = ctx.saved_tensors
        return gradient.mul_(outputs[0]), None, None, None, None, None, None


def policy_loss(
    logits: Tensor,
    legal: Tensor,
    actions: Tensor,
    old_log_probs: Tensor,
    advantages: Tensor,
    clip: float,
    entropy_coef: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute ``-mean(min(r A, clip(r) A)) - entropy_coef * mean(H)``, differentiable once by ``logits``.

    Args:
        logits: float32[B, A].
        legal: bool[B, A].
        actions: int64[B].
        old_log_probs: float32[B], of the actions when they were drawn.
        advantages: float32[B].
        clip: bound on r - 1.
        entropy_coef: weight of the entropy.

    Returns:
        Loss (scalar), entropy float32[B] and ratio r float32[B], the latter two detached, for the log.
    """
    loss, h, ratio = _PolicyLoss.apply(logits, legal, actions, old_log_probs, advantages, clip, entropy_coef)
    return loss, h.detach(), ratio.detach()
