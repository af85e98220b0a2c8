"""A few of the kills of tests/support/faults.py, and that it would notice what they must not cost."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gunzi_agents import checkpoint
from gunzi_train import folder
from tests.support import ROOT, faults


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A kill of two kinds. By the command itself, for this process has used torch."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.support.faults", "--kills", "1", "--only", "times", "writes"]
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_a_killed_run_is_finished_as_if_it_had_not_been(told: str) -> None:
    for kind in ("times", "writes"):
        (line,) = [line for line in told.splitlines() if line.startswith(f"{kind}: ")]
        assert line.startswith(f"{kind}: 1 kills in ") and "each equal to the uninterrupted one" in line


# What a comparison must see -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a run would leave."""
    run = tmp_path_factory.mktemp("whole") / "run"
    (run / checkpoint.FOLDER).mkdir(parents=True)
    for update in (8, 9):
        _save(run, update)
    rows = [{"update": n, "train": {"x": n / 7}, "speed": {"seconds": 0.1 * n}} for n in range(1, 10)]
    (run / folder.METRICS).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return run


def _save(run: Path, update: int, seconds: float = 1.0, weight: float = 1.0) -> None:
    path = run / checkpoint.FOLDER / checkpoint.file_name(update)
    meta = {"format": checkpoint.FORMAT, "counters": {"updates": update, "seconds": seconds}}
    checkpoint.write(path, {"w": np.full(3, weight)}, meta)


def _row(run: Path) -> None:
    log = run / folder.METRICS
    log.write_text(log.read_text("utf-8").replace('"update": 4', '"update": 5'), "utf-8")


CHANGES: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "nothing": (lambda run: None, []),
    "time": (lambda run: _save(run, 9, seconds=7.0), []),
    "one bit of a weight": (lambda run: _save(run, 9, weight=1 + 2**-52), ["tensor w"]),
    "an update more": (lambda run: _save(run, 10), ["meta counters", "more checkpoints than are kept"]),
    "a row": (_row, ["log"]),
    "a file that was left": (lambda run: (run / ".saving-7-x").touch(), ["files (.saving-7-x)"]),
}


@pytest.mark.parametrize("name", CHANGES)
def test_it_sees_the_difference(name: str, whole: Path, tmp_path: Path) -> None:
    change, seen = CHANGES[name]
    run = Path(shutil.copytree(whole, tmp_path / "run"))
    change(run)
    assert faults.differences(faults.left(whole), run) == seen


def test_it_sees_more_lost_than_an_interval(whole: Path, tmp_path: Path) -> None:
    """Rows are 0.1 s apart, checkpoints 0.15 s; the last update may not have been saved yet."""
    run = Path(shutil.copytree(whole, tmp_path / "run"))
    for update, seconds in ((8, 0.8), (7, 0.7)):
        for path in checkpoint.listing(run):
            path.unlink()
        _save(run, update, seconds)
        assert faults.lost(run) == 9 - update
    checkpoint.listing(run)[0].unlink()
    _save(run, 5, 0.5)
    with pytest.raises(faults.Broken, match=r"0\.30 s older than update 8"):
        faults.lost(run)


def test_a_kind_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        faults.main(["--only", "floods"])
    assert stop.value.code == 2 and "times" in capsys.readouterr().err
