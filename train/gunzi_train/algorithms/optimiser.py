"""Adam over one flat tensor, the same steps in all processes, and checks for numbers that are not finite.

All parameters lie in one flat tensor, and so do their gradients: the average over processes, the norm and Adam are one
call each.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from gunzi_train.group import Group


def require_finite(group: Group, **arrays: Any) -> None:
    """Check arrays in all processes together, so that no process waits for another that has failed.

    The first bad one is named: later ones are computed from it.

    Raises:
        FloatingPointError: in every process.
    """
    bad = [not bool(torch.isfinite(torch.as_tensor(array)).all()) for array in arrays.values()]
    for name, here, anywhere in zip(arrays, bad, group.sum(np.array(bad, np.float64)), strict=True):
        if anywhere:
            raise FloatingPointError(f"{name}{'' if here else ' of another process'} not finite")


def _first_bad(tensors: Iterable[tuple[str, Tensor | None]]) -> str:
    return next((name for name, t in tensors if t is not None and not bool(torch.isfinite(t).all())), "their sum")


class FlatAdam:
    """Adam for all parameters of a network, which become views of one flat tensor.

    Args:
        net: on its device. Parameters without a gradient do not move.
        lr: learning rate of the first step.
    """

    def __init__(self, net: nn.Module, lr: float) -> None:
        self.net = net
        self.weights, self.gradients = _flatten(net)
        self._adam = torch.optim.Adam([self.weights], lr=lr, eps=1e-5, fused=True)
        # Without its tensors, a state could not be loaded before the first step.
        zeros = torch.zeros_like(self.weights)
        self._adam.state[self.weights] = {
            "step": torch.zeros((), dtype=torch.float32, device=self.weights.device),
            "exp_avg": zeros,
            "exp_avg_sq": zeros.clone(),
        }

    @property
    def lr(self) -> float:
        """Learning rate of the next steps."""
        return float(self._adam.param_groups[0]["lr"])

    @lr.setter
    def lr(self, value: float) -> None:
        self._adam.param_groups[0]["lr"] = value

    def zero_grad(self) -> None:
        """Set the gradients to zero."""
        self.gradients.zero_()

    def step(self, group: Group, max_norm: float, **losses: Tensor) -> Tensor:
        """Average the gradients over the processes, bound their norm, and make a step.

        Args:
            group: the processes, all of which make this step.
            max_norm: maximum norm of the averaged gradient.
            losses: terms that the gradients come from, which are blamed first.

        Returns:
            Norm of the averaged gradient before it was bounded, a scalar.

        Raises:
            FloatingPointError: in every process and before the step, naming a loss or a parameter.
        """
        group.all_reduce_mean_(self.gradients)
        norm = self.gradients.norm()
        if not bool(torch.isfinite(norm)):  # then it is not finite in any process
            require_finite(group, **losses)
            name = _first_bad((name, p.grad) for name, p in self.net.named_parameters())
            raise FloatingPointError(f"gradient of {name} not finite")
        self.gradients.mul_((max_norm / (norm + 1e-6)).clamp(max=1.0))
        self._adam.step()
        return norm

    def require_finite(self, group: Group) -> None:
        """Check the weights in all processes; ``FloatingPointError`` names the first bad one."""
        weights = self.weights.detach()
        name = "weights" if bool(torch.isfinite(weights).all()) else f"weight {_first_bad(self.net.named_parameters())}"
        require_finite(group, **{name: weights})

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Copy the state of Adam, by names that begin with ``adam.``."""
        tensors = self._adam.state[self.weights]
        return {f"adam.{name}": tensor.cpu().numpy().copy() for name, tensor in tensors.items()}

    def restore(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Continue from :meth:`state`; ``ValueError`` if it does not fit."""
        for name, tensor in self._adam.state[self.weights].items():
            array = state.get(f"adam.{name}")
            if array is None or array.shape != tuple(tensor.shape):
                raise ValueError(f"the optimiser's {name} is missing or does not fit")
            tensor.copy_(torch.from_numpy(array.copy()))


def _flatten(net: nn.Module) -> tuple[Tensor, Tensor]:
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
