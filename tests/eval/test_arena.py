"""The arena command: its table, its JSON, its refusals."""

from __future__ import annotations

import dataclasses
import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gunzi_agents import registry
from gunzi_agents.uniform import Uniform
from gunzi_env import cli
from gunzi_env.rules import Rules
from gunzi_eval.commands import arena
from gunzi_eval.matches import duplicate
from gunzi_eval.matches.figures import Pair, as_json
from gunzi_eval.matches.report import summary_text
from gunzi_eval.matches.tournament import measure
from gunzi_eval.stats.intervals import SHARE_DIGITS, Interval, format_interval
from tests.support.odd_agents import High


def gunzi(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gunzi_env.cli", "arena", *arguments],
        capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, cwd=cwd,
    )  # fmt: skip


def test_command_prints_a_table_and_writes_json(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    run = gunzi("uniform", "uniform", "uniform", "--deals", "5", "--seed", "4", "--json", str(file))
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("arena: uniform, uniform, uniform; rules dalian, 5 deals a pair, seed 4\n")
    assert run.stdout.count("+0.00 [+0.00, +0.00]") == 3
    assert run.stderr.startswith("next: gunzi ")
    content = json.loads(file.read_text())
    assert {"rules", "rules_digest", "starts", "seed", "pairs"} <= set(content)
    assert (content["rules"], content["seed"], len(content["pairs"])) == ("dalian", 4, 3)
    zero = {"mean": 0.0, "low": 0.0, "high": 0.0}
    half = {"mean": 0.5, "low": 0.5, "high": 0.5}
    assert content["pairs"][0].items() >= {
        "a": "uniform", "b": "uniform", "deals": 5, "levels": zero, "points": zero, "hands_won": half,
        "matches_won": None,
    }.items()  # fmt: skip
    assert [path.name for path in tmp_path.iterdir()] == ["figures.json"]


def test_json_mirrors_when_names_are_exchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplicate, "MAX_HANDS", 3)
    rules = Rules.preset("dalian")
    there = measure(("u", "h"), (Uniform(), High()), rules, 12, seed=1, matches=2)
    back = measure(("h", "u"), (High(), Uniform()), rules, 12, seed=1, matches=2)
    assert (there.a, there.b) == (back.b, back.a)
    for name in ("levels", "points"):
        one, two = getattr(there, name), getattr(back, name)
        assert (one.mean, one.low, one.high) == (-two.mean, -two.high, -two.low)
        assert one.mean != 0 and one.low < one.mean < one.high
    for name in ("hands_won", "matches_won"):
        one, two = getattr(there, name), getattr(back, name)
        shares = [round(1 - share, SHARE_DIGITS) for share in (two.mean, two.high, two.low)]
        assert [one.mean, one.low, one.high] == shares


def test_same_arguments_give_the_same_bytes() -> None:
    rules = Rules.preset("classic")
    texts = {as_json(rules, 3, [measure(("u", "h"), (Uniform(), High()), rules, 10, seed=3)]) for _ in range(2)}
    assert len(texts) == 1


def test_json_of_a_single_deal_has_null_bounds() -> None:
    pair = measure(("u", "h"), (Uniform(), High()), Rules.preset("dalian"), 1, seed=1)
    content = json.loads(as_json(Rules.preset("dalian"), 1, [pair]))
    assert content["pairs"][0]["points"]["low"] is None


def test_figures_as_text() -> None:
    assert format_interval(Interval(-0.004, -0.006, 0.001), 2) == "+0.00 [-0.01, +0.00]"
    assert format_interval(Interval(0.5, 0.25, 0.75), 1, 100, signed=False) == "50.0 [25.0, 75.0]"


@pytest.mark.parametrize(
    ("arguments", "code", "names"),
    [
        (["uniform"], 2, "two or more agents"),
        ([], 2, "two or more agents"),
        (["uniform", "unifrom"], 2, "unknown agent 'unifrom'; there are uniform, greedy"),
        (["uniform", "runs/none"], 3, "runs/none"),
        (["uniform", "uniform", "--deals", "0"], 2, "--deals is 0, allowed are 1 to"),
        (["uniform", "uniform", "--deals", "-5"], 2, "--deals is -5"),
        (["uniform", "uniform", "--matches", "-1"], 2, "--matches is -1"),
        (["uniform", "uniform", "--seed", "-1"], 2, "--seed is -1"),
        (["uniform", "uniform", "--workers", "0"], 2, "--workers is 0, allowed are 1 to 256"),
        (["uniform", "uniform", "--rules", "dalain"], 2, "dalain"),
        (["uniform", "uniform", "--json", "no/such/folder/x.json"], 2, "no/such/folder/x.json"),
        (["uniform", "uniform", "--json", "."], 2, "is a folder"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], code: int, names: str, tmp_path: Path) -> None:
    run = gunzi(*arguments, cwd=tmp_path)
    assert run.returncode == code, run.stderr
    assert run.stderr.count("\n") == 1 and run.stderr.startswith("gunzi arena: ")
    assert names in run.stderr
    assert not list(tmp_path.iterdir())


def checkpoint_of(rules: Rules, file: Path, seed: int = 1) -> Path:
    """A small network that was never trained."""
    torch = pytest.importorskip("torch")
    from gunzi_agents import checkpoint, networks
    from gunzi_env import observe
    from gunzi_env.actions import space

    shape = networks.Shape(inputs=observe.size(rules), actions=space(rules).n, width=8, depth=1)
    net = networks.ActorCritic(shape, torch.Generator().manual_seed(seed))
    meta = checkpoint.describe(rules) | {"network": dataclasses.asdict(shape)}
    checkpoint.write(file, networks.to_arrays(net), meta)
    return file


def here(*arguments: str) -> int:
    """The command without a new process: torch is loaded once for all tests."""
    return cli.run("arena", cli.commands()["arena"], list(arguments))


def test_networks_are_measured_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = checkpoint_of(Rules.preset("dalian"), tmp_path / "small.safetensors")
    assert here("uniform", str(file), "--deals", "4") == 0
    assert str(file) in capsys.readouterr().out


def test_networks_play_the_same_in_workers_and_saved_games_know_their_weights(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = checkpoint_of(Rules.preset("dalian"), tmp_path / "small.safetensors")
    texts = set()
    for workers in ("1", "2"):
        games, figures = tmp_path / f"{workers}.jsonl", tmp_path / f"{workers}.json"
        pair = ("uniform", str(file), "--deals", "4", "--workers", workers)
        assert here(*pair, "--save", str(games), "--json", str(figures)) == 0
        texts.add(figures.read_text())
    assert len(texts) == 1
    capsys.readouterr()
    checkpoint_of(Rules.preset("dalian"), file, seed=2)
    assert here(*pair, "--save", str(games)) == 3
    error = capsys.readouterr().err
    assert f"contains games of another agent {str(file)!r}, identity " in error and error.count("\n") == 1


@pytest.mark.parametrize(("rules", "says"), [("classic", "other rules"), ("four_deck", "decks")])
def test_a_checkpoint_of_other_rules_is_refused(
    rules: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = checkpoint_of(Rules.preset(rules), tmp_path / "small.safetensors")
    assert here("uniform", str(file), "--deals", "4", "--json", str(tmp_path / "x.json")) == 3
    error = capsys.readouterr().err
    assert error.startswith(f"gunzi arena: {file}: ") and error.count("\n") == 1 and says in error
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("content", [b"", b"<html>no weights</html>", bytes(1000)])
def test_a_file_that_is_no_checkpoint_is_refused(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.safetensors"
    file.write_bytes(content)
    assert here("uniform", str(file), "--deals", "4") == 3
    error = capsys.readouterr().err
    assert str(file) in error and error.count("\n") == 1


def test_ctrl_c_is_one_line_and_no_file(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "gunzi_env.cli", "arena", "uniform", "uniform", "--deals", "1000000",
         "--json", str(tmp_path / "x.json")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline().startswith("arena: uniform, uniform")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, "gunzi arena: interrupted\n")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("arguments", [["--deals", "x"], ["--dals", "3"], ["--deals"]])
def test_bad_options_are_refused(arguments: list[str]) -> None:
    run = gunzi("uniform", "uniform", *arguments)
    assert run.returncode == 2
    assert arguments[0] in run.stderr and "Traceback" not in run.stderr


def test_faulty_agents_leave_no_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Fault(High):
        name = "fault"

        def act(self, view: object, legal: np.ndarray, keys: np.ndarray) -> np.ndarray:
            return np.full(len(legal), -7)

    monkeypatch.setitem(registry._BUILDERS, "fault", lambda rules: Fault())
    file = tmp_path / "figures.json"
    assert here("uniform", "fault", "--deals", "3", "--json", str(file)) == 2
    error = capsys.readouterr().err
    assert error.startswith("gunzi arena: agent 'fault' returned the illegal action -7") and error.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_an_existing_file_survives_a_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    file.write_text("older")

    def fsync(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fsync)
    with pytest.raises(ValueError, match=r"cannot write .*figures.json: No space left on device"):
        arena.main(["uniform", "uniform", "--deals", "1", "--json", str(file)])
    assert file.read_text() == "older"
    assert list(tmp_path.iterdir()) == [file]


def test_the_table_has_every_pair() -> None:
    some = Interval(0.25, 0.125, 0.375)
    text = summary_text(
        [Pair("a-long-name/of-a-run", "b", 9, some, some, some, some), Pair("c", "d", 9, some, some, some, some)]
    )
    lines = [line for line in text.splitlines() if "25.0 [12.5, 37.5]" in line]
    assert len(lines) == 2 and "a-long-name/of-a-run" in lines[0]


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc")
def test_a_file_that_cannot_be_made_is_refused_before_playing() -> None:
    run = gunzi("uniform", "uniform", "--deals", "1", "--json", "/proc/x.json")
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith("gunzi arena: --json /proc/x.json: cannot write there")
    assert run.stderr.count("\n") == 1


def test_progress_is_printed_from_time_to_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where stderr is no terminal, a long tournament still says how far it is."""
    monkeypatch.setattr(arena, "PROGRESS_SECONDS", 0.0)
    with arena.progress_line(100) as progress:
        progress(25, 75)
    assert re.fullmatch(r"25 of 100 deals, about \d+ s left\n", capsys.readouterr().err)
