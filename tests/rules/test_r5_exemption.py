"""R5.5: all big jokers with the side that owes. In the positions seat 0 deals, so seat 3 gives and 1 is its partner."""

from __future__ import annotations

import dataclasses

import pytest

from gunzi_env.rules import Rules
from tests.rules.game import placed

DALIAN = Rules.preset("dalian")
EXEMPT = dataclasses.replace(DALIAN, anti_tribute=True)
KITTY = "S7 H7 C7 D7 S8 H8"

ALL_FOUR = "BJ BJ BJ BJ"


def test_r5_5_giver_with_all_big_jokers_turns_the_tribute_round() -> None:
    """R5.5: the dealer gives his two largest to seat 3, who returns two."""
    hands = ["SA S4 H6 C6 HK HQ", "C4 C5 C8 C9 CJ CQ", "D4 D5 D8 D9 DJ DQ", f"{ALL_FOUR} H4 H8"]
    game = placed("four_deck", hands=hands, phase="tribute", blood=2, kitty_cards=KITTY + " C7 D7")
    assert (game.phase, game.tribute) == ("bury", "S4 SA")  # seat 3 has just two cards it may return first
    assert game.hand(3) == "S4 SA BJ BJ BJ BJ"
    assert {"H4", "H8"} <= set(game.hand(0).split())


def test_r5_5_by_the_same_rules() -> None:
    """R5.5: R5.1 (the dealer chooses between suits), R5.2 (no king), R5.4 (seat 3 chooses what it returns)."""
    hands = ["HA DA SK ST C6 D6 H6", "C4 C5 C8 C9 CT CJ CQ", "D4 D5 D8 D9 DT DJ DQ", f"{ALL_FOUR} H4 H8 H9"]
    game = placed("four_deck", hands=hands, phase="tribute", blood=1, kitty_cards=KITTY + " C7 D7")
    assert (game.phase, game.seat, game.legal) == ("tribute", 0, ["HA", "DA"])
    game.play("0 DA")
    assert (game.phase, game.seat, game.legal) == ("return", 3, ["H4", "H8", "H9", "DA"])
    game.play("3 H9")
    assert (game.sees(3, of=0), game.sees(1, of=0)) == ("H9", "")
    assert "H9" in game.hand(0).split() and "DA" in game.hand(3).split()


def test_r5_5_givers_partner_with_all_of_them_cancels_it() -> None:
    """R5.5: no tribute, and the blood is settled."""
    hands = ["SA S4 H6 C6 HK HQ", f"{ALL_FOUR} C4 C5", "D4 D5 D8 D9 DJ DQ", "H4 H8 S9 SJ SQ HA"]
    game = placed("four_deck", hands=hands, phase="tribute", blood=2, kitty_cards=KITTY + " C7 D7")
    assert (game.phase, game.tribute, game.hand(3)) == ("bury", "", "S9 SJ SQ H4 H8 HA")


@pytest.mark.parametrize("holder", [1, 3])
def test_r5_5_the_jokers_are_shown_to_all(holder: int) -> None:
    hands = ["SA S4 H6 C6 HK HQ", "C4 C5 C8 C9 CJ CQ", "D4 D5 D8 D9 DJ DQ", "H4 H8 H9 SJ SQ HA"]
    hands[holder] = f"{ALL_FOUR} {hands[holder][:5]}"
    game = placed("four_deck", hands=hands, phase="tribute", blood=2, kitty_cards=KITTY + " C7 D7")
    assert [game.sees_shown(seat, of=holder) for seat in range(4)] == [ALL_FOUR] * 4


@pytest.mark.parametrize("holder", [0, 2])
def test_r5_5_not_when_the_dealers_hold_them(holder: int) -> None:
    hands = ["SA S4 H6 C6", "C4 C5 C8 C9", "D4 D5 D8 D9", "HA SQ H8 H9"]
    hands[holder] = ALL_FOUR
    game = placed("four_deck", hands=hands, phase="tribute", blood=1, kitty_cards=KITTY + " C7 D7")
    assert (game.phase, game.tribute) == ("return", "SQ")
    assert game.sees_shown(1, of=holder) == ""


def test_r5_5_three_of_four_are_not_all() -> None:
    hands = ["SA S4 H6 C6", "C4 C5 C8 C9", "D4 D5 D8 D9", "BJ BJ BJ H9"]
    game = placed("four_deck", hands=hands, phase="tribute", blood=1, kitty_cards=KITTY + " C7 D7")
    assert (game.phase, game.seat, game.legal) == ("tribute", 3, ["BJ"])


def test_r5_5_only_where_blood_is_owed() -> None:
    hands = ["SA S4 H6 C6", "C4 C5 C8 C9", "D4 D5 D8 D9", ALL_FOUR]
    game = placed("four_deck", hands=hands, phase="tribute", blood=0, kitty_cards=KITTY + " C7 D7")
    assert (game.phase, game.sees_shown(0, of=3)) == ("bury", "")


@pytest.mark.parametrize(("rules", "tribute"), [(DALIAN, "BJ BJ BJ"), (EXEMPT, "SJ SQ SA")])
def test_r5_5_is_an_option(rules: Rules, tribute: str) -> None:
    """R5.5: with three decks, off (dalian) and on."""
    hands = ["SA SQ SJ H6", "C4 C6 C8 C9", "D4 D6 D8 D9", "BJ BJ BJ H9"]
    assert placed(rules, hands=hands, phase="tribute", blood=3, kitty_cards=KITTY).tribute == tribute


def test_r5_5_with_three_decks_the_givers_partner_cancels_it_too() -> None:
    """R5.5, anti_tribute=True: three big jokers are all; 3 keeps its ace. Without the option it gives it."""
    hands = ["S4 SQ SJ H6", "BJ BJ BJ C9", "D4 D6 D8 D9", "SA H4 H8 H9"]
    game = placed(EXEMPT, hands=hands, phase="tribute", blood=1, kitty_cards=KITTY)
    assert (game.phase, game.tribute, game.hand(3)) == ("bury", "", "SA H4 H8 H9")
    assert [game.sees_shown(seat, of=1) for seat in range(4)] == ["BJ BJ BJ"] * 4
    game = placed(DALIAN, hands=hands, phase="tribute", blood=1, kitty_cards=KITTY)
    assert (game.tribute, game.sees_shown(0, of=1)) == ("SA", "")


def test_r5_5_a_dealer_with_too_few_cards_gives_those_he_has_and_is_given_as_many_back() -> None:
    """R5.5, R5.3: of three owed he has one that is no point card, and gets one."""
    hands = ["SA HK CK DK HT H5", "C4 C6 C8 C9 CJ CQ", "D4 D6 D8 D9 DJ DQ", f"{ALL_FOUR} H4 H8"]
    game = placed("four_deck", hands=hands, phase="tribute", blood=3, kitty_cards=KITTY + " C7 D7")
    assert (game.phase, game.seat, game.tribute) == ("return", 3, "SA")
    assert (game.t.need[0], game.legal) == (1, ["H4", "H8"])
    game.play("3 H8")
    assert (game.phase, game.hand(3)) == ("bury", "SA H4 BJ BJ BJ BJ")


def test_r5_5_a_dealer_with_point_cards_alone_gives_nothing() -> None:
    """R5.5, R5.3: and nothing comes back; the jokers are shown all the same."""
    hands = ["SK HK CK DK HT H5", "C4 C6 C8 C9 CJ CQ", "D4 D6 D8 D9 DJ DQ", f"{ALL_FOUR} H4 H8"]
    game = placed("four_deck", hands=hands, phase="tribute", blood=3, kitty_cards=KITTY + " C7 D7")
    assert (game.phase, game.tribute, game.hand(3)) == ("bury", "", f"H4 H8 {ALL_FOUR}")
    assert game.sees_shown(1, of=3) == ALL_FOUR


@pytest.mark.parametrize("holder", [1, 3])
def test_r5_5_tested_on_the_dealt_hands(holder: int) -> None:
    """R5.5: three big jokers in hand and the fourth in the kitty are not all: the tribute is as ever."""
    hands = ["S4 S6 H6 C6", "C4 C7 C8 C9", "D4 D6 D8 D9", "SA H4 H8 H9"]
    hands[holder] = f"BJ BJ BJ {hands[holder][:2]}"
    game = placed("four_deck", hands=hands, phase="tribute", blood=1, kitty_cards="BJ H7 C7 D7 S8 H8 C7 D7")
    assert [game.sees_shown(seat, of=holder) for seat in range(4)] == [""] * 4
    if holder == 3:
        assert (game.phase, game.legal) == ("tribute", ["BJ"])
    else:
        assert (game.phase, game.tribute) == ("return", "SA")


def test_r5_5_the_dealer_who_takes_the_last_one_changes_nothing() -> None:
    """R5.5: he holds three, the fourth lies in the kitty; nor would all four help his side."""
    hands = ["BJ BJ BJ C6", "C4 C7 C8 C9", "D4 D6 D8 D9", "SA H4 H8 H9"]
    game = placed("four_deck", hands=hands, phase="tribute", blood=1, kitty_cards="BJ H7 C7 D7 S8 H8 C7 D7")
    assert (game.phase, game.tribute) == ("bury", "SA")  # C6, his one side card, has gone back


@pytest.mark.parametrize(("score", "blood"), [(60, 2), (120, 0), (170, 2)])
@pytest.mark.parametrize("holder", [1, 3])
def test_r5_5_the_blood_is_then_settled(holder: int, score: int, blood: int) -> None:
    """R5.5, R9.6: reversed (3) or cancelled (1), of the five that were owed none is left: the next hand's blood is
    this one's alone. No card here is worth points and no joker is buried: S stays, 20 below 80 or 20 above 150."""
    hands = ["SA S4 H6 C6 HJ HQ", "C4 C6 C8 C9 CJ CQ", "D4 D6 D8 D9 DJ DQ", "H4 H8 H9 SJ SQ HA"]
    hands[holder] = f"BJ BJ BJ {hands[holder][:8]}"
    game = placed(EXEMPT, hands=hands, phase="tribute", blood=5, score=score, kitty_cards=KITTY).hurry("over")
    assert (game.score, game.t.next_blood[0]) == (score, blood)
    assert game.next_hand().t.blood[0] == blood
