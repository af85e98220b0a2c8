"""The bot of a training run: legal whatever the network wishes, and the same alone and in a batch."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from gunzi_agents.networks import ActorCritic, Shape
from gunzi_agents.neural import MIN_ROWS, NeuralAgent
from gunzi_env import Rules, VectorEnv, observe

RULES = Rules.preset("dalian")


def agent(seed: int, wish: int | None = None) -> NeuralAgent:
    """A small untrained network, which much prefers the action ``wish``."""
    env = VectorEnv(1, RULES)
    shape = Shape(inputs=observe.size(RULES), actions=env.num_actions, width=32, depth=2)
    net = ActorCritic(shape, torch.Generator().manual_seed(seed))
    with torch.no_grad():
        net.policy.weight.mul_(300)
        if wish is not None:
            net.policy.bias[wish] = 1e6
    return NeuralAgent(net, RULES, "test")


@pytest.mark.parametrize("wish", [None, 0, 107, 162, 183])
def test_what_it_plays_is_legal(wish: int | None) -> None:
    """It takes its most probable legal action, also where it would rather take an illegal one."""
    env = VectorEnv(24, RULES, seed=3)
    bot = agent(1, wish)
    view, legal = env.reset()
    refused = 0
    for _ in range(150):
        actions = bot.act(view, legal, np.zeros(len(view), np.uint64))
        rows = np.arange(len(view))
        assert legal[rows, actions].all()
        logits = bot.logits(observe.encode(view))
        assert (logits[rows, actions] >= np.where(legal, logits, -np.inf).max(axis=1)).all()
        refused += int((~legal[rows, logits.argmax(axis=1)]).sum())
        view, legal, _, _ = env.step(actions)
    assert refused > 100, "the network must have wished for what it could not have"


@pytest.mark.parametrize("rows", [1, MIN_ROWS - 1, MIN_ROWS, 20])
def test_alone_and_in_a_batch(rows: int) -> None:
    env = VectorEnv(20, RULES, seed=5)
    bot = agent(2)
    view, legal = env.reset()
    for _ in range(40):
        view, legal, _, _ = env.step(bot.act(view, legal, np.zeros(20, np.uint64)))
    together = bot.act(view, legal, np.zeros(20, np.uint64))
    few = view.rows(np.arange(rows))
    assert (bot.act(few, legal[:rows], np.zeros(rows, np.uint64)) == together[:rows]).all()
