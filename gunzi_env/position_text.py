"""A position written down as text; :mod:`gunzi_env.position` reads it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gunzi_env import planes
from gunzi_env.cards import SUITS, rank_name
from gunzi_env.rulebook import cards_text
from gunzi_env.tables import HAND, KITTY, NOBODY, PENDING, PLAYED, Phase, Tables


class PositionError(ValueError):
    """A position that cannot be; the message names the field."""

    exit_code = 2


KEYS = (
    *("rules", "phase", "level", "trump", "levels", "dealer", "seat", "score", "blood", "bid", "bidder", "first"),
    *("passes", "kitty", "kitty shown", "kitty public", "dry", "trick", "void"),
    *(f"{name} {s}" for name in ("hand", "shown", "played") for s in range(4)),
)
"""What a position may say, one a line."""


def format_position(t: Tables, n: int = 0) -> str:
    """Table ``n`` as text for :func:`parse`; ``PositionError`` in the middle of a choice, where a record is needed."""
    here = t.select(np.array([n]))
    phase = Phase(here.phase[0])
    # In a trick, what a player short of the suit has set aside returns to his hand: it is set aside again.
    hands = here.planes[:, 0, HAND : HAND + 4].copy()
    if phase == Phase.FOLLOW:
        pending = here.planes[:, 0, PENDING]
        # Only a player who is out of the led suit has cards set aside before he is asked (R7.3): all that he had of it.
        left = hands[0, here.seat[0]] & here.led_mask[0]
        if (pending[0] & ~here.led_mask[0]) or (pending[0] and left):
            raise PositionError("a play is half made: write a record instead")
        hands[:, here.seat[0]] = planes.add(hands[:, here.seat[0]], pending)
    elif phase not in (Phase.LEAD, Phase.JOKERS, Phase.SHOW, Phase.BID) or here.planes[0, 0, PENDING]:
        raise PositionError(f"phase {phase.name.lower()} is in the middle of a choice: write a record instead")
    if phase <= Phase.BID and here.passes[0] < 0:
        raise PositionError("cards are still being dealt: write a record instead")
    return "\n".join(f"{key}: {value}".rstrip() for key, value in _fields(here, phase, hands).items())


def _fields(t: Tables, phase: Phase, hands: planes.Words) -> dict[str, Any]:
    name = t.rules.name
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
        strength, decks = int(t.bid_strength[0]), t.rules.decks
        kind = "" if strength <= decks else "LJ:" if strength == decks + 1 else "BJ:"
        out |= {"bid": f"{min(strength, decks)}x{kind}{SUITS[t.bid_suit[0]]}", "bidder": t.bid_seat[0]}
    out |= {f"hand {s}": cards_text(t, hands[:, s]) for s in range(4)}
    out |= {f"shown {s}": cards_text(t, t.shown[:, 0, s]) for s in range(4) if t.shown[0, 0, s]}
    if t.planes[0, 0, KITTY]:
        out["kitty"] = cards_text(t, t.planes[:, 0, KITTY])
    out |= {"kitty shown": "no"} if phase >= Phase.JOKERS and not t.kitty_shown[0] else {}
    out |= {"kitty public": "yes"} if t.kitty_public[0] and not t.dry[0] else {}
    out |= {"dry": "yes"} if t.dry[0] else {}
    seats = [(int(t.leader[0]) + k) % 4 for k in range(4)]
    plays = [cards_text(t, t.trick[:, 0, s]) for s in seats if t.trick[0, 0, s]]
    out |= {"trick": " / ".join(plays)} if plays else {}
    for s in range(4):
        before = planes.minus(t.planes[:, 0, PLAYED + s], t.trick[:, 0, s])
        out |= {f"played {s}": cards_text(t, before)} if before[0] else {}
    blocks = [SUITS[s] for s in range(4) if s != t.trump[0]] + ["T"]
    voids = [f"{s}{blocks[c]}" for s in range(4) for c in range(4) if t.void[0, s, c]]
    out |= {"void": " ".join(voids)} if voids else {}
    return out


__all__ = ["KEYS", "PositionError", "format_position"]
