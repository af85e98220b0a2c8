"""A process of a run that goes wrong: the run ends in time, with its words and its exit code, and nothing goes on."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gunzi_agents import checkpoint
from gunzi_env.vector import VectorEnv
from gunzi_train.commands import train
from gunzi_train.config import SPREAD
from gunzi_train.errors import WorkerLost
from gunzi_train.group import Group
from gunzi_train.seeds import derived_seed
from tests.support import tiny_runs
from tests.support.faults import children

STEPS, TIMEOUT = 16, 25
ARGV = tiny_runs.argv(collect__steps=STEPS, schedule__updates=4, processes=2, timeout_seconds=TIMEOUT)
ALLOWED = TIMEOUT + 5 + 20
"""Seconds for the loss to be seen: the time limit, the search for the reason, and a busy machine."""

CALL = int(SPREAD * 39) + STEPS + 5
"""The fifth decision of the second update: at the start so many are made to bring the tables apart."""

# Every Python reads it at its start, from the first folder of its path that holds a file of this name.
SITE = "sitecustomize.py"
PLANTED = """
import sys
if "gunzi_train.launch.processes" in sys.orig_argv:
    import os, signal
    from pathlib import Path
    import numpy as np
    from gunzi_env.vector import VectorEnv

    calls, step = 0, VectorEnv.step

    def counted(self, actions):
        global calls
        calls += 1
        if calls != {call}:
            return step(self, actions)
        Path({mark!r}).touch()
        {fault}

    VectorEnv.step = counted
"""


@dataclass(frozen=True)
class Fault:
    """What process 1 does instead of a step, the exit code of the run, and what it must say."""

    planted: str
    code: int
    said: tuple[str, ...]


TRACED = ("process 1 said", "Traceback", f"in update 2: rules dalian, seed SEED, decision 5 of {STEPS}", "plies ")
FAULTS = {
    "raises": Fault("raise KeyError('a card was lost')", 4, (*TRACED, "KeyError: 'a card was lost'", "exit code 1")),
    "wrong shape": Fault(
        "view, legal, *rest = step(self, actions); return (view, legal[:-1], *rest)", 4, ("Traceback", "in update 2")
    ),
    "is killed": Fault("os.kill(os.getpid(), signal.SIGKILL)", 4, ("process 1 of 2 was lost (signal 9)",)),
    "is stopped": Fault("os.kill(os.getpid(), signal.SIGSTOP)", 4, ("process 0 of 2 lost the others",)),
    "leaves": Fault("os._exit(0)", 4, ("process 1 of 2 was lost (exit code 0)",)),
    "reward is nan": Fault(
        "answer = step(self, actions); self.points = np.full(8, np.nan); return answer",
        5,
        ("update 2: rewards of another process not finite",),
    ),
}


pytestmark = pytest.mark.usefixtures("torch_as_before")


@pytest.mark.parametrize("name", FAULTS)
def test_it_ends_the_run_in_time(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    fault, mark, run = FAULTS[name], tmp_path / "mark", tmp_path / "run"
    (tmp_path / SITE).write_text(PLANTED.format(call=CALL, mark=str(mark), fault=fault.planted), "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    known = children(os.getpid())
    assert train.main(["--out", str(run), *ARGV]) == fault.code
    assert time.time() - mark.stat().st_mtime < ALLOWED
    error = capfd.readouterr().err
    assert error.splitlines()[-1].startswith("gunzi train: ")
    for words in fault.said:
        assert words.replace("SEED", str(derived_seed(1, "deals", 1))) in error
    assert children(os.getpid()) == known, "a process goes on"
    assert checkpoint.read(run / checkpoint.UNTRAINED)


AT_A_MATCH = """
import sys
if ("gunzi_train.launch.processes" in sys.orig_argv) == {elsewhere}:
    from gunzi_agents.uniform import Uniform

    def act(self, view, legal, keys):
        raise KeyError("a card was lost")

    Uniform.act = act
"""


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_reference_bot_that_crashes_is_named_after_a_checkpoint(elsewhere: bool, tmp_path: Path) -> None:
    run = tmp_path / "run"
    (tmp_path / SITE).write_text(AT_A_MATCH.format(elsewhere=elsewhere), "utf-8")
    code = "import sys; from gunzi_train.commands.train import main; sys.exit(main(sys.argv[1:]))"
    matches = ["--evaluate.every-seconds", "1000", "--evaluate.deals", "4", "--evaluate.opponents", "uniform"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])}
    ended = subprocess.run(
        [sys.executable, "-c", code, "--out", str(run), *ARGV, *matches],
        env=environment, capture_output=True, text=True, timeout=ALLOWED,
    )  # fmt: skip
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr.splitlines()[-1].endswith("agent 'uniform' crashed: KeyError: 'a card was lost'")
    assert checkpoint.read(checkpoint.listing(run)[0]).meta["counters"]["updates"] == 4


def test_what_process_0_raises_ends_the_run_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls, step = count(1), VectorEnv.step

    def lost(self: VectorEnv, actions: Any) -> Any:
        if next(calls) == CALL:
            raise KeyError("a card was lost")
        return step(self, actions)

    monkeypatch.setattr(VectorEnv, "step", lost)
    assert train.main(["--out", str(tmp_path / "run"), *ARGV, "--processes", "1"]) == 4
    error = capsys.readouterr().err
    assert "Traceback" in error and "in update 2: rules dalian, seed" in error
    assert error.splitlines()[-1] == "gunzi train: process 0 raised KeyError: 'a card was lost'"


def test_of_those_that_have_lost_one_none_is_blamed() -> None:
    """Process 2 is frozen; process 1 has ended because of it."""
    ends = [4, None]
    children = [
        SimpleNamespace(poll=lambda code=code: code, said=lambda: "lost the others\n", where="workers") for code in ends
    ]
    error = Group(0, 3, children).lost("Timed out")  # type: ignore[arg-type]
    assert isinstance(error, WorkerLost) and "process 2 of 3 did not answer" in str(error)


def test_with_several_lost_the_cause_is_named_and_all_are_heard(capsys: pytest.CaptureFixture[str]) -> None:
    """Process 2 dies, and process 1 loses it."""
    children = [
        SimpleNamespace(poll=lambda code=code: code, said=lambda words=words: f"{words}\n", where="workers")
        for code, words in ((4, "process 1: process 1 of 3 lost the others"), (1, "KeyError: 3"))
    ]
    error = Group(0, 3, children).lost("closed")  # type: ignore[arg-type]
    assert isinstance(error, WorkerLost) and "process 2 of 3 was lost (exit code 1)" in str(error)
    said = capsys.readouterr().err
    assert "process 1 of 3 lost the others" in said and "KeyError: 3" in said
