"""The flat encoding of a :class:`gunzi_env.views.View`, and the privileged view for critics.

The encoding is a row of zeros and ones: sets of slots, then numbers, one-hot or as thermometers. It is made of
words: the sets are words as they are, the numbers are looked up as the bits they set (:class:`_Numbers`), and all
are unpacked at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gunzi_env import order, planes
from gunzi_env.cards import ACE
from gunzi_env.planes import BIT, NUM_SLOTS, U64, Words, unpack
from gunzi_env.rules import Rules
from gunzi_env.tables import HAND, KITTY, Index, Phase, Tables
from gunzi_env.views import DEALER_OR_KITTY, View, view

__all__ = [
    "BFLOAT16_ONE", "DEALER_OR_KITTY", "VERSION", "View", "encode", "encode_tables", "privileged", "privileged_size",
    "size", "spec", "unseen", "view",
]  # fmt: skip

VERSION = 2
"""Of the View and its encoding: another version is another input for a network."""

BFLOAT16_ONE = 0x3F80
"""The bits of 1.0 as bfloat16, which numpy does not know: see :func:`encode`."""

_BLOCK = 1024
"""Rows encoded at a time: their words and flags stay in the processor's cache."""


def unseen(v: View) -> Words:
    """Cards the viewer has not located: neither in his hand nor played nor in a kitty he knows, ``uint64[D, B]``."""
    seen = planes.add(v.hand, v.pending)
    for s in range(4):
        seen = planes.add(seen, v.played[:, :, s])
    seen = planes.add(seen, v.kitty)
    return ~seen[::-1] & planes.FULL


def _sets(rules: Rules) -> list[tuple[str, int]]:
    """Name and number of words of each set of slots."""
    return [
        ("hand", rules.decks),
        ("pending", 1),
        ("unseen", rules.decks),
        ("trick of next, partner, previous", 3),
        ("winning card", 1),
        ("known with next, partner, previous, dealer or kitty", 4),
        ("kitty", 1),
        ("fives", 1),
        ("tens and kings", 1),
    ]


def _set_words(v: View, out: Words) -> None:
    """The words of :func:`_sets`, into ``out[k, B]``."""
    decks, level = v.rules.decks, v.level
    layout = order.layout(v.rules.mixed_trump_rank)
    out[:decks] = v.hand
    out[decks] = v.pending[0]
    out[decks + 1 : 2 * decks + 1] = unseen(v)
    rest = out[2 * decks + 1 :]
    rest[:3] = v.trick[0, :, 1:].T
    np.multiply(BIT.take(v.best_slot, mode="clip"), v.best_slot >= 0, out=rest[3])
    rest[4:8] = v.known[0, :, 1:].T
    rest[8] = v.kitty[0]
    layout.fives.take(level, out=rest[9], mode="clip")
    layout.tens.take(level, out=rest[10], mode="clip")


class _Piece(NamedTuple):
    """A number in the encoding: the value v sets ``bits[v - low]``, a value outside what the nearest inside sets."""

    name: str
    width: int
    low: int
    bits: list[int]


def _one_hot(name: str, choices: npt.NDArray[Any]) -> _Piece:
    """One flag for each of consecutive values, none for others."""
    bits = [0, *(1 << k for k in range(len(choices))), 0]
    return _Piece(name, len(choices), int(choices[0]) - 1, bits)


def _reached(name: str, bounds: npt.NDArray[Any]) -> _Piece:
    """A flag for each bound that the value has reached."""
    low, high = int(bounds[0]) - 1, int(bounds[-1])
    bits = [(1 << int((bounds <= value).sum())) - 1 for value in range(low, high + 1)]
    return _Piece(name, len(bounds), low, bits)


def _flags(name: str, width: int) -> _Piece:
    """Flags that come as a binary number."""
    return _Piece(name, width, 0, list(range(1 << width)))


_SMALL = np.arange(1, 9)
_LEVELS = np.arange(3, ACE + 1)
_SUITS = _SEATS = np.arange(4)


def _pieces(rules: Rules) -> list[_Piece]:
    """The numbers, in order; those of three seats follow each other under one name."""
    held = np.arange(3, rules.hand_size + 1, 3)
    return [
        _one_hot("phase", np.arange(Phase.OVER)),
        _one_hot("my level", _LEVELS),
        _one_hot("their level", _LEVELS),
        _one_hot("dealer", _SEATS),
        _one_hot("trump suit", _SUITS),
        _flags("flags", 5),
        _reached("blood", _SMALL),
        _reached("score", np.arange(10, 370, 10)),
        _reached("cards held", held),
        _reached("cards drawn", held * 4),
        _reached("cards to name", _SMALL),
        _reached("jokers that may go in", _SMALL),
        _one_hot("cards led", np.arange(1, rules.decks + 1)),
        _one_hot("suit led", _SUITS),
        _one_hot("leader", _SEATS),
        _one_hot("winner so far", _SEATS),
        _reached("points in the trick", np.array([5, 10, 15, 20, 30, 40, 50, 60, 80, 100])),
        _one_hot("standing bid", np.arange(rules.decks + 3)),
        _one_hot("suit bid", _SUITS),
        _one_hot("bidder", _SEATS),
        *(_flags(name, 4) for name in ("void", "no pair", "no triple") for _ in range(3)),
    ]


_NUMBERS = (
    *("phase", "my_level", "their_level", "dealer", "trump", "flags", "blood", "score", "held", "drawn", "need"),
    *("pickable", "led_count", "led_suit", "leader", "best", "trick_points", "bid_strength", "bid_suit", "bid_seat"),
)
"""Where the numbers of :func:`_pieces` come from; then the suits of three seats, thrice."""


@dataclass(frozen=True)
class _Numbers:
    """Look-up of the bits that numbers set, pieces that fit together sharing a word."""

    low: npt.NDArray[np.int16]  # [pieces, 1]
    high: npt.NDArray[np.int16]  # [pieces, 1]
    at: npt.NDArray[np.int16]  # [pieces, 1] where the entry of value 0 stands in `bits`
    bits: Words
    first: list[int]  # the first piece of each word, and the number of pieces
    widths: tuple[int, ...]  # of the words


@cache
def _numbers(rules: Rules) -> _Numbers:
    bits: list[int] = []
    at: list[int] = []
    first: list[int] = []
    widths: list[int] = []
    pieces = _pieces(rules)
    for k, piece in enumerate(pieces):
        if not widths or widths[-1] + piece.width > 64:
            first.append(k)
            widths.append(0)
        at.append(len(bits) - piece.low)
        bits += [entry << widths[-1] for entry in piece.bits]
        widths[-1] += piece.width
    low = np.array([piece.low for piece in pieces], np.int16)[:, None]
    high = low + np.array([len(piece.bits) - 1 for piece in pieces], np.int16)[:, None]
    at_column = np.array(at, np.int16)[:, None]
    return _Numbers(low, high, at_column, np.array(bits, U64), [*first, len(pieces)], tuple(widths))


def _values(v: View) -> npt.NDArray[np.int16]:
    """The numbers of :func:`_pieces`, ``int16[pieces, B]``."""
    number = len(v)
    out = np.empty((len(_NUMBERS) + 9, number), np.int16)
    named: dict[str, Any] = {"my_level": v.levels[:, 0], "their_level": v.levels[:, 1], "flags": 0}
    for k, name in enumerate(_NUMBERS):
        out[k] = named[name] if name in named else getattr(v, name)
    flags = out[_NUMBERS.index("flags")]
    for k, name in enumerate(("first_hand", "kitty_known", "kitty_public", "kitty_shown", "dry")):
        flags += getattr(v, name) * np.int16(1 << k)
    seats = v.rows_of("void", "no_triple").view(np.uint8).reshape(3, 4, 4, number)[:, 1:]  # [kind, seat, suit, B]
    suits = seats[:, :, 0].copy()
    for suit in range(1, 4):
        suits |= seats[:, :, suit] << np.uint8(suit)
    out[len(_NUMBERS) :] = suits.reshape(9, number)
    return out


def _number_words(v: View, out: Words) -> None:
    """The words of the numbers, into ``out[k, B]``."""
    table = _numbers(v.rules)
    values = _values(v)
    np.clip(values, table.low, table.high, out=values)
    values += table.at
    words = table.bits.take(values)
    for k, (first, end) in enumerate(zip(table.first, table.first[1:], strict=False)):
        np.bitwise_or.reduce(words[first:end], axis=0, out=out[k])


@cache
def _widths(rules: Rules) -> tuple[int, ...]:
    """The widths of all words of the encoding."""
    return (NUM_SLOTS,) * sum(number for _, number in _sets(rules)) + _numbers(rules).widths


def encode(v: View, out: npt.NDArray[Any] | None = None, *, one: int | None = None) -> npt.NDArray[Any]:
    """A View as zeros and ones, ``uint8[B, size(rules)]``; the layout is :func:`spec`'s.

    ``out`` takes them when given: any dtype that has 0 and 1, such as ``uint8`` or ``float32``. For bfloat16, which
    numpy does not know, give the tensor's memory as integers and what stands there for 1:
    ``encode(v, tensor.view(torch.int16).numpy(), one=BFLOAT16_ONE)``.
    """
    if out is None:
        out = np.empty((len(v), size(v.rules)), np.uint8)
    for start in range(0, len(v), _BLOCK):
        part = v if len(v) <= _BLOCK else v.rows(slice(start, start + _BLOCK))
        _encode_block(part, out[start : start + _BLOCK], one)
    return out


def _encode_block(v: View, out: npt.NDArray[Any], one: int | None) -> None:
    widths = _widths(v.rules)
    words = np.empty((len(widths), len(v)), U64)
    sets = len(widths) - len(_numbers(v.rules).widths)
    _set_words(v, words[:sets])
    _number_words(v, words[sets:])
    flags = planes.flags(words, widths)
    if one is None:
        out[...] = flags
    else:
        np.multiply(flags, np.asarray(one, out.dtype), out=out)


def encode_tables(
    t: Tables, out: npt.NDArray[Any] | None = None, seat: npt.NDArray[np.int8] | None = None, *, one: int | None = None
) -> npt.NDArray[Any]:
    """What :func:`encode` gives for the View of all tables, made in blocks that stay in the cache."""
    if out is None:
        out = np.empty((t.num, size(t.rules)), np.uint8)
    for start in range(0, t.num, _BLOCK):
        g = np.arange(start, min(start + _BLOCK, t.num))
        _encode_block(view(t, g, None if seat is None else seat[g]), out[start : start + _BLOCK], one)
    return out


@cache
def spec(rules: Rules) -> tuple[tuple[str, int, int], ...]:
    """The pieces of the encoding, in order: (name, offset, size)."""
    sizes: dict[str, int] = {name: number * NUM_SLOTS for name, number in _sets(rules)}
    for piece in _pieces(rules):
        sizes[piece.name] = sizes.get(piece.name, 0) + piece.width
    out, at = [], 0
    for name, width in sizes.items():
        out.append((name, at, width))
        at += width
    return tuple(out)


@cache
def size(rules: Rules) -> int:
    """The length of an encoded View."""
    _, offset, width = spec(rules)[-1]
    return offset + width


def privileged(t: Tables, idx: Index | None = None, out: npt.NDArray[np.uint8] | None = None) -> npt.NDArray[np.uint8]:
    """The hands of next, partner and previous seat and the kitty, hidden from the mover: ``uint8[B, 4 * D * 54]``."""
    g = np.arange(t.num) if idx is None else idx
    seat = t.seat[g]
    holders = [t.holder(g, HAND + ((seat + k) & 3)) for k in range(1, 4)] + [t.holder(g, KITTY)]
    flags = unpack(np.stack(holders).transpose(2, 0, 1)).reshape(len(g), -1)
    if out is None:
        return flags.astype(np.uint8)
    out[:] = flags
    return out


def privileged_size(rules: Rules) -> int:
    """The length of :func:`privileged`'s rows."""
    return 4 * rules.decks * NUM_SLOTS
