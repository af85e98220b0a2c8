"""The plot of the scaling figures, the same bytes for the same figures."""

from __future__ import annotations

import hashlib
import importlib
import json
from pathlib import Path
from typing import Any

from benchmarks.results import Section

ENOUGH = 256
"""Tables from which on the growth of a process says something of a table."""

_HASH_SALT = "gunzi"


def digest(section: Section) -> str:
    """Names the figures that a plot shows; it stands in the file."""
    return hashlib.sha256(json.dumps(section["rows"], sort_keys=True).encode()).hexdigest()[:16]


def shows(path: Path, section: Section) -> bool:
    """Whether the file has been drawn from these figures."""
    return path.exists() and digest(section) in path.read_text(encoding="utf-8")


def draw(section: Section, path: Path) -> None:
    """Draw speed and memory over the number of tables; needs matplotlib (extra ``bench``)."""
    matplotlib = importlib.import_module("matplotlib")
    matplotlib.use("svg")
    with matplotlib.rc_context({"svg.hashsalt": _HASH_SALT, "svg.fonttype": "none"}):
        figure = _figure(section["rows"])
        # No date and no version: they would change the file when the figures do not.
        metadata = {"Date": None, "Creator": None, "Description": f"figures {digest(section)}"}
        figure.savefig(path, format="svg", metadata=metadata)


def _figure(rows: list[dict[str, float]]) -> Any:
    figure = importlib.import_module("matplotlib.figure").Figure(figsize=(8, 3.2), layout="constrained")
    speed, memory = figure.subplots(1, 2)
    for axis, title, lines in (
        (speed, "decisions per CPU second", (("engine", "engine"), ("observed", "with observation and mask"))),
        (memory, "bytes a table", (("resident", "growth of the process"), ("arrays", "arrays and buffers"))),
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
