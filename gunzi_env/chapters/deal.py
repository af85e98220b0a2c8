"""R4.1: the deal, a pure function of (seed, table, match, hand, attempt).

A counter-based generator (:mod:`gunzi_env.keys`) gives every card a key and the keys are sorted, so a table plays the
same game alone, in any batch and in any process.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gunzi_env.cards import NUM_FACES
from gunzi_env.keys import mix, sequence
from gunzi_env.planes import FULL, U64, Words, pack, thermometer
from gunzi_env.rules import Rules
from gunzi_env.tables import HAND, KITTY, NUM_HOLDERS, STOCK, Index, Tables

_CARD_BITS = U64(0xFF)

_FIRST_SEAT, _CARDS, _START = U64(1), U64(2), U64(3)
"""Streams: different questions asked of the same deal."""


def deal_key(t: Tables, g: Index) -> Words:
    """The key ``uint64[n]`` of each table's current deal but for the attempt."""
    return mix(t.seed[g], t.table_id[g], t.match[g], t.hand[g])


def first_seats(t: Tables, g: Index) -> npt.NDArray[np.int8]:
    """R4.1: the random first seat of a match; a redeal keeps it (R4.8)."""
    return (mix(deal_key(t, g), _FIRST_SEAT) & U64(3)).astype(np.int8)


def start_keys(t: Tables, g: Index) -> Words:
    """Keys for drawing the state a single hand starts from."""
    return mix(deal_key(t, g), _START)


def shuffle(t: Tables, g: Index) -> npt.NDArray[np.uint8]:
    """When each card of these tables' deals is dealt: ``uint8[n, D, 54]``, a permutation of 0..54 D - 1."""
    number = t.rules.num_cards
    card = np.arange(number, dtype=U64)
    key = mix(deal_key(t, g), _CARDS, t.attempt[g])
    keys = (sequence(key, number) & ~_CARD_BITS) | card  # the low byte says which card, so that one sort tells all
    keys.sort(axis=1)
    cards = (keys & _CARD_BITS).astype(np.intp)
    draw = np.empty((len(g), t.rules.decks, NUM_FACES), np.uint8)
    draw.reshape(-1)[cards + (np.arange(len(g)) * number)[:, None]] = np.arange(number, dtype=np.uint8)
    # Copies are alike: in dealing order, a deal is the same whether it was shuffled or read from a record.
    _sort_copies(draw)
    return draw


def _sort_copies(draw: npt.NDArray[np.uint8]) -> None:
    """The copies of each face in dealing order; a few of them, so that it pays to exchange whole columns."""
    for last in range(draw.shape[1] - 1, 0, -1):
        for copy in range(last):
            earlier, later = draw[:, copy], draw[:, copy + 1]
            swapped = np.maximum(earlier, later)
            np.minimum(earlier, later, out=earlier)
            later[:] = swapped


def draw_of_deck(rules: Rules, deck: list[int]) -> npt.NDArray[np.uint8]:
    """The ``draw`` array ``uint8[1, D, 54]`` of a deck as faces in dealing order; ``ValueError`` if it is none."""
    if sorted(deck) != sorted(list(range(NUM_FACES)) * rules.decks):
        raise ValueError(
            f"a deck has each of the {NUM_FACES} cards {rules.decks} times, {rules.num_cards} in all; "
            f"this one has {len(deck)}"
        )
    draw = np.empty((1, rules.decks, NUM_FACES), np.uint8)
    copy = np.zeros(NUM_FACES, int)
    for position, face in enumerate(deck):
        draw[0, copy[face], face] = position
        copy[face] += 1
    return draw


def deck_of_draw(draw: npt.NDArray[np.uint8]) -> list[int]:
    """The faces in dealing order of one table's ``draw[D, 54]``."""
    return [int(card) % NUM_FACES for card in np.argsort(draw.reshape(-1))]


def owner(t: Tables, g: Index, position: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """The seat dealt the card at a position (any shape, table last); 4 for the kitty."""
    seat = (position.astype(np.uint8) + t.first[g].astype(np.uint8)) & np.uint8(3)
    return np.where(position < t.rules.num_dealt, seat, np.uint8(4)).astype(np.uint8)


def positions(t: Tables, g: Index, faces: npt.NDArray[np.intp]) -> npt.NDArray[np.uint8]:
    """When the copies of some faces ``[n, k]`` are dealt at these tables, ``uint8[n, D, k]``."""
    copies = np.arange(t.rules.decks) * NUM_FACES
    return t.draw.reshape(-1).take((g[:, None] * t.rules.num_cards + copies)[:, :, None] + faces[:, None])


def reveal(t: Tables, g: Index) -> None:
    """Put the cards drawn so far into the hands, the kitty (once all hands are dealt) and the rest into the stock."""
    rules, trump = t.rules, t.trump_or_provisional(g)
    position = positions(t, g, t.layout.face_of_place[t.level[g], trump])  # [n, D, place]
    complete = t.drawn[g] >= rules.num_dealt
    limit = np.where(complete, rules.num_cards, t.drawn[g])[:, None, None]
    seat = position + t.first[g].astype(np.uint8)[:, None, None]
    # One word a copy for each question: which cards are dealt, to the kitty, and the two bits of the seat.
    questions = (position < limit, position >= rules.num_dealt, seat & np.uint8(1), seat & np.uint8(2))
    dealt, kitty, low, high = (pack(flags).T.copy() for flags in questions)  # [D, n]
    dealt &= FULL
    hands = dealt & ~kitty
    out = np.zeros((rules.decks, NUM_HOLDERS, len(g)), U64)
    for s, mine in enumerate((~low & ~high, low & ~high, ~low & high, low & high)):
        out[:, HAND + s] = hands & mine
    out[:, KITTY] = dealt & kitty
    out[:, STOCK] = FULL & ~dealt
    t.holders[:, g] = thermometer(out).reshape(len(t.holders), len(g))
