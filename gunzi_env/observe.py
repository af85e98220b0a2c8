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

from gunzi_env import compiled, planes
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

_BLOCK, _UNPACKED = 2048, 512
"""Rows seen, and rows unpacked, at a time: their words, and their flags, stay in the processor's cache."""


def unseen(v: View) -> Words:
    """Cards the viewer has not located: neither in his hand nor played nor in a kitty he knows, ``uint64[D, B]``."""
    located = np.zeros((len(v.hand), 8, len(v)), U64)
    located[:, 0], located[:, 1], located[:, 2], located[:, 4:] = v.hand, v.pending, v.kitty, v.by_seat("played")
    for half in (4, 2, 1):
        located = planes.add(located[:, :half], located[:, half:])
    return ~located[::-1, 0] & planes.FULL


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
    layout = v.layout
    out[:decks] = v.hand
    out[decks] = v.pending[0]
    out[decks + 1 : 2 * decks + 1] = unseen(v)
    rest = out[2 * decks + 1 :]
    rest[:3] = v.by_seat("trick")[0, 1:]
    np.multiply(BIT.take(v.best_slot, mode="clip"), v.best_slot >= 0, out=rest[3])
    rest[4:8] = v.by_seat("known")[0, 1:]
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


def _flags(name: str, order: tuple[int, ...]) -> _Piece:
    """Flags that come as a binary number, put in this order."""
    bits = [sum((number >> digit & 1) << k for k, digit in enumerate(order)) for number in range(1 << len(order))]
    return _Piece(name, len(order), 0, bits)


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
        _flags("flags", (0, 4, 1, 2, 3)),
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
        *(_flags(name, (0, 1, 2, 3)) for name in ("void", "no pair", "no triple") for _ in range(3)),
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


_BYTES, _SHORTS = ("level", "seat"), ("blood", "need")


@cache
def _sources(decks: int) -> tuple[npt.NDArray[np.intp], ...]:
    """Where the numbers that are bytes go and come from (rows of the View's bytes), and those that are shorts."""
    places = View.schema_of(decks).places
    rows = {name: places[name][1] - places["level"][1] for name in ("phase", *_NUMBERS) if name in places}
    rows |= {"my_level": places["levels"][1], "their_level": places["levels"][1] + 1}
    shorts = [k for k, name in enumerate(_NUMBERS) if name in places and places[name][0] == places["blood"][0]]
    octets = [k for k, name in enumerate(_NUMBERS) if name in rows and k not in shorts]
    first = places["blood"][1]
    from_shorts = [places[_NUMBERS[k]][1] - first for k in shorts]
    from_bytes = [rows[_NUMBERS[k]] for k in octets]
    return tuple(np.array(part) for part in (octets, from_bytes, shorts, from_shorts))


def _values(v: View) -> npt.NDArray[np.int16]:
    """The numbers of :func:`_pieces`, ``int16[pieces, B]``."""
    out = np.empty((len(_NUMBERS) + 9, len(v)), np.int16)
    octets, from_bytes, shorts, from_shorts = _sources(v.rules.decks)
    out[octets] = v.rows_of(*_BYTES).take(from_bytes, axis=0)
    out[shorts] = v.rows_of(*_SHORTS).take(from_shorts, axis=0)
    out[_NUMBERS.index("flags")] = _binary(v.rows_of("first_hand", "kitty_known").view(np.uint8))
    suits = v.suits.view(np.uint8).reshape(3, 4, 4, len(v))  # [kind, suit, seat, B]
    out[len(_NUMBERS) :] = _binary(suits.transpose(1, 0, 2, 3)[:, :, 1:]).reshape(9, len(v))
    return out


def _binary(digits: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """The number whose binary digits come along the first axis, the lowest first."""
    number: npt.NDArray[np.uint8] = digits[-1]
    for digit in digits[-2::-1]:
        number = number + number
        number |= digit
    return number


def _number_words(v: View, out: Words) -> None:
    """The words of the numbers, into ``out[k, B]``."""
    table = _numbers(v.rules)
    values = _values(v)
    np.maximum(values, table.low, out=values)
    np.minimum(values, table.high, out=values)
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
    for start in range(0, len(v), _UNPACKED):
        flags, part = planes.flags(words[:, start : start + _UNPACKED], widths), out[start : start + _UNPACKED]
        if one is None:
            part[...] = flags
        else:
            np.multiply(flags, np.asarray(one, out.dtype), out=part)


def encode_tables(
    t: Tables, out: npt.NDArray[Any] | None = None, seat: npt.NDArray[np.int8] | None = None, *, one: int | None = None
) -> npt.NDArray[Any]:
    """What :func:`encode` gives for the View of all tables for the seats ``seat[N]`` (those to move).

    Compiled where numba is installed (see :mod:`gunzi_env.compiled`), else made in blocks that stay in the cache.
    ``ValueError`` where ``out`` or ``seat`` is of another shape, or a seat is none.
    """
    shape = (t.num, size(t.rules))
    if out is None:
        out = np.empty(shape, np.uint8)
    # Compiled code would write beside an array that is too small.
    if out.shape != shape:
        raise ValueError(f"out has shape {out.shape}: it must be {shape}")
    if seat is not None:
        seat = np.asarray(seat, np.int8)
        if seat.shape != (t.num,) or (seat.view(np.uint8) > 3).any():  # below 0 as well
            raise ValueError(f"seat must be {t.num} seats 0..3, one a table")
    if compiled.available():
        _encode_compiled(t, t.seat if seat is None else seat, out, one)
        return out
    for start in range(0, t.num, _BLOCK):
        g = np.arange(start, min(start + _BLOCK, t.num))
        seen = view(t, g, None if seat is None else seat[g], out=_scratch(t, len(g)))
        _encode_block(seen, out[start : start + _BLOCK], one)
    return out


def _encode_compiled(t: Tables, me: npt.NDArray[np.int8], out: npt.NDArray[Any], one: int | None) -> None:
    kept: Any = t.scratch.get("encode")
    if kept is None:
        from gunzi_env.compiled import encoding

        table, (masks, _) = _numbers(t.rules), compiled.order_tables(t.layout)
        tables = (*compiled.buffers(t), masks, compiled.depth(t), np.arange(t.num))
        numbers = (table.low[:, 0], table.high[:, 0], table.at[:, 0], table.bits, np.array(table.first))
        kept = t.scratch["encode"] = (encoding.encode, tables, (*numbers, np.array(_widths(t.rules))))
    kernel, tables, layout = kept
    unit = _unit(out.dtype, one)
    kernel(*tables, me, *layout, unit, out.view(unit.dtype))


@cache
def _unit(dtype: np.dtype[Any], one: int | None) -> np.unsignedinteger[Any]:
    """1 as an integer of the same size, so that the kernel is compiled for few types; 0 has no bits in any of them."""
    unit: np.unsignedinteger[Any] = np.array([1 if one is None else one], dtype).view(f"u{dtype.itemsize}")[0]
    return unit


def _scratch(t: Tables, number: int) -> View:
    """A View to be overwritten, kept with the tables: fresh memory costs as much as what is written into it."""
    kept = t.scratch.get(number)
    if kept is None:
        kept = t.scratch[number] = View(t.rules, number)
    return kept


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
