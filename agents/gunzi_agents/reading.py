"""Card counting from a View: cards left, probabilities of voids, and of being beaten.

All probabilities follow one rough model: an unseen card of a suit is equally probable in each hand that has not shown
out of that suit and, if it is a side card and the viewer does not know the kitty, in the kitty. Cards known to be with
a seat are with that seat.

Decisions are the last axis: ``[54, B]`` has a number for each slot, ``[D, 54, B]`` one for each number of copies
m = 1..D of each slot. So loops over the slots run over contiguous rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gunzi_env import order, planes
from gunzi_env.observe import View
from gunzi_env.observe import unseen as unseen_cards
from gunzi_env.order import TRUMP
from gunzi_env.planes import NUM_SLOTS, Words, unpack

Floats = npt.NDArray[np.float32]
Counts = npt.NDArray[np.int8]
Flags = npt.NDArray[np.bool_]
Slots = npt.NDArray[np.intp]

ME, NEXT, PARTNER, PREVIOUS = range(4)
OPPONENTS = (NEXT, PREVIOUS)

_STEPS = 32
"""Shares are rounded to multiples of 1 / 32, so that probabilities can be looked up in a table."""
_NO_CHANCE = -20.0
"""Used as the logarithm of 0."""


@dataclass(frozen=True, eq=False)
class _Order:
    """For each slot, by level: its suit, the first slot that beats it, the first slot after its suit."""

    suit: Slots  # [54, level]
    beats: Slots  # [54, level]
    end: Slots  # [54, level]
    points: Floats  # [54, level]
    same: bool  # suit, beats and end are the same at all levels (not with R2.6)


@cache
def _order(table: order.Layout) -> _Order:
    suit = table.suit_of_slot.astype(np.intp)
    strength = table.strength.astype(np.intp)
    slots = np.arange(NUM_SLOTS)
    past = suit[:, None, :] > suit[:, :, None]
    beats = np.where(past | (strength[:, None, :] > strength[:, :, None]), slots, NUM_SLOTS)
    beats = np.where(slots > slots[:, None], beats, NUM_SLOTS).min(axis=2)
    end = np.where(past, slots, NUM_SLOTS).min(axis=2)
    suit, beats, end = (np.ascontiguousarray(x.T) for x in (suit, beats, end))
    return _Order(suit, beats, end, np.ascontiguousarray(table.points.T, np.float32), table is order.layout(None))


@cache
def _misses(decks: int) -> Floats:
    """Tabulate the log of the probability to hold fewer than m copies, with k known and u unseen, by share.

    ``float32[D, (steps + 1) * (D + 1) * (D + 1)]``, the second index being ``(share * (D + 1) + u) * (D + 1) + k``.
    """
    share = np.arange(_STEPS + 1) / _STEPS
    luck = np.zeros((_STEPS + 1, decks + 1, decks + 2))  # probability of holding exactly j of u
    luck[:, 0, 0] = 1
    for u in range(1, decks + 1):
        luck[:, u] = luck[:, u - 1] * (1 - share[:, None])
        luck[:, u, 1:] += luck[:, u - 1, :-1] * share[:, None]
    at_most = luck.cumsum(axis=2)
    lack = np.zeros((decks, _STEPS + 1, decks + 1, decks + 1))
    for m in range(1, decks + 1):
        for k in range(m):
            lack[m - 1, :, :, k] = at_most[:, :, m - 1 - k]
    logs = np.log(np.maximum(lack, np.exp(_NO_CHANCE)))
    return logs.reshape(decks, -1).astype(np.float32)


def _held(lacks: Floats) -> Floats:
    """Compute the probability of holding any from the log of the probability of holding none, in place."""
    np.exp(lacks, out=lacks)
    return np.subtract(1, lacks, out=lacks)


_RUN = 9
"""Slots per run of :func:`_add_up`; there are six runs."""


def _add_up(values: Floats) -> None:
    """Compute running totals over the slots of ``float32[D, 54, B]``, in place.

    Row by row, because cumsum along the long stride is ten times as slow in large batches. In parallel runs of slots,
    then run by run, because small batches are dominated by the number of calls.
    """
    runs = values.reshape(len(values), -1, _RUN, values.shape[-1])
    for i in range(1, _RUN):
        runs[:, :, i] += runs[:, :, i - 1]
    for run in range(1, NUM_SLOTS // _RUN):
        runs[:, run] += runs[:, run - 1, -1:]


def counts(cards: Words) -> Counts:
    """Count the copies of each slot, ``uint64[D, B]`` to ``int8[54, B]``."""
    return np.ascontiguousarray(unpack(cards).sum(axis=0, dtype=np.int8).T)


def pick(values: npt.NDArray[Any], index: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Gather ``values[index[b], :, b]`` for each decision: ``[k, 54, B]`` and ``[B]`` to ``[54, B]``."""
    out = values[0]
    for i in range(1, len(values)):
        out = np.where(index == i, values[i], out)
    return out


class Reading:
    """Card counts and probabilities of B decisions after the bidding."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.rules = view.rules
        self.decks = view.rules.decks
        self.layout = view.layout
        self.row = np.arange(len(view))
        self._order = _order(self.layout)
        # Without R2.6 suits and order are the same at all levels, so one column is enough.
        self._level = view.level[:1] if self._order.same else view.level
        self.suit: Slots = self._order.suit[:, self._level]  # [54, B or 1]
        self.trump: Flags = self.suit == TRUMP  # [54, B or 1]
        self.first_trump = (~self.trump).sum(axis=0)  # [B or 1]
        self.points: Floats = self._order.points[:, view.level]  # [54, B]
        self.masks: Words = self.layout.suit_mask[view.level].T  # [4, B]
        self.cards: Words = planes.add(view.hand, view.pending)  # [D, B] own hand, with an incomplete selection undone
        self.mine: Counts = counts(self.cards)  # [54, B]
        self.unseen: Words = unseen_cards(view)

    def by_slot(self, of_suit: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Broadcast values by suit, ``[4, B]``, to the slots, ``[54, B]``."""
        if self._order.same:
            return of_suit[self.suit[:, 0]]
        return np.take_along_axis(of_suit, self.suit, axis=0)

    @cached_property
    def length(self) -> npt.NDArray[np.int16]:
        """Number of own cards of each suit, ``int16[4, B]``."""
        return planes.count(self.cards[:, None] & self.masks)

    @cached_property
    def shares(self) -> Floats:
        """Probability that an unseen card of a suit is with a seat, ``float32[4 seats, 4 suits, B]``."""
        v = self.view
        has = ~v.void.transpose(1, 2, 0)
        has[ME] = False
        held = np.maximum(v.held, 1)
        answered = (v.trick[0, :, NEXT:] != 0).sum(axis=1)
        elsewhere = planes.count(self.unseen) - 3 * v.held + answered * v.led_count
        # Few trumps are buried, so an unknown kitty is assumed to contain side cards.
        hidden = np.where(np.arange(4)[:, None] < TRUMP, elsewhere, elsewhere - self.rules.kitty_size)
        share = held / np.maximum(has.sum(axis=0) * held + np.maximum(hidden, 0), 1)
        return np.where(has, share, 0).astype(np.float32)

    @cached_property
    def out(self) -> Floats:
        """Probability that a seat has no card of a side suit, ``float32[4 seats, 4 suits, B]``; 0 for trumps."""
        left = planes.count(self.unseen[:, None] & self.masks)
        chance = (1 - np.minimum(self.shares, np.float32(0.999))) ** left
        chance[:, TRUMP] = 0
        return chance.astype(np.float32)

    @cached_property
    def _steps(self) -> tuple[npt.NDArray[np.intp], list[Counts], Counts]:
        """Shares as indices of the table of probabilities, copies known with each seat, and other unseen copies."""
        v = self.view
        known = [counts(v.known[:, :, seat]) for seat in range(4)]
        free = np.maximum(counts(self.unseen) - known[NEXT] - known[PARTNER] - known[PREVIOUS], 0)
        steps = (self.shares * _STEPS + 0.5).astype(np.intp) * (self.decks + 1)
        return steps, known, free

    @cached_property
    def _chances(self) -> tuple[Floats, Floats]:
        """:meth:`over` and :meth:`ruffs` of the three others, ``float32[D, 3, 54, B]`` and ``float32[D, 3, B]``."""
        steps, known, free = self._steps
        index = np.empty((3, NUM_SLOTS, len(self.row)), np.intp)
        for seat in (NEXT, PARTNER, PREVIOUS):
            at = (self.by_slot(steps[seat]) + free) * (self.decks + 1) + known[seat]
            index[seat - 1] = at[::-1]
        # sums[:, i]: log of the probability that none of the i highest slots is held m times
        sums = np.zeros((self.decks * 3, NUM_SLOTS + 1, len(self.row)), np.float32)
        apart = sums.reshape(self.decks, 3, NUM_SLOTS + 1, len(self.row))
        _misses(self.decks).take(index, axis=1, out=apart[:, :, 1:], mode="clip")
        _add_up(sums[:, 1:])
        beats, end = (NUM_SLOTS - table[:, self._level] for table in (self._order.beats, self._order.end))
        if self._order.same:
            higher = sums.take(beats[:, 0], axis=1)
            higher -= sums.take(end[:, 0], axis=1)
        else:
            higher = np.take_along_axis(sums, beats[None], axis=1) - np.take_along_axis(sums, end[None], axis=1)
        trumps = sums[:, NUM_SLOTS - self.first_trump, self.row]
        return _held(higher).reshape(self.decks, 3, NUM_SLOTS, -1), _held(trumps).reshape(self.decks, 3, -1)

    def over(self, seat: int) -> Floats:
        """Probability that a seat has m copies of a higher card of the slot's suit, ``float32[D, 54, B]``."""
        return self._chances[0][:, seat - 1]

    def ruffs(self, seat: int) -> Floats:
        """Probability that a seat has m equal trumps, ``float32[D, B]``."""
        return self._chances[1][:, seat - 1]

    @cached_property
    def holds(self) -> Floats:
        """Probability that no opponent beats a lead of m copies of a slot, ``float32[D, 54, B]``."""
        out = np.ones((self.decks, NUM_SLOTS, len(self.row)), np.float32)
        for seat in OPPONENTS:
            out_of_it = self.by_slot(self.out[seat])
            for m in range(self.decks):
                beaten = self.over(seat)[m] + out_of_it * self.ruffs(seat)[m]
                out[m] *= 1 - np.minimum(beaten, 1)
        return out
