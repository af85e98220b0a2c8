"""The oracle against the examples of RULES.md, against its own brute force: single questions (R2, R7, R9)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.oracle_hands import faces_in_order, rules_of, words
from tests.support.oracle_rules import (
    faces,
    is_dry,
    legal_plays,
    order_of,
    settle,
    strength_order,
    trick_winner,
)

# ---- R9

SETTLED = """
40 no 0 0 no partner D1 4 -
75 no 0 0 no partner D1 1 -
80 no 0 0 no partner D1 0 -
5 no 0 0 no partner D1 8 -
0 no 0 0 no - D1 - D
115 no 1 1 no partner D4 3 -
115 no 1 1 yes partner D1 0 -
115 yes 1 0 no partner 0 0 -
60 yes 1 0 no partner 0 2 -
120 no 0 0 no next 0 0 -
120 no 0 2 no next 0 2 -
120 yes 0 0 no next A1 0 -
120 yes 1 1 no next A4 3 -
155 yes 0 0 no next A1 0 -
160 yes 0 0 no next A1 1 -
200 no 1 0 no next 0 7 -
200 yes 2 0 yes next A1 5 -
300 yes 0 0 no - A1 - A
100 no 3 0 no - D7 - D
100 yes 3 0 no partner 0 0 -
130 no 3 0 no next 0 6 -
130 yes 0 3 no - A4 - A
100 no 3 0 yes partner D1 0 -
"""


@pytest.mark.parametrize("dealer", range(4))
@pytest.mark.parametrize("row", SETTLED.strip().splitlines())
def test_settled_cases(row: str, dealer: int) -> None:
    score, dug, big, small, dry, deals, levels, blood, match = row.split()
    got = settle(rules_of(), int(score), dug == "yes", int(big), int(small), dry == "yes", (4, 4), dealer)
    teams = {"D": dealer % 2, "A": 1 - dealer % 2}
    gain = [0, 0]
    if levels != "0":
        gain[teams[levels[0]]] = int(levels[1:])
    assert got["gain"] == tuple(gain)
    assert got["match_winner"] == teams.get(match)
    assert got["next_dealer"] == {"partner": (dealer + 2) % 4, "next": (dealer + 1) % 4, "-": None}[deals]
    assert got["blood"] == (None if blood == "-" else int(blood))
    assert got["winner"] == ("dealers" if int(score) < 120 else "attackers")
    if match == "-":
        assert got["levels"] == (min(4 + gain[0], 10), min(4 + gain[1], 10))


@pytest.mark.parametrize(
    ("case", "levels", "winner"),  # (score, dug, big, small), dealer 0
    [
        ((100, False, 0, 0), (4, 3), None),  # R9.2: won at home on a must-play level
        ((130, True, 1, 0), (3, 3), None),  # attackers earn levels on 3 and stay
    ],
)
def test_must_play_level_3(case: tuple[int, bool, int, int], levels: tuple[int, int], winner: int | None) -> None:
    got = settle(rules_of(), *case, dry=False, levels=(3, 3), dealer=0)
    assert (got["levels"], got["match_winner"]) == (levels, winner)


def test_levels_stop_and_matches_end() -> None:
    r = rules_of()
    assert settle(r, 100, False, 1, 1, False, (8, 4), 0)["levels"] == (10, 4)  # R9.2: the rise stops at 10
    assert settle(r, 130, True, 0, 0, False, (3, 10), 0)["match_winner"] is None  # attackers on 10 only take the deal
    assert settle(r, 130, True, 0, 0, False, (3, 10), 0)["next_dealer"] == 1
    assert settle(r, 100, True, 0, 0, False, (10, 4), 2)["match_winner"] is None  # dug at home: stays on 10
    assert settle(r, 115, False, 0, 0, False, (10, 4), 2)["match_winner"] == 0  # R9.3
    assert settle(r, 0, True, 0, 0, False, (4, 4), 1)["match_winner"] == 1  # R9.4 whatever was dug
    assert settle(r, 300, False, 0, 0, False, (4, 4), 1)["match_winner"] == 0
    off = rules_of(sweep_ends_match=False, jokers_end_match=())
    assert settle(off, 0, False, 0, 0, False, (4, 4), 1)["blood"] == 8
    assert settle(off, 100, False, 3, 0, False, (3, 3), 1)["levels"] == (3, 10)


def test_options_of_settlement() -> None:
    four = rules_of("four_deck")
    assert settle(four, 60, True, 1, 0, False, (4, 4), 0)["blood"] == 0  # R9.6: no score blood when dug
    assert settle(four, 60, False, 0, 0, False, (4, 4), 0)["blood"] == 6
    assert settle(four, 100, False, 0, 4, False, (4, 4), 0)["match_winner"] is None  # R9.5: K: big only
    assert settle(four, 100, False, 4, 0, False, (4, 4), 0)["match_winner"] == 0
    high = rules_of(level_at_high=True)
    assert settle(high, 150, False, 1, 0, False, (4, 4), 0)["gain"] == (0, 3)  # R9.7
    assert settle(high, 145, False, 1, 0, False, (4, 4), 0)["gain"] == (0, 0)
    house = rules_of("house")
    assert settle(house, 130, True, 0, 0, False, (11, 4), 0)["levels"] == (3, 5)  # R9.8
    assert settle(house, 60, True, 0, 0, False, (11, 4), 0)["levels"] == (3, 4)
    assert settle(house, 130, False, 0, 0, False, (11, 4), 0)["levels"] == (11, 4)


# ---- R2, R6.6, R7


def test_strength_order() -> None:
    groups = [words(group) for group in strength_order(rules_of(), 5, 3)]
    assert groups[0] == "S3 H3 C3" and groups[2] == "S6 H6 C6"  # no 5 among the plain cards
    assert groups[-7:] == ["DA", "S2 H2 C2", "D2", "S5 H5 C5", "D5", "LJ", "BJ"]
    mixed = rules_of(mixed_trump_rank=10)
    assert [words(g) for g in strength_order(mixed, 5, 3)][-7:-2] == ["D2", "ST HT CT", "DT", "S5 H5 C5", "D5"]
    assert strength_order(mixed, 10, 3) == strength_order(rules_of(), 10, 3)  # R2.6: absent on its own level
    slot = order_of(rules_of(), 3, 1).slot
    in_order = faces_in_order("S4 SA C4 D4 DA H4 HA S2 C2 D2 H2 S3 D3 H3 LJ BJ")
    assert [slot[card] for card in in_order] == [
        0, 10, 11, 22, 32, 33, 43, 44, 45, 46, 47, 48, 50, 51, 52, 53,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("plays", "winner"),
    [
        ("HK, HA, HA, H4", 1),  # R2.5: the first of equals
        ("H4, C3, D3, H4", 1),  # off-suit level cards are equal
        ("C2, D2, S2, D2", 2),  # off-suit 2s are equal, the trump 2 beats them
        ("HA, DA, S4, S5", 3),  # another side suit cannot win; ruffs compare
        ("H9 H9, SK SA, H4 H4, BJ LJ", 0),  # mixed cards never beat a pair
        ("H9 H9, S4 S4, HA HA, C3 D3", 1),  # two off-suit level cards of different suits are no pair
        ("H9 H9 H9, BJ BJ LJ, S4 S4 S4, HA HA HA", 2),
        ("S9 S9, SK SK, HA HA, S2 S2", 3),
        ("LJ LJ, BJ BJ, S3 S3, S4 S4", 1),
    ],
)
def test_who_wins(plays: str, winner: int) -> None:
    assert trick_winner(rules_of(), 3, 0, [faces(play) for play in plays.split(",")]) == winner


def plays_in_text(rules: Any, hand: str, lead: str) -> set[str]:
    return {words(list(play)) for play in legal_plays(rules, 3, 0, faces(hand), faces(lead))}


@pytest.mark.parametrize(
    ("hand", "lead", "expected"),  # trump S, level 3; of the dead rules, clause by clause
    [
        ("H7 H7 H9 H9 H9 HT", "HK HK", "H7 H7, H9 H9"),  # an exact pair binds, a pair off a triple will do
        ("H9 H9 H9 HT", "HK HK", "H9 H9, H9 HT"),  # a triple need not be broken
        ("H7 H9 CA CA", "HK HK", "H7 H9"),
        ("H7 CA CA", "HK HK", "H7 CA"),  # fewer than n: all of them and any others
        ("C4 DA S4", "HK HK", "C4 DA, S4 C4, S4 DA"),  # none: any cards (in face order)
        ("H7 H7 H7 H8 H8 H9", "HK HK HK", "H7 H7 H7"),
        ("H7 H7 H8 H9", "HK HK HK", "H7 H7 H8, H7 H7 H9"),
        ("H6 H7 H8 H9", "HK HK HK", "H6 H7 H8, H6 H7 H9, H6 H8 H9, H7 H8 H9"),
        ("H7 H7 H7 H7 H8", "HK HK HK", "H7 H7 H7, H7 H7 H8"),  # only a quad: free
        ("H6 H6 H7 H7 H7 H7", "HK HK HK", "H7 H7 H7, H6 H6 H7, H6 H7 H7"),  # three of a quad satisfies a pair
        ("H6 H6 H6 H7 H7 H7 H7", "HK HK HK", "H6 H6 H6, H7 H7 H7"),
        ("H6 H6 H6 H7 H7 H7 H7", "HK HK HK HK", "H7 H7 H7 H7"),
        ("H6 H6 H6 H7 H7 H8", "HK HK HK HK", "H6 H6 H6 H7, H6 H6 H6 H8"),
        ("H6 H6 H7 H7 H8", "HK HK HK HK", "H6 H6 H7 H7"),
        ("H6 H6 H7 H8 H9", "HK HK HK HK", "H6 H6 H7 H8, H6 H6 H7 H9, H6 H6 H8 H9"),
        ("H5 H6 H7 H8 H9", "HK HK HK HK", "H5 H6 H7 H8, H5 H6 H7 H9, H5 H6 H8 H9, H5 H7 H8 H9, H6 H7 H8 H9"),
        ("C3 D3 S2 S2 HA", "BJ BJ", "S2 S2"),  # jokers, 2s and level cards follow trump; C3 D3 are no pair
        ("C3 D3 S2 HA", "BJ BJ", "C3 D3, S2 C3, S2 D3"),
    ],
)
def test_dead_following(hand: str, lead: str, expected: str) -> None:
    assert plays_in_text(rules_of("four_deck"), hand, lead) == set(expected.split(", "))


def test_live_following_and_leads() -> None:
    assert plays_in_text(rules_of(), "H7 H7 H9 CA", "HK HK") == {"H7 H7", "H7 H9"}
    leads = legal_plays(rules_of(), 3, 0, faces("H7 H7 C3 D3 BJ BJ BJ"), None)
    assert {words(list(play)) for play in leads} == {"H7", "H7 H7", "C3", "D3", "BJ", "BJ BJ", "BJ BJ BJ"}


@pytest.mark.parametrize(
    ("kitty", "ordinary", "permanent"),  # level 3, trump S
    [
        ("H4 H5 C6 D7 DA CK", True, True),  # side cards only
        ("S4 S5 S6 SK H3 BJ", True, True),  # trumps only
        ("S4 H5 C6 D7 DA CK", False, False),
        ("S3 H5 C6 D7 DA CK", True, False),  # a level card is no ordinary trump, nor permanent
        ("H3 H5 C6 D7 DA CK", True, False),
        ("S2 BJ C6 D7 DA CK", True, True),  # jokers and 2s are neutral
        ("S2 S4 C6 D7 DA CK", False, False),
    ],
)
def test_dry(kitty: str, ordinary: bool, permanent: bool) -> None:
    assert is_dry(rules_of(), 3, 0, faces(kitty)) is ordinary
    assert is_dry(rules_of("classic"), 3, 0, faces(kitty)) is permanent
    assert not is_dry(rules_of(dry_pot=None), 3, 0, faces(kitty))


def test_dry_with_a_mixed_rank() -> None:
    kitty = faces("S9 H5 C6 D7 DA CK")
    for preset in ("dalian", "classic"):
        assert not is_dry(rules_of(preset), 3, 0, kitty)
        assert is_dry(rules_of(preset, mixed_trump_rank=9), 3, 0, kitty)  # R2.6: a permanent trump
    assert not is_dry(rules_of("classic", mixed_trump_rank=9), 9, 0, kitty)  # a level card
