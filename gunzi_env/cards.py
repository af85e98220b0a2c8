"""The 54 faces of a deck: numbering, names, points and text form (R1.3, R1.4).

A *face* is the print of a card::

    suit     S: 0..12    H: 13..25    D: see SUITS    jokers
    face     suit * 13 + (rank - 2), ranks 2..14 (14 is the ace)       52 small joker, 53 big joker

Faces are used in the deal, in bids and in text. All other code uses *slots* (see :mod:`gunzi_env.order`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

SUITS = "SHCD"
RANKS = "23456789TJQKA"
LOWEST_RANK, ACE = 2, 14
RANKS_PER_SUIT = 13
SUITED_FACES = 52
NUM_FACES = 54
SMALL_JOKER, BIG_JOKER = 52, 53

FACE_NAMES: tuple[str, ...] = (*(s + r for s in SUITS for r in RANKS), "LJ", "BJ")
_FACE_OF_NAME = {name: face for face, name in enumerate(FACE_NAMES)}

POINTS_OF_RANK = {5: 5, 10: 10, 13: 10}
"""Points by rank (R1.4); other ranks have none."""

POINTS_PER_DECK = 100


def face(suit: int, rank: int) -> int:
    """Return the face of ``rank`` 2..14 in ``suit`` 0..3.

    >>> FACE_NAMES[face(1, 10)]
    'HT'
    """
    return suit * RANKS_PER_SUIT + rank - LOWEST_RANK


def suit_of(face: int) -> int:
    """Return the printed suit 0..3 of a face, -1 for a joker (R4.3: a joker has no suit)."""
    return face // RANKS_PER_SUIT if face < SUITED_FACES else -1


def rank_of(face: int) -> int:
    """Return the printed rank 2..14 of a face, 0 for a joker."""
    return face % RANKS_PER_SUIT + LOWEST_RANK if face < SUITED_FACES else 0


FACE_POINTS = np.array([POINTS_OF_RANK.get(rank_of(f), 0) for f in range(NUM_FACES)], np.uint8)


def parse_face(token: str) -> int:
    """Parse the name of a face; ``ValueError`` quotes a bad token.

    >>> parse_face("HT"), parse_face("BJ")
    (21, 53)
    """
    try:
        return _FACE_OF_NAME[token.upper()]
    except KeyError:
        raise ValueError(
            f"unknown card {token!r}: write a suit of {SUITS} and a rank of {RANKS}, or LJ or BJ"
        ) from None


def parse_cards(text: str) -> list[int]:
    """Parse faces from text such as ``"S3 S3 HA BJ"``, in the order written.

    >>> parse_cards("S2 BJ")
    [0, 53]
    """
    if not isinstance(text, str):
        raise ValueError(f"cards are {text!r}: they must be text such as 'S3 HT BJ'")
    return [parse_face(token) for token in text.split()]


def parse_hand(text: str, decks: int) -> list[int]:
    """Parse faces; ``ValueError`` if a face has more than ``decks`` copies (R1.3)."""
    faces = parse_cards(text)
    for found, copies in Counter(faces).items():
        if copies > decks:
            raise ValueError(f"{copies} copies of {FACE_NAMES[found]}: there are {decks}, one per deck")
    return faces


def format_cards(faces: Iterable[int]) -> str:
    """Format faces as text, in the order given.

    >>> format_cards([0, 0, 53])
    'S2 S2 BJ'
    """
    return " ".join(FACE_NAMES[f] for f in faces)


def parse_suit(text: str) -> int:
    """Parse a suit letter S, H, C or D to 0..3; ``ValueError`` otherwise."""
    if isinstance(text, str) and len(text) == 1 and text.upper() in SUITS:
        return SUITS.index(text.upper())
    raise ValueError(f"unknown suit {text!r}: use one letter of {SUITS}")


def parse_rank(value: int | str) -> int:
    """Parse a rank 2..14 from ``"2"``..``"9"``, ``"T"`` or ``"10"``, ``"J"``, ``"Q"``, ``"K"``, ``"A"``, or a number.

    >>> parse_rank("T"), parse_rank(10), parse_rank("3")
    (10, 10, 3)
    """
    if isinstance(value, int) and not isinstance(value, bool) and LOWEST_RANK <= value <= ACE:
        return value
    text = str(value).strip().upper()
    if text == "10":
        return 10
    if len(text) == 1 and text in RANKS:
        return RANKS.index(text) + LOWEST_RANK
    raise ValueError(f"unknown rank {value!r}: use 2..9, T or 10, J, Q, K, A")


def rank_name(rank: int) -> str:
    """Return the letter of a rank 2..14.

    >>> rank_name(10), rank_name(14)
    ('T', 'A')
    """
    return RANKS[rank - LOWEST_RANK]
