"""R7: play. Unless said otherwise spades are trumps at level 3, and the hands follow a heart lead."""

from __future__ import annotations

import pytest

from gunzi_env.rulebook import legal_plays, trick_winner
from gunzi_env.rules import Rules
from tests.rules.game import placed


def plays(hand: str, lead: str, rules: str = "dalian") -> list[str]:
    return legal_plays(rules, 3, "S", hand, lead)


def winner(*tricks: str, rules: str = "dalian") -> int:
    return trick_winner(rules, 3, "S", tricks)


# R7.1, R7.2 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dealer", range(4))
def test_r7_1_the_dealer_leads_the_first_trick(dealer: int) -> None:
    """R7.1: after the burial (the two others with jokers decline)."""
    hands = ["H4 H6", "LJ D4", "C6 C7", "BJ D6"]
    game = placed(hands=hands, phase="bury", dealer=dealer, kitty_cards="H8 H9 S4 CQ").hurry("lead")
    assert (game.phase, game.seat) == ("lead", dealer)


def test_r7_1_the_winner_of_a_trick_leads_the_next() -> None:
    game = placed(hands=["H4 C4 D4", "H6 C6 D6", "HA C7 D7", "H8 C8 D8"], leader=0)
    assert game.play("0 H4").seat == 2
    assert game.play("2 C7").seat == 3


@pytest.mark.parametrize("rules", Rules.presets())
def test_r7_2_one_shape_of_any_kind(rules: str) -> None:
    """R7.2, R3.1: side cards and trumps, singles, pairs and triples, broken up as he likes."""
    leads = legal_plays(rules, 3, "S", "H9 H9 H9 S4 S4 H3 BJ")
    assert leads == ["BJ", "H3", "H9", "H9 H9", "H9 H9 H9", "S4", "S4 S4"]


# R7.3 ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", Rules.presets())
@pytest.mark.parametrize(
    ("lead", "hand", "expected"),
    [
        ("HK", "H9 HT D4 S4", ["H9", "HT"]),  # at least n: n of them
        ("HK HK", "H9 HT HJ D4", ["H9 HJ", "H9 HT", "HT HJ"]),
        ("HK HK", "H9 HT D4 D4", ["H9 HT"]),  # exactly n
        ("HK HK", "H9 D4 S4", ["H9 D4", "S4 H9"]),  # fewer: all of them, and any others
        ("HK HK HK", "H9 H9 D4 S4", ["H9 H9 D4", "S4 H9 H9"]),
        ("HK HK", "D4 D4 S4", ["D4 D4", "S4 D4"]),  # none: any n cards
        ("HK", "D4 S4 BJ", ["BJ", "D4", "S4"]),
        ("HK", "HA H4", ["H4", "HA"]),  # nobody has to beat
        ("HK HK", "S9 S9 D4 D6", ["D4 D6", "S9 D4", "S9 D6", "S9 S9"]),  # or to ruff
        ("HK", "H3 H2 D4", ["D4", "H2", "H3"]),  # level card and 2 of hearts are trumps, not hearts
        ("S4", "H3 H2 H9", ["H2", "H3"]),  # and follow a trump lead
        ("S4 S4", "BJ H3 HA HK", ["H3 BJ"]),
    ],
)
def test_r7_3_suit_duty(rules: str, lead: str, hand: str, expected: list[str]) -> None:
    assert plays(hand, lead, rules) == expected


def test_r7_3_a_play_without_a_choice_is_made_at_once() -> None:
    """R7.3: 1 has one heart of two cards led, and is asked for the other card; 2 has two; 3 has none."""
    hands = ["HK HK C4", "H9 D4 D6", "HT HQ C6", "D7 D8 C9"]
    game = placed(hands=hands, leader=0).play("0 HK HK")
    assert (game.seat, game.pending, game.legal) == (1, "H9", ["D4", "D6"])
    game.play("1 D6")
    assert game.seat == 3 and game.played(2) == "HT HQ"
    assert len(game.legal) == 2  # the highest of two cards is named first: not the lowest


# R7.4, R7.5 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lead", "hand", "expected"),
    [
        ("HK HK", "H9 H9 HT", ["H9 H9", "H9 HT"]),
        ("HK HK HK", "H9 H9 H9 HT", ["H9 H9 H9", "H9 H9 HT"]),
        ("HK HK HK", "H9 H9 HT HJ HQ", None),
    ],
)
def test_r7_4_live_following_shape_does_not_bind(lead: str, hand: str, expected: list[str] | None) -> None:
    found = plays(hand, lead)
    if expected is None:
        expected = ["H9 H9 HJ", "H9 H9 HQ", "H9 H9 HT", "H9 HJ HQ", "H9 HT HJ", "H9 HT HQ", "HT HJ HQ"]
    assert found == expected


BOTH = ["dalian_dead", "four_deck"]


@pytest.mark.parametrize("rules", BOTH)
@pytest.mark.parametrize(
    ("hand", "expected"),
    [
        ("H9 H9 HT HJ", ["H9 H9"]),  # an exact pair must be played
        ("H9 H9 HT HT HJ", ["H9 H9", "HT HT"]),
        ("H9 H9 H9 HT HT", ["H9 H9", "HT HT"]),  # a pair broken from a triple satisfies it too
        ("H9 H9 H9 HT HJ", ["H9 H9", "H9 HJ", "H9 HT", "HT HJ"]),  # a triple need not be broken
        ("H9 HT HJ", ["H9 HJ", "H9 HT", "HT HJ"]),
        ("H9 D4 D4", ["H9 D4"]),  # fewer than n of the suit: no demand
        ("D4 D4 S4 S6", ["D4 D4", "S4 D4", "S4 S6", "S6 D4"]),  # none of the suit: no demand
    ],
)
def test_r7_5_pair_led(rules: str, hand: str, expected: list[str]) -> None:
    assert plays(hand, "HK HK", rules) == expected


def test_r7_5_pair_led_a_quad_need_not_be_broken() -> None:
    """R7.5 with four decks; but where an exact pair binds, a pair off the quad serves."""
    assert plays("H9 H9 H9 H9 HT", "HK HK", "four_deck") == ["H9 H9", "H9 HT"]
    assert plays("H9 H9 H9 H9 HT HT", "HK HK", "four_deck") == ["H9 H9", "HT HT"]


def test_r7_5_pair_led_a_quad_and_a_triple_do_not_bind() -> None:
    """R7.5: neither is an exact pair: he is free within the suit."""
    free = ["H9 H9", "H9 HJ", "H9 HT", "HT HJ", "HT HT"]
    assert plays("H9 H9 H9 H9 HT HT HT HJ", "HK HK", "four_deck") == free


@pytest.mark.parametrize("rules", BOTH)
def test_r7_5_pair_of_trumps_led(rules: str) -> None:
    """R7.5: equal level cards of two suits are no pair; the pair of 2s binds."""
    assert plays("H3 D3 S9", "S4 S4", rules) == ["H3 D3", "S9 D3", "S9 H3"]
    assert plays("H3 D3 D2 D2 S9", "S4 S4", rules) == ["D2 D2"]


@pytest.mark.parametrize("rules", BOTH)
@pytest.mark.parametrize(
    ("hand", "expected"),
    [
        ("H9 H9 H9 HT HJ", ["H9 H9 H9"]),  # an exact triple must be played
        ("H9 H9 H9 HT HT HT HJ", ["H9 H9 H9", "HT HT HT"]),
        ("H9 H9 HT HJ", ["H9 H9 HJ", "H9 H9 HT"]),  # without one, a pair and a single
        ("H9 H9 HT HT", ["H9 H9 HT", "H9 HT HT"]),
        ("H9 HT HJ HQ", ["H9 HJ HQ", "H9 HT HJ", "H9 HT HQ", "HT HJ HQ"]),  # with neither he is free
        ("H9 H9 D4 D4", ["H9 H9 D4"]),  # fewer than n of the suit
    ],
)
def test_r7_5_triple_led(rules: str, hand: str, expected: list[str]) -> None:
    assert plays(hand, "HK HK HK", rules) == expected


@pytest.mark.parametrize(
    ("hand", "expected"),
    [
        # Only a quad in the suit: free within the suit.
        ("H9 H9 H9 H9 HT HJ", ["H9 H9 H9", "H9 H9 HJ", "H9 H9 HT", "H9 HT HJ"]),
        # An exact triple binds, and one off the quad serves.
        ("H9 H9 H9 H9 HT HT HT HJ", ["H9 H9 H9", "HT HT HT"]),
        # An exact pair binds: at least two of a kind; three of the quad satisfies it too.
        ("H9 H9 H9 H9 HT HT HJ", ["H9 H9 H9", "H9 H9 HJ", "H9 H9 HT", "H9 HT HT", "HT HT HJ"]),
    ],
)
def test_r7_5_triple_led_four_decks(hand: str, expected: list[str]) -> None:
    assert plays(hand, "HK HK HK", "four_deck") == expected


@pytest.mark.parametrize(
    ("hand", "expected"),
    [
        ("H9 H9 H9 H9 HT HT HT HJ", ["H9 H9 H9 H9"]),  # a quad
        ("H9 H9 H9 HT HT HJ", ["H9 H9 H9 HJ", "H9 H9 H9 HT"]),  # else triple and single
        ("H9 H9 H9 HT HT HT", ["H9 H9 H9 HT", "H9 HT HT HT"]),
        ("H9 H9 H9 HT HT HJ HJ", ["H9 H9 H9 HJ", "H9 H9 H9 HT"]),  # two pairs will not do for it
        ("H8 H8 H8 H8 H9 H9 H9 H9 HT", ["H8 H8 H8 H8", "H9 H9 H9 H9"]),  # either of two quads
        ("H9 H9 HT HT HJ", ["H9 H9 HT HT"]),  # else pair and pair
        ("H9 H9 HT HT HJ HJ", ["H9 H9 HJ HJ", "H9 H9 HT HT", "HT HT HJ HJ"]),
        ("H9 H9 HT HJ HQ", ["H9 H9 HJ HQ", "H9 H9 HT HJ", "H9 H9 HT HQ"]),  # else pair and two singles
        ("H8 H9 HT HJ HQ", ["H8 H9 HJ HQ", "H8 H9 HT HJ", "H8 H9 HT HQ", "H8 HT HJ HQ", "H9 HT HJ HQ"]),
        ("H9 H9 H9 D4 D4", ["H9 H9 H9 D4"]),  # fewer than n of the suit
    ],
)
def test_r7_5_quad_led(hand: str, expected: list[str]) -> None:
    assert plays(hand, "HK HK HK HK", "four_deck") == expected


@pytest.mark.parametrize(
    ("hand", "expected"),
    [
        ("H3 H3 H3 H3 D3 S9 HA", ["H3 H3 H3 H3"]),  # a quad of an off-suit level card
        ("H3 H3 H3 D3 S9 BJ HA", ["H3 H3 H3 BJ", "H3 H3 H3 D3", "S9 H3 H3 H3"]),
        ("H3 H3 D3 D3 S9 C2 HA", ["H3 H3 D3 D3"]),  # equal in strength, and yet two pairs
        ("H3 C3 D3 S3 BJ HA", ["S3 H3 C3 BJ", "S3 H3 C3 D3", "S3 H3 D3 BJ", "S3 C3 D3 BJ", "H3 C3 D3 BJ"]),
        ("BJ BJ LJ LJ S9 HA", ["LJ LJ BJ BJ"]),
        ("H3 H3 D3 HA HK", ["H3 H3 HA D3", "H3 H3 HK D3"]),  # fewer than n trumps
    ],
)
def test_r7_5_quad_of_trumps_led(hand: str, expected: list[str]) -> None:
    """R7.5: the same ladder among the trumps, whatever their suits."""
    assert plays(hand, "S4 S4 S4 S4", "four_deck") == sorted(expected)


def test_r7_5_singles_do_not_bind() -> None:
    assert plays("H9 H9 HT", "HK", "dalian_dead") == ["H9", "HT"]


# R7.6 ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("trick", "expected"),
    [
        (["H9", "HT", "HJ", "H4"], 2),  # the led suit, by strength
        (["H9", "DA", "CA", "HT"], 3),  # other side suits cannot win
        (["HA", "S4", "HK", "H4"], 1),  # a ruff: any trump beats a side card
        (["HA", "S4", "S6", "S4"], 2),  # ruffs among themselves, by strength
        (["HA", "H3", "S3", "BJ"], 3),
        (["S9", "HA", "DA", "S4"], 0),  # trumps led: stronger trumps alone beat them
        (["S9", "H2", "HA", "SA"], 1),
        (["HA HA", "S4 S4", "HK HK", "H4 H6"], 1),  # the same shape in trumps
        (["HA HA", "S4 S6", "HK HK", "H4 H6"], 0),  # two trumps that are no pair are no ruff
        (["HA HA", "S4 S4", "D2 D2", "S3 S3"], 3),
        (["H9 H9", "HT HJ", "HQ HK", "DA DA"], 0),  # mixed cards never beat a pair
        (["H9 H9", "BJ LJ", "H3 D3", "HT HT"], 3),
        (["H9 H9 H9", "S4 S4 S6", "S3 S3 BJ", "HA HA HK"], 0),  # pair + single of trump does not beat a triple
        (["H9 H9 H9", "S4 S4 S4", "HA HA HA", "DA DA DA"], 1),
        (["S9 S9 S9", "BJ BJ LJ", "S4 S4 S4", "H2 H2 H2"], 3),
        (["HK", "HA", "HA", "HA"], 1),  # ties: R2.5
        (["HK HK", "HA HA", "HK", "S4 S6"][:2], 1),  # a trick may be judged before it is complete
    ],
)
def test_r7_6_who_wins(trick: list[str], expected: int) -> None:
    assert winner(*trick) == expected


def test_r7_6_quads() -> None:
    """R7.6 with four decks."""
    assert winner("H9 H9 H9 H9", "HA HA HA HA", "HT HT HT HT", "S4 S4 S4 S6", rules="four_deck") == 1
    assert winner("H9 H9 H9 H9", "HA HA HA HA", "S4 S4 S4 S4", "BJ BJ BJ LJ", rules="four_deck") == 2


def test_r7_6_in_the_engine() -> None:
    """R7.6: 1 ruffs, 2 ruffs higher, 3 throws away the ace of diamonds."""
    game = placed(hands=["HK H4", "S4 D4", "S6 D6", "DA D8"], leader=0)
    game.play("0 HK", "1 S4", "2 S6", "3 DA")
    assert (game.phase, game.seat) == ("lead", 2)


# R7.7 ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dealer", "score"), [(0, 0), (1, 25), (2, 0), (3, 25)])
def test_r7_7_the_winners_side_takes_all_points_of_the_trick(dealer: int, score: int) -> None:
    """R7.7: seat 2 wins a king, a ten and a five; they count when it attacks (R8.1)."""
    hands = ["HK C4", "HT C6", "HA C7", "H5 C8"]
    game = placed(hands=hands, dealer=dealer, leader=0).play("0 HK")
    assert (game.seat, game.score) == (2, score)


def test_r7_7_points_thrown_to_the_trick_count_too() -> None:
    """R7.7: a ten of diamonds given to the partner's trick."""
    game = placed(hands=["H9 C4", "HA C6", "H4 C7", "DT C8"], leader=0).play("0 H9", "3 DT")
    assert (game.seat, game.score) == (1, 10)
