"""Worlds drawn for a View have exactly the odds of all worlds enumerated, in small positions."""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from gunzi_env import Rules
from gunzi_env.resample.constraints import Constraints
from gunzi_env.resample.odds import Odds
from gunzi_env.rulebook import cards_planes
from gunzi_env.tables import PLAYED, Tables
from tests.support.enumerated import Scenario, World, cards_of, late, surprise

MODULE = importlib.import_module("gunzi_env.resample")  # the package has the function under this name

DALIAN, DEAD, FOUR = (Rules.preset(name) for name in ("dalian", "dalian_dead", "four_deck"))

DRAWS = 20_000
UNLIKELY = 5.0
"""Standard deviations: a right sampler is as far off once in three million times."""

NEXT, PARTNER, PREVIOUS, BURIED = range(4)


def suit(card: str) -> str:
    """At level 3 with spades as trumps."""
    return "S" if card in ("LJ", "BJ") or card[1] in "23" else card[0]


def has(cards: tuple[str, ...], of: str) -> bool:
    return any(suit(card) == of for card in cards)


def points(cards: tuple[str, ...]) -> int:
    return sum(card[1] in "5TK" for card in cards)


def jokers(cards: tuple[str, ...]) -> bool:
    return bool({"LJ", "BJ"} & set(cards))


def exact(t: Tables, world: World, place: int, of: str, number: int) -> bool:
    """Has the seat in this place, which moves after the viewer, exactly ``number`` of a card that it never played?"""
    seat = (int(t.seat[0]) + 1 + place) % 4
    gone = cards_of(t, t.planes[:, 0, PLAYED + seat])
    return any(suit(c) == of and c not in gone and world[place].count(c) == number for c in set(world[place]))


def voids() -> Scenario:
    """Two voids, and a kitty of which it is known how many points it has (R6.5) and that it has no joker (R6.4)."""
    hands = ["SA H4", "D6 C4", "H4 BJ", "D7 SA"]
    t = late(hands, "HT HT C7 H4 C7 D5", leader=1, void="2C 0D")
    return Scenario(
        t, lambda w: points(w[BURIED]) == 3 and not jokers(w[BURIED]) and not has(w[0], "C") and not has(w[2], "D")
    )


def dealer() -> Scenario:
    """The dealer knows the kitty; three voids that cross."""
    hands = ["SA H9 D4", "D6 C4 D9", "H9 C8 H7", "D7 SQ S4"]
    t = late(hands, "HT D5 C6 H4 C7 H4", leader=0, void="1T 2D 3H")
    return Scenario(t, lambda w: not has(w[0], "S") and not has(w[1], "D") and not has(w[2], "H"))


def no_pairs() -> Scenario:
    """R7.5: two seats without an exact pair of hearts."""
    hands = ["SA H9 D4 C9", "D6 C4 H9 C4", "H8 C8 H8 H6", "D7 SQ H6 H9"]
    t = late(hands, "HT D5 C6 H4 C7 H4", rules=DEAD, no_pair="1H 2H", void="3C", untouched={1: "H6 H8", 2: "H9"})
    return Scenario(t, lambda w: not has(w[2], "C") and not exact(t, w, 0, "H", 2) and not exact(t, w, 1, "H", 2))


def no_triples_and_kitty() -> Scenario:
    """R7.5 with a hidden kitty, into which the copies may have gone."""
    hands = ["D4 H8", "SA D4", "H8 H6", "H6 H8"]
    kitty = "HT HT H6 D4 D4 C7"
    flags = {"no_pair": "2H 3H", "no_triple": "2H"}
    rules = replace(FOUR, hand_size=52, kitty_size=8)
    t = late(hands, kitty + " H8 C7", rules=rules, leader=1, untouched={2: "H6 H8", 3: "H6 H8"}, **flags)

    def allowed(w: World) -> bool:
        pairs = exact(t, w, NEXT, "H", 2) or exact(t, w, PARTNER, "H", 2) or exact(t, w, NEXT, "H", 3)
        return not pairs and points(w[BURIED]) == 2

    return Scenario(t, allowed)


def this_trick() -> Scenario:
    """R7.5: who just followed a pair of hearts without one had no exact pair before that play."""
    hands = ["H9 HK HA D4 D9", "C4 D6 H4", "H8 H8 C4", "D6 H9 H4"]
    t = late(hands, "HT D5 C6 H7 C7 HT", rules=DEAD, leader=1, dealer=0, trick=["H7 H7", "H9 H8", "HJ HJ"])
    return Scenario(t, lambda w: all(w[PARTNER].count(c) != n for c, n in (("H8", 1), ("H9", 1), ("H4", 2))))


def shown() -> Scenario:
    """R4.4: a level card shown lies with the partner, one that the dealer showed with him or in the kitty."""
    hands = ["C3 H4", "D6 C4", "C3 D7", "H3 D7"]
    t = late(hands, "HT HT H3 C7 H4 D5", leader=1, shown=["H3", "", "", "H3"], void="2H", untouched={0: "H3", 3: "H3"})
    return Scenario(
        t,
        lambda w: points(w[BURIED]) == 3 and not has(w[NEXT], "H"),
        located=((), ("H3",), (), ()),
        apart={(PREVIOUS, BURIED): "H3"},
    )


def any_points() -> Scenario:
    """R6.5: one point card at least closed the window."""
    hands = ["C7 H4", "D6 C4", "HT C8", "C7 HT"]
    rules = replace(DALIAN, others_bury_block="any_points")
    t = late(hands, "HT H4 C7 C8 C8 H4", rules=rules, leader=1, void="3D")
    return Scenario(t, lambda w: points(w[BURIED]) >= 1 and not has(w[PARTNER], "D"))


def nobody_else_buries() -> Scenario:
    """Nothing is said of the kitty's points; a small joker was buried by the dealer, who has no big one (R6.3)."""
    hands = ["C7 H4 D9", "SA C4 D8", "C8 H4 BJ", "C7 HT BJ"]
    rules = replace(DALIAN, others_bury=False)
    t = late(hands, "LJ H4 C7 C8 C8 C6", rules=rules, leader=1, void="3D")
    return Scenario(t, lambda w: "BJ" not in w[PREVIOUS] and not has(w[PARTNER], "D"))


def hidden_points() -> Scenario:
    """Nothing is said of the kitty's points, and nobody has seen it."""
    hands = ["C7 H4", "BJ C4", "C8 BJ", "C7 HT"]
    t = late(hands, "HT H4 C7 C8 C8 D5", rules=replace(DALIAN, others_bury=False), leader=1, void="3D")
    return Scenario(t, lambda w: not jokers(w[BURIED]) and not has(w[PARTNER], "D"))


def tribute() -> Scenario:
    """R5.1-2: seat 3 gave the dealer BJ and S2, and so kept no level card and no joker; the dealer has these two, or
    has buried S2."""
    hands = ["BJ S2", "SA H4", "LJ H3", "D7 S2"]
    t = late(hands, "HT HT C7 H4 C7 D5", leader=1, blood=2, untouched={0: "S2 BJ"})
    t.tribute[:] = cards_planes(t, "BJ S2")
    t.giver[:], t.receiver[:] = 3, 0

    def allowed(w: World) -> bool:
        kept = set(w[PARTNER]) & {"LJ", "BJ", "H3", "S3"}
        return not kept and points(w[BURIED]) == 3 and not jokers(w[BURIED])

    return Scenario(t, allowed, located=((), (), ("BJ",), ()), apart={(PREVIOUS, BURIED): "S2"})


def exemption() -> Scenario:
    """R5.5: tribute was given, so neither the giver nor his partner held all big jokers."""
    hands = ["D6 D6 D8 D8", "BJ BJ BJ C4", "BJ C8 C8 D4", "D7 D7 C4 C4"]
    rules = replace(FOUR, hand_size=53, kitty_size=4, follow="live")
    t = late(hands, "HT C7 C7 D5", rules=rules, leader=0, dealer=0, blood=1)
    t.tribute[:] = cards_planes(t, "LJ")
    t.giver[:], t.receiver[:] = 3, 0
    # He gave a small joker, so he had no big one; it has been played since.
    return Scenario(t, lambda w: "BJ" not in w[PREVIOUS] and w[NEXT].count("BJ") != 4)


SCENARIOS: dict[str, Callable[[], Scenario]] = {
    f.__name__: f
    for f in (
        voids, dealer, no_pairs, no_triples_and_kitty, this_trick, shown, any_points, nobody_else_buries,
        hidden_points, tribute, exemption,
    )
}  # fmt: skip


@pytest.mark.parametrize("name", SCENARIOS)
def test_draws_have_the_odds_of_all_worlds_enumerated(name: str) -> None:
    scenario = SCENARIOS[name]()
    odds = scenario.odds()
    assert scenario.truth in odds
    assert surprise(odds, scenario.draws(DRAWS)) < UNLIKELY


def test_a_sampler_that_takes_copies_for_one_card_is_found_out() -> None:
    """A negative control: every world that looks different drawn as often as every other."""
    odds = voids().odds()
    assert surprise(odds, random.Random(1).choices(list(odds), k=DRAWS)) > 2 * UNLIKELY


@pytest.mark.parametrize("name", ["voids", "no_pairs", "tribute"])
def test_a_sampler_that_takes_every_proposal_is_found_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A negative control: proposals are right on average, and look right."""

    class Careless(Odds):
        def __init__(self, constraints: Constraints) -> None:
            super().__init__(constraints)
            self.bound[:] = -1000.0

    monkeypatch.setattr(MODULE, "Odds", Careless)
    scenario = SCENARIOS[name]()
    assert UNLIKELY < surprise(scenario.odds(), scenario.draws(DRAWS)) < np.inf
