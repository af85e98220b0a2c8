"""R8: counting. Seat 0 deals, so 1 and 3 attack."""

from __future__ import annotations

import dataclasses

import pytest

from gunzi_env.rulebook import settle
from gunzi_env.rules import Rules
from tests.rules.game import placed

KITTY = "H4 H6 C7 D5 DT SK"  # 25 points


def test_r8_1_s_is_the_points_of_the_attackers_tricks() -> None:
    """R8.1: 1 wins a ten and a five, then 0 a king, then 0 the last trick."""
    hands = ["H4 CA SA", "HA CK DT", "HT C9 D4", "H5 C8 D6"]
    game = placed(hands=hands, kitty_cards="C4 C6 D7 D8 D9 DJ", leader=0).play("0 H4")
    assert (game.seat, game.score) == (1, 15)
    game.play("1 CK")
    assert (game.seat, game.score) == (0, 15)
    game.play("0 SA")
    assert (game.phase, game.score) == ("over", 15)


@pytest.mark.parametrize("winner", [1, 3])
@pytest.mark.parametrize("copies", [1, 2, 3])
def test_r8_2_dig_adds_twice_the_kittys_points_whatever_shape(copies: int, winner: int) -> None:
    """R8.2: 10 of the trick (a ten a copy), and 2 x 25 of the kitty."""
    hands = [" ".join([card] * copies) for card in ("HT", "HJ", "HQ", "H9")]
    hands[winner] = " ".join(["HA"] * copies)
    game = placed(hands=hands, kitty_cards=KITTY, leader=0).play(f"0 {hands[0]}")
    assert game.phase == "over" and game.t.dug[0]
    assert game.score == 10 * copies + 50


def test_r8_2_a_quad_too() -> None:
    hands = ["HT HT HT HT", "HA HA HA HA", "H9 H9 H9 H9", "H8 H8 H8 H8"]
    game = placed("four_deck", hands=hands, kitty_cards=KITTY + " C8 C9", leader=0).play("0 HT HT HT HT")
    assert (game.phase, game.score) == ("over", 40 + 50)


@pytest.mark.parametrize("winner", [0, 2])
def test_r8_3_guard_the_kitty_counts_for_nobody(winner: int) -> None:
    """R8.3: 10 points taken earlier stay; neither the last trick nor the kitty is added."""
    hands = ["HT", "HJ", "HQ", "H9"]
    hands[winner] = "HA"
    game = placed(hands=hands, kitty_cards=KITTY, leader=0, score=10).play(f"0 {hands[0]}")
    assert (game.phase, bool(game.t.dug[0]), game.score) == ("over", False, 10)


def test_r8_2_only_the_last_trick_decides() -> None:
    """R8.2: the attackers win the first of two tricks: no dig."""
    game = placed(hands=["H4 SA", "HA CJ", "H6 C9", "H7 C8"], kitty_cards=KITTY, leader=0)
    game.play("0 H4")
    assert game.seat == 1
    assert game.play("1 CJ").phase == "over"
    assert not game.t.dug[0] and game.score == 0


@pytest.mark.parametrize(("preset", "most"), [("dalian", 360), ("classic", 360), ("four_deck", 480)])
def test_r8_4_limits(preset: str, most: int) -> None:
    """R8.4: a multiple of 5 from 0 to 360 (480)."""
    assert Rules.preset(preset).max_score == most
    assert settle(preset, most, dug=True).winner == "attackers"
    assert settle(preset, 0, dug=False).winner == "dealers"
    for score in (most + 5, -5, 7):
        with pytest.raises(ValueError, match=f"score is {score}"):
            settle(preset, score, dug=True)


FOUR = Rules.preset("four_deck")


@pytest.mark.parametrize(
    ("rules", "most"),
    [
        (Rules(hand_size=38, kitty_size=10), 300 + 100),  # ten tens and kings
        (Rules(hand_size=34, kitty_size=26), 300 + 240 + 10),  # all 24 of them and two fives
        (Rules(hand_size=30, kitty_size=42), 300 + 300),  # all points there are
        (dataclasses.replace(FOUR, hand_size=53, kitty_size=4), 400 + 40),
        (dataclasses.replace(FOUR, hand_size=51, kitty_size=12), 400 + 120),
    ],
)
def test_r8_4_limits_of_other_kitties(rules: Rules, most: int) -> None:
    """R8.4, R8.2: every point once, those of the richest kitty once more."""
    assert rules.max_score == most
    assert settle(rules, most, dug=True).winner == "attackers"
    with pytest.raises(ValueError, match=f"score is {most + 5}"):
        settle(rules, most + 5, dug=True)


def test_r8_4_the_limit_is_reached() -> None:
    """R8.4: ten tens and kings buried, all other points (200) in the attackers' tricks, who win the last one."""
    kitty = "HT HT HT HK HK HK CT CT CT CK"
    game = placed(
        Rules(hand_size=38, kitty_size=10), hands=["H4", "HA", "H6", "H7"], kitty_cards=kitty, score=200, leader=0
    )
    assert game.play("0 H4").score == 400
