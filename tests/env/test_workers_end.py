"""How workers end: on request, with their parent, by a fault; always all of them, and never a hang."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from gunzi_env import VectorEnv, cli
from gunzi_env.vector import WorkerLost, worker
from gunzi_env.vector.episodes import TableShard
from tests.support import ROOT

SEED = 3
LIMIT_S = 30.0
"""For what takes a second on a machine that is not busy."""


def started(num_workers: int = 2) -> VectorEnv:
    env = VectorEnv(6, "dalian", seed=SEED, num_workers=num_workers)
    env.reset()
    return env


def ended(pid: int) -> bool:
    """Is there no such process, or nothing left of it but its entry?"""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def all_end(pids: tuple[int, ...]) -> bool:
    until = time.monotonic() + LIMIT_S
    while time.monotonic() < until:
        if all(map(ended, pids)):
            return True
        time.sleep(0.02)
    return False


def play(env: VectorEnv, steps: int = 3) -> npt.NDArray[np.intp]:
    """Some steps; returns actions for the next one."""
    _, legal = env.observe()
    for _ in range(steps):
        _, legal, _, _ = env.step(legal.argmax(axis=1))
    return legal.argmax(axis=1)


pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are looked up in /proc")


def test_close_ends_the_workers_and_the_environment() -> None:
    env = started(3)
    pids = env.worker_pids
    assert len(pids) == 2 and not any(map(ended, pids))
    env.close()
    assert all(map(ended, pids))
    env.close()
    for ask in (env.reset, env.observe, env.get_state, env.view_privileged, lambda: env.step([0] * 6)):
        with pytest.raises(ValueError, match="this environment is closed"):
            ask()


def test_an_environment_that_is_dropped_ends_its_workers() -> None:
    env = started()
    pids = env.worker_pids
    view, _ = env.observe()
    before = view.hand.copy()
    del env
    gc.collect()
    assert all_end(pids)
    assert np.array_equal(view.hand, before)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_worker_that_is_killed(number: signal.Signals) -> None:
    env = started(3)
    pids, actions = env.worker_pids, play(env)
    os.kill(pids[1], number)
    assert all_end(pids[1:])
    said = rf"worker 2 of 2 \(tables 4\.\.5\) was lost \(signal {number}\) in 'step', step 4 of seed {SEED}"
    with pytest.raises(WorkerLost, match=said) as caught:
        env.step(actions)
    assert cli.exit_code(caught.value) == 4
    assert all_end(pids)
    with pytest.raises(ValueError, match="closed"):
        env.observe()


def test_a_worker_that_freezes(monkeypatch: pytest.MonkeyPatch) -> None:
    env = started()
    actions = play(env)
    os.kill(env.worker_pids[0], signal.SIGSTOP)
    monkeypatch.setattr(worker, "ANSWER_LIMIT_S", 0.5)
    with pytest.raises(WorkerLost, match=r"worker 1 of 1 .* gave no answer in time in 'step', step 4"):
        env.step(actions)
    assert all_end(env.worker_pids)


def test_a_frozen_worker_is_not_waited_for_to_read_what_fills_its_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    env = VectorEnv(1000, "dalian", seed=SEED, num_workers=2)
    env.reset()
    state = env.get_state()
    os.kill(env.worker_pids[0], signal.SIGSTOP)
    monkeypatch.setattr(worker, "ANSWER_LIMIT_S", 0.5)
    with pytest.raises(WorkerLost, match="gave no answer in time in 'load'"):
        env.set_state(state)
    assert all_end(env.worker_pids)


def test_a_worker_that_raises() -> None:
    """It is sent the ids of seven tables for its three."""
    env = started()
    play(env, 2)
    pool = env._backend
    assert not isinstance(pool, TableShard)
    pids = env.worker_pids
    with pytest.raises(WorkerLost) as caught:
        pool._all("reset", [(np.arange(3, dtype=np.uint64),), (np.zeros(7, np.uint64),)])
    lost = caught.value
    said = "worker 1 of 1 (tables 3..5) failed in 'reset', step 2 of seed 3: ValueError: could not broadcast"
    assert said in str(lost)
    assert any("Traceback" in note and "in reset" in note for note in lost.__notes__)
    assert lost.exit_code == 4
    assert all_end(pids)


def test_a_fault_in_this_process_closes_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Ctrl-C in the middle of a step does: some tables have gone on, others have not."""
    env = started()
    pids = env.worker_pids

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(TableShard, "advance", interrupted)
    with pytest.raises(KeyboardInterrupt):
        play(env)
    assert all_end(pids)
    with pytest.raises(ValueError, match="closed"):
        env.observe()


SCRIPT = """
import os, signal, sys, time
from gunzi_env import VectorEnv

def main():
    env = VectorEnv(4, "dalian", num_workers=3)
    view, legal = env.reset()
    env.step(legal.argmax(axis=1))
    print(*env.worker_pids, flush=True)
    {then}

if __name__ == "__main__":
    main()
"""


def run(folder: Path, then: str) -> tuple[subprocess.CompletedProcess[str], tuple[int, ...]]:
    """A script of its own with two workers; what it says, and their ids."""
    path = folder / "script.py"
    path.write_text(SCRIPT.format(then=then), "utf-8")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, timeout=LIMIT_S * 2, cwd=ROOT, env=environment
    )  # fmt: skip
    return done, tuple(map(int, done.stdout.split()))


@pytest.mark.parametrize(
    ("then", "code"),
    [
        ("pass", 0),
        ("sys.exit(7)", 7),
        ("raise SystemExit(env.close())", 0),
        ("os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
        ("os.kill(env.worker_pids[0], signal.SIGSTOP)", 0),
    ],
)
def test_nothing_is_left_of_a_script(tmp_path: Path, then: str, code: int) -> None:
    memory = Path("/dev/shm")
    before = set(memory.iterdir()) if memory.is_dir() else set()
    done, pids = run(tmp_path, then)
    assert done.returncode == code, done.stderr
    assert len(pids) == 2
    assert all_end(pids)
    assert done.stderr == ""
    left = (set(memory.iterdir()) if memory.is_dir() else set()) - before
    assert not [path for path in left if path.name.startswith(("pym-", "psm_"))]


def test_a_script_without_its_guard_is_told(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text("from gunzi_env import VectorEnv\nVectorEnv(4, num_workers=2)\n", "utf-8")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, timeout=LIMIT_S * 2, cwd=ROOT, env=environment
    )  # fmt: skip
    assert done.returncode == 1
    assert "worker 1 of 1 (tables 2..3) was lost (exit code 1) in its start" in done.stderr
    assert "must do so under: if __name__ == '__main__':" in done.stderr


def test_a_fork_leaves_the_workers_alone() -> None:
    env = started()
    pids = env.worker_pids
    child = os.fork()
    if not child:
        try:
            env.close()
        finally:
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    play(env)
    assert not any(map(ended, pids))
    env.close()
