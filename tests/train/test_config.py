"""Configurations: what is wrong is named, and nothing is written."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from gunzi_train import cli
from gunzi_train import config as configuration
from gunzi_train.config import Config, ConfigError

CONFIGS = Path(__file__).resolve().parents[2] / "configs" / "train"

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
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_files_are_refused_with_exit_2(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content, named = MALFORMED[name]
    path = tmp_path / "c.toml"
    path.write_bytes(content)
    assert cli.main([str(path), "--out", str(tmp_path / "run")]) == 2
    error = capsys.readouterr().err
    assert named in error
    assert error.count("\n") == 1 and error.startswith("gunzi train: ")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["c.toml"], "something was written"


def test_folders_and_missing_files_are_no_configurations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in (tmp_path, tmp_path / "none.toml"):
        assert cli.main([str(path), "--out", str(tmp_path / "run"), "--minutes", "1"]) == 2
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
    assert cli.main(argv) == 2
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
    assert cli.main(argv) == 2
    assert named in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_command_line_beats_file_beats_default(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "c.toml"
    path.write_text("minutes = 3\n[ppo]\nlr = 1e-3\nclip = 0.1\n", encoding="utf-8-sig")  # with a byte order mark
    assert cli.main([str(path), "--ppo.lr", "2e-3", "--dry-run"]) == 0
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
    code = "import sys, gunzi_train.cli; sys.exit('torch' in sys.modules)"
    path = [p for p in sys.path if p]
    run = subprocess.run([sys.executable, "-c", f"import sys; sys.path[:0] = {path!r}; {code}"], check=False)
    assert run.returncode == 0
