"""Faces: numbering, names, points and text (R1.3, R1.4)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gunzi_env import cards


def test_numbering() -> None:
    """suit * 13 + rank - 2 with suits S H C D; 52 the small, 53 the big joker."""
    named = {"S2": 0, "SA": 12, "H2": 13, "HT": 21, "CJ": 35, "D2": 39, "DA": 51, "LJ": 52, "BJ": 53}
    assert {name: cards.parse_face(name) for name in named} == named
    assert len(set(cards.FACE_NAMES)) == 54


@pytest.mark.parametrize("face", range(54))
def test_name_suit_and_rank(face: int) -> None:
    name = cards.FACE_NAMES[face]
    assert cards.parse_face(name) == face == cards.parse_face(name.lower())
    if face < 52:
        assert name == "SHCD"[cards.suit_of(face)] + cards.rank_name(cards.rank_of(face))
        assert cards.face(cards.suit_of(face), cards.rank_of(face)) == face
    else:
        assert (cards.suit_of(face), cards.rank_of(face)) == (-1, 0)


@given(st.lists(st.integers(0, 53)))
def test_text_round_trip(faces: list[int]) -> None:
    assert cards.parse_cards(cards.format_cards(faces)) == faces


@pytest.mark.parametrize("token", ["", "S", "S1", "SJJ", "X4", "SX", "4S", "10", "S10", "JB", "S4,"])
def test_a_bad_card_is_named(token: str) -> None:
    with pytest.raises(ValueError, match="unknown card") as error:
        cards.parse_face(token)
    assert repr(token) in str(error.value)


def test_a_bad_card_among_good_ones_is_named() -> None:
    with pytest.raises(ValueError, match="'H1'"):
        cards.parse_cards("S4 H1 D5")


def test_sj_is_the_jack_of_spades() -> None:
    """The small joker is LJ."""
    assert cards.parse_face("SJ") == cards.face(0, 11)


def test_a_hand_has_at_most_a_copy_a_deck() -> None:
    assert cards.parse_hand("HA HA HA", 3) == [25, 25, 25]
    assert cards.parse_hand("", 3) == []
    with pytest.raises(ValueError, match="4 copies of HA: there are 3"):
        cards.parse_hand("HA S4 HA HA HA", 3)
    assert len(cards.parse_hand("HA HA HA HA", 4)) == 4


def test_points() -> None:
    assert int(cards.FACE_POINTS.sum()) == cards.POINTS_PER_DECK == 100
    points = [int(cards.FACE_POINTS[face]) for face in cards.parse_cards("D5 HT SK SA S2 BJ")]
    assert points == [5, 10, 10, 0, 0, 0]


@pytest.mark.parametrize(("letter", "suit"), [("S", 0), ("h", 1), ("C", 2), ("d", 3)])
def test_suits(letter: str, suit: int) -> None:
    assert cards.parse_suit(letter) == suit


@pytest.mark.parametrize("text", ["", "X", "SH", "T", "3", " S"])
def test_a_bad_suit_is_named(text: str) -> None:
    with pytest.raises(ValueError, match="unknown suit") as error:
        cards.parse_suit(text)
    assert repr(text) in str(error.value)


@pytest.mark.parametrize(
    ("value", "rank"),
    [
        *[(2, 2), (10, 10), (14, 14), ("2", 2), ("9", 9), ("T", 10), ("10", 10)],
        *[("j", 11), ("Q", 12), ("K", 13), (" A ", 14)],
    ],
)
def test_ranks(value: int | str, rank: int) -> None:
    assert cards.parse_rank(value) == rank


@pytest.mark.parametrize("rank", range(2, 15))
def test_rank_names_are_read_back(rank: int) -> None:
    assert cards.parse_rank(cards.rank_name(rank)) == rank


@pytest.mark.parametrize("value", [0, 1, 15, -3, True, "", "1", "11", "23", "X", "TT", 3.0])
def test_a_bad_rank_is_named(value: object) -> None:
    with pytest.raises(ValueError, match="unknown rank") as error:
        cards.parse_rank(value)  # type: ignore[arg-type]
    assert repr(value) in str(error.value)


def test_cards_are_text() -> None:
    with pytest.raises(ValueError, match=r"cards are \[1, 2\]: write text"):
        cards.parse_cards([1, 2])  # type: ignore[arg-type]
