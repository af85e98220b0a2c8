"""The flat numbering of every decision.

One space serves all phases. With D decks::

    (m - 1) * 54 + slot      m copies of the card in this slot, m = 1..D
    54 D                     pass
    54 D + 1                 show a big joker                        (R4.2)
    54 D + 2 ...             bid m level cards: suit * D + m - 1     (R4.4)
    58 D + 2 ...             bid all small jokers, naming a suit
    58 D + 6 ...             bid all big jokers, naming a suit
    58 D + 10                number of actions

A lead is one action. A follow is one or more: its units are named largest multiplicity first, then from
the highest slot down, each card once, so every legal play has exactly one sequence. Tribute, return,
burial and pick-up name one card a decision, from the highest slot down.

Legality is kept as ``uint64[N, D + 1]``: word m - 1 has the slots of which m copies may be played, the
last word has one bit for each action from pass on.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from gunzi_env import order, planes
from gunzi_env.cards import FACE_NAMES, NUM_FACES, SUITS, parse_face, parse_suit
from gunzi_env.planes import BIT, NUM_SLOTS, Ints, Words, bits, copies, select
from gunzi_env.rules import Rules

BID_WORDS = ("LJ", "BJ")

_BLOCK = 4096
"""Rows unpacked at a time: they stay in the processor's cache."""


class ActionSpace:
    """The numbering for some rules; get it with :func:`space`."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.decks = rules.decks
        self.PASS = NUM_SLOTS * rules.decks
        """Decline, or stop naming jokers."""
        self.SHOW = self.PASS + 1
        """Show a big joker."""
        self.BIDS = self.PASS + 2
        """The first bid's number."""
        self.SMALL_BIDS = self.BIDS + 4 * rules.decks
        self.BIG_BIDS = self.SMALL_BIDS + 4
        self.n = self.BIG_BIDS + 4
        """How many actions there are."""
        self._layout = rules.layout
        self.bid_strength, self.bid_suit = self._bid_tables()
        self.unit: Words = copies(np.arange(self.PASS) % NUM_SLOTS, np.arange(self.PASS) // NUM_SLOTS + 1, self.decks)
        """The cards of each card action as planes, ``uint64[D, 54 D]``."""

    def _bid_tables(self) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
        """Strength (R4.5: copies, then all small, all big jokers) and suit of bid number b, ``int8[4 D + 8]``."""
        d = self.decks
        strength = [m + 1 for _ in range(4) for m in range(d)] + [d + 1] * 4 + [d + 2] * 4
        suit = [s for s in range(4) for _ in range(d)] + [0, 1, 2, 3] * 2
        return np.array(strength, np.int8), np.array(suit, np.int8)

    def card(self, slot: int, copies: int = 1) -> int:
        """The action "``copies`` of ``slot``"."""
        return (copies - 1) * NUM_SLOTS + slot

    def bid(self, strength: int, suit: int) -> int:
        """The bid of this strength (R4.5: 1..D level cards, D + 1 small jokers, D + 2 big jokers) naming ``suit``."""
        if strength <= self.decks:
            return self.BIDS + suit * self.decks + strength - 1
        return (self.SMALL_BIDS if strength == self.decks + 1 else self.BIG_BIDS) + suit

    def name(self, action: int, level: int, trump: int = order.PROVISIONAL_TRUMP) -> str:
        """An action in words, cards by the faces of this hand.

        >>> space(Rules()).name(54 + 53, level=3), space(Rules()).name(162, level=3)
        ('BJ BJ', 'pass')
        >>> space(Rules()).name(164 + 4, level=3)
        'bid H x2'
        """
        if not 0 <= action < self.n:
            raise ValueError(f"action {action} is outside 0..{self.n - 1}")
        if action < self.PASS:
            face = int(self._layout.face_of_slot[level, trump, action % NUM_SLOTS])
            return " ".join([FACE_NAMES[face]] * (action // NUM_SLOTS + 1))
        if action < self.BIDS:
            return "pass" if action == self.PASS else "show"
        strength, suit = int(self.bid_strength[action - self.BIDS]), int(self.bid_suit[action - self.BIDS])
        if strength <= self.decks:
            return f"bid {SUITS[suit]} x{strength}"
        return f"bid {BID_WORDS[strength - self.decks - 1]}:{SUITS[suit]}"

    def parse(self, text: str, level: int, trump: int = order.PROVISIONAL_TRUMP) -> int:
        """The action of a name, the opposite of :meth:`name`; ``ValueError`` names what is wrong.

        >>> space(Rules()).parse("bid LJ:D", level=3)
        179
        """
        tokens = text.split()
        if tokens in (["pass"], ["show"]):
            return self.PASS if tokens == ["pass"] else self.SHOW
        if tokens and tokens[0].lower() == "bid":
            return self._parse_bid(text, tokens[1:])
        if not tokens:
            raise ValueError("no action: write cards, pass, show or a bid")
        faces = [parse_face(token) for token in tokens]
        if len(set(faces)) > 1 or len(faces) > self.decks:
            raise ValueError(f"{text!r} is no unit: name 1 to {self.decks} copies of one card")
        return self.card(int(self._layout.slot_of_face[level, trump, faces[0]]), len(faces))

    def _parse_bid(self, text: str, tokens: list[str]) -> int:
        if len(tokens) == 2 and tokens[1][:1] == "x" and tokens[1][1:].isdecimal():
            copies = int(tokens[1][1:])
            if 1 <= copies <= self.decks:
                return self.bid(copies, parse_suit(tokens[0]))
        elif len(tokens) == 1 and tokens[0][:3] in ("LJ:", "BJ:"):
            return self.bid(self.decks + 1 + BID_WORDS.index(tokens[0][:2]), parse_suit(tokens[0][3:]))
        raise ValueError(f"unknown bid {text!r}: write 'bid H x2' (1 to {self.decks} copies), 'bid LJ:H' or 'bid BJ:H'")

    def unpack(self, legal: Words, out: npt.NDArray[np.bool_] | None = None) -> npt.NDArray[np.bool_]:
        """Legal words ``uint64[N, D + 1]`` as ``bool[N, n]`` (written into ``out`` when given)."""
        widths = (*(NUM_SLOTS,) * self.decks, self.n - self.PASS)
        if out is None:
            return planes.flags(legal.T, widths).view(np.bool_)
        for start in range(0, len(legal), _BLOCK):
            out[start : start + _BLOCK] = planes.flags(legal[start : start + _BLOCK].T, widths)
        return out

    def is_legal(self, legal: Words, actions: Ints) -> npt.NDArray[np.bool_]:
        """Whether each action of ``[N]`` (within 0..n - 1) is set in its words."""
        word = np.minimum(actions // NUM_SLOTS, self.decks)
        chosen = legal.T.take(word * len(legal) + np.arange(len(legal)))
        return np.asarray((chosen & BIT.take(actions - word * NUM_SLOTS)) != 0)

    def pick(self, legal: Words, index: Ints) -> npt.NDArray[np.int32]:
        """Legal action number ``index`` (from 0, in the order of the numbering) of each row of words.

        Rows without a legal action (a hand that is over) give pass, which the engine leaves aside there.
        """
        rest = index.astype(np.uint8)
        chosen, word = legal[:, 0], np.zeros(len(legal), np.uint8)
        here = np.ones(len(legal), np.bool_)  # not before word number `word`
        for w in range(1, self.decks + 1):
            size = bits(chosen) * here
            here = here & (rest >= size)
            rest = rest - size * here
            chosen = chosen ^ (chosen ^ legal[:, w]) * here
            word += here
        none = rest >= bits(chosen)
        action = word.astype(np.int32) * NUM_SLOTS + select(chosen, rest)
        action[none] = self.PASS
        return action

    def count(self, legal: Words) -> npt.NDArray[np.uint8]:
        """How many legal actions each row of words has, ``uint8[N]``."""
        total = bits(legal[:, 0])
        for w in range(1, self.decks + 1):
            total = total + bits(legal[:, w])
        return total


@cache
def space(rules: Rules) -> ActionSpace:
    """The :class:`ActionSpace` of some rules."""
    return ActionSpace(rules)


assert NUM_SLOTS == NUM_FACES
