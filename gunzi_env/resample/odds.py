"""Sampling weights for the number of cards of each kind in each hidden place, used by :mod:`gunzi_env.resample.counts`.

Cards that may lie in the same hands form a *class*: a bit set of the three *roles*, which are the hidden seats in the
order of sampling. The n cards of a class can be laid in n! / (x! y! ...) ways with x, y, ... of them in the places. The
odds of the numbers of all classes are the product of these multinomials.
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
"""The classes by roles. Cards of class 0 can only lie in the kitty."""

POINTS, OTHERS, KEPT = 0, 1, 2
"""Kinds of cards: point cards that may lie in the kitty, other cards that may, and cards that cannot."""

_FIT_ROUNDS = 25
"""Iterations of the fit; more would raise the acceptance rate slightly without changing the distribution."""

_MIN_TILT = 1e-6
"""Lower bound on a sampling weight."""

_PROBABILITY_BITS = U64(40)
"""Resolution of a sampling probability."""

_LOG_FACTORIAL: Floats = np.concatenate([[0.0], np.log(np.arange(1, 1024)).cumsum()])


class CumulativeTable:
    """Discrete distributions ``weights[rows, k]``, sampled by inverting the cumulative distribution."""

    def __init__(self, weights: Floats) -> None:
        rows, self.width = weights.shape
        upto = weights.cumsum(axis=1)
        total = upto[:, -1:]
        self.possible: Flags = total[:, 0] > 0
        # Integers, so that rounding does not depend on the row's position.
        thresholds = (upto / np.where(total > 0, total, 1.0) * float(1 << int(_PROBABILITY_BITS))).astype(U64)
        thresholds[upto >= total] = U64(1) << _PROBABILITY_BITS
        self.thresholds: Words = (thresholds + (np.arange(rows, dtype=U64)[:, None] << _PROBABILITY_BITS)).reshape(-1)

    def draw(self, row: Index, random: Words) -> Index:
        """Sample an outcome 0..k-1 from each ``row[B]`` with one random word each, ``int[B]``."""
        wanted = (row.astype(U64) << _PROBABILITY_BITS) | (random >> (U64(64) - _PROBABILITY_BITS))
        return np.asarray(np.searchsorted(self.thresholds, wanted, side="right") - row * self.width)


def log_choose(n: Ints, k: Ints) -> Floats:
    """Compute the logarithm of the binomial coefficient n over k, 0 <= k <= n."""
    return np.asarray(_LOG_FACTORIAL[n] - _LOG_FACTORIAL[k] - _LOG_FACTORIAL[n - k])


def log_binomial(n: Ints, k: Ints, p: Floats, q: Floats) -> Floats:
    """Compute the logarithm of the binomial probability of k of n, 0 <= k <= n, p + q = 1."""
    return np.asarray(log_choose(n, k) + k * np.log(p) + (n - k) * np.log(q))


@cache
def ways(decks: int) -> Index:
    """List all ways to lay the copies of a slot as places ``[way, copy]``; a copy that is not hidden has place 0."""
    return np.array(list(product(range(NUM_PLACES), repeat=decks)), np.intp)


@cache
def way_counts(decks: int) -> Index:
    """Count the copies that each way lays in each place, ``[place, way]``."""
    out: Index = (ways(decks) == np.arange(NUM_PLACES)[:, None, None]).sum(axis=2)
    return out


class PinnedSlot(NamedTuple):
    """A slot of each View (or none) whose copies are sampled jointly: a seat cannot hold some number of them."""

    bit: Words  # [V]
    missing: Index  # [V] copies that are not hidden; all of them if the View has no such slot
    worth: Index  # [V] POINTS or OTHERS
    table: CumulativeTable  # over the ways


class Odds:
    """The sampling tables of V Views.

    ``possible[V]`` is false where no world is consistent with the constraints. ``bound[V]`` is an upper bound on the
    log weight of a proposal (:func:`gunzi_env.resample.counts.propose`).
    """

    def __init__(self, constraints: Constraints) -> None:
        number = constraints.capacity.shape[1]
        everyone = np.arange(number)
        self.roles = _roles(constraints)
        may, excluded = constraints.may.copy(), constraints.excluded.copy()
        capacity = constraints.capacity[:3].copy()
        for role in range(3):
            may[role] = constraints.may[self.roles[role], :, everyone].T
            excluded[:, role] = constraints.excluded[:, self.roles[role], everyone]
            capacity[role] = constraints.capacity[self.roles[role], everyone]
        self.may, self.points = may, constraints.points
        self.capacity: Index = capacity.astype(np.intp)  # [role, V]
        self.kitty: Index = constraints.capacity[HIDDEN_KITTY].astype(np.intp)  # [V]
        self.max_kitty = int(self.kitty.max())
        self.tilt, self.kitty_tilt = _fit(groups(may, constraints.points), self.capacity, self.kitty, constraints)
        pinned_slots = _pinned_slots(may, excluded)
        self.pinned = list(
            _pinned(may, excluded, constraints.points, pinned_slots, np.concatenate([self.tilt, self.kitty_tilt]))
        )
        self.loose = may & ~pinned_slots
        self.sizes = groups(self.loose, constraints.points)  # [class, kind, V]
        self.class_sizes: Index = self.sizes.cumsum(axis=1)[:, -1]  # [class, V]
        self.possible: Flags = np.ones(number, np.bool_)
        for pinned in self.pinned:
            self.possible &= pinned.table.possible
        self.bound = np.zeros(number)
        pinned_numbers = groups(may & pinned_slots, constraints.points)
        self._make_kitty_tables(
            constraints.min_points, constraints.max_points, pinned_numbers[:, :KEPT].cumsum(axis=0)[-1]
        )
        self._make_hand_tables(pinned_numbers.cumsum(axis=0)[-1].cumsum(axis=0)[-1])

    def _make_kitty_tables(self, least: Ints, most: Ints, pinned: Index) -> None:
        """Make the tables of the kitty.

        ``kitty_points``, with rows (V, pinned point cards, other pinned cards), samples its number of point cards.
        ``classes[kind][class]``, with rows (V, cards of the kind left), samples the cards of each class. ``log_ways``,
        with the rows of ``kitty_points``, is the log weight of the kitty: its ways, divided by the sampling weights of
        the pinned cards in it.
        """
        k = np.arange(self.max_kitty + 1)
        width = len(k)
        self.classes: list[list[CumulativeTable]] = []
        totals = []
        tilts = class_tilts(self.tilt)
        for kind in (POINTS, OTHERS):
            after = np.zeros((len(self.kitty), width))
            after[:, 0] = 1.0
            tables: list[CumulativeTable] = []
            for c in range(ALL, -1, -1):
                some = _class_weights(self.sizes[c, kind], tilts[c] if c else None, k)
                joint = np.zeros((len(self.kitty), width, width))  # [V, left, from this class]
                for taken in range(width):
                    joint[:, taken:, taken] = some[:, taken, None] * after[:, : width - taken]
                tables.append(CumulativeTable(joint.reshape(-1, width)))
                after = joint.cumsum(axis=2)[:, :, -1]
            self.classes.append(tables[::-1])
            totals.append(after)
        self.pinned_sizes: Index = np.minimum(pinned, self.max_kitty).max(axis=1) + 1
        joint = np.zeros((len(self.kitty), *self.pinned_sizes, width))
        for a, b in product(*map(range, self.pinned_sizes)):
            rest = self.kitty[:, None] - k - b
            good = (k >= a) & (rest >= 0) & (least[:, None] <= k) & (k <= most[:, None])
            good &= ((a <= pinned[POINTS]) & (b <= pinned[OTHERS]))[:, None]
            others = np.take_along_axis(totals[OTHERS], np.maximum(rest, 0), axis=1)
            joint[:, a, b] = good * totals[POINTS][:, np.maximum(k - a, 0)] * others
        self.kitty_points = CumulativeTable(joint.reshape(-1, width))
        with np.errstate(divide="ignore"):
            log_ways = np.log(joint.cumsum(axis=3)[..., -1])
        points, others = (
            np.arange(n) * np.log(p)[:, None] for n, p in zip(self.pinned_sizes, self.kitty_tilt, strict=True)
        )
        log_ways = log_ways - points[:, :, None] - others[:, None, :]
        highest = log_ways.max(axis=(1, 2))
        self.possible &= highest > -np.inf
        self.log_ways: Floats = log_ways.reshape(-1)
        self.bound += np.where(self.possible, highest, 0.0)

    def _make_hand_tables(self, pinned_cards: Ints) -> None:
        """Make the tables of the classes that role 0 shares with one other; rows (V, its cards in the kitty)."""
        whole, p = self.class_sizes, self.tilt
        first_two, first_last = (
            _binomial_table(whole[c], p[0], p[r], self.max_kitty) for c, r in ((FIRST_TWO, 1), (FIRST_LAST, 2))
        )
        self.shared = {FIRST_TWO: first_two, FIRST_LAST: first_last}
        last = p[1] + p[2]
        self.log_probs: Floats = np.log(
            np.stack([p[0], last, p[1] / last, p[2] / last])
        )  # [4, V] of the two binomials in propose()
        # The mode of a binomial is most probable for the fewest cards, so the bound uses the minimum of open cards.
        open_to_all = np.maximum(whole[ALL] - self.kitty, 0)
        elsewhere = whole[ONLY_SECOND] + whole[ONLY_LAST] + whole[FIRST_TWO] + whole[FIRST_LAST] + pinned_cards
        left = whole[LAST_TWO] + whole[ALL] - self.kitty - self.capacity[0]
        open_to_last = np.maximum(left, self.capacity[1] + self.capacity[2] - elsewhere)
        self.bound += _log_mode(open_to_all, p[0], last)
        self.bound += _log_mode(np.maximum(open_to_last, 0), p[1] / last, p[2] / last)


def _roles(constraints: Constraints) -> Index:
    """Assign seats to roles, ``[role, V]``. The two seats other than role 0 share the most cards."""
    numbers = groups(constraints.may, constraints.points).sum(axis=1)
    first = np.stack([numbers[ALL - (1 << seat)] for seat in range(3)]).argmax(axis=0)
    second = (first == 0).astype(np.intp)
    return np.stack([first, second, 3 - first - second])


def classes_of(may: Words, c: int) -> Words:
    """Return the copies of class ``c``, ``uint64[D, V]``."""
    inside = may[0] | may[1] | may[2] | may[HIDDEN_KITTY]
    for role in range(3):
        inside = inside & (may[role] if c >> role & 1 else ~may[role])
    return np.asarray(inside)


def groups(may: Words, points: Words) -> Index:
    """Count the copies of each class and kind, ``[class, kind, V]``."""
    kitty = may[HIDDEN_KITTY]
    kinds = (kitty & points, kitty & ~points, ~kitty)
    found = [[count(classes_of(may, c) & kind) for kind in kinds] for c in range(NUM_CLASSES)]
    return np.array(found, np.intp)


def class_tilts(tilt: Floats) -> Floats:
    """Sum the tilts of the hands of each class, ``[class, V]``; those of all three hands sum to 1."""
    out = np.zeros((NUM_CLASSES, tilt.shape[1]))
    for c in range(1, NUM_CLASSES):
        for role in range(3):
            out[c] += tilt[role] * (c >> role & 1)
    out[ALL] = 1.0
    return out


def _fit(numbers: Index, capacity: Index, kitty: Index, constraints: Constraints) -> tuple[Floats, Floats]:
    """Fit the tilts of the hands ``[3, V]`` and of the kitty for point cards and others ``[2, V]``.

    With these sampling weights all places have the right number of cards on average (iterative proportional fitting).
    """
    aim = (
        np.stack(
            [
                constraints.min_points + constraints.max_points,
                2 * kitty - constraints.min_points - constraints.max_points,
            ]
        )
        / 2
    )
    exact = constraints.min_points == constraints.max_points
    kitty_tilt = np.full((3, len(kitty)), 0.05)
    kitty_tilt[KEPT] = 0.0
    tilt = np.full((3, len(kitty)), 1 / 3)
    for _ in range(_FIT_ROUNDS):
        shares = numbers / np.maximum(class_tilts(tilt)[:, None] + kitty_tilt, _MIN_TILT)
        taken = (shares * kitty_tilt).cumsum(axis=0)[-1, :KEPT] + _MIN_TILT
        got = np.stack([sum(shares[c].cumsum(axis=0)[-1] for c in range(NUM_CLASSES) if c >> r & 1) for r in range(3)])
        tilt = np.maximum(tilt * capacity / np.maximum(got * tilt, _MIN_TILT), _MIN_TILT)
        kitty_tilt[:KEPT] *= np.where(exact, aim / taken, kitty / (taken[0] + taken[1]))
        whole = tilt[0] + tilt[1] + tilt[2]
        tilt = tilt / whole
        kitty_tilt[:KEPT] = np.clip(kitty_tilt[:KEPT] / whole, _MIN_TILT, 1 / _MIN_TILT)
    return tilt, kitty_tilt[:KEPT]


def _pinned_slots(may: Words, excluded: Words) -> Words:
    """Return the slots of which a seat could otherwise be dealt an excluded number of copies."""
    out = np.zeros_like(may[0, 0])
    for role in range(3):
        for held, bad in zip(thermometer(may[role]), excluded[:, role], strict=True):
            out |= held & bad
    return np.asarray(out)


def _pinned(may: Words, excluded: Words, points: Words, slots: Words, kitty_tilt: Floats) -> Iterator[PinnedSlot]:
    """Yield the pinned slots of all Views, one per View at a time."""
    decks = may.shape[1]
    every, numbers = ways(decks), way_counts(decks)
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
                weights *= ((excluded[copies - 1, role] & bit) == 0)[:, None] | (held != copies)
        yield PinnedSlot(bit, missing, worth, CumulativeTable(weights))


def _class_weights(number: Index, tilt: Floats | None, k: Index) -> Floats:
    """Compute the weights of ``k`` cards in the kitty of a class of ``number``, ``[V, len(k)]``.

    These are the ways to choose them divided by the tilt of the class's hands. Without a tilt (class 0) all cards
    are in the kitty.
    """
    n = number[:, None]
    good = n == k if tilt is None else k <= n
    some = k * good
    ways_of_it = np.exp(log_choose(n, some))
    over = np.ones_like(ways_of_it) if tilt is None else tilt[:, None] ** some.astype(np.float64)
    return np.asarray(good * ways_of_it / over)


def _binomial_table(number: Index, first: Floats, other: Floats, most: int) -> CumulativeTable:
    """Make binomial tables for the first of two hands, with ``number`` minus 0..``most`` cards to share."""
    n = (number[:, None] - np.arange(most + 1))[..., None]
    k = np.arange(int(number.max()) + 1)
    p, q = ((tilt / (first + other))[:, None, None] for tilt in (first, other))
    good = (k <= n) & (n >= 0)
    law = np.exp(log_binomial(np.where(good, n, 0), np.where(good, k, 0), p, q))
    law *= good
    return CumulativeTable(law.reshape(-1, len(k)))


def _log_mode(n: Index, p: Floats, q: Floats) -> Floats:
    """Compute the log probability of a binomial's mode, which decreases with ``n``."""
    mode = np.minimum(((n + 1) * p).astype(np.intp), n)
    return log_binomial(n, mode, p, q)
