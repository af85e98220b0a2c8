"""A plain second implementation of Da Gunzi, to be compared with the engine ply by ply.

Written from RULES.md alone (clauses cited as R5.3), over sorted Python lists of faces, without numpy and without one
line of the engine: two programs that agree and were written apart are unlikely to share a mistake. Simple before fast.

Faces are 0..53: suit * 13 + rank - 2 with suits S H C D and ranks 2..14, then 52 the small and 53 the big joker.
`rules` is any object that has the options of R10 as attributes.
"""
from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from tests.oracle_rules import (
    BJ,
    EVERYBODY,
    LJ,
    SUITS,
    Order,
    Suit,
    face,
    faces,
    is_dry,
    order_of,
    points,
    rank_of,
    settle,
    shape_owed_is_played,
    text,
    trick_winner,
)


class Oracle:
    """One hand, asked decision by decision: `phase`, `seat`, `legal()`, `apply(text)`, and what stands on the table."""

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

    # ---- the deal (R4.1) and what a draw asks

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

    # ---- choices of single cards: tribute, return, bury, pick-up

    def _choose(self, phase: str, seat: int, groups: list[list[int]], need: int, source: list[int]) -> None:
        """Take whole groups while they fit, then ask for the rest out of the group that is used in part."""
        self.phase, self.seat, self._source, self._need = phase, seat, source, need
        self._last = 54
        for group in groups:
            self._pool = sorted(group)
            if len(group) > self._need:
                break
            for card in group:
                self._take(card)
        if self._need == 0:
            self._commit()

    def _take(self, card: int) -> None:
        self._pool.remove(card)
        self._source.remove(card)
        insort(self.pending, card)
        self._need -= 1

    def _commit(self) -> None:
        done = {"TRIBUTE": self._given, "RETURN": self._returned, "BURY": self._buried, "PICKUP": self._picked_up}
        cards, self.pending = self.pending, []
        done[self.phase](cards)

    def _hand_over(self, cards: list[int], seat: int) -> None:
        self.hands[seat] = sorted(self.hands[seat] + cards)

    @property
    def order(self) -> Order:
        assert self.trump is not None
        return order_of(self.rules, self.level, self.trump)

    def _tribute(self, dealer: int) -> None:
        """R5.1-3, R5.5."""
        giver, taker = (dealer + 3) % 4, dealer
        if self.blood and self.rules.anti_tribute:
            holder = next((s for s in range(4) if self.hands[s].count(BJ) == self.rules.decks), None)
            if holder in (giver, (giver + 2) % 4):
                self._shown[holder][BJ] = self.rules.decks
                if holder != giver:
                    return self._kitty_shown(dealer)
                giver, taker = taker, giver
        by_level = self.rules.tribute_level_points
        may = [c for c in self.hands[giver] if not points(c) or (by_level and rank_of(c) == self.level)]
        need = min(self.blood, len(may))
        if need == 0:
            return self._kitty_shown(dealer)
        self._taker = taker
        self._choose("TRIBUTE", giver, self.order.groups(may)[::-1], need, self.hands[giver])

    def _given(self, cards: list[int]) -> None:
        """R5.4."""
        giver, taker = self.seat, self._taker
        self._taker = giver
        self._hand_over(cards, taker)
        classes: list[list[int]] = [[], [], []]
        for card in self.hands[taker]:
            classes[2 if points(card) else self.order.suit[card] == "T"].append(card)
        self._choose("RETURN", taker, classes, len(cards), self.hands[taker])

    def _returned(self, cards: list[int]) -> None:
        self._hand_over(cards, self._taker)
        self._kitty_shown(self.dealer or 0)

    # ---- the kitty (R6)

    def _kitty_shown(self, dealer: int) -> None:
        """R6.1, R6.6, and the dealer takes it (R6.2)."""
        self.kitty.sort()
        self.kitty_public = self.standing is not None or self.shower is not None
        self.kitty_known_to = set(EVERYBODY) if self.kitty_public else {dealer}
        if self.kitty_public and (self.rules.dry_pot_first_hand or not self.first_hand):
            self.dry = is_dry(self.rules, self.level, self.order.trump, self.kitty)
        if self.dry:
            return self._ask("LEAD", dealer)
        self._hand_over(self.kitty, dealer)
        self.kitty = []
        hand = self.hands[dealer]
        self._choose("BURY", dealer, [list(hand)], self.rules.kitty_size, hand)

    def _buried(self, cards: list[int]) -> None:
        """R6.4; then the others' jokers (R6.5)."""
        self.kitty = cards
        self.kitty_public = cards[-1] >= LJ
        self.kitty_known_to = set(EVERYBODY) if self.kitty_public else {self.seat}
        self._count_pickable()
        self._others_jokers(self.seat)

    def _count_pickable(self) -> None:
        blocked = self.rules.others_bury_block == "any_points" and any(points(c) for c in self.kitty)
        closed = blocked or not self.rules.others_bury
        self.pickable = 0 if closed else sum(card < LJ and not points(card) for card in self.kitty)

    def _others_jokers(self, after: int) -> None:
        assert self.dealer is not None
        while (after := (after + 1) % 4) != self.dealer:
            if self._next_joker(after) is not None:
                return self._ask("JOKERS", after)
        self._ask("LEAD", self.dealer)  # R7.1

    def _next_joker(self, seat: int) -> int | None:
        """The joker that may be buried next: big before small (R6.3), no more than can be picked up."""
        held = self.hands[seat][-1:]
        return held[0] if held and held[0] >= LJ and len(self.pending) < self.pickable else None

    def _jokers_named(self) -> None:
        cards, self.pending = self.pending, []
        if not cards:
            return self._others_jokers(self.seat)
        self.kitty = sorted(self.kitty + cards)
        self.kitty_public, self.kitty_known_to = True, set(EVERYBODY)
        groups = self.order.groups(card for card in self.kitty if card < LJ and not points(card))
        self._choose("PICKUP", self.seat, groups, len(cards), self.kitty)

    def _picked_up(self, cards: list[int]) -> None:
        self._hand_over(cards, self.seat)
        self._count_pickable()
        self._others_jokers(self.seat)

    # ---- play (R7)

    def _follow(self, seat: int) -> None:
        """Play what is forced; ask for the rest."""
        n, led, hand = len(self.trick[0][1]), self._led(), self.hands[seat]
        of_suit = [card for card in hand if self.order.suit[card] == led]
        forced = hand if len(hand) == n else of_suit if len(of_suit) <= n else []
        self._ask("FOLLOW", seat)
        self.pending = list(forced)
        self.hands[seat] = [card for card in hand if card not in forced]
        self._units: list[tuple[int, int]] = []  # (copies, slot) named so far
        self._need = n - len(forced)
        choosable = of_suit if len(of_suit) > n else self.hands[seat]
        self._held = Counter(self.order.slot[card] for card in choosable)
        self._shape_binds = len(of_suit) > n and self.rules.follow == "dead"
        if self._need == 0:
            self._play_complete()

    def _led(self) -> Suit:
        return self.order.suit[self.trick[0][1][0]]

    def _units_after(self, units: list[tuple[int, int]], need: int) -> list[tuple[int, int]]:
        """(copies, slot) that come after `units` in canonical order: more copies first, then higher slots, all new."""
        named = {slot for _, slot in units}
        return [
            (m, slot)
            for slot, held in self._held.items()
            for m in range(1, min(held, need) + 1)
            if slot not in named and (not units or (m, slot) < units[-1])
        ]

    def _completes(self, units: list[tuple[int, int]], need: int) -> bool:
        """Whether `units` begin the canonical sequence of a legal play that has `need` more cards."""
        if need == 0:
            play = Counter({slot: m for m, slot in units})
            return not self._shape_binds or shape_owed_is_played(self._held, play, play.total())
        later = self._units_after(units, need)
        most: dict[int, int] = {}
        for m, slot in later:
            most[slot] = max(m, most.get(slot, 0))
        if sum(most.values()) < need:
            return False
        # Where no shape binds, any number up to `most` of each face is a later unit, so enough cards are enough.
        return not self._shape_binds or any(self._completes([*units, u], need - u[0]) for u in later)

    def _play_complete(self) -> None:
        """R7.6-7, and what everybody now knows of this seat's suits."""
        cards, self.pending = self.pending, []
        self.played[self.seat] = sorted(self.played[self.seat] + cards)
        self.trick.append((self.seat, cards))
        led = self._led()
        if any(self.order.suit[card] != led for card in cards):
            self.void.add((self.seat, led))
        if len(self.trick) < 4:
            return self._follow((self.seat + 1) % 4)
        assert self.dealer is not None
        plays = [play for _, play in self.trick]
        winner = self.trick[trick_winner(self.rules, self.level, self.order.trump, plays)][0]
        attackers_won = (winner - self.dealer) % 2 == 1
        if attackers_won:
            self.score += sum(points(card) for play in plays for card in play)
        self.trick = []
        if self.hands[winner]:
            return self._ask("LEAD", winner)
        self._ask("OVER", -1)
        self.kitty_public, self.kitty_known_to = True, set(EVERYBODY)  # R6.4
        total = self.score + (2 * sum(map(points, self.kitty)) if attackers_won else 0)  # R8.2
        big, small = self.kitty.count(BJ), self.kitty.count(LJ)
        self.result = settle(self.rules, total, attackers_won, big, small, self.dry, self.levels, self.dealer)

    # ---- what may be decided now, and deciding it

    @property
    def shown(self) -> list[list[int]]:
        """Cards each seat showed in bids or for R5.5 (R4.4), less those of them that it has played since."""
        return [sorted((self._shown[seat] - Counter(self.played[seat])).elements()) for seat in range(4)]

    def legal(self) -> list[str]:
        """All decisions allowed now as sorted texts; none when the hand is over."""
        if self._legal is None:
            self._legal = sorted(self._decisions())
        return list(self._legal)

    def _decisions(self) -> list[str]:
        if self.phase == "OVER":
            return []
        hand = self.hands[self.seat]
        if self.phase == "SHOW":
            return ["show", "pass"]
        if self.phase == "BID":
            return [*self._bids(self.seat), "pass"]
        if self.phase == "JOKERS":
            joker = self._next_joker(self.seat)
            assert joker is not None
            return [text(joker), "pass"]
        if self.phase == "LEAD":
            return [" ".join([text(card)] * m) for card, held in Counter(hand).items() for m in range(1, held + 1)]
        if self.phase == "FOLLOW":
            units = self._units_after(self._units, self._need)
            legal = [(m, slot) for m, slot in units if self._completes([*self._units, (m, slot)], self._need - m)]
            card_in = {slot: card for card, slot in self.order.slot.items()}
            return [" ".join([text(card_in[slot])] * m) for m, slot in legal]
        slot = self.order.slot
        below = [card for card in self._pool if slot[card] <= self._last]
        return [
            text(card)
            for card in set(below)
            if sum(slot[other] <= slot[card] for other in below) >= self._need
            and not (self.phase == "BURY" and card == LJ and BJ in hand)  # R6.3
        ]

    def apply(self, words: str) -> None:
        """Take one of `legal()`; anything else is a ValueError and changes nothing."""
        if words not in self.legal():
            raise ValueError(f"{self.phase}, seat {self.seat}: {words!r} is not legal")
        self._legal = None
        if self.phase in ("SHOW", "BID"):
            return self._answer(words)
        if self.phase == "JOKERS" and words == "pass":
            return self._jokers_named()
        cards = faces(words)
        if self.phase in ("JOKERS", "LEAD", "FOLLOW"):
            for card in cards:
                self.hands[self.seat].remove(card)
                insort(self.pending, card)
        if self.phase == "JOKERS":
            return self._jokers_named() if self._next_joker(self.seat) is None else None
        if self.phase == "LEAD":
            return self._play_complete()
        if self.phase == "FOLLOW":
            self._units.append((len(cards), self.order.slot[cards[0]]))
            self._need -= len(cards)
            return self._play_complete() if self._need == 0 else None
        self._last = self.order.slot[cards[0]]
        self._take(cards[0])
        if self._need == 0:
            self._commit()

    def _answer(self, words: str) -> None:
        """To a question of R4.2, R4.4 or R4.6."""
        if words == "show":
            self._show(self.seat)
        elif words != "pass":
            self._bid(words)
        elif self._closing:
            self._pass_in_window()
        self._draw_on()
