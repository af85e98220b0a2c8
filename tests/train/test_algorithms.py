"""The seam of an algorithm, proved from outside the package: a toy is registered, trained, stopped and resumed."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch

from gunzi_agents import checkpoint, neural
from gunzi_env.rules import Rules
from gunzi_train import config as configuration
from gunzi_train import folder
from gunzi_train.algorithms.base import Counters
from gunzi_train.algorithms.learner import Learner
from gunzi_train.commands import compare, inspect, train
from gunzi_train.config import Config, ConfigError, sections
from gunzi_train.device import floats
from gunzi_train.group import Group
from gunzi_train.logs import curve, progress
from gunzi_train.logs.history import History
from gunzi_train.plan import Plan
from gunzi_train.policy import log_probs
from gunzi_train.rollout.collector import Rollout, Source


@dataclass(frozen=True)
class ToySettings:
    lr: float = 0.01
    bound: float = 1.0

    def problem(self, config: Config) -> str:
        return "" if self.lr < 1 else f"toy.lr is {self.lr}; allowed: below 1"


class Toy(Learner):
    """REINFORCE without returns: an action is as good as its own reward."""

    settings = ToySettings
    figures: ClassVar[tuple[str, ...]] = ("toy_loss", "toy_norm")

    def __init__(self, plan: Plan, group: Group, source: Source | None = None) -> None:
        super().__init__(plan, group, source, lr=plan.config.settings.lr)

    def learn(self, rollout: Rollout, done: float) -> dict[str, float]:
        rewards, seats = torch.from_numpy(self.rewards(rollout, done)), torch.from_numpy(rollout.seats[:-1])
        signs = torch.where(seats % 2 == 0, 1.0, -1.0)
        obs, legal = (torch.from_numpy(a).flatten(0, 1) for a in (rollout.obs[:-1], rollout.legal))
        actions = torch.from_numpy(rollout.actions).flatten()
        self.optimiser.zero_grad()
        chosen = log_probs(self.net.logits(floats(obs, self.bf16)), legal).gather(1, actions[:, None])[:, 0]
        loss = -((signs * rewards).flatten() * chosen).mean()
        loss.backward()
        norm = self.optimiser.step(self.group, self.config.settings.bound, loss=loss.detach())
        return {"toy_loss": float(loss.detach()), "toy_norm": float(norm), "toy_secret": 1.0}


TOML = """
algorithm = "toy"
precision = "fp32"
toy.lr = 0.02
net = {width = 8, depth = 1}
collect = {tables = 8, steps = 16}
schedule.updates = 4
evaluate = {every_seconds = 0.0, deals = 2, opponents = ["uniform"]}
save = {every_seconds = 1e6, tensorboard = false, curve_seconds = 1e-9}
"""


@pytest.fixture(autouse=True)
def toy() -> Iterator[None]:
    """The toy, registered for one test."""
    before = dict(configuration.ALGORITHMS)
    configuration.register("toy", Toy)
    yield
    configuration.ALGORITHMS.clear()
    configuration.ALGORITHMS.update(before)


@pytest.fixture
def toml(tmp_path: Path) -> str:
    (tmp_path / "toy.toml").write_text(TOML, "utf-8")
    return str(tmp_path / "toy.toml")


def _rows(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / folder.METRICS).read_text("utf-8").splitlines()]


def test_a_registered_algorithm_trains_stops_and_resumes(
    toml: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torch_as_before: Generator[None]
) -> None:
    shown: list[progress.Status] = []
    drawn: list[tuple[str, ...]] = []
    lines = curve._lines
    monkeypatch.setattr(progress.Progress, "show", lambda self, status, force=False: shown.append(status))
    monkeypatch.setattr(
        curve, "_lines", lambda axis, labels, *rest: drawn.append((*labels,)) or lines(axis, labels, *rest)
    )
    whole, run = tmp_path / "whole", tmp_path / "run"
    assert train.main([toml, "--out", str(whole)]) == 0

    learn = Toy.learn

    def stopping(self: Toy, rollout: Rollout, done: float) -> dict[str, float]:
        if self.counters == Counters(1, self.counters.hands, 128):
            os.kill(os.getpid(), signal.SIGTERM)
        return learn(self, rollout, done)

    monkeypatch.setattr(Toy, "learn", stopping)
    assert train.main([toml, "--out", str(run)]) == 143
    assert [path.name for path in checkpoint.listing(run)] == [checkpoint.file_name(2)]
    monkeypatch.setattr(Toy, "learn", learn)
    assert train.main(["--resume", str(run)]) == 0

    one, other = (checkpoint.load(path)[0] for path in (whole, run))
    assert one.meta["config"]["toy"] == {"lr": 0.02, "bound": 1.0} and one.meta["config"]["algorithm"] == "toy"
    assert set(one.tensors) == set(other.tensors)
    assert all(one.tensors[name].tobytes() == other.tensors[name].tobytes() for name in one.tensors)
    assert not torch.equal(
        neural.load(whole, Rules()).net.policy.weight,
        neural.load(whole / checkpoint.UNTRAINED, Rules()).net.policy.weight,
    )

    rows = _rows(run)
    assert [row["update"] for row in rows] == [1, 2, 3, 4]
    assert [row["train"]["toy_loss"] for row in rows] == [row["train"]["toy_loss"] for row in _rows(whole)]
    assert set(shown[-1].learning) == set(Toy.figures)
    assert Toy.figures in drawn


def test_its_figures_and_settings_are_told(
    toml: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], torch_as_before: Generator[None]
) -> None:
    run = tmp_path / "run"
    assert train.main([toml, "--out", str(run), "--schedule.updates", "1"]) == 0
    history = History(run, configuration.shown_figures("toy")).read()
    assert history.last("toy_loss") == history.last("toy_loss") and "policy_loss" not in history.columns
    capsys.readouterr()
    assert compare.main([str(run), str(run)]) == 0
    assert "toy loss" in capsys.readouterr().out
    assert inspect.main([str(run)]) == 0
    assert "toy.lr = 0.02" in capsys.readouterr().out


def test_the_settings_of_an_algorithm_are_checked(toml: str, tmp_path: Path) -> None:
    def error(text: str) -> str:
        with pytest.raises(ConfigError) as caught:
            configuration.read_toml_text(text)
        return str(caught.value)

    assert configuration.read_toml_text('algorithm = "toy"').settings == ToySettings()
    made = configuration.read_toml(toml)
    assert made.settings == ToySettings(lr=0.02)
    assert configuration.from_dict(json.loads(json.dumps(configuration.as_dict(made))), "test") == made
    assert configuration.set_paths(made, Config(algorithm="toy"))[-1] == "toy.bound"
    assert "algorithm is 'tow'; allowed: ppo, toy" in error('algorithm = "tow"')
    assert "ppo.lr is set, but algorithm is toy" in error('algorithm = "toy"\nppo.lr = 0.1')
    assert "unknown key toy" in error("toy.lr = 0.1")
    assert "unknown key toy.rate; allowed: toy.lr, toy.bound" in error('algorithm = "toy"\ntoy.rate = 0.1')
    assert "toy.lr is 2.0; allowed: below 1" in error('algorithm = "toy"\ntoy.lr = 2')
    assert "ppo.minibatch is 64, more than the 8" in error("collect = {tables = 8, steps = 1}\nppo.minibatch = 64")
    assert configuration.read_toml_text('algorithm = "toy"\ncollect = {tables = 8, steps = 1}')
    assert train.main([toml, "--algorithm", "ppo", "--out", str(tmp_path / "run"), "--minutes", "1"]) == 2
    with pytest.raises(ValueError, match="a setting has this name"):
        configuration.register("seed", Toy)


def test_an_entry_point_is_an_algorithm_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Known by name before it is imported, imported when it is chosen."""

    class Entry:
        name, loaded = "late", False

        def load(self) -> type:
            Entry.loaded = True
            return Toy

    def found(group: str, name: str = "late") -> list[Entry]:
        return [Entry()] if (group, name) == (configuration.GROUP, "late") else []

    monkeypatch.setattr(sections, "entry_points", found)
    assert "late" in configuration.algorithms() and not Entry.loaded
    assert configuration.read_toml_text('algorithm = "late"\nlate.lr = 0.5').settings == ToySettings(lr=0.5)
    assert configuration.shown_figures("late") == Toy.figures and configuration.shown_figures("nothing") == ()
