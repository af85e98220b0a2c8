"""Masked PPO, one process of it: collect, value, advantages, gradient steps. Read it from top to bottom.

All parameters lie in one flat tensor, and so do their gradients: the average over processes, the norm and Adam are one
call each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from gunzi_agents.networks import ActorCritic, from_arrays, to_arrays
from gunzi_env.rules import Rules
from gunzi_train.algorithms.advantages import seat_advantages, table_advantages
from gunzi_train.config import Config
from gunzi_train.device import autocast, choose, floats
from gunzi_train.errors import NonFinite
from gunzi_train.group import Group
from gunzi_train.policy import log_probs, policy_loss
from gunzi_train.rollout.collector import HandStats, Rollout, Source, shape_of
from gunzi_train.rollout.opponents import make_collector
from gunzi_train.seeds import derived_seed

VALUE_ROWS = 8192
"""Rows of a forward pass without gradient: large enough for the matrix units, small enough for the cache."""
MOST_WEIGHT = 2.0
"""Of a decision that the older weights which played it made more seldom than the present ones would."""


class Learner:
    """The network, its optimiser, and the tables of one process or whatever else gives rollouts (``collector``)."""

    def __init__(
        self, config: Config, rules: Rules, group: Group, *, bf16: bool, collector: Source | None = None
    ) -> None:
        self.config, self.rules, self.group, self.bf16 = config, rules, group, bf16
        self.device = choose(config.device, group.rank)
        first = torch.Generator().manual_seed(derived_seed(config.seed, "weights"))
        self.net = ActorCritic(shape_of(config, rules), first).to(self.device)
        self.weights, self.gradients = _flatten(self.net)
        self.optimizer = torch.optim.Adam([self.weights], lr=config.ppo.lr, eps=1e-5, fused=True)
        self._fill_optimizer()
        self.generator = torch.Generator().manual_seed(derived_seed(config.seed, "minibatches", group.rank))
        self.collector: Source = collector or make_collector(config, rules, group.rank)
        self.updates = self.hands = self.decisions = 0  # of all processes together

    # --- one update -------------------------------------------------------------------------------

    def update(self, total: int) -> dict[str, float]:
        """Play and learn once; ``total`` is the length of the schedule in updates. Returns figures for the log.

        Raises:
            NonFinite: naming the update and the tensor; the weights are those before the faulty step.
        """
        ppo, reward = self.config.ppo, self.config.reward
        done = min(1.0, self.updates / total) if total else 0.0
        warm = min(1.0, (self.updates + 1) / max(1, self.config.schedule.warmup))
        lr = ppo.lr * (1 - done) * (0.2 + 0.8 * warm)
        bonus = ppo.entropy + (ppo.entropy_final - ppo.entropy) * done
        points = reward.points + (reward.points_final - reward.points) * done

        rollout, hands = self._collect()
        rewards = rollout.levels + np.float32(points) * rollout.points
        values = self._values(rollout)
        self._require(rewards=rewards, values=values)
        advantages, valid = self._advantages(rollout, rewards, values)
        figures = self._learn(rollout, values, advantages, valid, lr, bonus)
        self._require(weights=self.weights.detach())

        self.updates += 1
        self.decisions += self.group.world * rollout.actions.size
        figures |= self._hand_figures(hands)
        return figures | {"lr": lr, "entropy_weight": bonus, "points_weight": points}

    def _collect(self) -> tuple[Rollout, HandStats]:
        """Play. What goes wrong there says where it did, so that it can be found again."""
        try:
            return self.collector.collect(self.net, self.bf16)
        except NonFinite as error:
            raise NonFinite(f"update {self.updates + 1}: {error}") from None
        except Exception as error:
            error.add_note(f"in update {self.updates + 1}: {self.collector.where()}")
            raise

    def _values(self, rollout: Rollout) -> npt.NDArray[np.float32]:
        """Values float32[T + 1, N] of the movers, the one after the rollout included."""
        seen = torch.from_numpy(rollout.seen).flatten(0, 1)
        hidden = torch.from_numpy(rollout.hidden).flatten(0, 1)
        out = torch.empty(len(seen))
        with torch.inference_mode(), autocast(self.bf16, self.device):
            for start in range(0, len(seen), VALUE_ROWS):
                rows = slice(start, start + VALUE_ROWS)
                inputs = [floats(part[rows].to(self.device), self.bf16) for part in (seen, hidden)]
                out[rows] = self.net.values(*inputs)
        return out.view(rollout.seats.shape).numpy()

    def _log_probs(self, rollout: Rollout) -> Tensor:
        """Log probabilities of what was played, under the present weights, float32[T * N].

        Where older weights played, the step is to be bounded from where the policy is now, or half of the gradient is
        clipped away for what was learned since; that other weights chose the decisions is made up for by the ratio of
        the probabilities (the decoupled objective of Hilton et al. 2021, arXiv 2110.00641).
        """
        seen = torch.from_numpy(rollout.seen[:-1]).flatten(0, 1)
        legal = torch.from_numpy(rollout.legal).flatten(0, 1)
        actions = torch.from_numpy(rollout.actions).flatten().long()
        out = torch.empty(len(seen))
        with torch.inference_mode(), autocast(self.bf16, self.device):
            for start in range(0, len(seen), VALUE_ROWS):
                rows = slice(start, start + VALUE_ROWS)
                logits = self.net.logits(floats(seen[rows].to(self.device), self.bf16))
                found = log_probs(logits, legal[rows].to(self.device))
                out[rows] = found.gather(1, actions[rows, None].to(self.device))[:, 0]
        return out

    def _advantages(self, rollout: Rollout, rewards: npt.NDArray[np.float32], values: npt.NDArray[np.float32]) -> Any:
        ppo = self.config.ppo
        seats, done = rollout.seats, rollout.done
        table = ppo.chain == "table" or (ppo.chain == "auto" and self.config.net.critic != "shared")
        if self.config.opponent:
            # Nobody's values are known at the opponent's decisions, so the chain of a table steps over them: it is
            # that of a seat, the partners taken as one.
            chain = seats[:-1] & 1 if table else seats[:-1]
            advantages, valid = seat_advantages(rewards, values[:-1], chain, done, ppo.gamma, ppo.lam)
            return advantages, valid & rollout.mine
        if table:
            return table_advantages(rewards, values[:-1], seats[:-1], done, values[-1], seats[-1], ppo.gamma, ppo.lam)
        return seat_advantages(rewards, values[:-1], seats[:-1], done, ppo.gamma, ppo.lam)

    def _learn(
        self,
        rollout: Rollout,
        values: npt.NDArray[np.float32],
        advantages: npt.NDArray[np.float32],
        valid: npt.NDArray[np.bool_],
        lr: float,
        bonus: float,
    ) -> dict[str, float]:
        ppo = self.config.ppo
        kept = torch.from_numpy(np.flatnonzero(valid))
        mean, std = self._moments(advantages[valid])
        seen = torch.from_numpy(rollout.seen[:-1]).flatten(0, 1)
        hidden = torch.from_numpy(rollout.hidden[:-1]).flatten(0, 1)
        legal = torch.from_numpy(rollout.legal).flatten(0, 1)
        actions = torch.from_numpy(rollout.actions).flatten()
        old = torch.from_numpy(rollout.log_probs).flatten()
        targets = torch.from_numpy(advantages + values[:-1]).flatten()
        gains = torch.from_numpy((advantages - mean) / std).flatten()
        if self.collector.aged:
            played, old = old, self._log_probs(rollout)
            gains = gains * (old - played).exp().clamp(max=MOST_WEIGHT)
        # Every process makes the same number of steps, however many of its rows are valid: they meet at each one.
        pieces = max(1, int(seen.shape[0] * self.collector.share) // ppo.minibatch)
        sums = torch.zeros(6, device=self.device)
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        for _ in range(ppo.epochs):
            order = kept[torch.randperm(len(kept), generator=self.generator)]
            for rows in order.tensor_split(pieces):
                parts = (seen, hidden, legal, actions, old, gains, targets)
                sums += self._step([part.index_select(0, rows).to(self.device) for part in parts], bonus)
        policy, value, h, kl, clipped, norm = (sums / (ppo.epochs * pieces)).tolist()
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

    def _step(self, batch: list[Tensor], bonus: float) -> Tensor:
        """One gradient step, all processes together; returns the figures of the log, float32[6]."""
        self.gradients.zero_()
        figures = self._backward(*batch, bonus=bonus)
        self.group.mean_(self.gradients)
        norm = self.gradients.norm()
        if not bool(torch.isfinite(norm)):  # then it is so in every process
            self._blame(figures)
        self.gradients.mul_((self.config.ppo.max_grad_norm / (norm + 1e-6)).clamp(max=1.0))
        self.optimizer.step()
        return torch.cat([figures, norm[None]])

    def _backward(
        self,
        seen: Tensor,
        hidden: Tensor,
        legal: Tensor,
        actions: Tensor,
        old: Tensor,
        gains: Tensor,
        targets: Tensor,
        *,
        bonus: float,
    ) -> Tensor:
        """The gradients of B decisions; returns the figures of the log, float32[5]."""
        if not len(seen):  # of a short rollout a process may have fewer decisions to learn from than steps to make
            return torch.zeros(5, device=self.device)
        ppo = self.config.ppo
        with autocast(self.bf16, self.device):
            logits, values = self.net(floats(seen, self.bf16), floats(hidden, self.bf16))
        policy, h, ratio = policy_loss(logits, legal, actions, old, gains, ppo.clip, bonus)
        value = 0.5 * (values - targets).square().mean()
        (policy + ppo.value_coef * value).backward()
        with torch.no_grad():
            kl = (ratio - 1 - ratio.log()).mean()
            clipped = ((ratio - 1).abs() > ppo.clip).float().mean()
            return torch.stack([policy.detach(), value.detach(), h.mean(), kl, clipped])

    def _moments(self, advantages: npt.NDArray[np.float32]) -> tuple[np.float32, np.float32]:
        """Mean and deviation of the advantages of all processes."""
        wide = advantages.astype(np.float64)
        count, total, squares = self.group.sum(np.array([len(wide), wide.sum(), np.square(wide).sum()]))
        if not np.isfinite(squares):
            raise NonFinite(f"update {self.updates + 1}: advantages not finite")
        mean = total / max(1.0, count)
        return np.float32(mean), np.float32(np.sqrt(max(squares / max(1.0, count) - mean * mean, 0.0)) + 1e-8)

    def _hand_figures(self, stats: HandStats) -> dict[str, float]:
        sums = dict(zip(HandStats.NAMES, self.group.sum(stats.vector()).tolist()))
        hands = sums.pop("hands")
        self.hands += int(hands)
        return {f"hand_{name}": total / hands for name, total in sums.items()} if hands else {}

    def source_figures(self) -> dict[str, float]:
        """What the sources of all processes say for the log; to be called by all of them together."""
        own = self.collector.figures()
        return dict(zip(own, self.group.sum(np.array(list(own.values()))).tolist())) if own else {}

    # --- numbers that are none --------------------------------------------------------------------

    def _require(self, **arrays: Any) -> None:
        """All processes agree on whether one has met NaN or infinity, so that none waits for another.

        The first is named: what is computed from it follows.
        """
        bad = [not bool(torch.isfinite(torch.as_tensor(array)).all()) for array in arrays.values()]
        for name, here, anywhere in zip(arrays, bad, self.group.sum(np.array(bad, np.float64)), strict=True):
            if anywhere:
                what = f"weight {self._first_bad(self.net.named_parameters())}" if name == "weights" and here else name
                where = "" if here else " of another process"
                raise NonFinite(f"update {self.updates + 1}: {what}{where} not finite")

    def _blame(self, figures: Tensor) -> None:
        self._require(**{"policy loss": figures[0], "value loss": figures[1]})
        name = self._first_bad((name, p.grad) for name, p in self.net.named_parameters())
        raise NonFinite(f"update {self.updates + 1}: gradient of {name} not finite")

    @staticmethod
    def _first_bad(tensors: Any) -> str:
        return next((name for name, tensor in tensors if not bool(torch.isfinite(tensor).all())), "their sum")

    # --- saving -----------------------------------------------------------------------------------

    def _fill_optimizer(self) -> None:
        """Give Adam its tensors at once, so that a state can be loaded into it before the first step."""
        zeros = torch.zeros_like(self.weights)
        self.optimizer.state[self.weights] = {
            "step": torch.zeros((), dtype=torch.float32, device=self.device),
            "exp_avg": zeros,
            "exp_avg_sq": zeros.clone(),
        }

    def shared_state(self) -> dict[str, npt.NDArray[Any]]:
        """What is the same in every process: weights and optimiser."""
        adam = self.optimizer.state[self.weights]
        return to_arrays(self.net) | {f"adam.{name}": tensor.cpu().numpy().copy() for name, tensor in adam.items()}

    def own_state(self) -> dict[str, npt.NDArray[Any]]:
        """What each process has for itself: its tables and generators."""
        return self.collector.state() | {"minibatches": self.generator.get_state().numpy().copy()}

    def counters(self) -> dict[str, int]:
        """Updates, hands and decisions so far."""
        return {"updates": self.updates, "hands": self.hands, "decisions": self.decisions}

    def start_from(self, weights: dict[str, npt.NDArray[Any]]) -> None:
        """Begin with the weights of another training; ``ValueError`` where they do not fit."""
        from_arrays(self.net, weights)

    def restore(
        self, shared: dict[str, npt.NDArray[Any]], own: dict[str, npt.NDArray[Any]] | None, counters: dict[str, int]
    ) -> None:
        """Go on from a checkpoint; without ``own`` with new tables. ``ValueError`` where it does not fit."""
        from_arrays(self.net, shared)
        for name, tensor in self.optimizer.state[self.weights].items():
            array = shared.get(f"adam.{name}")
            if array is None or array.shape != tuple(tensor.shape):
                raise ValueError(f"the optimiser's {name} is missing or does not fit")
            tensor.copy_(torch.from_numpy(array.copy()))
        self.updates, self.hands, self.decisions = (int(counters[name]) for name in ("updates", "hands", "decisions"))
        if own is not None:
            self.collector.restore(own)
            self.generator.set_state(torch.from_numpy(own["minibatches"].copy()))


def _flatten(net: ActorCritic) -> tuple[Tensor, Tensor]:
    """Move all parameters into one tensor and their gradients into another; the parameters become views."""
    parameters = list(net.parameters())
    weights = torch.nn.Parameter(torch.cat([p.detach().flatten() for p in parameters]), requires_grad=False)
    gradients = torch.zeros_like(weights)
    weights.grad = gradients
    start = 0
    for p in parameters:
        end = start + p.numel()
        p.data = weights.data[start:end].view_as(p)
        p.grad = gradients[start:end].view_as(p)
        start = end
    return weights, gradients
