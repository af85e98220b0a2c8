"""The planted faults fit the sources, and the runner tells a caught one from a survivor."""

from __future__ import annotations

import ast

import pytest

from tests.support import mutants
from tests.support.mutant_list import MUTANTS, Mutant

TINY = Mutant("tiny", "wrong sums", "gunzi_env/planes.py", "out[d] |= a[j] & b[d - 1 - j]", "out[d] |= a[j]")
SAME = Mutant("same", "nothing", "gunzi_env/planes.py", "ZERO, ONE = U64(0), U64(1)", "ZERO, ONE = U64(0), U64(2 - 1)")


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_each_fits_its_source(mutant: Mutant) -> None:
    """It changes one place, and what comes out is a program."""
    text = (mutants.ROOT / mutant.path).read_text("utf-8")
    changed = mutants.planted(mutant, text)
    assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(text))
    assert all((mutants.ROOT / path).is_file() for path in mutant.first)
    assert mutant.report


def test_names_are_unique() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 20


def test_a_mutant_without_its_place_is_refused() -> None:
    for text in ("", "one one"):
        with pytest.raises(ValueError, match=r"mutant m: a\.py has \d times 'one'"):
            mutants.planted(Mutant("m", "r", "a.py", "one", "two"), text)


def test_survivors_are_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """One that is caught, one that changes nothing, and the unchanged copy, which passes."""
    monkeypatch.setattr(mutants, "SUITE", ("tests/env/test_planes.py",))
    assert mutants.run_all([TINY, SAME], workers=1) == 1
    told = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in told] == ["(no", "tiny", "same", "1"]
    assert "passes" in told[0]
    assert "FAILED tests/env/test_planes.py::" in told[1]
    assert "SURVIVED" in told[2]
    assert told[3] == "1 of 2 caught"
    assert mutants.run_all([TINY], workers=1) == 0


def test_a_copy_that_fails_by_itself_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutants, "SUITE", ("tests/no_such_file.py",))
    assert mutants.run_all([TINY], workers=1) == 1


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert mutants.main(["--list"]) == 0
    assert MUTANTS[0].name in capsys.readouterr().out
    with pytest.raises(SystemExit) as stop:
        mutants.main(["--only", "no such"])
    assert stop.value.code == 2
