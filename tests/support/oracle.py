"""A plain second implementation of Da Gunzi, to be compared with the engine ply by ply.

Written from RULES.md alone (clauses cited as R5.3), over sorted Python lists of faces, without numpy and without one
line of the engine: two programs that agree and were written apart are unlikely to share a mistake. Simple before fast.

Faces are 0..53: suit * 13 + rank - 2 with suits S H C D and ranks 2..14, then 52 the small and 53 the big joker.
`rules` is any object that has the options of R10 as attributes.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter

from tests.support.oracle_deal import Deal
from tests.support.oracle_rules import (
    BJ,
    EVERYBODY,
    LJ,
    Order,
    Suit,
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


class Oracle(Deal):
    """One hand, asked decision by decision: `phase`, `seat`, `legal()`, `apply(text)`, and what stands on the table."""

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
        left = [shown and shown - Counter(played) for shown, played in zip(self._shown, self.played)]
        return [sorted(cards.elements()) for cards in left]

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
