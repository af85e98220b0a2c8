"""A finished hand's result in sentences."""

from __future__ import annotations

import dataclasses

import pytest

from gunzi_env import rulebook
from gunzi_env.rules import Rules
from gunzi_eval.table.outcome import HandSummary, sentences

DALIAN = Rules.preset("dalian")


def outcome(
    score: int, dug: bool, big: int, small: int, dry: bool, rules: Rules = DALIAN, levels: tuple[int, int] = (3, 3)
) -> HandSummary:
    """A row of R9's table, dealer seat 0, settled by the rulebook."""
    found = rulebook.settle(rules, score, dug, big, small, dry, levels, 0)
    return HandSummary(
        rules=rules, score=score, dug=dug, dealer=0, dry=dry, kitty="S4", kitty_points=0,
        big=big, small=small,
        levels=levels, gain=found.gain, next_levels=found.levels,
        next_dealer=-1 if found.next_dealer is None else found.next_dealer,
        blood=found.blood or 0, match_winner=-1 if found.match_winner is None else found.match_winner,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (
            (40, False, 0, 0, False),
            ["S < 120: the dealers (seats 0 and 2) stay", "+1 for seats 0 and 2 (R9), 3 to 4",
             "seat 2, the dealer's partner (R9.1)", "owes 4 blood: 4 cards"],
        ),
        ((75, False, 0, 0, False), ["owes 1 blood: 1 card of tribute"]),
        ((80, False, 0, 0, False), ["No blood is owed"]),
        ((0, False, 0, 0, False), ["The match is over: seats 0 and 2 win it (S = 0, R9.4)"]),
        ((115, False, 1, 1, False), ["1 big joker and 1 small joker: J = 3", "+4 for seats 0 and 2", "owes 3 blood"]),
        ((115, False, 1, 1, True), ["jokers in a dry pot do not count (R6.6)", "+1 for seats 0 and 2"]),
        ((115, True, 1, 0, False), ["dig the kitty", "No level rises: dealers rise only by a guard"]),
        (
            (120, False, 0, 0, False),
            ["S >= 120: the attackers take the deal", "No level rises: attackers rise only by a dig",
             "seat 1, the dealer's next player"],
        ),
        ((120, True, 1, 1, False), ["+4 for seats 1 and 3 (R9), 3 to 3; a must-play level holds the rise (R9.2)"]),
        ((300, True, 0, 0, False), ["seats 1 and 3 win it (S >= 300, R9.4)"]),
        ((100, False, 3, 0, False), ["seats 0 and 2 win it (all jokers of a kind in the kitty, R9.5)"]),
        ((130, True, 0, 3, False), ["seats 1 and 3 win it (all jokers of a kind in the kitty, R9.5)"]),
        ((100, False, 3, 0, True), ["The next dealer is seat 2"]),
    ],
)  # fmt: skip
def test_settled_cases_are_explained(row: tuple[int, bool, int, int, bool], expected: list[str]) -> None:
    text = "\n".join(sentences(outcome(*row)))
    for sentence in expected:
        assert sentence in text


def test_leaving_the_last_level_is_explained() -> None:
    text = "\n".join(sentences(outcome(100, False, 0, 0, False, levels=(10, 3))))
    assert "seats 0 and 2 win it (they leave level T, R9.3)" in text


JACK = dataclasses.replace(DALIAN, last_level=11, must_play=(3, 11), j_reset=True)
HIGH = dataclasses.replace(DALIAN, level_at_high=True)
FALL = "Seats 0 and 2 were dug on the last level and fall back to 3 (R9.8)."


@pytest.mark.parametrize(
    ("rules", "row", "levels", "expected"),
    [
        (JACK, (130, True, 0, 0, False), (11, 5), ["Level: +1 for seats 1 and 3 (R9), 5 to 6.", FALL]),
        (JACK, (100, True, 0, 0, False), (11, 5), ["No level rises: dealers rise only by a guard (R9).", FALL]),
        (JACK, (130, True, 0, 0, False), (10, 5), ["Level: +1 for seats 1 and 3 (R9), 5 to 6."]),
        (
            HIGH,
            (130, False, 0, 0, False),
            (4, 5),
            ["No level rises: attackers rise only by a dig or by S >= 150 (R9, R9.7)."],
        ),
        (HIGH, (200, False, 0, 0, False), (4, 5), ["Level: +1 for seats 1 and 3 (S >= 150, R9.7), 5 to 6."]),
        (HIGH, (200, True, 0, 0, False), (4, 5), ["Level: +1 for seats 1 and 3 (R9), 5 to 6."]),
        (HIGH, (100, True, 0, 0, False), (4, 5), ["No level rises: dealers rise only by a guard (R9)."]),
        (HIGH, (100, False, 0, 0, False), (4, 5), ["Level: +1 for seats 0 and 2 (R9), 4 to 5."]),
        (DALIAN, (130, False, 0, 0, False), (4, 5), ["No level rises: attackers rise only by a dig (R9)."]),
    ],
)  # fmt: skip
def test_levels_are_explained_whole(
    rules: Rules, row: tuple[int, bool, int, int, bool], levels: tuple[int, int], expected: list[str]
) -> None:
    """R9.7, R9.8: what rises, what falls, and why; nothing else is said of levels."""
    said = sentences(outcome(*row, rules=rules, levels=levels))
    assert [line for line in said if "evel" in line] == expected
