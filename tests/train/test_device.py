"""Where the network is computed: what is chosen, and what is refused where it is not there."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from gunzi_train.commands import train
from gunzi_train.config import ConfigError
from gunzi_train.device import choose
from tests.support import tiny_runs

SMALL = tiny_runs.argv(collect__steps=4, ppo__minibatch=8, schedule__updates=1)


def _cards(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: number > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: number)


def test_cards_are_taken_in_turn_where_there_are_some(monkeypatch: pytest.MonkeyPatch) -> None:
    _cards(monkeypatch, 2)
    assert [str(choose(name, rank)) for name in ("auto", "cuda") for rank in (0, 1, 2)] == [
        *("cuda:0", "cuda:1", "cuda:0"),
        *("cuda:0", "cuda:1", "cuda:0"),
    ]
    assert str(choose("cpu", 1)) == "cpu"


def test_without_cards_auto_is_the_processor_and_cuda_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    _cards(monkeypatch, 0)
    assert str(choose("auto", 3)) == str(choose("cpu")) == "cpu"
    with pytest.raises(ConfigError, match=r"device is cuda.*allowed here: auto, cpu"):
        choose("cuda")


def test_a_device_that_is_not_there_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _cards(monkeypatch, 0)
    assert train.main(["--out", str(tmp_path / "run"), *SMALL, "--device", "cuda"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("gunzi train: device is cuda")
    assert not list(tmp_path.iterdir())
    assert train.main(["--out", str(tmp_path / "run"), *SMALL]) == 0, "auto trains on the processor"
