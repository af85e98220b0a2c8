"""R9: result, next dealer, levels, blood. Unless said otherwise seat 0 deals: D is team 0, A team 1."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from gunzi_env.rulebook import HandResult, settle
from gunzi_env.rules import Rules, RulesError
from tests.rules.game import Game, placed
from tests.support import ROOT

DALIAN = Rules.preset("dalian")
TEAMS = {"D": 0, "A": 1}

# S, dug, big, small, dry, deals next, levels, blood, match: R9's settled cases, word for word.
SETTLED = """
| 40 | no | 0 | 0 | no | partner | D +1 | 4 | - |
| 75 | no | 0 | 0 | no | partner | D +1 | 1 | - |
| 80 | no | 0 | 0 | no | partner | D +1 | 0 | - |
| 5 | no | 0 | 0 | no | partner | D +1 | 8 | - |
| 0 | no | 0 | 0 | no | - | D +1 | - | D wins |
| 115 | no | 1 | 1 | no | partner | D +4 | 3 | - |
| 115 | no | 1 | 1 | yes | partner | D +1 | 0 | - |
| 115 | yes | 1 | 0 | no | partner | 0 | 0 | - |
| 60 | yes | 1 | 0 | no | partner | 0 | 2 | - |
| 120 | no | 0 | 0 | no | next | 0 | 0 | - |
| 120 | no | 0 | 2 | no | next | 0 | 2 | - |
| 120 | yes | 0 | 0 | no | next | A +1 | 0 | - |
| 120 | yes | 1 | 1 | no | next | A +4 | 3 | - |
| 155 | yes | 0 | 0 | no | next | A +1 | 0 | - |
| 160 | yes | 0 | 0 | no | next | A +1 | 1 | - |
| 200 | no | 1 | 0 | no | next | 0 | 7 | - |
| 200 | yes | 2 | 0 | yes | next | A +1 | 5 | - |
| 300 | yes | 0 | 0 | no | - | A +1 | - | A wins |
| 100 | no | 3 | 0 | no | - | D +7 | - | D wins |
| 100 | yes | 3 | 0 | no | partner | 0 | 0 | - |
| 130 | no | 3 | 0 | no | next | 0 | 6 | - |
| 130 | yes | 0 | 3 | no | - | A +4 | - | A wins |
| 100 | no | 3 | 0 | yes | partner | D +1 | 0 | - |
"""
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in SETTLED.strip().splitlines()]


@pytest.mark.parametrize("dealer", range(4))
@pytest.mark.parametrize("row", ROWS, ids=" ".join)
def test_r9_settled_cases(row: list[str], dealer: int) -> None:
    """R9, the table of settled cases, from every dealer's seat."""
    score, dug, big, small, dry, deals_next, levels, blood, match = row
    result = settle(DALIAN, int(score), dug == "yes", int(big), int(small), dry == "yes", dealer=dealer)
    team = {"D": dealer % 2, "A": 1 - dealer % 2}
    gain = [0, 0]
    if levels != "0":
        who, plus = levels.split(" +")
        gain[team[who]] = int(plus)
    assert result.gain == tuple(gain)
    assert result.winner == ("dealers" if int(score) < 120 else "attackers")
    assert result.next_dealer == {"partner": (dealer + 2) % 4, "next": (dealer + 1) % 4, "-": None}[deals_next]
    assert result.blood == (None if blood == "-" else int(blood))
    assert result.match_winner == (None if match == "-" else team[match[0]])


def test_r9_all_rows_of_the_table_are_here() -> None:
    assert len(ROWS) == 23 and all(len(row) == 9 for row in ROWS)
    assert SETTLED in (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")


def ended(score: int, dug: bool, *, dealer: int = 0, kitty: str = "C4 C6 D7 D8 D9 DJ", **fields: Any) -> Game:
    """A hand that ends with this S: the last trick is a single without points."""
    hands = ["H9", "H8", "H7", "H6"]
    hands[(dealer + 1) % 4 if dug else dealer] = "HA"
    game = placed(hands=hands, kitty_cards=kitty, score=score, dealer=dealer, **fields)
    return game.play(f"{game.seat} {game.hand(game.seat)}")


def result_of(game: Game) -> tuple[object, ...]:
    """Gain, levels, next dealer, blood, match winner as the engine keeps them."""
    t = game.t
    rest = int(t.next_dealer[0]), int(t.next_blood[0]), int(t.match_winner[0])
    return tuple(t.gain[0].tolist()), tuple(t.next_levels[0].tolist()), *rest


def test_r9_the_engine_settles_with_the_same_rules() -> None:
    """R9: 115 guarded with a big and a small joker in the kitty; 120 dug with the same."""
    jokers = "BJ LJ D7 D8 D9 DJ"
    assert result_of(ended(115, False, kitty=jokers)) == ((4, 0), (7, 3), 2, 3, -1)
    assert result_of(ended(120, True, kitty=jokers)) == ((0, 4), (3, 3), 1, 3, -1)


# R9.1 ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dealer", "partner", "following"), [(0, 2, 1), (1, 3, 2), (2, 0, 3), (3, 1, 0)])
def test_r9_1_next_dealer(dealer: int, partner: int, following: int) -> None:
    """R9.1: S < take the partner, S >= take the next player; dug or not."""
    for dug in (False, True):
        assert settle(DALIAN, 115, dug, dealer=dealer).next_dealer == partner
        assert settle(DALIAN, 120, dug, dealer=dealer).next_dealer == following


def test_r9_1_the_next_hand_is_dealt_by_him() -> None:
    """R9.1, R4.1, R2.1: dealer 3 on 5 wins with S = 60: seat 1 deals on 6, two cards owed."""
    game = ended(60, False, dealer=3, level=5, levels=(4, 5)).next_hand()
    t = game.t
    assert (game.dealer, t.first[0], t.level[0], t.levels[0].tolist(), t.blood[0]) == (1, 1, 6, [4, 6], 2)
    assert not t.first_hand[0] and (t.match[0], t.hand[0]) == (0, 1)


def test_r9_1_with_four_decks_the_take_is_160() -> None:
    assert settle("four_deck", 155, False).next_dealer == 2
    assert settle("four_deck", 160, False).next_dealer == 1


# R9.2 ------------------------------------------------------------------------------------------------


def after(levels: tuple[int, int], score: int, dug: bool, big: int = 0, rules: Rules = DALIAN) -> tuple[int, int]:
    """Levels of (dealers, attackers) after the hand; two big jokers give 5 levels, one gives 3."""
    return settle(rules, score, dug, big=big, levels=levels).levels


@pytest.mark.parametrize(("level", "big", "expected"), [(4, 0, 5), (4, 2, 9), (7, 1, 10), (8, 1, 10), (9, 2, 10)])
def test_r9_2_a_rise_stops_at_a_must_play_level(level: int, big: int, expected: int) -> None:
    """R9.2: nobody jumps over 10: dealers and attackers alike."""
    assert after((level, 4), 100, False, big) == (expected, 4)
    assert after((4, level), 130, True, big) == (4, expected)


def test_r9_2_dealers_leave_3_by_winning() -> None:
    assert after((3, 3), 100, False) == (4, 3)
    assert after((3, 3), 100, False, 1) == (6, 3)


@pytest.mark.parametrize(("score", "dug"), [(100, True), (120, False), (120, True)])
def test_r9_2_dealers_stay_on_it_otherwise(score: int, dug: bool) -> None:
    """R9.2: a lead below the take without a guard wins no level."""
    assert after((3, 4), score, dug)[0] == 3
    assert after((10, 4), score, dug)[0] == 10


@pytest.mark.parametrize("level", [3, 10])
def test_r9_2_attackers_on_one_take_the_deal_and_stay(level: int) -> None:
    """R9.2: levels earned there are lost; the deal is not."""
    result = settle(DALIAN, 130, True, big=1, levels=(5, level))
    assert (result.gain, result.levels, result.next_dealer) == ((0, 3), (5, level), 1)


def test_r9_2_must_play_is_an_option() -> None:
    """R9.2: 3, 5 and 10, or 10 alone."""
    more = dataclasses.replace(DALIAN, must_play=(3, 5, 10))
    assert after((4, 3), 100, False, 2, more) == (5, 3)
    assert after((6, 5), 130, True, 2, more) == (6, 5)
    less = dataclasses.replace(DALIAN, must_play=(10,))
    assert after((4, 3), 130, True, 2, less) == (4, 8)


# R9.3 ------------------------------------------------------------------------------------------------


def test_r9_3_leaving_10_wins_the_match() -> None:
    result = settle(DALIAN, 100, False, levels=(10, 5))
    assert (result.match_winner, result.next_dealer, result.blood) == (0, None, None)
    assert settle(DALIAN, 100, False, levels=(5, 10), dealer=1).match_winner == 1


def test_r9_3_reaching_10_does_not() -> None:
    """R9.3: K's introduction says so; its own clause 4 does not."""
    result = settle(DALIAN, 100, False, levels=(9, 5))
    assert (result.match_winner, result.levels) == (None, (10, 5))


@pytest.mark.parametrize(("score", "dug", "dealer"), [(100, True, 0), (130, True, 1), (130, False, 1)])
def test_r9_3_only_by_winning_a_hand_dealt_there(score: int, dug: bool, dealer: int) -> None:
    """R9.3, R9.2: team 0 on 10 is dug, or digs as attackers."""
    assert settle(DALIAN, score, dug, levels=(10, 10), dealer=dealer).match_winner is None


def test_r9_3_last_level_is_an_option_and_must_be_played() -> None:
    short = dataclasses.replace(DALIAN, last_level=6, must_play=(3, 6))
    assert settle(short, 100, False, levels=(6, 3)).match_winner == 0
    assert settle(short, 100, False, levels=(4, 3), big=2).levels == (6, 3)
    with pytest.raises(RulesError, match="last_level"):
        dataclasses.replace(DALIAN, must_play=(3,))


def test_r9_3_then_a_new_match_starts() -> None:
    """R9.3, R4.2: both on 3, no blood, no dealer, a big joker to be shown."""
    game = ended(40, False, level=10, levels=(10, 7))
    assert (game.t.match_winner[0], game.t.next_dealer[0], game.t.next_blood[0]) == (0, -1, 0)
    t = game.next_hand().t
    assert (t.levels[0].tolist(), t.level[0], t.blood[0], t.first_hand[0]) == ([3, 3], 3, 0, True)
    assert (game.phase, game.dealer, t.match[0], t.hand[0]) == ("show", -1, 1, 0)


def test_r9_3_a_new_match_starts_on_the_first_level() -> None:
    rules = dataclasses.replace(DALIAN, first_level=4, must_play=(4, 10))
    t = ended(0, False, level=6, levels=(6, 7), rules=rules).next_hand().t
    assert (t.levels[0].tolist(), t.level[0]) == ([4, 4], 4)


# R9.4 ------------------------------------------------------------------------------------------------

NO_SWEEP = dataclasses.replace(DALIAN, sweep_ends_match=False)


@pytest.mark.parametrize("dug", [False, True])
def test_r9_4_nothing_for_the_attackers_ends_the_match(dug: bool) -> None:
    """R9.4: S = 0: the dealers win it, even where the last trick (and a kitty without points) was the attackers'."""
    assert settle(DALIAN, 0, dug).match_winner == 0
    assert settle(DALIAN, 0, dug, dealer=3).match_winner == 1
    assert settle(DALIAN, 5, dug).match_winner is None


@pytest.mark.parametrize(("rules", "full"), [("dalian", 300), ("classic", 300), ("four_deck", 400)])
@pytest.mark.parametrize("dug", [False, True])
def test_r9_4_full_points_end_the_match(rules: str, full: int, dug: bool) -> None:
    """R9.4: S >= full_points: the attackers win it."""
    assert settle(rules, full, dug).match_winner == 1
    assert settle(rules, full + 5, dug).match_winner == 1
    assert settle(rules, full - 5, dug).match_winner is None


def test_r9_4_sweep_ends_match_off() -> None:
    nothing, all_of_it = settle(NO_SWEEP, 0, False), settle(NO_SWEEP, 300, True)
    assert nothing == HandResult("dealers", (1, 0), (4, 3), 2, 8, None)
    assert all_of_it == HandResult("attackers", (0, 1), (3, 3), 1, 15, None)


def test_r9_4_full_points_is_at_least_the_take() -> None:
    for bad in (110, 0):
        with pytest.raises(RulesError, match="full_points"):
            dataclasses.replace(DALIAN, full_points=bad)
    with pytest.raises(RulesError, match="take"):
        dataclasses.replace(DALIAN, take=0, blood_low=0)
