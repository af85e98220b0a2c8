"""Show a recorded game trick by trick."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from gunzi_env import record
from gunzi_env.record import HandRecord, Record, RecordError
from gunzi_env.rules import Rules
from gunzi_env.tables import Tables
from gunzi_eval.arguments import UsageError, parse, say_next
from gunzi_eval.narrate import Narrator
from gunzi_eval.terminal import Painter, Spectator, show


@dataclass(frozen=True)
class Replay:
    """Show a recorded game trick by trick, with every result explained.

    example: gunzi demo --record hand.txt, then gunzi replay hand.txt
    """

    file: Positional[Path]
    """A record, as gunzi play --record and gunzi demo --record write it."""
    hand: int | None = None
    """Only the hand of this number, from 0."""


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


def show_hand(rules: Rules, hand: HandRecord, painter: Painter) -> None:
    """Show one hand from its opening to its last recorded decision.

    Raises:
        RecordError: the rules refuse what was recorded.
    """
    before: Tables | None = None
    action = 0
    for tables, text in record.replay_hand(rules, hand):
        if before is None:
            narrator, spectator = Narrator(tables), Spectator(tables, painter)
            spectator.show(narrator.opening())
        else:
            spectator.show(narrator.tell(before, action))
        if text:
            before, action = tables.clone(), _parsed(tables, text)
    if not hand.result:
        show(["The record ends here, before the end of the hand."])


def _parsed(tables: Tables, text: str) -> int:
    """The action of a recorded decision; what cannot be read is refused by the replay itself, with its ply."""
    try:
        return record.parse_action(tables, text)
    except ValueError:
        return tables.actions.PASS


def main(argv: list[str]) -> int:
    """``gunzi replay``."""
    if "" in argv:  # as a path it would mean the current folder
        raise UsageError("the name of the record is empty")
    config = parse(Replay, argv, "replay")
    game = read(config.file)
    if not game.hands:
        raise RecordError(f"{config.file}: the record has no hands")
    numbers = range(len(game.hands)) if config.hand is None else [config.hand]
    if config.hand is not None and not 0 <= config.hand < len(game.hands):
        raise UsageError(f"--hand is {config.hand}, the record has hands 0 to {len(game.hands) - 1}")
    painter = Painter()
    players = ", ".join(f"seat {seat}: {name}" for seat, name in enumerate(game.players)) or "players unknown"
    show([painter.strong(f"{config.file.name}: rules {game.rules.name}, hands: {len(game.hands)}; {players}")])
    for number in numbers:
        show(["", painter.strong(f"hand {number}")])
        try:
            show_hand(game.rules, game.hands[number], painter)
        except ValueError as error:
            raise RecordError(f"{config.file}: hand {number}: {error}") from None
    say_next("gunzi play, to sit down yourself")
    return 0
