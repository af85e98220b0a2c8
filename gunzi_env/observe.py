"""What a seat may know: the :class:`View`, its flat encoding, and the privileged view for critics.

Nothing in a View depends on cards that its seat cannot have seen. Seats are relative to the viewer: 0 is the
viewer, 1 the next, 2 the partner, 3 the previous seat. Cards are planes in slots (see
:mod:`gunzi_env.planes`, :mod:`gunzi_env.order`).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from gunzi_env import order, planes
from gunzi_env.cards import ACE
from gunzi_env.planes import BIT, NUM_SLOTS, U64, Words, unpack
from gunzi_env.rules import Rules
from gunzi_env.tables import HAND, KITTY, NOBODY, PENDING, PLAYED, Flags, Index, Int8, Int16, Phase, Tables

VERSION = 2
"""Of the View and its encoding: another version is another input for a network."""

_SEATS = np.arange(4, dtype=np.int8)

DEALER_OR_KITTY = 4
"""Column of ``View.known`` for cards that are in the dealer's hand or in the kitty."""


@dataclass(frozen=True, eq=False)
class View:
    """What B seats may know, one row each; D decks."""

    rules: Rules
    seat: Int8  # [B] the viewer, absolute
    phase: Int8  # [B] tables.Phase of the viewer's decision, -1 when it is not his move
    level: Int8  # [B] level of the hand
    trump: Int8  # [B] trump suit, -1 until it is known
    levels: Int8  # [B, 2] levels of my team and of theirs
    dealer: Int8  # [B] -1 until it is known
    first: Int8  # [B] who was dealt first
    first_hand: Flags  # [B] the first hand of a match?
    blood: Int16  # [B] tribute cards owed in this hand
    score: Int16  # [B] S so far: what the attackers count
    hand: Words  # [D, B] my hand
    pending: Words  # [D, B] my cards named so far in a half-made choice; no longer in hand
    played: Words  # [D, B, 4] cards played in this hand, by seat
    trick: Words  # [D, B, 4] cards of the current trick, by seat; also among those played
    kitty: Words  # [D, B] what lies buried, where I know it
    kitty_known: Flags  # [B] do I know it?
    kitty_public: Flags  # [B] does everybody (R6.4)?
    kitty_shown: Flags  # [B] was the kitty shown before the exchange (R6.1)?
    known: Words  # [D, B, 5] cards certainly in a seat's hand, at least; column 4: in the dealer's hand or the kitty
    shown: Words  # [D, B, 4] cards shown in bids (R4.4, R5.5), less those the seat has played since
    tribute: Words  # [D, B] cards given as tribute in this hand
    giver: Int8  # [B] who gave them, -1 before that
    turned: Words  # [D, B] kitty cards turned up to find dealer or suit
    void: Flags  # [B, 4, 4] seat has shown that it has none of a suit (0-2 side suits in slot order, 3 trump)
    no_pair: Flags  # [B, 4, 4] seat had no exact pair when it owed one (R7.5)
    no_triple: Flags  # [B, 4, 4] seat had no exact triple when it owed one
    led_suit: Int8  # [B] -1 while leading
    led_count: Int8  # [B] cards led, 0 while leading
    leader: Int8  # [B] who leads this trick, -1 until the kitty is buried
    best: Int8  # [B] who wins the trick so far, -1 while leading
    best_slot: Int8  # [B] and with which card
    trick_points: Int16  # [B] points in the trick so far
    need: Int16  # [B] cards I have still to name
    held: Int16  # [B] cards in each hand when the trick began
    bid_strength: Int8  # [B] standing bid: 0 none, 1..D level cards, D + 1 small, D + 2 big jokers
    bid_suit: Int8  # [B] -1 for none
    bid_seat: Int8  # [B] -1 for none
    pickable: Int16  # [B] jokers that may still be put in (R6.5)
    dry: Flags  # [B]
    drawn: Int16  # [B] cards dealt so far

    def __len__(self) -> int:
        return len(self.seat)

    def rows(self, idx: Index | Flags) -> View:
        """The View of some rows."""
        changed = {}
        for f in dataclasses.fields(self):
            value = getattr(self, f.name)
            if f.name != "rules":
                changed[f.name] = value[:, idx] if f.name in _PLANE_FIELDS else value[idx]
        return dataclasses.replace(self, **changed)


_PLANE_FIELDS = frozenset(
    ("hand", "pending", "played", "trick", "kitty", "known", "shown", "tribute", "turned"),
)


def view(t: Tables, idx: Index | None = None, seat: npt.NDArray[np.int8] | None = None) -> View:
    """The View of the tables ``idx`` (all) for the seats ``seat[B]`` (those to move). All arrays are copies."""
    g = np.arange(t.num) if idx is None else idx
    mover = t.seat[g]
    me = mover if seat is None else np.asarray(seat, np.int8)
    mine = (me == mover) & (t.phase[g] != Phase.OVER)
    around: Int8 = (me[:, None] + _SEATS) & np.int8(3)  # [B, 4] absolute seats, mine first

    def by_seat(cards: Words) -> Words:
        return np.asarray(cards[:, g[:, None], around], U64)

    def relative(seats: Int8) -> Int8:
        return np.where(seats == NOBODY, NOBODY, (seats - me) & 3).astype(np.int8)

    played = t.planes[:, g[:, None], PLAYED + around]
    phase = t.phase[g]
    kitty_known = t.kitty_public[g] | ((me == t.dealer[g]) & (phase >= Phase.JOKERS))
    given = t.tribute[0, g] != 0
    suits = np.arange(len(g))[:, None], around
    return View(
        rules=t.rules,
        seat=me.copy(),
        phase=np.where(mine, phase, NOBODY).astype(np.int8),
        level=t.level[g],
        trump=t.trump[g],
        levels=np.where((me & 1)[:, None] == 0, t.levels[g], t.levels[g, ::-1]),
        dealer=relative(t.dealer[g]),
        first=relative(t.first[g]),
        first_hand=t.first_hand[g],
        blood=t.blood[g],
        score=t.score[g],
        hand=t.holder(g, HAND + me),
        pending=np.where(mine, t.holder(g, PENDING), U64(0)),
        played=played,
        trick=by_seat(t.trick),
        kitty=np.where(kitty_known, t.holder(g, KITTY), U64(0)),
        kitty_known=kitty_known,
        kitty_public=t.kitty_public[g],
        kitty_shown=t.kitty_shown[g],
        known=_known(t, g, me, around),
        shown=planes.minus(by_seat(t.shown), played),
        tribute=t.tribute[:, g],
        giver=np.where(given, relative(t.giver[g]), NOBODY).astype(np.int8),
        turned=t.turned[:, g],
        void=t.void[g][suits],
        no_pair=t.no_pair[g][suits],
        no_triple=t.no_triple[g][suits],
        led_suit=t.led_suit[g],
        led_count=t.led_count[g],
        leader=relative(t.leader[g]),
        best=relative(t.best[g]),
        best_slot=t.best_slot[g],
        trick_points=t.trick_points[g],
        need=np.where(mine, t.need[g], 0).astype(np.int16),
        held=t.held[g],
        bid_strength=t.bid_strength[g],
        bid_suit=t.bid_suit[g],
        bid_seat=relative(t.bid_seat[g]),
        pickable=t.pickable[g],
        dry=t.dry[g],
        drawn=t.drawn[g],
    )


def _known(t: Tables, g: Index, me: Int8, around: Int8) -> Words:
    """Column by column: what was known when play began, less what the seat has played since."""
    bidding = t.phase[g] <= Phase.BID
    base = np.where(bidding[:, None], t.shown[:, g], t.known[:, g])  # [D, B, seat], absolute
    rows = np.arange(len(g))
    played = t.planes[:, g, PLAYED : PLAYED + 4]
    left = planes.minus(base, played)
    # What a seat played beyond the cards known of it may have come from what was known less exactly.
    beyond = planes.minus(played, base)
    dealer = t.dealer[g] & 3
    loose = planes.minus(t.loose[:, g], beyond[:, rows, dealer])
    # R5.4: he who returned cards knows them to be with the giver. In a reversed tribute (R5.5) that is the dealer, who
    # may have buried them: until the kitty is public, they are in one place or the other.
    giver = t.giver[g] & 3
    returned = np.where(me == t.receiver[g], t.returned[:, g], U64(0))
    returned = planes.minus(returned, beyond[:, rows, giver])
    either = (t.giver[g] == t.dealer[g]) & (t.phase[g] >= Phase.JOKERS) & ~t.kitty_public[g]
    left[:, rows, giver] = planes.add(left[:, rows, giver], np.where(either, U64(0), returned))
    loose = planes.add(loose, np.where(either, returned, U64(0)))
    out = np.empty((*left.shape[:2], 5), U64)
    out[:, :, :4] = left[:, rows[:, None], around]
    out[:, :, DEALER_OR_KITTY] = loose
    return out


# The flat encoding ------------------------------------------------------------------------------------

_SCORES = np.arange(10, 370, 10)
_TRICK_POINTS = np.array([5, 10, 15, 20, 30, 40, 50, 60, 80, 100])
_SMALL = np.arange(1, 9)
_LEVELS = np.arange(3, ACE + 1)


def _words(v: View) -> Words:
    """The pieces that are sets of slots, ``uint64[B, k]``, in the order of :func:`_word_pieces`."""
    layout = order.layout(v.rules.mixed_trump_rank)
    best = np.where(v.best_slot >= 0, BIT[v.best_slot], U64(0))
    columns = [
        *v.hand,
        v.pending[0],
        *unseen(v),
        *v.trick[0, :, 1:].T,
        best,
        *v.known[0, :, 1:].T,
        v.kitty[0],
        layout.fives[v.level],
        layout.tens[v.level],
    ]
    return np.stack(columns, axis=1)


def unseen(v: View) -> Words:
    """Cards the viewer has not located: neither in his hand nor played nor in a kitty he knows, ``uint64[D, B]``."""
    depth = len(v.hand)
    seen = planes.add(v.hand, v.pending)
    for s in range(4):
        seen = planes.add(seen, v.played[:, :, s])
    seen = planes.add(seen, v.kitty)
    return np.stack([~seen[depth - 1 - d] & planes.FULL for d in range(depth)])


def _word_pieces(rules: Rules) -> list[tuple[str, int]]:
    """Name and number of words of each set of slots."""
    return [
        ("hand", rules.decks),
        ("pending", 1),
        ("unseen", rules.decks),
        ("trick of next, partner, previous", 3),
        ("winning card", 1),
        ("known with next, partner, previous, dealer or kitty", 4),
        ("kitty", 1),
        ("fives", 1),
        ("tens and kings", 1),
    ]


def _scalars(v: View) -> list[tuple[str, npt.NDArray[np.bool_]]]:
    """The other pieces, ``bool[B, size]`` each: one-hot, or thermometers over bounds."""
    decks, held = v.rules.decks, np.arange(3, v.rules.hand_size + 1, 3)

    def one_hot(values: npt.NDArray[np.int8], choices: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        return np.asarray(values[:, None] == choices)

    def reached(values: npt.NDArray[np.int16], bounds: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        return values[:, None] >= bounds

    seats, suits = np.arange(4), np.arange(4)
    pieces = [
        ("phase", one_hot(v.phase, np.arange(Phase.OVER))),
        ("my level", one_hot(v.levels[:, 0], _LEVELS)),
        ("their level", one_hot(v.levels[:, 1], _LEVELS)),
        ("dealer", one_hot(v.dealer, seats)),
        ("trump suit", one_hot(v.trump, suits)),
        ("flags", np.stack([v.first_hand, v.kitty_known, v.kitty_public, v.kitty_shown, v.dry], axis=1)),
        ("blood", reached(v.blood, _SMALL)),
        ("score", reached(v.score, _SCORES)),
        ("cards held", reached(v.held, held)),
        ("cards drawn", reached(v.drawn, held * 4)),
        ("cards to name", reached(v.need, _SMALL)),
        ("jokers that may go in", reached(v.pickable, _SMALL)),
        ("cards led", one_hot(v.led_count, np.arange(1, decks + 1))),
        ("suit led", one_hot(v.led_suit, suits)),
        ("leader", one_hot(v.leader, seats)),
        ("winner so far", one_hot(v.best, seats)),
        ("points in the trick", reached(v.trick_points, _TRICK_POINTS)),
        ("standing bid", one_hot(v.bid_strength, np.arange(decks + 3))),
        ("suit bid", one_hot(v.bid_suit, suits)),
        ("bidder", one_hot(v.bid_seat, seats)),
        ("void", v.void[:, 1:].reshape(len(v), 12)),
        ("no pair", v.no_pair[:, 1:].reshape(len(v), 12)),
        ("no triple", v.no_triple[:, 1:].reshape(len(v), 12)),
    ]
    return pieces


def encode(v: View, out: npt.NDArray[np.uint8] | None = None) -> npt.NDArray[np.uint8]:
    """A View as zeros and ones, ``uint8[B, size(rules)]`` (``out`` when given); the layout is :func:`spec`'s."""
    if out is None:
        out = np.empty((len(v), size(v.rules)), np.uint8)
    words = _words(v)
    split = words.shape[1] * NUM_SLOTS
    out[:, :split] = unpack(words).reshape(len(v), split)
    at = split
    for _, piece in _scalars(v):
        out[:, at : at + piece.shape[1]] = piece
        at += piece.shape[1]
    return out


@cache
def spec(rules: Rules) -> tuple[tuple[str, int, int], ...]:
    """The pieces of the encoding, in order: (name, offset, size)."""
    out, at = [], 0
    empty = view(Tables(rules, 1))
    sizes = [(name, number * NUM_SLOTS) for name, number in _word_pieces(rules)]
    sizes += [(name, piece.shape[1]) for name, piece in _scalars(empty)]
    for name, width in sizes:
        out.append((name, at, width))
        at += width
    return tuple(out)


def size(rules: Rules) -> int:
    """The length of an encoded View."""
    _, offset, width = spec(rules)[-1]
    return offset + width


def privileged(t: Tables, idx: Index | None = None, out: npt.NDArray[np.uint8] | None = None) -> npt.NDArray[np.uint8]:
    """The hands of next, partner and previous seat and the kitty, hidden from the mover: ``uint8[B, 4 * D * 54]``."""
    g = np.arange(t.num) if idx is None else idx
    around = HAND + ((t.seat[g, None] + _SEATS[1:]) & np.int8(3))
    holders = np.concatenate([around, np.full((len(g), 1), KITTY, np.int8)], axis=1)
    words = t.planes[:, g[:, None], holders]  # [D, B, 4]
    flags = unpack(words.transpose(1, 2, 0)).reshape(len(g), -1)
    if out is None:
        return flags.astype(np.uint8)
    out[:] = flags
    return out


def privileged_size(rules: Rules) -> int:
    """The length of :func:`privileged`'s rows."""
    return 4 * rules.decks * NUM_SLOTS
