"""What metrics.jsonl tells of a run, as columns: its updates, and its matches against each agent. No torch."""

from __future__ import annotations

import json
import math
from array import array
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from gunzi_eval.matches.hands import Metrics
from gunzi_eval.stats.intervals import Interval
from gunzi_train.folder import METRICS

_PARTS = {
    "": ("update", "hands", "decisions"),
    "speed": ("seconds", "hands_per_s", "decisions_per_s"),
    "train": ("policy_loss", "value_loss", "entropy", "kl", "explained_variance"),
}
"""The figures that are kept of an update's row, by the part of the row that they stand in."""
COLUMNS = tuple(name for names in _PARTS.values() for name in names)
FIGURES = tuple(f.name for f in fields(Metrics))
"""Of a match: levels, points, hands_won."""


@dataclass(frozen=True)
class Match:
    """A match against one agent, and where in the run it was played."""

    update: int
    hands: int
    seconds: float
    """Of playing and learning until then; NaN where the update's row is not there."""
    deals: int
    levels: Interval
    points: Interval
    hands_won: Interval


class History:
    """The rows of a run folder, read so far.

    ``columns[name]`` has a float64 for each update (NaN where the row has none), in the order of the run;
    ``matches[agent]`` the matches against it.
    """

    def __init__(self, run: Path) -> None:
        self._path = run / METRICS
        self._offset = 0
        self.columns: dict[str, array[float]] = {name: array("d") for name in COLUMNS}
        self.matches: dict[str, list[Match]] = {}

    def read(self) -> History:
        """Take in what was written since; rows that are none of ours, or not whole yet, are passed over."""
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
        """The newest figure of a column, NaN without updates."""
        return self.columns[name][-1] if self.columns[name] else math.nan

    @property
    def newest(self) -> Match | None:
        """The newest match against the first agent; None where none was played."""
        return next((found[-1] for found in self.matches.values()), None)

    def _take(self, line: bytes) -> None:
        try:
            row = json.loads(line)
            if "match" in row:
                self._take_match(row)
            elif "train" in row:
                parts = [(row[part] if part else row, names) for part, names in _PARTS.items()]
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
        """The last match against ``agent`` whose figure ``by`` ("hands", "seconds") is no more than ``most``."""
        return next((match for match in reversed(self.matches.get(agent, [])) if getattr(match, by) <= most), None)


def _number(row: dict[str, Any], name: str) -> float:
    value = row.get(name)
    return math.nan if value is None else float(value)
