"""Self-play training for Da Gunzi.

``gunzi train`` is the command; from Python, one's own loop needs three names::

    make         the algorithm that a plan names
    Algorithm    what it offers: update, agent, state; and what an own algorithm has to offer
    Collector    N tables that the network plays, as rollouts

>>> from gunzi_env import Rules
>>> from gunzi_train import make
>>> from gunzi_train.config import CollectConfig, Config, NetConfig, PPOConfig
>>> from gunzi_train.group import Group
>>> from gunzi_train.plan import Plan
>>> config = Config(net=NetConfig(width=8), collect=CollectConfig(tables=8, steps=8), ppo=PPOConfig(minibatch=64))
>>> algorithm = make(Plan(config, Rules(), bf16=False), Group())
>>> figures = algorithm.update(done=0.0)
>>> algorithm.counters.updates, algorithm.counters.decisions
(1, 64)
>>> algorithm.agent("mine").name
'mine'

The names are imported when they are first used: the commands say their first line before torch is loaded.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gunzi_train.algorithms.base import Algorithm as Algorithm
    from gunzi_train.algorithms.base import make as make
    from gunzi_train.rollout.collector import Collector as Collector

__all__ = ["Algorithm", "Collector", "make"]

_HOME = {"Algorithm": "algorithms.base", "Collector": "rollout.collector", "make": "algorithms.base"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'gunzi_train' has no attribute {name!r}")
    return getattr(import_module(f"gunzi_train.{_HOME[name]}"), name)
