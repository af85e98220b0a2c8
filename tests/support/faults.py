"""Trainings that are killed: ``python -m tests.support.faults`` (``make faults``); the suite plays a few.

``times``
    A tiny training is killed (``kill -9``) at random times and gone on with each time, until it ends; then the next
    one. What each leaves must equal an uninterrupted run: weights, optimiser, generators, tables, counters, rows of the
    log, names of files. A kill may cost the updates since the last checkpoint, one interval at most.
``writes``
    The same, killed at what it does to files: before a file is opened, renamed, removed or synced, with a random part
    of its bytes written. This falls inside a save nearly every time.
``processes``
    The same with two processes, a tenth of the kills: the other process must end by itself.
``saving``
    A process that does nothing but save is killed at random times. There must be a whole checkpoint every time, and
    nothing that was reported as saved may be lost.

The first difference is printed and ends the command with exit code 1.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("GUNZI_COMPILED", "0")  # the same games, and no minute of compiling

import numpy as np

from gunzi_agents import checkpoint
from gunzi_env import files
from gunzi_env.rules import Rules
from gunzi_train import folder
from gunzi_train.commands import train as train_command
from gunzi_train.device import settle_torch
from tests.env.test_workers_end import ended
from tests.support import tiny_runs

EVERY = 0.15
"""Seconds between checkpoints."""
KEEP = 2
SETTINGS = tiny_runs.argv(
    collect__steps=8, ppo__epochs=1, schedule__updates=50, save__every_seconds=EVERY, save__keep=KEEP
)
LIMIT = 120.0
"""Seconds that a process may take for what needs a few."""


class Broken(AssertionError):
    """A kill cost more than it may."""


# Processes ----------------------------------------------------------------------------------------


def forked(work: Callable[[], int], log: Path) -> int:
    """A process that does ``work`` and ends with its exit code, what it prints going to ``log``; its id.

    Forked, for torch is imported once that way. Nothing here has used it before, so that there are no threads to lose.
    """
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        said = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(said, 1)
        os.dup2(said, 2)
        sys.stdout, sys.stderr = open(1, "w", encoding="utf-8"), open(2, "w", encoding="utf-8")  # noqa: SIM115
        code = work()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def waited(pid: int, seconds: float) -> int | None:
    """The status of a process that ends within ``seconds``, else None."""
    until = time.monotonic() + seconds
    while True:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return status
        if time.monotonic() >= until:
            return None
        time.sleep(0.002)


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text("utf-8").split()]


def killed(pid: int, seconds: float) -> bool:
    """Kill a process after so long. True too if it has done so itself; False if it had ended well.

    The processes that it has started must end then, by themselves.
    """
    if (status := waited(pid, seconds)) is None:
        others = children(pid)
        os.kill(pid, signal.SIGKILL)
        status = os.waitpid(pid, 0)[1]
        until = time.monotonic() + LIMIT
        while alive := [other for other in others if not ended(other)]:
            if time.monotonic() > until:
                raise Broken(f"process {alive[0]} goes on without the one that started it")
            time.sleep(0.01)
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, -signal.SIGKILL):
        raise Broken(f"it ended with exit code {code}")
    return code != 0


# What a run leaves --------------------------------------------------------------------------------


def rows(run: Path) -> list[dict[str, Any]]:
    """The whole rows of the log; a kill can cut off the last."""
    text = (run / folder.METRICS).read_text("utf-8") if (run / folder.METRICS).exists() else ""
    return [json.loads(line) for line in text.split("\n")[:-1]]


def left(run: Path) -> dict[str, Any]:
    """All of a finished run that must not hang on when it was interrupted."""
    found, _ = checkpoint.load(run)
    parts: dict[str, Any] = {f"tensor {name}": array.tobytes() for name, array in found.tensors.items()}
    meta = dict(found.meta)
    meta["counters"] = {name: number for name, number in meta["counters"].items() if name != "seconds"}
    parts |= {f"meta {name}": value for name, value in meta.items()}
    parts["log"] = [{key: value for key, value in row.items() if key != "speed"} for row in rows(run)]
    # When a checkpoint was written is a matter of time: its number is left out, that of the last one is in the meta.
    files = {path.relative_to(run).as_posix() for path in run.rglob("*") if path not in checkpoint.listing(run)}
    parts["files"] = sorted(files)
    return parts


def differences(whole: dict[str, Any], run: Path) -> list[str]:
    """The names of what differs between an uninterrupted run and another."""
    mine = left(run)
    differ = [name for name in sorted(whole.keys() | mine.keys()) if whole.get(name) != mine.get(name)]
    if "files" in differ:
        other = set(whole["files"]) ^ set(mine["files"])
        differ[differ.index("files")] = f"files ({', '.join(sorted(other))})"
    return differ + (["more checkpoints than are kept"] if len(checkpoint.listing(run)) > KEEP else [])


def lost(run: Path) -> int:
    """The updates that a kill has cost, which were made within one interval; refused if they were not.

    A row is written before the checkpoint that may follow it, so the time is that of the last row but one.
    """
    done = rows(run)
    found = checkpoint.load(run)[0].meta["counters"] if checkpoint.listing(run) else {"updates": 0, "seconds": 0.0}
    behind = [row for row in done[:-1] if row["update"] > found["updates"]]
    if behind and (more := behind[-1]["speed"]["seconds"] - found["seconds"]) > EVERY + 0.05:
        raise Broken(f"{run}: the newest checkpoint is {more:.2f} s older than update {behind[-1]['update']}")
    return max(0, done[-1]["update"] - found["updates"]) if done else 0


# Kills --------------------------------------------------------------------------------------------

Kill = Callable[[Callable[[], int], Path], bool]
"""Does the work in a process, kills it, and says whether it did; False where it had ended before."""


@dataclass
class Seen:
    """What the kills of one kind have met."""

    kills: int = 0
    runs: int = 0
    lost: list[int] = field(default_factory=list)

    def told(self) -> str:
        """In words."""
        return (
            f"{self.kills} kills in {self.runs} runs, each equal to the uninterrupted one; "
            f"a kill cost {max(self.lost)} updates at most, {sum(self.lost) / self.kills:.1f} on average"
        )


def train(run: Path, *more: str) -> int:
    """Begin a run, or go on with it."""
    return train_command.main(["--resume", "auto", "--out", str(run), *SETTINGS, *more])


def uninterrupted(where: Path, *more: str) -> tuple[dict[str, Any], float]:
    """What a run leaves that nobody kills, and its seconds."""
    began = time.monotonic()
    log = where / "whole.log"
    if waited(forked(partial(train, where / "whole", *more), log), LIMIT) != 0:
        raise Broken(f"a run that nobody killed went wrong: {log.read_text('utf-8')}")
    return left(where / "whole"), time.monotonic() - began


def killed_and_gone_on_with(where: Path, whole: dict[str, Any], kill: Kill, kills: int, *more: str) -> Seen:
    """Runs that are killed ``kills`` times in all; each is finished and compared."""
    seen = Seen()
    while seen.kills < kills:
        seen.runs += 1
        run, log = where / f"run {seen.runs} 局", where / f"{seen.runs}.log"
        try:
            while seen.kills < kills and kill(partial(train, run, *more), log):
                seen.kills += 1
                seen.lost.append(lost(run))
            if waited(forked(partial(train, run, *more), log), LIMIT) != 0:
                raise Broken("it could not be finished")
        except Exception as error:
            said = log.read_text("utf-8") if log.exists() else ""
            raise Broken(f"run {seen.runs}, kill {seen.kills}: {error}\n{said[-4000:]}") from error
        if differ := differences(whole, run):
            raise Broken(f"run {seen.runs}, kill {seen.kills}: not equal to an uninterrupted run: {', '.join(differ)}")
    return seen


def at_random_times(draw: random.Random, seconds: float) -> Kill:
    """Within the time that a whole run takes."""
    return lambda work, log: killed(forked(work, log), draw.uniform(0, seconds))


class FileWatch:
    """Counts what this process does to files; before the one numbered ``last`` (from 1) the process kills itself."""

    def __init__(self, last: int, part: float) -> None:
        self.number, self.last, self.part = 0, last, part

    def watch(self) -> None:
        """From now on, until the process ends."""
        sync = os.fsync

        def fsync(file: int) -> None:
            self._step(file)
            sync(file)

        os.fsync = fsync
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        to_write = event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+")
        if to_write or event in {"os.rename", "os.remove", "os.truncate", "os.mkdir", "os.rmdir"}:
            self._step()

    def _step(self, file: int | None = None) -> None:
        self.number += 1
        if self.number == self.last:
            if file is not None and os.path.isfile(f"/proc/self/fd/{file}"):
                os.ftruncate(file, int(self.part * os.fstat(file).st_size))  # so much of it was on the disk
            os.kill(os.getpid(), signal.SIGKILL)


def at_random_writes(draw: random.Random, number: int) -> Kill:
    """Before one of the next ``number`` things that are done to files."""

    def kill(work: Callable[[], int], log: Path) -> bool:
        watch = FileWatch(draw.randint(1, number), draw.random())

        def watched() -> int:
            watch.watch()
            return work()

        return killed(forked(watched, log), LIMIT)

    return kill


# A process that only saves ------------------------------------------------------------------------

Write = Callable[[Path, dict[str, Any], dict[str, Any]], None]


def save_on_and_on(path: Path, first: int, write: Write) -> int:
    """Save for ever, and say after each time which update is safe now."""
    tensors = {"net.a": np.random.default_rng(0).standard_normal(1_500_000).astype(np.float32)}
    meta = checkpoint.describe(Rules())
    for update in range(first, first + 10_000):
        write(path, tensors, meta | {"counters": {"updates": update}})
        print(update, flush=True)
    return 0


def killed_while_saving(where: Path, draw: random.Random, kills: int, write: Write = checkpoint.write) -> int:
    """Kill it so often; the number of kills that fell within a save, which leaves a temporary file."""
    path = where / checkpoint.file_name(1)
    safe = inside = 0
    for number in range(kills):
        log = where.parent / f"{where.name} saving {number}.log"
        pid = forked(partial(save_on_and_on, path, 10_000 * number + 1, write), log)
        time.sleep(draw.uniform(0.02, 0.3))
        until = time.monotonic() + 1.0
        while time.monotonic() < until and not any(where.glob(f"{files.TEMPORARY}*")):
            pass  # a save is short, and most of the time goes into checksums
        killed(pid, draw.uniform(0, 0.01))
        said = log.read_text("utf-8").split("\n")[:-1]
        if not (said and said[-1].isdecimal()) and said:
            raise Broken(f"kill {number + 1}: {said[-1]}")
        safe = int(said[-1]) if said else safe
        if safe or path.exists():
            found = checkpoint.read(path).meta["counters"]["updates"]
            if found < safe:
                raise Broken(f"kill {number + 1}: update {safe} was saved, the file holds {found}")
        inside += len(files.sweep(where))
        log.unlink()
    return inside


# The command --------------------------------------------------------------------------------------


def times(where: Path, draw: random.Random, kills: int) -> str:
    """Killed at random times."""
    whole, seconds = uninterrupted(where)
    return killed_and_gone_on_with(where, whole, at_random_times(draw, seconds), kills).told()


def writes(where: Path, draw: random.Random, kills: int) -> str:
    """Killed at what it does to files."""
    whole, _ = uninterrupted(where)
    # The start of a run has about ten, a checkpoint five: open, sync, rename, sync of the folder, removal of one.
    return killed_and_gone_on_with(where, whole, at_random_writes(draw, 25), kills).told()


def processes(where: Path, draw: random.Random, kills: int) -> str:
    """Two processes."""
    more = ["--processes", "2", "--timeout-seconds", "20"]
    whole, seconds = uninterrupted(where, *more)
    kill = at_random_times(draw, seconds)
    return killed_and_gone_on_with(where, whole, kill, max(1, kills // 10), *more).told()


def saving(where: Path, draw: random.Random, kills: int) -> str:
    """Nothing but saves."""
    inside = killed_while_saving(where, draw, kills)
    return f"{kills} kills, {inside} of them within a save; a whole checkpoint each time, nothing lost"


KINDS = {kind.__name__: kind for kind in (times, writes, processes, saving)}


def main(argv: list[str]) -> int:
    """Run them; 0 if all hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50, help="of each kind")
    parser.add_argument("--seed", type=int, default=1, help="of when to kill")
    parser.add_argument("--only", nargs="+", choices=list(KINDS), default=list(KINDS), metavar="NAME")
    options = parser.parse_args(argv)
    if options.kills < 1:
        parser.error("give at least one kill")
    settle_torch()
    held = True
    for name in options.only:
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as where:
            try:
                told = KINDS[name](Path(where), random.Random(f"{options.seed} {name}"), options.kills)
            except (Broken, checkpoint.CheckpointError) as error:
                held, told = False, f"BROKEN: {error}"
        print(f"{name}: {told} ({time.monotonic() - began:.0f} s)", flush=True)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
