"""Deals and positions that lead to the branches of the rules that random play hardly ever meets."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator

import numpy as np

from gunzi_env import Rules, engine, position, testing
from gunzi_env.chapters.deal import draw_of_deck
from gunzi_env.planes import U64
from gunzi_env.rulebook import ONE_TABLE
from gunzi_env.tables import Phase, Tables
from gunzi_env.testing.coverage import count_branches
from tests.rules.game import deck
from tests.support.variants import VARIANTS


def dealt(rules: Rules, cards: list[int], dealer: int, blood: int = 0) -> Tables:
    """One table at the beginning of a prepared deal."""
    t = Tables(rules, 1)
    engine.reset(t, 0, begin=False)
    state = {"dealer": np.array([dealer]), "blood": np.array([blood])}
    engine.begin_hand(t, ONE_TABLE, draw=draw_of_deck(rules, cards), **state)
    return t


def prepared() -> Iterator[Tables]:
    """Deals and positions that lead to the rare branches under (nearly) any play."""
    dalian = Rules.preset("dalian")
    jokers = "BJ BJ BJ LJ LJ LJ"
    for dealer in (-1, 1):  # R4.8: nobody can show or bid, and the kitty names no suit
        t = Tables(dalian, 1)
        engine.reset(t, 0, begin=False)
        first = dealer if dealer >= 0 else int(engine.first_seats(t, ONE_TABLE)[0])
        yield dealt(dalian, deck(dalian, first=first, kitty=jokers), dealer)
    yield dealt(dalian, deck(dalian, first=1, kitty="LJ BJ H7 C5 D9 S4"), 1)  # R4.7: jokers skipped
    one_each = ["SA", "S6", "S7", "S8"]
    yield position.setup(hands=["SA SA", "S4 S6", "S7 S8", "H4 H6"], score=0)  # R9.4: S = 0
    yield position.setup(hands=["S4", "SA", "S7", "S8"], score=300)  # R9.4: full
    yield position.setup(hands=one_each, kitty_cards="BJ BJ BJ H4 H6 H7", score=5)  # R9.5
    high = dataclasses.replace(dalian, level_at_high=True)
    yield position.setup(high, hands=one_each, score=200)  # R9.7
    yield position.setup(VARIANTS["jack"], hands=["S4", "SA", "S7", "S8"], level="J", score=5)  # R9.8
    few = ["S4 S6 S7 S8 S9", "S4 S6 S7 S8 S9", "S4 S6 S7 S8 S9", "H5 HT HK D5 C9"]
    yield position.setup(hands=few, phase="tribute", blood=4, kitty_cards="C4 C6 C7 C8")  # R5.3
    trumps = ["S4 S6 S7 S5 ST", "D4 D4 D6 D6 D7", "H4 H6 H7 H8 H9", "HA HQ HJ D9 C9"]
    yield position.setup(hands=trumps, phase="tribute", blood=2, kitty_cards="C4 C6 C7 C8")  # R5.4: trumps
    # What is given is worth no points but at the levels 5 and 10, so only there can nothing else be left to return.
    points = ["ST SK HT HK CK", "D4 D4 D6 D6 D7", "H4 H6 H7 H8 H9", "H5 H5 H5 D4 C4"]
    yield position.setup(hands=points, level=5, phase="tribute", blood=3, kitty_cards="C4 C6 C7 C8")  # R5.4: points
    big = ["S4 S6 S7 S8 S9", "D4 D4 D6 D6 D7", "H4 H6 H7 H8 H9", "BJ BJ BJ BJ HA"]
    yield position.setup("four_deck", hands=big, phase="tribute", blood=2, kitty_cards="C4 C6 C7 C8")  # R5.5
    quads = ["H9 H9 H9 H9", "H4 H4 H4 H4", "H6 H6 H7 H7", "H8 H8 H8 HJ"]
    yield position.setup("four_deck", hands=quads)
    longer = ["H9 H9 H9 H9 C4 C6", "H4 H4 H4 H4 H6 H6", "H6 H6 H7 H7 HK HQ", "H8 H8 H8 HJ HQ HK"]
    yield position.setup("four_deck", hands=longer)
    only_points = ["C5 CT CK H5", "S4 S6 S7 S8", "D4 D6 D7 D8", "BJ H4 H6 H7"]
    yield position.setup(hands=only_points, phase="bury", kitty_cards="S5 ST SK SK")  # R6.5: nothing to pick up


def play_out(t: Tables, seed: int) -> Counter[str]:
    """Random play, all bids passed, from a prepared table to the end of the hand."""
    rng = np.random.default_rng(seed)
    found: Counter[str] = Counter()
    everyone = np.ones(1, np.bool_)
    # What led to the first decision counts as one step from the last bid.
    before = t.clone()
    before.phase[0] = min(int(t.phase[0]), Phase.BID)
    before.attempt[0] = before.tribute[:] = before.returned[:] = 0
    found.update(count_branches(before, t, np.array([t.actions.PASS]), everyone))
    while t.phase[0] != Phase.OVER:
        before = t.clone()
        actions = testing.random_actions(t, rng.integers(2**63, size=1).astype(U64), 1.0)
        engine.step(t, actions)
        found.update(count_branches(before, t, actions, everyone))
    return found


def every_name() -> set[str]:
    """All branches there are, read off the counters themselves."""
    names: set[str] = set()
    for preset in ("dalian", "four_deck"):
        t = Tables(Rules.preset(preset), 1)
        engine.reset(t, 0)
        names |= set(count_branches(t, t.clone(), np.zeros(1, np.int32), np.ones(1, np.bool_), zero=True))
    impossible = {f"R7.5 {k} led, demand {floor}" for k in (2, 3, 4) for floor in (2, 3, 4, 5) if min(floor, 4) > k}
    # A demand of five stands for two pairs, owed to a quad alone; one card has no shape, and is held or not.
    impossible |= {"R7.5 3 led, demand 5", "R7.5 2 led, demand 5", "R7.3 1 led, fewer held"}
    impossible |= {f"R7.5 1 led, demand {floor}" for floor in (2, 3, 4, 5)}
    return names - impossible
