"""R6.1-5: the kitty is shown, buried, and joined by the others' jokers. In the positions seat 0 deals."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from gunzi_env import observe
from gunzi_env.rulebook import pickup_choices
from gunzi_env.rules import Rules
from tests.rules.game import Game, dealt, placed

DALIAN = Rules.preset("dalian")
NO_OTHERS = dataclasses.replace(DALIAN, others_bury=False)
ANY_POINTS = dataclasses.replace(DALIAN, others_bury_block="any_points")
KITTY = "H4 H6 C7 D9 DT SQ"  # not dry at level 3 with spades or hearts as trumps


def taking(kitty: str, dealer: str, *others: str, rules: str | Rules = "dalian", **fields: Any) -> Game:
    """The dealer is about to bury as many cards as ``kitty`` has; spades are trumps, level 3."""
    held = len(dealer.split())
    rest = list(others) or [" ".join(hand.split()[:held]) for hand in ("C4 C6 C8", "D4 D6 CJ", "D7 D8 CQ")]
    return placed(rules, hands=[dealer, *rest], phase="bury", kitty_cards=kitty, **fields)


def buried(kitty: str, *hands: str, **fields: Any) -> Game:
    """The dealer has buried ``kitty``; one of the others is asked for jokers."""
    return placed(hands=list(hands), phase="jokers", kitty_cards=kitty, **fields)


def every_burial(game: Game) -> list[str]:
    """All sets that the dealer may bury."""
    found = []
    for action in game.legal:
        after = Game(game.t.clone()).play(f"{game.seat} {action}")
        found += every_burial(after) if after.phase == "bury" else [after.kitty]
    return sorted(found)


# R6.1 ------------------------------------------------------------------------------------------------


def test_r6_1_when_somebody_bid_the_kitty_is_shown_to_all() -> None:
    game = dealt(dealer=0, draws={1: "H3 H3 H3"}, kitty=KITTY).play("1 bid H x1").decline()
    assert game.phase == "bury"
    assert [game.sees(seat, of=None) for seat in range(4)] == ["SQ H4 H6 C7 D9 DT"] * 4
    assert all(game.view(seat).kitty_shown[0] for seat in range(4))


def test_r6_1_when_somebody_showed_a_joker_too() -> None:
    game = dealt(draws={2: "BJ S4"}, kitty=KITTY).play("2 show")
    assert (game.phase, game.seat) == ("bury", 2)
    assert [game.sees(seat, of=None) for seat in range(4)] == ["SQ H4 H6 C7 D9 DT"] * 4


@pytest.mark.parametrize(("first_hand", "turned"), [(True, "H4 H6 C7 D9"), (False, "H4")])
def test_r6_1_when_nobody_did_the_dealer_alone_sees_it(first_hand: bool, turned: str) -> None:
    """R6.1: what was flipped (R4.3) or turned (R4.7) was seen by all, the rest by the dealer alone."""
    game = dealt(dealer=None if first_hand else 3, kitty=KITTY, spare=1).decline()
    assert (game.phase, game.dealer) == ("bury", 3)  # the first hand: the 9 is the largest of four flipped
    assert [game.sees(seat, of=None) for seat in range(3)] == [turned] * 3
    assert len(game.hand(3).split()) == 45
    assert not game.view(0).kitty_shown[0]


# R6.2, R6.3 ------------------------------------------------------------------------------------------


def test_r6_2_the_dealer_takes_the_kitty_and_buries_as_many() -> None:
    """R6.2: any cards, points and jokers included."""
    game = taking(KITTY, "HK BJ", "C4 C6", "D4 D6", "D7 D8")
    assert game.hand(0) == "SQ H4 H6 HK C7 D9 DT BJ"
    game.play("0 BJ", "0 SQ", "0 DT", "0 D9", "0 C7", "0 HK")
    assert (game.phase, game.hand(0), game.kitty) == ("lead", "H4 H6", "SQ HK C7 D9 DT BJ")


def test_r6_2_cards_of_his_hand_or_of_the_kitty() -> None:
    """R6.2: two of four, every choice."""
    assert every_burial(taking("H4 S6", "H9 C5")) == ["H4 C5", "H4 H9", "H9 C5", "S6 C5", "S6 H4", "S6 H9"]


@pytest.mark.parametrize(("preset", "size"), [("dalian", 6), ("four_deck", 8)])
def test_r6_2_kitty_size(preset: str, size: int) -> None:
    game = dealt(preset, dealer=0, draws={0: "H3 H3 H3"}, kitty=KITTY).play("0 bid H x1").decline()
    assert (game.phase, int(game.t.need[0])) == ("bury", size)


def test_r6_3_no_small_joker_while_a_big_one_stays() -> None:
    """R6.3: two cards, one big joker held: a small one only with it."""
    assert every_burial(taking("H4 S6", "BJ BJ LJ")) == ["BJ BJ", "H4 BJ", "S6 BJ", "S6 H4"]
    assert every_burial(taking("H4 S6", "BJ LJ LJ")) == ["H4 BJ", "LJ BJ", "S6 BJ", "S6 H4"]


def test_r6_3_without_a_big_joker_small_ones_are_free() -> None:
    burials = every_burial(taking("H4 S6", "LJ LJ C8"))
    assert burials == ["C8 LJ", "H4 C8", "H4 LJ", "LJ LJ", "S6 C8", "S6 H4", "S6 LJ"]


def test_r6_3_big_jokers_are_named_first() -> None:
    game = taking(KITTY, "BJ BJ LJ")
    assert game.legal[-1] == "BJ" and "LJ" not in game.legal
    game.play("0 BJ")
    assert "LJ" not in game.legal
    game.play("0 BJ")
    assert game.legal[-1] == "LJ"


def test_r6_3_holds_for_whoever_buries() -> None:
    """R6.3 in R6.5: seat 1 puts his big joker in before a small one."""
    game = buried("H4 C6 D7 D8 C8 C9", "S4 S5", "BJ LJ", "H9 H8", "D9 DT", seat=1)
    assert game.legal == ["BJ", "pass"]
    assert game.play("1 BJ").legal == ["LJ", "pass"]


def test_r6_3_a_limit_below_his_big_jokers_leaves_no_small_one() -> None:
    """R6.3 with R6.5: three big jokers and a small one, two cards to pick up: only big ones go in."""
    game = buried("H4 C6 HK HT H5 C5", "S4 S5 S6 S7", "BJ BJ BJ LJ", "H9 HJ HQ HA", "C9 CJ CQ CA", seat=1)
    assert game.legal == ["BJ", "pass"]
    assert game.play("1 BJ").legal == ["BJ", "pass"]
    game.play("1 BJ")  # two are in: he is not asked further
    assert (game.phase, game.hand(1), game.kitty) == ("lead", "H4 C6 LJ BJ", "H5 HT HK C5 BJ BJ")


# R6.4 ------------------------------------------------------------------------------------------------


def test_r6_4_with_a_joker_the_whole_kitty_is_public() -> None:
    game = taking(KITTY, "HK LJ").play("0 LJ", "0 SQ", "0 DT", "0 D9", "0 C7", "0 HK")
    assert [game.sees_kitty(seat) for seat in range(4)] == ["SQ HK C7 D9 DT LJ"] * 4
    assert game.view(2).kitty_public[0]


def test_r6_4_without_one_the_dealer_alone_knows_it() -> None:
    game = taking(KITTY, "HK LJ").play("0 SQ", "0 DT", "0 D9", "0 C7", "0 HK", "0 H6")
    assert [game.sees_kitty(seat) for seat in range(4)] == ["SQ H6 HK C7 D9 DT", None, None, None]
    # The kitty was shown, so its cards are with the dealer or in the kitty.
    assert game.sees(1, of=None) == "SQ H4 H6 C7 D9 DT"


def test_r6_4_what_of_a_shown_kitty_is_not_buried_is_with_the_dealer() -> None:
    """R6.4 with R6.1: everybody can work it out once the kitty is public."""
    game = taking(KITTY, "HK LJ").play("0 LJ", "0 SQ", "0 DT", "0 D9", "0 C7", "0 HK")
    assert [game.sees(seat, of=0) for seat in (1, 2, 3)] == ["H4 H6"] * 3


def test_r6_4_it_stays_public_through_later_pick_ups() -> None:
    game = buried("H4 C6 D7 D8 C9 LJ", "S4 S5", "C8 C7", "H9 BJ", "D9 DT", seat=2).play("2 BJ")
    assert game.hand(2) == "H4 H9"
    assert [game.sees_kitty(seat) for seat in range(4)] == ["C6 C9 D7 D8 LJ BJ"] * 4


def test_r6_4_after_the_last_trick_it_is_shown_to_all() -> None:
    game = placed(hands=["SA", "H9", "S4", "D8"], kitty_cards="H4 H6 C7 D9 DT SQ")
    assert game.sees_kitty(1) is None
    game.play("0 SA")
    assert game.phase == "over"
    assert [game.sees_kitty(seat) for seat in range(4)] == ["SQ H4 H6 C7 D9 DT"] * 4


# R6.5 ------------------------------------------------------------------------------------------------


def test_r6_5_next_partner_previous_in_that_order_once_each() -> None:
    """R6.5: dealer 2; 3, 0 and 1 are asked, each once, though 3 has a joker left."""
    hands = ["LJ C9", "LJ D9", "BJ S4", "BJ LJ"]
    game = buried("H4 C6 D7 D8 H8 HK", *hands, dealer=2, seat=3)
    game.play("3 BJ", "3 pass", "0 pass", "1 LJ")
    assert (game.phase, game.seat) == ("lead", 2)
    assert [game.hand(s) for s in range(4)] == ["C9 LJ", "C6 D9", "S4 BJ", "H4 LJ"]
    assert game.kitty == "H8 HK D7 D8 LJ BJ"


def test_r6_5_who_has_no_joker_is_not_asked() -> None:
    game = buried("H4 C6 D7 D8 H8 HK", "S4", "H9", "LJ", "C9", seat=2)
    assert (game.phase, game.seat) == ("jokers", 2)
    assert game.play("2 pass").phase == "lead"


def test_r6_5_any_number() -> None:
    """R6.5: three of three jokers (he is not asked further), or two, or none."""
    hands = ["S4 S5 S6", "BJ LJ LJ", "H9 HJ HQ", "C9 CJ CQ"]
    three = buried("H4 C6 D7 D8 H8 HK", *hands, seat=1).play("1 BJ", "1 LJ", "1 LJ")
    two = buried("H4 C6 D7 D8 H8 HK", *hands, seat=1).play("1 BJ", "1 LJ", "1 pass")
    none = buried("H4 C6 D7 D8 H8 HK", *hands, seat=1).play("1 pass")
    assert [game.phase for game in (three, two, none)] == ["lead", "lead", "lead"]
    assert [game.hand(1) for game in (three, two, none)] == ["H4 C6 D7", "H4 C6 LJ", "LJ LJ BJ"]


@pytest.mark.parametrize(
    ("kitty", "n", "choices"),
    [
        ("H4 C6 D7 S4 H5 HK", 2, ["H4 C6"]),
        ("HA CA S4 S5 H2 H3", 2, ["HA CA"]),  # side cards before trumps: aces before the four of spades
        ("HA S4 S6 H2 H3 BJ", 3, ["S4 S6 HA"]),  # then by strength
        ("S2 H2 S3 D3 LJ BJ", 3, ["S2 H2 D3"]),
        ("H5 C5 HT HK S9 SK", 1, ["S9"]),  # never point cards
        ("LJ BJ LJ S3 H5 HK", 1, ["S3"]),  # never jokers
        ("H4 D4 C4 HA S4 BJ", 2, ["C4 D4", "H4 C4", "H4 D4"]),  # equal rank: the player's choice
        ("H4 H4 D4 HA S4 BJ", 2, ["H4 D4", "H4 H4"]),
        ("H3 C3 S3 SA HK CK", 2, ["SA C3", "SA H3"]),  # equal trumps too
        ("H2 D2 S2 SQ HK CK", 2, ["SQ D2", "SQ H2"]),
        ("H4 D4 C4 HA S4 BJ", 0, [""]),
    ],
)
def test_r6_5_the_smallest_cards(kitty: str, n: int, choices: list[str]) -> None:
    """R6.5: side cards before trumps, by strength, neither point cards nor jokers; equal ones are chosen from."""
    assert pickup_choices("dalian", 3, "S", kitty, n) == choices


@pytest.mark.parametrize(
    ("level", "kitty", "most", "smallest"),
    [
        (5, "H5 C5 S5 SA HK HT", 1, "SA"),  # the fives are level cards and stay point cards
        ("T", "HT ST DT H2 SK H5", 1, "H2"),
        ("T", "HT ST H3 H4 S2 BJ", 3, "S2 H3 H4"),
        (6, "H6 S6 HK HT H5 BJ", 2, "S6 H6"),  # level cards without points are picked up
    ],
)
def test_r6_5_level_cards_worth_points_are_never_picked_up(
    level: int | str, kitty: str, most: int, smallest: str
) -> None:
    """R6.5: never point cards; R5.2's exception for level cards is the tribute's alone."""
    assert pickup_choices("dalian", level, "S", kitty, most) == [smallest]
    with pytest.raises(ValueError, match=f"this kitty has {most} cards"):
        pickup_choices("dalian", level, "S", kitty, most + 1)


@pytest.mark.parametrize(
    ("kitty", "n", "choices"),
    [
        ("H7 C7 D7 S7 HK CK", 1, ["C7", "D7", "H7"]),
        ("H7 C7 D7 S7 HK CK", 2, ["C7 D7", "H7 C7", "H7 D7"]),
        ("H7 C7 S7 H3 D3 CK", 3, ["S7 H7 C7"]),
        ("S2 H7 C7 HK CK BJ", 2, ["S2 C7", "S2 H7"]),
    ],
)
def test_r6_5_equal_mixed_trumps_are_chosen_from(kitty: str, n: int, choices: list[str]) -> None:
    """R6.5, R2.6: sevens are trumps above the 2s; three of them are equals, then the trump suit's, then level cards."""
    assert pickup_choices(dataclasses.replace(DALIAN, mixed_trump_rank=7), 3, "S", kitty, n) == choices


def test_r6_5_mixed_trumps_worth_points_are_never_picked_up() -> None:
    mixed = dataclasses.replace(DALIAN, mixed_trump_rank=10)
    assert pickup_choices(mixed, 3, "S", "HT ST H3 HK BJ LJ", 1) == ["H3"]


def test_r6_5_one_puts_in_and_picks_up_before_the_next_is_asked() -> None:
    """R6.5: two cards can be picked up; when 1 has taken his choice of them, 2 may put in one of two jokers."""
    game = buried("H4 D4 HK HT H5 C5", "S4 S5", "BJ C9", "LJ LJ", "BJ C8", seat=1).play("1 BJ")
    assert (game.phase, game.seat, game.legal) == ("pickup", 1, ["H4", "D4"])
    game.play("1 D4")
    assert (game.phase, game.seat, game.legal) == ("jokers", 2, ["LJ", "pass"])
    assert [game.view(seat).pickable[0] for seat in range(4)] == [1] * 4
    game.play("2 LJ")  # the limit is reached: neither his other joker nor 3's can go in
    assert (game.phase, game.hand(2), game.hand(3)) == ("lead", "H4 LJ", "C8 BJ")


def test_r6_5_the_choice_among_equals_is_asked() -> None:
    game = buried("H4 D4 C9 D7 HT HK", "S4", "BJ", "H9", "C8", seat=1).play("1 BJ")
    assert (game.phase, game.seat, game.legal) == ("pickup", 1, ["H4", "D4"])
    game.play("1 D4")
    assert (game.phase, game.hand(1), game.kitty) == ("lead", "D4", "H4 HT HK C9 D7 BJ")


def test_r6_5_at_most_as_many_as_can_be_picked_up() -> None:
    """R6.5: one card is neither joker nor point card: one joker, and then nobody else is asked."""
    game = buried("H4 HK HT H5 C5 LJ", "S4 S5", "BJ BJ", "LJ H9", "LJ C8", seat=1)
    assert game.view(3).pickable[0] == 1
    game.play("1 BJ")
    assert (game.phase, game.hand(1)) == ("lead", "H4 BJ")
    assert game.view(3).pickable[0] == 0


def test_r6_5_how_many_is_public_and_kept_up_to_date() -> None:
    game = taking(KITTY, "HK S4", "BJ C6", "LJ D6", "D7 D8").play("0 SQ", "0 DT", "0 D9", "0 C7", "0 HK", "0 H6")
    assert [game.view(seat).pickable[0] for seat in range(4)] == [4] * 4
    game.play("1 BJ")
    assert [game.view(seat).pickable[0] for seat in range(4)] == [3] * 4


def test_r6_5_whoever_buries_jokers_makes_the_kitty_public() -> None:
    game = buried("H4 C6 D7 D8 H8 HK", "S4", "BJ", "H9", "C9", seat=1)
    assert [game.sees_kitty(seat) for seat in range(4)] == ["H4 H8 HK C6 D7 D8", None, None, None]
    game.play("1 BJ")
    assert [game.sees_kitty(seat) for seat in range(4)] == ["H8 HK C6 D7 D8 BJ"] * 4
    assert [game.sees(seat, of=1) for seat in (0, 2, 3)] == ["H4"] * 3


@pytest.mark.parametrize(("rules", "phase"), [(DALIAN, "jokers"), (NO_OTHERS, "lead")])
def test_r6_5_others_bury(rules: Rules, phase: str) -> None:
    """R6.5, others_bury True and False."""
    game = taking("H4 H6 C7 D9 DT SQ", "H8", "BJ", "LJ", "D8", rules=rules)
    game.play("0 SQ", "0 DT", "0 D9", "0 C7", "0 H8", "0 H6")
    assert (game.phase, game.seat) == ((phase, 1) if phase == "jokers" else (phase, 0))


@pytest.mark.parametrize(
    ("rules", "burial", "asked"),
    [
        (DALIAN, "SQ DT D9 C7 H6 H4", True),
        (ANY_POINTS, "SQ DT D9 C7 H6 H4", False),
        (ANY_POINTS, "SQ D9 C7 H8 H6 H4", True),
    ],
)
def test_r6_5_any_points_closes_the_window(rules: Rules, burial: str, asked: bool) -> None:
    """R6.5, others_bury_block: one ten buried."""
    game = taking("H4 H6 C7 D9 DT SQ", "H8", "BJ", "LJ", "D8", rules=rules)
    game.play(*(f"0 {card}" for card in burial.split()))
    assert game.phase == ("jokers" if asked else "lead")
    assert game.view(2).pickable[0] == ((6 if "DT" not in burial else 5) if asked else 0)


def test_r6_5_any_points_with_none_buried_asks_all_in_turn() -> None:
    """R6.5, others_bury_block="any_points": no point card lies there: 1 buries a joker, then 2 and 3 are asked too."""
    game = taking(KITTY, "H8 S4", "BJ C6", "LJ D6", "LJ D8", rules=ANY_POINTS)
    game.play("0 SQ", "0 D9", "0 C7", "0 H8", "0 H6", "0 H4", "1 BJ")
    assert (game.phase, game.seat, game.view(0).pickable[0]) == ("jokers", 2, 5)
    game.play("2 LJ")
    assert (game.phase, game.seat, game.view(0).pickable[0]) == ("jokers", 3, 4)
    game.play("3 LJ")
    assert [game.hand(seat) for seat in (1, 2, 3)] == ["H4 C6", "H6 D6", "C7 D8"]


@pytest.mark.parametrize("burial", ["DK DT CK HK HT H5", "LJ DT CK HK HT H5"])
def test_r6_5_nothing_to_pick_up_nobody_buries(burial: str) -> None:
    """R6.5: a kitty of points, or of points and jokers."""
    game = taking("H5 HT HK CK DT S4", "DK LJ", "BJ C6", "LJ D6", "D7 D8")
    game.play(*(f"0 {card}" for card in burial.split()))
    assert (game.phase, game.view(1).pickable[0]) == ("lead", 0)


def test_r6_5_declining_is_no_event() -> None:
    """R4.6 for R6.5: whether 1 was asked (a joker in hand) or not shows nowhere."""
    asked = buried("H4 C6 D7 D8 H8 HK", "S4", "BJ", "LJ", "C9", seat=1).play("1 pass")
    silent = buried("H4 C6 D7 D8 H8 HK", "S4", "SJ", "LJ", "C9", seat=2)
    assert asked.seat == silent.seat == 2
    for seat in (0, 2, 3):
        assert np.array_equal(observe.encode(asked.view(seat)), observe.encode(silent.view(seat)))


def test_r6_5_four_decks() -> None:
    """R6.5 with four decks: seat 1 puts in four jokers and picks up the four smallest."""
    hands = ["S4 S5 S6 S7", "BJ BJ LJ LJ", "H9 HJ HQ HA", "C9 CJ CQ CA"]
    game = placed("four_deck", hands=hands, phase="jokers", kitty_cards="H4 C6 D7 D8 D9 DJ HK HT", seat=1)
    game.play("1 BJ", "1 BJ", "1 LJ", "1 LJ")
    assert (game.hand(1), game.kitty) == ("H4 C6 D7 D8", "HT HK D9 DJ LJ LJ BJ BJ")
