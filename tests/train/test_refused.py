"""Checkpoints that cannot be gone on with: one line naming the file and the reason, exit 3; a run falls back."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Generator
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
import torch

from gunzi_agents import checkpoint
from gunzi_agents.checkpoint import Checkpoint
from gunzi_env.rules import Rules
from gunzi_train.commands import train
from tests.support import tiny_runs

ARGV = tiny_runs.argv(collect__steps=8)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    """A run with two checkpoints."""
    threads = torch.get_num_threads()
    run = tmp_path_factory.mktemp("made") / "run"
    assert train.main(["--out", str(run), *ARGV, "--schedule.updates", "9", "--minutes", "0.0001"]) == 0
    assert train.main(["--resume", str(run), "--minutes", "9"]) == 0
    assert len(checkpoint.listing(run)) == 2
    yield run
    torch.set_num_threads(threads)
    torch.set_flush_denormal(False)


@pytest.fixture
def run(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "run"))


def _flipped(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _of_another_project(path: Path) -> None:
    path.write_bytes(safetensors.numpy.save({"net.policy.bias": np.zeros(3, np.float32)}, {"format": "pt"}))


def _changed(change: Callable[[Checkpoint], object]) -> Callable[[Path], None]:
    """A whole checkpoint, with its checksum, of something else."""

    def write(path: Path) -> None:
        found = checkpoint.read(path)
        change(found)
        checkpoint.write(path, found.tensors, found.meta)

    return write


UNREADABLE: dict[str, tuple[Callable[[Path], object], str]] = {
    "truncated": (lambda path: path.write_bytes(path.read_bytes()[:-1000]), "damaged"),
    "a bit flipped": (_flipped, "damaged: its contents do not match their checksum"),
    "empty": (lambda path: path.write_bytes(b""), "not a checkpoint of this project, or its header is damaged"),
    "zeros": (lambda path: path.write_bytes(bytes(10_000)), "not a checkpoint of this project"),
    "html": (lambda path: path.write_bytes(b"<!DOCTYPE html><html></html>"), "not a checkpoint of this project"),
    "of another project": (_of_another_project, "not a checkpoint of this project"),
    "a folder": (_folder, "is a folder without checkpoints"),
    "an older format": (_changed(lambda found: found.meta.update(format=0)), "has format 0, this version reads 1"),
}
OF_SOMETHING_ELSE: dict[str, tuple[Callable[[Path], object], str]] = {
    "other net": (
        _changed(lambda found: found.tensors.update({"net.trunk.0.bias": np.zeros(9, np.float32)})),
        "cannot be resumed",
    ),
    "no optimiser": (_changed(lambda found: found.tensors.pop("adam.exp_avg")), "exp_avg is missing"),
    "no tables": (_changed(lambda found: found.tensors.pop("process.0")), "contains no state of process 0"),
    "no counters": (
        _changed(lambda found: found.meta.pop("counters")),
        "it contains weights, but no state of a training",
    ),
    "an older observation": (
        _changed(lambda found: found.meta.update(observation="v0-816-00000000-184")),
        "made for observation v0",
    ),
    "rules that are not their digest's": (
        _changed(lambda found: found.meta.update(rules=Rules.preset("dalian_dead").as_dict())),
        "its rules and their digest disagree",
    ),
}


def _refused(argv: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert train.main(argv) == 3
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and error.startswith("gunzi train: ")
    return error


@pytest.mark.parametrize("name", UNREADABLE | OF_SOMETHING_ELSE)
def test_it_is_refused(name: str, run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spoil, reason = (UNREADABLE | OF_SOMETHING_ELSE)[name]
    path = checkpoint.listing(run)[1]  # the other one is that of a finished run
    path = path.rename(path.with_name("x.safetensors"))  # apart from the run's own
    spoil(path)
    if name == "a folder":
        (path / "notes.txt").touch()
        assert "holds no checkpoint" in _refused(["--resume", str(path)], capsys)
        return
    error = _refused(["--resume", str(path), "--overwrite", "--minutes", "9"], capsys)
    assert str(path) in error and reason in error


@pytest.mark.parametrize("name", UNREADABLE)
def test_the_run_falls_back_and_says_so(name: str, run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spoil, reason = UNREADABLE[name]
    newest, older = checkpoint.listing(run)
    spoil(newest)
    argv = ["--resume", "auto", "--out", str(run)]
    assert train.main([*argv, "--dry-run"]) == 0
    said = [line for line in capsys.readouterr().out.splitlines() if line.startswith("passed over ")]
    assert len(said) == 1 and str(newest) in said[0] and reason in said[0]
    if name == "truncated":
        assert train.main([*argv, "--minutes", "9"]) == 0
        assert f"from {older.name}" in capsys.readouterr().out
        assert checkpoint.read(newest).meta["counters"]["updates"] == 9
    if name == "a folder":
        assert train.main([*argv, "--minutes", "9"]) == 2
        assert f"{newest}: cannot be removed" in capsys.readouterr().err


def test_weights_of_other_rules_are_no_start(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--start", str(made), "--out", str(tmp_path / "run"), *ARGV, "--schedule.updates", "9"]
    error = _refused([*given, "--rules", "dalian_dead"], capsys)
    assert "made for other rules, dalian not dalian_dead" in error
    assert "made for 3 decks, not for 4" in _refused([*given, "--rules", "four_deck"], capsys)
    assert not list(tmp_path.iterdir())
