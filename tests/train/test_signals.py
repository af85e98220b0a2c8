"""SIGINT and SIGTERM: once, a checkpoint and exit 130 or 143, whatever is being done; twice, at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gunzi_agents import checkpoint
from gunzi_env.files import TEMPORARY
from gunzi_train import folder
from gunzi_train.algorithms.ppo import PPO
from gunzi_train.commands import train
from gunzi_train.launch import training
from gunzi_train.run import evaluate
from tests.env.test_workers_end import all_end
from tests.support import tiny_runs
from tests.support.faults import children

ARGV = tiny_runs.argv(collect__steps=8, schedule__updates=100_000)
MATCHES = ["--evaluate.every-seconds", "0.01", "--evaluate.deals", "2", "--evaluate.opponents", "uniform"]
PLACES = {"update": (PPO, "_advantages"), "match": (evaluate, "match"), "save": (folder, "save")}


pytestmark = pytest.mark.usefixtures("torch_as_before")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_once_it_saves_and_stops(
    place: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Within an update or a match, and within a save that was due: the work is finished, then no more is begun."""
    where, name = PLACES[place]
    done, sent = getattr(where, name), []

    def interrupted(*arguments, **options):  # type: ignore[no-untyped-def]
        if not sent and (place != "save" or arguments[0].parent.name == checkpoint.FOLDER):
            sent.append(time.monotonic())
            os.kill(os.getpid(), number)
        return done(*arguments, **options)

    monkeypatch.setattr(where, name, interrupted)
    run = tmp_path / "run"
    more = MATCHES if place == "match" else ["--evaluate.every-seconds", "0", "--save.every-seconds", "0.1"]
    assert train.main(["--out", str(run), *ARGV, *more]) == 128 + number
    assert sent and time.monotonic() - sent[0] < 30
    assert f"resume with: gunzi train --resume {run}" in capsys.readouterr().out
    kept = checkpoint.read(checkpoint.listing(run)[0])
    rows = (run / folder.METRICS).read_text("utf-8").splitlines()
    assert f'"update": {kept.meta["counters"]["updates"]},' in rows[-1], "updates were made that were not saved"
    assert not list(run.rglob(f"{TEMPORARY}*"))


SLOW = """
import sys, time
from pathlib import Path
from gunzi_train import folder
from gunzi_train.commands import train

save = folder.save

def slow(path, *rest):
    save(path, *rest)
    if path.parent.name == "checkpoints":
        Path(path.parent.parent, "saved").touch()
        time.sleep(100)

folder.save = slow
sys.exit(train.main(sys.argv[1:]))
"""


def test_twice_it_ends_at_once_with_all_its_processes(tmp_path: Path) -> None:
    """The first comes in a save that takes long, and changes nothing; the second does not wait for it."""
    run = tmp_path / "run"
    more = ["--evaluate.every-seconds", "0", "--save.every-seconds", "0.1", "--processes", "2"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", SLOW, "--out", str(run), *ARGV, *more]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
        until = time.monotonic() + 60
        while not (run / "saved").exists():
            assert process.poll() is None and time.monotonic() < until
            time.sleep(0.02)
        others = tuple(children(process.pid))
        assert len(others) == 1
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        assert process.poll() is None
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 143
    assert time.monotonic() - began < 5 and all_end(others)
    assert checkpoint.load(run)[0]


def test_a_second_one_before_the_first_update_ends_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def twice(*arguments: object) -> bool:
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)
        pytest.fail("it went on")

    monkeypatch.setattr(training, "_bf16", twice)
    assert train.main(["--out", str(tmp_path / "run"), *ARGV, "--evaluate.every-seconds", "0"]) == 143
    assert not list(tmp_path.iterdir())


def _begun(run: Path, *more: str) -> subprocess.Popen[bytes]:
    """A run of two processes that has made updates."""
    command = [
        sys.executable,
        "-c",
        "import sys; from gunzi_train.commands.train import main; sys.exit(main(sys.argv[1:]))",
    ]
    command += ["--out", str(run), *ARGV, "--processes", "2", *(more or ["--evaluate.every-seconds", "0"])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while not (run / folder.METRICS).exists() or not (run / folder.METRICS).stat().st_size:
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.05)
    return process


def test_a_match_that_takes_long_is_given_up(tmp_path: Path) -> None:
    """Each of the opponent's answers takes part of a second, and the match would take minutes."""
    run = tmp_path / "run"
    more = ["--evaluate.every-seconds", "0.01", "--evaluate.deals", "8"]
    more += ["--evaluate.opponents", "search(uniform, worlds=32, confidence=0)"]
    with _begun(run, *more) as process:
        (other,) = children(process.pid)
        until, size, still = time.monotonic() + 60, 0, time.monotonic()
        while time.monotonic() - still < 2:  # an update, and with it a row, takes no time
            assert process.poll() is None and time.monotonic() < until
            time.sleep(0.05)
            if (now := (run / folder.METRICS).stat().st_size) > size:
                size, still = now, time.monotonic()
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        try:
            assert process.wait(60) == 143
        finally:
            process.kill()
    assert time.monotonic() - began < 30 and all_end((other,))
    rows = (run / folder.METRICS).read_text("utf-8").splitlines()
    assert '"match"' not in "".join(rows), "a match was finished"
    assert checkpoint.read(checkpoint.listing(run)[0]).meta["counters"]["updates"] == len(rows)


def test_the_second_one_ends_it_while_it_waits_for_a_process_that_is_frozen(tmp_path: Path) -> None:
    """Within torch no handler of Python's is called; and who presses Ctrl-C again and again is not worse off."""
    with _begun(tmp_path / "run") as process:
        (other,) = children(process.pid)
        os.kill(other, signal.SIGSTOP)
        time.sleep(1)
        began = time.monotonic()
        for _ in range(5):
            process.send_signal(signal.SIGINT)
            time.sleep(0.01)
        try:
            assert process.wait(30) == 130
        finally:
            process.kill()
    assert time.monotonic() - began < 10 and all_end((other,))


def test_one_to_every_process_is_one_to_the_run(tmp_path: Path) -> None:
    """What systemd and cluster schedulers do."""
    run = tmp_path / "run"
    with _begun(run) as process:
        (other,) = children(process.pid)
        for pid in (other, process.pid):
            os.kill(pid, signal.SIGTERM)
        try:
            assert process.wait(30) == 143
        finally:
            process.kill()
    assert all_end((other,))
    assert checkpoint.listing(run)


def test_the_last_match_is_played_after_a_signal_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done, sent = evaluate.match, []

    def interrupted(*arguments, **options):  # type: ignore[no-untyped-def]
        if not sent:
            sent.append(True)
            os.kill(os.getpid(), signal.SIGINT)
        return done(*arguments, **options)

    monkeypatch.setattr(evaluate, "match", interrupted)
    run = tmp_path / "run"
    last = ["--evaluate.every-seconds", "1000", "--evaluate.deals", "2", "--evaluate.opponents", "uniform"]
    assert train.main(["--out", str(run), *ARGV, *last, "--schedule.updates", "3"]) == 130
    assert train.main(["--resume", str(run)]) == 0
    rows = (run / folder.METRICS).read_text("utf-8").splitlines()
    assert [("match" in row, '"update": 3' in row) for row in rows[-2:]] == [(False, True), (True, True)]
    assert checkpoint.read(checkpoint.listing(run)[0]).meta["counters"]["finished"]
