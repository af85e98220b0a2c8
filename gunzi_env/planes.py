"""Multisets of cards as bit planes; every bit trick of the package lives here.

A multiset of cards is ``uint64[D, ...]``, D being the number of decks: plane d has the bit of slot s
set iff at least d + 1 copies of s are held. So plane 0 is the set of slots held, plane 1 the pairs,
and a hand's size is the number of bits in all planes together.

Words and shifts are ``uint64`` throughout: ``uint64`` mixed with ``int64`` silently becomes ``float64``.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

U64 = np.uint64
Words = npt.NDArray[np.uint64]
Ints = npt.NDArray[Any]

NUM_SLOTS = 54
ZERO, ONE = U64(0), U64(1)
FULL = U64((1 << NUM_SLOTS) - 1)

BIT: Words = ONE << np.arange(64, dtype=U64)
"""``uint64[64]``: the word with bit s alone."""

BELOW: Words = BIT - ONE
"""``uint64[64]``: the word with every bit under s."""

_BELOW_OR_AT: Words = BELOW | BIT

_FEW = 8
"""Rows up to which it is quicker to make flags of all bits and take those wanted than to join the words first."""


def where(flags: npt.NDArray[np.bool_]) -> Words:
    """All bits where the flag is set, none elsewhere. To choose by such a word costs no branch, unlike ``np.where``."""
    mask: Words = np.negative(flags.astype(U64))
    return mask


def bits(word: Words) -> npt.NDArray[np.uint8]:
    """How many bits each word has, ``uint8`` of the same shape."""
    return np.bitwise_count(word)


def count(planes: Words) -> npt.NDArray[np.int16]:
    """How many cards each multiset has: ``uint64[D, ...]`` to ``int16[...]``."""
    total = np.bitwise_count(planes[0])  # at most 216 cards: a byte is enough
    for plane in planes[1:]:
        total = total + np.bitwise_count(plane)
    number: npt.NDArray[np.int16] = total.astype(np.int16)
    return number


def at_or_below(slot: Ints) -> Words:
    """Words with the bits 0..slot; slots 0..63, any integer dtype."""
    return _BELOW_OR_AT[slot]


def single(word: Words) -> npt.NDArray[np.uint8]:
    """The place of the bit in words that have exactly one."""
    return bits(word - ONE)


def lowest(word: Words) -> npt.NDArray[np.uint8]:
    """The lowest bit's place; 64 for an empty word."""
    return bits(~word & (word - ONE))


def drop_lowest(word: Words, k: Ints, most: int) -> Words:
    """Each word without its ``k`` lowest bits, ``k <= most``."""
    for i in range(most):
        word = word & (word - ONE | where(k <= i))
    return word


def select(word: Words, k: Ints) -> npt.NDArray[np.uint8]:
    """The place of the bit number ``k`` (from 0, lowest first) of each word; k must be below the word's bit count."""
    word = word.copy()
    rank = k.astype(np.uint8)
    place = np.zeros(word.shape, np.uint8)
    for width in (32, 16, 8, 4, 2, 1):
        low = np.bitwise_count(word & U64((1 << width) - 1))
        upper = rank >= low
        rank -= low * upper
        word >>= upper * U64(width)
        place += upper * np.uint8(width)
    return place


def add(a: Words, b: Words) -> Words:
    """The union of two multisets, ``uint64[D, ...]``; no face may pass D copies."""
    depth = len(a)
    out = a | b
    for d in range(1, depth):
        for j in range(d):
            out[d] |= a[j] & b[d - 1 - j]
    return out


def minus(a: Words, b: Words) -> Words:
    """What is left of ``a`` without ``b``, never below none: ``uint64[D, ...]``."""
    depth = len(a)
    fewer = ~b  # than j + 1 copies
    out: Words = a & fewer[0]
    for d in range(depth - 1):
        for j in range(1, depth - d):
            out[d] |= a[d + j] & fewer[j]
    # a >= d + 1 + j and b <= j for some j; the j = 0 term is the start value, b == 0.
    return out


def copies(slot: Ints, number: Ints, depth: int) -> Words:
    """``number`` copies of ``slot`` as planes ``uint64[depth, ...]``."""
    out = np.empty((depth, *np.shape(slot)), U64)
    bit = BIT[slot]
    for d in range(depth):
        out[d] = np.where(number > d, bit, ZERO)
    return out


def kth_smallest(planes: Words, k: Ints) -> npt.NDArray[np.uint8]:
    """The slot of card number ``k`` (from 1, weakest first) of each multiset; k must not pass its size."""
    rank = k.astype(np.int16)
    low = np.zeros(planes.shape[1:], np.uint8)
    word = planes.copy()
    for width in (32, 16, 8, 4, 2, 1):
        inside = np.bitwise_count(word & U64((1 << width) - 1)).sum(axis=0, dtype=np.int16)
        upper = rank > inside
        rank -= inside * upper
        word >>= upper * U64(width)
        low += upper * np.uint8(width)
    return low


def unpack(words: Words) -> npt.NDArray[np.bool_]:
    """``uint64[...]`` to ``bool[..., 54]``, bit s to column s."""
    flat = np.ascontiguousarray(words).view(np.uint8).reshape(*words.shape, 8)
    return np.unpackbits(flat, axis=-1, bitorder="little")[..., :NUM_SLOTS].view(np.bool_)


@cache
def _joints(widths: tuple[int, ...]) -> tuple[Words, Words, tuple[npt.NDArray[np.intp], ...]]:
    """How words of these widths are joined: by how much each is shifted up, and down for what goes over into the next
    word; then, by joined word, which of the shifted words make it up. Row ``len(widths)`` has nothing."""
    ends = np.cumsum(widths)
    starts = ends - widths
    up = (starts % 64).astype(U64)[:, None]
    number, empty = -(-int(ends[-1]) // 64), len(widths)
    parts = np.full((3, number), empty)
    for k, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        first, last = start // 64, (end - 1) // 64
        parts[0 if parts[0, first] == empty else 1, first] = k  # two at most begin in a word
        if last > first:
            parts[2, last] = k
    return up, U64(63) - up, tuple(parts)


@cache
def _places(widths: tuple[int, ...]) -> npt.NDArray[np.intp]:
    """Where the lower bits of words of these widths are among all their bits."""
    return np.concatenate([64 * k + np.arange(width) for k, width in enumerate(widths)])


def flags(words: Words, widths: tuple[int, ...]) -> npt.NDArray[np.uint8]:
    """The lower bits of each word ``uint64[k, B]``, as many as ``widths`` say, one after the other: zeros and ones
    ``uint8[B, sum(widths)]``. The bits above must be 0; words but the last are 33 to 64 bits wide."""
    if words.shape[1] <= _FEW:
        octets = words.T.astype("<u8", order="C").view(np.uint8)
        return np.unpackbits(octets, axis=1, bitorder="little").take(_places(widths), axis=1)
    up, down, (first, second, over) = _joints(widths)
    shifted = np.empty((len(widths) + 1, words.shape[1]), U64)
    shifted[-1] = 0
    np.left_shift(words, up, out=shifted[:-1])
    joined = shifted.take(first, axis=0)
    joined |= shifted.take(second, axis=0)
    np.right_shift(words, ONE, out=shifted[:-1])
    shifted[:-1] >>= down
    joined |= shifted.take(over, axis=0)
    octets = joined.T.astype("<u8", order="C").view(np.uint8)
    return np.unpackbits(octets, axis=1, count=sum(widths), bitorder="little")


def pack(flags: npt.NDArray[np.bool_] | npt.NDArray[np.uint8]) -> Words:
    """Flags ``[..., k]`` (true where not 0), k at most 64, to ``uint64[...]``; the opposite of :func:`unpack`."""
    shape = flags.shape[:-1]
    padded = flags
    if flags.shape[-1] < 64:
        padded = np.zeros((*shape, 64), flags.dtype)
        padded[..., : flags.shape[-1]] = flags
    packed: Words = np.packbits(padded, axis=-1, bitorder="little").view(U64).reshape(shape)
    return packed


def from_counts(counts: Ints, depth: int) -> Words:
    """``counts[..., 54]`` (copies of each slot) to planes ``uint64[depth, ...]``."""
    return np.stack([pack(counts > d) for d in range(depth)])


def to_counts(planes: Words) -> npt.NDArray[np.uint8]:
    """Planes ``uint64[D, ...]`` to ``uint8[..., 54]`` copies of each slot."""
    counts: npt.NDArray[np.uint8] = unpack(planes).sum(axis=0, dtype=np.uint8)
    return counts


def put_planes(rows: Words, at: Ints, planes: Words) -> None:
    """``rows[d, at] = planes[d]`` plane by plane, which is several times as fast."""
    for d in range(len(rows)):
        rows[d][at] = planes[d]


def thermometer(copy_words: Words) -> Words:
    """Planes of a multiset from one word per copy, ``uint64[D, ...]``: bit s of word k says whether copy k is in it."""
    out = np.zeros_like(copy_words)
    for k, word in enumerate(copy_words):
        for d in range(k, 0, -1):
            out[d] |= out[d - 1] & word
        out[0] |= word
    return out
