"""R3: shapes."""

from __future__ import annotations

import pytest

from gunzi_env.rulebook import legal_plays
from gunzi_env.rules import Rules


def leads(hand: str, rules: str = "dalian") -> list[str]:
    return legal_plays(rules, 3, "S", hand)


def test_r3_1_single() -> None:
    assert leads("H9 D4") == ["D4", "H9"]


def test_r3_1_pair_is_two_identical_cards() -> None:
    assert leads("H9 H9") == ["H9", "H9 H9"]


def test_r3_1_two_cards_of_one_rank_are_no_pair() -> None:
    assert leads("H9 D9") == ["D9", "H9"]


def test_r3_1_triple_is_three_identical_cards() -> None:
    assert leads("H9 H9 H9") == ["H9", "H9 H9", "H9 H9 H9"]


def test_r3_1_quad_with_four_decks() -> None:
    assert leads("H9 H9 H9 H9", "four_deck") == ["H9", "H9 H9", "H9 H9 H9", "H9 H9 H9 H9"]


def test_r3_1_no_quad_with_three_decks() -> None:
    """R3.1, R1.3: there is no fourth copy to play."""
    with pytest.raises(ValueError, match="4 copies of H9"):
        leads("H9 H9 H9 H9")


def test_r3_1_two_big_jokers_are_a_pair() -> None:
    assert leads("BJ BJ") == ["BJ", "BJ BJ"]


def test_r3_1_big_and_small_joker_are_no_pair() -> None:
    assert leads("BJ LJ") == ["BJ", "LJ"]


def test_r3_1_off_suit_level_cards_of_different_suits_are_no_pair() -> None:
    """R3.1: equal in strength (R2.5), not identical."""
    assert leads("H3 D3") == ["D3", "H3"]
    assert leads("H3 H3") == ["H3", "H3 H3"]


@pytest.mark.parametrize("rules", Rules.presets())
def test_r3_2_no_straights_no_runs_no_throws(rules: str) -> None:
    """R3.2: runs of singles, pairs or triples, and several high cards at once, are no lead."""
    assert leads("H4 H5 H6", rules) == ["H4", "H5", "H6"]
    assert leads("H4 H4 H5 H5", rules) == ["H4", "H4 H4", "H5", "H5 H5"]
    assert leads("H4 H4 H4 H5 H5 H5", rules) == ["H4", "H4 H4", "H4 H4 H4", "H5", "H5 H5", "H5 H5 H5"]
    assert leads("HA HK DA", rules) == ["DA", "HA", "HK"]
