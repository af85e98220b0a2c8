"""The commands that tell of runs: gunzi runs, gunzi compare, gunzi inspect."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gunzi_agents import checkpoint
from gunzi_agents.checkpoint import CheckpointError
from gunzi_env import cli
from gunzi_env.cli.options import UsageError
from gunzi_env.record import RecordError
from gunzi_env.rules import Rules
from gunzi_train import folder
from gunzi_train.commands import compare, inspect, runs
from gunzi_train.config import Config, shown_figures
from gunzi_train.errors import RunFolderError
from gunzi_train.logs.history import History
from gunzi_train.logs.runs import Run
from gunzi_train.plan import CONFIG, Plan
from tests.support import tiny_runs


def _row(update: int, hands: int, seconds: float) -> dict[str, Any]:
    train = {"policy_loss": -0.01, "value_loss": 0.5, "entropy": 1.0 / update, "kl": None, "explained_variance": 0.5}
    speed = {"seconds": seconds, "hands_per_s": 10.0, "decisions_per_s": 1000.0}
    return {"update": update, "hands": hands, "decisions": 100 * hands, "train": train, "speed": speed}


def _match(update: int, hands: int, levels: float, agent: str = "greedy") -> dict[str, Any]:
    interval = {"mean": levels, "low": levels - 0.5, "high": levels + 0.5}
    points, won = {"mean": 40 * levels, "low": -60.5, "high": 60.5}, {"mean": 0.5, "low": 0.25, "high": 0.75}
    found = {"opponent": agent, "deals": 96, "levels": interval, "points": points, "hands_won": won}
    return {"update": update, "hands": hands, "match": found}


def _run(path: Path, rows: list[dict[str, Any]], **settings: Any) -> Path:
    """A run folder with a log, and settings of its own."""
    path.mkdir(parents=True)
    (path / CONFIG).write_text(json.dumps(Plan(Config(**settings), Rules(), False).to_json()), "utf-8")
    (path / folder.METRICS).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def _checkpoint(run: Path, update: int, **counters: Any) -> Path:
    (run / checkpoint.FOLDER).mkdir(exist_ok=True)
    path = run / checkpoint.FOLDER / checkpoint.file_name(update)
    checkpoint.write(path, {}, checkpoint.describe(Rules()) | {"counters": {"updates": update} | counters})
    return path


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real run of three updates, with a match after each."""
    run = tmp_path_factory.mktemp("runs") / "real"
    with pytest.MonkeyPatch.context() as patch:
        more = tiny_runs.match_after_every_update(patch)
        assert tiny_runs.train(run, seed=5, **more) == 0
    return run


# The log ------------------------------------------------------------------------------------------


def test_the_log_is_read_on_where_it_was_left(tmp_path: Path) -> None:
    run = _run(tmp_path / "run", [_row(1, 10, 2.0), _match(1, 10, -1.0)])
    history = History(run, ["kl"]).read()
    assert history.last("update") == 1 and history.last("kl") != history.last("kl"), "null is NaN"
    with open(run / folder.METRICS, "a", encoding="utf-8") as log:
        for line in ("[]", "{", "null", '{"train": 3}', '{"match": {}}', json.dumps(_row(2, 20, 4.0))[:-9]):
            log.write(line + ("" if len(line) > 50 else "\n"))
    assert history.read().last("update") == 1
    assert {len(column) for column in history.columns.values()} == {1}
    with open(run / folder.METRICS, "a", encoding="utf-8") as log:
        log.write(json.dumps(_row(2, 20, 4.0))[-9:] + "\n" + json.dumps(_match(2, 20, 0.5)) + "\n")
    history.read()
    assert list(history.columns["hands"]) == [10, 20] == list(History(run).read().columns["hands"])
    assert [(m.hands, m.seconds, m.levels.mean) for m in history.matches["greedy"]] == [(10, 2, -1), (20, 4, 0.5)]
    assert History(tmp_path / "none").read().newest is None


def test_the_log_of_a_real_run_has_all_columns(trained: Path) -> None:
    history = History(trained, shown_figures("ppo")).read()
    assert set(shown_figures("ppo")) < set(history.columns)
    for name, column in history.columns.items():
        assert len(column) == 3 and all(x == x for x in column), name
    assert [match.update for match in history.matches["uniform"]] == [1, 2, 3]
    assert all(match.seconds > 0 for match in history.matches["uniform"])


# gunzi runs ---------------------------------------------------------------------------------------


def test_runs_are_listed_with_their_state(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = [_row(8, 1234, 75.0), _match(8, 1234, -0.5), _match(8, 1234, 2.0, "uniform")]
    for name in ("done", "stopped", "going", "damaged"):
        _run(tmp_path / name, log)
        _checkpoint(tmp_path / name, 8, finished=name == "done")
    _run(tmp_path / "begun [red]", [])
    (tmp_path / "damaged" / checkpoint.FOLDER / checkpoint.file_name(8)).write_bytes(b"")
    (tmp_path / "no run").mkdir()
    (tmp_path / "file").touch()
    lock = folder.RunLock(tmp_path / "going")
    assert runs.main(["--folder", str(tmp_path)]) == 0
    lock.release()
    rows = [line.split("  ") for line in capsys.readouterr().out.splitlines()]
    found = {cells[0]: cells[1:] for cells in ([cell.strip() for cell in row if cell.strip()] for row in rows) if cells}
    strength = ["8", "1,234", "1:15", "greedy", "-0.50 [-1.00, +0.00]", "-20 [-60, +60]"]
    assert found["done"] == ["dalian", "finished", *strength, "update-000008"]
    assert found["stopped"] == ["dalian", "stopped", *strength, "update-000008"]
    assert found["going"] == ["dalian", "running", *strength, "update-000008"]
    assert found["damaged"] == ["dalian", "stopped", *strength, "-"]
    assert found["begun [red]"] == ["dalian", "stopped", *"------", "-"]
    assert not {"no run", "file"} & set(found)


def test_a_real_run_is_finished(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert runs.main(["--folder", str(trained.parent)]) == 0
    assert "real" in (out := capsys.readouterr().out) and "finished" in out and "update-000003" in out


def test_where_there_are_no_runs_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert runs.main(["--folder", str(tmp_path)]) == 0
    assert "no runs in" in capsys.readouterr().out
    with pytest.raises(UsageError, match=r"--folder .*: No such file"):
        runs.main(["--folder", str(tmp_path / "none")])


def test_names_are_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither rich's markup nor a terminal's commands, wherever a name comes from."""
    bad = "[red]\x1b[31m\x07"
    monkeypatch.chdir(tmp_path)
    run = _run(Path(bad), [_row(1, 10, 1.0), _match(1, 10, 0.5, bad)])
    path = Path("x.safetensors")
    checkpoint.write(path, {bad: np.zeros(2)}, checkpoint.describe(Rules()) | {"opponent": bad, bad: bad})
    assert runs.main(["--folder", "."]) == 0
    assert compare.main([str(run), str(run)]) == 0
    assert inspect.main([str(path)]) == 0
    out = capsys.readouterr().out
    assert out.isprintable() or {c for c in out if not c.isprintable()} == {"\n"}
    assert out.count("[red]\\x1b[31m\\x07") == 2 + 5 + 4


# gunzi compare ------------------------------------------------------------------------------------


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    """One run twice as fast in hands as the other, which is longer."""
    fast = [row for n in (1, 2) for row in (_row(n, 100 * n, 10.0 * n), _match(n, 100 * n, 0.1 * n))]
    slow = [row for n in (1, 2, 3, 4, 5) for row in (_row(n, 50 * n, 10.0 * n), _match(n, 50 * n, -0.1 * n))]
    return _run(tmp_path / "fast", fast), _run(tmp_path / "slow", slow, seed=9, processes=2)


def test_runs_are_compared_at_equal_hands_and_at_equal_time(two: tuple[Path, Path]) -> None:
    content = compare.comparison([Run.of(path) for path in two])
    assert content["settings"] == {"seed": [1, 9], "processes": [1, 2]}
    assert content["newest"]["hands"] == [200, 250] and content["newest"]["kl"] == [None, None]

    def at(by: str) -> list[tuple[float, list[tuple[float, float]]]]:
        marks = content["matches"]["greedy"][by]
        return [(mark["at"], [(match[by], match["levels"]["mean"]) for match in mark["runs"]]) for mark in marks]

    assert at("hands") == [(100, [(100, 0.1), (100, -0.2)]), (200, [(200, 0.2), (200, -0.4)])]
    assert at("seconds") == [(10, [(10, 0.1), (10, -0.1)]), (20, [(20, 0.2), (20, -0.2)])]


def test_compare_prints_it_and_writes_it(
    two: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    late = _run(tmp_path / "late", [_row(1, 200, 20.0), _match(1, 200, 0.7), _match(1, 200, 0.7, "uniform")])
    names = [str(path) for path in (*two, late)]
    assert compare.main([*names, "--json", str(tmp_path / "c.json")]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["seed", "1", "9", "1"] in lines
    assert ["until", "100", "hands:", "played", "at", "100", "100", "-"] in lines
    assert ["until", "0:20:", "played", "at", "0:20", "0:20", "0:20"] in lines
    assert ["levels/hand", "+0.20", "[-0.30,", "+0.70]", "-0.40", "[-0.90,", "+0.10]"] in [line[:7] for line in lines]
    content = json.loads((tmp_path / "c.json").read_text("utf-8"))
    assert content["runs"] == names and list(content["matches"]) == ["greedy"], "not every run has met uniform"
    assert content == compare.comparison([Run.of(path) for path in (*two, late)])
    assert content["matches"]["greedy"]["hands"][0]["runs"][2] is None


def test_runs_without_matches_are_compared_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = _run(tmp_path / "a", [_row(1, 10, 1.0)]), _run(tmp_path / "b", [])
    assert compare.main([str(a), str(b)]) == 0
    out = capsys.readouterr().out
    assert "the settings are equal" in out and "no agent was played by all runs" in out
    late = _run(tmp_path / "c", [_match(7, 99, 0.5)])  # the row that says when is not there
    marks = compare.comparison([Run.of(late)] * 2)["matches"]["greedy"]
    assert marks["seconds"] == [] and len(marks["hands"]) == 2


def test_what_cannot_be_compared_is_refused(two: tuple[Path, Path], tmp_path: Path) -> None:
    for argv in ([], [str(two[0])]):
        with pytest.raises(UsageError, match="two or more"):
            compare.main(argv)
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(RunFolderError, match="contains no run") as caught:
            compare.main([str(two[0]), str(path)])
        assert caught.value.exit_code == 2


# gunzi inspect ------------------------------------------------------------------------------------


def test_a_run_is_inspected_by_its_newest_checkpoint(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert inspect.main([str(trained), "--json", str(tmp_path / "i.json")]) == 0
    out = capsys.readouterr().out
    content = json.loads((tmp_path / "i.json").read_text("utf-8"))
    found = checkpoint.load(trained)[0]
    assert content["file"] == str(found.path) and content["bytes"] == found.path.stat().st_size
    assert content["format"] == checkpoint.FORMAT and found.digest in content["checksum"]
    assert content["rules"] == f"dalian, {Rules().digest}" and content["counters"] == found.meta["counters"]
    assert content["settings"]["seed"] == 5 and content["settings"]["ppo.minibatch"] == 32
    assert "ppo.lr" not in content["settings"] and content["network"]["width"] == 8
    assert content["tensors"]["net.policy.bias"] == "float32[184]" and set(content["tensors"]) == set(found.tensors)
    for text in ("checksum", "good, ", "updates 3", "ppo.minibatch = 32", "net.policy.bias  float32[184]"):
        assert text in out
    capsys.readouterr()
    assert inspect.main([str(trained / folder.BEST)]) == 0
    assert "opponent uniform" in capsys.readouterr().out


def test_damaged_newer_checkpoints_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = _run(tmp_path / "run", [])
    good, bad = _checkpoint(run, 1), _checkpoint(run, 2)
    bad.write_bytes(bad.read_bytes()[:-1] + b"!")
    assert inspect.main([str(run)]) == 0
    out = capsys.readouterr().out
    assert str(good) in out and f"{bad}: is not a checkpoint of this project, or its header is damaged" in out


def test_other_versions_are_named(tmp_path: Path) -> None:
    path = tmp_path / "old.safetensors"
    old = {"observation": "v0-1", "config": {"ppo": {"lr": 0.5, "gone": 1}}}
    checkpoint.write(path, {}, checkpoint.describe(Rules()) | old)
    content = inspect.of_checkpoint(checkpoint.read(path), [])
    assert content["observation"].startswith("v0-1; this version plays with v")
    assert content["settings"] == {"ppo.lr": 0.5, "ppo.gone": 1}


def test_a_record_is_inspected(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = trained / folder.RECORDS / "update-000003.txt"
    assert inspect.main([str(path)]) == 0
    out = capsys.readouterr().out
    assert "update 3, update 3" in out and "good: the rules allow every decision" in out and out.count("result") == 2
    lines = path.read_text("utf-8").splitlines()
    lines[-1] = "result 5 guard 0-9"
    (tmp_path / "wrong.txt").write_text("\n".join(lines), "utf-8")
    (tmp_path / "later.txt").write_text("gunzi record 2\n", "utf-8")
    for name, said in (("wrong.txt", "played again it is not"), ("later.txt", "first line must be")):
        with pytest.raises(RecordError, match=said) as caught:
            inspect.main([str(tmp_path / name)])
        assert str(tmp_path / name) in str(caught.value) and caught.value.exit_code == 3


@pytest.mark.parametrize("content", [b"", b"<html>", bytes(900), None], ids=["empty", "html", "zeros", "truncated"])
def test_what_is_damaged_or_foreign_is_refused_in_one_line(
    content: bytes | None, trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.safetensors"
    whole = checkpoint.listing(trained)[0].read_bytes()
    path.write_bytes(whole[:-5] if content is None else content)
    assert cli.guarded("gunzi inspect", lambda: inspect.main([str(path)])) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"gunzi inspect: {path}: is ")


def test_missing_files_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path, tmp_path / "a\0b"):
        with pytest.raises(CheckpointError):
            inspect.main([str(path)])
    with pytest.raises(UsageError, match="empty"):
        inspect.main([""])


def test_none_of_these_commands_waits_for_torch() -> None:
    code = "import sys; from gunzi_train.commands import compare, inspect, runs; sys.exit('torch' in sys.modules)"
    path = [p for p in sys.path if p]
    run = subprocess.run([sys.executable, "-c", f"import sys; sys.path[:0] = {path!r}; {code}"], check=False)
    assert run.returncode == 0
