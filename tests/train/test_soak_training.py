"""The long training is judged as it should be: from samples whose faults are known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.soak_training import Sample, decisions_in, report


def samples(
    memory: Callable[[float], float], files: Callable[[float], int], decisions: Callable[[float], float]
) -> list[Sample]:
    """Half an hour, five looks a minute."""
    times = [n / 5 for n in range(151)]
    return [Sample(m, memory(m), files(m), 55 * m, int(decisions(m))) for m in times]


KINDS = {
    "all well": (lambda m: 400 + 100 * min(m, 5), lambda m: 5 + int(m) % 2, lambda m: 1e5 * m, []),
    "grows": (lambda m: 400 + 1.2 * m, lambda m: 5, lambda m: 1e5 * m, ["memory"]),
    "leaves files open": (lambda m: 400, lambda m: 5 + int(m / 5), lambda m: 1e5 * m, ["open files"]),
    "becomes slow": (lambda m: 400, lambda m: 5, lambda m: 1e5 * (m if m < 20 else 20 + 0.8 * (m - 20)), ["speed"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_fails_is_said(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    memory, files, decisions, failing = KINDS[kind]
    assert report(samples(memory, files, decisions), 30) == (not failing)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + 6 + 3
    said = [line for line in lines if line.startswith("FAILS: ")]
    assert len(said) == len(failing) and all(word in line for word, line in zip(failing, said, strict=True))


def test_the_last_whole_row_counts(tmp_path: Path) -> None:
    log = tmp_path / "metrics.jsonl"
    assert decisions_in(log) == 0
    rows = [f'{{"update": {n}, "decisions": {100 * n}}}\n' for n in range(1, 1000)]
    log.write_text("".join(rows) + '{"update": 1000, "match": {}}\n{"update": 1001, "decis', "utf-8")
    assert decisions_in(log) == 99900
