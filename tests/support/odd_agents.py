"""Agents for tests of tournaments: quick, faulty, or asking for something. Other processes make them by name too."""

from __future__ import annotations

import multiprocessing
import os
import signal

import numpy as np
import numpy.typing as npt

from gunzi_agents import registry
from gunzi_agents.base import Agent
from gunzi_agents.uniform import Uniform, choose
from gunzi_env.observe import View
from gunzi_env.rules import Rules


class Small(Uniform):
    """Plays uniformly, in small blocks."""

    name = "small"
    max_deals = 5


class High(Agent):
    """Always the legal action of the highest number: unlike uniform, and quick."""

    name = "high"

    def act(self, view: View, legal: npt.NDArray[np.bool_], keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
        return (legal.shape[1] - 1 - legal[:, ::-1].argmax(axis=1)).astype(np.int32)

    def reset(self) -> None: ...


class Late(Small):
    """Goes wrong at its third block."""

    blocks = 0

    def reset(self) -> None:
        self.blocks += 1

    def act(self, view: View, legal: npt.NDArray[np.bool_], keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
        return choose(legal, keys) if self.blocks < 3 else self.fail(legal)

    def fail(self, legal: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
        raise NotImplementedError


class Crasher(Late):
    name = "crasher"

    def fail(self, legal: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
        raise KeyError("lost")


class Cheat(Late):
    name = "cheat"

    def fail(self, legal: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
        return np.full(len(legal), -7, np.int32)


class Mortal(Late):
    """Is killed in a worker; elsewhere it lives on."""

    name = "mortal"

    def fail(self, legal: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
        if multiprocessing.parent_process() is not None:
            os.kill(os.getpid(), signal.SIGKILL)
        return (legal.shape[1] - 1 - legal[:, ::-1].argmax(axis=1)).astype(np.int32)


class Greedy(Small):
    """Wants more deals at a time than there may be."""

    name = "greedy for deals"
    max_deals = 257


class Trained(Small):
    """Another one every time it is made in another kind of process."""

    name = "trained"

    @property
    def identity(self) -> str:
        return "parent" if multiprocessing.parent_process() is None else "worker"


_MADE = {agent.name: agent for agent in (Small, High, Crasher, Cheat, Mortal, Trained)} | {"wide": Greedy}


def make(spec: str, rules: Rules) -> Agent:
    """The agents of this module, and those of the registry."""
    if spec == "broken" and multiprocessing.parent_process() is not None:
        raise RuntimeError("a fault of ours")
    if spec.startswith("small"):
        return Small()
    return _MADE[spec]() if spec in _MADE else Uniform() if spec == "broken" else registry.make(spec, rules)
