"""Two tables that one seat cannot tell apart, played side by side with the same public actions.

The seat called the viewer has the same cards at both, and whatever everybody sees happens at both; what nobody
else can see (who is asked and declines, R4.6; what is returned and buried) goes its own way at each.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt

from gunzi_env import Rules, engine, planes
from gunzi_env.cards import SMALL_JOKER, rank_of
from gunzi_env.chapters.deal import deck_of_draw, draw_of_deck, reveal
from gunzi_env.engine import IllegalAction
from gunzi_env.order import JOKERS
from gunzi_env.planes import Words
from gunzi_env.tables import KITTY, PENDING, PLAYED, Phase, Tables
from gunzi_eval.table.narrator import Event, Narrator
from tests.support.worlds import ONE, Leak, differences, sent

PUBLIC = ("trump", "dealer", "bid_strength", "bid_suit", "bid_seat", "pickable", "kitty_public", "dry", "attempt")
PUBLIC_CARDS = ("turned", "tribute", "shown")
SILENT = (Phase.SHOW, Phase.BID, Phase.JOKERS)
"""Where declining is no event (R4.6)."""


class Twins:
    """Two tables and what the viewer was told of each."""

    def __init__(self, rules: Rules, seed: int, viewer: int, *, swaps: int = 4, jokers: bool = False) -> None:
        self.rng = np.random.default_rng(seed)
        self.viewer = viewer
        self.met: Counter[str] = Counter()
        one = Tables(rules, 1)
        engine.deal_hands(one, seed)
        two = Tables(rules, 1)
        engine.deal_hands(two, seed, draw=lambda t: self._other_deal(one, swaps, jokers))
        self.tables = (one, two)
        self.tellers = [Narrator(t, viewer) for t in self.tables]
        self.told: list[list[Event]] = [teller.opening() for teller in self.tellers]

    def _other_deal(self, t: Tables, swaps: int, jokers: bool) -> npt.NDArray[np.uint8]:
        """A deal in which some cards that are not the viewer's are exchanged, or all the others' jokers."""
        deck = deck_of_draw(t.draw[0])
        mine = {p for p in range(t.rules.num_dealt) if (p + int(t.first[0])) % 4 == self.viewer}
        others = [p for p in range(t.rules.num_cards) if p not in mine]
        asking = [p for p in others if deck[p] >= SMALL_JOKER or rank_of(deck[p]) == t.level[0]]
        moved = [p for p in others if deck[p] >= SMALL_JOKER] if jokers else self.rng.choice(asking, swaps).tolist()
        for i in moved:
            j = int(self.rng.choice([p for p in others if p < t.rules.num_dealt and deck[p] < SMALL_JOKER]))
            deck[i], deck[j] = deck[j], deck[i]
        return draw_of_deck(t.rules, deck)

    # The course of the hand ---------------------------------------------------------------------------

    def run(self) -> Counter[str]:
        """Play until something that the viewer sees differs; :class:`Leak` where he is sent a difference before."""
        for _ in range(2000):
            if self._differ():
                break
            moments = [moment(t) for t in self.tables]
            if moments[0] != moments[1]:
                self._catch_up(int(moments[1] < moments[0]))
                continue
            self._compare(*self.tables)
            if self.tables[0].phase[0] == Phase.OVER:
                self.met["to the end"] += 1
                break
            self._act()
        return self.met

    def _differ(self) -> bool:
        """Has anything happened that the viewer saw at one table alone?"""
        one, two = self.tables
        if any((getattr(one, name) != getattr(two, name)).any() for name in ("attempt", "bid_strength", "bid_seat")):
            return True
        if min(one.phase[0], two.phase[0]) <= Phase.BID:
            return False  # the tables close the bidding one after the other
        same = all((getattr(one, name) == getattr(two, name)).all() for name in PUBLIC if not self._pending(name))
        same &= bool((one.giver == two.giver).all())
        for name in PUBLIC_CARDS:
            if name != "tribute" or min(one.phase[0], two.phase[0]) > Phase.TRIBUTE:
                same &= bool((getattr(one, name) == getattr(two, name)).all())
        if self.viewer in (one.giver[0], one.receiver[0]) and min(one.phase[0], two.phase[0]) > Phase.RETURN:
            same &= bool((one.returned == two.returned).all())
        late, early = (one, two) if moment(one) <= moment(two) else (two, one)
        played = slice(PLAYED, PLAYED + 4)
        same &= not planes.minus(late.planes[:, 0, played], early.planes[:, 0, played]).any()
        same &= moment(one) != moment(two) or bool((one.planes[:, :, played] == two.planes[:, :, played]).all())
        taken = self.viewer == one.dealer[0] and min(one.phase[0], two.phase[0]) >= Phase.BURY
        shown = (one.kitty_shown[0] or taken) and _kitty_dealt(one) != _kitty_dealt(two)
        knows = one.kitty_public[0] or self.viewer == one.dealer[0]
        if min(one.phase[0], two.phase[0]) > Phase.BURY and knows:
            same &= bool((one.planes[:, :, KITTY] == two.planes[:, :, KITTY]).all())
        return not same or bool(shown)

    def _pending(self, name: str) -> bool:
        """Is this said only once the dealer has buried (R6.5)?"""
        early = min(int(t.phase[0]) for t in self.tables) <= Phase.BURY
        return early and name in ("pickable", "kitty_public", "dry")

    def _catch_up(self, behind: int) -> None:
        """One table asks somebody whom the other does not ask, or plays cards that the other has already played."""
        late, other = self.tables[behind], self.tables[1 - behind]
        phase, asked = Phase(late.phase[0]), int(late.seat[0])
        if asked == self.viewer:
            raise Leak(f"the viewer is asked at one table alone, in phase {phase.name}: {moment(late)}")
        if phase in SILENT:
            self._compare_idle(late, other, phase)
            self._step(behind, int(late.actions.PASS))
        elif phase >= Phase.LEAD:
            self._play(behind, planes.minus(other.planes[:, 0, PLAYED + asked], late.planes[:, 0, PLAYED + asked]))
        else:
            self._step(behind, self._private(late))

    def _compare_idle(self, late: Tables, other: Tables, phase: Phase) -> None:
        """R4.6: while another seat is asked at one table, the viewer sees of the other what he sees here."""
        other = other.clone()
        if phase == Phase.JOKERS:
            # To be asked oneself is something to see; jokers named at one table are not in the kitty yet.
            if other.seat[0] == self.viewer or late.planes[0, 0, PENDING]:
                return
            self.met["jokers, asked at one table"] += 1
        elif late.passes[0] < 0:
            # The deal goes on card by card: the other table as it was at this card.
            if other.phase[0] > Phase.BID:
                return
            other.drawn[0], other.seat[0] = late.drawn[0], late.seat[0]
            reveal(other, ONE)
            engine.refresh(other, ONE)
            self.met["dealing, asked at one table"] += 1
        elif other.phase[0] > Phase.BID or other.seat[0] == self.viewer:
            return
        else:
            self.met["window, asked at one table"] += 1
        self._demand_same(late, other)

    def _compare(self, one: Tables, two: Tables) -> None:
        self.met[Phase(one.phase[0]).name] += 1
        if one.seat[0] == self.viewer and one.phase[0] != Phase.OVER:
            self.met["own decisions"] += 1
        self._demand_same(one, two)
        if self.told[0] != self.told[1]:
            raise Leak(f"the viewer is told other things: {self.told[0][-3:]}, {self.told[1][-3:]}")

    def _demand_same(self, one: Tables, two: Tables) -> None:
        mine = one.seat[0] == self.viewer or one.phase[0] < Phase.LEAD
        found = differences(*(sent(t, self.viewer, aec=bool(mine)) for t in (one, two)))
        if found:
            phases = Phase(one.phase[0]).name, Phase(two.phase[0]).name
            raise Leak(f"seat {self.viewer} is sent differences in {found}, phases {phases}, seed {one.seed[0]}")

    # Actions --------------------------------------------------------------------------------------------

    def _step(self, which: int, action: int) -> None:
        self.told[which] += self.tellers[which].advance(action)

    def _act(self) -> None:
        """Both tables stand at the same question to the same seat."""
        one, two = self.tables
        phase, asked = Phase(one.phase[0]), int(one.seat[0])
        hidden = asked != self.viewer
        unseen = phase == Phase.BURY or (phase == Phase.RETURN and self.viewer != one.giver[0])
        if hidden and unseen:
            for which, t in enumerate(self.tables):
                self._step(which, self._private(t))
            return
        if hidden and phase >= Phase.LEAD:
            self._play(1, self._play(0, None))
            return
        both = np.flatnonzero(engine.legal(one)[0] & engine.legal(two)[0])
        if not len(both):  # nothing that can be done at both: the next public action differs
            both = np.flatnonzero(engine.legal(one)[0])
        action = int(self.rng.choice(both))
        if phase in SILENT and self.rng.random() < 0.6:
            action = int(one.actions.PASS)
        for which, t in enumerate(self.tables):
            legal = np.flatnonzero(engine.legal(t)[0])
            self._step(which, action if action in legal else int(legal[0]))

    def _private(self, t: Tables) -> int:
        """A card that the viewer does not see; to bury no joker and no point card, so that the dealer says the same at
        both tables (R6.5)."""
        legal = np.flatnonzero(engine.legal(t)[0])
        slots = legal % 54
        banned = planes.unpack(np.asarray(JOKERS | t.layout.point_cards[t.level[0]]))
        plain = legal[~banned[slots]]
        # From near the top: cards are named downwards, and those left must not run out of plain ones.
        return int(self.rng.choice(plain[-4:] if len(plain) else legal))

    def _play(self, which: int, wanted: Words | None) -> Words:
        """Play these cards, or any that the other table can play too (None); returns the cards played."""
        t = self.tables[which]
        if wanted is None:
            for _ in range(8):
                actions = sample_play(t, self.rng)
                wanted = played_by(t, actions)
                assert wanted is not None
                if played_by(self.tables[1 - which], named(self.tables[1 - which], wanted)) is not None:
                    break
        else:
            actions = named(t, wanted)
            if played_by(t, actions) is None:  # not these cards: the first public difference
                actions = sample_play(t, self.rng)
        for action in actions:
            self._step(which, action)
        assert wanted is not None
        return wanted


def _kitty_dealt(t: Tables) -> list[int]:
    return sorted(deck_of_draw(t.draw[0])[t.rules.num_dealt :])


def moment(t: Tables) -> tuple[int, ...]:
    """How far a table is, in terms that everybody may know; the one that is behind compares less."""
    phase = Phase(t.phase[0])
    if phase <= Phase.BID:
        return int(t.attempt[0]), 0, int(t.drawn[0]), int(t.passes[0])
    if phase == Phase.JOKERS:
        return int(t.attempt[0]), int(phase), (int(t.seat[0]) - int(t.dealer[0])) % 4, 0
    if phase < Phase.LEAD or phase == Phase.PICKUP:
        return int(t.attempt[0]), int(phase), int(t.need[0]) * -1, 0
    return int(t.attempt[0]), int(Phase.LEAD), int(planes.count(t.planes[:, 0, PLAYED : PLAYED + 4]).sum()), 0


def sample_play(t: Tables, rng: np.random.Generator) -> list[int]:
    """The actions of a whole random play of the seat to move."""
    trial, actions = t.clone(), list[int]()
    seat = int(t.seat[0])
    while not actions or (trial.planes[:, 0, PLAYED + seat] == t.planes[:, 0, PLAYED + seat]).all():
        actions.append(int(rng.choice(np.flatnonzero(engine.legal(trial)[0]))))
        engine.step(trial, [actions[-1]])
    return actions


def named(t: Tables, cards: Words) -> list[int]:
    """The actions that name these cards as a play: most copies first, then from the highest slot down; not those that
    must be played in any case and are set aside already."""
    counts = planes.to_counts(planes.minus(cards, t.planes[:, 0, PENDING]))
    held = sorted(((int(m), slot) for slot, m in enumerate(counts) if m), reverse=True)
    return [(m - 1) * 54 + slot for m, slot in held]


def played_by(t: Tables, actions: list[int]) -> Words | None:
    """The cards that the seat to move plays by these actions; None if it cannot, or has not played after them."""
    trial, place = t.clone(), PLAYED + int(t.seat[0])
    try:
        for action in actions:
            engine.step(trial, [action])
    except IllegalAction:
        return None
    cards = planes.minus(trial.planes[:, 0, place], t.planes[:, 0, place])
    return cards if cards.any() else None
