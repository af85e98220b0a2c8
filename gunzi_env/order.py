"""The card order of a hand: conversion between faces and slots (R2). No other module converts them.

A *slot* is the position of a card in the order of this hand: the three side suits first, each from low to high, then
the trumps from low to high. With the standard rules::

    slot   0-10      11-21     22-32      33-43        44-46   47     48-50    51     52  53
           side      side      side       trump suit   2s of   trump  level    trump  LJ  BJ
           suit 0    suit 1    suit 2     3..A         others  2      others   level

The side suits have the order S H C D without the trump suit. With ``mixed_trump_rank`` (R2.6) each suit has ten cards
and four more trumps lie between the 2s and the level cards.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gunzi_env import cards
from gunzi_env.cards import ACE, BIG_JOKER, FACE_POINTS, LOWEST_RANK, NUM_FACES, SMALL_JOKER, face
from gunzi_env.planes import BIT, U64, Words, count, pack, unpack

NUM_LEVELS = ACE + 1
"""Size of the level axis. Tables are indexed by the level 3..14 itself; the rows below are empty."""

TRUMP = 3
"""The number of trumps as a led suit; 0, 1 and 2 are the side suits in slot order (R2.4)."""

PROVISIONAL_TRUMP = 0
"""The trump suit of the slots before the bidding closes: spades."""

NUM_RANKS = 28
"""Groups of equal cards: side cards by rank across the three suits, then trumps by strength; also with R2.6."""

SMALL_JOKER_SLOT, BIG_JOKER_SLOT = 52, 53
PROVISIONAL_LEVEL_SLOTS = (51, 48, 49, 50)
"""The level cards S H C D in provisional order: directly below the jokers at every level, also with R2.6."""
JOKERS = BIT[SMALL_JOKER_SLOT] | BIT[BIG_JOKER_SLOT]


@dataclass(frozen=True, eq=False)
class Layout:
    """Lookup tables of the card order for one ``mixed_trump_rank``, indexed by level (and trump suit, and slot)."""

    face_of_slot: npt.NDArray[np.uint8]  # [level, trump, 54]
    slot_of_face: npt.NDArray[np.uint8]  # [level, trump, 54]
    # [level, trump, 64] face_of_slot, padded to a word's width with arbitrary faces, for gathers
    face_of_place: npt.NDArray[np.intp]
    suit_mask: Words  # [level, 4] slots of each led suit
    suit_of_slot: npt.NDArray[np.int8]  # [level, 54] led suit of each slot
    strength: npt.NDArray[np.uint8]  # [level, 54] equal for cards of equal strength (R2.5)
    points: npt.NDArray[np.uint8]  # [level, 54]
    fives: Words  # [level] slots worth 5
    tens: Words  # [level] slots worth 10
    point_cards: Words  # [level] both
    level_cards: Words  # [level] slots of the four level cards
    ordinary_trumps: Words  # [level] cards of the trump suit without 2 and level card (R6.6)
    permanent_trumps: Words  # [level] jokers, 2s, mixed trumps (R2.2, R2.6)
    rising: Words  # [level, NUM_RANKS] groups of equal cards for tribute and pick-up, smallest first (R5.1, R6.5)

    def key(self, level: npt.NDArray[np.int8], slot: npt.NDArray[Any]) -> npt.NDArray[np.int16]:
        """Return the flat index of (level, slot) in tables ``[level, 54]``, for ``take``."""
        return np.asarray(np.multiply(level, NUM_FACES, dtype=np.int16) + slot, np.int16)

    def value(self, level: npt.NDArray[np.int8], held: Words) -> npt.NDArray[np.int16]:
        """Count the points (R1.4) of cards ``uint64[D, n]`` at these levels, ``int16[n]``."""
        return np.asarray(5 * count(held & self.fives.take(level)) + 10 * count(held & self.tens.take(level)), np.int16)


def _groups(level: int, trump: int, mixed: int | None) -> tuple[list[list[int]], list[list[int]]]:
    """List the groups of equal faces, weakest first: (side suits, trumps)."""
    # R2.6: if the mixed rank is the level, there are no mixed trumps.
    classes = [LOWEST_RANK, *([mixed] if mixed not in (None, level) else []), level]
    plain = [rank for rank in range(LOWEST_RANK, ACE + 1) if rank not in classes]
    others = [suit for suit in range(4) if suit != trump]
    sides = [[face(suit, rank)] for suit in others for rank in plain]
    trumps = [[face(trump, rank)] for rank in plain]
    for rank in classes:
        trumps += [[face(suit, rank) for suit in others], [face(trump, rank)]]
    return sides, [*trumps, [SMALL_JOKER], [BIG_JOKER]]


@cache
def layout(mixed_trump_rank: int | None) -> Layout:
    """Return the tables for rules with this ``mixed_trump_rank`` (R2.6; None is the standard order)."""
    shape = (NUM_LEVELS, NUM_FACES)
    out = Layout(
        face_of_slot=np.zeros((NUM_LEVELS, 4, NUM_FACES), np.uint8),
        slot_of_face=np.zeros((NUM_LEVELS, 4, NUM_FACES), np.uint8),
        face_of_place=np.zeros((NUM_LEVELS, 4, 64), np.intp),
        suit_mask=np.zeros((NUM_LEVELS, 4), U64),
        suit_of_slot=np.zeros(shape, np.int8),
        strength=np.zeros(shape, np.uint8),
        points=np.zeros(shape, np.uint8),
        rising=np.zeros((NUM_LEVELS, NUM_RANKS), U64),
        **{name: np.zeros(NUM_LEVELS, U64) for name in _WORD_TABLES},
    )
    for level in range(3, NUM_LEVELS):
        _fill(out, level, mixed_trump_rank)
    for table in vars(out).values():
        table.flags.writeable = False
    return out


_WORD_TABLES = ("fives", "tens", "point_cards", "level_cards", "ordinary_trumps", "permanent_trumps")


def _fill(out: Layout, level: int, mixed: int | None) -> None:
    for trump in range(4):
        sides, trumps = _groups(level, trump, mixed)
        faces = [f for group in sides + trumps for f in group]
        out.face_of_slot[level, trump] = faces
        out.slot_of_face[level, trump, faces] = np.arange(NUM_FACES)
        out.face_of_place[level, trump, :NUM_FACES] = faces
    # The remaining tables do not depend on the trump suit; they are computed from the last one.
    width = len(sides) // 3
    slot = 0
    for group in sides + trumps:
        out.strength[level, slot : slot + len(group)] = slot
        slot += len(group)
    suits = np.minimum(np.arange(NUM_FACES) // width, TRUMP)
    ranks = np.array([cards.rank_of(f) for f in faces])
    out.suit_of_slot[level] = suits
    out.suit_mask[level] = pack(suits == np.arange(4)[:, None])
    out.points[level] = FACE_POINTS[faces]
    out.fives[level] = pack(out.points[level] == 5)
    out.tens[level] = pack(out.points[level] == 10)
    out.point_cards[level] = out.fives[level] | out.tens[level]
    out.level_cards[level] = pack(ranks == level)
    permanent = (ranks == 0) | (ranks == LOWEST_RANK) | ((ranks == mixed) & (ranks != level))
    out.permanent_trumps[level] = pack(permanent)
    by_rank = [[width * suit + rank for suit in range(3)] for rank in range(width)]
    by_strength = [np.flatnonzero(out.strength[level] == s) for s in np.unique(out.strength[level, 3 * width :])]
    out.rising[level] = [np.bitwise_or.reduce(BIT[np.asarray(slots)]) for slots in [*by_rank, *by_strength]]
    out.ordinary_trumps[level] = pack((suits == TRUMP) & ~permanent & (ranks != level))


def provisional(trump: Any) -> Any:
    """The trump suits ``trump``, and PROVISIONAL_TRUMP where they are not known yet (-1); a number gives an ``int``."""
    return max(int(trump), PROVISIONAL_TRUMP) if np.ndim(trump) == 0 else np.maximum(trump, PROVISIONAL_TRUMP)


def to_slots(table: Layout, level: int, trump: int, faces: list[int]) -> list[int]:
    """Convert faces to slots."""
    return [int(s) for s in table.slot_of_face[level, trump, faces]]


def to_faces(table: Layout, level: int, trump: int, slots: list[int]) -> list[int]:
    """Convert slots to faces."""
    return [int(f) for f in table.face_of_slot[level, trump, slots]]


def relabel(
    table: Layout, words: Words, level: npt.NDArray[np.int8], trump: npt.NDArray[np.int8], old: int = PROVISIONAL_TRUMP
) -> Words:
    """Convert words ``uint64[n, k]`` at ``level[n]`` from the slots of trump suit ``old`` to those of ``trump[n]``."""
    source = table.slot_of_face[level, old]  # [n, 54]: old slot of each face
    source = np.take_along_axis(source, table.face_of_slot[level, trump].astype(np.intp), axis=1)
    return pack(np.take_along_axis(unpack(words), source[:, None, :].astype(np.intp), axis=2))
