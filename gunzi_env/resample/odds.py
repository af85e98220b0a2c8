"""How many cards of each kind lie in each hidden place: the odds from which :mod:`gunzi_env.resample.counts` draws.

Cards that may lie in the same hands are one *class*: a number with a bit for each of three *roles*, which are the
hidden seats in an order that suits the drawing. With x, y, ... cards of a class of n in the places, the physical cards
can be laid in n! / (x! y! ...) ways, and so the numbers of all classes have odds like the product of these.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gunzi_env.planes import BIT, U64, Ints, Words, count, lowest, thermometer
from gunzi_env.resample.constraints import HIDDEN_KITTY, NUM_PLACES, Constraints
from gunzi_env.tables import Flags, Index

Floats = npt.NDArray[np.float64]

NUM_CLASSES = 8
ONLY_FIRST, ONLY_SECOND, FIRST_TWO, ONLY_LAST, FIRST_LAST, LAST_TWO, ALL = range(1, NUM_CLASSES)
"""The classes, by the roles; class 0 is of cards that can but lie in the kitty."""

POINTS, OTHERS, KEPT = 0, 1, 2
"""Kinds: point cards and others that may lie in the kitty, and cards that cannot."""

_FIT_ROUNDS = 25
"""Rounds of fitting: with more, proposals would be a little better; the law of what is accepted is the same."""

_MIN_TILT = 1e-6
"""Nothing tilts less."""

_PROBABILITY_BITS = U64(40)
"""Bits of a probability."""

_LOG_FACTORIAL: Floats = np.concatenate([[0.0], np.log(np.arange(1, 1024)).cumsum()])


class CumulativeTable:
    """Tables of odds ``weights[rows, k]``, each drawn from by a word of chance."""

    def __init__(self, weights: Floats) -> None:
        rows, self.width = weights.shape
        upto = weights.cumsum(axis=1)
        total = upto[:, -1:]
        self.possible: Flags = total[:, 0] > 0
        # Whole numbers, so that a draw does not depend on the row's place.
        thresholds = (upto / np.where(total > 0, total, 1.0) * float(1 << int(_PROBABILITY_BITS))).astype(U64)
        thresholds[upto >= total] = U64(1) << _PROBABILITY_BITS
        self.thresholds: Words = (thresholds + (np.arange(rows, dtype=U64)[:, None] << _PROBABILITY_BITS)).reshape(-1)

    def draw(self, row: Index, chance: Words) -> Index:
        """The outcome 0..k-1 in each row, by one word each."""
        wanted = (row.astype(U64) << _PROBABILITY_BITS) | (chance >> (U64(64) - _PROBABILITY_BITS))
        return np.asarray(np.searchsorted(self.thresholds, wanted, side="right") - row * self.width)


def log_choose(n: Ints, k: Ints) -> Floats:
    """The logarithm of the ways to choose k of n things, 0 <= k <= n."""
    return np.asarray(_LOG_FACTORIAL[n] - _LOG_FACTORIAL[k] - _LOG_FACTORIAL[n - k])


def log_binomial(n: Ints, k: Ints, p: Floats, q: Floats) -> Floats:
    """The logarithm of the binomial law, 0 <= k <= n, p + q = 1."""
    return np.asarray(log_choose(n, k) + k * np.log(p) + (n - k) * np.log(q))


@cache
def ways(decks: int) -> Index:
    """Every way to lay the copies of a slot, ``[way, copy]`` of places; one that is not there is laid in place 0."""
    return np.array(list(product(range(NUM_PLACES), repeat=decks)), np.intp)


@cache
def numbers_of_ways(decks: int) -> Index:
    """How many copies each way lays in each place, ``[place, way]``."""
    out: Index = (ways(decks) == np.arange(NUM_PLACES)[:, None, None]).sum(axis=2)
    return out


class PinnedSlot(NamedTuple):
    """A slot of each View of which somebody does not hold some number of copies, if it has one."""

    bit: Words  # [V]
    missing: Index  # [V] copies that are not there; all of them where there is no such slot
    worth: Index  # [V] POINTS or OTHERS
    table: CumulativeTable  # of the ways


class Odds:
    """The odds of V Views. ``possible[V]``: do they know of any world? ``bound[V]`` is above the logarithm of every
    weight that :func:`gunzi_env.resample.counts.propose` computes."""

    def __init__(self, constraints: Constraints) -> None:
        number = constraints.room.shape[1]
        everyone = np.arange(number)
        self.roles = _roles(constraints)
        may, never = constraints.may.copy(), constraints.never.copy()
        room = constraints.room[:3].copy()
        for role in range(3):
            may[role] = constraints.may[self.roles[role], :, everyone].T
            never[:, role] = constraints.never[:, self.roles[role], everyone]
            room[role] = constraints.room[self.roles[role], everyone]
        self.may, self.points = may, constraints.points
        self.room: Index = room.astype(np.intp)  # [role, V]
        self.kitty: Index = constraints.room[HIDDEN_KITTY].astype(np.intp)  # [V]
        self.most = int(self.kitty.max())
        self.tilt, self.kitty_tilt = _fit(groups(may, constraints.points), self.room, self.kitty, constraints)
        pinned_slots = _pinned_slots(may, never)
        self.pinned = list(
            _pinned(may, never, constraints.points, pinned_slots, np.concatenate([self.tilt, self.kitty_tilt]))
        )
        self.loose = may & ~pinned_slots
        self.numbers = groups(self.loose, constraints.points)  # [class, kind, V]
        self.whole: Index = self.numbers.cumsum(axis=1)[:, -1]  # [class, V]
        self.possible: Flags = np.ones(number, np.bool_)
        for pinned in self.pinned:
            self.possible &= pinned.table.possible
        self.bound = np.zeros(number)
        pinned_numbers = groups(may & pinned_slots, constraints.points)
        self._shape_kitty(constraints.least, constraints.most, pinned_numbers[:, :KEPT].cumsum(axis=0)[-1])
        self._shape_hands(pinned_numbers.cumsum(axis=0)[-1].cumsum(axis=0)[-1])

    def _shape_kitty(self, least: Ints, most: Ints, pinned: Index) -> None:
        """How the kitty is made up of classes, ``classes[kind][class]`` with rows (V, cards of the kind left); before
        that, how many points it has, ``split`` with rows (V, pinned points, other pinned cards).
        ``log_ways`` has the same rows: the ways of the kitty over what pinned cards in it were drawn with."""
        k = np.arange(self.most + 1)
        width = len(k)
        self.classes: list[list[CumulativeTable]] = []
        totals = []
        tilts = class_tilts(self.tilt)
        for kind in (POINTS, OTHERS):
            after = np.zeros((len(self.kitty), width))
            after[:, 0] = 1.0
            tables: list[CumulativeTable] = []
            for c in range(ALL, -1, -1):
                some = _from_class(self.numbers[c, kind], tilts[c] if c else None, k)
                joint = np.zeros((len(self.kitty), width, width))  # [V, left, from this class]
                for taken in range(width):
                    joint[:, taken:, taken] = some[:, taken, None] * after[:, : width - taken]
                tables.append(CumulativeTable(joint.reshape(-1, width)))
                after = joint.cumsum(axis=2)[:, :, -1]
            self.classes.append(tables[::-1])
            totals.append(after)
        self.beside: Index = np.minimum(pinned, self.most).max(axis=1) + 1
        joint = np.zeros((len(self.kitty), *self.beside, width))
        for a, b in product(*map(range, self.beside)):
            rest = self.kitty[:, None] - k - b
            good = (k >= a) & (rest >= 0) & (least[:, None] <= k) & (k <= most[:, None])
            good &= ((a <= pinned[POINTS]) & (b <= pinned[OTHERS]))[:, None]
            others = np.take_along_axis(totals[OTHERS], np.maximum(rest, 0), axis=1)
            joint[:, a, b] = good * totals[POINTS][:, np.maximum(k - a, 0)] * others
        self.split = CumulativeTable(joint.reshape(-1, width))
        with np.errstate(divide="ignore"):
            log_ways = np.log(joint.cumsum(axis=3)[..., -1])
        points, others = (np.arange(n) * np.log(p)[:, None] for n, p in zip(self.beside, self.kitty_tilt, strict=True))
        log_ways = log_ways - points[:, :, None] - others[:, None, :]
        highest = log_ways.max(axis=(1, 2))
        self.possible &= highest > -np.inf
        self.log_ways: Floats = log_ways.reshape(-1)
        self.bound += np.where(self.possible, highest, 0.0)

    def _shape_hands(self, pinned_cards: Ints) -> None:
        """What goes to role 0 of the classes that it shares with one other, with rows (V, cards of it in the kitty)."""
        whole, p = self.whole, self.tilt
        first_two, first_last = (_shares(whole[c], p[0], p[r], self.most) for c, r in ((FIRST_TWO, 1), (FIRST_LAST, 2)))
        self.shared = {FIRST_TWO: first_two, FIRST_LAST: first_last}
        last = p[1] + p[2]
        self.laws: Floats = np.log(np.stack([p[0], last, p[1] / last, p[2] / last]))  # [4, V] see propose()
        # The greatest value of a binomial law is greatest for the fewest cards: so many are open at least.
        open_to_all = np.maximum(whole[ALL] - self.kitty, 0)
        elsewhere = whole[ONLY_SECOND] + whole[ONLY_LAST] + whole[FIRST_TWO] + whole[FIRST_LAST] + pinned_cards
        left = whole[LAST_TWO] + whole[ALL] - self.kitty - self.room[0]
        open_to_last = np.maximum(left, self.room[1] + self.room[2] - elsewhere)
        self.bound += _highest(open_to_all, p[0], last)
        self.bound += _highest(np.maximum(open_to_last, 0), p[1] / last, p[2] / last)


def _roles(constraints: Constraints) -> Index:
    """Which seat has which role, ``[role, V]``: role 0 is the one without whom most cards are open to just two."""
    numbers = groups(constraints.may, constraints.points).sum(axis=1)
    first = np.stack([numbers[ALL - (1 << seat)] for seat in range(3)]).argmax(axis=0)
    second = (first == 0).astype(np.intp)
    return np.stack([first, second, 3 - first - second])


def classes_of(may: Words, c: int) -> Words:
    """The copies of class ``c``, ``uint64[D, V]``."""
    inside = may[0] | may[1] | may[2] | may[HIDDEN_KITTY]
    for role in range(3):
        inside = inside & (may[role] if c >> role & 1 else ~may[role])
    return np.asarray(inside)


def groups(may: Words, points: Words) -> Index:
    """How many copies each class has of each kind, ``[class, kind, V]``."""
    kitty = may[HIDDEN_KITTY]
    kinds = (kitty & points, kitty & ~points, ~kitty)
    found = [[count(classes_of(may, c) & kind) for kind in kinds] for c in range(NUM_CLASSES)]
    return np.array(found, np.intp)


def class_tilts(tilt: Floats) -> Floats:
    """How much the hands of each class draw together, ``[class, V]``; all of them 1, as it is a law."""
    out = np.zeros((NUM_CLASSES, tilt.shape[1]))
    for c in range(1, NUM_CLASSES):
        for role in range(3):
            out[c] += tilt[role] * (c >> role & 1)
    out[ALL] = 1.0
    return out


def _fit(numbers: Index, room: Index, kitty: Index, constraints: Constraints) -> tuple[Floats, Floats]:
    """How much each hand draws cards to it ``[3, V]``, and the kitty points and others ``[2, V]``, such that all would
    on average have as many cards as they have (iterative proportional fitting)."""
    aim = np.stack([constraints.least + constraints.most, 2 * kitty - constraints.least - constraints.most]) / 2
    exact = constraints.least == constraints.most
    kitty_tilt = np.full((3, len(kitty)), 0.05)
    kitty_tilt[KEPT] = 0.0
    tilt = np.full((3, len(kitty)), 1 / 3)
    for _ in range(_FIT_ROUNDS):
        shares = numbers / np.maximum(class_tilts(tilt)[:, None] + kitty_tilt, _MIN_TILT)
        taken = (shares * kitty_tilt).cumsum(axis=0)[-1, :KEPT] + _MIN_TILT
        got = np.stack([sum(shares[c].cumsum(axis=0)[-1] for c in range(NUM_CLASSES) if c >> r & 1) for r in range(3)])
        tilt = np.maximum(tilt * room / np.maximum(got * tilt, _MIN_TILT), _MIN_TILT)
        kitty_tilt[:KEPT] *= np.where(exact, aim / taken, kitty / (taken[0] + taken[1]))
        whole = tilt[0] + tilt[1] + tilt[2]
        tilt = tilt / whole
        kitty_tilt[:KEPT] = np.clip(kitty_tilt[:KEPT] / whole, _MIN_TILT, 1 / _MIN_TILT)
    return tilt, kitty_tilt[:KEPT]


def _pinned_slots(may: Words, never: Words) -> Words:
    """The slots of which a seat might else hold a number of copies that it does not hold."""
    out = np.zeros_like(may[0, 0])
    for role in range(3):
        for held, bad in zip(thermometer(may[role]), never[:, role], strict=True):
            out |= held & bad
    return np.asarray(out)


def _pinned(may: Words, never: Words, points: Words, slots: Words, kitty_tilt: Floats) -> Iterator[PinnedSlot]:
    """The pinned slots of each View one after the other, as :class:`PinnedSlot`."""
    decks = may.shape[1]
    every, numbers = ways(decks), numbers_of_ways(decks)
    there = may[0] | may[1] | may[2] | may[HIDDEN_KITTY]
    while slots.any():
        bit = BIT.take(lowest(slots), mode="clip") & slots
        slots = slots & ~bit
        worth = np.where((bit & points) != 0, POINTS, OTHERS)
        missing = decks - count(there & bit).astype(np.intp)
        weights = np.ones((len(bit), len(every)))
        draws = [*kitty_tilt[:3], np.where(worth == POINTS, kitty_tilt[3], kitty_tilt[4])]
        for copy in range(decks):
            each = np.stack([((may[place, copy] & bit) != 0) * draws[place] for place in range(NUM_PLACES)])
            each[0] += (there[copy] & bit) == 0
            weights *= each[every[:, copy]].T
        for role in range(3):
            held = numbers[role] - (missing * (role == 0))[:, None]
            for copies in range(1, decks + 1):
                weights *= ((never[copies - 1, role] & bit) == 0)[:, None] | (held != copies)
        yield PinnedSlot(bit, missing, worth, CumulativeTable(weights))


def _from_class(number: Index, tilt: Floats | None, k: Index) -> Floats:
    """The odds that ``k`` cards of a class of ``number`` are in the kitty, ``[V, len(k)]``: the ways to choose them
    over what its hands tilt; cards without a hand are all there."""
    n = number[:, None]
    good = n == k if tilt is None else k <= n
    some = k * good
    ways_of_it = np.exp(log_choose(n, some))
    over = np.ones_like(ways_of_it) if tilt is None else tilt[:, None] ** some.astype(np.float64)
    return np.asarray(good * ways_of_it / over)


def _shares(number: Index, first: Floats, other: Floats, most: int) -> CumulativeTable:
    """Binomial odds of how many of ``number`` cards less 0..``most`` go to the first of two."""
    n = (number[:, None] - np.arange(most + 1))[..., None]
    k = np.arange(int(number.max()) + 1)
    p, q = ((tilt / (first + other))[:, None, None] for tilt in (first, other))
    good = (k <= n) & (n >= 0)
    law = np.exp(log_binomial(np.where(good, n, 0), np.where(good, k, 0), p, q))
    law *= good
    return CumulativeTable(law.reshape(-1, len(k)))


def _highest(n: Index, p: Floats, q: Floats) -> Floats:
    """The logarithm of the greatest value of a binomial law; it is less for more cards."""
    mode = np.minimum(((n + 1) * p).astype(np.intp), n)
    return log_binomial(n, mode, p, q)
