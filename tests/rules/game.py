"""A table spoken to in text: what the examples of the rules are written with.

>>> game = dealt(dealer=1, draws={1: "H3", 2: ". D3 D3"})
>>> game.phase, game.seat, game.legal
('bid', 1, ['pass', 'bid H x1'])
>>> game.play("1 bid H x1").seat
2
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gunzi_env import engine, observe, position
from gunzi_env.cards import format_cards, parse_cards, rank_of
from gunzi_env.chapters.deal import draw_of_deck, first_seats
from gunzi_env.order import to_faces
from gunzi_env.planes import Words, to_counts
from gunzi_env.rulebook import ONE_TABLE
from gunzi_env.rules import Rules, load_rules
from gunzi_env.tables import HAND, KITTY, PENDING, PLAYED, Phase, Tables

FILLER = "."
SUITS = "SHCD"


class Game:
    """One table. Cards come and go as text, sorted by face; moves are written "SEAT ACTION"."""

    def __init__(self, tables: Tables) -> None:
        self.t = tables

    @property
    def phase(self) -> str:
        return Phase(self.t.phase[0]).name.lower()

    @property
    def seat(self) -> int:
        return int(self.t.seat[0])

    @property
    def trump(self) -> str | None:
        return SUITS[self.t.trump[0]] if self.t.trump[0] >= 0 else None

    @property
    def dealer(self) -> int:
        return int(self.t.dealer[0])

    @property
    def score(self) -> int:
        return int(self.t.score[0])

    @property
    def legal(self) -> list[str]:
        """The names of the legal actions, in the order of the numbering."""
        return [self._name(int(a)) for a in np.flatnonzero(engine.legal(self.t)[0])]

    def _names_with(self) -> tuple[int, int]:
        return int(self.t.level[0]), self.t.trump_or_provisional(0)

    def _name(self, action: int) -> str:
        return self.t.actions.name(action, *self._names_with())

    def play(self, *moves: str) -> Game:
        """Carry out moves such as "1 bid H x2"; it must be that seat's turn."""
        for move in moves:
            seat, _, text = move.partition(" ")
            assert (self.phase != "over", self.seat) == (True, int(seat)), f"{move!r}: {self.phase}, seat {self.seat}"
            engine.step(self.t, [self.t.actions.parse(text, *self._names_with())])
        return self

    def decline(self) -> Game:
        """Pass until the bidding is over, or the cards are dealt again."""
        attempt = int(self.t.attempt[0])
        while self.phase in ("show", "bid") and self.t.attempt[0] == attempt:
            self.play(f"{self.seat} pass")
        return self

    def hurry(self, until: str) -> Game:
        """Take the last legal action (pass, or the strongest card) until this phase is reached."""
        while self.phase != until:
            self.play(f"{self.seat} {self.legal[-1]}")
        return self

    def text(self, words: Words) -> str:
        """The cards of planes ``uint64[D]`` of this table."""
        slots = [int(s) for s in np.repeat(np.arange(54), to_counts(words))]
        return format_cards(sorted(to_faces(self.t.layout, *self._names_with(), slots)))

    def hand(self, seat: int) -> str:
        return self.text(self.t.planes[:, 0, HAND + seat])

    def played(self, seat: int) -> str:
        return self.text(self.t.planes[:, 0, PLAYED + seat])

    @property
    def kitty(self) -> str:
        return self.text(self.t.planes[:, 0, KITTY])

    @property
    def pending(self) -> str:
        return self.text(self.t.planes[:, 0, PENDING])

    @property
    def tribute(self) -> str:
        return self.text(self.t.tribute[:, 0])

    def view(self, seat: int) -> observe.View:
        return observe.view(self.t, ONE_TABLE, np.array([seat], np.int8))

    def sees_kitty(self, seat: int) -> str | None:
        """What a seat knows to lie buried; None where it does not know."""
        view = self.view(seat)
        return self.text(view.kitty[:, 0]) if view.kitty_known[0] else None

    def sees(self, seat: int, of: int | None) -> str:
        """The cards that ``seat`` knows to be with the seat ``of`` (None: in the dealer's hand or in the kitty)."""
        column = observe.DEALER_OR_KITTY if of is None else (of - seat) % 4
        return self.text(self.view(seat).known[:, 0, column])

    def sees_shown(self, seat: int, of: int) -> str:
        """The cards that ``of`` has shown and not played, as ``seat`` sees them."""
        return self.text(self.view(seat).shown[:, 0, (of - seat) % 4])

    def next_hand(self) -> Game:
        engine.next_hand(self.t, ONE_TABLE)
        return self


def deck(
    rules: Rules,
    *,
    first: int,
    level: int = 3,
    draws: Mapping[int, str] | None = None,
    last: Mapping[int, str] | None = None,
    kitty: str = "",
    spare: int = 3,
) -> list[int]:
    """All cards in dealing order: ``draws`` are the first cards of a seat ("." stands for any), ``last`` its last
    ones, ``kitty`` the top of the kitty. Level cards and jokers that are not named go to seat ``spare``, late."""
    places: dict[int, int] = {}
    for seat, text in (draws or {}).items():
        for k, token in enumerate(text.split()):
            if token != FILLER:
                (places[4 * k + (seat - first) % 4],) = parse_cards(token)
    for seat, text in (last or {}).items():
        tokens = text.split()
        for k, token in enumerate(tokens, start=rules.hand_size - len(tokens)):
            if token != FILLER:
                (places[4 * k + (seat - first) % 4],) = parse_cards(token)
    places |= {rules.num_dealt + k: face for k, face in enumerate(parse_cards(kitty))}
    rest = Counter(dict.fromkeys(range(54), rules.decks))
    rest.subtract(places.values())
    assert min(rest.values()) >= 0, "more copies wished than there are"
    events = [f for f in sorted(rest.elements()) if rank_of(f) in (0, level)]
    others = [f for f in sorted(rest.elements()) if rank_of(f) not in (0, level)]
    late = [p for k in range(rules.hand_size) if (p := 4 * k + (spare - first) % 4) not in places]
    places |= dict(zip(late[len(late) - len(events) :], events, strict=True))
    free = [p for p in range(rules.num_cards) if p not in places]
    places |= dict(zip(free, others, strict=True))
    return [places[p] for p in range(rules.num_cards)]


def dealt(
    rules: str | Rules = "dalian",
    *,
    first: int = 0,
    dealer: int | None = None,
    levels: tuple[int, int] = (3, 3),
    blood: int = 0,
    **wishes: Any,
) -> Game:
    """A hand from a prepared deal (see :func:`deck`): a match's first hand, or one of ``dealer``'s."""
    t = Tables(load_rules(rules), 1)
    for seed in range(100):
        engine.reset(t, seed, begin=False)
        if dealer is not None or first_seats(t, ONE_TABLE)[0] == first:
            break
    first = first if dealer is None else dealer
    level = t.rules.first_level if dealer is None else levels[dealer % 2]
    cards = deck(t.rules, first=first, level=level, **wishes)
    engine.begin_hand(
        t,
        ONE_TABLE,
        levels=np.array([(level, level) if dealer is None else levels]),
        dealer=np.array([-1 if dealer is None else dealer]),
        blood=np.array([blood]),
        draw=draw_of_deck(t.rules, cards),
    )
    assert dealer is not None or t.first[0] == first
    return Game(t)


def placed(rules: str | Rules = "dalian", *, hands: Sequence[str], **fields: Any) -> Game:
    """A position set up from text (see :func:`gunzi_env.position.setup`)."""
    return Game(position.setup(rules, hands=hands, **fields))
