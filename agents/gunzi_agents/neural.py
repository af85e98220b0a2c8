"""The bot of a training run: a network that plays its legal action with the largest logit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from gunzi_agents import checkpoint
from gunzi_agents.base import Agent
from gunzi_agents.networks import ILLEGAL, Network, build, from_arrays
from gunzi_env import observe
from gunzi_env.observe import View
from gunzi_env.rules import Rules

MIN_ROWS = 8
"""Smaller batches are padded: their matrix products would take other paths and round differently."""


class NeuralAgent(Agent):
    """Plays the legal action with the largest logit, the lowest number among equals. Deterministic: keys are unused."""

    def __init__(self, net: Network, rules: Rules, name: str, identity: str = "") -> None:
        self.net = net.eval()
        self.rules = rules
        self.name = name
        self.identity = identity

    def act(self, view: View, legal: npt.NDArray[np.bool_], keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
        """Choose one action for each row; see :class:`gunzi_agents.base.Agent`."""
        return self._of_legal(view, legal).argmax(axis=1).astype(np.int32)

    def probabilities(self, view: View, legal: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
        """Compute the policy's probability of each action, ``float32[B, A]``, 0 for illegal ones."""
        logits = self._of_legal(view, legal)
        odds = np.where(legal, np.exp(logits - logits.max(axis=1, keepdims=True)), np.float32(0))
        chances: npt.NDArray[np.float32] = odds / odds.sum(axis=1, keepdims=True)
        return chances

    def _of_legal(self, view: View, legal: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
        return np.where(legal, self.logits(observe.encode(view)), np.float32(2 * ILLEGAL))

    def logits(self, obs: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        """Compute logits float32[B, A] of observations uint8[B, F]."""
        rows = len(obs)
        if rows < MIN_ROWS:
            obs = np.concatenate((obs, np.zeros((MIN_ROWS - rows, obs.shape[1]), obs.dtype)))
        with torch.inference_mode():
            flags = torch.from_numpy(obs).to(self.net.device)
            logits: npt.NDArray[np.float32] = self.net.logits(flags.float()).cpu().numpy()
        return logits[:rows]

    def reset(self) -> None:
        """Do nothing: no memory between decisions."""


def network(found: checkpoint.Checkpoint, rules: Rules, *, same_rules: bool = True) -> Network:
    """Build the network of a checkpoint; :class:`~gunzi_agents.checkpoint.CheckpointError` if it does not fit."""
    checkpoint.require(found, rules, same_rules=same_rules)
    try:
        net = build(found.meta["network"], most=sum(array.size for array in found.tensors.values()))
        from_arrays(net, found.tensors)
    except (KeyError, TypeError, ValueError) as error:
        raise checkpoint.CheckpointError(found.path, f"holds no usable network ({error})") from None
    return net


def load(spec: str | Path, rules: Rules, *, same_rules: bool = True) -> NeuralAgent:
    """Load the agent of a checkpoint file, or of the newest usable checkpoint of a run folder.

    ``runs/x`` is the trained bot, ``runs/x/untrained.safetensors`` the same network before its first update.

    Args:
        spec: file or run folder.
        rules: the rules to play; the checkpoint must have been trained for them.
        same_rules: if False, only decks and observation have to agree.

    Raises:
        CheckpointError: naming the file and the reason.
    """
    found, _ = checkpoint.load(spec)
    # One thread: logits round the same on any number of cores, and processes share the machine.
    torch.set_num_threads(1)
    net = network(found, rules, same_rules=same_rules)
    return NeuralAgent(net, rules, str(spec).rstrip("/"), identity=found.digest)
