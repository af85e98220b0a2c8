"""What a seat may know: the :class:`View`.

Nothing in a View depends on cards that its seat cannot have seen. Seats are relative to the viewer: 0 is the
viewer, 1 the next, 2 the partner, 3 the previous seat. Cards are planes in slots (see
:mod:`gunzi_env.planes`, :mod:`gunzi_env.order`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gunzi_env import planes
from gunzi_env.packed import Field, Packed, Schema
from gunzi_env.planes import Words
from gunzi_env.rules import Rules
from gunzi_env.tables import HAND, KITTY, NOBODY, PENDING, PLAYED, Flags, Index, Int8, Int16, Phase, Tables

DEALER_OR_KITTY = 4
"""Column of ``View.known`` for cards that are in the dealer's hand or in the kitty."""

_BID, _JOKERS, _OVER = int(Phase.BID), int(Phase.JOKERS), int(Phase.OVER)  # plain numbers compare several times as fast
_ONE, _FOUR = np.int8(1), np.int8(4)

_RELATIVE = np.array([[NOBODY] * 4, *[[(seat - me) & 3 for me in range(4)] for seat in range(4)]], np.int8)
"""By seat + 1 and viewer."""


@cache
def schema(decks: int) -> Schema:
    """The fields of a :class:`View`, where they are told in words."""
    word, byte, short, flag = np.uint64, np.int8, np.int16, np.bool_
    fields = [Field(name, word, (decks,), (0, 1)) for name in ("hand", "pending", "kitty", "tribute", "turned")]
    seats = {"played": 4, "trick": 4, "shown": 4, "known": 5}
    fields += [Field(name, word, (decks, number), (0, 2, 1)) for name, number in seats.items()]
    numbers: list[tuple[type[np.generic], tuple[int, ...], str]] = [
        (byte, (), "level trump led_suit led_count best_slot bid_strength bid_suit"),
        (byte, (), "dealer first giver leader best bid_seat"),
        (byte, (2,), "levels"),
        (byte, (), "phase seat"),
        (short, (), "blood score trick_points held pickable drawn need"),
        (flag, (), "first_hand kitty_public kitty_shown dry kitty_known"),
    ]
    fields += [Field(name, dtype, shape) for dtype, shape, names in numbers for name in names.split()]
    return Schema([*fields, *(Field(name, flag, (4, 4), (2, 1, 0)) for name in ("void", "no_pair", "no_triple"))])


class View(Packed):
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

    def __init__(self, rules: Rules, num: int) -> None:
        """``num`` rows to be filled, see :func:`view`."""
        kind = schema(rules.decks)
        self._lay(rules, num, [np.empty((kind.rows[dtype], num), dtype) for dtype in kind.dtypes])

    def _lay(self, rules: Rules, num: int, buffers: Iterable[npt.NDArray[Any]]) -> None:
        self.rules = rules
        self.fill(schema(rules.decks), num, buffers)

    @classmethod
    def over(cls, rules: Rules, buffers: Sequence[npt.NDArray[Any]]) -> View:
        """A View in given memory: an array ``[rows, B]`` for each dtype of its :func:`schema`, whatever they hold."""
        out = cls.__new__(cls)
        out._lay(rules, buffers[0].shape[1], buffers)
        return out

    @cached_property
    def suits(self) -> Flags:
        """``void``, ``no_pair`` and ``no_triple`` as they lie in memory, ``[3 * suit, seat, B]``."""
        rows: Flags = self.rows_of("void", "no_triple").reshape(12, 4, self.num)
        return rows

    def by_seat(self, name: str) -> Words:
        """Planes of seats as they lie in memory, ``[D, seats, B]``."""
        rows: Words = self.rows_of(name).reshape(*self.schema.fields[name].shape, self.num)
        return rows

    def __len__(self) -> int:
        return self.num

    def rows(self, idx: Index | Flags | slice) -> View:
        """The View of some rows."""
        return self._with(buffer[:, idx] for buffer in self.buffers)

    def replace(self, **changes: npt.NDArray[Any]) -> View:
        """A copy with other values in some fields; ``ValueError`` names what is no field."""
        out = self._with(buffer.copy() for buffer in self.buffers)
        for name, value in changes.items():
            if name not in self.schema.fields:
                raise ValueError(f"a View has no field {name!r}")
            getattr(out, name)[...] = value
        return out

    def _with(self, buffers: Iterable[npt.NDArray[Any]]) -> View:
        return View.over(self.rules, [np.ascontiguousarray(buffer) for buffer in buffers])

    def __getstate__(self) -> dict[str, Any]:
        return {"rules": self.rules, "num": self.num, "buffers": self.buffers}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._lay(state["rules"], state["num"], state["buffers"])


def view(
    t: Tables, idx: Index | None = None, seat: npt.NDArray[np.int8] | None = None, *, out: View | None = None
) -> View:
    """The View of the tables ``idx`` (all) for the seats ``seat[B]`` (those to move). All arrays are copies.

    ``out`` is overwritten and returned when given; a View that serves again and again saves its memory.
    """
    # Plain indices, or an IndexError: what follows computes places from them and checks nothing any more.
    g = np.arange(t.num) if idx is None else np.arange(t.num)[idx]
    mover = t.seat.take(g)
    me = mover if seat is None else np.asarray(seat, np.int8)
    if out is None:
        out = View(t.rules, len(g))
    elif len(out) != len(g) or out.rules != t.rules:
        raise ValueError(f"out is a View of {len(out)} rows, not of {len(g)}, or of other rules")
    # Where seat k from the viewer stands in the rows of a field by seat, all as one row: see Tables.at().
    at = t.rotated.take(me, axis=1) + g  # [4, B]
    phase = t.phase.take(g)
    mine = (me == mover) & (phase != _OVER)
    _see_numbers(t, g, me, phase, mine, out)
    t.rows_of("void", "no_triple").reshape(12, -1).take(at, axis=1, out=out.suits, mode="clip")
    _see_cards(t, g, at, mine, out)
    bidding = (phase <= _BID).nonzero()[0]
    if len(bidding):  # nobody knows more than the cards shown, less none played
        out.known[:, bidding, :4] = out.shown[:, bidding]
    _know_of_two_places(t, g, me, at, out)
    return out


def _see_numbers(t: Tables, g: Index, me: Int8, phase: Int8, mine: Flags, out: View) -> None:
    for first, last in (("level", "bid_suit"), ("levels", "levels"), ("blood", "need"), ("first_hand", "dry")):
        t.rows_of(first, last).take(g, axis=1, out=out.rows_of(first, last), mode="clip")
    seats = t.rows_of("dealer", "bid_seat").take(g, axis=1)
    seats += _ONE
    seats *= _FOUR
    seats += me
    _RELATIVE.take(seats, out=out.rows_of("dealer", "bid_seat"), mode="clip")
    out.giver |= -(t.tribute[0].take(g) == 0).view(np.int8)  # R5.1: who gives is known once it is given
    mine_first, theirs = out.rows_of("levels")
    swap = (mine_first ^ theirs) * (me & _ONE)
    mine_first ^= swap
    theirs ^= swap
    out.seat[:] = me
    np.bitwise_or(phase, -(~mine).view(np.int8), out=out.phase)  # NOBODY has all bits set
    out.need *= mine
    np.bitwise_or(out.kitty_public, (me == t.dealer.take(g)) & (phase >= _JOKERS), out=out.kitty_known)


def _see_cards(t: Tables, g: Index, at: Index, mine: Flags, out: View) -> None:
    decks, num = t.rules.decks, t.num
    t.flat.take(at[0] + HAND * num, axis=1, out=out.hand, mode="clip")
    np.multiply(t.flat.take(g + PENDING * num, axis=1), mine, out=out.pending)
    np.multiply(t.flat.take(g + KITTY * num, axis=1), out.kitty_known, out=out.kitty)
    t.rows_of("tribute", "turned").take(g, axis=1, out=out.rows_of("tribute", "turned"), mode="clip")
    t.flat_trick.take(at, axis=1, out=out.by_seat("trick"), mode="clip")
    played = t.flat.take(at + PLAYED * num, axis=1, out=out.by_seat("played"), mode="clip")
    # What was known of a seat and what it has shown, less what it has played since.
    once = t.rows_of("known", "shown").reshape(2, decks, -1).take(at, axis=2)  # [2, D, seat, B]
    left = planes.minus(once.transpose(1, 0, 2, 3), played[:, None])
    known = out.by_seat("known")
    known[:, :4], known[:, 4] = left[:, 0], t.loose.take(g, axis=1)
    out.by_seat("shown")[...] = left[:, 1]


def _know_of_two_places(t: Tables, g: Index, me: Int8, at: Index, out: View) -> None:
    """What is known of the dealer's hand and the kitty together, and of cards returned; both concern few rows."""
    known = out.by_seat("known")

    def beyond(rows: Index, seat: Int8) -> Words:
        """What a seat played beyond the cards known of it: they may have come from what was known less exactly."""
        where = at[seat, rows]
        base = t.rows_of("known").reshape(len(known), -1).take(where, axis=1)
        return planes.minus(t.flat.take(where + PLAYED * t.num, axis=1), base)

    rows = known[0, DEALER_OR_KITTY].nonzero()[0]
    if len(rows):
        known[:, DEALER_OR_KITTY, rows] = planes.minus(
            known[:, DEALER_OR_KITTY].take(rows, axis=1), beyond(rows, out.dealer[rows])
        )
    # R5.4: he who returned cards knows them to be with the giver. In a reversed tribute (R5.5) that is the dealer, who
    # may have buried them: until the kitty is public, they are in one place or the other.
    rows = ((me == t.receiver.take(g)) & (t.returned[0].take(g) != 0)).nonzero()[0]
    if not len(rows):
        return
    tables, giver = g[rows], out.giver[rows]
    returned = planes.minus(t.returned.take(tables, axis=1), beyond(rows, giver))
    either = (giver == out.dealer[rows]) & (t.phase[tables] >= _JOKERS) & ~t.kitty_public[tables]
    column = np.where(either, DEALER_OR_KITTY, giver)
    known[:, column, rows] = planes.add(known[:, column, rows], returned)
