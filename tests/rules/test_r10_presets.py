"""R10: the presets, as the table prints them."""

from __future__ import annotations

import dataclasses

import pytest

from gunzi_env.rules import Rules

COLUMNS = ("dalian", "classic", "four_deck")
TABLE = {
    ("decks", "hand_size", "kitty_size"): ((3, 39, 6), (3, 39, 6), (4, 52, 8)),
    ("take", "blood_low", "blood_high", "full_points"): (
        (120, 80, 150, 300),
        (120, 80, 150, 300),
        (160, 120, 200, 400),
    ),
    ("first_bid",): (("show",), ("auto",), ("show",)),
    ("first_flip",): (("high",), ("low",), ("low",)),
    ("jokers_may_open",): ((False,), (True,), (False,)),
    ("follow",): (("live",), ("live",), ("dead",)),
    ("dry_pot",): (("ordinary_trump",), ("permanent_neutral",), ("permanent_neutral",)),
    ("anti_tribute",): ((False,), (False,), (True,)),
    ("score_blood_when_dug",): ((True,), (True,), (False,)),
    ("jokers_end_match",): ((("big", "small"),), (("big", "small"),), (("big",),)),
}
# "Everything else: as written above" in R1 to R9.
REST = {
    "first_level": 3,  # R2.1
    "last_level": 10,  # R2.1
    "must_play": (3, 10),  # R9.2
    "mixed_trump_rank": None,  # R2.6
    "tribute_level_points": True,  # R5.2
    "others_bury": True,  # R6.5
    "others_bury_block": "no_pickable",  # R6.5
    "dry_pot_first_hand": True,  # R6.6
    "sweep_ends_match": True,  # R9.4
    "level_at_high": False,  # R9.7
    "j_reset": False,  # R9.8
}


@pytest.mark.parametrize("column", range(3), ids=COLUMNS)
def test_r10_presets(column: int) -> None:
    rules = Rules.preset(COLUMNS[column])
    for options, values in TABLE.items():
        assert tuple(getattr(rules, option) for option in options) == values[column], options
    for option, value in REST.items():
        assert getattr(rules, option) == value, option


def test_r10_every_option_stands_in_the_table_or_above() -> None:
    named = {option for options in TABLE for option in options} | set(REST)
    assert named == {f.name for f in dataclasses.fields(Rules)} - {"name"}


def test_r10_dalian_dead_is_dalian_with_dead_following() -> None:
    assert Rules.preset("dalian_dead") == dataclasses.replace(Rules.preset("dalian"), follow="dead")


def test_r10_dalian_is_the_default() -> None:
    assert Rules() == Rules.preset("dalian")
    assert Rules.presets() == ("dalian", "dalian_dead", "classic", "four_deck")
