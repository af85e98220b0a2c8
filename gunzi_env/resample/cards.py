"""Which cards lie in each hidden place, when :mod:`gunzi_env.resample.counts` has said how many of each class."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gunzi_env.keys import mix
from gunzi_env.planes import U64, Ints, Words, lowest, pack, thermometer, unpack
from gunzi_env.resample.constraints import HIDDEN_KITTY
from gunzi_env.resample.counts import Counts
from gunzi_env.resample.odds import (
    ALL,
    FIRST_LAST,
    FIRST_TWO,
    KEPT,
    LAST_TWO,
    NUM_CLASSES,
    ONLY_FIRST,
    ONLY_LAST,
    ONLY_SECOND,
    OTHERS,
    POINTS,
    Odds,
    log_choose,
    ways,
)
from gunzi_env.tables import Index

Bytes = npt.NDArray[np.uint8]

_WIDTH = 64
"""Places kept for the slots of one copy, so that their flags fill words."""

_NO_CARD = 63
"""A slot that is none."""

_NOWHERE, _FIRST_PLACE = 0, 1
"""In lists of places: none, and that of role 0; roles 1 and 2 and the kitty follow."""

_PLACES = np.array([1, 2, 1, 2, 3, 1, 3, 2, 3, 1, 2, 3, 4])
"""Where cards of the classes 1 to 7 go, those of each in turn, and those of the kitty: see :func:`_shares`."""

_TO_KITTY, _UNUSED = NUM_CLASSES, NUM_CLASSES + 1
"""After the classes."""

_HALF, _LOW = U64(40), U64(0xFFFFFF)
"""Two parts of 24 bits of a word of chance."""

_AFTER_PLACE, _AFTER_RANDOM, _PLACE = U64(8), U64(32), U64(0xFF)
"""A card's key for sorting: its place in the row, chance, and its group."""


def lay(odds: Odds, v: Index, numbers: Counts, keys: Words) -> Words:
    """The cards of each role and of the kitty as planes ``uint64[place, D, B]``, of the Views ``v``."""
    every = _cards(odds)
    cards, sizes = every[v], odds.numbers[:, :, v]
    chance = mix(keys[:, None], every.astype(U64)[v])
    classes = _runs(np.arange(NUM_CLASSES), odds.whole[:, v], cards.shape[1], _UNUSED)
    if odds.most:
        classes[_in_kitty(sizes, numbers.buried, chance >> _HALF)] = _TO_KITTY
    order = _order(classes, chance & _LOW)
    places = np.zeros((len(v), odds.may.shape[1], _WIDTH), np.uint8)
    at = np.take_along_axis(cards, order, axis=1) + (np.arange(len(v)) * places[0].size)[:, None]
    places.reshape(-1)[at] = _runs(
        _PLACES, _shares(odds, v, numbers, mix(keys, U64(_NO_CARD))), cards.shape[1], _NOWHERE
    )
    _lay_pinned(odds, v, numbers, places)
    return _planes(places)


def _cards(odds: Odds) -> Index:
    """The cards of each View by class and kind, pinned slots apart, ``[V, card]``: 64 * copy + slot."""
    may = unpack(odds.loose)  # [place, D, V, slot]
    points = unpack(odds.points)
    kind = np.where(may[HIDDEN_KITTY], np.where(points, POINTS, OTHERS), KEPT)
    group = (may[0] + 2 * may[1] + 4 * may[2]) * (KEPT + 1) + kind
    group[~may.any(axis=0)] = NUM_CLASSES * (KEPT + 1)
    decks, number, slots = group.shape
    padded = np.full((number, decks, _WIDTH), NUM_CLASSES * (KEPT + 1), np.uint8)
    padded[:, :, :slots] = group.transpose(1, 0, 2)
    there = odds.whole.sum(axis=0)
    order = padded.reshape(number, -1).argsort(axis=1, kind="stable")[:, : there.max(initial=0)]
    order[np.arange(order.shape[1]) >= there[:, None]] = _NO_CARD
    return order


def _runs(values: Ints, lengths: Index, width: int, rest: int) -> Bytes:
    """Rows of ``width`` values, each as often as its ``lengths[k, B]`` say one after the other, then ``rest``."""
    left = width - lengths.sum(axis=0)
    every = np.concatenate([lengths, left[None]]).T
    row = np.append(values, rest).astype(np.uint8)
    return np.repeat(np.broadcast_to(row, every.shape).reshape(-1), every.reshape(-1)).reshape(len(every), width)


def _order(group: Bytes, chance: Words) -> Index:
    """The places 0..k-1 of each row by group, within a group by chance (of 24 bits), ``[B, k]``."""
    place = np.arange(group.shape[1], dtype=U64)
    keys = (group.astype(U64) << _AFTER_RANDOM) | (chance << _AFTER_PLACE) | place
    keys.sort(axis=1)
    return (keys & _PLACE).astype(np.intp)


def _in_kitty(sizes: Index, buried: Index, chance: Words) -> npt.NDArray[np.bool_]:
    """Which cards lie in the kitty ``[B, card]``: of each class and kind as many as are ``buried[kind, class, B]``."""
    number = len(sizes)
    lengths = np.zeros((number, KEPT + 1, 2, sizes.shape[2]), np.intp)
    for kind in (POINTS, OTHERS):
        lengths[:, kind, 0] = buried[kind]
    lengths[:, :, 1] = sizes - lengths[:, :, 0]
    groups = _runs(np.arange(number * (KEPT + 1)), sizes.reshape(-1, sizes.shape[2]), chance.shape[1], _NO_CARD)
    order = _order(groups, chance)
    chosen = _runs(np.tile([1, 0], number * (KEPT + 1)), lengths.reshape(-1, sizes.shape[2]), chance.shape[1], 0)
    out = np.zeros(chance.shape, np.bool_)
    np.put_along_axis(out, order, chosen.astype(np.bool_), axis=1)
    return out


def _shares(odds: Odds, v: Index, numbers: Counts, chance: Words) -> Index:
    """How many cards of each class, in turn, go to which of :data:`_PLACES`, ``[13, B]``."""
    whole = odds.whole[:, v] - numbers.buried[0] - numbers.buried[1]
    rest = whole[ALL] - numbers.first
    second = _hypergeometric(rest, whole[LAST_TWO], numbers.second, chance)
    out = np.zeros((len(_PLACES), len(v)), np.intp)
    with_two, with_last = numbers.shared
    parts = {
        ONLY_FIRST: [whole[ONLY_FIRST]],
        ONLY_SECOND: [whole[ONLY_SECOND]],
        FIRST_TWO: [with_two, whole[FIRST_TWO] - with_two],
        ONLY_LAST: [whole[ONLY_LAST]],
        FIRST_LAST: [with_last, whole[FIRST_LAST] - with_last],
        LAST_TWO: [numbers.second - second, whole[LAST_TWO] - numbers.second + second],
        ALL: [numbers.first, second, rest - second],
    }
    lengths = [part for c in sorted(parts) for part in parts[c]]
    out[:-1] = np.stack(lengths)
    out[-1] = numbers.buried.sum(axis=(0, 1))
    return out


def _hypergeometric(one: Index, other: Index, drawn: Index, chance: Words) -> Index:
    """How many of ``drawn`` cards are from ``one`` pack if they are drawn from that and an ``other`` together."""
    k = np.maximum(drawn - other, 0)
    upto = np.exp(log_choose(one, k) + log_choose(other, drawn - k) - log_choose(one + other, drawn))
    odds, left = upto.copy(), (chance >> U64(11)) * 2.0**-53
    last = np.minimum(one, drawn)
    while True:
        more = (left >= upto) & (k < last)
        if not more.any():
            return np.asarray(k)
        odds = odds * more * (one - k) * (drawn - k) / ((k + 1) * np.maximum(other - drawn + k + 1, 1))
        upto = upto + odds
        k = k + more


def _lay_pinned(odds: Odds, v: Index, numbers: Counts, places: Bytes) -> None:
    """Put the copies of the pinned slots where their ways lay them."""
    rows = np.arange(len(v))
    for m, pinned in enumerate(odds.pinned):
        way = ways(odds.may.shape[1])[numbers.pinned[m]]  # [B, copy]
        slot = np.minimum(lowest(pinned.bit)[v], _NO_CARD)
        there = odds.may.shape[1] - pinned.missing[v]
        for copy in range(odds.may.shape[1]):
            laid = there > copy
            places[rows[laid], copy, slot[laid]] = way[laid, copy] + _FIRST_PLACE


def _planes(places: Bytes) -> Words:
    """Planes ``uint64[place, D, B]`` of numbered places ``[B, D, 64]``."""
    low, middle, high = (pack(places & np.uint8(bit)).T for bit in (1, 2, 4))
    each = (low & ~middle, middle & ~low, low & middle, high)
    return np.stack([thermometer(np.ascontiguousarray(copies)) for copies in each])
