"""Every entry of the table of tiers names a test that exists, and the table decides as it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from gunzi_env.rules import Rules
from tests.support import ROOT
from tests.support.tiers import TIERS, tier


@pytest.mark.parametrize("entry", TIERS)
def test_each_entry_names_a_test(entry: str) -> None:
    file, _, name = entry.partition("::")
    assert (ROOT / file).exists()
    assert not name or f"def {name.partition('[')[0]}(" in (ROOT / file).read_text("utf-8")


def test_the_longest_entry_counts() -> None:
    assert tier("tests/train/test_kept.py::test_x") == "slow"
    assert tier("tests/train/test_config.py::test_x") == "fast"
    assert tier("tests/train/test_lost.py::test_x") == "process"


def test_other_rules_are_slow_outside_the_rules() -> None:
    rules = Rules.preset("classic")
    for parameter in ("classic", rules, Path("data/classic.txt")):
        assert tier("tests/env/test_laws.py::test_x[classic]", [1, parameter]) == "slow"
        assert tier("tests/rules/test_r11_laws.py::test_x[classic]", [1, parameter]) == "fast"
    assert tier("tests/env/test_laws.py::test_x[dalian]", ["dalian", Rules(), "another"]) == "fast"
