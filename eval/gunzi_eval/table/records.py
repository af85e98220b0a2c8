"""Records as the commands take them: a file, the hands chosen of it, and its title."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from gunzi_env import record
from gunzi_env.cli.options import UsageError
from gunzi_env.record import Record, RecordError


def read(file: Path) -> Record:
    """The record in a file.

    Raises:
        RecordError: it cannot be read, or is no record; the message names the file.
    """
    try:
        return record.parse(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise RecordError(f"{file}: {error.strerror or error}") from None
    except ValueError as error:  # also bytes that are no text
        raise RecordError(f"{file}: {error}") from None


def hand_numbers(game: Record, file: Path, hand: int | None) -> list[int]:
    """The hands that ``--hand`` chooses, all without it.

    Raises:
        RecordError: the record has none.
        UsageError: not this one.
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
    """Around the replay of a hand: what the rules refuse becomes a :class:`RecordError` that names file and hand."""
    try:
        yield
    except ValueError as error:
        raise RecordError(f"{file}: hand {number}: {error}") from None


def title(game: Record, file: Path) -> str:
    """What a record is of, in one line."""
    players = ", ".join(f"seat {seat}: {name}" for seat, name in enumerate(game.players)) or "players unknown"
    return f"{file.name}: rules {game.rules.name}, hands: {len(game.hands)}; {players}"
