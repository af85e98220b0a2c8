"""What a position may say: numbers, plays and sizes that can be, and which field belongs to which phase."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from gunzi_env.cards import FACE_NAMES, parse_cards
from gunzi_env.position.text import PositionError
from gunzi_env.rules import Rules

PHASES = ("show", "bid", "tribute", "bury", "jokers", "lead", "follow")
"""Where a position can stand, about to ask a question of that phase; ``follow`` is ``lead`` with a trick begun."""

BIDDING, PLAYING = ("show", "bid"), ("lead", "follow")

EXCHANGED = ("jokers", *PLAYING)
"""The kitty lies where the exchange has left it, or is dry."""

_BELONGS: dict[str, tuple[tuple[str, ...], str]] = {
    "kitty shown": (PHASES[2:], "the bidding has still to settle it (R6.1)"),
    "kitty public": (EXCHANGED, "nothing is buried yet (R6.4)"),
    "dry": (EXCHANGED, "the kitty has still to be judged (R6.6)"),
    "played": (PLAYING, "no card has been played"),
    "void": (PLAYING, "no card has been played"),
    "no pair": (PLAYING, "no card has been played"),
    "no triple": (PLAYING, "no card has been played"),
    "leader": (PLAYING, "no trick is led"),
    "seat": (PHASES[:5], "the leader is asked: name the leader"),
    "passes": (BIDDING, "the bidding is over (R4.6)"),
}
"""The phases in which a field means something, and why not in the others."""


def check_phase(phase: str, said: Mapping[str, bool]) -> None:
    """Is this a phase, and does every field that is said mean something in it?"""
    if phase not in PHASES:
        raise PositionError(f"phase is {phase!r}: it must be one of {', '.join(PHASES)}")
    for name, (phases, why) in _BELONGS.items():
        if said[name] and phase not in phases:
            raise PositionError(f"{name} is said, but in phase {phase} {why}")


def check_seats(**seats: int | None) -> None:
    """Each number, where it is said, must be that of a seat."""
    for name, number in seats.items():
        if number is not None and (not _is_whole(number) or number not in range(4)):
            raise PositionError(f"{name} is {number!r}: it must be within 0..3")


def check_numbers(rules: Rules, score: int, blood: int) -> None:
    """R8.4; and whole numbers, of which :func:`gunzi_env.published.starts.check` knows how much blood can be owed."""
    if not _is_whole(score) or score % 5 or not 0 <= score <= rules.max_score:
        raise PositionError(f"score is {score!r}: it must be a multiple of 5 within 0..{rules.max_score} (R8.4)")
    if not _is_whole(blood):
        raise PositionError(f"blood is {blood!r}: it must be a whole number")


def _is_whole(number: object) -> bool:
    return isinstance(number, int | np.integer) and not isinstance(number, bool)


def check_kitty(phase: str, dry: bool, kitty_shown: bool, bid: str | None) -> None:
    """R6.1: what is said of the bidding and of the kitty must go together."""
    if dry and not kitty_shown:
        raise PositionError("dry is yes, but the kitty was not shown: only a shown one is dry (R6.6)")
    if bid is not None and phase == "show":
        raise PositionError(f"bid is {bid!r}, but in phase show nobody bids (R4.2)")
    if bid is not None and phase != "bid" and not kitty_shown:
        raise PositionError(f"bid is {bid!r}, and so the kitty was shown (R6.1)")


def check_trick(phase: str, trick: Sequence[str], leader: int) -> None:
    """A trick begun has one to three plays, all as long as the lead (R7.2, R7.3)."""
    if (phase == "follow") != bool(trick) and phase != "lead":
        raise PositionError(f"phase is {phase!r} and the trick has {len(trick)} plays: only in follow it has some")
    if len(trick) > 3:
        raise PositionError(f"the trick has {len(trick)} plays: one that still asks somebody has at most 3")
    number = 0
    for k, text in enumerate(trick):
        faces, seat = parse_cards(text), (leader + k) % 4
        if k == 0:
            number = len(faces)
            if len(set(faces)) != 1:
                raise PositionError(
                    f"seat {seat} cannot lead {text!r}: one card or several identical ones are led (R7.2)"
                )
        if len(faces) != number:
            raise PositionError(
                f"seat {seat} cannot play {text!r}: it has {len(faces)} cards, the lead has {number} (R7.3)"
            )


def check_cards(
    rules: Rules, hands: Sequence[str], kitty: str, played: Sequence[str], trick: Mapping[int, str]
) -> None:
    """R1.2, R1.3: no more copies of a face than decks, no more cards of a seat or a kitty than are dealt to it."""
    if len(hands) != 4 or len(played) != 4:
        raise PositionError("hands (and played) must be those of four seats")
    named = Counter(parse_cards(kitty))
    if named.total() > rules.kitty_size:
        raise PositionError(f"kitty has {named.total()} cards: it has at most {rules.kitty_size} (R1.2)")
    for s in range(4):
        own = Counter(parse_cards(f"{hands[s]} {trick.get(s, '')} {played[s]}"))
        if own.total() > rules.hand_size:
            raise PositionError(
                f"hand {s} has {own.total()} cards with those played: a hand has at most {rules.hand_size} (R1.2)"
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
