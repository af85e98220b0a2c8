"""Configurations: what is wrong is named, and nothing is written."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from gunzi_train import config as configuration
from gunzi_train.commands import train
from gunzi_train.config import Config, ConfigError
from tests.support import ROOT

CONFIGS = ROOT / "configs" / "train"

MALFORMED = {
    "unknown key": (b"ppo.lrr = 1e-4", "ppo.lr,"),
    "unknown table": (b"[pppo]\nlr = 1", "pppo"),
    "wrong type": (b'ppo.lr = "fast"', "ppo.lr"),
    "whole number wanted": (b"collect.tables = 12.5", "collect.tables"),
    "bool for int": (b"seed = true", "seed"),
    "int for bool": (b"net.norm = 1", "net.norm"),
    "choice": (b'net.critic = "oracle"', "privileged"),
    "device": (b'device = "tpu"', "auto, cpu, cuda"),
    "records": (b"save.records = -1", "0 to 1000"),
    "curve": (b"save.curve_seconds = nan", "save.curve_seconds"),
    "choice of wrong type": (b"precision = 16", "bf16"),
    "table wanted": (b"ppo = 3", "ppo.lr"),
    "list wanted": (b'evaluate.opponents = "greedy"', "evaluate.opponents"),
    "list of texts": (b"evaluate.opponents = [1]", "evaluate.opponents"),
    "negative": (b"processes = -1", "1 to 256"),
    "zero": (b"collect.steps = 0", "collect.steps"),
    "too large": (b"net.width = 1000000000", "net.width"),
    "nan": (b"ppo.lr = nan", "ppo.lr"),
    "inf": (b"minutes = inf", "minutes"),
    "huge": (b"ppo.lr = 1e999", "ppo.lr"),
    "rules": (b'rules = "dalien"', "dalian"),
    "rules file": (b'rules = "nowhere.toml"', "nowhere.toml"),
    "minibatch larger than an update": (b"collect.tables = 8\ncollect.steps = 8", "ppo.minibatch"),
    "not toml": (b"{]", "not TOML"),
    "duplicate": (b"seed = 1\nseed = 2", "not TOML"),
    "binary": (b"\xff\xfe\x00\x01", "cannot be read"),
    "nul": (b"seed = 1\x00", "not TOML"),
    "no end": (b"seed = 3", "minutes"),
    "empty": (b"", "minutes"),
    "unknown key of a table": (b"[evaluate]\nevery = 3", "evaluate.every_seconds"),
    "negative seed": (b"seed = -1", "seed is -1; allowed: 0 to"),
    "negative weight": (b"ppo.entropy = -0.1", "ppo.entropy is -0.1; allowed: 0 to 10"),
    "minus infinity": (b"reward.levels = -inf", "reward.levels"),
    "no minutes": (b"minutes = nan", "minutes is nan; allowed: 0 to"),
    "a billion": (b"collect.tables = 1000000000", "collect.tables is 1000000000; allowed: 1 to 65536"),
    "a billion, not whole": (b"schedule.updates = 1e9", "schedule.updates"),
    "beyond 64 bits": (b"seed = 100000000000000000000000000", "seed is 100000000000000000000000000; allowed"),
    "none kept": (b"save.keep = 0", "save.keep is 0; allowed: 1 to"),
    "chance above one": (b"ppo.gamma = 1.01", "ppo.gamma is 1.01; allowed: 0 to 1"),
    "no clip": (b"ppo.clip = 0", "ppo.clip"),
    "no time": (b"timeout_seconds = 0", "timeout_seconds"),
    "choice in capitals": (b'precision = "FP32"', "auto, fp32, bf16"),
    "no rules": (b'rules = ""', "dalian"),
    "a date": (b"seed = 2026-11-30", "seed"),
    "rules as a table": (b"[rules]\ndecks = 3", "rules is {'decks': 3}, it must be a text"),
    "list of tables": (b"[[ppo]]\nlr = 1e-4", "ppo.lr"),
    "table begun twice": (b"ppo.lr = 1e-4\n[ppo]\nclip = 0.1", "not TOML"),
    "too many decisions": (b"collect.tables = 65536\ncollect.steps = 16384", "collect.tables x collect.steps is"),
    "three decks with hands of 52": (b'rules = "wide.toml"', "hand_size 52 x 4 + kitty_size 6"),
    "bot that is not there": (b'opponent = "nobody"\nminutes = 1', "'nobody'"),
    "other byte order": ("seed = 1".encode("utf-16"), "cannot be read"),
    "byte order mark within": ("seed\ufeff = 1".encode(), "not TOML"),
    "yaml": (b"ppo:\n  lr: 1e-4", "not TOML"),
    "json": (b'{"seed": 1}', "not TOML"),
    "html": (b"<!DOCTYPE html><html></html>", "not TOML"),
    "deep": (b"seed = " + b"[" * 100_000, "not TOML"),
}
WIDE = b"hand_size = 52\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current one, in which nothing may be written; it holds rules that contradict themselves."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wide.toml").write_bytes(WIDE)
    return tmp_path


def refusal(argv: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one line of a command that exits with 2."""
    assert train.main(argv) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and error.startswith("gunzi train: ")
    return error


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_files_are_refused_with_exit_2(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content, named = MALFORMED[name]
    (folder / "c.toml").write_bytes(content)
    assert named in refusal(["c.toml", "--out", "run"], capsys)
    assert sorted(entry.name for entry in folder.iterdir()) == ["c.toml", "wide.toml"], "something was written"


# Those that set one key, which the command line can do as well; there a list holds texts and a switch has no value.
SET = {
    name: found
    for name, (content, _) in MALFORMED.items()
    if (found := re.fullmatch(rb"([\w.]+) = (\S+)", content)) and not name.startswith(("list", "int for bool"))
}


@pytest.mark.parametrize("name", SET)
def test_the_command_line_refuses_them_too(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key, value = (part.decode().strip('"') for part in SET[name].groups())
    error = refusal([f"--{key.replace('_', '-')}", value, "--out", "run"], capsys)
    assert name == "no end" or key in error.replace("-", "_")
    assert [entry.name for entry in folder.iterdir()] == ["wide.toml"], "something was written"


def test_there_are_forty() -> None:
    assert len(MALFORMED) >= 40 and len(SET) >= 25


def test_folders_and_missing_files_are_no_configurations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in (tmp_path, tmp_path / "none.toml"):
        assert train.main([str(path), "--out", str(tmp_path / "run"), "--minutes", "1"]) == 2
        assert str(path) in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("argv", "named"),
    [
        (["--ppo.lr", "fast"], "--ppo.lr FLOAT"),
        (["--ppo.lrr", "1"], "--ppo.lr"),
        (["--nope"], "--help lists"),
        (["--net.critic", "oracle"], "privileged"),
        (["--minutes"], "--minutes"),
        (["one.toml", "two.toml"], "two.toml"),
    ],
)
def test_bad_options_exit_2(
    argv: list[str], named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert train.main(argv) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("gunzi train: ") and named in line
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("argv", "named"),
    [
        (["--ppo.lr", "7"], "ppo.lr"),
        (["--run", "a", "--out", "b", "--minutes", "1"], "--out"),
        (["--run", "../a", "--minutes", "1"], "plain name"),
        (["--resume", "auto"], "--run"),
        (["--resume", "runs/x", "--ppo.lr", "1e-4"], "ppo.lr"),
        (["--resume", "runs/x", "--run", "y"], "stands alone"),
        ([], "minutes"),
    ],
)
def test_contradictions_exit_2(
    argv: list[str], named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert train.main(argv) == 2
    assert named in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_command_line_beats_file_beats_default(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "c.toml"
    path.write_text("minutes = 3\n[ppo]\nlr = 1e-3\nclip = 0.1\n", encoding="utf-8-sig")  # with a byte order mark
    assert train.main([str(path), "--ppo.lr", "2e-3", "--dry-run"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["ppo"]["lr"] == 2e-3
    assert shown["ppo"]["clip"] == 0.1
    assert shown["ppo"]["epochs"] == Config().ppo.epochs
    assert [entry.name for entry in tmp_path.iterdir()] == ["c.toml"]


def test_plain_dict_round_trip() -> None:
    config = Config(seed=9, ppo=dataclasses.replace(Config().ppo, lr=0.25))
    assert configuration.from_dict(json.loads(json.dumps(configuration.as_dict(config))), "test") == config
    with pytest.raises(ConfigError):
        configuration.from_dict({"nothing": 1}, "test")


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.toml")), ids=lambda path: path.name)
def test_shipped_configurations_hold_differences_with_reasons(path: Path) -> None:
    config = configuration.read_toml(path)
    configuration.check_end(dataclasses.replace(config, minutes=config.minutes or 1.0))
    changed = configuration.set_paths(config, Config())
    values = tomllib.loads(path.read_text("utf-8"))
    given = [f"{key}.{sub}" for key, part in values.items() if isinstance(part, dict) for sub in part]
    given += [key for key, part in values.items() if not isinstance(part, dict)]
    assert sorted(given) == sorted(changed), "a line that repeats the default"
    for line in path.read_text("utf-8").splitlines():
        assert "=" not in line.partition("#")[0] or "#" in line, f"{line!r} has no reason"


def test_the_first_line_comes_before_torch() -> None:
    """`gunzi train --dry-run` and bad usage answer at once: nothing that cli imports may import torch."""
    code = "import sys, gunzi_train.commands.train; sys.exit('torch' in sys.modules)"
    path = [p for p in sys.path if p]
    run = subprocess.run([sys.executable, "-c", f"import sys; sys.path[:0] = {path!r}; {code}"], check=False)
    assert run.returncode == 0
