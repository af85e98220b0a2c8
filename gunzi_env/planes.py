"""Multisets of cards as bit planes, and the bit operations on them.

A multiset of cards is ``uint64[D, ...]`` with D decks. Bit s of plane d is set iff the multiset has at least d + 1
copies of slot s. Plane 0 is thus the set of slots, plane 1 the set of pairs, and the size of the multiset is the number
of bits in all planes.

All words and shift amounts are ``uint64``, because NumPy converts mixed ``uint64`` and ``int64`` to ``float64``.
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
"""``uint64[64]``: the word with only bit s."""

BELOW: Words = BIT - ONE
"""``uint64[64]``: the word with every bit below s."""

_BELOW_OR_AT: Words = BELOW | BIT

_FEW_ROWS = 8
"""Up to this many rows, unpacking all bits and selecting from them is faster than concatenating the words first."""


def where(flags: npt.NDArray[np.bool_]) -> Words:
    """Return words with all bits set where the flag is true and none elsewhere: masks for branch-free selection."""
    mask: Words = np.negative(flags.astype(U64))
    return mask


def bits(word: Words) -> npt.NDArray[np.uint8]:
    """Count the bits of each word, ``uint8`` of the same shape."""
    return np.bitwise_count(word)


def count(planes: Words) -> npt.NDArray[np.int16]:
    """Count the cards of each multiset: ``uint64[D, ...]`` to ``int16[...]``."""
    total = np.bitwise_count(planes[0])  # at most 216 cards: uint8 suffices
    for plane in planes[1:]:
        total = total + np.bitwise_count(plane)
    number: npt.NDArray[np.int16] = total.astype(np.int16)
    return number


def at_or_below(slot: Ints) -> Words:
    """Return words with the bits 0..slot; slots 0..63, any integer dtype."""
    return _BELOW_OR_AT[slot]


def single(word: Words) -> npt.NDArray[np.uint8]:
    """Return the index of the only bit of each word."""
    return bits(word - ONE)


def lowest(word: Words) -> npt.NDArray[np.uint8]:
    """Return the index of the lowest bit of each word; 64 for an empty word."""
    return bits(~word & (word - ONE))


def drop_lowest(word: Words, k: Ints, most: int) -> Words:
    """Clear the ``k`` lowest bits of each word, ``k <= most``."""
    for i in range(most):
        word = word & (word - ONE | where(k <= i))
    return word


def select(word: Words, k: Ints) -> npt.NDArray[np.uint8]:
    """Return the index of bit number ``k`` (from 0, lowest first) of each word; k must be below the bit count."""
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
    """Add two multisets ``uint64[D, ...]``; no slot may exceed D copies."""
    depth = len(a)
    out = a | b
    for d in range(1, depth):
        for j in range(d):
            out[d] |= a[j] & b[d - 1 - j]
    return out


def minus(a: Words, b: Words) -> Words:
    """Subtract multiset ``b`` from ``a``, copies at least 0: ``uint64[D, ...]``."""
    depth = len(a)
    fewer = ~b  # plane j: fewer than j + 1 copies
    out: Words = a & fewer[0]
    for d in range(depth - 1):
        for j in range(1, depth - d):
            out[d] |= a[d + j] & fewer[j]
    # a - b >= d + 1 iff a >= d + 1 + j and b <= j for some j; the initial value is the term j = 0.
    return out


def copies(slot: Ints, number: Ints, depth: int) -> Words:
    """Return ``number`` copies of ``slot`` as planes ``uint64[depth, ...]``."""
    out = np.empty((depth, *np.shape(slot)), U64)
    bit = BIT[slot]
    for d in range(depth):
        out[d] = np.where(number > d, bit, ZERO)
    return out


def kth_smallest(planes: Words, k: Ints) -> npt.NDArray[np.uint8]:
    """Return the slot of card number ``k`` (from 1, lowest slot first) of each multiset; k is at most its size."""
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
    """Unpack ``uint64[...]`` to ``bool[..., 54]``, bit s to column s."""
    flat = np.ascontiguousarray(words).view(np.uint8).reshape(*words.shape, 8)
    return np.unpackbits(flat, axis=-1, bitorder="little")[..., :NUM_SLOTS].view(np.bool_)


@cache
def _concat_plan(widths: tuple[int, ...]) -> tuple[Words, Words, tuple[npt.NDArray[np.intp], ...]]:
    """Plan the concatenation of words of these widths.

    Returns the left shift of each word, its right shift (less one) for the bits that overflow into the next word, and
    for each concatenated word the indices of its three shifted parts; index ``len(widths)`` is an empty part.
    """
    ends = np.cumsum(widths)
    starts = ends - widths
    up = (starts % 64).astype(U64)[:, None]
    number, empty = -(-int(ends[-1]) // 64), len(widths)
    parts = np.full((3, number), empty)
    for k, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        first, last = start // 64, (end - 1) // 64
        parts[0 if parts[0, first] == empty else 1, first] = k  # at most two parts begin in a word
        if last > first:
            parts[2, last] = k
    return up, U64(63) - up, tuple(parts)


@cache
def _bit_positions(widths: tuple[int, ...]) -> npt.NDArray[np.intp]:
    """Return the bit positions of the low ``widths`` bits of consecutive words."""
    return np.concatenate([64 * k + np.arange(width) for k, width in enumerate(widths)])


def flags(words: Words, widths: tuple[int, ...]) -> npt.NDArray[np.uint8]:
    """Unpack the low ``widths`` bits of words ``uint64[k, B]`` side by side: zeros and ones ``uint8[B, sum(widths)]``.

    All higher bits must be 0. Every width but the last must be within 33..64.
    """
    if words.shape[1] <= _FEW_ROWS:
        octets = words.T.astype("<u8", order="C").view(np.uint8)
        return np.unpackbits(octets, axis=1, bitorder="little").take(_bit_positions(widths), axis=1)
    up, down, (first, second, over) = _concat_plan(widths)
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
    """Pack flags ``[..., k]`` (nonzero is true), k at most 64, to ``uint64[...]``; the inverse of :func:`unpack`."""
    shape = flags.shape[:-1]
    padded = flags
    if flags.shape[-1] < 64:
        padded = np.zeros((*shape, 64), flags.dtype)
        padded[..., : flags.shape[-1]] = flags
    packed: Words = np.packbits(padded, axis=-1, bitorder="little").view(U64).reshape(shape)
    return packed


def from_counts(counts: Ints, depth: int) -> Words:
    """Convert ``counts[..., 54]`` (copies of each slot) to planes ``uint64[depth, ...]``."""
    return np.stack([pack(counts > d) for d in range(depth)])


def to_counts(planes: Words) -> npt.NDArray[np.uint8]:
    """Convert planes ``uint64[D, ...]`` to copies of each slot ``uint8[..., 54]``."""
    counts: npt.NDArray[np.uint8] = unpack(planes).sum(axis=0, dtype=np.uint8)
    return counts


def put_planes(rows: Words, at: Ints, planes: Words) -> None:
    """Assign ``rows[:, at] = planes`` plane by plane, which is several times as fast."""
    for d in range(len(rows)):
        rows[d][at] = planes[d]


def thermometer(copy_words: Words) -> Words:
    """Convert one word per copy to planes, ``uint64[D, ...]``; bit s of word k stands for copy k of slot s."""
    out = np.zeros_like(copy_words)
    for k, word in enumerate(copy_words):
        for d in range(k, 0, -1):
            out[d] |= out[d - 1] & word
        out[0] |= word
    return out
