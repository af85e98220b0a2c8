"""An agent as another package would write it: only public names, and no change to gunzi."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gunzi_agents import Agent
from gunzi_env import Rules
from gunzi_env.observe import View


class Cautious(Agent):
    """Passes if it may, else plays the legal action with the lowest number."""

    name = "cautious"
    identity = "v1"
    max_deals = 4

    def __init__(self, rules: Rules) -> None:
        self.rules = rules

    def act(self, view: View, legal: npt.NDArray[np.bool_], keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
        passes = legal[:, -1]
        return np.where(passes, legal.shape[1] - 1, legal.argmax(axis=1)).astype(np.int32)


def make(rules: Rules) -> Agent:
    """Build the agent; this function is what specs and entry points name."""
    return Cautious(rules)


def nothing(rules: Rules) -> None:
    """Return no agent."""


def broken(rules: Rules) -> Agent:
    """Fail."""
    raise KeyError("weights")
