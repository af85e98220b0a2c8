"""The published start states: what is read, and what cannot begin a hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gunzi_env import Rules
from gunzi_env.published import starts
from gunzi_env.rules import RulesError


@pytest.mark.parametrize(
    ("levels", "dealer", "blood", "named"),
    [
        ((3,), 0, 0, "levels 3 are not two levels within 3..10"),
        ((3, 11), 0, 0, "levels 3-11 are not two levels within 3..10"),
        ((3, 3), 4, 0, "dealer is 4: it must be a seat 0..3, or -1"),
        ((3, 3), True, 0, "dealer is True"),
        ((3, 3), 0, 31, r"blood is 31: it must be within 0\.\.30 \(R9\.6\)"),
        ((3, 3), 0, -1, "blood is -1"),
        ((3, 3), 0, False, "blood is False"),
        ((3, 3), -1, 1, "levels and blood need a dealer"),
        ((4, 3), -1, 0, "levels and blood need a dealer"),
    ],
)
def test_what_cannot_begin_a_hand_is_named(levels: tuple[int, ...], dealer: Any, blood: Any, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        starts.check(Rules.preset("dalian"), levels, dealer, blood)


def test_the_largest_blood_begins_a_hand() -> None:
    """R9.6 with all jokers in the kitty; R5.3: he who has too few cards gives those he has."""
    starts.check(Rules.preset("dalian"), (3, 10), 2, 30)
    small = Rules(hand_size=5, kitty_size=142, sweep_ends_match=False)
    assert small.max_blood > small.hand_size
    starts.check(small, (3, 10), 2, small.max_blood)


def test_a_file_of_another_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "data/starts"
    folder.mkdir(parents=True)
    found = {"version": starts.VERSION + 1, "fields": ["first_hand"], "rows": []}
    (folder / "dalian.json").write_text(json.dumps(found))
    monkeypatch.setattr(starts, "files", lambda package: tmp_path)
    with pytest.raises(RulesError, match=f"start states of dalian: version {starts.VERSION + 1} is not"):
        starts.table.__wrapped__(Rules.preset("dalian"))
