"""R9.5-8: jokers that end the match, blood, and the options of other places. Seat 0 deals: D is team 0, A team 1."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from gunzi_env.rulebook import settle
from gunzi_env.rules import Rules

DALIAN = Rules.preset("dalian")

# R9.5 ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["big", "small"])
@pytest.mark.parametrize(
    ("score", "dug", "winner"), [(100, False, 0), (130, True, 1), (100, True, None), (130, False, None)]
)
def test_r9_5_all_jokers_of_a_kind_in_the_kitty(kind: str, score: int, dug: bool, winner: int | None) -> None:
    """R9.5: guard below the take the dealers, dig from the take on the attackers; otherwise nothing."""
    all_of_them: dict[str, Any] = {kind: 3}
    but_one: dict[str, Any] = {kind: 2}
    assert settle(DALIAN, score, dug, **all_of_them).match_winner == winner
    assert settle(DALIAN, score, dug, **but_one).match_winner is None
    assert settle(DALIAN, score, dug, **all_of_them, dry=True).match_winner is None


@pytest.mark.parametrize(
    ("option", "big", "small"), [(("big", "small"), 0, 0), (("big",), 0, None), (("small",), None, 0), ((), None, None)]
)
def test_r9_5_jokers_end_match(option: Any, big: int | None, small: int | None) -> None:
    """R9.5: which kinds end it; the levels are then those of R9's table."""
    rules = dataclasses.replace(DALIAN, jokers_end_match=option)
    assert settle(rules, 100, False, big=3).match_winner == big
    assert settle(rules, 100, False, small=3).match_winner == small
    assert settle(rules, 100, False, big=3).gain == (7, 0)
    assert settle(rules, 100, False, small=3).gain == (4, 0)


def test_r9_5_four_decks_four_big_jokers_alone() -> None:
    assert settle("four_deck", 150, False, big=4).match_winner == 0
    assert settle("four_deck", 170, True, big=4).match_winner == 1
    assert settle("four_deck", 150, False, big=3).match_winner is None
    assert settle("four_deck", 150, False, small=4).match_winner is None


@pytest.mark.parametrize("kind", ["big", "small"])
def test_r9_5_with_r9_4_nothing_for_the_attackers(kind: str) -> None:
    """R9.4 and R9.5: S = 0 is the dealers' match, guarded (both say so) or dug (R9.5 asks S >= take of a dig)."""
    jokers: dict[str, Any] = {kind: 3}
    for dug in (False, True):
        assert settle(DALIAN, 0, dug, **jokers).match_winner == 0
    no_sweep = dataclasses.replace(DALIAN, sweep_ends_match=False)
    assert settle(no_sweep, 0, False, **jokers).match_winner == 0
    assert settle(no_sweep, 0, True, **jokers).match_winner is None


@pytest.mark.parametrize("kind", ["big", "small"])
def test_r9_5_with_r9_4_all_points_for_them(kind: str) -> None:
    """R9.4 and R9.5: S = 300 is the attackers' match, dug (both say so) or guarded (R9.5 gives a guard S < take)."""
    jokers: dict[str, Any] = {kind: 3}
    for dug in (False, True):
        assert settle(DALIAN, 300, dug, **jokers).match_winner == 1
    no_sweep = dataclasses.replace(DALIAN, sweep_ends_match=False)
    assert settle(no_sweep, 300, True, **jokers).match_winner == 1
    assert settle(no_sweep, 300, False, **jokers).match_winner is None


@pytest.mark.parametrize(
    ("score", "dug", "levels", "winner"),
    [
        (100, False, (10, 5), 0),  # dealers who leave 10 by a guard with all of them: both say so
        (130, True, (10, 10), 1),  # attackers on 10: held there by R9.2, and the match is theirs by R9.5
        (100, True, (10, 10), None),  # dug below the take: nobody
        (130, False, (10, 10), None),  # guarded from the take on: nobody
        (0, False, (10, 10), 0),  # all three at once
    ],
)
def test_r9_5_with_r9_3_on_the_last_level(score: int, dug: bool, levels: tuple[int, int], winner: int | None) -> None:
    """R9.3, R9.4 and R9.5 on level 10, from either team's deal."""
    assert settle(DALIAN, score, dug, big=3, levels=levels).match_winner == winner
    turned = settle(DALIAN, score, dug, big=3, levels=(levels[1], levels[0]), dealer=1).match_winner
    assert turned == (None if winner is None else 1 - winner)


# R9.6 ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("score", "blood"),
    [
        *[(5, 8), (10, 7), (15, 7), (60, 2), (65, 2), (70, 1), (75, 1), (80, 0), (85, 0), (115, 0)],
        *[(120, 0), (150, 0), (155, 0), (160, 1), (165, 1), (170, 2), (250, 10), (295, 14)],
    ],
)
def test_r9_6_score_part_three_decks(score: int, blood: int) -> None:
    """R9.6: every 10 begun below 80, every full 10 above 150; dug or not."""
    assert settle("dalian", score, False).blood == blood
    assert settle("dalian", score, True).blood == blood


@pytest.mark.parametrize(
    ("score", "blood"),
    [(5, 12), (60, 6), (115, 1), (120, 0), (155, 0), (160, 0), (200, 0), (205, 0), (210, 1), (395, 19)],
)
def test_r9_6_score_part_four_decks(score: int, blood: int) -> None:
    """R9.6: 120 and 200."""
    assert settle("four_deck", score, False).blood == blood


@pytest.mark.parametrize(
    ("score", "dug", "blood"),
    [(100, False, 3), (100, True, 0), (130, False, 3), (130, True, 3), (60, False, 5), (200, True, 8)],
)
def test_r9_6_jokers_add_their_part(score: int, dug: bool, blood: int) -> None:
    """R9.6: J = 2 + 1; void where the dealers stay though dug."""
    assert settle("dalian", score, dug, big=1, small=1).blood == blood


@pytest.mark.parametrize(("preset", "dug_blood"), [("dalian", 2), ("classic", 2), ("four_deck", 0)])
def test_r9_6_score_blood_when_dug(preset: str, dug_blood: int) -> None:
    """R9.6: S below blood_low and dug, 20 points short: the score part stands (True) or does not (False)."""
    rules = Rules.preset(preset)
    score = rules.blood_low - 20
    assert settle(rules, score, True).blood == dug_blood
    assert settle(rules, score, False).blood == 2


def test_r9_6_score_blood_when_dug_says_nothing_of_high_scores() -> None:
    assert settle("four_deck", 210, True).blood == 1


def test_r9_6_owed_by_the_side_that_does_not_deal() -> None:
    """R9.6, R5.1: whatever the result, the next dealer's previous player is of the other side."""
    for score in (60, 200):
        for dealer in range(4):
            result = settle("dalian", score, False, dealer=dealer)
            assert result.next_dealer is not None
            dealing = dealer % 2 if score < 120 else 1 - dealer % 2
            assert result.next_dealer % 2 == dealing


# R9.7 ------------------------------------------------------------------------------------------------

AT_HIGH = dataclasses.replace(DALIAN, level_at_high=True)


@pytest.mark.parametrize(
    ("score", "dug", "gain"),
    [(145, False, (0, 0)), (150, False, (0, 1)), (200, False, (0, 1)), (145, True, (0, 1)), (150, True, (0, 1))],
)
def test_r9_7_level_at_high(score: int, dug: bool, gain: tuple[int, int]) -> None:
    """R9.7: from 150 on a level without a dig."""
    assert settle(AT_HIGH, score, dug).gain == gain


def test_r9_7_the_level_gain_of_a_dig_with_its_jokers() -> None:
    assert settle(AT_HIGH, 150, False, big=1).gain == (0, 3)
    assert settle(AT_HIGH, 150, False, big=1, levels=(5, 4)).levels == (5, 7)


@pytest.mark.parametrize("level", [3, 10])
def test_r9_7_attackers_on_a_must_play_level_stay_on_it(level: int) -> None:
    """R9.7, R9.2: the gain of a dig, which is lost there; the deal is theirs."""
    for dug in (False, True):
        result = settle(AT_HIGH, 150, dug, big=1, levels=(5, level))
        assert (result.gain, result.levels, result.next_dealer) == ((0, 3), (5, level), 1)
    assert settle(AT_HIGH, 150, False, levels=(5, 9)).levels == (5, 10)
    assert settle(AT_HIGH, 150, False, big=2, levels=(5, 7)).levels == (5, 10)  # and a rise stops there


def test_r9_7_with_all_big_jokers_guarded_the_match_goes_on() -> None:
    """R9.7, R9.5: only a dig gives the attackers the match; the guarded hand gives them 1 + 6 levels, 5 + 6 blood."""
    result = settle(AT_HIGH, 200, False, big=3, levels=(5, 4))
    assert (result.gain, result.levels, result.next_dealer) == ((0, 7), (5, 10), 1)
    assert (result.blood, result.match_winner) == (11, None)
    assert settle(AT_HIGH, 200, True, big=3, levels=(5, 4)).match_winner == 1


def test_r9_7_in_a_dry_pot_one_level() -> None:
    """R9.7, R6.6: jokers give nothing."""
    assert settle(AT_HIGH, 150, False, big=2, dry=True).gain == (0, 1)


def test_r9_7_off_in_all_presets() -> None:
    assert [Rules.preset(name).level_at_high for name in Rules.presets()] == [False] * 4
    assert settle("dalian", 200, False).gain == (0, 0)
    assert settle("four_deck", 200, False).gain == (0, 0)


# R9.8 ------------------------------------------------------------------------------------------------

JACK = dataclasses.replace(DALIAN, last_level=11, must_play=(3, 10, 11))
RESET = dataclasses.replace(JACK, j_reset=True)


@pytest.mark.parametrize("score", [100, 120, 200])
def test_r9_8_dealers_on_the_jack_who_are_dug_fall_back_to_3(score: int) -> None:
    """R9.8: whatever S."""
    assert settle(RESET, score, True, levels=(11, 5)).levels[0] == 3
    assert settle(JACK, score, True, levels=(11, 5)).levels[0] == 11


def test_r9_8_not_when_they_guard() -> None:
    assert settle(RESET, 130, False, levels=(11, 5)).levels == (11, 5)
    assert settle(RESET, 100, False, levels=(11, 5)).match_winner == 0


def test_r9_8_only_on_the_jack_and_only_the_dealers() -> None:
    assert settle(RESET, 130, True, levels=(10, 5)).levels[0] == 10
    assert settle(RESET, 130, True, levels=(5, 11)).levels == (5, 11)


def test_r9_8_while_the_attackers_rise() -> None:
    """R9.8, R9: S >= take and a big joker: 5 + 3 for the attackers, who take the deal; below it they win nothing."""
    result = settle(RESET, 130, True, big=1, levels=(11, 5))
    assert (result.gain, result.levels, result.next_dealer) == ((0, 3), (3, 8), 1)
    below = settle(RESET, 100, True, big=1, levels=(11, 5))
    assert (below.gain, below.levels, below.next_dealer) == ((0, 0), (3, 5), 2)
    turned = settle(RESET, 130, True, big=1, levels=(5, 11), dealer=1)
    assert (turned.gain, turned.levels, turned.next_dealer) == ((3, 0), (8, 3), 2)


def test_r9_8_in_a_dry_pot() -> None:
    """R9.8, R6.6: a dry kitty's jokers give nothing; the dig is a dig."""
    result = settle(RESET, 130, True, big=3, dry=True, levels=(11, 5))
    assert (result.gain, result.levels, result.match_winner) == ((0, 1), (3, 6), None)


def test_r9_8_when_the_match_has_ended_there_is_nothing_to_fall_from() -> None:
    """R9.8 with R9.3-5: S >= full_points, S = 0 or all big jokers end the match, whatever falls."""
    ended = [settle(RESET, 300, True, levels=(11, 5)), settle(RESET, 130, True, big=3, levels=(11, 5))]
    assert [(result.match_winner, result.next_dealer) for result in ended] == [(1, None)] * 2
    assert settle(RESET, 0, True, levels=(11, 5)).match_winner == 0
    no_sweep = dataclasses.replace(RESET, sweep_ends_match=False)
    assert settle(no_sweep, 300, True, levels=(11, 5)).levels == (3, 6)


def test_r9_8_they_fall_to_the_first_level() -> None:
    """R9.8: "level 3" is the level on which a match starts, also where that is another."""
    rules = dataclasses.replace(RESET, first_level=4, must_play=(4, 10, 11))
    assert settle(rules, 100, True, levels=(11, 5)).levels == (4, 5)


def test_r9_8_off_in_all_presets() -> None:
    assert [Rules.preset(name).j_reset for name in Rules.presets()] == [False] * 4
