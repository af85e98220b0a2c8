"""Where a training may have to live: no home, no network, odd paths, a folder that may only be read."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from gunzi_agents import checkpoint
from gunzi_train import folder
from gunzi_train.commands import train
from tests.support import tiny_runs
from tests.support.faults import forked, waited

ARGV = tiny_runs.argv(tensorboard=True, collect__steps=8, schedule__updates=2)
NOBODY = 65534
NO_NETWORK = ["unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]


def _no_network() -> list[str]:
    """What shuts a command off from all but the loopback device; empty where that is not allowed."""
    fine = all(map(shutil.which, ("unshare", "ip"))) and not subprocess.run([*NO_NETWORK, "true"]).returncode
    return NO_NETWORK if fine else []


def test_two_processes_without_home_and_network_under_an_odd_path(tmp_path: Path) -> None:
    run = tmp_path / "a run 滚子" / "x y"
    environment = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PATH": os.environ["PATH"]}
    code = "import sys; from gunzi_train.commands.train import main; sys.exit(main(sys.argv[1:]))"
    command = [*_no_network(), sys.executable, "-c", code, "--out", str(run), *ARGV, "--processes", "2"]
    ended = subprocess.run(command, env=environment | {"GUNZI_COMPILED": "0"}, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == "" and f"next: gunzi arena '{run}' greedy" in ended.stdout
    assert checkpoint.load(run)[0].meta["counters"]["updates"] == 2
    assert (run / folder.METRICS).read_text("utf-8").count("\n") == 2
    assert list((run / folder.TENSORBOARD).iterdir())


@pytest.fixture
def readable() -> Generator[Path]:
    """A folder that others may read, unlike those of pytest."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody who may not write")
def test_a_folder_that_may_only_be_read(readable: Path, tmp_path: Path) -> None:
    run = readable / "run"
    (run / checkpoint.FOLDER).mkdir(parents=True)

    def as_nobody() -> int:
        os.setuid(NOBODY)
        codes = [train.main(["--out", str(path), *ARGV]) for path in (run, readable / "other" / "run")]
        return 0 if codes == [2, 2] else 1

    pid = forked(as_nobody, log := tmp_path / "log")
    assert waited(pid, 60) == 0, log.read_text("utf-8")
    said = [line for line in log.read_text("utf-8").splitlines() if "Permission denied" in line]
    assert len(said) == 2
    assert said[0] == f"gunzi train: {run}: cannot be written to (Permission denied)"
    assert said[1] == f"gunzi train: {readable / 'other' / 'run'}: cannot be created (Permission denied)"
    assert [path.name for path in readable.rglob("*")] == ["run", checkpoint.FOLDER]
