"""What a run shows of itself: a table that is rewritten on a terminal, and a line now and then elsewhere."""

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
"""Between lines where the output is no terminal."""
LIVE_SECONDS = 0.25
"""Between tables on a terminal."""
LEARNING = ("policy_loss", "value_loss", "entropy", "kl", "clipped", "explained_variance", "lr")
"""Figures of an update that the table shows."""

Found = Mapping[str, Interval]
"""Levels, points and hands_won of a match."""


@dataclass(frozen=True)
class Status:
    """How a run is doing."""

    update: int
    total: int
    """Of updates in the schedule; 0 as long as that is not known."""
    hands: int
    gone: float
    """Seconds since the command started, and about so many are ..."""
    left: float
    hands_per_s: float
    decisions_per_s: float
    learning: Mapping[str, float] = field(default_factory=dict)
    """Of the last update, by the names in metrics.jsonl."""
    matches: Mapping[str, Found] = field(default_factory=dict)
    """The last match against each agent, ..."""
    matches_at: int = 0
    """... played after so many hands."""

    @property
    def share(self) -> float:
        """How much of it is done, 0 to 1."""
        return min(1.0, self.gone / max(1e-6, self.gone + self.left))

    def line(self) -> str:
        """All in one line.

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
        """The same and more for a terminal, to be printed by rich."""
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
        shown = [name for name in LEARNING if name in self.learning]
        learning = {name.replace("_", " "): f"{self.learning[name]:.3g}" for name in shown}
        parts: list[Any] = [bar, _row(speed), *([_row(learning)] if learning else [])]
        if self.matches:
            table = _plain_table(f"at {self.matches_at:,} hands", "levels/hand", "points/hand", "hands won %")
            for agent, found in self.matches.items():
                # Texts: in a str rich would look for markup.
                name = Text(printable(agent), no_wrap=True, overflow="ellipsis")
                table.add_row(name, *(Text(text, no_wrap=True) for text in figures(found)))
            parts.append(table)
        return Group(*parts)


def _row(values: Mapping[str, str]) -> Any:
    """Names in one line, their values below."""
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
    """Shows the status on a stream: as a table if it is a terminal, else as a line now and then."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        self._live: Any = None
        self._last = -math.inf
        if self._stream.isatty():
            from rich.console import Console
            from rich.live import Live

            console = Console(file=self._stream)
            if not console.is_dumb_terminal:  # which cannot go back to write over what stands there
                # Drawn by hand: a thread that did it would take time from the learner's.
                self._live = Live(console=console, auto_refresh=False)
                self._live.start()

    def say(self, text: str) -> None:
        """A whole line that stays."""
        if self._live is not None:
            self._live.console.print(text, markup=False, highlight=False)
        else:
            print(text, file=self._stream, flush=True)

    def show(self, status: Status, *, force: bool = False) -> None:
        """How the run is doing, unless that was shown just now."""
        now = time.monotonic()
        if not force and now - self._last < (PLAIN_SECONDS if self._live is None else LIVE_SECONDS):
            return
        self._last = now
        if self._live is None:
            self.say(status.line())
        else:
            self._live.update(status.table(), refresh=True)

    def close(self) -> None:
        """Leave what stands there."""
        if self._live is not None:
            self._live.stop()
            self._live = None


def figures(found: Found) -> list[str]:
    """Levels and points a hand and the share of hands won in per cent, each with its interval.

    >>> half = Interval(0.5, 0.25, 0.75)
    >>> figures({"levels": half, "points": Interval(-3, -9, 3), "hands_won": half})
    ['+0.50 [+0.25, +0.75]', '-3 [-9, +3]', '50 [25, 75]']
    """
    won = format_interval(found["hands_won"], 0, 100, signed=False)
    return [format_interval(found["levels"], 2), format_interval(found["points"], 0), won]


def sentence(found: Found) -> str:
    """The same in words."""
    levels, points = format_interval(found["levels"], 2), format_interval(found["points"], 0)
    return f"{levels} levels, {points} points, {100 * found['hands_won'].mean:.0f} % of hands"


def clock(seconds: float) -> str:
    """Minutes and seconds.

    >>> clock(187), clock(7261)
    ('3:07', '2:01:01')
    """
    whole = max(0, round(seconds))
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60}:{rest % 60:02d}"
