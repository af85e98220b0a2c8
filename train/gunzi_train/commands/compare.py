"""Compare training runs: settings, strength at equal hands and time.

The strength of a run at a number of hands or seconds is that of its last match before. The intervals cover the deals
of that match only, not the choice of the seed: two single runs may differ although their settings do not matter.

example: gunzi compare runs/mine runs/other
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tyro.conf import Positional

from gunzi_env.cli.options import UsageError, check_writable, parse, say_next, write_whole
from gunzi_env.cli.text import table_text
from gunzi_eval.stats.intervals import Interval, format_interval
from gunzi_train.logs.history import FIGURES, Match
from gunzi_train.logs.progress import clock
from gunzi_train.logs.runs import Run, count

MARKS = (0.5, 1.0)
"""Runs are compared at these fractions of the hands (or seconds) of the shortest run."""
Content = dict[str, Any]


@dataclass(frozen=True)
class Compare:
    """Options of ``gunzi compare``."""

    runs: Positional[tuple[Path, ...]] = ()
    """Two or more run folders."""
    json: Path | None = None
    """Write all figures to this file as JSON."""


def main(argv: list[str]) -> int:
    """``gunzi compare``.

    Raises:
        UsageError: fewer than two runs.
        RunFolderError: a folder without a run.
    """
    config = parse(Compare, argv, "compare")
    if len(config.runs) < 2:
        raise UsageError("name two or more run folders, e.g. runs/mine runs/other; gunzi runs lists them")
    check_writable(config.json, "--json")
    content = comparison([Run.of(path) for path in config.runs])
    show_comparison(content)
    if config.json is not None:
        write_whole(config.json, json.dumps(content, indent=2, allow_nan=False) + "\n")
        print(f"figures written to {config.json}")
    say_next(f"gunzi arena {shlex.join(content['runs'])} greedy, to compare them on the same deals")
    return 0


def comparison(runs: Sequence[Run]) -> Content:
    """Return the comparison as plain JSON types, in the order of the runs; None where a run lacks a figure.

    ``matches[agent]["hands" | "seconds"]`` is a list with one entry per mark: ``{"at": number, "runs": [match, ...]}``.
    """
    settings = {name: [run.settings.get(name) for run in runs] for run in runs for name in run.settings}
    columns = dict.fromkeys(name for run in runs for name in run.history.columns)
    agents = [agent for agent in runs[0].history.matches if all(agent in run.history.matches for run in runs)]
    return {
        "runs": [str(run.folder) for run in runs],
        "settings": {name: values for name, values in settings.items() if any(v != values[0] for v in values)},
        "newest": {name: [_finite(run.history.last(name)) for run in runs] for name in columns},
        "matches": {agent: {by: _marks(runs, agent, by) for by in ("hands", "seconds")} for agent in agents},
    }


def _marks(runs: Sequence[Run], agent: str, by: str) -> list[Content]:
    """Return the last match of each run before each mark; an empty list if a run has no times."""
    last = [getattr(run.history.matches[agent][-1], by) for run in runs]
    if any(map(math.isnan, last)):
        return []
    most = min(last)
    return [
        {"at": share * most, "runs": [_match(run.history.until(agent, by, share * most)) for run in runs]}
        for share in MARKS
    ]


def _match(match: Match | None) -> Content | None:
    if match is None:
        return None
    place = {"update": match.update, "hands": match.hands, "seconds": _finite(match.seconds), "deals": match.deals}
    return place | {name: getattr(match, name).as_dict() for name in FIGURES}


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def show_comparison(content: Content) -> None:
    """Print a comparison as tables with one column per run."""
    names = content["runs"]
    if content["settings"]:
        settings = content["settings"].items()
        rows = [[name, *(json.dumps(value, ensure_ascii=False) for value in values)] for name, values in settings]
        _show(["differing settings", *names], rows)
    else:
        print("the settings are equal")
    newest = content["newest"]
    rows = [[name.replace("_", " "), *(_shown(name, value) for value in values)] for name, values in newest.items()]
    _show(["at the end of the log", *names], rows)
    for agent, kinds in content["matches"].items():
        rows = [line for by in kinds for mark in kinds[by] for line in _mark_rows(by, mark)]
        _show([f"against {agent}", *names], rows)
    if not content["matches"]:
        print("no agent was played by all runs")


def _mark_rows(by: str, mark: Content) -> list[list[str]]:
    title = f"until {_shown(by, mark['at'])}" + (" hands" if by == "hands" else "")
    rows = [[f"{title}: played at", *(_shown(by, match and match[by]) for match in mark["runs"])]]
    for name, digits in (("levels", 2), ("points", 0)):
        cells = ["-" if match is None else format_interval(Interval(**match[name]), digits) for match in mark["runs"]]
        rows.append([f"  {name}/hand", *cells])
    return rows


def _shown(name: str, value: float | None) -> str:
    """Format a figure of the log; seconds as minutes and seconds.

    >>> _shown("seconds", 61.0), _shown("hands", 1234.0), _shown("kl", 0.01234), _shown("kl", None)
    ('1:01', '1,234', '0.0123', '-')
    """
    if value is None:
        return "-"
    if name == "seconds":
        return clock(value)
    return count(value) if name in ("update", "hands", "decisions") or name.endswith("_per_s") else f"{value:.3g}"


def _show(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    print(f"{table_text(heading, rows)}\n", flush=True)
