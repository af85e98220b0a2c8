"""Rules as a value: types, contradictions, files, digests."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from gunzi_env.rules import Rules, RulesError, load_rules

# One other value for each option, on top of dalian where that is possible.
OTHER: dict[str, dict[str, Any]] = {
    "decks": {"decks": 4, "hand_size": 52, "kitty_size": 8},
    "hand_size": {"hand_size": 38, "kitty_size": 10},
    "take": {"take": 100},
    "blood_low": {"blood_low": 70},
    "blood_high": {"blood_high": 160},
    "full_points": {"full_points": 280},
    "first_level": {"first_level": 4, "must_play": (10,)},
    "last_level": {"last_level": 11, "must_play": (3, 11)},
    "must_play": {"must_play": (10,)},
    "first_bid": {"first_bid": "auto"},
    "first_flip": {"first_flip": "low"},
    "jokers_may_open": {"jokers_may_open": True},
    "mixed_trump_rank": {"mixed_trump_rank": 7},
    "tribute_level_points": {"tribute_level_points": False},
    "anti_tribute": {"anti_tribute": True},
    "others_bury": {"others_bury": False},
    "others_bury_block": {"others_bury_block": "any_points"},
    "dry_pot": {"dry_pot": None},
    "dry_pot_first_hand": {"dry_pot_first_hand": False},
    "follow": {"follow": "dead"},
    "sweep_ends_match": {"sweep_ends_match": False},
    "jokers_end_match": {"jokers_end_match": ("big",)},
    "score_blood_when_dug": {"score_blood_when_dug": False},
    "level_at_high": {"level_at_high": True},
    "j_reset": {"j_reset": True, "last_level": 11, "must_play": (3, 11)},
}

CONTRADICTIONS: list[tuple[dict[str, Any], str]] = [
    ({"decks": 2}, "decks"),
    ({"decks": 5}, "decks"),
    ({"decks": 4}, "hand_size"),
    ({"hand_size": 52, "kitty_size": 8}, "hand_size"),  # three decks with the hands of four
    ({"hand_size": 52, "kitty_size": 6}, "hand_size"),
    ({"hand_size": 39, "kitty_size": 8}, "kitty_size"),
    ({"hand_size": 40, "kitty_size": 2}, "kitty_size"),
    ({"hand_size": 0, "kitty_size": 162}, "hand_size"),
    ({"hand_size": -1, "kitty_size": 166}, "hand_size"),
    ({"hand_size": 130, "kitty_size": 10}, "hand_size"),
    ({"take": 125}, "take"),
    ({"take": 0, "blood_low": 0}, "take"),
    ({"take": -10, "blood_low": -10}, "take"),
    ({"take": 310, "blood_high": 310}, "full_points"),
    ({"full_points": 110}, "full_points"),
    ({"full_points": 370}, "full_points"),  # no more than 360 can be reached
    ({"full_points": 295}, "full_points"),
    ({"blood_low": 85}, "blood_low"),
    ({"blood_low": -10}, "blood_low"),
    ({"blood_low": 130}, "blood_low"),
    ({"blood_high": 110}, "blood_high"),
    ({"blood_high": 155}, "blood_high"),
    ({"first_level": 2}, "first_level"),
    ({"first_level": 11}, "first_level"),
    ({"last_level": 15, "must_play": (3, 15)}, "last_level"),
    ({"last_level": 2, "must_play": (2,)}, "last_level"),
    ({"last_level": 11}, "last_level"),  # must be among must_play
    ({"must_play": (3,)}, "must_play"),
    ({"must_play": ()}, "must_play"),
    ({"must_play": (2, 10)}, "must_play names 2"),
    ({"must_play": (3, 10, 11)}, "must_play names 11"),
    ({"j_reset": True}, "j_reset"),
]

WRONG_TYPES: list[tuple[str, Any]] = [
    ("decks", "3"),
    ("decks", 3.0),
    ("decks", True),
    ("decks", None),
    ("take", 120.0),
    ("take", "120"),
    ("first_level", "3"),
    ("jokers_may_open", 1),
    ("jokers_may_open", "no"),
    ("others_bury", None),
    ("first_bid", "ask"),
    ("first_bid", True),
    ("first_flip", "LOW"),
    ("follow", None),
    ("dry_pot", "never"),
    ("dry_pot", False),
    ("others_bury_block", "none of them"),
    ("mixed_trump_rank", 3),
    ("mixed_trump_rank", 14),
    ("mixed_trump_rank", 2),
    ("mixed_trump_rank", "7"),
    ("mixed_trump_rank", True),
    ("must_play", 3),
    ("must_play", [3, 10]),
    ("must_play", (3, "10")),
    ("must_play", (3, True, 10)),
    ("jokers_end_match", "big"),
    ("jokers_end_match", ("big", "medium")),
    ("jokers_end_match", ["big"]),
    ("jokers_end_match", ([],)),
    ("j_reset", 0),
]


def test_every_option_has_another_value() -> None:
    """A negative control of the lists here: no option is forgotten."""
    named = {f.name for f in dataclasses.fields(Rules)} - {"name"}
    assert set(OTHER) | {"kitty_size"} == named


@pytest.mark.parametrize("option", OTHER)
def test_another_value_is_accepted_and_changes_the_digest(option: str) -> None:
    other = dataclasses.replace(Rules(), **OTHER[option])
    assert getattr(other, option) == OTHER[option][option]
    assert other.digest != Rules().digest and other != Rules()
    assert len(other.digest) == 16 and int(other.digest, 16) >= 0


def test_all_digests_differ() -> None:
    values = [Rules.preset(name) for name in Rules.presets()] + [Rules(**changes) for changes in OTHER.values()]
    assert len({rules.digest for rules in values}) == len(set(values))
    assert Rules(follow="dead").digest == Rules.preset("dalian_dead").digest


@pytest.mark.parametrize(("changes", "named"), CONTRADICTIONS)
def test_a_contradiction_is_refused_by_name(changes: dict[str, Any], named: str) -> None:
    with pytest.raises(RulesError, match=named):
        Rules(**changes)


@pytest.mark.parametrize(("option", "value"), WRONG_TYPES)
def test_a_wrong_type_or_value_is_refused_by_name(option: str, value: Any) -> None:
    with pytest.raises(RulesError, match=f"^{option} is "):
        dataclasses.replace(Rules(), **{option: value})


def test_limits_are_accepted() -> None:
    assert Rules(full_points=360).max_score == 360
    assert Rules(blood_low=120, take=120, blood_high=120).take == 120
    assert Rules(mixed_trump_rank=4).mixed_trump_rank == 4 and Rules(mixed_trump_rank=13).mixed_trump_rank == 13
    assert Rules(last_level=14, must_play=(3, 14)).last_level == 14
    assert Rules(first_level=10, must_play=(10,)).first_level == 10
    assert Rules(jokers_end_match=()).jokers_end_match == ()
    assert Rules(decks=4, hand_size=53, kitty_size=4).kitty_size == 4  # R1.2: the smallest kitty


def test_rules_are_frozen() -> None:
    rules = Rules()
    with pytest.raises(dataclasses.FrozenInstanceError):
        rules.take = 130  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        rules.name = "mine"  # type: ignore[misc]
    assert {rules: 1}[Rules()] == 1


def test_lists_are_sets_in_order() -> None:
    assert Rules(must_play=(10, 3, 10)) == Rules()
    assert Rules(jokers_end_match=("small", "big")).digest == Rules().digest


@pytest.mark.parametrize("name", Rules.presets())
def test_names_follow_values(name: str) -> None:
    assert Rules.preset(name).name == name
    assert Rules.from_dict(Rules.preset(name).as_dict()).name == name
    assert dataclasses.replace(Rules.preset(name), level_at_high=True).name == "custom"
    assert Rules(name="classic").name == "dalian"  # values alone decide


def test_an_unknown_preset_is_named() -> None:
    with pytest.raises(RulesError, match="'dalia'") as error:
        Rules.preset("dalia")
    assert "dalian, dalian_dead, classic, four_deck" in str(error.value)


def test_from_dict() -> None:
    assert Rules.from_dict({}) == Rules()
    assert Rules.from_dict({}, "classic") == Rules.preset("classic")
    assert Rules.from_dict({"must_play": [10], "dry_pot": "none"}) == Rules(must_play=(10,), dry_pot=None)
    with pytest.raises(RulesError, match="unknown option 'foo'") as error:
        Rules.from_dict({"take": 120, "foo": 1})
    assert "first_flip" in str(error.value)  # the allowed ones
    with pytest.raises(RulesError, match="unknown option 'name'"):
        Rules.from_dict({"name": "x"})


def write(folder: Path, text: str) -> Path:
    path = folder / "house.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_from_toml(tmp_path: Path) -> None:
    lines = ['preset = "classic"', "take = 100", "must_play = [3, 7, 10]", 'dry_pot = "none"', 'follow = "dead"']
    path = write(tmp_path, "\n".join(lines))
    expected = dataclasses.replace(Rules.preset("classic"), take=100, must_play=(3, 7, 10), dry_pot=None, follow="dead")
    assert Rules.from_toml(path) == Rules.from_toml(str(path)) == expected
    assert expected.name == "custom"


def test_from_toml_begins_with_dalian(tmp_path: Path) -> None:
    assert Rules.from_toml(write(tmp_path, "")) == Rules()
    assert Rules.from_toml(write(tmp_path, 'follow = "dead"')).name == "dalian_dead"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("take = ", "house.toml"),
        ('colour = "red"', "colour"),
        ('preset = "dalia"', "dalia"),
        ("preset = 3", "preset"),
        ('take = "120"', "take"),
        ("take = 125", "take"),
        ("must_play = 10", "must_play"),
        ('must_play = ["3", "10"]', "must_play"),
        ("mixed_trump_rank = 3", "mixed_trump_rank"),
        ("[take]\nvalue = 3", "take"),
    ],
)
def test_a_bad_file_is_refused_by_name(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(RulesError, match=named):
        Rules.from_toml(write(tmp_path, text))


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(RulesError, match=r"nowhere\.toml"):
        Rules.from_toml(tmp_path / "nowhere.toml")
    path = tmp_path / "binary.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RulesError, match=r"binary\.toml"):
        Rules.from_toml(path)
    with pytest.raises(RulesError):
        Rules.from_toml(tmp_path)


def test_load_rules(tmp_path: Path) -> None:
    rules = Rules.preset("classic")
    assert load_rules(rules) is rules
    assert load_rules("classic") == rules
    path = write(tmp_path, 'preset = "classic"')
    assert load_rules(path) == load_rules(str(path)) == rules
    for bad in (None, 3, ["dalian"]):
        with pytest.raises(RulesError, match="preset"):
            load_rules(bad)  # type: ignore[arg-type]


def test_rules_errors_are_value_errors_for_usage() -> None:
    assert issubclass(RulesError, ValueError) and RulesError.exit_code == 2


@pytest.mark.parametrize(
    ("name", "cards", "points", "dealt"), [("dalian", 162, 300, 156), ("four_deck", 216, 400, 208)]
)
def test_numbers_that_follow(name: str, cards: int, points: int, dealt: int) -> None:
    rules = Rules.preset(name)
    assert (rules.num_cards, rules.total_points, rules.num_dealt) == (cards, points, dealt)


def test_a_path_without_its_ending_is_named() -> None:
    for path in ("configs/rules/jack", "..\\rules"):
        with pytest.raises(RulesError, match=r"is no rules file: its name must end in \.toml"):
            load_rules(path)
