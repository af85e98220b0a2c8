"""List the training runs with state, progress and strength.

example: gunzi runs --folder runs
"""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass
from pathlib import Path

from gunzi_agents import checkpoint
from gunzi_env.cli.options import UsageError, parse, say_next
from gunzi_env.cli.text import table_text
from gunzi_eval.stats.intervals import format_interval
from gunzi_train.logs.progress import clock
from gunzi_train.logs.runs import Run, count, find

HEADING = (
    "run", "rules", "state", "updates", "hands", "time", "against", "levels/hand", "points/hand", "newest checkpoint",
)  # fmt: skip


@dataclass(frozen=True)
class Runs:
    """Options of ``gunzi runs``."""

    folder: Path = Path("runs")
    """Folder that contains the run folders."""


def row(run: Run) -> list[str]:
    """Return the cells of one line of the table."""
    history, match = run.history, run.history.newest
    state, newest = run.state()
    numbers = [count(history.last(name)) for name in ("update", "hands")]
    seconds = history.last("seconds")
    strength = ["-", "-", "-"]
    if match is not None:
        strength = [next(iter(history.matches)), format_interval(match.levels, 2), format_interval(match.points, 0)]
    time = "-" if math.isnan(seconds) else clock(seconds)
    return [run.folder.name, run.rules, state, *numbers, time, *strength, newest.removesuffix(checkpoint.SUFFIX)]


def main(argv: list[str]) -> int:
    """``gunzi runs``."""
    config = parse(Runs, argv, "runs")
    try:
        found = find(config.folder)
    except OSError as error:
        raise UsageError(f"--folder {config.folder}: {error.strerror}; gunzi train makes the folder runs") from None
    if not found:
        print(f"no runs in {config.folder}")
        say_next("gunzi train configs/train/demo.toml --run mine")
        return 0
    print(table_text(HEADING, [row(run) for run in found], left=3), flush=True)
    say_next(f"gunzi inspect {shlex.quote(str(found[0].folder))}; gunzi compare, with two runs, to see what differs")
    return 0
