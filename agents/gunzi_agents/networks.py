"""The network of the learned bots: one actor-critic for every phase, seat, level and trump suit.

The input is the flat observation (:func:`gunzi_env.observe.encode`: zeros and ones), the output one logit per action of
:class:`gunzi_env.actions.ActionSpace` and one value for the seat that moves. All cards are slots of the hand's own
order, so the 32 combinations of level and trump suit look alike.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

ILLEGAL = -1e9
"""Logit of an illegal action: its probability is exactly 0 in float32, and no infinity enters a product."""


@dataclass(frozen=True)
class Shape:
    """The sizes of a network; equal shapes have exchangeable weights."""

    inputs: int
    """Width of the observation."""
    actions: int
    """Number of actions."""
    width: int = 256
    """Width of each hidden layer."""
    depth: int = 3
    """Hidden layers."""
    norm: bool = False
    """LayerNorm before each activation."""
    critic: Literal["shared", "privileged"] = "shared"
    """The value comes from the policy's trunk, or from one of its own that also sees all hands (in training alone)."""
    hidden: int = 0
    """Width of all hands as the critic sees them; 0 where it does not."""

    @classmethod
    def from_meta(cls, meta: dict[str, Any]) -> Shape:
        """The shape stored in a checkpoint; ``ValueError`` where it is none."""
        known = {
            f.name: type(f.default) if f.default is not dataclasses.MISSING else int for f in dataclasses.fields(cls)
        }
        if set(meta) != set(known) or any(type(meta[name]) is not kind for name, kind in known.items()):
            raise ValueError(f"network sizes must be {', '.join(known)}")
        shape = cls(**meta)
        limits = {"inputs": 1 << 16, "actions": 1 << 16, "width": 1 << 14, "depth": 64}
        if shape.critic not in ("shared", "privileged") or not 0 <= shape.hidden < 1 << 16:
            raise ValueError(f"network sizes are out of range: {meta}")
        if any(not 0 < getattr(shape, name) <= limit for name, limit in limits.items()):
            raise ValueError(f"network sizes are out of range: {meta}")
        return shape


def _trunk(inputs: int, shape: Shape) -> nn.Sequential:
    layers: list[nn.Module] = []
    for index in range(shape.depth):
        layers.append(nn.Linear(inputs if index == 0 else shape.width, shape.width))
        if shape.norm:
            layers.append(nn.LayerNorm(shape.width))
        layers.append(nn.ReLU())
    return nn.Sequential(*layers)


class ActorCritic(nn.Module):
    """Policy and value; see :class:`Shape`."""

    def __init__(self, shape: Shape, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.shape = shape
        self.trunk = _trunk(shape.inputs, shape)
        self.policy = nn.Linear(shape.width, shape.actions)
        self.critic: nn.Sequential | None = None
        if shape.critic == "privileged":
            self.critic = _trunk(shape.inputs, shape)
            self.behind = nn.Linear(shape.hidden, shape.width, bias=False)
        self.value = nn.Linear(shape.width, 1)
        self._initialise(generator)

    def _initialise(self, generator: torch.Generator | None) -> None:
        """Orthogonal weights; a nearly uniform policy and a value of nearly zero to begin with."""
        for module in self.modules():
            if isinstance(module, nn.Linear):
                gain = 0.01 if module is self.policy else 0.1 if module is self.value else 2**0.5
                nn.init.orthogonal_(module.weight, gain, generator=generator)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    @property
    def device(self) -> torch.device:
        """Where the weights lie, and observations have to."""
        return self.value.weight.device

    def logits(self, seen: Tensor) -> Tensor:
        """Logits float32[B, A] of a float or bfloat16 observation [B, F]; illegal actions are not masked here."""
        return self.policy(self.trunk(seen)).float()

    def values(self, seen: Tensor, hidden: Tensor | None = None) -> Tensor:
        """Values float32[B] for the seat that moves; ``hidden`` [B, G] where the critic sees all hands."""
        return self._value(seen, self.trunk(seen) if self.critic is None else None, hidden)

    def forward(self, seen: Tensor, hidden: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Logits float32[B, A] and values float32[B]; ``hidden`` [B, G] where the critic sees all hands."""
        features = self.trunk(seen)
        return self.policy(features).float(), self._value(seen, features, hidden)

    def _value(self, seen: Tensor, features: Tensor | None, hidden: Tensor | None) -> Tensor:
        if self.critic is not None:
            if hidden is None:
                raise ValueError("this critic needs the privileged view")
            first, *others = self.critic
            # One layer over both inputs, without copying them together first.
            features = first(seen) + self.behind(hidden)
            for layer in others:
                features = layer(features)
        assert features is not None
        # In float32 even under autocast: advantages are small differences of values.
        with torch.autocast(features.device.type, enabled=False):
            value: Tensor = self.value(features.float())
        return value[:, 0]


def to_arrays(module: nn.Module, prefix: str = "net.") -> dict[str, npt.NDArray[np.float32]]:
    """The weights as numpy arrays by name (copies)."""
    return {prefix + name: tensor.detach().cpu().numpy().copy() for name, tensor in module.state_dict().items()}


def from_arrays(module: nn.Module, arrays: dict[str, npt.NDArray[Any]], prefix: str = "net.") -> None:
    """Load weights by name, in place; ``ValueError`` names a tensor that is missing, misshapen or not finite."""
    state = module.state_dict()
    given = {name.removeprefix(prefix) for name in arrays if name.startswith(prefix)}
    if given != set(state):
        raise ValueError(f"weights do not fit the network: {', '.join(sorted(given ^ set(state))[:3])}")
    for name, tensor in state.items():
        array = arrays[prefix + name]
        if array.shape != tuple(tensor.shape) or array.dtype.kind != "f":
            raise ValueError(f"weight {name} is {array.dtype}{list(array.shape)}, the network has {list(tensor.shape)}")
        if not np.isfinite(array).all():
            raise ValueError(f"weight {name} is not finite")
        with torch.no_grad():
            tensor.copy_(torch.from_numpy(array.astype(np.float32)))
