"""A long training: ``python -m tests.support.soak_training`` (``make soak-train``), 30 minutes by default.

It is the command itself, with its matches, checkpoints and logs, in a process that is watched from outside. After a
warm-up of a sixth of the time

* its memory must not grow by 1 MB a minute (the slope of the line of least squares),
* its open files must stay as many, give or take those that are open for a moment,
* its speed in the last sixth must be 90 % of that in the first one after the warm-up.

Memory and files are those of all its processes together. One table is printed; the exit code is 1 if one does not hold.
Decisions for each second of processor time stand beside those of the clock: where only the latter fall, the machine had
other work.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from tests.support.faults import children

PARTS = 6
"""Of the time: the first one is the warm-up."""
SAMPLES = 300
"""Over the whole time."""
MAX_SLOPE, MIN_SPEED = 1.0, 0.9
MORE_FILES = 2
"""Open for a moment: a log that is read, a checkpoint that is written."""
PAGE = os.sysconf("SC_PAGE_SIZE")
TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Sample:
    """A look at the processes of a run: minutes since its start, MB, open files, processor seconds, decisions."""

    minutes: float
    memory: float
    files: int
    processor: float
    decisions: int


def look(pid: int, log: Path, minutes: float) -> Sample:
    """What a process and those that it has started hold now."""
    pids = [pid, *children(pid)]
    pages = sum(int(Path(f"/proc/{p}/statm").read_text("utf-8").split()[1]) for p in pids)
    files = sum(len(list(Path(f"/proc/{p}/fd").iterdir())) for p in pids)
    fields = [Path(f"/proc/{p}/stat").read_text("utf-8").rpartition(")")[2].split() for p in pids]
    ticks = sum(int(user) + int(system) for user, system in (found[11:13] for found in fields))
    return Sample(minutes, pages * PAGE / 2**20, files, ticks / TICK, decisions_in(log))


def decisions_in(log: Path) -> int:
    """The decisions of the last update in metrics.jsonl; 0 before the first."""
    if not log.exists():
        return 0
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 8192))
        lines = file.read().split(b"\n")[:-1]
    for line in reversed(lines):
        if line.startswith(b'{"update"') and (found := json.loads(line).get("decisions")):
            return int(found)
    return 0


def slope(samples: list[Sample]) -> float:
    """MB a minute."""
    return float(np.polyfit([s.minutes for s in samples], [s.memory for s in samples], 1)[0])


def speed(samples: list[Sample], *, processor: bool = False) -> float:
    """Decisions a second, of the clock or of the processors: from the end of an update to that of another."""
    ends = [after for before, after in pairwise(samples) if after.decisions > before.decisions]
    if len(ends) < 2:
        return 0.0
    first, last = ends[0], ends[-1]
    spent = last.processor - first.processor if processor else 60 * (last.minutes - first.minutes)
    return (last.decisions - first.decisions) / spent


def report(samples: list[Sample], minutes: float) -> bool:
    """Print the table; whether all holds."""
    bounds = [minutes * part / PARTS for part in range(PARTS + 1)]
    parts = [[s for s in samples if low <= s.minutes <= high] for low, high in pairwise(bounds)]
    print(f"{'minutes':>14} {'MB':>9} {'files':>7} {'decisions/s':>12} {'of processor':>13}")
    for part in parts:
        name = f"{part[0].minutes:.1f} to {part[-1].minutes:.1f}"
        files = f"{min(s.files for s in part)}-{max(s.files for s in part)}"
        clock, processor = speed(part), speed(part, processor=True)
        print(f"{name:>14} {part[-1].memory:>9.1f} {files:>7} {clock:>12,.0f} {processor:>13,.0f}")
    warm = [s for part in parts[1:] for s in part]
    grows, files = slope(warm), max(s.files for s in parts[-1]) - max(s.files for s in parts[1])
    share = speed(parts[-1]) / max(1e-9, speed(parts[1]))
    of_processor = speed(parts[-1], processor=True) / max(1e-9, speed(parts[1], processor=True))
    held = [grows < MAX_SLOPE, abs(files) <= MORE_FILES, share >= MIN_SPEED]
    words = (
        f"memory grows by {grows:.2f} MB a minute (less than {MAX_SLOPE:g})",
        f"{files:+d} open files (at most {MORE_FILES} more or less)",
        f"speed at the end {share:.0%} of that after the warm-up (at least {MIN_SPEED:.0%}), "
        f"{of_processor:.0%} by time of processor",
    )
    for word, holds in zip(words, held, strict=True):
        print(f"{'holds' if holds else 'FAILS'}: {word}")
    return all(held)


def watched(run: Path, minutes: float, more: list[str]) -> list[Sample]:
    """Train for so long and look now and then; the run must end well."""
    code = "import sys; from gunzi_train.commands.train import main; sys.exit(main(sys.argv[1:]))"
    settings = ["--minutes", str(minutes), "--schedule.updates", str(10**9)]  # the time alone ends it
    settings += ["--evaluate.every-seconds", str(minutes), "--save.every-seconds", str(2 * minutes), *more]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", code, "--out", str(run), *settings]
    samples: list[Sample] = []
    began = time.monotonic()
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            gone = (time.monotonic() - began) / 60
            try:
                samples.append(look(process.pid, run / "metrics.jsonl", gone))
            except OSError:  # one of its processes has just ended
                continue
            time.sleep(60 * minutes / SAMPLES)
    if process.returncode:
        raise SystemExit(f"the training ended with exit code {process.returncode}")
    if samples[-1].minutes < 0.95 * minutes:
        raise SystemExit(f"the training ended after {samples[-1].minutes:.1f} minutes")
    return samples


def main(argv: list[str]) -> int:
    """Run it; 0 if all holds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30.0, help="of training")
    parser.add_argument("more", nargs="*", help="settings of gunzi train, after --")
    options = parser.parse_args(argv)
    if not 0.5 <= options.minutes <= 10_000:
        parser.error("give 0.5 to 10000 minutes")
    with tempfile.TemporaryDirectory() as folder:
        samples = watched(Path(folder, "run"), options.minutes, options.more)
    return 0 if report(samples, options.minutes) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
