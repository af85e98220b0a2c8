"""Text that the commands print: tables, and names with unprintable characters escaped."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from shutil import get_terminal_size

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
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE, show_header=rule, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    heading, body = (rows[0], rows[1:]) if rule else ([""] * len(rows[0]), rows)
    for number, title in enumerate(heading):
        table.add_column(Text(printable(title)), justify="left" if number < left else "right", no_wrap=True)
    for row in body:
        table.add_row(*(Text(printable(cell)) for cell in row))
    console = Console(color_system=None, width=_UNLIMITED)
    with console.capture() as text:  # not printed by rich, which turns a closed pipe into exit code 1
        console.print(table)
    return "\n".join(line.rstrip() for line in text.get().splitlines())
