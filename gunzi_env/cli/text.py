"""Text that the commands print: tables, and names that may hold anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table


def printable(text: str) -> str:
    """The text with characters that do not print written out."""
    return "".join(letter if letter.isprintable() else f"\\x{ord(letter):02x}" for letter in text)


def table_text(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells, a heading first, as aligned text: the first column to the left, the others to the right."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.rjust(width) if k else cell.ljust(width) for k, (cell, width) in enumerate(zip(row, widths)))
        for row in rows
    )


def show_table(table: Table) -> None:
    """Print one of rich's tables, at full width where the output is no terminal."""
    from rich.console import Console

    # Piped output has no width of its own, and a wrapped table cannot be read. It is printed as text, because rich
    # makes a closed pipe an exit with code 1.
    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    with console.capture() as text:
        console.print(table)
    print(text.get(), end="", flush=True)
