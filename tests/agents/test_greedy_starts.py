"""The command that measures start states from matches of greedy."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gunzi_agents import registry
from gunzi_env.cli.options import UsageError
from gunzi_env.published import starts
from gunzi_env.rules import Rules
from gunzi_eval.commands import starts as starts_command

RULES = Rules.preset("classic")


def test_counts_every_hand_of_complete_matches() -> None:
    document = starts_command.measure(RULES, registry.make("uniform", RULES), 6, 3)
    rows = np.array(document["rows"])
    first = rows[rows[:, 0] == 1]
    assert first.tolist() == [[1, RULES.first_level, RULES.first_level, 0, 6]]  # one first hand a match
    assert rows[:, 4].sum() > 12 and (rows[:, 4] > 0).all()
    assert document == starts_command.measure(RULES, registry.make("uniform", RULES), 6, 3)
    assert document["rows"] != starts_command.measure(RULES, registry.make("uniform", RULES), 6, 4)["rows"]


def test_writes_one_state_a_line(tmp_path: Path) -> None:
    argv = ["classic", "--matches", "2", "--seed", "5", "--agent", "uniform", "--folder", str(tmp_path)]
    assert starts_command.main(argv) == 0
    text = (tmp_path / "classic.json").read_text("utf-8")
    document = json.loads(text)
    assert document == starts_command.measure(RULES, registry.make("uniform", RULES), 2, 5)
    assert all(text.count(json.dumps(row)) == 1 for row in document["rows"])
    assert len(text.splitlines()) == len(document["rows"]) + 9


def test_refuses_an_unknown_preset(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown preset 'nowhere'"):
        starts_command.main(["nowhere", "--folder", str(tmp_path)])


@pytest.mark.parametrize("preset", Rules.presets())
def test_the_published_files_are_made_by_greedy_under_these_rules(preset: str) -> None:
    rules = Rules.preset(preset)
    path = Path(starts.__file__).parents[1] / "data" / "starts" / f"{preset}.json"
    document = json.loads(path.read_text("utf-8"))
    assert (document["preset"], document["rules"]) == (preset, rules.digest)
    assert "of greedy, seed" in document["source"]
    assert path.read_text("utf-8") == starts_command.as_text(document)
