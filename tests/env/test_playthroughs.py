"""The playthroughs are what the rules give today, cover every option, and notice a change.

Where a change of the rules is meant, ``python -m tests.support.playthroughs`` writes the files anew.
"""

from __future__ import annotations

import itertools
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest

from gunzi_env.chapters import settlement, tricks
from gunzi_env.rules import Rules
from gunzi_env.tables import Phase, Tables
from tests.support import playthroughs
from tests.support.playthrough_scenarios import SCENARIOS
from tests.support.playthroughs import REGENERATE, Transcript, difference, first_difference, path, play, transcript

BY_NAME = {p.name: p for p in SCENARIOS}
FILES = sorted(playthroughs.FOLDER.glob("*"))

# Options whose values no type lists: those that must be shown, the default among them.
LISTED: dict[str, set[Any]] = {
    "decks": {3, 4},
    "hand_size": {39, 38, 52},
    "kitty_size": {6, 10, 8},
    "take": {120, 130},
    "blood_low": {80, 100},
    "blood_high": {150, 130},
    "full_points": {300, 250},
    "first_level": {3, 5},
    "last_level": {10, 11, 14},
    "must_play": {(3, 10), (10,), (3, 5, 10)},
    "mixed_trump_rank": {None, 7},
}


@cache
def played(name: str) -> Transcript:
    return play(BY_NAME[name])


@cache
def instead(name: str) -> str | None:
    return difference(BY_NAME[name], played(name))


def stored(name: str) -> list[str]:
    return path(name).read_text("ascii").splitlines()


@pytest.mark.parametrize("name", BY_NAME)
def test_the_file_is_what_the_rules_give(name: str) -> None:
    if not path(name).exists():
        pytest.fail(f"tests/data/playthroughs/{name}.txt is missing: {REGENERATE} {name}")
    found = first_difference(name, stored(name), transcript(BY_NAME[name], played(name), instead(name)))
    if found is not None:
        pytest.fail(found, pytrace=False)


def test_every_scenario_has_a_file_and_every_file_a_scenario() -> None:
    assert len(BY_NAME) == len(SCENARIOS), "two playthroughs of one name"
    assert [file.name for file in FILES] == sorted(f"{name}.txt" for name in BY_NAME), f"run {REGENERATE}"


@pytest.mark.parametrize("name", BY_NAME)
def test_it_goes_through_what_it_is_there_for(name: str) -> None:
    assert BY_NAME[name].must
    missing = [branch for branch in BY_NAME[name].must if branch not in played(name).met]
    assert not missing, f"{missing}; met were {sorted(played(name).met)}"


@pytest.mark.parametrize("name", BY_NAME)
def test_the_option_decides_something_in_it(name: str) -> None:
    """The same deal and moves under the other value give another transcript, or cannot be played."""
    p = BY_NAME[name]
    mine, other = p.rules.as_dict(), p.other.as_dict()
    assert all(mine[option] != other[option] for option in p.options) and mine != other
    assert instead(name) is not None


@pytest.mark.parametrize("name", BY_NAME)
def test_under_its_own_rules_the_same_moves_give_the_same(name: str) -> None:
    """So that a difference (see above) is the option's and not one of playing it twice."""
    again = play(BY_NAME[name], BY_NAME[name].rules, played(name).moves)
    assert again.refused is None
    assert first_difference(name, played(name).lines, again.lines) is None


# Every option, every value ---------------------------------------------------------------------------------


def values_of(option: str, hint: Any) -> set[Any]:
    """The values of an option that must be shown: from its type where that lists them."""
    if hint is bool:
        return {False, True}
    if get_origin(hint) is Literal:
        return set(get_args(hint))
    if get_origin(hint) is tuple and get_origin(get_args(hint)[0]) is Literal:
        kinds = sorted(get_args(get_args(hint)[0]))
        return {some for number in range(len(kinds) + 1) for some in itertools.combinations(kinds, number)}
    if option in LISTED:
        return LISTED[option]
    parts = get_args(hint)
    literals = {value for part in parts if get_origin(part) is Literal for value in get_args(part)}
    assert literals, f"{option}: write in LISTED which of its values must have a playthrough"
    return literals | ({None} if type(None) in parts else set())


OPTIONS = [f for f in fields(Rules) if f.name != "name"]


@pytest.mark.parametrize("option", [f.name for f in OPTIONS])
def test_every_value_of_every_option_has_a_playthrough(option: str) -> None:
    wanted = values_of(option, get_type_hints(Rules)[option])
    shown = {getattr(p.rules, option) for p in SCENARIOS if option in p.options}
    assert len(wanted) > 1 and getattr(Rules(), option) in wanted
    assert wanted <= shown, f"no playthrough shows {option} = {wanted - shown}"


def test_which_values_the_types_list() -> None:
    hints = get_type_hints(Rules)
    assert values_of("follow", hints["follow"]) == {"live", "dead"}
    assert values_of("dry_pot", hints["dry_pot"]) == {None, "ordinary_trump", "permanent_neutral"}
    assert values_of("jokers_end_match", hints["jokers_end_match"]) == {(), ("big",), ("small",), ("big", "small")}
    with pytest.raises(AssertionError, match="new_option"):
        values_of("new_option", int)


@pytest.mark.parametrize("preset", Rules.presets())
def test_every_preset_has_whole_hands_through_all_phases(preset: str) -> None:
    names = [p.name for p in SCENARIOS if p.rules == Rules.preset(preset) and not p.options]
    phases = set().union(*(played(name).phases for name in names))
    first_hands = {"SHOW"} if Rules.preset(preset).first_bid == "show" else set()
    assert phases == {phase.name for phase in Phase} - {"SHOW", "OVER"} | first_hands
    for name in names:
        assert played(name).lines[0].startswith(("== show", "== bid", "== bury")), "from the deal"
        assert any(line.startswith("== over") for line in played(name).lines), "to the result"


# A change is noticed ---------------------------------------------------------------------------------------

EXAMPLE = "blood_low-100"


@pytest.mark.parametrize("number", [1, 9, 20])
def test_a_changed_line_is_found(number: int) -> None:
    lines = stored(EXAMPLE)
    changed = [*lines[: number - 1], lines[number - 1] + " x", *lines[number:]]
    found = first_difference(EXAMPLE, changed, lines)
    assert found is not None
    assert f"tests/data/playthroughs/{EXAMPLE}.txt, line {number}:" in found
    assert f"expected: {changed[number - 1]}\n" in found and f"found:    {lines[number - 1]}\n" in found
    assert f"python -m tests.support.playthroughs {EXAMPLE}" in found


def test_a_line_too_few_or_too_many_is_found() -> None:
    lines = stored(EXAMPLE)
    assert first_difference(EXAMPLE, lines, lines) is None
    assert f"line {len(lines)}:" in str(first_difference(EXAMPLE, lines, lines[:-1]))
    assert f"line {len(lines)}:" in str(first_difference(EXAMPLE, lines[:-1], lines))


def test_a_changed_rule_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A negative control: without the score part of R9.6 the result's line differs."""
    monkeypatch.setattr(settlement, "_score_blood", lambda rules, score, dug: np.zeros_like(score))
    found = first_difference(EXAMPLE, stored(EXAMPLE), transcript(BY_NAME[EXAMPLE]))
    # The header says first that the option no longer decides anything.
    assert found is not None and "instead: None" in found
    again = first_difference(EXAMPLE, played(EXAMPLE).lines, play(BY_NAME[EXAMPLE]).lines)
    assert again is not None and "blood 1" in again and "blood 0" in again


def test_a_hidden_change_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A negative control: a field that no line shows is in the hashes."""
    learn = tricks._learn

    def learn_and_spoil(t: Tables, *rest: Any) -> None:
        learn(t, *rest)
        t.choice[:] = 1  # means nothing in play

    monkeypatch.setattr(tricks, "_learn", learn_and_spoil)
    found = first_difference(EXAMPLE, played(EXAMPLE).lines, play(BY_NAME[EXAMPLE]).lines)
    assert found is not None and "expected:    hash" in found and "found:       hash" in found


def test_the_command_writes_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = path(EXAMPLE).read_bytes().replace(b"\r\n", b"\n")
    monkeypatch.setattr(playthroughs, "FOLDER", tmp_path)
    assert playthroughs.main([EXAMPLE]) == 0
    same = path(EXAMPLE).read_bytes() == expected
    assert same and [file.name for file in tmp_path.iterdir()] == [f"{EXAMPLE}.txt"]
    assert capsys.readouterr().out == f"written: tests/data/playthroughs/{EXAMPLE}.txt\n1 playthroughs, 1 written\n"
    assert playthroughs.main([EXAMPLE]) == 0
    assert capsys.readouterr().out == "1 playthroughs, 0 written\n"
    assert playthroughs.main(["no such"]) == 2
    assert "no playthrough is called 'no such'" in capsys.readouterr().err


def test_the_command_removes_files_without_a_scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playthroughs, "FOLDER", tmp_path)
    monkeypatch.setattr(playthroughs, "SCENARIOS", [BY_NAME[EXAMPLE]])
    (tmp_path / "old.txt").write_text("old")
    assert playthroughs.main([]) == 0
    assert [file.name for file in tmp_path.iterdir()] == [f"{EXAMPLE}.txt"]
