"""Public knowledge in a position: bids and shown cards (R4.4), voids (R7.3), shapes that seats lack (R7.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gunzi_env import order, planes
from gunzi_env.cards import FACE_NAMES, SUITS
from gunzi_env.chapters import bidding
from gunzi_env.position.checks import BIDDING, EXCHANGED
from gunzi_env.position.text import PositionError, suit_names
from gunzi_env.rulebook import ONE_TABLE, cards_planes, cards_text, parse_bid
from gunzi_env.tables import HAND, KITTY, NOBODY, PLAYED, STOCK, Tables


def mark_bid(t: Tables, phase: str, bid: str | None, bidder: int) -> None:
    """Set the standing (or final) bid and the cards it shows (R4.4)."""
    t.bid_suit[0] = t.bid_seat[0] = NOBODY
    if bid is None:
        return
    strength, suit = parse_bid(t.rules, bid)
    if phase != "bid" and suit != t.trump[0]:
        raise PositionError(f"bid is {bid!r}, but trump is {SUITS[t.trump[0]]}")
    t.bid_strength[0], t.bid_suit[0], t.bid_seat[0] = strength, suit, bidder
    cards = bidding.bid_cards(t, ONE_TABLE, t.bid_strength, t.bid_suit)
    t.shown[:, :, bidder] = order.relabel(t.layout, cards.T, t.level, t.trump).T


def mark_shown(t: Tables, phase: str, shown: Sequence[str]) -> None:
    """Set the cards that the seats have shown, and those of them that they certainly still have.

    The latter go to ``known`` and ``loose`` of the tables (see :mod:`gunzi_env.chapters.kitty`).
    """
    if len(shown) != 4:
        raise PositionError("shown must have four entries, one per seat")
    for s in range(4):  # in addition to the bid's cards
        t.shown[:, :, s] |= cards_planes(t, shown[s])
    _check_shown(t, phase)
    dealer, sure = int(t.dealer[0]), t.shown[:, 0].copy()
    own = planes.add(t.planes[:, 0, HAND : HAND + 4], t.planes[:, 0, PLAYED : PLAYED + 4])
    exchanged = phase in EXCHANGED and not t.dry[0]
    if t.blood[0] and phase not in (*BIDDING, "tribute"):
        sure[:] = 0  # R5: they may have been given, or returned unseen
    elif exchanged:
        own[:, dealer] = planes.add(own[:, dealer], t.planes[:, 0, KITTY])  # R6.2: the dealer may have buried them
        if t.kitty_public[0]:  # R6.5: jokers of other seats may be buried, and cards of the dealer picked up
            sure &= ~order.JOKERS
            sure[:, dealer] = 0
    for s in np.flatnonzero(planes.minus(sure, own)[0]).tolist():
        raise PositionError(f"seat {s} has shown {cards_text(t, sure[:, s])}, but does not have that many (R4.4)")
    _check_in_play(t)
    if exchanged:
        t.loose[:, 0] = sure[:, dealer]
        sure[:, dealer] = 0
    if phase not in BIDDING:
        t.known[:, 0] = sure


def _check_shown(t: Tables, phase: str) -> None:
    """Check that the shown cards can be shown in this phase."""
    some = t.shown[0, 0]
    if (some & ~(order.JOKERS | t.layout.level_cards[t.level])).any():
        raise PositionError("shown has other cards than level cards and jokers (R4.2, R4.4, R5.5)")
    if phase == "show" and some.any():
        raise PositionError("shown has cards, but showing one ends phase show (R4.2)")
    exempt = planes.BIT[order.BIG_JOKER_SLOT] if t.rules.anti_tribute and t.blood[0] else planes.ZERO  # R5.5
    if phase not in BIDDING and not t.kitty_shown[0] and (some & ~exempt).any():
        raise PositionError("shown has cards of a bid or a show, so the kitty was shown (R6.1)")


def _check_in_play(t: Tables) -> None:
    """Check that enough copies are in play for the cards shown by all seats together (R4.4)."""
    there = t.rules.decks - planes.to_counts(t.planes[:, 0, STOCK]).astype(int)
    shown = planes.to_counts(t.shown[:, 0]).astype(int)  # [seat, slot]
    for slot in np.flatnonzero(shown.sum(axis=0) > there).tolist():
        seats, number = np.flatnonzero(shown[:, slot]), int(there[slot])
        card = FACE_NAMES[t.layout.face_of_slot[t.level[0], t.trump[0], slot]]
        for s in seats[shown[seats, slot] > number].tolist():
            raise PositionError(f"seat {s} has shown {shown[s, slot]} {card}, but only {number} are in play (R4.4)")
        raise PositionError(
            f"seats {' and '.join(map(str, seats))} have shown {shown[:, slot].sum()} {card}, but only {number} "
            "are in play: two seats cannot show the same card (R4.4)"
        )


def mark_lacks(t: Tables, void: str, no_pair: str, no_triple: str, plays: Mapping[int, str]) -> None:
    """Set proven voids and, in dead following, shapes that a seat lacks; ``plays`` are those of the trick by seat."""
    for s, suit, token in _seats_and_suits(t, "void", void):
        _check_void(t, s, suit, token, plays)
        t.void[0, s, suit] = True
    for name, text, flags in (("no pair", no_pair, t.no_pair), ("no triple", no_triple, t.no_triple)):
        if text and t.rules.follow != "dead":
            raise PositionError(f"{name} is given, but in live following no play proves it (R7.4, R7.5)")
        for s, suit, _ in _seats_and_suits(t, name, text):
            flags[0, s, suit] = True


def _seats_and_suits(t: Tables, name: str, text: str) -> list[tuple[int, int, str]]:
    """Parse seats and led suits from text such as ``1H 3T``: (seat, number of the suit, token)."""
    suits, found = suit_names(t), []
    for token in text.split():
        if len(token) != 2 or token[0] not in "0123" or token[1] not in suits:
            raise PositionError(
                f"{name} names {token!r}: write a seat and a suit of {' '.join(suits)}, as in 1{suits[0]}"
            )
        found.append((int(token[0]), suits.index(token[1]), token))
    return found


def _check_void(t: Tables, s: int, suit: int, token: str, plays: Mapping[int, str]) -> None:
    """Check that a void seat holds no card of the suit, apart from those of the play that proves the void (R7.3)."""
    mask = t.layout.suit_mask[t.level, suit]
    held = t.planes[:, 0, HAND + s] & mask
    if s in plays:
        led = cards_planes(t, next(iter(plays.values())))[0] & mask
        play = cards_planes(t, plays[s])[:, 0]
        if led.any() and (play[0] & ~mask).any():
            held = planes.minus(held, play & mask)
    if held[0].any():
        raise PositionError(f"void says {token}, but seat {s} has {cards_text(t, held)}")


__all__ = ["mark_bid", "mark_lacks", "mark_shown"]
