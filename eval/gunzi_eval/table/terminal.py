"""Cards and events as lines for a terminal; colours where the terminal has them."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections.abc import Iterable
from shutil import get_terminal_size
from typing import TYPE_CHECKING

from gunzi_env import planes, render
from gunzi_env.cards import SUITS, format_cards, parse_face, rank_name
from gunzi_env.observe import View
from gunzi_env.order import TRUMP, provisional, to_faces
from gunzi_env.tables import Phase, Tables
from gunzi_eval.table.narrator import Event, Note, Play, Trick, seat_name
from gunzi_eval.table.outcome import Outcome, sentences

if TYPE_CHECKING:
    pass

_RED, _BOLD, _RESET = "\x1b[31m", "\x1b[1m", "\x1b[0m"
_WIDEST = 110
_CARD = re.compile(r"\b(?:[SHCD][2-9TJQKA]|LJ|BJ)\b")


def has_colour() -> bool:
    """Does stdout show colours? Pipes do not; NO_COLOR (no-color.org) switches them off."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def has_symbols() -> bool:
    """Can stdout's encoding show the signs of the suits?"""
    try:
        render.card_text(0).encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


class Painter:
    """Turns text into what this terminal can show."""

    def __init__(self, colour: bool | None = None, symbols: bool | None = None) -> None:
        self.colour = has_colour() if colour is None else colour
        self.symbols = has_symbols() if symbols is None else symbols

    def cards(self, text: str) -> str:
        """Cards such as ``"H9 H9 BJ"`` with suit signs and colours.

        >>> Painter(colour=False, symbols=True).cards("H9 S3 BJ")
        '♥9 ♠3 BJ'
        """
        if not self.symbols:
            return text
        return " ".join(render.card_text(parse_face(token), color=self.colour) for token in text.split())

    def typed(self, token: str) -> str:
        """A card as one types it, red suits in red."""
        return f"{_RED}{token}{_RESET}" if self.colour and token[0] in "HD" else token

    def strong(self, text: str) -> str:
        """Text that stands out."""
        return f"{_BOLD}{text}{_RESET}" if self.colour else text

    def event(self, event: Event, viewer: int | None = None) -> str:
        """One line for what happened."""
        if isinstance(event, Note):
            return _CARD.sub(lambda match: self.cards(match[0]), event.text)
        if isinstance(event, Play):
            name = seat_name(event.seat, viewer)
            verb = "lead" if event.leads else "play"
            return f"  {name} {verb}{'s' * (name != 'you')} {self.cards(event.cards)}"
        return self._won(event, viewer) if viewer is not None else self._trick(event)

    def _won(self, trick: Trick, viewer: int) -> str:
        name = seat_name(trick.winner, viewer)
        return self.strong(
            f"  trick {trick.number}: {name} win{'s' * (name != 'you')} {trick.points} points; S = {trick.score}"
        )

    def _trick(self, trick: Trick) -> str:
        plays = [f"{seat}: {self.cards(cards)}" for seat, cards in trick.plays]
        won = f"seat {trick.winner} wins {trick.points} points, S = {trick.score}"
        return f"{trick.number:>3}  {' | '.join(plays)}  -> {won}"


class Spectator:
    """Shows a hand to somebody who sees all cards: events, the table when play begins, whole tricks, the result."""

    def __init__(self, tables: Tables, painter: Painter) -> None:
        self.tables, self.painter = tables, painter
        self.drawn = False

    def show(self, events: Iterable[Event]) -> None:
        """Show some events, and the table once before the first lead."""
        # Single plays are left out: the finished trick has them all in one line.
        lines = [self.painter.event(event) for event in events if not isinstance(event, Play)]
        if self.tables.phase[0] == Phase.LEAD and not self.drawn:
            self.drawn = True
            lines += ["", render.ansi(self.tables, color=self.painter.colour), ""]
        if self.tables.phase[0] == Phase.OVER:
            lines += ["", *result(self.tables)]
        show(lines)


def result(tables: Tables) -> list[str]:
    """The explained result of a finished hand, wrapped to the terminal."""
    width = min(_WIDEST, get_terminal_size((_WIDEST, 24)).columns)
    return [textwrap.fill(line, width, subsequent_indent="  ") for line in sentences(Outcome.of(tables))]


def hand_lines(view: View, painter: Painter, row: int = 0) -> list[str]:
    """A hand as one types it: a line for each suit held, trumps on top, strongest cards first."""
    level, trump = int(view.level[row]), provisional(view.trump[row])
    table = view.layout
    copies = planes.to_counts(view.hand[:, row])
    suits = table.suit_of_slot[level]
    # Until trumps are known the hand is in the order of spades; cards that are trumps in any case stand with them.
    mixed = view.rules.mixed_trump_rank
    ranks = [2, *([] if mixed in (None, level) else [mixed]), level]  # R2.2, R2.6
    always = ", ".join(f"{rank_name(rank)}s" for rank in ranks)
    titles = {TRUMP: "trump" if view.trump[row] >= 0 else f"{SUITS[trump]}, {always}, jokers"}
    titles |= dict(enumerate(SUITS[suit] for suit in range(4) if suit != trump))
    lines = []
    for suit in (TRUMP, 0, 1, 2):
        slots = [
            slot
            for slot in range(planes.NUM_SLOTS - 1, -1, -1)
            if suits[slot] == suit
            for _ in range(int(copies[slot]))
        ]
        if slots:
            tokens = format_cards(to_faces(table, level, trump, slots)).split()
            lines.append(f"  {titles[suit]:<{max(map(len, titles.values()))}}  {' '.join(map(painter.typed, tokens))}")
    return lines


def show(lines: Iterable[str]) -> None:
    """Print lines at once, so that a pipe's reader sees them."""
    for line in lines:
        print(line)
    sys.stdout.flush()
