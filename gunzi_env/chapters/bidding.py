"""R4: bidding. In a match's first hand a big joker is shown, in later hands level cards and jokers are bid.

Cards are dealt up to the next draw that gives its owner a decision. When all hands are dealt, the closing window goes
round the table (R4.6). A player without a choice is not asked, and the others cannot see whether a player was asked.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gunzi_env import order
from gunzi_env.cards import BIG_JOKER, NUM_FACES, RANKS_PER_SUIT, SMALL_JOKER, SUITED_FACES
from gunzi_env.chapters.deal import owner, positions, reveal
from gunzi_env.planes import BIT, ONE, U64, Ints, Words, copies, pack
from gunzi_env.tables import DEALING, HAND, KITTY, NOBODY, Flags, Index, Int8, Int16, Tables

_SHOW_BIT = U64(1)  # in the word of non-card actions: pass is bit 0, show bit 1, bids start at bit 2
_BIDS_BIT = U64(2)

_KINDS = BIT[[*order.PROVISIONAL_LEVEL_SLOTS, order.SMALL_JOKER_SLOT, order.BIG_JOKER_SLOT]]
"""The level cards S H C D and the jokers in provisional order."""

_LATE = np.uint8(255)
"""A position after all cards."""


def enter(t: Tables, g: Index) -> Index:
    """Begin dealing; return the tables whose bidding is already closed."""
    t.drawn[g] = 0
    t.passes[g] = DEALING
    t.bid_strength[g] = 0
    t.bid_suit[g] = t.bid_seat[g] = NOBODY
    return _advance(t, g)


def _advance(t: Tables, g: Index) -> Index:
    """Deal to the next decision or to the end of the window; return the tables whose bidding is closed."""
    auto = t.first_hand[g] & (t.rules.first_bid == "auto")
    if auto.any():
        _show_first_joker(t, g[auto])
    open_ = g[~auto]
    dealing = open_[t.passes[open_] == DEALING]
    if len(dealing):
        position = _next_draw(t, dealing)
        asked = position < t.rules.num_dealt
        t.drawn[dealing] = np.where(asked, position + np.int16(1), t.rules.num_dealt)
        t.seat[dealing] = np.where(asked, owner(t, dealing, position), t.first[dealing])
        t.passes[dealing] = np.where(asked, DEALING, 0)
        reveal(t, dealing)
    window = open_[t.passes[open_] != DEALING]
    closed = window[~_ask_in_turn(t, window)] if len(window) else window
    return np.sort(np.concatenate([g[auto], closed]))


def _event_positions(t: Tables, g: Index) -> npt.NDArray[np.uint8]:
    """Return the positions in the deal of level cards S H C D, small and big jokers: ``uint8[6, D, n]``."""
    faces = np.empty((len(g), 6), np.intp)
    faces[:, :4] = t.level[g, None] - 2 + np.arange(4) * RANKS_PER_SUIT
    faces[:, 4:] = SMALL_JOKER, BIG_JOKER
    # Tables last, also in memory, so that the following operations run over contiguous rows.
    return np.ascontiguousarray(positions(t, g, faces).transpose(2, 1, 0))


def _next_draw(t: Tables, g: Index) -> Int16:
    """Return the position of the next draw that gives its owner a decision; _LATE if there is none."""
    position = _event_positions(t, g)
    seat = owner(t, g, position)
    kinds, decks, number = position.shape
    event, event_seat = position.reshape(-1, number), seat.reshape(-1, number)
    # Copies of each kind held by the seat of each event at that time: [event, kind, n].
    by_then = (position <= event[:, None, None]) & (seat == event_seat[:, None, None])
    held = by_then[:, :, 0].astype(np.int8)
    for copy in range(1, decks):
        held += by_then[:, :, copy]
    asked = _can_bid(t, g, held)
    first = t.first_hand[g]
    if first.any():
        big = np.arange(kinds * decks) >= (kinds - 1) * decks
        asked = np.where(first, big[:, None], asked)
    asked &= (event >= t.drawn[g]) & (event_seat < 4)
    found: Int16 = (event | ~asked * _LATE).min(axis=0).astype(np.int16)
    return found


def _can_bid(t: Tables, g: Index, held: npt.NDArray[np.int8]) -> Flags:
    """Return whether these copies ``int8[..., kind, n]`` of level cards and jokers beat the standing bid (R4.4-5)."""
    decks = t.rules.decks
    standing = t.bid_strength[g]
    may_open = (standing > 0) | t.rules.jokers_may_open
    beats = (held[..., 5, :] == decks) & (decks + 2 > standing) & may_open
    beats |= (held[..., 4, :] == decks) & (decks + 1 > standing) & may_open
    for suit in range(4):
        beats |= held[..., suit, :] > standing
    return np.asarray(beats)


def _held_kinds(t: Tables, g: Index, seat: Ints) -> npt.NDArray[np.int8]:
    """Count the level cards S H C D and the jokers in a hand, in provisional order: ``int8[6, n]``."""
    hand = t.holder(g, HAND + seat)
    held: Int8 = ((hand[:, None] & _KINDS[:, None]) != 0).sum(axis=0, dtype=np.int8)
    return held


def can_decide(t: Tables, g: Index) -> Flags:
    """Return whether the seat to move holds a joker to show or a bid to make."""
    held = _held_kinds(t, g, t.seat[g])
    return np.where(t.first_hand[g], held[5] > 0, _can_bid(t, g, held))


def _ask_in_turn(t: Tables, g: Index) -> Flags:
    """R4.6: go round to the next seat with a choice or to four passes in a row; return the tables with such a seat."""
    asked = np.zeros(len(g), np.bool_)
    for _ in range(4):
        waiting = ~asked & (t.passes[g] < 4)
        if not waiting.any():
            break
        rows = g[waiting]
        able = can_decide(t, rows)
        asked[waiting] = able
        silent = rows[~able]
        t.passes[silent] += 1
        t.seat[silent] = (t.seat[silent] + 1) & 3
    return asked


def show_legal(t: Tables, g: Index) -> Words:
    """R4.2: show the big joker, or pass."""
    words = np.zeros((t.rules.decks + 1, len(g)), U64)
    words[-1] = ONE | (ONE << _SHOW_BIT)
    return words


def show_apply(t: Tables, g: Index, action: Ints) -> Index:
    """Show a joker or pass; return the tables whose bidding is closed."""
    shows = action == t.actions.SHOW
    shown, rest = g[shows], g[~shows]
    t.dealer[shown] = t.seat[shown]
    t.shown[0, shown, t.seat[shown]] = BIT[order.BIG_JOKER_SLOT]
    _pass_on(t, rest)
    return np.sort(np.concatenate([shown, _advance(t, rest)]))


def bid_legal(t: Tables, g: Index) -> Words:
    """R4.4-5: every bid that the seat holds the cards for and that beats the standing bid, or pass."""
    held = _held_kinds(t, g, t.seat[g])
    strength, suit, decks = t.actions.bid_strength, t.actions.bid_suit, t.rules.decks
    kind = np.where(strength <= decks, suit, strength - decks - 1 + 4)
    needed = np.minimum(strength, decks)
    able = (held[kind] >= needed[:, None]) & (strength[:, None] > t.bid_strength[g])
    able &= (strength[:, None] <= decks) | (t.bid_strength[g] > 0) | t.rules.jokers_may_open
    words = np.zeros((decks + 1, len(g)), U64)
    words[-1] = ONE | (pack(able.T) << _BIDS_BIT)
    return words


def bid_apply(t: Tables, g: Index, action: Ints) -> Index:
    """Bid or pass; return the tables whose bidding is closed."""
    passes = action == t.actions.PASS
    rows, bid = g[~passes], action[~passes] - t.actions.BIDS
    if len(rows):
        _record_bid(t, rows, t.actions.bid_strength[bid], t.actions.bid_suit[bid])
    _pass_on(t, g[passes])
    return _advance(t, g)


def _record_bid(t: Tables, g: Index, strength: Int8, suit: Int8) -> None:
    t.bid_strength[g], t.bid_suit[g], t.bid_seat[g] = strength, suit, t.seat[g]
    t.shown[:, g, t.seat[g]] |= bid_cards(t, g, strength, suit)
    window = g[t.passes[g] != DEALING]
    t.passes[window] = 0
    t.seat[window] = (t.seat[window] + 1) & 3


def bid_cards(t: Tables, g: Index, strength: Int8, suit: Int8) -> Words:
    """Return the cards that a bid shows (R4.4), ``uint64[D, n]`` in provisional slots."""
    decks = t.rules.decks
    face = np.where(strength <= decks, t.level[g] - 2 + suit * RANKS_PER_SUIT, SMALL_JOKER + strength - decks - 1)
    slot = t.layout.slot_of_face[t.level[g], order.PROVISIONAL_TRUMP, face]
    return copies(slot, np.minimum(strength, decks), decks)


def _pass_on(t: Tables, g: Index) -> None:
    window = g[t.passes[g] != DEALING]
    t.passes[window] += 1
    t.seat[window] = (t.seat[window] + 1) & 3


def _show_first_joker(t: Tables, g: Index) -> None:
    """R4.2, ``first_bid="auto"``: the seat that draws the first big joker shows it; all hands are dealt."""
    position = t.draw[g, :, BIG_JOKER].min(axis=1)
    seat = owner(t, g, position)
    dealt = seat < 4
    shown = g[dealt]
    t.dealer[shown] = seat[dealt]
    t.shown[0, shown, seat[dealt]] = BIT[order.BIG_JOKER_SLOT]
    t.drawn[g] = np.where(dealt, position + np.int16(1), t.rules.num_dealt)


def close(t: Tables, g: Index) -> Flags:
    """Set dealer and trump suit, deal the rest and convert all cards to their final slots.

    Returns which tables must be dealt again because no card determined the suit (R4.2, R4.3, R4.7).
    """
    shown = t.first_hand[g] & (t.dealer[g] != NOBODY)
    flip = t.first_hand[g] & ~shown
    bid = t.bid_strength[g] > 0
    turn = ~(shown | flip | bid)
    t.trump[g] = t.bid_suit[g]
    t.kitty_shown[g] = shown | bid
    again = np.zeros(len(g), np.bool_)
    for chosen, rule in ((shown, _suit_after_show), (flip, _flip_kitty), (turn, _turn_kitty)):
        if chosen.any():
            again[chosen] = rule(t, g[chosen])
    rows = g[~again]
    t.drawn[rows] = t.rules.num_dealt
    reveal(t, rows)
    _relabel(t, rows)
    return again


def _relabel(t: Tables, g: Index) -> None:
    """Convert shown and turned cards to final slots; :func:`reveal` has just done so for hands and kitty."""
    words = np.concatenate([t.shown[:, g].transpose(0, 2, 1), t.turned[:, g][:, None]], axis=1)  # [D, 5, n]
    *there, row = np.nonzero(words)  # few words are not empty
    words[*there, row] = order.relabel(t.layout, words[*there, row][:, None], t.level[g[row]], t.trump[g[row]])[:, 0]
    t.shown[:, g], t.turned[:, g] = words[:, :4].transpose(0, 2, 1), words[:, 4]


def _suit_after_show(t: Tables, g: Index) -> Flags:
    """R4.2: the suit is that of the next suited card that the dealer draws, else of the first one in the kitty."""
    position = t.draw[g, :, :SUITED_FACES].reshape(len(g), -1)
    seat = owner(t, g, position.T).T
    # The kitty has the last positions, so the earliest candidate is the right one.
    after = (seat == t.dealer[g, None]) & (position >= t.drawn[g, None])
    candidates = np.where(after | (seat == KITTY - HAND), position, _LATE)
    first = candidates.argmin(axis=1)
    t.trump[g] = first % SUITED_FACES // RANKS_PER_SUIT
    return np.asarray(candidates.min(axis=1) == _LATE)


def kitty_faces(t: Tables, g: Index) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the faces of the kitty, top first, ``[n, kitty_size]``, and their number, ``[n]``.

    The kitty of a position may have fewer cards; small jokers, which have no suit, fill its row.
    """
    position = t.draw[g].reshape(len(g), -1)
    # In a position, cards out of play have positions after all others.
    position = np.where((position >= t.rules.num_dealt) & (position < t.rules.num_cards), position, _LATE)
    cards = np.argsort(position, axis=1, kind="stable")[:, : t.rules.kitty_size]
    there = np.take_along_axis(position, cards, axis=1) != _LATE
    return np.where(there, cards % NUM_FACES, SMALL_JOKER), there.sum(axis=1)


def _turn_up(t: Tables, g: Index, faces: npt.NDArray[Any], number: npt.NDArray[Any]) -> None:
    """Turn up the first ``number`` cards of the kitty for all to see (R6.1)."""
    decks = t.rules.decks
    slots = t.layout.slot_of_face[t.level[g], order.PROVISIONAL_TRUMP]
    slot = np.take_along_axis(slots, faces, axis=1)
    held = (slot[:, :, None] == np.arange(NUM_FACES)) & (np.arange(faces.shape[1]) < number[:, None])[:, :, None]
    count = held.sum(axis=1)
    t.turned[:, g] = np.stack([pack(count > d) for d in range(decks)])


def _flip_kitty(t: Tables, g: Index) -> Flags:
    """R4.3: each player flips a suited card in dealing order; the largest (or smallest) decides dealer and suit."""
    faces, size = kitty_faces(t, g)
    suited = faces < SUITED_FACES
    flipper = suited.cumsum(axis=1) - 1  # number of the player who flips each suited card
    flipped = suited & (flipper < 4)
    rank = faces % RANKS_PER_SUIT
    high = t.rules.first_flip == "high"
    key = np.where(flipped, rank if high else RANKS_PER_SUIT - rank, -1)
    best = key.argmax(axis=1)  # the first of equals was flipped first
    rows = np.arange(len(g))
    t.dealer[g] = (t.first[g] + flipper[rows, best]) & 3
    t.trump[g] = faces[rows, best] // RANKS_PER_SUIT
    # Jokers are flipped on the way to the next suited card; cards after the fourth suited one stay face down.
    number = np.where(flipper[:, -1] >= 3, (flipper >= 3).argmax(axis=1) + 1, size)
    again = np.asarray(~suited.any(axis=1))
    _turn_up(t, g[~again], faces[~again], number[~again])
    return again


def _turn_kitty(t: Tables, g: Index) -> Flags:
    """R4.7: without a bid, the top suited card of the kitty decides the suit."""
    faces, _ = kitty_faces(t, g)
    suited = faces < SUITED_FACES
    top = suited.argmax(axis=1)
    t.trump[g] = faces[np.arange(len(g)), top] // RANKS_PER_SUIT
    again = np.asarray(~suited.any(axis=1))
    _turn_up(t, g[~again], faces[~again], (top + 1)[~again])
    return again
