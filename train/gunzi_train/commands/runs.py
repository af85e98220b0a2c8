"""List the training runs: which are going on, how far they are and how strong they became."""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gunzi_agents import checkpoint
from gunzi_agents.checkpoint import CheckpointError
from gunzi_env.cli.options import UsageError, parse, say_next
from gunzi_env.cli.text import printable, show_table
from gunzi_eval.stats.intervals import format_interval
from gunzi_train import config as configuration
from gunzi_train import folder as folders
from gunzi_train.errors import RunFolderError
from gunzi_train.logs.history import History
from gunzi_train.logs.progress import clock


@dataclass(frozen=True)
class Runs:
    """List the training runs: which are going on, how far they are and how strong they became.

    example: gunzi runs --folder runs
    """

    folder: Path = Path("runs")
    """Where the folders of the runs lie."""


@dataclass(frozen=True)
class Run:
    """A run as its folder tells of it."""

    folder: Path
    rules: str
    settings: dict[str, Any]
    """By their dotted names, as config.json has them."""
    history: History

    @classmethod
    def of(cls, folder: Path) -> Run:
        """Read it; :class:`~gunzi_train.errors.RunFolderError` where the folder holds no run."""
        values = folders.stored(folder)
        settings = configuration.flat(values["config"]) | {"rules digest": values["rules_digest"]}
        figures = configuration.shown_figures(str(settings.get("algorithm", "ppo")))
        return cls(folder, str(values["rules_name"]), settings, History(folder, figures).read())

    def state(self) -> tuple[str, str]:
        """Running, finished or stopped; and the name of the newest usable checkpoint, "-" without one."""
        try:
            found, _ = checkpoint.load(self.folder)
        except CheckpointError:
            return ("running" if folders.in_use(self.folder) else "stopped"), "-"
        if folders.in_use(self.folder):
            return "running", found.path.name
        counters = found.meta.get("counters")
        finished = isinstance(counters, dict) and counters.get("finished") is True
        return ("finished" if finished else "stopped"), found.path.name


def find(folder: Path) -> list[Run]:
    """The runs in a folder, by name; folders that hold none are passed over."""
    found = []
    for path in sorted(folder.iterdir()):
        try:
            found.append(Run.of(path))
        except RunFolderError:
            continue
    return found


def row(run: Run) -> list[str]:
    """A line of the table."""
    history, match = run.history, run.history.newest
    state, newest = run.state()
    numbers = [count(history.last(name)) for name in ("update", "hands")]
    seconds = history.last("seconds")
    strength = ["-", "-", "-"]
    if match is not None:
        strength = [next(iter(history.matches)), format_interval(match.levels, 2), format_interval(match.points, 0)]
    time = "-" if math.isnan(seconds) else clock(seconds)
    return [run.folder.name, run.rules, state, *numbers, time, *strength, newest.removesuffix(checkpoint.SUFFIX)]


def count(number: float) -> str:
    """A whole number, "-" for NaN.

    >>> count(1234.0), count(float("nan"))
    ('1,234', '-')
    """
    return "-" if math.isnan(number) else f"{number:,.0f}"


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
