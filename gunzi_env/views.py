"""The observation of a seat: the :class:`View`.

A View does not depend on cards that its seat cannot have seen. Seats are relative to the viewer: 0 is the
viewer, 1 the next, 2 the partner, 3 the previous seat. Cards are planes in slots (see
:mod:`gunzi_env.planes`, :mod:`gunzi_env.order`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from enum import Enum
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from gunzi_env import planes
from gunzi_env.order import Layout
from gunzi_env.packed import Packed, column, runs
from gunzi_env.planes import Words
from gunzi_env.rules import Rules
from gunzi_env.tables import HAND, KITTY, NOBODY, PENDING, PLAYED, Flags, Index, Int8, Phase, Tables, cards

DEALER_OR_KITTY = 4
"""Column of ``View.known`` for cards in the dealer's hand or the kitty."""

_BID, _JOKERS, _OVER = int(Phase.BID), int(Phase.JOKERS), int(Phase.OVER)  # plain numbers compare faster
_ONE, _FOUR = np.int8(1), np.int8(4)

_RELATIVE = np.array([[NOBODY] * 4, *[[(seat - me) & 3 for me in range(4)] for seat in range(4)]], np.int8)
"""By seat + 1 and viewer."""


class Shown(Enum):
    """How a View shows a field of the tables that it is made of."""

    SAME = "as it is"
    TEAMS = "my team first"
    SEAT = "a seat, counted from the viewer; NOBODY stays"
    BY_SEAT = "an axis of seats, the viewer first"


_Field = TypeVar("_Field")


def seen(field: _Field, how: Shown = Shown.SAME) -> _Field:
    """Declare a field of the View that shows a field of :class:`Tables`, which says what it means."""
    made: _Field = dataclasses.replace(field, seen=how)  # type: ignore[type-var]  # a Column, typed as its array
    return made


class View(Packed):
    """What B seats may know, one row each; D decks. Seats are relative to the viewer.

    Fields declared by :func:`seen` mean what they mean in :class:`Tables` (there N is the number of tables, here B)."""

    # Cards.
    hand: Words = cards()  # [D, B] my hand
    pending: Words = cards()  # [D, B] my cards named so far in a half-made choice; no longer in hand
    kitty: Words = cards()  # [D, B] the buried cards, where I know them
    tribute = seen(Tables.tribute)  # [D, B]
    turned = seen(Tables.turned)  # [D, B]
    played: Words = cards(4)  # [D, B, 4] cards played in this hand, by seat
    trick: Words = cards(4)  # [D, B, 4] cards of the current trick, by seat; also among those played
    shown: Words = cards(4)  # [D, B, 4] cards shown in bids (R4.4, R5.5), less those the seat has played since
    known: Words = cards(5)  # [D, B, 5] lower bound of a seat's hand; column 4: of dealer's hand and kitty together

    level = seen(Tables.level)  # [B]
    trump = seen(Tables.trump)  # [B]
    led_suit = seen(Tables.led_suit)  # [B]
    led_count = seen(Tables.led_count)  # [B]
    best_slot = seen(Tables.best_slot)  # [B]
    bid_strength = seen(Tables.bid_strength)  # [B] 0 none, 1..D level cards, D + 1 small, D + 2 big jokers
    bid_suit = seen(Tables.bid_suit)  # [B]

    dealer = seen(Tables.dealer, Shown.SEAT)  # [B]
    first = seen(Tables.first, Shown.SEAT)  # [B]
    giver = seen(Tables.giver, Shown.SEAT)  # [B] NOBODY until tribute is given
    leader = seen(Tables.leader, Shown.SEAT)  # [B]
    best = seen(Tables.best, Shown.SEAT)  # [B]
    bid_seat = seen(Tables.bid_seat, Shown.SEAT)  # [B]

    levels = seen(Tables.levels, Shown.TEAMS)  # [B, 2]

    phase: Int8 = column(np.int8)  # [B] tables.Phase of the viewer's decision, NOBODY when it is not their move
    seat: Int8 = column(np.int8)  # [B] the viewer, absolute

    blood = seen(Tables.blood)  # [B]
    score = seen(Tables.score)  # [B]
    trick_points = seen(Tables.trick_points)  # [B]
    held = seen(Tables.held)  # [B]
    pickable = seen(Tables.pickable)  # [B]
    drawn = seen(Tables.drawn)  # [B]
    need = seen(Tables.need)  # [B] 0 when it is not the viewer's move

    first_hand = seen(Tables.first_hand)  # [B]
    kitty_public = seen(Tables.kitty_public)  # [B]
    kitty_shown = seen(Tables.kitty_shown)  # [B]
    dry = seen(Tables.dry)  # [B]
    kitty_known: Flags = column(np.bool_)  # [B] do I know what lies buried?

    void = seen(Tables.void, Shown.BY_SEAT)  # [B, seat, suit] 0-2 side suits in slot order, 3 trump
    no_pair = seen(Tables.no_pair, Shown.BY_SEAT)  # [B, seat, suit]
    no_triple = seen(Tables.no_triple, Shown.BY_SEAT)  # [B, seat, suit]

    rules: Rules

    def __init__(self, rules: Rules, num: int) -> None:
        """``num`` rows of any content, to be filled by :func:`view`."""
        schema = self.schema_of(rules.decks)
        self._take(rules, num, [np.empty((schema.rows[dtype], num), dtype) for dtype in schema.dtypes])

    def _take(self, rules: Rules, num: int, buffers: Iterable[npt.NDArray[Any]]) -> None:
        self.rules = rules
        self.fill(rules.decks, num, buffers)

    @classmethod
    def over(cls, rules: Rules, buffers: Sequence[npt.NDArray[Any]]) -> View:
        """A View in given memory: an array ``[rows, B]`` for each dtype of its schema, in any state."""
        out = cls.__new__(cls)
        out._take(rules, buffers[0].shape[1], buffers)
        return out

    @property
    def layout(self) -> Layout:
        """The order of slots (R2) in every hand of these rules."""
        return self.rules.layout

    @cached_property
    def suits(self) -> Flags:
        """The flags by seat and suit as in memory, ``[flag and suit, seat, B]``."""
        rows: Flags = self.rows_of(*SUIT_FLAGS)
        return rows.reshape(len(rows) // 4, 4, self.num)

    def by_seat(self, name: str) -> Words:
        """Planes of seats as in memory, ``[D, seats, B]``."""
        rows: Words = self.rows_of(name).reshape(*self.schema.shapes[name], self.num)
        return rows

    def __len__(self) -> int:
        return self.num

    def rows(self, idx: Index | Flags | slice) -> View:
        """The View of some rows."""
        return self._with(buffer[:, idx] for buffer in self.buffers)

    def replace(self, **changes: npt.NDArray[Any]) -> View:
        """Copy the View with other values in some fields; ``ValueError`` for a name that is no field."""
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
        self._take(state["rules"], state["num"], state["buffers"])


_COPIED = runs(Tables, View, (Shown.SAME, Shown.TEAMS))
(_SEATS,) = runs(Tables, View, (Shown.SEAT,))
(SUIT_FLAGS,) = runs(Tables, View, (Shown.BY_SEAT,))
"""First and last of the flags by seat and suit."""


def view(
    t: Tables, idx: Index | None = None, seat: npt.NDArray[np.int8] | None = None, *, out: View | None = None
) -> View:
    """Make the View of the tables ``idx`` (default: all) for the seats ``seat[B]`` (default: the seats to move).

    All arrays are copies. ``out`` is overwritten and returned when given; reusing a View saves allocations.

    Raises:
        IndexError: A table does not exist.
        ValueError: ``out`` has another number of rows or other rules.
    """
    # The gathers below use these indices unchecked.
    g = np.arange(t.num) if idx is None else np.arange(t.num)[idx]
    mover = t.seat.take(g)
    me = mover if seat is None else np.asarray(seat, np.int8)
    if out is None:
        out = View(t.rules, len(g))
    elif len(out) != len(g) or out.rules != t.rules:
        raise ValueError(f"out is a View of {len(out)} rows, not of {len(g)}, or of other rules")
    # Column of the k-th seat from the viewer in a field with one axis for seat and table, see Tables.at().
    at = t.rotated.take(me, axis=1) + g  # [4, B]
    phase = t.phase.take(g)
    mine = (me == mover) & (phase != _OVER)
    for run in _COPIED:
        t.rows_of(*run).take(g, axis=1, out=out.rows_of(*run), mode="clip")
    _see_numbers(t, g, me, phase, mine, out)
    flags = t.rows_of(*SUIT_FLAGS)
    flags.reshape(len(flags) // 4, -1).take(at, axis=1, out=out.suits, mode="clip")
    _see_cards(t, g, at, mine, out)
    bidding = (phase <= _BID).nonzero()[0]
    if len(bidding):  # only shown cards are known, and none has been played
        out.known[:, bidding, :4] = out.shown[:, bidding]
    _know_of_two_places(t, g, me, at, out)
    return out


def _see_numbers(t: Tables, g: Index, me: Int8, phase: Int8, mine: Flags, out: View) -> None:
    seats = t.rows_of(*_SEATS).take(g, axis=1)
    seats += _ONE
    seats *= _FOUR
    seats += me
    _RELATIVE.take(seats, out=out.rows_of(*_SEATS), mode="clip")
    out.giver |= -(t.tribute[0].take(g) == 0).view(np.int8)  # R5.1: NOBODY until tribute is given
    mine_first, theirs = out.rows_of("levels")
    swap = (mine_first ^ theirs) * (me & _ONE)
    mine_first ^= swap
    theirs ^= swap
    out.seat[:] = me
    np.bitwise_or(phase, -(~mine).view(np.int8), out=out.phase)  # all bits set are NOBODY
    out.need *= mine
    np.bitwise_or(out.kitty_public, (me == t.dealer.take(g)) & (phase >= _JOKERS), out=out.kitty_known)


def _see_cards(t: Tables, g: Index, at: Index, mine: Flags, out: View) -> None:
    decks, num = t.rules.decks, t.num
    t.flat.take(at[0] + HAND * num, axis=1, out=out.hand, mode="clip")
    np.multiply(t.flat.take(g + PENDING * num, axis=1), mine, out=out.pending)
    np.multiply(t.flat.take(g + KITTY * num, axis=1), out.kitty_known, out=out.kitty)
    t.flat_trick.take(at, axis=1, out=out.by_seat("trick"), mode="clip")
    played = t.flat.take(at + PLAYED * num, axis=1, out=out.by_seat("played"), mode="clip")
    # Cards known of a seat, and cards it has shown, less those it has played since.
    once = t.rows_of("known", "shown").reshape(2, decks, -1).take(at, axis=2)  # [2, D, seat, B]
    left = planes.minus(once.transpose(1, 0, 2, 3), played[:, None])
    known = out.by_seat("known")
    known[:, :4], known[:, 4] = left[:, 0], t.loose.take(g, axis=1)
    out.by_seat("shown")[...] = left[:, 1]


def _know_of_two_places(t: Tables, g: Index, me: Int8, at: Index, out: View) -> None:
    """Knowledge of the dealer's hand and the kitty together, and of returned cards; both exist in few rows."""
    known = out.by_seat("known")

    def beyond(rows: Index, seat: Int8) -> Words:
        """Cards a seat played beyond those known of it; they may be among the cards known of two places."""
        where = at[seat, rows]
        base = t.rows_of("known").reshape(len(known), -1).take(where, axis=1)
        return planes.minus(t.flat.take(where + PLAYED * t.num, axis=1), base)

    rows = known[0, DEALER_OR_KITTY].nonzero()[0]
    if len(rows):
        known[:, DEALER_OR_KITTY, rows] = planes.minus(
            known[:, DEALER_OR_KITTY].take(rows, axis=1), beyond(rows, out.dealer[rows])
        )
    # R5.4: the player who returned cards knows that the giver has them. In a reversed tribute (R5.5) the giver is the
    # dealer, who may have buried them: until the kitty is public, they are in the dealer's hand or the kitty.
    rows = ((me == t.receiver.take(g)) & (t.returned[0].take(g) != 0)).nonzero()[0]
    if not len(rows):
        return
    tables, giver = g[rows], out.giver[rows]
    returned = planes.minus(t.returned.take(tables, axis=1), beyond(rows, giver))
    either = (giver == out.dealer[rows]) & (t.phase[tables] >= _JOKERS) & ~t.kitty_public[tables]
    column = np.where(either, DEALER_OR_KITTY, giver)
    known[:, column, rows] = planes.add(known[:, column, rows], returned)
