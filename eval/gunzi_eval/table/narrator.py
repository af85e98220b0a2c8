"""Events of one table in words, as demo, play and replay show them.

:meth:`Narrator.advance` carries out an action and returns the events. ``viewer`` is a seat, whose events contain only
what that seat may know, or None for a spectator who sees all cards. No event reports that a player declined (R4.6).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from gunzi_env import engine, planes
from gunzi_env.cards import SUITS, format_cards, rank_name
from gunzi_env.chapters.bidding import kitty_faces
from gunzi_env.order import BIG_JOKER_SLOT, JOKERS
from gunzi_env.planes import BIT, Words
from gunzi_env.tables import HAND, KITTY, NOBODY, PLAYED, Phase, Tables
from gunzi_eval.table.outcome import cards_text

SUIT_WORDS = dict(zip(SUITS, ("spades", "hearts", "clubs", "diamonds")))


@dataclass(frozen=True)
class Message:
    """An event as a sentence."""

    text: str


@dataclass(frozen=True)
class Play:
    """A seat's cards in the current trick."""

    seat: int
    cards: str
    leads: bool


@dataclass(frozen=True)
class Trick:
    """A finished trick: its plays in order, the winner, its points and the score after it."""

    number: int
    plays: tuple[tuple[int, str], ...]
    winner: int
    points: int
    score: int


Event = Message | Play | Trick


def seat_name(seat: int, viewer: int | None = None) -> str:
    """Name a seat, relative to the viewer if there is one.

    >>> seat_name(2), seat_name(2, viewer=0), seat_name(0, viewer=0)
    ('seat 2', 'seat 2 (partner)', 'you')
    """
    if viewer is None:
        return f"seat {seat}"
    if seat == viewer:
        return "you"
    return f"seat {seat} ({('', 'next', 'partner', 'previous')[(seat - viewer) & 3]})"


class Narrator:
    """Advances table 0 and reports the events."""

    def __init__(self, tables: Tables, viewer: int | None = None) -> None:
        self.t = tables
        self.viewer = viewer
        self.tricks = 0

    def advance(self, action: int) -> list[Event]:
        """Carry out one action and return its events.

        Raises:
            gunzi_env.engine.IllegalAction: the action is illegal; the table is unchanged.
        """
        before = self.t.clone()
        engine.step(self.t, np.array([action]))
        return self.tell(before, action)

    def tell(self, before: Tables, action: int) -> list[Event]:
        """Return the events since ``before`` caused by this action and the moves it forced."""
        events: list[Event] = [*self._bid(before, action)]
        if self.t.attempt[0] != before.attempt[0]:
            events.append(Message("The cards name no trump suit: they are dealt again (R4.8)."))
        if before.phase[0] <= Phase.BID < self.t.phase[0]:
            events += [*self._bidding_closed(), *self._exemption()]
        return [*events, *self._tribute(before), *self._kitty(before), *self._plays(before)]

    def opening(self) -> list[Event]:
        """Return the events at the start of a hand."""
        t = self.t
        self.tricks = 0
        first = "first hand of a match" if t.first_hand[0] else f"{self._name(int(t.dealer[0]))} to deal"
        levels = (
            f"levels {rank_name(int(t.levels[0, 0]))} (seats 0, 2) and {rank_name(int(t.levels[0, 1]))} (seats 1, 3)"
        )
        owed = f", {int(t.blood[0])} blood owed" if t.blood[0] else ""
        events: list[Event] = [Message(f"New hand: {first}, {levels}{owed}.")]
        if t.phase[0] > Phase.BID:  # there was no decision in the bidding
            events += [*self._bidding_closed(), *self._exemption(), *self._tribute(None), *self._kitty(None)]
        return events

    def _bidding_closed(self) -> list[Event]:
        """Report the dealer, the trump suit and the reason (R4)."""
        t = self.t
        dealer, turned = int(t.dealer[0]), cards_text(t, 0, t.turned[:, 0])
        if t.first_hand[0]:
            why = (
                f"the kitty was flipped, {turned} (R4.3)" if turned else "the player who shows a big joker deals (R4.2)"
            )
        elif t.bid_seat[0] != NOBODY:
            why = f"the bid of {self._name(int(t.bid_seat[0]))} stands (R4.5)"
        else:
            why = f"there was no bid, the kitty's top card counts, {turned} (R4.7)"
        suit = SUIT_WORDS[SUITS[int(t.trump[0])]]
        result = f"deal{'s' * (dealer != self.viewer)}; trumps are {suit}, level {rank_name(int(t.level[0]))}: {why}"
        return [Message(f"{self._name(dealer, start=True)} {result}.")]

    def _name(self, seat: int, start: bool = False) -> str:
        name = seat_name(seat, self.viewer)
        return name[0].upper() + name[1:] if start else name

    def _sees(self, *seats: int) -> bool:
        return self.viewer is None or self.viewer in seats

    def _says(self, seat: int, verb: str, rest: str) -> Message:
        name = self._name(seat, start=True)
        return Message(f"{name} {_verb(name, verb)} {rest}.")

    def _bid(self, before: Tables, action: int) -> Iterable[Event]:
        if before.phase[0] > Phase.BID or action == before.actions.PASS:
            return
        seat, words = int(before.seat[0]), before.actions.name(action, int(before.level[0]))
        yield (
            self._says(seat, "show", "a big joker (R4.2)")
            if words == "show"
            else self._says(seat, *words.split(" ", 1))
        )

    def _exemption(self) -> Iterable[Event]:
        """Report that a player who owes tribute shows all big jokers (R5.5)."""
        t, dealer = self.t, int(self.t.dealer[0])
        if not t.rules.anti_tribute or not t.blood[0]:
            return
        for seat, what in ((dealer + 3) & 3, "the tribute is turned round"), ((dealer + 1) & 3, "there is no tribute"):
            if t.shown[-1, 0, seat] & BIT[BIG_JOKER_SLOT]:
                yield self._says(seat, "show", f"all big jokers: {what} (R5.5)")

    def _tribute(self, before: Tables | None) -> Iterable[Event]:
        t = self.t
        giver, receiver = int(t.giver[0]), int(t.receiver[0])
        given = t.tribute[:, 0]
        if given.any() and (before is None or not before.tribute[:, 0].any()):
            clause = "R5.5" if giver == t.dealer[0] else "R5.1"
            yield self._says(giver, "give", f"{cards_text(t, 0, given)} to {self._name(receiver)} ({clause})")
        returned = t.returned[:, 0]
        if returned.any() and (before is None or not before.returned[:, 0].any()):
            number = int(planes.count(returned[:, None])[0])
            cards = cards_text(t, 0, returned) if self._sees(giver, receiver) else f"{number} card{'s' * (number > 1)}"
            yield self._says(receiver, "return", f"{cards} (R5.4)")

    def _kitty(self, before: Tables | None) -> Iterable[Event]:
        phase = int(self.t.phase[0])
        was = int(before.phase[0]) if before is not None else Phase.SHOW
        if was < Phase.BURY <= phase:
            yield from self._kitty_taken()
        if before is None:
            return
        if was == Phase.BURY != phase:
            yield self._buried()
        if was in (Phase.JOKERS, Phase.PICKUP):
            yield from self._jokers(before)

    def _kitty_taken(self) -> Iterable[Event]:
        t = self.t
        dealer = int(t.dealer[0])
        faces, size = kitty_faces(t, np.array([0]))
        cards = format_cards(faces[0, : size[0]].tolist())
        if t.kitty_shown[0]:
            yield Message(f"The kitty is shown: {cards} (R6.1).")
        elif self._sees(dealer):
            yield self._says(dealer, "see", f"the kitty: {cards} (R6.1)")
        if t.dry[0]:
            yield Message("A dry pot: the kitty is not exchanged, its jokers count for nothing (R6.6).")

    def _buried(self) -> Event:
        t, dealer = self.t, int(self.t.dealer[0])
        kitty = t.planes[:, 0, KITTY]
        number = int(planes.count(kitty[:, None])[0])
        seen = self._sees(dealer) or bool(t.kitty_public[0])
        return self._says(dealer, "bury", cards_text(t, 0, kitty) if seen else f"{number} cards")

    def _jokers(self, before: Tables) -> Iterable[Event]:
        t, seat = self.t, int(before.seat[0])
        put = planes.minus(t.planes[:, 0, KITTY], before.planes[:, 0, KITTY]) & JOKERS
        if put.any():
            yield self._says(seat, "put", f"{cards_text(t, 0, put)} into the kitty, which is open now (R6.5)")
        same_turn = t.phase[0] == Phase.PICKUP and t.seat[0] == seat
        picked = planes.minus(t.planes[:, 0, HAND + seat], before.planes[:, 0, HAND + seat])
        if picked.any() and not same_turn:
            yield self._says(seat, "pick", f"up {cards_text(t, 0, picked)} (R6.5)")

    def _plays(self, before: Tables) -> Iterable[Event]:
        t, first = self.t, int(before.seat[0])
        if before.phase[0] not in (Phase.LEAD, Phase.FOLLOW):
            return
        leads = before.phase[0] == Phase.LEAD
        trick = {} if leads else _by_seat(before, int(before.leader[0]), before.trick[:, 0])
        new = planes.minus(t.planes[:, 0, PLAYED : PLAYED + 4], before.planes[:, 0, PLAYED : PLAYED + 4])
        for seat, cards in _by_seat(t, first, new).items():
            trick[seat] = cards
            yield Play(seat, cards, leads and seat == first)
        if t.phase[0] in (Phase.LEAD, Phase.OVER):
            self.tricks += 1
            yield Trick(self.tricks, tuple(trick.items()), int(t.leader[0]), self._points(before, new), int(t.score[0]))

    def _points(self, before: Tables, new: Words) -> int:
        points = self.t.layout.points[self.t.level[0]].astype(np.int64)
        earlier = 0 if before.phase[0] == Phase.LEAD else int(before.trick_points[0])
        return earlier + int((planes.to_counts(new).sum(axis=0) * points).sum())


def _by_seat(t: Tables, first: int, cards: Words) -> dict[int, str]:
    """Format the cards ``uint64[D, 4]`` by seat, in playing order from ``first``, without seats that have no cards."""
    order = [(first + i) & 3 for i in range(4)]
    return {seat: cards_text(t, 0, cards[:, seat]) for seat in order if cards[:, seat].any()}


def _verb(name: str, verb: str) -> str:
    """Conjugate a verb for a subject.

    >>> _verb("you", "bury"), _verb("seat 1", "bury"), _verb("seat 1", "play")
    ('bury', 'buries', 'plays')
    """
    if name.lower() == "you":
        return verb
    return verb[:-1] + "ies" if verb.endswith("ry") else verb + "s"
