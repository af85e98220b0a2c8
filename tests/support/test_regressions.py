"""Every hand that once showed a fault, and the file that keeps them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from gunzi_env import testing
from gunzi_env.rules import Rules
from gunzi_env.testing import Case, LawBroken
from tests.support import ROOT, regressions
from tests.support.against_oracle import replay_against_oracle


@pytest.mark.parametrize(("fault", "case"), regressions.cases())
def test_kept_hand(fault: str, case: Case) -> None:
    """The laws hold, every action is tried at every ply, and the oracle agrees."""
    testing.replay(case)
    replay_against_oracle(case)


def test_a_failure_is_kept_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regressions, "FILE", tmp_path / "kept.jsonl")
    regressions.FILE.write_text("")
    rules = dataclasses.replace(Rules.preset("classic"), dry_pot=None, must_play=(4, 10))
    case = Case(rules, (2**63, 1, 2, 3), (4, 10), 3, 2, (7, 8))
    one, other = LawBroken("a law\nand more", 4, case), LawBroken("a law", 0, dataclasses.replace(case, actions=()))
    group = ExceptionGroup("two", [one, ExceptionGroup("one", [other]), ValueError()])
    for broken in [*regressions.broken_laws(group), one, LawBroken("without a hand")]:
        regressions.keep(broken)
    assert regressions.cases() == [("a law", case), ("a law", other.case)]


def test_a_failing_test_keeps_its_hand(pytester: pytest.Pytester) -> None:
    """The hook in ``conftest.py``, in a run of its own."""
    tests = pytester.mkpydir("tests")
    (tests / "data").mkdir()
    (tests / "support").mkdir()
    for name in ("conftest.py", "support/__init__.py", "support/regressions.py", "support/tiers.py"):
        (tests / name).write_text((ROOT / "tests" / name).read_text("utf-8"), "utf-8")
    (tests / "data" / "regressions.jsonl").write_text("")
    (tests / "test_one.py").write_text(
        "from gunzi_env.rules import Rules\n"
        "from gunzi_env.testing import Case, LawBroken\n"
        "def test_one():\n"
        "    raise LawBroken('wrong', 0, Case(Rules(), (1, 2, 3, 4), (3, 3), -1, 0, (5,)))\n"
    )
    result = pytester.runpytest_subprocess("-q", "tests", "-p", "no:cacheprovider")
    result.assert_outcomes(failed=1)
    kept = (tests / "data" / "regressions.jsonl").read_text("utf-8")
    assert '"fault": "wrong"' in kept
    assert '"key": [1, 2, 3, 4]' in kept
