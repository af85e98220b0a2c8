"""R11: renaming the suits, or turning the table by some seats, commutes with play."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gunzi_env import Rules, engine, planes
from gunzi_env.cards import SUITED_FACES
from gunzi_env.chapters.deal import deck_of_draw, draw_of_deck, start_keys
from gunzi_env.keys import mix
from gunzi_env.order import TRUMP
from gunzi_env.planes import U64
from gunzi_env.published.starts import sample
from gunzi_env.tables import HAND, KITTY, NOBODY, PENDING, PLAYED, STOCK, Phase, Tables
from gunzi_env.testing import random_actions
from tests.support.worlds import ONE, turned

PRESETS = Rules.presets()

# Seats ------------------------------------------------------------------------------------------------


def unequal(t: Tables, other: Tables, k: int, besides: tuple[str, ...] = ()) -> list[str]:
    """The fields in which ``other`` is not ``t`` turned by ``k`` seats."""
    expected = turned(t, k)
    return [
        name
        for name, array, _ in expected.arrays()
        if name not in besides and not np.array_equal(array, getattr(other, name))
    ]


def play_turned(t: Tables, others: dict[int, Tables], besides: tuple[str, ...] = ()) -> Counter[str]:
    """Play the same action numbers at all; the phases met. Every field is compared, at every ply with the table turned
    by one seat, now and then with those turned by more."""
    met: Counter[str] = Counter()
    ply = 0
    while (t.phase != Phase.OVER).any():
        for k, other in others.items():
            if k > 1 and ply % 6:
                continue
            found = unequal(t, other, k, besides)
            assert not found, f"turned by {k} seats, ply {ply}: {found} differ; rules {t.rules.name}, seed {t.seed[0]}"
        met.update(Phase(p).name for p in t.phase)
        actions = random_actions(t, mix(U64(ply), t.table_id, t.hand), 0.3)
        for each in (t, *others.values()):
            engine.step(each, actions)
        ply += 1
    assert not any(unequal(t, other, k, besides) for k, other in others.items())
    return met


@pytest.mark.parametrize("preset", PRESETS)
def test_turning_the_table_in_later_hands(preset: str) -> None:
    """Two hands one after the other, redeals too: they come from the seed, not from the seats (R4.8)."""
    t = Tables(Rules.preset(preset), 24)
    others = {k: Tables(t.rules, t.num) for k in (1, 2, 3)}
    everyone = np.arange(t.num)
    for each in (t, *others.values()):
        engine.reset(each, 31, begin=False)
    levels, _, blood = sample(t.rules, start_keys(t, everyone))
    dealer = (everyone % 4).astype(np.int8)
    engine.begin_hand(t, everyone, levels=levels, dealer=dealer, blood=blood)
    for k, other in others.items():
        sides = levels[:, ::-1] if k % 2 else levels
        engine.begin_hand(other, everyone, levels=sides, dealer=(dealer + k) % 4, blood=blood)
    met = play_turned(t, others)
    # The next hand of each match; a new match would have a first seat of its own (R4.1).
    rows = np.flatnonzero(t.match_winner == NOBODY)
    t, others = t.select(rows), {k: other.select(rows) for k, other in others.items()}
    for each in (t, *others.values()):
        engine.next_hand(each, np.arange(each.num))
    met += play_turned(t, others)
    assert t.num > 8
    assert set(met) == {p.name for p in Phase} - {"SHOW"}


def seeds_by_first_seat(rules: Rules, number: int) -> list[list[int]]:
    """For each seat, seeds whose first hand begins with it (R4.1)."""
    t = Tables(rules, 40 * number)
    engine.reset(t, np.arange(t.num, dtype=U64), table_ids=np.zeros(t.num, U64))
    return [np.flatnonzero(t.first == seat)[:number].tolist() for seat in range(4)]


@pytest.mark.parametrize("preset", PRESETS)
def test_turning_the_table_in_first_hands(preset: str) -> None:
    """The same cards in dealing order under seeds whose first seats are 0, 1, 2 and 3."""
    rules, number = Rules.preset(preset), 24
    seeds = seeds_by_first_seat(rules, number)
    tables: list[Tables] = []
    for seat in range(4):
        each = Tables(rules, number)
        engine.reset(each, np.array(seeds[seat], U64), table_ids=np.zeros(number, U64), begin=False)
        draw = tables[0].draw.copy() if tables else None
        engine.begin_hand(each, np.arange(number), draw=draw)
        assert (each.first == seat).all()
        tables.append(each)
    # Redeals come from the seeds, which differ (R4.8).
    rows = np.flatnonzero(sum(each.attempt for each in tables) == 0)
    tables = [each.select(rows) for each in tables]
    met = play_turned(tables[0], dict(enumerate(tables[1:], start=1)), besides=("seed",))
    assert set(met) >= {"BURY", "LEAD", "FOLLOW", "OVER"} | ({"SHOW"} if rules.first_bid == "show" else set())


# Suits ------------------------------------------------------------------------------------------------


class Renamed:
    """A table and the same one with other names for the suits."""

    def __init__(self, rules: Rules, seed: int, suits: tuple[int, ...], rng: np.random.Generator, first: bool) -> None:
        self.rng = rng
        self.suits = suits
        faces = np.arange(54)
        self.face = np.where(faces < SUITED_FACES, np.array([*suits, 0])[faces // 13] * 13 + faces % 13, faces)
        one, two = Tables(rules, 1), Tables(rules, 1)
        for t in (one, two):
            engine.reset(t, seed, begin=False)
        levels, _, blood = sample(rules, start_keys(one, ONE))
        start: dict[str, Any] = {} if first else {"levels": levels, "dealer": np.array([seed % 4]), "blood": blood}
        engine.begin_hand(one, ONE, **start)
        deck = [int(self.face[f]) for f in deck_of_draw(one.draw[0])]
        engine.begin_hand(two, ONE, draw=draw_of_deck(rules, deck), **start)
        self.redealt = bool(one.attempt[0] or two.attempt[0])
        self.tables = (one, two)
        self.met: Counter[str] = Counter()

    # Cards of one table in the other's terms: faces.

    def counts(self, which: int, words: npt.NDArray[np.uint64]) -> list[int]:
        """Copies of each face of the first table among ``words uint64[D]`` of table ``which``."""
        t = self.tables[which]
        face = t.layout.face_of_slot[t.level[0], t.trump_or_provisional(0)]
        out = np.zeros(54, int)
        out[face] = planes.to_counts(words)
        return (out[self.face] if which else out).tolist()

    def suit(self, which: int, suit: int) -> int:
        """A suit in the first table's names."""
        return suit if suit == NOBODY or not which else self.suits.index(suit)

    def block(self, which: int, block: int) -> int:
        """A led suit (0..2 side suits in slot order, 3 trump) as the first table's suit."""
        trump = int(self.tables[which].trump[0])
        if block in (NOBODY, TRUMP):
            return NOBODY if block == NOBODY else 9
        return self.suit(which, [s for s in range(4) if s != trump][block])

    def slot(self, which: int, slot: int) -> int:
        """A slot as the first table's face."""
        if slot == NOBODY:
            return NOBODY
        t = self.tables[which]
        face = int(t.layout.face_of_slot[t.level[0], t.trump_or_provisional(0), slot])
        return int(np.flatnonzero(self.face == face)[0]) if which else face

    def state(self, which: int) -> dict[str, Any]:
        """Everything that must be equal, in the first table's names."""
        t = self.tables[which]
        places = {"stock": STOCK, "kitty": KITTY, "aside": PENDING}
        places |= {f"hand {s}": HAND + s for s in range(4)} | {f"played {s}": PLAYED + s for s in range(4)}
        out: dict[str, Any] = {name: self.counts(which, t.planes[:, 0, place]) for name, place in places.items()}
        for name in ("trick", "shown", "known"):
            out[name] = [self.counts(which, getattr(t, name)[:, 0, s]) for s in range(4)]
        for name in ("loose", "turned", "tribute", "returned"):
            out[name] = self.counts(which, getattr(t, name)[:, 0])
        for name in _SAME:
            out[name] = getattr(t, name)[0].tolist()
        out["trump"], out["bid_suit"] = self.suit(which, int(t.trump[0])), self.suit(which, int(t.bid_suit[0]))
        out["led_suit"], out["best_slot"] = self.block(which, int(t.led_suit[0])), self.slot(which, int(t.best_slot[0]))
        if t.phase[0] in (Phase.SHOW, Phase.BID, Phase.JOKERS, Phase.LEAD):  # elsewhere named in the order of slots
            legal = np.flatnonzero(engine.legal(t)[0]).tolist()
            out["legal"] = sorted(self.carry(which, [a])[0] if which else a for a in legal)
        for name in ("void", "no_pair", "no_triple"):
            flags = getattr(t, name)[0]
            out[name] = sorted((s, self.block(which, c)) for s in range(4) for c in range(4) if flags[s, c])
        return out

    def compare(self) -> None:
        one, two = self.state(0), self.state(1)
        found = [name for name in one if one[name] != two[name]]
        t = self.tables[0]
        where = f"phase {Phase(t.phase[0]).name}, rules {t.rules.name}, seed {t.seed[0]}, suits {self.suits}"
        assert not found, f"{found} differ after renaming the suits; {where}"
        self.met[Phase(t.phase[0]).name] += 1

    def action(self, which: int, action: int) -> int:
        """An action of the bidding at table ``which``, at the other."""
        space = self.tables[0].actions
        if action < space.BIDS:
            return action
        strength, suit = (int(x[action - space.BIDS]) for x in (space.bid_strength, space.bid_suit))
        return space.bid(strength, self.suits.index(suit) if which else self.suits[suit])

    def carry(self, which: int, actions: list[int]) -> list[int]:
        """The actions of a whole move at table ``which``, named at the other in its own order."""
        here, there = self.tables[which], self.tables[1 - which]
        if here.phase[0] <= Phase.BID:
            return [self.action(which, action) for action in actions]
        moved = []
        slot_of = there.layout.slot_of_face[there.level[0], there.trump[0]]
        for action in actions:
            if action < here.actions.PASS:
                face = self.slot(which, action % 54)
                moved.append((action // 54 + 1, int(slot_of[face if which else self.face[face]])))
        named = [(m - 1) * 54 + slot for m, slot in sorted(moved, reverse=True)]
        return named + [a for a in actions if a >= here.actions.PASS]

    def play(self) -> None:
        """A whole hand, each move drawn at one of the two tables."""
        while self.tables[0].phase[0] != Phase.OVER:
            self.compare()
            which = int(self.rng.integers(2))
            actions = whole_move(self.tables[which], self.rng)
            for t, move in ((self.tables[which], actions), (self.tables[1 - which], self.carry(which, actions))):
                for action in move:
                    engine.step(t, [action])
            if self.tables[0].attempt[0] or self.tables[1].attempt[0]:
                return  # the cards of a redeal come from the seed (R4.8)
        self.compare()

    def decline(self) -> None:
        """Nobody shows or bids: the kitty names the suit (R4.3, R4.7)."""
        while self.tables[0].phase[0] <= Phase.BID:
            self.compare()
            for t in self.tables:
                engine.step(t, [t.actions.PASS])
        self.compare()


_SAME = (
    *("phase", "seat", "levels", "level", "dealer", "first", "first_hand", "blood", "drawn", "passes", "bid_strength"),
    *("bid_seat", "giver", "receiver", "need", "kitty_shown", "kitty_public", "dry", "pickable", "leader", "led_count"),
    *(
        "best",
        "trick_points",
        "held",
        "score",
        "dug",
        "gain",
        "next_levels",
        "next_dealer",
        "next_blood",
        "match_winner",
    ),
)


def whole_move(t: Tables, rng: np.random.Generator) -> list[int]:
    """Random actions of the seat to move until its move is complete."""
    trial = t.clone()
    actions: list[int] = []
    begun, place = t.need[0], PLAYED + int(t.seat[0])
    while True:
        legal = np.flatnonzero(engine.legal(trial)[0])
        actions.append(int(rng.choice(legal)))
        phase = Phase(trial.phase[0])
        engine.step(trial, [actions[-1]])
        if phase in (Phase.SHOW, Phase.BID, Phase.LEAD):
            return actions
        if phase == Phase.JOKERS:
            if actions[-1] == t.actions.PASS or trial.phase[0] != phase or trial.seat[0] != t.seat[0]:
                return actions
        elif phase == Phase.FOLLOW:
            if (trial.planes[:, 0, place] != t.planes[:, 0, place]).any():
                return actions
        elif len(actions) == begun:
            return actions


PERMUTATIONS = [p for p in itertools.permutations(range(4)) if p != (0, 1, 2, 3)]


@pytest.mark.parametrize("preset", PRESETS)
def test_renaming_the_suits(preset: str) -> None:
    """Hands, kitty, plays, knowledge and result are the same but for the names, at every move."""
    rng = np.random.default_rng(41)
    rules = Rules.preset(preset)
    met: Counter[str] = Counter()
    for k in range(6):
        suits = PERMUTATIONS[int(rng.integers(len(PERMUTATIONS)))]
        pair = Renamed(rules, 100 + k, suits, rng, first=k % 4 == 0)
        if not pair.redealt:
            pair.play()
            met += pair.met
    assert met["OVER"] >= 4
    every = {p.name for p in Phase} - ({"SHOW"} if rules.first_bid == "auto" else set())
    assert set(met) >= every - {"TRIBUTE", "PICKUP"}  # rare: the choice is between equals


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("first", [True, False])
def test_renaming_the_suits_where_nobody_bids(preset: str, first: bool) -> None:
    """R4.2, R4.3, R4.7: the suit that a card names is renamed with it; so it is up to the tribute."""
    rng = np.random.default_rng(43)
    trumps = set()
    for seed in range(16):
        suits = PERMUTATIONS[int(rng.integers(len(PERMUTATIONS)))]
        pair = Renamed(Rules.preset(preset), seed, suits, rng, first)
        if not pair.redealt:
            pair.decline()
            trumps.add(int(pair.tables[0].trump[0]))
    assert trumps == {0, 1, 2, 3}


def test_a_suit_that_counts_more_is_found() -> None:
    """The negative control: cards of one suit exchanged at one table."""
    rng = np.random.default_rng(42)
    pair = Renamed(Rules.preset("dalian"), 101, (1, 2, 3, 0), rng, first=False)
    pair.compare()
    one = pair.tables[0]
    hand = one.planes[:, 0, [HAND, HAND + 1]]
    one.planes[:, 0, [HAND, HAND + 1]] = hand[:, ::-1]
    with pytest.raises(AssertionError, match="hand 0"):
        pair.compare()


def test_a_seat_that_counts_more_is_found() -> None:
    t = Tables(Rules.preset("dalian"), 2)
    engine.reset(t, 1)
    other = turned(t, 1)
    assert unequal(t, other, 1) == []
    other.void[0, 2, 1] = True
    assert unequal(t, other, 1) == ["void"]
