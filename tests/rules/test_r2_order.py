"""R2: levels, trumps, card order."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from gunzi_env import order
from gunzi_env.rulebook import is_dry, strength_order, trick_winner
from gunzi_env.rules import Rules
from tests.rules.game import dealt

MIXED_SEVEN = dataclasses.replace(Rules.preset("dalian"), mixed_trump_rank=7)


def names(groups: list[list[str]]) -> str:
    return " < ".join(" ".join(group) for group in groups)


# R2.1 ------------------------------------------------------------------------------------------------


def test_r2_1_a_match_starts_on_3() -> None:
    game = dealt()
    assert game.t.levels[0].tolist() == [3, 3] and game.t.level[0] == 3


@pytest.mark.parametrize(("dealer", "level"), [(0, 5), (1, 9), (2, 5), (3, 9)])
def test_r2_1_level_of_the_hand_is_that_of_the_dealers(dealer: int, level: int) -> None:
    """R2.1: teams on 5 and 9; all four players play the dealers' level."""
    game = dealt(dealer=dealer, levels=(5, 9))
    assert [int(game.view(seat).level[0]) for seat in range(4)] == [level] * 4


def test_r2_1_first_and_last_level_are_options() -> None:
    game = dealt(Rules(first_level=4, last_level=6, must_play=(4, 6)))
    assert game.t.levels[0].tolist() == [4, 4] and game.t.level[0] == 4


# R2.2, R2.3 ------------------------------------------------------------------------------------------


def test_r2_2_and_3_order_at_level_3_spades_trump() -> None:
    """R2.2, R2.3: weakest first; side cards of a rank stand together, equal trumps too."""
    assert names(strength_order("dalian", 3, "S")) == (
        "H4 C4 D4 < H5 C5 D5 < H6 C6 D6 < H7 C7 D7 < H8 C8 D8 < H9 C9 D9 < HT CT DT < HJ CJ DJ < HQ CQ DQ < "
        "HK CK DK < HA CA DA < "
        "S4 < S5 < S6 < S7 < S8 < S9 < ST < SJ < SQ < SK < SA < "
        "H2 C2 D2 < S2 < H3 C3 D3 < S3 < LJ < BJ"
    )


def test_r2_2_and_3_order_at_level_10_hearts_trump() -> None:
    """R2.2, R2.3: without the level rank, with the 3s."""
    assert names(strength_order("dalian", "T", "H")) == (
        "S3 C3 D3 < S4 C4 D4 < S5 C5 D5 < S6 C6 D6 < S7 C7 D7 < S8 C8 D8 < S9 C9 D9 < SJ CJ DJ < SQ CQ DQ < "
        "SK CK DK < SA CA DA < "
        "H3 < H4 < H5 < H6 < H7 < H8 < H9 < HJ < HQ < HK < HA < "
        "S2 C2 D2 < H2 < ST CT DT < HT < LJ < BJ"
    )


@pytest.mark.parametrize(
    ("stronger", "weaker"),
    [("BJ", "LJ"), ("LJ", "S3"), ("S3", "H3"), ("D3", "S2"), ("S2", "C2"), ("H2", "SA"), ("SA", "SK"), ("S4", "HA")],
)
def test_r2_2_each_step_of_the_trumps(stronger: str, weaker: str) -> None:
    """R2.2 at level 3, spades trump: of two cards on a lead of H4 the stronger wins in either order."""
    assert trick_winner("dalian", 3, "S", ["H4", stronger, weaker, "H6"]) == 1
    assert trick_winner("dalian", 3, "S", ["H4", weaker, stronger, "H6"]) == 2


def test_r2_2_there_is_no_hand_without_trumps() -> None:
    """R2.2: whoever bids, shows or declines, a trump suit is found."""
    assert dealt(dealer=0).decline().trump is not None
    assert dealt().decline().trump is not None


def test_r2_4_sixty_three_trumps_and_three_side_suits() -> None:
    """R2.4: 21 trump faces, 33 side faces; the led suit is one of four."""
    masks = order.layout(None).suit_mask
    for level in range(3, 11):
        sizes = [int(np.bitwise_count(m)) for m in masks[level]]
        assert sizes == [11, 11, 11, 21]


# R2.5: the first of equals wins ----------------------------------------------------------------------


def test_r2_5_two_identical_cards() -> None:
    assert trick_winner("dalian", 3, "S", ["HK", "HA", "HA", "H4"]) == 1
    assert trick_winner("dalian", 3, "S", ["HA", "HK", "HA", "HA"]) == 0


def test_r2_5_two_identical_jokers() -> None:
    assert trick_winner("dalian", 3, "S", ["S4", "BJ", "BJ", "LJ"]) == 1


def test_r2_5_two_off_suit_level_cards() -> None:
    assert trick_winner("dalian", 3, "S", ["S4", "H3", "D3", "C3"]) == 1
    assert trick_winner("dalian", 3, "S", ["S4", "D3", "H3", "S2"]) == 1
    assert trick_winner("dalian", 3, "S", ["S4", "D3", "H3", "S3"]) == 3


def test_r2_5_two_off_suit_2s() -> None:
    assert trick_winner("dalian", 3, "S", ["S4", "C2", "H2", "D2"]) == 1
    assert trick_winner("dalian", 3, "S", ["S4", "D2", "S2", "H2"]) == 2


def test_r2_5_pairs_of_off_suit_2s_and_level_cards() -> None:
    assert trick_winner("dalian", 3, "S", ["S4 S4", "D2 D2", "H2 H2", "C2 C2"]) == 1
    assert trick_winner("dalian", 3, "S", ["H3 H3", "D3 D3", "C3 C3", "S2 S2"]) == 0


def test_r2_5_two_off_suit_mixed_trumps() -> None:
    """R2.5 with R2.6: the three equal others of the mixed rank."""
    assert trick_winner(MIXED_SEVEN, 3, "S", ["S4", "D7", "H7", "C7"]) == 1
    assert trick_winner(MIXED_SEVEN, 3, "S", ["S4", "D7", "S7", "C7"]) == 2


def test_r2_5_ruffs_of_equal_strength() -> None:
    assert trick_winner("dalian", 3, "S", ["HA", "D2", "C2", "HA"]) == 1


# R2.6 ------------------------------------------------------------------------------------------------


def test_r2_6_mixed_trumps_stand_between_2s_and_level_cards() -> None:
    assert names(strength_order(MIXED_SEVEN, 3, "S")) == (
        "H4 C4 D4 < H5 C5 D5 < H6 C6 D6 < H8 C8 D8 < H9 C9 D9 < HT CT DT < HJ CJ DJ < HQ CQ DQ < HK CK DK < HA CA DA < "
        "S4 < S5 < S6 < S8 < S9 < ST < SJ < SQ < SK < SA < "
        "H2 C2 D2 < S2 < H7 C7 D7 < S7 < H3 C3 D3 < S3 < LJ < BJ"
    )


def test_r2_6_widths_depend_on_rules_and_level() -> None:
    """R2.6: 24 trump faces at level 3; where the mixed rank is the level the class is absent."""
    masks = order.layout(7).suit_mask
    assert [int(np.bitwise_count(m)) for m in masks[3]] == [10, 10, 10, 24]
    assert [int(np.bitwise_count(m)) for m in masks[7]] == [11, 11, 11, 21]


def test_r2_6_absent_where_the_mixed_rank_is_the_level() -> None:
    assert strength_order(MIXED_SEVEN, 7, "D") == strength_order("dalian", 7, "D")


def test_r2_6_off_in_all_presets() -> None:
    assert [Rules.preset(name).mixed_trump_rank for name in Rules.presets()] == [None] * 4


def test_r2_6_mixed_trumps_are_permanent_for_the_dry_test() -> None:
    """R2.6: a card of the mixed rank and the trump suit is no ordinary card of that suit."""
    kitty = "H4 H5 H6 C8 C9 S7"
    assert is_dry(MIXED_SEVEN, 3, "S", kitty)
    assert not is_dry("dalian", 3, "S", kitty)


def test_r2_6_mixed_trumps_are_led_as_trumps() -> None:
    """R2.6: an H7 does not follow hearts, and ruffs them."""
    assert trick_winner(MIXED_SEVEN, 3, "S", ["HA", "H7", "HK", "H4"]) == 1
    assert trick_winner("dalian", 3, "S", ["HA", "H7", "HK", "H4"]) == 0
