"""The state of N tables as a struct of arrays, table index first; the cards alone are bit planes, plane first.
In memory the tables are the last axis of all (see :mod:`gunzi_env.packed`), but for ``draw``.

Everything that holds slots of table n is labelled by that hand's order (:mod:`gunzi_env.order`). Until the
bidding closes the order is provisional: spades stand in the trump block.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Iterator
from enum import IntEnum
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gunzi_env import actions, order
from gunzi_env.actions import ActionSpace
from gunzi_env.cards import NUM_FACES
from gunzi_env.packed import Field, Packed, Schema
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
    """The hand is over; nothing is to decide."""


# Holders: where a card can be. The current trick lies among the played cards.
STOCK, HAND, KITTY, PLAYED, PENDING, NUM_HOLDERS = 0, 1, 5, 6, 10, 11

NOBODY = -1
"""No seat, no suit, no team."""

DEALING = -1
"""``passes`` while cards are being dealt."""


@cache
def schema(decks: int) -> Schema:
    """The fields of :class:`Tables`, where they are told in words.

    Those that a View shows stand together and in its order, so that it takes them all at once."""
    word, byte, short, whole, flag = np.uint64, np.int8, np.int16, np.int32, np.bool_
    seats, teams = (4,), (2,)
    planes: dict[str, tuple[int, ...]] = {"planes": (NUM_HOLDERS,), "trick": seats, "known": seats, "shown": seats}
    planes |= {"tribute": (), "turned": (), "loose": (), "returned": ()}
    fields = [Field(name, word, (decks, *extent), (0, 2, 1) if extent else (0, 1)) for name, extent in planes.items()]
    numbers: list[tuple[type[np.generic], tuple[int, ...], str]] = [
        (word, (), "seed table_id choice led_mask win_mask"),
        (whole, (), "match hand attempt"),
        (byte, (), "level trump led_suit led_count best_slot bid_strength bid_suit"),
        (byte, (), "dealer first giver leader best bid_seat"),
        (byte, teams, "levels gain next_levels"),
        (byte, (), "phase seat passes receiver source last last_copies floor next_dealer match_winner"),
        (short, (), "blood score trick_points held pickable drawn need next_blood"),
        (flag, (), "first_hand kitty_public kitty_shown dry dug"),
    ]
    fields += [Field(name, dtype, shape) for dtype, shape, names in numbers for name in names.split()]
    # By suit, then seat: a seat a table is one gather of all its suits.
    fields += [Field(name, flag, (4, 4), (2, 1, 0)) for name in ("void", "no_pair", "no_triple")]
    return Schema([*fields, Field("legal", word, (decks + 1,))])


def check_count(what: str, number: object) -> None:
    """``ValueError`` unless it is a positive whole number."""
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise ValueError(f"{what} is {number!r}: it must be a positive whole number")


class Tables(Packed):
    """N tables of one game. D decks, A actions; all arrays are owned and changed by the engine alone."""

    # Cards, uint64, plane first.
    planes: Words  # [D, N, 11] every card of the table, by holder: stock, hands, kitty, played by seat, pending
    trick: Words  # [D, N, 4] the current trick by seat; these cards are also among the played
    shown: Words  # [D, N, 4] cards shown by a seat in bids (R4.4) or an exemption (R5.5)
    known: Words  # [D, N, 4] cards that everybody knows a seat held when play began, at least (see kitty.py)
    loose: Words  # [D, N] cards that everybody knows to have been in the dealer's hand or the kitty then, at least
    turned: Words  # [D, N] kitty cards turned up to find dealer or suit (R4.3, R4.7)
    tribute: Words  # [D, N] cards given (R5.1)
    returned: Words  # [D, N] cards given back (R5.4), seen by the two alone; less those since seen to be buried
    draw: npt.NDArray[np.uint8]  # [N, D, 54] when each copy of each face is dealt, 0 first
    legal: Words  # [N, D + 1] legal actions (see actions.py), kept up to date

    # Which deal this is.
    seed: Words  # [N]
    table_id: Words  # [N] tables of one id and seed have the same deals
    match: Int32  # [N] matches finished before this one
    hand: Int32  # [N] hands finished before this one in this match
    attempt: Int32  # [N] redeals of this hand (R4.8)

    # Where the hand stands.
    phase: Int8  # [N] Phase
    seat: Int8  # [N] who decides
    levels: Int8  # [N, 2] levels of the teams {0, 2} and {1, 3}
    level: Int8  # [N] level of the hand (R2.1)
    trump: Int8  # [N] trump suit, NOBODY until it is known
    dealer: Int8  # [N] NOBODY until it is known (R4.2)
    first: Int8  # [N] the seat dealt first (R4.1)
    first_hand: Flags  # [N] is this the first hand of a match?
    blood: Int16  # [N] tribute cards owed in this hand (R5.1)

    # Bidding (R4).
    drawn: Int16  # [N] cards dealt so far
    passes: Int8  # [N] consecutive passes in the closing window, DEALING before it
    bid_strength: Int8  # [N] standing bid (R4.5), 0 for none
    bid_suit: Int8  # [N]
    bid_seat: Int8  # [N]

    # Choosing cards one by one (tribute, return, burial, pick-up, a play).
    giver: Int8  # [N] who gives tribute
    receiver: Int8  # [N] who gets it and returns as many
    source: Int8  # [N] the holder chosen from
    choice: Words  # [N] the slots that may be chosen
    need: Int16  # [N] cards still to name
    last: Int8  # [N] the slot named last; what follows lies below (units of a play) or not above (single cards)
    last_copies: Int8  # [N] most copies that the next unit of a play may have
    floor: Int8  # [N] what dead following still demands (R7.5), see tricks.py

    # Kitty (R6).
    kitty_shown: Flags  # [N] was the kitty shown before the exchange (R6.1)?
    kitty_public: Flags  # [N] does everybody know what lies buried (R6.4)?
    dry: Flags  # [N]
    pickable: Int16  # [N] how many jokers the others may still put in (R6.5)

    # Play (R7).
    leader: Int8  # [N]
    led_suit: Int8  # [N] 0..3, NOBODY while leading
    led_count: Int8  # [N] cards led, 0 while leading
    led_mask: Words  # [N] the slots of the led suit
    win_mask: Words  # [N] the slots that can win: led suit and trumps
    best: Int8  # [N] who wins the trick so far
    best_slot: Int8  # [N] and with which card
    trick_points: Int16  # [N]
    held: Int16  # [N] cards in each hand when the trick began
    score: Int16  # [N] S: what the attackers count (R8.1)
    void: Flags  # [N, seat, suit] seen to have run out of a suit
    no_pair: Flags  # [N, seat, suit] seen to have had no exact pair when it was owed (dead following)
    no_triple: Flags  # [N, seat, suit]

    # Result (R9), valid once the hand is over.
    dug: Flags  # [N]
    gain: Int8  # [N, 2] levels gained before R9.2
    next_levels: Int8  # [N, 2]
    next_dealer: Int8  # [N] NOBODY once the match has ended
    next_blood: Int16  # [N]
    match_winner: Int8  # [N] team, NOBODY while the match goes on

    def __init__(self, rules: Rules, num: int) -> None:
        """``num`` empty tables; :func:`gunzi_env.engine.reset` deals them."""
        check_count("number of tables", num)
        self.fill(schema(rules.decks), num)
        self._bind(rules, np.zeros((num, rules.decks, NUM_FACES), np.uint8))

    def _bind(self, rules: Rules, draw: npt.NDArray[np.uint8]) -> None:
        self.rules = rules
        self.draw = draw
        self.layout = order.layout(rules.mixed_trump_rank)
        self.actions: ActionSpace = actions.space(rules)

    # What follows is made when it is first asked for: a copy made for a look ahead is not to pay for all of it.

    @cached_property
    def holders(self) -> Words:
        """The rows of ``planes``, ``uint64[11 D, N]``."""
        return self.rows_of("planes")

    @cached_property
    def flat(self) -> Words:
        """``planes`` with one axis for holder and table, ``uint64[D, 11 * N]``: a holder a table is one gather."""
        return self.holders.reshape(self.rules.decks, -1)

    @cached_property
    def flat_trick(self) -> Words:
        """``trick`` likewise, ``uint64[D, 4 * N]``."""
        return self.rows_of("trick").reshape(self.rules.decks, -1)

    @cached_property
    def pending_slots(self) -> Words:
        """The slots set aside, ``uint64[N]``."""
        row: Words = self.holders[PENDING]
        return row

    @cached_property
    def _offsets(self) -> Index:
        return np.arange(NUM_HOLDERS) * self.num

    @cached_property
    def rotated(self) -> Index:
        """:meth:`at` of table 0 for the seat k places after a seat, ``int[k, seat]``."""
        return ((np.arange(4)[:, None] + np.arange(4)) & 3) * self.num

    @cached_property
    def scratch(self) -> dict[Any, Any]:
        """Memory that is used again, by whom it concerns."""
        return {}

    def at(self, g: Index, holder: int | npt.NDArray[Any], first: int = 0) -> Index:
        """Where the planes of holder ``first + holder`` of each table lie in :attr:`flat`; of a seat, in the like."""
        if isinstance(holder, int):
            return np.add(g, (first + holder) * self.num, dtype=np.intp)
        return np.add(self._offsets[first:].take(holder), g)

    def holder(self, g: Index, holder: int | npt.NDArray[Any]) -> Words:
        """The planes ``uint64[D, n]`` of one holder a table; a copy."""
        return self.flat.take(self.at(g, holder), axis=1)

    def put(self, g: Index, holder: int | npt.NDArray[Any], planes: Words) -> None:
        """Replace the planes of one holder a table."""
        put_planes(self.flat, self.at(g, holder), planes)

    def arrays(self) -> Iterator[tuple[str, npt.NDArray[Any], int]]:
        """Every array with its name and the axis of the tables."""
        for name, array, axis in self.fields():
            if name == "legal":
                yield "draw", self.draw, 0
            yield name, array, axis

    def _with(self, num: int, buffers: Iterable[npt.NDArray[Any]], draw: npt.NDArray[np.uint8]) -> Tables:
        out = object.__new__(Tables)
        out.fill(self.schema, num, buffers)
        out.rules, out.draw, out.layout, out.actions = self.rules, draw, self.layout, self.actions
        return out

    def select(self, idx: Index) -> Tables:
        """A copy of some tables, in the order of ``idx`` (which may repeat)."""
        rows = np.arange(self.num)[idx]
        buffers = [buffer.take(rows, axis=1) for buffer in self.buffers]
        return self._with(len(rows), buffers, self.draw.take(rows, axis=0))

    def clone(self) -> Tables:
        """A copy that shares nothing."""
        return self._with(self.num, [buffer.copy() for buffer in self.buffers], self.draw.copy())

    def assign(self, idx: Index, other: Tables) -> None:
        """Overwrite the tables ``idx`` with all tables of ``other``, which must have the same rules."""
        if other.rules != self.rules:
            raise ValueError("tables of other rules cannot be assigned")
        for mine, theirs in zip(self.buffers, other.buffers, strict=True):
            mine[:, idx] = theirs
        self.draw[idx] = other.draw

    def save(self) -> bytes:
        """The arrays as an uncompressed ``.npz`` file; rules are not in it."""
        buffer = io.BytesIO()
        np.savez(buffer, **{name: array for name, array, _ in self.arrays()})  # type: ignore[arg-type]
        return buffer.getvalue()

    @classmethod
    def load(cls, rules: Rules, data: bytes) -> Tables:
        """Tables from :meth:`save`; ``ValueError`` where names, shapes or types differ from those of ``rules``."""
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
        """Rules and arrays; what follows from them is bound anew."""
        return {"rules": self.rules, "num": self.num, "buffers": self.buffers, "draw": self.draw}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.fill(schema(state["rules"].decks), state["num"], state["buffers"])
        self._bind(state["rules"], state["draw"])

    def __eq__(self, other: object) -> bool:
        """Same rules and every array equal."""
        if not isinstance(other, Tables):
            return NotImplemented
        ours, theirs = (*self.buffers, self.draw), (*other.buffers, other.draw)
        return self.rules == other.rules and all(map(np.array_equal, ours, theirs))

    __hash__ = None  # type: ignore[assignment]  # mutable

    def hash64(self, n: int = 0) -> int:
        """A 64-bit hash of one table's state, the same in any batch and process."""
        digest = hashlib.blake2b(self.rules.digest.encode(), digest_size=8)
        for _, array, axis in self.arrays():
            digest.update(np.ascontiguousarray(array[:, n] if axis else array[n]).tobytes())
        return int.from_bytes(digest.digest(), "little")
