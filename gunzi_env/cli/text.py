"""Text that the commands print: tables, and names with unprintable characters escaped."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

_UNLIMITED = 10_000
"""Columns."""


def printable(text: str) -> str:
    r"""Escape unprintable characters.

    >>> print(printable("a\x07b"))
    a\x07b
    """
    return "".join(letter if letter.isprintable() else f"\\x{ord(letter):02x}" for letter in text)


def table_text(heading: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1, width: int | None = None) -> str:
    """Format a table as plain text, the first ``left`` columns aligned to the left, the others to the right.

    A table wider than ``width`` is printed as one block of lines per row. The default width is that of the terminal;
    piped output is not limited.

    >>> print(table_text(["agent", "Elo"], [["greedy", "382"], ["uniform", "0"]]))
    agent    Elo
    ────────────
    greedy   382
    uniform    0
    >>> print(table_text(["agent", "Elo"], [["greedy", "382"], ["uniform", "0"]], width=8))
    agent  greedy
    Elo    382
    <BLANKLINE>
    agent  uniform
    Elo    0
    """
    text = _aligned([heading, *rows], left, rule=True)
    if width is None:
        width = get_terminal_size().columns if sys.stdout.isatty() else len(text)
    if max(map(len, text.splitlines())) <= width:
        return text
    return "\n\n".join(_aligned(list(zip(heading, row, strict=True)), left=2) for row in rows)


def _aligned(rows: Sequence[Sequence[str]], left: int, rule: bool = False) -> str:
    """Align the columns; ``rule`` underlines the first row."""
    from rich.box import SIMPLE
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE, show_header=rule, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    heading, body = (rows[0], rows[1:]) if rule else ([""] * len(rows[0]), rows)
    for number, title in enumerate(heading):
        table.add_column(Text(printable(title)), justify="left" if number < left else "right", no_wrap=True)
    for row in body:
        table.add_row(*(Text(printable(cell)) for cell in row))
    return "\n".join(line.rstrip() for line in _text_of(table, color_system=None, width=_UNLIMITED).splitlines())


def show_table(table: Table) -> None:
    """Print one of rich's tables, at full width if the output is not a terminal."""
    # Piped output has no width of its own, and wrapped tables are hard to read.
    print(_text_of(table, width=None if sys.stdout.isatty() else 160), end="", flush=True)


def _text_of(table: Table, **options: Any) -> str:
    """Render a table without printing it: rich turns a closed pipe into exit code 1."""
    from rich.console import Console

    console = Console(**options)
    with console.capture() as text:
        console.print(table)
    return text.get()
