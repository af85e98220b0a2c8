"""Masked PPO (Schulman et al. 2017), one process of it: values, advantages, gradient steps. Read from top to bottom."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from gunzi_train.algorithms.advantages import seat_advantages, table_advantages
from gunzi_train.algorithms.learner import Learner, linear
from gunzi_train.algorithms.optimiser import require_finite
from gunzi_train.config import PPOConfig
from gunzi_train.device import autocast, floats
from gunzi_train.group import Group
from gunzi_train.plan import Plan
from gunzi_train.policy import log_probs, policy_loss
from gunzi_train.rollout.collector import Floats, Rollout, Source

MAX_WEIGHT = 2.0
"""Bound on the weight of a decision that older weights played less often than the present ones would."""


class Batch(NamedTuple):
    """B decisions to learn from."""

    obs: Tensor  # uint8[B, F]
    privileged_obs: Tensor  # uint8[B, G]
    legal: Tensor  # bool[B, A]
    actions: Tensor  # int64[B]
    old_log_probs: Tensor  # float32[B]
    advantages: Tensor  # float32[B], normalised over all processes
    targets: Tensor  # float32[B] of the values


class PPO(Learner):
    """See :class:`~gunzi_train.algorithms.base.Algorithm`."""

    figures = PPOConfig.figures

    def __init__(self, plan: Plan, group: Group, source: Source | None = None) -> None:
        self.settings = plan.config.ppo
        super().__init__(plan, group, source, lr=self.settings.lr)

    def learn(self, rollout: Rollout, done: float) -> dict[str, float]:
        """See :class:`~gunzi_train.algorithms.learner.Learner`."""
        ppo = self.settings
        warm = min(1.0, (self.counters.updates + 1) / max(1, self.config.schedule.warmup))
        self.optimiser.lr = lr = ppo.lr * (1 - done) * (0.2 + 0.8 * warm)
        entropy_coef = linear(ppo.entropy, ppo.entropy_final, done)

        rewards = self.rewards(rollout, done)
        values = self._values(rollout)
        require_finite(self.group, rewards=rewards, values=values)
        advantages, valid = self._advantages(rollout, rewards, values)
        figures = self._improve(rollout, values, advantages, valid, entropy_coef)
        return figures | {"lr": lr, "entropy_weight": entropy_coef, "points_weight": self.points_weight(done)}

    def _values(self, rollout: Rollout) -> Floats:
        """Compute the values float32[T + 1, N] of the movers, with those of the decision after the rollout."""
        parts = [torch.from_numpy(array).flatten(0, 1) for array in (rollout.obs, rollout.privileged_obs)]

        def values(rows: slice) -> Tensor:
            out: Tensor = self.net.values(*(floats(part[rows].to(self.device), self.bf16) for part in parts))
            return out

        return self.forward(len(parts[0]), values).view(rollout.seats.shape).numpy()

    def _log_probs(self, rollout: Rollout) -> Tensor:
        """Compute the log probabilities float32[T * N] of the actions under the present weights.

        If older weights played, the clip has to be centred on the present policy, or half of the gradient is clipped
        away for what was learned since; the ratio of the probabilities corrects for the older policy (the decoupled
        objective of Hilton et al. 2021, arXiv 2110.00641).
        """
        obs = torch.from_numpy(rollout.obs[:-1]).flatten(0, 1)
        legal = torch.from_numpy(rollout.legal).flatten(0, 1)
        actions = torch.from_numpy(rollout.actions).flatten().long()

        def chosen(rows: slice) -> Tensor:
            logits = self.net.logits(floats(obs[rows].to(self.device), self.bf16))
            found = log_probs(logits, legal[rows].to(self.device))
            return found.gather(1, actions[rows, None].to(self.device))[:, 0]

        return self.forward(len(obs), chosen)

    def _advantages(self, rollout: Rollout, rewards: Floats, values: Floats) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """Compute advantages float32[T, N], and mark the decisions bool[T, N] to learn from."""
        ppo, seats, done = self.settings, rollout.seats, rollout.done
        by_table = ppo.chain == "table" or (ppo.chain == "auto" and self.config.net.critic != "shared")
        if self.source.share < 1:
            # Opponents' decisions have no values, so the chain of a table has to step over them: it becomes the chain
            # of a seat, with partners taken as one seat.
            credit_chain = seats[:-1] & 1 if by_table else seats[:-1]
            advantages, valid = seat_advantages(rewards, values[:-1], credit_chain, done, ppo.gamma, ppo.lam)
            return advantages, valid & rollout.learner_mask
        if by_table:
            return table_advantages(rewards, values[:-1], seats[:-1], done, values[-1], seats[-1], ppo.gamma, ppo.lam)
        return seat_advantages(rewards, values[:-1], seats[:-1], done, ppo.gamma, ppo.lam)

    def _improve(
        self,
        rollout: Rollout,
        values: Floats,
        advantages: Floats,
        valid: npt.NDArray[np.bool_],
        entropy_coef: float,
    ) -> dict[str, float]:
        """Make the gradient steps of an update."""
        ppo = self.settings
        rows = torch.from_numpy(np.flatnonzero(valid))
        mean, std = self._moments(advantages[valid])
        data = self._batch(rollout, torch.from_numpy((advantages - mean) / std), advantages + values[:-1])
        # Every process makes the same number of steps, however many of its rows are valid: they meet at each one.
        steps = max(1, int(len(data.obs) * self.source.share) // ppo.minibatch)
        sums = torch.zeros(6, device=self.device)
        for _ in range(ppo.epochs):
            order = rows[torch.randperm(len(rows), generator=self.generator)]
            for part in order.tensor_split(steps):
                batch = Batch(*(tensor.index_select(0, part).to(self.device) for tensor in data))
                sums += self._step(batch, entropy_coef)
        policy, value, h, kl, clipped, norm = (sums / (ppo.epochs * steps)).tolist()
        spread = float((advantages + values[:-1])[valid].var()) if valid.any() else 0.0
        explained = 1 - float(advantages[valid].var()) / max(1e-8, spread) if spread else 0.0
        return {
            "policy_loss": policy,
            "value_loss": value,
            "entropy": h,
            "kl": kl,
            "clipped": clipped,
            "gradient_norm": norm,
            "explained_variance": explained,
            "advantage_std": float(std),
        }

    def _batch(self, rollout: Rollout, advantages: Tensor, targets: Floats) -> Batch:
        """Lay out all decisions of a rollout in a row, T * N of them."""
        advantages, old_log_probs = advantages.flatten(), torch.from_numpy(rollout.log_probs).flatten()
        if self.source.is_stale:
            played, old_log_probs = old_log_probs, self._log_probs(rollout)
            advantages = advantages * (old_log_probs - played).exp().clamp(max=MAX_WEIGHT)
        return Batch(
            torch.from_numpy(rollout.obs[:-1]).flatten(0, 1),
            torch.from_numpy(rollout.privileged_obs[:-1]).flatten(0, 1),
            torch.from_numpy(rollout.legal).flatten(0, 1),
            torch.from_numpy(rollout.actions).flatten(),
            old_log_probs,
            advantages,
            torch.from_numpy(targets).flatten(),
        )

    def _step(self, batch: Batch, entropy_coef: float) -> Tensor:
        """Make one gradient step, all processes together; returns figures for the log, float32[6]."""
        self.optimiser.zero_grad()
        figures = self._backward(batch, entropy_coef)
        losses = {"policy loss": figures[0], "value loss": figures[1]}
        norm = self.optimiser.step(self.group, self.settings.max_grad_norm, **losses)
        return torch.cat([figures, norm[None]])

    def _backward(self, batch: Batch, entropy_coef: float) -> Tensor:
        """Compute the gradients of B decisions; returns figures for the log, float32[5]."""
        if not len(batch.obs):  # in a short rollout a process may have fewer decisions to learn from than steps to make
            return torch.zeros(5, device=self.device)
        ppo = self.settings
        with autocast(self.bf16, self.device):
            logits, values = self.net(floats(batch.obs, self.bf16), floats(batch.privileged_obs, self.bf16))
        policy, h, ratio = policy_loss(
            logits, batch.legal, batch.actions, batch.old_log_probs, batch.advantages, ppo.clip, entropy_coef
        )
        value = 0.5 * (values - batch.targets).square().mean()
        (policy + ppo.value_coef * value).backward()
        with torch.no_grad():
            kl = (ratio - 1 - ratio.log()).mean()
            clipped = ((ratio - 1).abs() > ppo.clip).float().mean()
            return torch.stack([policy.detach(), value.detach(), h.mean(), kl, clipped])

    def _moments(self, advantages: Floats) -> tuple[np.float32, np.float32]:
        """Compute mean and standard deviation of the advantages of all processes."""
        wide = advantages.astype(np.float64)
        count, total, squares = self.group.sum(np.array([len(wide), wide.sum(), np.square(wide).sum()]))
        if not np.isfinite(squares):
            raise FloatingPointError("advantages not finite")
        mean = total / max(1.0, count)
        return np.float32(mean), np.float32(np.sqrt(max(squares / max(1.0, count) - mean * mean, 0.0)) + 1e-8)
