"""The progress of a run: a live table in a terminal, a line every ten seconds elsewhere."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TextIO

from gunzi_env.cli.text import printable
from gunzi_eval.stats.intervals import Interval, format_interval

PLAIN_SECONDS = 10.0
"""Seconds between lines if the output is not a terminal."""
LIVE_SECONDS = 0.25
"""Seconds between tables in a terminal."""

Found = Mapping[str, Interval]
"""Levels, points and hands_won of a match, by name."""


@dataclass(frozen=True)
class Status:
    """The status of a run."""

    update: int
    total: int
    """Updates in the schedule; 0 until that is known."""
    hands: int
    gone: float
    """Seconds since the command started."""
    left: float
    """Seconds until the end, estimated."""
    hands_per_s: float
    decisions_per_s: float
    learning: Mapping[str, float] = field(default_factory=dict)
    """Figures of the last update that the algorithm declares, by their names in metrics.jsonl."""
    matches: Mapping[str, Found] = field(default_factory=dict)
    """Last match against each agent."""
    matches_at: int = 0
    """Hands of the run when these matches were played."""

    @property
    def share(self) -> float:
        """Completed share of the run, 0 to 1."""
        return min(1.0, self.gone / max(1e-6, self.gone + self.left))

    def line(self) -> str:
        """Format the status as one line.

        >>> Status(3, 9, 1234, 60.0, 180.0, 20.5, 3000.0).line()
        ' 25 %  1:00 gone, 3:00 left; 1,234 hands, 20 hands/s, 3,000 decisions/s'
        """
        parts = [
            f"{100 * self.share:3.0f} %  {clock(self.gone)} gone, {clock(self.left)} left",
            f"{self.hands:,} hands, {self.hands_per_s:,.0f} hands/s, {self.decisions_per_s:,.0f} decisions/s",
        ]
        parts += [f"against {agent}: {sentence(found)}" for agent, found in list(self.matches.items())[:1]]
        return "; ".join(parts)

    def table(self) -> Any:
        """Format the status as a table for rich."""
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        bar = Table.grid(padding=(0, 2))
        times = f"{100 * self.share:3.0f} %  {clock(self.gone)} gone, {clock(self.left)} left"
        bar.add_row(ProgressBar(total=1.0, completed=self.share, width=24), times)
        total = f" of {self.total:,}" if self.total else ""
        speed = {
            "update": f"{self.update:,}{total}",
            "hands": f"{self.hands:,}",
            "hands/s": f"{self.hands_per_s:,.0f}",
            "decisions/s": f"{self.decisions_per_s:,.0f}",
        }
        learning = {name.replace("_", " "): f"{value:.3g}" for name, value in self.learning.items()}
        parts: list[Any] = [bar, _row(speed), *([_row(learning)] if learning else [])]
        if self.matches:
            table = _plain_table(f"at {self.matches_at:,} hands", "levels/hand", "points/hand", "hands won %")
            for agent, found in self.matches.items():
                # Text, because rich parses markup in a str.
                name = Text(printable(agent), no_wrap=True, overflow="ellipsis")
                table.add_row(name, *(Text(text, no_wrap=True) for text in figures(found)))
            parts.append(table)
        return Group(*parts)


def _row(values: Mapping[str, str]) -> Any:
    """Lay out names in one line and their values below."""
    table = _plain_table(*values)
    table.add_row(*values.values())
    return table


def _plain_table(first: str, *others: str) -> Any:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column(first)
    for name in others:
        table.add_column(name, justify="right")
    return table


class Progress:
    """Shows the status on a stream: as a live table in a terminal, else as lines."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        self._live: Any = None
        self._last = -math.inf
        if self._stream.isatty():
            from rich.console import Console
            from rich.live import Live

            console = Console(file=self._stream)
            if not console.is_dumb_terminal:  # a dumb terminal cannot overwrite lines
                # Refreshed by hand: a refresh thread would take time from the learner.
                self._live = Live(console=console, auto_refresh=False)
                self._live.start()

    def say(self, text: str) -> None:
        """Print a line that stays."""
        if self._live is not None:
            self._live.console.print(text, markup=False, highlight=False)
        else:
            print(text, file=self._stream, flush=True)

    def show(self, status: Status, *, force: bool = False) -> None:
        """Show the status, unless it was shown very recently."""
        now = time.monotonic()
        if not force and now - self._last < (PLAIN_SECONDS if self._live is None else LIVE_SECONDS):
            return
        self._last = now
        if self._live is None:
            self.say(status.line())
        else:
            self._live.update(status.table(), refresh=True)

    def close(self) -> None:
        """Leave the last table on the screen."""
        if self._live is not None:
            self._live.stop()
            self._live = None


def figures(found: Found) -> list[str]:
    """Format levels and points per hand and the share of hands won in per cent, each with its interval.

    >>> half = Interval(0.5, 0.25, 0.75)
    >>> figures({"levels": half, "points": Interval(-3, -9, 3), "hands_won": half})
    ['+0.50 [+0.25, +0.75]', '-3 [-9, +3]', '50 [25, 75]']
    """
    won = format_interval(found["hands_won"], 0, 100, signed=False)
    return [format_interval(found["levels"], 2), format_interval(found["points"], 0), won]


def sentence(found: Found) -> str:
    """Format the result of a match in words."""
    levels, points = format_interval(found["levels"], 2), format_interval(found["points"], 0)
    return f"{levels} levels, {points} points, {100 * found['hands_won'].mean:.0f} % of hands"


def clock(seconds: float) -> str:
    """Format a duration as minutes and seconds.

    >>> clock(187), clock(7261)
    ('3:07', '2:01:01')
    """
    whole = max(0, round(seconds))
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60}:{rest % 60:02d}"
