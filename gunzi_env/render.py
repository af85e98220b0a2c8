"""A table drawn in text, as one seat may see it or with all cards open."""

from __future__ import annotations

import numpy as np

from gunzi_env import observe, planes
from gunzi_env.cards import FACE_NAMES, SUITED_FACES, SUITS, rank_name
from gunzi_env.order import TRUMP, to_faces
from gunzi_env.planes import Words
from gunzi_env.tables import HAND, KITTY, NOBODY, PENDING, Phase, Tables

_SYMBOLS = dict(zip(SUITS, "♠♥♣♦", strict=True))
_RED, _DIM, _BOLD, _PLAIN = "\x1b[31m", "\x1b[2m", "\x1b[1m", "\x1b[0m"
_RED_SUITS = "HD"
_JOKERS = {"LJ": "lj", "BJ": "BJ"}


def card_text(face: int, *, color: bool = False) -> str:
    """A card as people read it.

    >>> card_text(21), card_text(53)
    ('♥T', 'BJ')
    """
    name = FACE_NAMES[face]
    if face >= SUITED_FACES:
        return f"{_BOLD}{_JOKERS[name]}{_PLAIN}" if color else _JOKERS[name]
    text = _SYMBOLS[name[0]] + name[1]
    return f"{_RED}{text}{_PLAIN}" if color and name[0] in _RED_SUITS else text


def cards_line(t: Tables, words: Words, n: int, *, color: bool = False) -> str:
    """The cards of planes ``uint64[D]`` at table ``n``, suit by suit, trumps first, high cards first."""
    counts = planes.to_counts(words)
    level, trump = int(t.level[n]), t.trump_or_provisional(n)
    blocks = []
    for block in (TRUMP, 0, 1, 2):
        slots = [int(s) for s in np.flatnonzero(counts) if t.layout.suit_of_slot[level, s] == block][::-1]
        units = []
        for slot, face in zip(slots, to_faces(t.layout, level, trump, slots), strict=True):
            units.append("".join([card_text(face, color=color)] * int(counts[slot])))
        if units:
            blocks.append(" ".join(units))
    return "  |  ".join(blocks) or "-"


def ansi(t: Tables, n: int = 0, *, seat: int | None = None, color: bool = False) -> str:
    """Table ``n`` in text: with all cards for ``seat=None``, else what that seat may know."""
    lines = [_headline(t, n)]
    for s in range(4):
        lines.append(_seat_line(t, n, s, seat, color))
    kitty = _kitty_line(t, n, seat, color)
    if kitty:
        lines.append(kitty)
    phase = Phase(t.phase[n])
    if t.leader[n] != NOBODY and phase != Phase.OVER:
        lines.append(_trick_line(t, n, color))
    if phase != Phase.OVER and (seat is None or seat == t.seat[n]):
        lines.append(f"seat {t.seat[n]} decides: {phase.name.lower()}")
    if phase == Phase.OVER:
        lines.append(result_line(t, n))
    return "\n".join(lines)


def _headline(t: Tables, n: int) -> str:
    trump = "?" if t.trump[n] == NOBODY else _SYMBOLS[SUITS[t.trump[n]]]
    dealer = "?" if t.dealer[n] == NOBODY else str(t.dealer[n])
    levels = " : ".join(rank_name(int(level)) for level in t.levels[n])
    parts = [
        f"level {rank_name(int(t.level[n]))}",
        f"trump {trump}",
        f"dealer {dealer}",
        f"levels {levels}",
        f"score {t.score[n]}",
    ]
    if t.blood[n]:
        parts.append(f"blood {t.blood[n]}")
    if t.bid_strength[n] and t.phase[n] == Phase.BID:
        bid = t.actions.name(t.actions.bid(int(t.bid_strength[n]), int(t.bid_suit[n])), int(t.level[n]))
        parts.append(f"seat {t.bid_seat[n]}: {bid}")
    return ", ".join(parts)


def _seat_line(t: Tables, n: int, s: int, viewer: int | None, color: bool) -> str:
    hand = t.planes[:, n, HAND + s]
    role = "D" if s == t.dealer[n] else " "
    mark = ">" if s == t.seat[n] and t.phase[n] != Phase.OVER and viewer in (None, s) else " "
    if viewer is None or viewer == s:
        return f"{mark}{s}{role} {cards_line(t, hand, n, color=color)}"
    # How many cards a seat has set aside in a half-made choice is not public: those it held when the trick began are.
    around = np.array([viewer], np.int8)
    view = observe.view(t, np.array([n]), around)
    known = view.known[:, 0, (s - viewer) & 3]
    extra = f"  known: {cards_line(t, known, n, color=color)}" if known[0] else ""
    return f"{mark}{s}{role} {_public_size(t, n, s)} cards{extra}"


def _public_size(t: Tables, n: int, s: int) -> int:
    """How many cards everybody knows a seat to hold."""
    held = int(t.held[n])
    if t.phase[n] == Phase.OVER:
        return 0
    if t.phase[n] <= Phase.BID:
        drawn = int(t.drawn[n])
        # Once all is dealt, a hand of a position may be shorter than those of the rules.
        return held if drawn == t.rules.num_dealt else sum((int(t.first[n]) + k) % 4 == s for k in range(drawn))
    # Cards of a half-made choice are counted where they come from: all that is still to be named and all that is.
    choosing = int(t.need[n] + planes.count(t.planes[:, n, PENDING]))
    if t.phase[n] == Phase.RETURN:  # R5.4: what was given is not given back yet
        return held + int(planes.count(t.tribute[:, n])) * (int(s == t.receiver[n]) - int(s == t.giver[n]))
    if t.phase[n] == Phase.BURY:  # R6.2: the dealer has the kitty in hand
        return held + choosing * int(s == t.dealer[n])
    if t.phase[n] == Phase.PICKUP:  # R6.5: for the jokers that he put in
        return held - choosing * int(s == t.seat[n])
    return held - int(planes.count(t.trick[:, n, s])) if t.phase[n] >= Phase.LEAD else held


def _kitty_line(t: Tables, n: int, seat: int | None, color: bool) -> str:
    cards = t.planes[:, n, KITTY]
    if not cards[0]:
        return ""
    if seat is None:
        known = True
    else:
        known = bool(observe.view(t, np.array([n]), np.array([seat], np.int8)).kitty_known[0])
    text = cards_line(t, cards, n, color=color) if known else f"{planes.count(cards)} cards"
    return f" kitty {'(dry) ' if t.dry[n] else ''}{text}"


def _trick_line(t: Tables, n: int, color: bool) -> str:
    plays = []
    for k in range(4):
        s = (int(t.leader[n]) + k) % 4
        cards = t.trick[:, n, s]
        if cards[0]:
            star = "*" if s == t.best[n] else ""
            plays.append(f"{s}{star}: {cards_line(t, cards, n, color=color)}")
    return f" trick ({t.trick_points[n]} points) " + ("   ".join(plays) or f"seat {t.leader[n]} leads")


def result_line(t: Tables, n: int) -> str:
    """What a finished hand came to, in one line."""
    side = "attackers" if t.score[n] >= t.rules.take else "dealers"
    how = "dug" if t.dug[n] else "guarded"
    gain = ", ".join(f"team {team} +{t.gain[n, team]}" for team in range(2) if t.gain[n, team]) or "no levels"
    end = f"; team {t.match_winner[n]} wins the match" if t.match_winner[n] != NOBODY else ""
    return f"over: S = {t.score[n]}, kitty {how}, the {side} win the hand, {gain}{end}"


__all__ = ["ansi", "card_text", "cards_line", "result_line"]
