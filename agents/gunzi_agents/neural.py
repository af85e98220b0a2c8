"""The bot of a training run: a network that plays its most probable legal action."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from gunzi_agents import checkpoint
from gunzi_agents.base import Agent
from gunzi_agents.networks import ILLEGAL, ActorCritic, Shape, from_arrays
from gunzi_env import observe
from gunzi_env.observe import View
from gunzi_env.rules import Rules

MIN_ROWS = 8
"""Below this, matrix products take other paths and round differently: smaller batches are padded."""


class NeuralAgent(Agent):
    """Plays the action with the largest logit; of equals the lowest number. Deterministic: the keys are not used."""

    def __init__(self, net: ActorCritic, rules: Rules, name: str, identity: str = "") -> None:
        self.net = net.eval()
        self.rules = rules
        self.name = name
        self.identity = identity

    def act(self, view: View, legal: npt.NDArray[np.bool_], keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
        """One action for each row; see :class:`gunzi_agents.base.Agent`."""
        return self._of_legal(view, legal).argmax(axis=1).astype(np.int32)

    def probabilities(self, view: View, legal: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
        """The chance that its policy gives each action, ``float32[B, A]``, 0 for what is not legal."""
        logits = self._of_legal(view, legal)
        odds = np.where(legal, np.exp(logits - logits.max(axis=1, keepdims=True)), np.float32(0))
        chances: npt.NDArray[np.float32] = odds / odds.sum(axis=1, keepdims=True)
        return chances

    def _of_legal(self, view: View, legal: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
        return np.where(legal, self.logits(observe.encode(view)), np.float32(2 * ILLEGAL))

    def logits(self, seen: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        """float32[B, A] of the observations uint8[B, F]."""
        rows = len(seen)
        if rows < MIN_ROWS:
            seen = np.concatenate((seen, np.zeros((MIN_ROWS - rows, seen.shape[1]), seen.dtype)))
        with torch.inference_mode():
            flags = torch.from_numpy(seen).to(self.net.device)
            logits: npt.NDArray[np.float32] = self.net.logits(flags.float()).cpu().numpy()
        return logits[:rows]

    def reset(self) -> None:
        """Nothing is remembered between decisions."""


def network(found: checkpoint.Checkpoint, rules: Rules, *, same_rules: bool = True) -> ActorCritic:
    """The network of a checkpoint; :class:`~gunzi_agents.checkpoint.CheckpointError` where it does not fit."""
    checkpoint.require(found, rules, same_rules=same_rules)
    try:
        shape = Shape.from_meta(found.meta["network"])
        if shape.width * (shape.inputs + shape.width * (shape.depth - 1)) > sum(
            array.size for array in found.tensors.values()
        ):
            raise ValueError("its network is larger than its weights")  # seen before the memory is asked for
        net = ActorCritic(shape)
        from_arrays(net, found.tensors)
    except (KeyError, TypeError, ValueError) as error:
        raise checkpoint.CheckpointError(found.path, f"holds no usable network ({error})") from None
    return net


def load(spec: str | Path, rules: Rules, *, same_rules: bool = True) -> NeuralAgent:
    """The agent of a checkpoint file, or of the newest usable checkpoint of a run folder.

    ``runs/x`` is the trained bot, ``runs/x/untrained.safetensors`` the same network before its first update.

    Args:
        spec: file or run folder.
        rules: what is to be played; the checkpoint must have been trained for the same, unless ``same_rules`` is False:
            then decks and observation have to agree.

    Raises:
        CheckpointError: naming the file and the reason.
    """
    found, _ = checkpoint.load(spec)
    # On as many cores as there happen to be the logits would round differently; and processes share the machine.
    torch.set_num_threads(1)
    net = network(found, rules, same_rules=same_rules)
    return NeuralAgent(net, rules, str(spec).rstrip("/"), identity=found.digest)
