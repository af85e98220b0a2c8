"""The oracle's first half: deal and bidding (R4), up to the tribute."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import insort
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from tests.support.oracle_rules import BJ, LJ, SUITS, Suit, face, rank_of, text


class Deal(ABC):
    """A hand before its dealer and trump suit are known; :class:`tests.support.oracle.Oracle` continues it."""

    def __init__(
        self,
        rules: Any,
        *,
        levels: tuple[int, int] = (3, 3),
        dealer: int | None = None,
        blood: int = 0,
        first_seat: int | None = None,
        deck: Sequence[int] | Callable[[int], Sequence[int]],
    ) -> None:
        if dealer is None and first_seat is None:
            raise ValueError("the first hand of a match needs first_seat")
        self.rules = rules
        self.levels = levels
        self.blood = blood
        self.first_hand = dealer is None
        self.first: int = first_seat if dealer is None else dealer  # type: ignore[assignment]  # R4.1, R4.8
        self._given_dealer = dealer
        self._deck = deck
        self.attempt = -1
        self._deal()

    def _deal(self) -> None:
        self.attempt += 1
        if not callable(self._deck) and self.attempt:
            raise RuntimeError("R4 asks for another deal, but only one deck was given")
        self.stock = list(self._deck(self.attempt) if callable(self._deck) else self._deck)
        if sorted(self.stock) != sorted(list(range(54)) * self.rules.decks):
            raise ValueError("not a full deck")
        self.phase, self.seat = "", -1
        self.hands: list[list[int]] = [[], [], [], []]
        self.played: list[list[int]] = [[], [], [], []]
        self.pending: list[int] = []
        self.kitty: list[int] = []  # top first until it is taken (R4.3), then sorted
        self.turned: list[int] = []
        self.trick: list[tuple[int, list[int]]] = []
        self.trump: int | None = None
        self.dealer: int | None = self._given_dealer
        self.level: int = self.levels[(self.dealer or 0) % 2]
        self.score = 0
        self.standing: tuple[int, int, int] | None = None  # seat, strength (R4.5: 1.., decks + 1, decks + 2), suit
        self.shower: int | None = None
        self._shown: list[Counter[int]] = [Counter(), Counter(), Counter(), Counter()]
        self.kitty_public, self.dry, self.pickable = False, False, 0
        self.kitty_known_to: set[int] = set()
        self.void: set[tuple[int, Suit]] = set()
        self.result: dict[str, Any] | None = None
        self._legal: list[str] | None = None
        self._drawn, self._closing, self._passes, self._turn = 0, False, 0, self.first
        self._draw_on()

    def _draw_on(self) -> None:
        """Deal card by card up to the next draw that asks somebody, or into the closing window."""
        rules = self.rules
        while self._drawn < 4 * rules.hand_size:
            seat, card = (self.first + self._drawn) % 4, self.stock.pop(0)
            self._drawn += 1
            insort(self.hands[seat], card)
            if self._drawn == 4 * rules.hand_size:
                self.kitty, self.stock = self.stock, []
            if not self.first_hand:
                if (card >= LJ or rank_of(card) == self.level) and self._bids(seat):
                    return self._ask("BID", seat)
            elif self.shower is None:
                if card == BJ and rules.first_bid == "auto":
                    self._show(seat)
                elif card == BJ:
                    return self._ask("SHOW", seat)
            elif self.shower == seat and self.trump is None and card < LJ:
                self.trump = card // 13  # R4.2
        if self.first_hand and (self.shower is not None or rules.first_bid == "auto"):
            return self._bidding_over()
        self._window()

    def _ask(self, phase: str, seat: int) -> None:
        self.phase, self.seat = phase, seat

    def _window(self) -> None:
        """R4.6: silent passes of those who have nothing to say; then the next seat that is asked, or the end."""
        self._closing = True
        while self._passes < 4:
            if self.first_hand and BJ in self.hands[self._turn]:
                return self._ask("SHOW", self._turn)
            if not self.first_hand and self._bids(self._turn):
                return self._ask("BID", self._turn)
            self._pass_in_window()
        self._bidding_over()

    def _pass_in_window(self) -> None:
        self._passes += 1
        self._turn = (self._turn + 1) % 4

    def _show(self, seat: int) -> None:
        """R4.2."""
        self.shower = self.dealer = seat
        self._shown[seat][BJ] = 1

    def _bids(self, seat: int) -> list[str]:
        """R4.4-5: what this seat can bid over the standing bid."""
        decks, standing = self.rules.decks, self.standing[1] if self.standing else 0
        held = Counter(self.hands[seat])
        bids = []
        for suit, letter in enumerate(SUITS):
            copies = range(standing + 1, held[suit * 13 + self.level - 2] + 1)
            bids += [f"bid {letter} x{n}" for n in copies]
            if standing or self.rules.jokers_may_open:
                jokers = [(LJ, decks + 1), (BJ, decks + 2)]
                bids += [f"bid {text(j)}:{letter}" for j, value in jokers if held[j] == decks and value > standing]
        return bids

    def _bid(self, words: str) -> None:
        decks = self.rules.decks
        if ":" in words:
            card, suit, copies = face(words[4:6]), SUITS.index(words[-1]), decks
            self.standing = self.seat, decks + 1 + (card == BJ), suit
        else:
            suit, copies = SUITS.index(words[4]), int(words[-1])
            card = suit * 13 + self.level - 2
            self.standing = self.seat, copies, suit
        self._shown[self.seat][card] = copies  # never fewer than before: a bid on the same cards is stronger
        self._passes, self._turn = 0, (self.seat + 1) % 4 if self._closing else self._turn

    def _bidding_over(self) -> None:
        if self.standing:
            self.trump = self.standing[2]
        elif self.shower is not None:
            if self.trump is None:  # R4.2: he drew no suited card after his joker
                self.trump = next((card // 13 for card in self.kitty if card < LJ), None)
        elif self.first_hand:
            self._flip()
        else:
            self._turn_up()
        if self.trump is None:
            return self._deal()  # R4.8
        assert self.dealer is not None
        self.level = self.levels[self.dealer % 2]
        self._tribute(self.dealer)

    def _flip(self) -> None:
        """R4.3."""
        best = None
        flipped = 0
        for card in self.kitty:
            if flipped == 4:
                break
            self.turned.append(card)
            if card >= LJ:
                continue
            value = card % 13 if self.rules.first_flip == "high" else -(card % 13)
            if best is None or value > best:
                best, self.trump, self.dealer = value, card // 13, (self.first + flipped) % 4
            flipped += 1

    def _turn_up(self) -> None:
        """R4.7."""
        for card in self.kitty:
            self.turned.append(card)
            if card < LJ:
                self.trump = card // 13
                return

    @abstractmethod
    def _tribute(self, dealer: int) -> None:
        """R5: dealer and trump suit are known."""
