"""The state of N tables as a struct of arrays: table index first, except that cards are bit planes, plane first.
In memory the tables are the last axis of every array (see :mod:`gunzi_env.packed`) but ``draw``.

Slots of table n follow the order of its hand (:mod:`gunzi_env.order`). Until the bidding closes the order is
provisional: spades stand in the trump block.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Iterator
from enum import IntEnum
from functools import cached_property
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from gunzi_env import actions
from gunzi_env.actions import ActionSpace
from gunzi_env.cards import NUM_FACES
from gunzi_env.order import provisional
from gunzi_env.packed import Packed, column
from gunzi_env.planes import Words, put_planes
from gunzi_env.rules import Rules

Index = npt.NDArray[np.intp]
Flags = npt.NDArray[np.bool_]
Int8 = npt.NDArray[np.int8]
Int16 = npt.NDArray[np.int16]
Int32 = npt.NDArray[np.int32]


class Phase(IntEnum):
    """What the seat to move decides."""

    SHOW = 0
    """Show a big joker or not (R4.2)."""
    BID = 1
    """Bid or pass (R4.4-6)."""
    TRIBUTE = 2
    """Which of equal cards to give (R5.1)."""
    RETURN = 3
    """Which cards to give back (R5.4)."""
    BURY = 4
    """The dealer's exchange (R6.2)."""
    JOKERS = 5
    """Another player's jokers for the kitty (R6.5)."""
    PICKUP = 6
    """Which of equal cards to pick up for them (R6.5)."""
    LEAD = 7
    FOLLOW = 8
    OVER = 9
    """The hand is over; there is no decision."""


# Holders: where a card can be. Cards of the current trick count as played; PENDING are those set aside in a choice.
STOCK, HAND, KITTY, PLAYED, PENDING, NUM_HOLDERS = 0, 1, 5, 6, 10, 11

NOBODY = -1
"""No seat, no suit, no team."""

DEALING = -1
"""``passes`` while cards are being dealt."""

TWO_PAIRS = 5
"""Value of ``floor`` if two pairs are owed to a quad. Values 1..4 are the minimum multiplicity of the first unit."""

ANY = np.int8(63)
"""Value of ``last`` before a unit is named: all slots are below it."""


def _decks(decks: int) -> int:
    """The length of an axis of planes: one a deck."""
    return decks


def _action_words(decks: int) -> int:
    """The length of an axis of legal actions (see actions.py): a word for each number of copies, one for pass."""
    return decks + 1


def cards(sets: int | None = None, *, reset: int | None = None) -> Any:
    """Declare planes of one set of cards a record, ``uint64[D, N]``, or of several, ``uint64[D, N, sets]``."""
    if sets is None:
        return column(np.uint64, shape=(_decks,), axes=(0, 1), reset=reset)
    return column(np.uint64, shape=(_decks, sets), axes=(0, 2, 1), reset=reset)


def seat_suits() -> Any:
    """Declare a flag for each seat and suit, ``bool[N, seat, suit]``, False when a hand begins.

    In memory by suit, then seat: one seat of each table is one gather over all suits."""
    return column(np.bool_, shape=(4, 4), axes=(2, 1, 0), reset=0)


def check_count(what: str, number: object) -> None:
    """Raise ``ValueError`` unless ``number`` is a positive whole number."""
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise ValueError(f"{what} is {number!r}: it must be a positive whole number")


class Tables(Packed):
    """N tables of one game. D decks, A actions; the engine alone owns and changes the arrays.

    Each field is declared once, here, with its value when a hand begins (``reset``, where that is the same for every
    hand). The order is the order in memory: fields that a View copies stand side by side as there, so that few gathers
    copy them all. A saved state names its fields, so a new name needs a conversion in :meth:`load`.
    """

    # Cards, uint64, plane first.
    planes: Words = cards(NUM_HOLDERS)  # [D, N, 11] every card, by holder: stock, hands, kitty, played by seat, pending
    trick: Words = cards(4, reset=0)  # [D, N, 4] the current trick by seat; these cards are also among the played
    known: Words = cards(4, reset=0)  # [D, N, 4] lower bound, known to everybody, of each hand when play began (R6)
    shown: Words = cards(4, reset=0)  # [D, N, 4] cards shown by a seat in bids (R4.4) or an exemption (R5.5)
    tribute: Words = cards(reset=0)  # [D, N] cards given (R5.1)
    turned: Words = cards(reset=0)  # [D, N] kitty cards turned up to find dealer or suit (R4.3, R4.7)
    loose: Words = cards(reset=0)  # [D, N] likewise of dealer's hand and kitty together: in one or the other (R6)
    returned: Words = cards(reset=0)  # [D, N] cards given back (R5.4), seen by the two alone; less those seen buried

    # Which deal this is; words of the current choice and trick.
    seed: Words = column(np.uint64)  # [N] of all deals of the table
    table_id: Words = column(np.uint64)  # [N] tables of one id and seed have the same deals
    choice: Words = column(np.uint64, reset=0)  # [N] the slots that may be chosen, in a choice card by card
    led_mask: Words = column(np.uint64, reset=0)  # [N] the slots of the led suit (R7.3)
    win_mask: Words = column(np.uint64, reset=0)  # [N] the slots that can win: led suit and trumps (R7.6)
    match: Int32 = column(np.int32)  # [N] matches finished before this one
    hand: Int32 = column(np.int32)  # [N] hands finished before this one in this match
    attempt: Int32 = column(np.int32)  # [N] redeals of this hand (R4.8)

    # Small numbers.
    level: Int8 = column(np.int8)  # [N] level of the hand (R2.1)
    trump: Int8 = column(np.int8, reset=NOBODY)  # [N] trump suit, NOBODY until it is known
    led_suit: Int8 = column(np.int8, reset=NOBODY)  # [N] 0..3, NOBODY while leading
    led_count: Int8 = column(np.int8, reset=0)  # [N] cards led, 0 while leading
    best_slot: Int8 = column(np.int8, reset=NOBODY)  # [N] the card that wins the trick so far
    bid_strength: Int8 = column(np.int8)  # [N] standing bid (R4.5), 0 for none
    bid_suit: Int8 = column(np.int8)  # [N] NOBODY for none

    # Seats; a View counts them from the viewer.
    dealer: Int8 = column(np.int8)  # [N] NOBODY until it is known (R4.2)
    first: Int8 = column(np.int8)  # [N] the seat dealt first (R4.1)
    giver: Int8 = column(np.int8, reset=NOBODY)  # [N] who gives tribute
    leader: Int8 = column(np.int8, reset=NOBODY)  # [N] who leads the trick; NOBODY until the kitty is buried
    best: Int8 = column(np.int8, reset=NOBODY)  # [N] who wins the trick so far
    bid_seat: Int8 = column(np.int8)  # [N] NOBODY for none

    # Teams {0, 2} and {1, 3}; gain and next_levels are valid once the hand is over (R9).
    levels: Int8 = column(np.int8, shape=(2,))  # [N, 2] when the hand begins
    gain: Int8 = column(np.int8, shape=(2,), reset=0)  # [N, 2] levels gained before R9.2
    next_levels: Int8 = column(np.int8, shape=(2,))  # [N, 2]

    # More small numbers, not copied to a View.
    phase: Int8 = column(np.int8)  # [N] Phase
    seat: Int8 = column(np.int8)  # [N] who decides
    passes: Int8 = column(np.int8)  # [N] consecutive passes in the closing window, DEALING before it (R4.6)
    receiver: Int8 = column(np.int8, reset=NOBODY)  # [N] who gets the tribute and returns as many (R5.4)
    source: Int8 = column(np.int8, reset=0)  # [N] the holder from which cards are chosen
    last: Int8 = column(np.int8, reset=0)  # [N] bound on the next slot: the slot named last, see choice.py, tricks.py
    last_copies: Int8 = column(np.int8, reset=0)  # [N] most copies that the next unit of a play may have
    floor: Int8 = column(np.int8, reset=0)  # [N] least copies of the next unit in dead following (R7.5), see tricks.py
    next_dealer: Int8 = column(np.int8, reset=NOBODY)  # [N] once the hand is over; NOBODY if the match has ended
    match_winner: Int8 = column(np.int8, reset=NOBODY)  # [N] team, NOBODY while the match goes on

    # Counts.
    blood: Int16 = column(np.int16)  # [N] tribute cards owed in this hand (R5.1)
    score: Int16 = column(np.int16, reset=0)  # [N] S: points that the attackers count (R8.1)
    trick_points: Int16 = column(np.int16, reset=0)  # [N] points in the current trick (R1.4)
    held: Int16 = column(np.int16)  # [N] cards in each hand when the trick began
    pickable: Int16 = column(np.int16, reset=0)  # [N] jokers that the others may still put into the kitty (R6.5)
    drawn: Int16 = column(np.int16)  # [N] cards dealt so far
    need: Int16 = column(np.int16, reset=0)  # [N] cards that the seat to move has still to name
    next_blood: Int16 = column(np.int16, reset=0)  # [N] once the hand is over (R9.6)

    first_hand: Flags = column(np.bool_)  # [N] the first hand of a match
    kitty_public: Flags = column(np.bool_, reset=0)  # [N] everybody knows the buried cards (R6.4)
    kitty_shown: Flags = column(np.bool_, reset=0)  # [N] the kitty was shown before the exchange (R6.1)
    dry: Flags = column(np.bool_, reset=0)  # [N] a dry pot (R6.6)
    dug: Flags = column(np.bool_, reset=0)  # [N] once the hand is over: the attackers won the last trick (R8.2)

    # Shown by a play, in this hand.
    void: Flags = seat_suits()  # [N, seat, suit] the seat has run out of the suit
    no_pair: Flags = seat_suits()  # [N, seat, suit] the seat had no exact pair when it owed one (R7.5)
    no_triple: Flags = seat_suits()  # [N, seat, suit] no exact triple

    legal: Words = column(np.uint64, shape=(_action_words,))  # [N, D + 1] legal actions (see actions.py), up to date

    draw: npt.NDArray[np.uint8]  # [N, D, 54] when each copy of each face is dealt, 0 first; an array of its own

    def __init__(self, rules: Rules, num: int) -> None:
        """``num`` empty tables; :func:`gunzi_env.engine.reset` deals them."""
        check_count("number of tables", num)
        self.fill(rules.decks, num)
        self._bind(rules, np.zeros((num, rules.decks, NUM_FACES), np.uint8))

    def _bind(self, rules: Rules, draw: npt.NDArray[np.uint8]) -> None:
        self.rules = rules
        self.draw = draw
        self.layout = rules.layout
        self.actions: ActionSpace = actions.space(rules)

    # Cached properties, because a copy that is made to look ahead needs few of them.

    @cached_property
    def holders(self) -> Words:
        """``planes`` as in memory, ``uint64[11 D, N]``."""
        return self.rows_of("planes")

    @cached_property
    def flat(self) -> Words:
        """``planes`` with one axis for holder and table, ``uint64[D, 11 * N]``, to gather one holder of each table."""
        return self.holders.reshape(self.rules.decks, -1)

    @cached_property
    def flat_trick(self) -> Words:
        """``trick`` with one axis for seat and table, ``uint64[D, 4 * N]``."""
        return self.rows_of("trick").reshape(self.rules.decks, -1)

    @cached_property
    def pending_slots(self) -> Words:
        """The slots set aside, a view ``uint64[N]`` of the first pending plane."""
        row: Words = self.holders[PENDING]
        return row

    @cached_property
    def _offsets(self) -> Index:
        return np.arange(NUM_HOLDERS) * self.num

    @cached_property
    def rotated(self) -> Index:
        """:meth:`at` of table 0 for the seat k places after ``seat``, ``int[k, seat]``."""
        return ((np.arange(4)[:, None] + np.arange(4)) & 3) * self.num

    @cached_property
    def scratch(self) -> dict[Any, Any]:
        """Scratch buffers, keyed by the function that reuses them."""
        return {}

    def at(self, g: Index, holder: int | npt.NDArray[Any], first: int = 0) -> Index:
        """Column of holder ``first + holder`` of each table in :attr:`flat`, or of a seat in :attr:`flat_trick`."""
        if isinstance(holder, int):
            return np.add(g, (first + holder) * self.num, dtype=np.intp)
        return np.add(self._offsets[first:].take(holder), g)

    def holder(self, g: Index, holder: int | npt.NDArray[Any]) -> Words:
        """Copy the planes ``uint64[D, n]`` of one holder a table."""
        return self.flat.take(self.at(g, holder), axis=1)

    def put(self, g: Index, holder: int | npt.NDArray[Any], planes: Words) -> None:
        """Replace the planes of one holder a table."""
        put_planes(self.flat, self.at(g, holder), planes)

    @overload
    def trump_or_provisional(self, tables: int) -> int: ...
    @overload
    def trump_or_provisional(self, tables: Index) -> Int8: ...
    def trump_or_provisional(self, tables: int | Index) -> int | Int8:
        """The trump suit by which slots are labelled at some tables: spades until the trump is known."""
        suits: int | Int8 = provisional(self.trump[tables])
        return suits

    def arrays(self) -> Iterator[tuple[str, npt.NDArray[Any], int]]:
        """Every array: its name, itself and its axis of tables."""
        for name, array, axis in super().arrays():
            if name == "legal":
                yield "draw", self.draw, 0
            yield name, array, axis

    def _with(self, num: int, buffers: Iterable[npt.NDArray[Any]], draw: npt.NDArray[np.uint8]) -> Tables:
        out = object.__new__(Tables)
        out.fill(self.rules.decks, num, buffers)
        out.rules, out.draw, out.layout, out.actions = self.rules, draw, self.layout, self.actions
        return out

    def select(self, idx: Index) -> Tables:
        """Copy some tables, in the order of ``idx`` (which may repeat)."""
        rows = np.arange(self.num)[idx]
        buffers = [buffer.take(rows, axis=1) for buffer in self.buffers]
        return self._with(len(rows), buffers, self.draw.take(rows, axis=0))

    def clone(self) -> Tables:
        """Copy all tables; the copy shares only the rules and what follows from them."""
        return self._with(self.num, [buffer.copy() for buffer in self.buffers], self.draw.copy())

    def assign(self, idx: Index, other: Tables) -> None:
        """Overwrite the tables ``idx`` with all tables of ``other``, which must have the same rules."""
        if other.rules != self.rules:
            raise ValueError("tables of other rules cannot be assigned")
        for mine, theirs in zip(self.buffers, other.buffers, strict=True):
            mine[:, idx] = theirs
        self.draw[idx] = other.draw

    def save(self) -> bytes:
        """The arrays as an uncompressed ``.npz`` file, without the rules."""
        buffer = io.BytesIO()
        np.savez(buffer, **{name: array for name, array, _ in self.arrays()})  # type: ignore[arg-type]
        return buffer.getvalue()

    @classmethod
    def load(cls, rules: Rules, data: bytes) -> Tables:
        """Tables from :meth:`save`.

        Raises:
            ValueError: Not a saved state, or names, shapes or dtypes differ from those of ``rules``.
        """
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
        except Exception as error:
            raise ValueError(f"no saved tables: {error}") from None
        num = len(arrays["phase"]) if "phase" in arrays else 0
        if not num:
            raise ValueError("no saved tables: the field 'phase' is missing or empty")
        out = cls(rules, num)
        for name, array, _ in out.arrays():
            found = arrays.get(name)
            if found is None or found.shape != array.shape or found.dtype != array.dtype:
                raise ValueError(f"saved tables do not fit these rules: field {name!r} is missing or of another shape")
            array[...] = found
        return out

    def __getstate__(self) -> dict[str, Any]:
        """Rules and arrays; the rest follows from them."""
        return {"rules": self.rules, "num": self.num, "buffers": self.buffers, "draw": self.draw}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.fill(state["rules"].decks, state["num"], state["buffers"])
        self._bind(state["rules"], state["draw"])

    def __eq__(self, other: object) -> bool:
        """Compare rules and all arrays."""
        if not isinstance(other, Tables):
            return NotImplemented
        ours, theirs = (*self.buffers, self.draw), (*other.buffers, other.draw)
        return self.rules == other.rules and all(map(np.array_equal, ours, theirs))

    __hash__ = None  # type: ignore[assignment]  # mutable

    def hash64(self, n: int = 0) -> int:
        """Hash one table's state to 64 bits, the same in any batch and process."""
        digest = hashlib.blake2b(self.rules.digest.encode(), digest_size=8)
        for _, array, axis in self.arrays():
            digest.update(np.ascontiguousarray(array[:, n] if axis else array[n]).tobytes())
        return int.from_bytes(digest.digest(), "little")
