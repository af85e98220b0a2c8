"""The networks of trained bots: one actor-critic for every phase, seat, level and trump suit, and a table of kinds.

The input is the flat observation (:func:`gunzi_env.observe.encode`: zeros and ones), the output one logit per action of
:class:`gunzi_env.actions.ActionSpace` and one value for the seat to move. Cards are slots of the hand's own order, so
the 32 combinations of level and trump suit look alike.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

ILLEGAL = -1e9
"""Logit of an illegal action: its probability is exactly 0 in float32, and no infinity enters a product."""
GROUP = "gunzi.networks"
"""Entry points of other packages: the kind of a network -> its class, a :class:`Network`."""


class Network(nn.Module):
    """A network that scores actions, and that a checkpoint can describe."""

    kind: ClassVar[str]
    """Names the class in checkpoints, see :data:`KINDS`."""

    @classmethod
    def from_meta(cls, meta: dict[str, Any], most: int | None = None) -> Network:
        """Build an untrained network from :meth:`meta`, without its kind.

        Args:
            meta: the sizes.
            most: numbers that the weights may have; a larger network is refused before its memory is allocated.

        Raises:
            ValueError: sizes that are missing, unknown or out of range.
        """
        raise NotImplementedError

    def meta(self) -> dict[str, Any]:
        """Describe the network as plain JSON types: its sizes."""
        raise NotImplementedError

    def logits(self, obs: Tensor) -> Tensor:
        """Score every action, float32[B, A], from observations [B, F]; illegal actions are not masked here."""
        raise NotImplementedError

    @property
    def device(self) -> torch.device:
        """The device of the weights; observations have to be there too."""
        return next(self.parameters()).device


@dataclass(frozen=True)
class Shape:
    """The sizes of an :class:`ActorCritic`; equal shapes have exchangeable weights."""

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
    """Trunk of the value: the policy's, or one of its own that also sees all hands (during training only)."""
    hidden: int = 0
    """Width of the privileged observation (all hands); 0 without a privileged critic."""

    @classmethod
    def from_meta(cls, meta: dict[str, Any]) -> Shape:
        """Read the shape stored in a checkpoint; ``ValueError`` if there is none."""
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


class ActorCritic(Network):
    """Policy and value; see :class:`Shape`."""

    kind = "actor_critic"

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
        """Draw orthogonal weights; the policy starts nearly uniform and the value near zero."""
        for module in self.modules():
            if isinstance(module, nn.Linear):
                gain = 0.01 if module is self.policy else 0.1 if module is self.value else 2**0.5
                nn.init.orthogonal_(module.weight, gain, generator=generator)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    @classmethod
    def from_meta(cls, meta: dict[str, Any], most: int | None = None) -> ActorCritic:
        """See :meth:`Network.from_meta`."""
        shape = Shape.from_meta(meta)
        if most is not None and shape.width * (shape.inputs + shape.width * (shape.depth - 1)) > most:
            raise ValueError("its network is larger than its weights")
        return cls(shape)

    def meta(self) -> dict[str, Any]:
        """See :meth:`Network.meta`."""
        return dict(vars(self.shape))

    def logits(self, obs: Tensor) -> Tensor:
        """Compute logits float32[B, A] of float or bfloat16 observations [B, F], unmasked."""
        return self.policy(self.trunk(obs)).float()

    def values(self, obs: Tensor, privileged_obs: Tensor | None = None) -> Tensor:
        """Compute values float32[B] for the seat to move; a privileged critic needs ``privileged_obs`` [B, G]."""
        return self._value(obs, self.trunk(obs) if self.critic is None else None, privileged_obs)

    def forward(self, obs: Tensor, privileged_obs: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Compute logits float32[B, A] and values float32[B]; inputs as for :meth:`values`."""
        features = self.trunk(obs)
        return self.policy(features).float(), self._value(obs, features, privileged_obs)

    def _value(self, obs: Tensor, features: Tensor | None, privileged_obs: Tensor | None) -> Tensor:
        if self.critic is not None:
            if privileged_obs is None:
                raise ValueError("this critic needs the privileged view")
            first, *others = self.critic
            # One layer over both inputs, without copying them together first.
            features = first(obs) + self.behind(privileged_obs)
            for layer in others:
                features = layer(features)
        assert features is not None
        # In float32 even under autocast: advantages are small differences of values.
        with torch.autocast(features.device.type, enabled=False):
            value: Tensor = self.value(features.float())
        return value[:, 0]


KINDS: dict[str, type[Network]] = {ActorCritic.kind: ActorCritic}
"""Networks by the kind that a checkpoint names; other packages add theirs here or as entry points (:data:`GROUP`)."""


def describe(net: Network) -> dict[str, Any]:
    """Describe a network for a checkpoint, as :func:`build` reads it."""
    return {"kind": net.kind} | net.meta()


def build(meta: dict[str, Any], most: int | None = None) -> Network:
    """Build the untrained network that a checkpoint describes; arguments and errors as :meth:`Network.from_meta`.

    Checkpoints without a kind hold an :class:`ActorCritic`.

    >>> build({"kind": "actor_critic", **vars(Shape(8, 4, width=16, depth=1))}).meta()["width"]
    16
    >>> build({"kind": "tree"})
    Traceback (most recent call last):
        ...
    ValueError: unknown kind of network 'tree'; there are actor_critic
    """
    sizes = dict(meta)
    kind = sizes.pop("kind", ActorCritic.kind)
    if kind not in KINDS:
        for entry in entry_points(group=GROUP, name=str(kind)):
            KINDS[entry.name] = entry.load()
    if kind not in KINDS:
        raise ValueError(f"unknown kind of network {kind!r}; there are {', '.join(KINDS)}")
    return KINDS[kind].from_meta(sizes, most)


def to_arrays(module: nn.Module, prefix: str = "net.") -> dict[str, npt.NDArray[np.float32]]:
    """Copy the weights into numpy arrays by name."""
    return {prefix + name: tensor.detach().cpu().numpy().copy() for name, tensor in module.state_dict().items()}


def from_arrays(module: nn.Module, arrays: dict[str, npt.NDArray[Any]], prefix: str = "net.") -> None:
    """Load weights by name, in place; ``ValueError`` names a tensor that is missing, not finite or of another shape."""
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
