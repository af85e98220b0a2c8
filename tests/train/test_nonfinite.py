"""NaN and infinity, wherever they come in: found in that update and named, before they reach a checkpoint."""

from __future__ import annotations

import copy
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from gunzi_agents import checkpoint
from gunzi_env.rules import Rules
from gunzi_train.algorithms import ppo
from gunzi_train.algorithms.ppo import PPO
from gunzi_train.commands import train
from gunzi_train.config import CollectConfig, Config, NetConfig, PPOConfig, ScheduleConfig
from gunzi_train.device import settle_torch
from gunzi_train.errors import NonFinite
from gunzi_train.group import Group
from gunzi_train.plan import Plan
from gunzi_train.rollout import collector
from tests.support import tiny_runs

SMALL = Config(
    net=NetConfig(width=16, depth=1, critic="privileged"),
    collect=CollectConfig(tables=16, steps=16),
    ppo=PPOConfig(minibatch=64),
    schedule=ScheduleConfig(updates=4),
)
ARGV = tiny_runs.argv(collect__steps=8)

Plant = Callable[[PPO, pytest.MonkeyPatch, float], None]


@pytest.fixture(scope="module")
def begun() -> Generator[tuple[PPO, tuple[Any, ...]]]:
    threads = torch.get_num_threads()
    settle_torch()
    learner = PPO(Plan(SMALL, Rules(), False), Group())
    learner.update(0.0)
    yield learner, copy.deepcopy((learner.shared_state(), learner.own_state(), learner.counters.as_dict()))
    torch.set_num_threads(threads)
    torch.set_flush_denormal(False)


@pytest.fixture
def learner(begun: tuple[PPO, tuple[Any, ...]]) -> PPO:
    """In its second update, whatever became of it in another test."""
    begun[0].restore(*begun[1])
    return begun[0]


def test_without_a_fault_it_goes_on(learner: PPO) -> None:
    """What all others are compared with."""
    assert np.isfinite(list(learner.update(0.0).values())).all() and learner.counters.updates == 2


def _rewards(learner: PPO, patch: pytest.MonkeyPatch, bad: float) -> None:
    env = learner.source.env
    step = env.step

    def poisoned(actions: Any) -> Any:
        answer = step(actions)
        env.points = np.where(np.arange(env.num_tables) == 3, bad, env.points)
        return answer

    patch.setattr(env, "step", poisoned)


def _observations(module: Any) -> Plant:
    """They are whole numbers in memory, so that they can hold neither until they have become floats."""

    def plant(learner: PPO, patch: pytest.MonkeyPatch, bad: float) -> None:
        floats = module.floats
        patch.setattr(module, "floats", lambda seen, bf16: floats(seen, bf16).fill_(bad))

    return plant


def _logits(learner: PPO, patch: pytest.MonkeyPatch, bad: float) -> None:
    logits = learner.net.logits
    patch.setattr(learner.net, "logits", lambda seen: logits(seen).clone().fill_(bad))


def _one_weight(learner: PPO, patch: pytest.MonkeyPatch, bad: float) -> None:
    with torch.no_grad():
        learner.net.trunk[0].weight[3, :] = bad


def _advantages(learner: PPO, patch: pytest.MonkeyPatch, bad: float) -> None:
    find = learner._advantages

    def poisoned(*arguments: Any) -> Any:
        advantages, valid = find(*arguments)
        advantages[tuple(np.argwhere(valid)[0])] = bad
        return advantages, valid

    patch.setattr(learner, "_advantages", poisoned)


def _policy_loss(learner: PPO, patch: pytest.MonkeyPatch, bad: float) -> None:
    find = ppo.policy_loss

    def poisoned(*arguments: Any) -> Any:
        loss, entropy, ratio = find(*arguments)
        return loss * bad, entropy, ratio

    patch.setattr(ppo, "policy_loss", poisoned)


def _value_loss(learner: PPO, patch: pytest.MonkeyPatch, bad: float) -> None:
    forward = learner.net.forward
    patch.setattr(learner.net, "forward", lambda *seen: (forward(*seen)[0], forward(*seen)[1] + bad))


def _gradient(learner: PPO, patch: pytest.MonkeyPatch, bad: float) -> None:
    assert learner.net.critic is not None
    handle = learner.net.critic[0].weight.register_hook(lambda gradient: gradient + bad)
    patch.setattr(learner.net, "hook", handle, raising=False)


def _after_the_last_step(learner: PPO, patch: pytest.MonkeyPatch, bad: float) -> None:
    learn = learner._improve

    def poisoned(*arguments: Any) -> Any:
        figures = learn(*arguments)
        with torch.no_grad():
            learner.net.value.weight[0, 2] = bad
        return figures

    patch.setattr(learner, "_improve", poisoned)


FAULTS: dict[str, tuple[Plant, str]] = {
    "reward": (_rewards, "rewards"),
    "observation while playing": (_observations(collector), "logits of the policy"),
    "observation of the critic": (_observations(ppo), "values"),
    "logits": (_logits, "logits of the policy"),
    "weights": (_one_weight, "logits of the policy"),
    "advantage": (_advantages, "advantages"),
    "policy loss": (_policy_loss, "policy loss"),
    "value loss": (_value_loss, "value loss"),
    "gradient": (_gradient, r"gradient of critic\.0\.weight"),
    "weights after the last step": (_after_the_last_step, r"weight value\.weight"),
}


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", FAULTS)
def test_it_is_found_in_that_update_and_named(
    name: str, bad: float, learner: PPO, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant, named = FAULTS[name]
    before = learner.optimiser.weights.clone()
    plant(learner, monkeypatch, bad)
    try:
        with pytest.raises(NonFinite, match=rf"^update 2: {named} not finite") as caught:
            learner.update(0.0)
    finally:
        if handle := getattr(learner.net, "hook", None):
            handle.remove()
    assert caught.value.exit_code == 5 and "\n" not in str(caught.value)
    if not name.startswith("weights"):
        assert torch.equal(learner.optimiser.weights, before), "a step was taken"


def test_the_command_exits_5_and_keeps_the_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    assert train.main(["--out", str(run), *ARGV, "--schedule.updates", "9", "--minutes", "0.0001"]) == 0
    (kept,) = checkpoint.listing(run)
    before, updates = kept.read_bytes(), checkpoint.read(kept).meta["counters"]["updates"]
    values = PPO._values
    monkeypatch.setattr(
        PPO,
        "_values",
        lambda self, data: values(self, data) * (np.nan if self.counters.updates == updates + 1 else 1.0),
    )
    capsys.readouterr()
    assert train.main(["--resume", str(run), "--minutes", "100"]) == 5
    assert capsys.readouterr().err == f"gunzi train: update {updates + 2}: values not finite\n"
    assert checkpoint.listing(run) == [kept] and kept.read_bytes() == before


def test_an_update_without_a_decision_to_learn_from_is_none_of_them() -> None:
    """In so short a rollout no seat comes to its next decision, and a process has nothing to learn from."""
    config = Config(
        net=NetConfig(width=8, depth=1), collect=CollectConfig(tables=8, steps=1), ppo=PPOConfig(minibatch=8)
    )
    short = PPO(Plan(config, Rules(), False), Group())
    figures = short.update(0.0)
    assert np.isfinite(list(figures.values())).all() and figures["gradient_norm"] == 0.0
    assert torch.isfinite(short.optimiser.weights).all()
