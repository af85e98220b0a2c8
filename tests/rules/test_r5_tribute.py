"""R5.0-4: tribute and return. In the positions seat 0 deals, so seat 3 gives."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from gunzi_env.rulebook import tribute_choices
from gunzi_env.rules import Rules
from tests.rules.game import Game, dealt, placed

DALIAN = Rules.preset("dalian")
NO_LEVEL_POINTS = dataclasses.replace(DALIAN, tribute_level_points=False)
MIXED_SEVEN = dataclasses.replace(DALIAN, mixed_trump_rank=7)
KITTY = "S7 H7 C7 D7 S8 H8"


def owed(blood: int, dealer: str, giver: str, *, rules: str | Rules = "dalian", **fields: Any) -> Game:
    """Spades are trumps, level 3; 1 and 2 have cards that matter to nobody."""
    hands = [dealer, "C4 C6 C8 C9", "D4 D6 D8 D9", giver]
    defaults: dict[str, Any] = {"hands": hands, "phase": "tribute", "blood": blood, "kitty_cards": KITTY}
    return placed(rules, **(defaults | fields))


# R5.0 ------------------------------------------------------------------------------------------------


def test_r5_0_order_of_a_hand() -> None:
    """R5.0: tribute, return, exchange, the others' jokers (and what they pick up), play."""
    game = owed(1, "S4 H6 C6 D6", "HA DA H4 H9", hands=["S4 H6 C6 D6", "BJ C4 C8 C9", "D4 D8 D9 DJ", "HA DA H4 H9"])
    phases = []
    while game.phase != "over":
        phases += [game.phase] if game.phase not in phases else []
        game.play(f"{game.seat} {game.legal[0]}")
    assert phases == ["tribute", "return", "bury", "jokers", "pickup", "lead", "follow"]


def test_r5_0_bidding_comes_first() -> None:
    game = dealt(dealer=0, blood=1, draws={1: "H3"})
    assert game.phase == "bid" and game.t.blood[0] == 1
    assert game.play("1 bid H x1").decline().phase in ("tribute", "return")


def test_r5_0_tribute_and_return_are_made_without_seeing_the_kitty() -> None:
    """R5.0: the dealer has not taken it, and nobody knows a card of it, until the return is made."""
    game = owed(1, "S4 H6 C6 D6", "HA DA H4 H9")
    for phase in ("tribute", "return"):
        assert game.phase == phase
        assert [game.sees(seat, of=None) for seat in range(4)] == [""] * 4
        assert len(game.hand(0).split()) == (4 if phase == "tribute" else 5)
        game.play(f"{game.seat} {game.legal[0]}")
    assert [game.sees(seat, of=None) for seat in range(4)] == ["S7 S8 H7 H8 C7 D7"] * 4


# R5.1 ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dealer", range(4))
def test_r5_1_the_dealers_previous_player_gives(dealer: int) -> None:
    hands = ["H4 H6", "C4 C6", "D4 D6", "H8 H9"]
    hands[(dealer + 3) % 4] = "BJ C9"
    game = placed(hands=hands, phase="tribute", dealer=dealer, blood=1, kitty_cards=KITTY)
    assert (game.phase, game.seat, game.tribute) == ("return", dealer, "BJ")
    assert game.hand((dealer + 3) % 4) == "C9" and "BJ" in game.hand(dealer).split()


@pytest.mark.parametrize(
    ("blood", "given"),
    [
        (1, "BJ"),
        (2, "LJ BJ"),
        (3, "S3 LJ BJ"),
        (5, "S2 S3 H3 LJ BJ"),
        (6, "S2 S3 SA H3 LJ BJ"),
        (7, "S2 S3 SA H3 HA LJ BJ"),
    ],
)
def test_r5_1_his_largest_cards_in_trump_order(blood: int, given: str) -> None:
    """R5.1, R2.2-3."""
    assert tribute_choices("dalian", 3, "S", "HQ HA SA S2 H3 S3 LJ BJ C4", blood) == [given]


def test_r5_1_all_see_what_is_given() -> None:
    game = owed(2, "S4 H6 C6 D6", "BJ SA H4 H9")
    assert game.phase == "return"
    assert [game.text(game.view(seat).tribute[:, 0]) for seat in range(4)] == ["SA BJ"] * 4
    assert [game.sees(seat, of=0) for seat in (1, 2, 3)] == ["SA BJ"] * 3


@pytest.mark.parametrize(
    ("hand", "blood", "choices"),
    [
        ("HA DA HK", 1, ["DA", "HA"]),
        ("HA DA CA", 2, ["CA DA", "HA CA", "HA DA"]),
        ("HA HA DA", 2, ["HA DA", "HA HA"]),
        ("S4 HA DA", 2, ["S4 DA", "S4 HA"]),
        ("HA HQ DQ CQ", 3, ["HA CQ DQ", "HQ HA CQ", "HQ HA DQ"]),
    ],
)
def test_r5_1_between_suits_the_giver_chooses(hand: str, blood: int, choices: list[str]) -> None:
    """R5.1: side cards of one rank."""
    assert tribute_choices("dalian", 3, "S", hand, blood) == choices


@pytest.mark.parametrize(
    ("hand", "choices"),
    [
        ("H3 D3 S2", ["D3", "H3"]),
        ("H3 C3 D3 S3", ["S3"]),
        ("H2 C2 D2 SA", ["C2", "D2", "H2"]),
        ("S2 C2 D2 SA", ["S2"]),
    ],
)
def test_r5_1_among_equal_trumps_too(hand: str, choices: list[str]) -> None:
    """R5.1: off-suit level cards, off-suit 2s; the trump-suit one is above them."""
    assert tribute_choices("dalian", 3, "S", hand, 1) == choices


@pytest.mark.parametrize(
    ("hand", "blood", "choices"),
    [
        ("H7 C7 D7 S2 SA", 1, ["C7", "D7", "H7"]),
        ("H7 C7 D7 S2 SA", 2, ["C7 D7", "H7 C7", "H7 D7"]),
        ("S7 H7 C7 D7 S2", 1, ["S7"]),
        ("S7 H7 C7 D7 S2", 3, ["S7 C7 D7", "S7 H7 C7", "S7 H7 D7"]),
        ("H3 H7 C7 D7 S2", 2, ["H3 C7", "H3 D7", "H3 H7"]),
    ],
)
def test_r5_1_among_equal_mixed_trumps(hand: str, blood: int, choices: list[str]) -> None:
    """R5.1, R2.6: three of the four sevens are equals, below the seven of spades and the level cards, above the 2s."""
    assert tribute_choices(MIXED_SEVEN, 3, "S", hand, blood) == choices


def test_r5_1_the_giver_is_asked_among_equal_mixed_trumps() -> None:
    game = owed(1, "S4 H6 C6 D6", "H7 D7 D7 S2", rules=MIXED_SEVEN)
    assert (game.phase, game.seat, game.legal) == ("tribute", 3, ["H7", "D7"])
    assert game.play("3 H7").tribute == "H7"


def test_r5_1_one_by_one_from_the_highest_down() -> None:
    """R5.1: two of three aces: the last in order cannot be named first."""
    game = owed(2, "S4 H6 C6 D6", "HA CA DA H9")
    assert (game.phase, game.seat, game.legal) == ("tribute", 3, ["CA", "DA"])
    game.play("3 CA", "3 HA")
    assert (game.phase, game.tribute, game.hand(3)) == ("return", "HA CA", "H9 DA")


def test_r5_1_no_blood_no_tribute() -> None:
    game = owed(0, "S4 H6 C6 D6", "BJ DA H4 H9")
    assert (game.phase, game.tribute) == ("bury", "")


def test_r5_1_no_blood_in_the_first_hand_of_a_match() -> None:
    game = dealt(draws={0: "BJ H4"}).play("0 show")
    assert game.t.blood[0] == 0 and game.tribute == ""


# R5.2, R5.3 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("hand", "given"), [("HK HT H5 HQ", "HQ"), ("SK ST S5 HQ", "HQ"), ("SA SK", "SA")])
def test_r5_2_point_cards_are_never_given(hand: str, given: str) -> None:
    assert tribute_choices("dalian", 3, "S", hand, 1) == [given]


@pytest.mark.parametrize(
    ("level", "hand", "given"), [("T", "ST HT SA SK S5", "ST SA HT"), (5, "S5 H5 SA SK ST", "S5 SA H5")]
)
def test_r5_2_level_cards_are_given_though_worth_points(level: int | str, hand: str, given: str) -> None:
    """R5.2, tribute_level_points=True: both tens (fives) and the ace, but no king. False: the ace alone."""
    assert tribute_choices(DALIAN, level, "S", hand, 3) == [given]
    assert tribute_choices(NO_LEVEL_POINTS, level, "S", hand, 3) == ["SA"]


@pytest.mark.parametrize(("rank", "card"), [(10, "T"), (13, "K")])
def test_r5_2_mixed_trumps_worth_points_are_never_given(rank: int, card: str) -> None:
    """R5.2, R2.6: trumps above the 2s, but point cards, and no level cards: the 2 and the ace instead."""
    mixed = dataclasses.replace(DALIAN, mixed_trump_rank=rank)
    assert tribute_choices(mixed, 3, "S", f"S{card} H{card} S2 HA", 2) == ["S2 HA"]


def test_r5_2_where_the_mixed_rank_is_the_level_they_are_level_cards() -> None:
    """R5.2, R2.6: at level 10 the class is absent: tens are given as level cards."""
    mixed = dataclasses.replace(DALIAN, mixed_trump_rank=10)
    assert tribute_choices(mixed, "T", "S", "ST HT S2 HA", 2) == ["ST HT"]


def test_r5_2_in_all_presets_level_cards_are_given() -> None:
    assert all(Rules.preset(name).tribute_level_points for name in Rules.presets())


def test_r5_3_he_who_has_too_few_gives_those_he_has() -> None:
    assert tribute_choices("dalian", 3, "S", "HK H5 H4 ST", 3) == ["H4"]
    game = owed(3, "S4 H6 C6 D6", "HK H5 H4 ST")
    assert (game.phase, game.tribute, game.t.need[0]) == ("return", "H4", 1)


def test_r5_3_or_none_at_all() -> None:
    """R5.3: nothing is given, so nothing is returned."""
    game = owed(2, "S4 H6 C6 D6", "HK H5 HT ST")
    assert (game.phase, game.tribute) == ("bury", "")


# R5.4 ------------------------------------------------------------------------------------------------


def test_r5_4_as_many_side_cards_without_points_of_his_choice() -> None:
    """R5.4: neither the trump S4 nor the king; the H4 just received may go back."""
    game = owed(1, "S4 H6 C6 HK", "H4 HK H5 HT")
    assert (game.phase, game.seat, game.legal) == ("return", 0, ["H4", "H6", "C6"])
    game.play("0 C6")
    assert game.hand(3) == "H5 HT HK C6"


def test_r5_4_then_any_card_that_is_no_point_card() -> None:
    """R5.4: H6 goes first (it is the only one of its class), then a trump: also one just received."""
    game = owed(2, "H6 S4 SK HK", "BJ SA H9 C9")
    assert (game.phase, game.pending, game.legal) == ("return", "H6", ["S4", "SA", "BJ"])
    game.play("0 S4")
    assert (game.hand(3), "H6" in game.hand(0)) == ("S4 H6 H9 C9", False)


def test_r5_4_then_any_card() -> None:
    """R5.4 at level 10: the dealer has point cards alone, and was given point cards (R5.2)."""
    game = owed(2, "HK H5 DK D5", "ST HT H9 C9", level=10)
    assert game.tribute == "ST HT" and game.phase == "return"
    assert game.legal == ["HK", "D5", "DK", "HT", "ST"]  # two of six, from the highest down: not H5 first
    game.play("0 HK", "0 H5")
    assert game.hand(3) == "H5 H9 HK C9"


def test_r5_4_returned_cards_are_seen_by_the_two_alone() -> None:
    game = owed(1, "S4 H6 C6 HK", "BJ HK H5 HT").play("0 C6")
    assert game.sees(0, of=3) == "C6"
    assert game.sees(1, of=3) == game.sees(2, of=3) == ""
    assert "C6" in game.hand(3).split()


@pytest.mark.parametrize("returned", ["H4", "C6"])
def test_r5_4_after_it_the_others_are_certain_of_nothing(returned: str) -> None:
    """R5.4: the card that was given may have gone back: before the return all know it to be the dealer's, then not."""
    game = owed(1, "S4 H6 C6 HK", "H4 HK H5 HT")
    assert [game.sees(seat, of=0) for seat in (1, 2)] == ["H4", "H4"]
    game.play(f"0 {returned}")
    assert [game.sees(seat, of=0) for seat in (1, 2)] == ["", ""]


def test_r5_4_hands_are_equal_again() -> None:
    game = owed(2, "S4 H6 C6 HK", "BJ SA H5 HT")  # H6 and C6 go back unasked
    assert game.phase == "bury"
    assert [len(game.hand(s).split()) for s in range(4)] == [4 + 6, 4, 4, 4]


def test_r5_4_a_returned_joker_that_was_put_in_is_not_with_the_giver() -> None:
    """R5.4, R6.5: seat 0 returned a big joker, seat 3 buries it: it lies in the kitty, and seat 0 knows."""
    hands = ["BJ S4 S6", "C4 C6 C7", "D4 D6 D7", "S9 H4 H6"]
    game = placed(hands=hands, phase="tribute", blood=1, kitty_cards="S7 H8 C8 C9 D8 D9")
    assert game.tribute == "S9"
    game.play("0 BJ")
    assert (game.phase, game.sees(0, of=3)) == ("bury", "BJ")
    game.play("0 S4", "0 D9", "0 D8", "0 C9", "0 C8", "0 H8")
    assert (game.phase, game.seat, game.sees(0, of=3)) == ("jokers", 3, "BJ")
    game.play("3 BJ").hurry("lead")
    assert "BJ" in game.kitty
    assert "BJ" not in game.sees(0, of=3)
