"""Reading records for the commands: the file, the selected hands, and a title."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from gunzi_env import record
from gunzi_env.cli.options import UsageError
from gunzi_env.record import Record, RecordError


def read(file: Path) -> Record:
    """Read a record.

    Raises:
        RecordError: the file cannot be read or is not a record; the message names it.
    """
    try:
        return record.parse(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise RecordError(f"{file}: {error.strerror or error}") from None
    except ValueError as error:  # includes bytes that are not UTF-8
        raise RecordError(f"{file}: {error}") from None


def hand_numbers(game: Record, file: Path, hand: int | None) -> list[int]:
    """Return the number of the hand selected by ``--hand``, or of all hands without it.

    Raises:
        RecordError: the record has no hands.
        UsageError: there is no hand with this number.
    """
    if not game.hands:
        raise RecordError(f"{file}: the record has no hands")
    if hand is None:
        return list(range(len(game.hands)))
    if not 0 <= hand < len(game.hands):
        raise UsageError(f"--hand is {hand}, the record has hands 0 to {len(game.hands) - 1}")
    return [hand]


@contextlib.contextmanager
def naming(file: Path, number: int) -> Iterator[None]:
    """Turn errors during the replay of a hand into a :class:`RecordError` that names the file and the hand."""
    try:
        yield
    except ValueError as error:
        raise RecordError(f"{file}: hand {number}: {error}") from None


def title(game: Record, file: Path) -> str:
    """Describe a record in one line."""
    players = ", ".join(f"seat {seat}: {name}" for seat, name in enumerate(game.players)) or "players unknown"
    return f"{file.name}: rules {game.rules.name}, hands: {len(game.hands)}; {players}"
