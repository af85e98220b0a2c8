"""R1: players, seats, cards."""

from __future__ import annotations

from collections import Counter

import pytest

from gunzi_env import cards
from gunzi_env.chapters.deal import deck_of_draw
from gunzi_env.rules import Rules, RulesError
from gunzi_env.tables import Tables
from tests.rules.game import dealt, placed


def test_r1_1_play_goes_round_by_rising_seats() -> None:
    """R1.1: 0 -> 1 -> 2 -> 3 -> 0."""
    game = placed(hands=["H9 H4", "H8 H5", "H7 H6", "HJ HQ"], leader=2)
    game.play("2 H7", "3 HQ", "0 H9", "1 H8")
    assert (game.phase, game.seat) == ("lead", 3)  # R7.7: the winner leads


@pytest.mark.parametrize(
    ("trick", "winner", "score"),
    [("H4 H5 HT H6", 2, 0), ("H4 HT H9 H6", 1, 10), ("HT H4 H9 HJ", 3, 10), ("HT H4 H9 H6", 0, 0)],
)
def test_r1_1_teams_are_0_2_and_1_3(trick: str, winner: int, score: int) -> None:
    """R1.1: with seat 0 dealing, a trick of 10 points counts for the attackers when 1 or 3 takes it."""
    hands = [f"{card} {other}" for card, other in zip(trick.split(), ["C4", "C6", "C7", "C8"])]
    game = placed(hands=hands, leader=0).play(f"0 {trick[:2]}")
    assert (game.seat, game.score) == (winner, score)


@pytest.mark.parametrize(
    ("preset", "decks", "hand", "kitty", "all_cards"), [("dalian", 3, 39, 6, 162), ("four_deck", 4, 52, 8, 216)]
)
def test_r1_2_sizes(preset: str, decks: int, hand: int, kitty: int, all_cards: int) -> None:
    """R1.2: three decks 39 and 6, four decks 52 and 8."""
    rules = Rules.preset(preset)
    assert (rules.decks, rules.hand_size, rules.kitty_size, rules.num_cards) == (decks, hand, kitty, all_cards)
    game = dealt(preset, dealer=0).decline()
    assert [len(game.hand(s).split()) for s in range(4)] == [hand + kitty, hand, hand, hand]


def test_r1_2_sizes_must_add_up() -> None:
    """R1.2: hand_size * 4 + kitty_size is all cards, and the kitty has at least 4."""
    assert Rules(hand_size=38, kitty_size=10).num_cards == 162
    with pytest.raises(RulesError, match="hand_size"):
        Rules(hand_size=38, kitty_size=6)
    with pytest.raises(RulesError, match="kitty"):
        Rules(hand_size=40, kitty_size=2)
    with pytest.raises(RulesError, match="kitty"):
        Rules(decks=4, hand_size=54, kitty_size=0)
    with pytest.raises(RulesError, match="hand_size"):
        Rules(decks=4)  # the sizes of three decks


@pytest.mark.parametrize(("decks", "hand", "kitty"), [(3, 38, 10), (3, 36, 18), (4, 53, 4), (4, 51, 12)])
def test_r1_2_other_sizes_are_dealt_and_buried(decks: int, hand: int, kitty: int) -> None:
    """R1.2: any split that adds up, down to a kitty of 4; the dealer buries as many as he took."""
    game = dealt(Rules(decks=decks, hand_size=hand, kitty_size=kitty), dealer=0).decline()
    assert (game.phase, int(game.t.need[0])) == ("bury", kitty)
    assert [len(game.hand(seat).split()) for seat in range(4)] == [hand + kitty, hand, hand, hand]
    game.hurry("lead")
    assert [len(game.hand(seat).split()) for seat in range(4)] == [hand] * 4
    assert len(game.kitty.split()) == kitty


@pytest.mark.parametrize("preset", ["dalian", "four_deck"])
def test_r1_3_54_faces_in_as_many_copies_as_decks(preset: str) -> None:
    """R1.3: four suits of 13 ranks, a small and a big joker, each ``decks`` times."""
    rules = Rules.preset(preset)
    names = cards.FACE_NAMES
    assert " ".join(names[:13]) == "S2 S3 S4 S5 S6 S7 S8 S9 ST SJ SQ SK SA"
    assert len(names) == 54 and names[52:] == ("LJ", "BJ")
    assert Counter(name[0] for name in names[:52]) == {"S": 13, "H": 13, "C": 13, "D": 13}
    t = Tables(rules, 1)
    t.draw[:] = dealt(preset).t.draw
    assert Counter(deck_of_draw(t.draw[0])) == dict.fromkeys(range(54), rules.decks)


def test_r1_4_point_cards() -> None:
    """R1.4: a five is worth 5, tens and kings 10, all else nothing; 100 a deck."""
    worth = {name: int(points) for name, points in zip(cards.FACE_NAMES, cards.FACE_POINTS) if points}
    assert worth == {
        "S5": 5, "H5": 5, "C5": 5, "D5": 5,
        "ST": 10, "HT": 10, "CT": 10, "DT": 10,
        "SK": 10, "HK": 10, "CK": 10, "DK": 10,
    }  # fmt: skip
    assert Rules.preset("dalian").total_points == 300
    assert Rules.preset("four_deck").total_points == 400
