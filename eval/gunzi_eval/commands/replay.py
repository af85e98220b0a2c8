"""Show a recorded game trick by trick, with every result explained.

examples:
  gunzi demo --record hand.txt
  gunzi replay hand.txt
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from gunzi_env import record
from gunzi_env.cli.options import UsageError, parse, say_next
from gunzi_env.record import HandRecord
from gunzi_env.rules import Rules
from gunzi_env.tables import Tables
from gunzi_eval.table.narrator import Narrator
from gunzi_eval.table.records import hand_numbers, naming, read, title
from gunzi_eval.table.terminal import Painter, Spectator, show


@dataclass(frozen=True)
class ReplayOptions:
    """Options of ``gunzi replay``."""

    file: Positional[Path]
    """Record written by gunzi play --record or gunzi demo --record."""
    hand: int | None = None
    """Show only the hand with this number, from 0."""
    plies: bool = False
    """Show every decision with its ply for gunzi explain --ply, from 0 in each hand."""


def show_hand(rules: Rules, hand: HandRecord, painter: Painter, plies: bool = False) -> None:
    """Show one hand from its opening to its last recorded decision; ``plies`` numbers each decision.

    Raises:
        RecordError: the rules refuse what was recorded.
    """
    before: Tables | None = None
    action = 0
    for ply, (tables, text) in enumerate(record.replay_hand(rules, hand)):
        if before is None:
            narrator, spectator = Narrator(tables), Spectator(tables, painter)
            spectator.show(narrator.opening())
        else:
            spectator.show(narrator.tell(before, action))
        if text:
            before, action = tables.clone(), _parsed(tables, text)
            if plies:
                show([f"{ply:>7}  seat {tables.seat[0]}: {text}"])
    if not hand.result:
        show(["The record ends here, before the end of the hand."])


def _parsed(tables: Tables, text: str) -> int:
    """Parse a recorded action; an invalid one becomes a pass here, and the replay refuses it with its ply."""
    try:
        return record.parse_action(tables, text)
    except ValueError:
        return tables.actions.PASS


def main(argv: list[str]) -> int:
    """Run ``gunzi replay``."""
    if "" in argv:  # an empty path is the current folder
        raise UsageError("the name of the record is empty")
    options = parse(ReplayOptions, argv, "replay")
    game = read(options.file)
    numbers = hand_numbers(game, options.file, options.hand)
    painter = Painter()
    show([painter.strong(title(game, options.file))])
    for number in numbers:
        show(["", painter.strong(f"hand {number}")])
        with naming(options.file, number):
            show_hand(game.rules, game.hands[number], painter, options.plies)
    say_next(f"gunzi explain {options.file}")
    return 0
