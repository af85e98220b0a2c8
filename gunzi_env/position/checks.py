"""Validation of positions: numbers, plays, sizes, and the phases to which each field belongs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from gunzi_env.cards import FACE_NAMES, parse_cards
from gunzi_env.position.text import PositionError
from gunzi_env.rules import Rules

PHASES = ("show", "bid", "tribute", "bury", "jokers", "lead", "follow")
"""The phases in which a position can wait for a decision; ``follow`` is ``lead`` with an open trick."""

BIDDING, PLAYING = ("show", "bid"), ("lead", "follow")

EXCHANGED = ("jokers", *PLAYING)
"""The phases after the exchange or a dry pot."""

_BELONGS: dict[str, tuple[tuple[str, ...], str]] = {
    "kitty shown": (PHASES[2:], "the bidding is still open (R6.1)"),
    "kitty public": (EXCHANGED, "nothing is buried yet (R6.4)"),
    "dry": (EXCHANGED, "the kitty has not been tested yet (R6.6)"),
    "played": (PLAYING, "no card has been played"),
    "void": (PLAYING, "no card has been played"),
    "no pair": (PLAYING, "no card has been played"),
    "no triple": (PLAYING, "no card has been played"),
    "leader": (PLAYING, "no trick is led yet"),
    "seat": (PHASES[:5], "the leader decides: give the leader"),
    "passes": (BIDDING, "the bidding is over (R4.6)"),
}
"""The phases to which a field belongs, and the reason why it does not belong to the others."""


def check_phase(phase: str, given: Mapping[str, bool]) -> None:
    """Check the name of the phase, and that every field ``given`` belongs to it."""
    if phase not in PHASES:
        raise PositionError(f"phase is {phase!r}: it must be one of {', '.join(PHASES)}")
    for name, (phases, why) in _BELONGS.items():
        if given[name] and phase not in phases:
            raise PositionError(f"{name} is given, but in phase {phase} {why}")


def check_seats(**seats: int | None) -> None:
    """Check that each number, unless None, is a seat."""
    for name, number in seats.items():
        if number is not None and (not _is_whole(number) or number not in range(4)):
            raise PositionError(f"{name} is {number!r}: it must be within 0..3")


def check_numbers(rules: Rules, score: int, blood: int) -> None:
    """Check the score (R8.4) and the type of ``blood``; :func:`gunzi_env.published.starts.check` checks its range."""
    if not _is_whole(score) or score % 5 or not 0 <= score <= rules.max_score:
        raise PositionError(f"score is {score!r}: it must be a multiple of 5 within 0..{rules.max_score} (R8.4)")
    if not _is_whole(blood):
        raise PositionError(f"blood is {blood!r}: it must be a whole number")


def _is_whole(number: object) -> bool:
    return isinstance(number, int | np.integer) and not isinstance(number, bool)


def check_kitty(phase: str, dry: bool, kitty_shown: bool, bid: str | None) -> None:
    """Check that the bidding and the kitty fit together (R6.1)."""
    if dry and not kitty_shown:
        raise PositionError("dry is yes, but the kitty was not shown: only a shown kitty can be dry (R6.6)")
    if bid is not None and phase == "show":
        raise PositionError(f"bid is {bid!r}, but in phase show there are no bids (R4.2)")
    if bid is not None and phase != "bid" and not kitty_shown:
        raise PositionError(f"bid is {bid!r}, so the kitty was shown (R6.1)")


def check_trick(phase: str, trick: Sequence[str], leader: int) -> None:
    """Check that an open trick has one to three plays, all as long as the lead (R7.2, R7.3)."""
    if (phase == "follow") != bool(trick) and phase != "lead":
        raise PositionError(f"phase is {phase!r} and the trick has {len(trick)} plays: only in phase follow it has any")
    if len(trick) > 3:
        raise PositionError(f"the trick has {len(trick)} plays: an open trick has at most 3")
    number = 0
    for k, text in enumerate(trick):
        faces, seat = parse_cards(text), (leader + k) % 4
        if k == 0:
            number = len(faces)
            if len(set(faces)) != 1:
                raise PositionError(
                    f"seat {seat} cannot lead {text!r}: one card or several identical cards are led (R7.2)"
                )
        if len(faces) != number:
            raise PositionError(
                f"seat {seat} cannot play {text!r}: it has {len(faces)} cards, the lead has {number} (R7.3)"
            )


def check_cards(
    rules: Rules, hands: Sequence[str], kitty: str, played: Sequence[str], trick: Mapping[int, str]
) -> None:
    """Check the number of copies of each face (R1.3), and the sizes of hands and kitty (R1.2)."""
    if len(hands) != 4 or len(played) != 4:
        raise PositionError("hands and played must each have four entries, one per seat")
    named = Counter(parse_cards(kitty))
    if named.total() > rules.kitty_size:
        raise PositionError(f"kitty has {named.total()} cards: it has at most {rules.kitty_size} (R1.2)")
    for s in range(4):
        own = Counter(parse_cards(f"{hands[s]} {trick.get(s, '')} {played[s]}"))
        if own.total() > rules.hand_size:
            raise PositionError(
                f"hand {s} has {own.total()} cards including those played: a hand has at most {rules.hand_size} (R1.2)"
            )
        named += own
    for face, number in named.items():
        if number > rules.decks:
            raise PositionError(f"{number} copies of {FACE_NAMES[face]} in all: there are {rules.decks}")


__all__ = [
    "BIDDING",
    "EXCHANGED",
    "PHASES",
    "PLAYING",
    "check_cards",
    "check_kitty",
    "check_numbers",
    "check_phase",
    "check_seats",
    "check_trick",
]
