"""Rejection sampling of the number of cards per class and place, with the exact odds of :mod:`gunzi_env.resample.odds`.

A proposal is sampled in steps, each from a table. The hands are tilted so that their sizes are right on average:

1. the pinned slots: the places of all copies of each slot;
2. the kitty: the number of point cards, and the number of cards of each class;
3. the number of cards for role 0 of each class that it shares with one other role.

The rest is determined: ``first`` of the cards open to all roles fill up role 0, then ``second`` of the cards open to
the last two fill up role 1. If that is impossible, the proposal fails. With b(k; n, p) the binomial probability and l
the tilts, the importance weight (ways to lay the cards / probability of the proposal) is, up to a constant,

    b(first; open to all, l0) * b(second; open to the last two, l1 / (l1 + l2)) * ways of the kitty

(all factors l together give l to the power of each role's number of cards, which is constant). A proposal is accepted
with probability weight / bound, so accepted proposals have exactly the target odds for any tilts. The tilts only
determine the acceptance rate.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gunzi_env.keys import mix
from gunzi_env.planes import U64, Words
from gunzi_env.resample.constraints import HIDDEN_KITTY
from gunzi_env.resample.odds import (
    ALL,
    FIRST_LAST,
    FIRST_TWO,
    LAST_TWO,
    NUM_CLASSES,
    ONLY_FIRST,
    ONLY_SECOND,
    OTHERS,
    POINTS,
    Floats,
    Odds,
    log_choose,
    way_counts,
)
from gunzi_env.tables import Flags, Index


class Counts(NamedTuple):
    """Sampled numbers of cards, B rows."""

    pinned: Index  # [M, B] the way (index into :func:`~gunzi_env.resample.odds.ways`) of each pinned slot
    buried: Index  # [2, class, B] cards of each kind and class in the kitty, without pinned slots
    shared: Index  # [2, B] cards of the classes FIRST_TWO and FIRST_LAST of role 0
    first: Index  # [B] cards open to all roles of role 0
    second: Index  # [B] cards of role 1 among those open to the last two and the rest of those open to all

    def rows(self, idx: Index) -> Counts:
        """Select rows."""
        return Counts(*(part[..., idx] for part in self))

    def put(self, rows: Index, other: Counts, idx: Index) -> None:
        """Copy rows ``idx`` of another to ``rows``."""
        for mine, theirs in zip(self, other, strict=True):
            mine[..., rows] = theirs[..., idx]


def empty(odds: Odds, number: int) -> Counts:
    """Allocate ``number`` rows of zeros."""
    return Counts(
        np.zeros((len(odds.pinned), number), np.intp),
        np.zeros((2, NUM_CLASSES, number), np.intp),
        np.zeros((2, number), np.intp),
        np.zeros(number, np.intp),
        np.zeros(number, np.intp),
    )


class _RandomWords:
    """Random words by stream number; a row depends only on its key, not on the batch."""

    ACCEPT, POINTS, SHARED, CLASSES, PINNED = 0, 1, 2, 16, 64

    def __init__(self, keys: Words) -> None:
        self.keys = keys

    def word(self, number: int) -> Words:
        return mix(self.keys, U64(number))


def propose(odds: Odds, v: Index, keys: Words) -> tuple[Counts, Flags]:
    """Sample one proposal for each of the Views ``v``; also return which are accepted."""
    out, random = empty(odds, len(v)), _RandomWords(keys)
    threshold = odds.bound[v] + np.log((random.word(random.ACCEPT) >> U64(11)) + 0.5) - 53 * np.log(2.0)
    laid = _place_pinned(odds, v, out, random)
    weight = _bury(odds, v, laid[3:], out, random) if odds.max_kitty else np.zeros(len(v))
    number = odds.class_sizes[:, v] - out.buried[0] - out.buried[1]
    for k, c in enumerate((FIRST_TWO, FIRST_LAST)):
        buried = out.buried[0, c] + out.buried[1, c]
        out.shared[k] = odds.shared[c].draw(v * (odds.max_kitty + 1) + buried, random.word(random.SHARED + k))
    capacity = odds.capacity[:, v] - laid[:3]
    out.first[:] = capacity[0] - number[ONLY_FIRST] - out.shared[0] - out.shared[1]
    out.second[:] = capacity[1] - number[ONLY_SECOND] - (number[FIRST_TWO] - out.shared[0])
    both = number[LAST_TWO] + number[ALL] - out.first
    good = (out.first >= 0) & (out.first <= number[ALL]) & (out.second >= 0) & (out.second <= both)
    good &= odds.possible[v]
    tilt, rest, second, other = odds.log_probs[:, v]
    everybody, first = number[ALL] * good, out.first * good
    weight = weight + log_choose(everybody, first) + first * tilt + (everybody - first) * rest
    pool, taken = both * good, out.second * good
    weight = weight + log_choose(pool, taken) + taken * second + (pool - taken) * other
    return out, good & (threshold <= weight)


def _place_pinned(odds: Odds, v: Index, out: Counts, random: _RandomWords) -> Index:
    """Step 1: sample the ways of the pinned slots.

    Returns the number of pinned cards of each role, and of point cards and others in the kitty, ``[5, B]``.
    """
    laid = np.zeros((5, len(v)), np.intp)
    number = way_counts(odds.may.shape[1])
    for m, pinned in enumerate(odds.pinned):
        out.pinned[m] = way = pinned.table.draw(v, random.word(random.PINNED + m))
        laid[:3] += number[:3].take(way, axis=1)
        laid[0] -= pinned.missing[v]
        buried, points = number[HIDDEN_KITTY].take(way), pinned.worth[v] == POINTS
        laid[3 + POINTS] += buried * points
        laid[3 + OTHERS] += buried * ~points
    return laid


def _bury(odds: Odds, v: Index, pinned: Index, out: Counts, random: _RandomWords) -> Floats:
    """Step 2: sample the kitty, which has ``pinned[2, B]`` pinned point cards and others; return the log weight."""
    width, (some, others) = odds.max_kitty + 1, odds.pinned_sizes
    row = (v * some + np.minimum(pinned[POINTS], some - 1)) * others + np.minimum(pinned[OTHERS], others - 1)
    points = odds.kitty_points.draw(row, random.word(random.POINTS))
    weight = np.where((pinned < odds.pinned_sizes[:, None]).all(axis=0), odds.log_ways[row], -np.inf)
    for kind, size in ((POINTS, points), (OTHERS, odds.kitty[v] - points)):
        left = np.maximum(size - pinned[kind], 0)
        for c, table in enumerate(odds.classes[kind]):
            if odds.sizes[c, kind].any():
                word = random.word(random.CLASSES + kind * NUM_CLASSES + c)
                out.buried[kind, c] = taken = table.draw(v * width + left, word)
                left = left - taken
    return weight
