"""The results file (JSON, one section per command) and the formatting of numbers and tables."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results.json"

Section = dict[str, Any]


def load(path: Path = RESULTS) -> dict[str, Section]:
    """Return all sections; empty if the file does not exist."""
    sections: dict[str, Section] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return sections


def save(path: Path, name: str, section: Section) -> None:
    """Replace one section of the file."""
    sections = load(path) | {name: section}
    path.write_text(json.dumps(sections, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


def file_argument(text: str) -> Path:
    """Parse an output file argument; refuse it before measuring if its folder does not exist."""
    path = Path(text)
    if path.is_dir() or not path.resolve().parent.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is a folder or in a folder that does not exist")
    return path


def short(number: float) -> str:
    """Format a rate with three significant digits.

    >>> [short(n) for n in (1_234_567, 12_345, 2_345, 999.6, 7.5)]
    ['1.23 M', '12.3 k', '2.35 k', '1.00 k', '7.50']
    """
    for size, unit in ((1e6, " M"), (1e3, " k"), (1, "")):
        scaled = number / size
        if scaled >= 0.9995 or size == 1:
            places = 2 if scaled < 9.995 else 1 if scaled < 99.95 else 0
            return f"{scaled:.{places}f}{unit}"
    raise AssertionError


def table(heads: list[str], rows: list[list[str]], text: tuple[int, ...] = (0,)) -> str:
    """Return a Markdown table, padded to be readable in a terminal. The columns ``text`` are left-aligned."""
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]
    left = [i in text for i in range(len(heads))]

    def line(cells: list[str]) -> str:
        sides = ["<" if to_left else ">" for to_left in left]
        padded = [f"{cell:{side}{width}}" for cell, side, width in zip(cells, sides, widths)]
        return f"| {' | '.join(padded)} |"

    rule = ["-" * width if to_left else "-" * (width - 1) + ":" for width, to_left in zip(widths, left)]
    return "\n".join([line(heads), line(rule), *map(line, rows)])
