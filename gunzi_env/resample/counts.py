"""Numbers of cards by class and place, drawn with exactly the odds of :mod:`gunzi_env.resample.odds`.

A proposal is drawn step by step, each from a table; the hands tilt such that their sizes come out right on average:

1. the pinned slots: every way to lay the copies of a slot;
2. the kitty: how many points, and how many cards of each class;
3. how many cards of the classes that role 0 shares with one other go to role 0.

The rest is not drawn: ``first`` cards of those open to all fill up role 0, and ``second`` of what is then open to the
last two fill up role 1; if this cannot be, the proposal fails. With b(k; n, p) the binomial law and l the tilts, the
ways to lay the cards, over the odds of the proposal, are but for a constant

    b(first; open to all, l0) * b(second; open to the last two, l1 / (l1 + l2)) * ways of the kitty

(multiplied out, these and the proposal have l to the power of each role's number of cards, which is constant). A
proposal is accepted with this over a bound of it, and so what is accepted has exactly the odds wanted, whatever the
tilts are; they decide how many proposals it takes.
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
    numbers_of_ways,
)
from gunzi_env.tables import Flags, Index


class Counts(NamedTuple):
    """What was drawn, B rows."""

    pinned: Index  # [M, B] the way each pinned slot's copies are laid
    buried: Index  # [2, class, B] cards of each kind and class in the kitty, pinned slots apart
    shared: Index  # [2, B] cards of the classes FIRST_TWO and FIRST_LAST with role 0
    first: Index  # [B] cards open to all with role 0
    second: Index  # [B] cards open to the last two, among them the rest of those open to all, with role 1

    def rows(self, idx: Index) -> Counts:
        """Some rows."""
        return Counts(*(part[..., idx] for part in self))

    def put(self, rows: Index, other: Counts, idx: Index) -> None:
        """Overwrite some rows by rows ``idx`` of another."""
        for mine, theirs in zip(self, other, strict=True):
            mine[..., rows] = theirs[..., idx]


def empty(odds: Odds, number: int) -> Counts:
    """Rows to be filled."""
    return Counts(
        np.zeros((len(odds.pinned), number), np.intp),
        np.zeros((2, NUM_CLASSES, number), np.intp),
        np.zeros((2, number), np.intp),
        np.zeros(number, np.intp),
        np.zeros(number, np.intp),
    )


class _RandomWords:
    """Words of chance by number, a row from its key alone: what one is for is the same in any batch."""

    ACCEPT, POINTS, SHARED, CLASSES, PINNED = 0, 1, 2, 16, 64

    def __init__(self, keys: Words) -> None:
        self.keys = keys

    def word(self, number: int) -> Words:
        return mix(self.keys, U64(number))


def propose(odds: Odds, v: Index, keys: Words) -> tuple[Counts, Flags]:
    """One proposal for each of the Views ``v``, and whether it is accepted."""
    out, chance = empty(odds, len(v)), _RandomWords(keys)
    least = odds.bound[v] + np.log((chance.word(chance.ACCEPT) >> U64(11)) + 0.5) - 53 * np.log(2.0)
    laid = _lay_pinned(odds, v, out, chance)
    weight = _bury(odds, v, laid[3:], out, chance) if odds.most else np.zeros(len(v))
    number = odds.whole[:, v] - out.buried[0] - out.buried[1]
    for k, c in enumerate((FIRST_TWO, FIRST_LAST)):
        buried = out.buried[0, c] + out.buried[1, c]
        out.shared[k] = odds.shared[c].draw(v * (odds.most + 1) + buried, chance.word(chance.SHARED + k))
    room = odds.room[:, v] - laid[:3]
    out.first[:] = room[0] - number[ONLY_FIRST] - out.shared[0] - out.shared[1]
    out.second[:] = room[1] - number[ONLY_SECOND] - (number[FIRST_TWO] - out.shared[0])
    both = number[LAST_TWO] + number[ALL] - out.first
    good = (out.first >= 0) & (out.first <= number[ALL]) & (out.second >= 0) & (out.second <= both)
    good &= odds.possible[v]
    tilt, rest, second, other = odds.laws[:, v]
    everybody, first = number[ALL] * good, out.first * good
    weight = weight + log_choose(everybody, first) + first * tilt + (everybody - first) * rest
    pool, taken = both * good, out.second * good
    weight = weight + log_choose(pool, taken) + taken * second + (pool - taken) * other
    return out, good & (least <= weight)


def _lay_pinned(odds: Odds, v: Index, out: Counts, chance: _RandomWords) -> Index:
    """The first step: how many pinned cards each role has, and the kitty of points and of others, ``[5, B]``."""
    laid = np.zeros((5, len(v)), np.intp)
    number = numbers_of_ways(odds.may.shape[1])
    for m, pinned in enumerate(odds.pinned):
        out.pinned[m] = way = pinned.table.draw(v, chance.word(chance.PINNED + m))
        laid[:3] += number[:3].take(way, axis=1)
        laid[0] -= pinned.missing[v]
        buried, points = number[HIDDEN_KITTY].take(way), pinned.worth[v] == POINTS
        laid[3 + POINTS] += buried * points
        laid[3 + OTHERS] += buried * ~points
    return laid


def _bury(odds: Odds, v: Index, pinned: Index, out: Counts, chance: _RandomWords) -> Floats:
    """The second step, where the kitty has ``pinned[2, B]`` pinned points and others: the logarithm of the ways."""
    width, (some, others) = odds.most + 1, odds.beside
    row = (v * some + np.minimum(pinned[POINTS], some - 1)) * others + np.minimum(pinned[OTHERS], others - 1)
    points = odds.split.draw(row, chance.word(chance.POINTS))
    weight = np.where((pinned < odds.beside[:, None]).all(axis=0), odds.log_ways[row], -np.inf)
    for kind, size in ((POINTS, points), (OTHERS, odds.kitty[v] - points)):
        left = np.maximum(size - pinned[kind], 0)
        for c, table in enumerate(odds.classes[kind]):
            if odds.numbers[c, kind].any():
                word = chance.word(chance.CLASSES + kind * NUM_CLASSES + c)
                out.buried[kind, c] = taken = table.draw(v * width + left, word)
                left = left - taken
    return weight
