"""Whole runs of two processes: signals, resuming, and a process that is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from gunzi_agents import checkpoint
from gunzi_env.rules import Rules
from gunzi_env.tables import Tables
from gunzi_train import folder
from tests.support import tiny_runs

SMALL = tiny_runs.argv(net__width=32, net__depth=2, collect__tables=16, collect__steps=48, ppo__minibatch=128)


def _command(*argv: str) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p), "PYTHONUNBUFFERED": "1"}
    code = "import sys; from gunzi_train.commands.train import main; sys.exit(main(sys.argv[1:]))"
    return subprocess.Popen(
        [sys.executable, "-c", code, *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )


def _wait_for(path: Path, process: subprocess.Popen[str], updates: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if path.exists() and path.read_text("utf-8").count("\n") >= updates:
            return
        time.sleep(0.05)
    raise AssertionError(f"no {updates} updates: {process.communicate()}")


LONG = [*SMALL, "--schedule.updates", "100000", "--processes", "2", "--timeout-seconds", "20"]


def test_two_processes_stop_at_a_signal_and_go_on(tmp_path: Path) -> None:
    run = tmp_path / "run"
    start = time.monotonic()
    process = _command("--out", str(run), *LONG)
    assert process.stdout is not None
    assert process.stdout.readline().startswith("gunzi train: ")
    assert time.monotonic() - start < 5.0, "the first line is late"
    _wait_for(run / folder.METRICS, process, 3)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 143, err
    assert f"--resume {run}" in out
    found = checkpoint.load(run)[0]
    updates = found.meta["counters"]["updates"]
    assert updates >= 3 and {"process.0", "process.1"} <= set(found.tensors)
    assert not (run / folder.LOGS / "1.log").read_bytes()
    seeds = [Tables.load(Rules(), folder.own_state(found, rank)["tables"].tobytes()).seed for rank in range(2)]
    assert not set(seeds[0]) & set(seeds[1]), "both play the same deals"

    process = _command("--resume", str(run), "--minutes", "0.001")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert checkpoint.load(run)[0].meta["counters"]["updates"] == updates + 1


def test_a_lost_process_ends_the_run_with_its_words(tmp_path: Path) -> None:
    run = tmp_path / "run"
    process = _command("--out", str(run), *LONG)
    _wait_for(run / folder.METRICS, process, 2)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text("utf-8").split()
    os.kill(int(children[0]), signal.SIGABRT)  # the fault handler writes its stack before it dies
    _, err = process.communicate(timeout=60)
    assert process.returncode == 4
    assert "process 1 of 2 was lost (signal 6)" in err
    assert "process 1 said" in err and "session.py" in err
    assert not Path(f"/proc/{children[0]}").exists()


def test_two_processes_agree_on_what_is_kept(tmp_path: Path) -> None:
    run = tmp_path / "run"
    more = ["--evaluate.every-seconds", "1000", "--evaluate.deals", "3", "--evaluate.opponents", "uniform"]
    more += ["--save.curve-seconds", "60"]
    process = _command("--out", str(run), *LONG, "--schedule.updates", "2", *more)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    best = checkpoint.read(run / folder.BEST)
    assert best.meta["counters"]["updates"] == 2 and {"process.0", "process.1"} <= set(best.tensors)
    assert [path.name for path in (run / folder.RECORDS).iterdir()] == ["update-000002.txt"]
    assert (run / folder.CURVE).stat().st_size > 10_000
