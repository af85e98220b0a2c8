"""The content of metrics.jsonl as columns: the updates of a run, and its matches against each agent. No torch."""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from gunzi_eval.matches.hands import Metrics
from gunzi_eval.stats.intervals import Interval
from gunzi_train.folder import METRICS

_COUNTERS = {
    "": ("update", "hands", "decisions"),
    "speed": ("seconds", "hands_per_s", "decisions_per_s"),
}
"""Columns of every run, by the part of an update's row that holds them."""
FIGURES = tuple(f.name for f in fields(Metrics))
"""Figures of a match: levels, points, hands_won."""


@dataclass(frozen=True)
class Match:
    """A match against one agent, and its position in the run."""

    update: int
    hands: int
    seconds: float
    """Seconds of playing and learning until then; NaN if the row of the update is missing."""
    deals: int
    levels: Interval
    points: Interval
    hands_won: Interval


class History:
    """The rows of a run folder that were read so far.

    ``columns[name]`` holds a float64 for each update (NaN if its row has none), in the order of the run;
    ``matches[agent]`` holds the matches against an agent.

    Args:
        run: the folder.
        figures: figures of an update to keep, those that the algorithm declares.
    """

    def __init__(self, run: Path, figures: Sequence[str] = ()) -> None:
        self._path = run / METRICS
        self._offset = 0
        self._parts = _COUNTERS | {"train": tuple(figures)}
        self.columns: dict[str, array[float]] = {name: array("d") for part in self._parts.values() for name in part}
        self.matches: dict[str, list[Match]] = {}

    def read(self) -> History:
        """Read the new rows; foreign or incomplete rows are skipped."""
        try:
            with open(self._path, "rb") as file:
                file.seek(self._offset)
                for line in file:
                    if not line.endswith(b"\n"):
                        break
                    self._offset += len(line)
                    self._take(line)
        except FileNotFoundError:
            pass
        return self

    def last(self, name: str) -> float:
        """Return the newest value of a column, NaN without updates."""
        column = self.columns.get(name)
        return column[-1] if column else math.nan

    @property
    def newest(self) -> Match | None:
        """Newest match against the first agent; None if none was played."""
        return next((found[-1] for found in self.matches.values()), None)

    def _take(self, line: bytes) -> None:
        try:
            row = json.loads(line)
            if "match" in row:
                self._take_match(row)
            elif "train" in row:
                parts = [(row[part] if part else row, names) for part, names in self._parts.items()]
                found = {name: _number(part, name) for part, names in parts for name in names}  # all or nothing
                for name, value in found.items():
                    self.columns[name].append(value)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return

    def _take_match(self, row: dict[str, Any]) -> None:
        match, update = row["match"], int(row["update"])
        seconds = self.last("seconds") if self.last("update") == update else math.nan
        figures = {name: Interval(**{key: match[name][key] for key in ("mean", "low", "high")}) for name in FIGURES}
        found = Match(update, int(row["hands"]), seconds, int(match["deals"]), **figures)
        self.matches.setdefault(str(match["opponent"]), []).append(found)

    def until(self, agent: str, by: str, most: float) -> Match | None:
        """Return the last match against ``agent`` whose ``by`` ("hands", "seconds") is at most ``most``."""
        return next((match for match in reversed(self.matches.get(agent, [])) if getattr(match, by) <= most), None)


def _number(row: dict[str, Any], name: str) -> float:
    value = row.get(name)
    return math.nan if value is None else float(value)
