"""List the training runs with state, progress and strength."""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass
from pathlib import Path

from gunzi_agents import checkpoint
from gunzi_env.cli.options import UsageError, parse, say_next
from gunzi_env.cli.text import printable, show_table
from gunzi_eval.stats.intervals import format_interval
from gunzi_train.logs.progress import clock
from gunzi_train.logs.runs import Run, count, find


@dataclass(frozen=True)
class Runs:
    """List the training runs with state, progress and strength.

    example: gunzi runs --folder runs
    """

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
    from rich.box import SIMPLE
    from rich.table import Table
    from rich.text import Text

    config = parse(Runs, argv, "runs")
    try:
        found = find(config.folder)
    except OSError as error:
        raise UsageError(f"--folder {config.folder}: {error.strerror}; gunzi train makes the folder runs") from None
    if not found:
        print(f"no runs in {config.folder}")
        say_next("gunzi train configs/train/demo.toml --run mine")
        return 0
    table = Table(box=SIMPLE)
    for name in ("run", "rules", "state"):
        table.add_column(name, no_wrap=True)
    for name in ("updates", "hands", "time"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("against", no_wrap=True)
    for name in ("levels/hand", "points/hand"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("newest checkpoint", no_wrap=True)
    for run in found:
        table.add_row(*(Text(printable(cell)) for cell in row(run)))
    show_table(table)
    say_next(f"gunzi inspect {shlex.quote(str(found[0].folder))}; gunzi compare, with two runs, to see what differs")
    return 0
