"""A position written down as text; :mod:`gunzi_env.position` reads it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gunzi_env import planes
from gunzi_env.cards import SUITS, format_cards, rank_name
from gunzi_env.chapters import bidding
from gunzi_env.rulebook import ONE_TABLE, cards_planes, cards_text, format_bid
from gunzi_env.tables import HAND, KITTY, NOBODY, PENDING, PLAYED, Phase, Tables


class PositionError(ValueError):
    """A position that cannot be; the message names the field."""

    exit_code = 2


KEYS = (
    *("rules", "phase", "level", "trump", "levels", "dealer", "seat", "score", "blood", "bid", "bidder", "first"),
    *("passes", "kitty", "kitty shown", "kitty public", "dry", "trick", "void", "no pair", "no triple"),
    *(f"{name} {s}" for name in ("hand", "shown", "played") for s in range(4)),
)
"""What a position may say, one a line."""


def format_position(t: Tables, n: int = 0) -> str:
    """Table ``n`` as text for :func:`parse`; ``PositionError`` in the middle of a choice, where a record is needed.

    Not in the text: which deal it is (a deal that is dealt again, R4.8, is another one), that it is a match's first
    hand, what was turned up (R4.3, R4.7), what tribute was given by whom and returned, and what all or one
    know of hands from the kitty that was shown, tribute, return and pick-up (``known`` and ``loose`` of the tables).
    """
    here = t.select(np.array([n]))
    phase = Phase(here.phase[0])
    if phase == Phase.OVER:
        raise PositionError("the hand is over: write a record instead")
    if phase in (Phase.RETURN, Phase.PICKUP):
        raise PositionError(f"positions of phase {phase.name.lower()} cannot be written: write a record instead")
    if phase <= Phase.BID and here.passes[0] < 0:
        raise PositionError("cards are still being dealt: write a record instead")
    _take_back(here, phase)
    return "\n".join(f"{key}: {value}".rstrip() for key, value in _fields(here, phase).items())


def _take_back(t: Tables, phase: Phase) -> None:
    """Lay forced cards that were set aside before a question (R5.1, R7.3) back into the hand: they will be again."""
    pending, hand = t.planes[:, 0, PENDING].copy(), t.planes[:, 0, HAND + t.seat[0]]
    if phase == Phase.FOLLOW:
        # Only a player who is out of the led suit has cards set aside before he is asked: all that he had of it.
        if (pending[0] & ~t.led_mask[0]) or (pending[0] and hand[0] & t.led_mask[0]):
            raise PositionError("a play is half made: write a record instead")
    elif pending[0] and (phase != Phase.TRIBUTE or pending[0] & t.choice[0]):
        raise PositionError(f"phase {phase.name.lower()} is in the middle of a choice: write a record instead")
    t.planes[:, 0, HAND + t.seat[0]] = planes.add(hand, pending)
    t.planes[:, 0, PENDING] = 0


def _kitty(t: Tables, phase: Phase) -> str:
    """The kitty, as it was dealt until the dealer has buried: its order gives the suit (R4.3, R4.7)."""
    if phase > Phase.BURY:
        return cards_text(t, t.planes[:, 0, KITTY])
    faces, number = bidding.kitty_faces(t, ONE_TABLE)
    return format_cards(faces[0, : number[0]].tolist())


def suit_names(t: Tables) -> list[str]:
    """The led suits of table 0 (R2.4) in their order: the letters of the side suits, ``T`` for trumps."""
    return [SUITS[s] for s in range(4) if s != t.trump_or_provisional(0)] + ["T"]


def _fields(t: Tables, phase: Phase) -> dict[str, Any]:
    name, kitty = t.rules.name, _kitty(t, phase)
    hands = t.planes[:, 0, HAND : HAND + 4]
    if phase == Phase.BURY:  # R6.2: the dealer has it in hand
        hands[:, t.dealer[0]] = planes.minus(hands[:, t.dealer[0]], cards_planes(t, kitty)[:, 0])
    if name == "custom":
        raise PositionError("rules that are no preset cannot be named in a position: write a record instead")
    out: dict[str, Any] = {"rules": name, "phase": phase.name.lower(), "level": rank_name(int(t.level[0]))}
    if t.trump[0] != NOBODY:
        out["trump"] = SUITS[t.trump[0]]
    out["levels"] = " ".join(rank_name(int(level)) for level in t.levels[0])
    if t.dealer[0] != NOBODY:
        out["dealer"] = t.dealer[0]
    out["seat"] = t.leader[0] if phase == Phase.FOLLOW else t.seat[0]
    if phase >= Phase.LEAD:
        out["score"] = t.score[0]
    out |= {"blood": t.blood[0]} if t.blood[0] else {}
    if phase <= Phase.BID:
        out |= {"first": t.first[0], "passes": t.passes[0]}
    if t.bid_strength[0]:
        out |= {"bid": format_bid(t.rules, int(t.bid_strength[0]), int(t.bid_suit[0])), "bidder": t.bid_seat[0]}
    out |= {f"hand {s}": cards_text(t, hands[:, s]) for s in range(4)}
    out |= {f"shown {s}": cards_text(t, t.shown[:, 0, s]) for s in range(4) if t.shown[0, 0, s]}
    out |= {"kitty": kitty} if kitty else {}
    out |= {"kitty shown": "no"} if phase >= Phase.TRIBUTE and not t.kitty_shown[0] else {}
    out |= {"kitty public": "yes"} if t.kitty_public[0] and not t.dry[0] else {}
    out |= {"dry": "yes"} if t.dry[0] else {}
    seats = [(int(t.leader[0]) + k) % 4 for k in range(4)]
    plays = [cards_text(t, t.trick[:, 0, s]) for s in seats if t.trick[0, 0, s]]
    out |= {"trick": " / ".join(plays)} if plays else {}
    for s in range(4):
        before = planes.minus(t.planes[:, 0, PLAYED + s], t.trick[:, 0, s])
        out |= {f"played {s}": cards_text(t, before)} if before[0] else {}
    for key, flags in (("void", t.void), ("no pair", t.no_pair), ("no triple", t.no_triple)):
        lacks = [f"{s}{name}" for s in range(4) for c, name in enumerate(suit_names(t)) if flags[0, s, c]]
        out |= {key: " ".join(lacks)} if lacks else {}
    return out


__all__ = ["KEYS", "PositionError", "format_position", "suit_names"]
