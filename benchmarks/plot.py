"""Plot of the scaling figures. The same figures give the same file, byte for byte."""

from __future__ import annotations

import hashlib
import importlib
import json
from pathlib import Path
from typing import Any

from benchmarks.results import Section

ENOUGH = 256
"""Smallest number of tables for which process growth is a useful measure of memory per table."""

_HASH_SALT = "gunzi"


def digest(section: Section) -> str:
    """Return a digest of the figures. It is stored in the plot file."""
    return hashlib.sha256(json.dumps(section["rows"], sort_keys=True).encode()).hexdigest()[:16]


def shows(path: Path, section: Section) -> bool:
    """Return whether the file was drawn from these figures."""
    return path.exists() and digest(section) in path.read_text(encoding="utf-8")


def draw(section: Section, path: Path) -> None:
    """Draw speed and memory against the number of tables. Needs matplotlib (extra ``bench``)."""
    matplotlib = importlib.import_module("matplotlib")
    matplotlib.use("svg")
    with matplotlib.rc_context({"svg.hashsalt": _HASH_SALT, "svg.fonttype": "none"}):
        figure = _figure(section["rows"])
        # No date and no version, so that the file changes only with the figures.
        metadata = {"Date": None, "Creator": None, "Description": f"figures {digest(section)}"}
        figure.savefig(path, format="svg", metadata=metadata)


def _figure(rows: list[dict[str, float]]) -> Any:
    figure = importlib.import_module("matplotlib.figure").Figure(figsize=(8, 3.2), layout="constrained")
    speed, memory = figure.subplots(1, 2)
    for axis, title, lines in (
        (speed, "decisions per CPU second", (("engine", "engine"), ("observed", "with observation and mask"))),
        (memory, "bytes per table", (("resident", "growth of the process"), ("arrays", "arrays and buffers"))),
    ):
        for key, label in lines:
            shown = [(row["num"], row[key]) for row in rows if key != "resident" or row["num"] >= ENOUGH]
            axis.plot(*zip(*shown), marker="o", label=label)
        axis.set_xscale("log")
        axis.set_title(title)
        axis.set_xlabel("tables")
        axis.grid(alpha=0.3)
        axis.legend()
    speed.set_yscale("log")
    memory.set_ylim(bottom=0)
    return figure
