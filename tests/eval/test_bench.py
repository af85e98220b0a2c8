"""The throughput command measures what it says; how fast it is, is no test."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gunzi_env.rules import Rules
from gunzi_env.tables import Phase
from gunzi_eval.commands import bench
from gunzi_eval.throughput import Runner, rate


def test_runner_keeps_every_table_in_play() -> None:
    runner = Runner(Rules.preset("dalian"), 64, seed=1)
    hands = runner.tables.hand.copy()
    phases = set()
    for _ in range(400):
        assert runner.step() == 64
        assert (runner.tables.phase != Phase.OVER).all()
        phases |= set(runner.tables.phase.tolist())
    assert ((runner.tables.hand != hands) | (runner.tables.match > 0)).mean() > 0.9
    assert phases >= {Phase.BID, Phase.BURY, Phase.LEAD, Phase.FOLLOW}
    # the tables do not march in step: a step would deal at all of them at once
    assert len(np.unique(runner.tables.held)) > 10


def test_rate_is_the_median_of_things_per_second(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count()
    monkeypatch.setattr("time.process_time", lambda: float(next(clock)))
    # each look at the clock is a second later: three pieces of work fit in a repeat of 3.5 s, which ends at 4 s
    assert rate(lambda: 8, seconds=3.5, repeats=3) == 3 * 8 / 4


def test_command_prints_every_figure(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(bench, "SIZES", (1, 16))
    assert bench.main(["--seconds", "0.01", "--repeats", "1", "--rules", "four_deck"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "numpy" in lines[0] and "rules four_deck" in lines[1]
    figures = {line[:21].strip(): float(line[21:].split()[0].replace(",", "")) for line in lines[2:]}
    assert list(figures) == ["engine, N = 1", "engine, N = 16", "AEC raw_env, N = 1", "observe.encode"]
    assert all(figure > 0 for figure in figures.values())


@pytest.mark.parametrize("arguments", [["--repeats", "0"], ["--seconds", "-1"], ["--seed", "-1"]])
def test_bad_settings_are_named(arguments: list[str]) -> None:
    with pytest.raises(ValueError, match=f"{arguments[0]} is {arguments[1]}"):
        bench.main(arguments)
