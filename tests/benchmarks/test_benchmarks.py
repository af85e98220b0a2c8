"""The benchmarks' arithmetic, protocol and page; nothing here asks how fast anything is."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from benchmarks import page, peers, ratios, results
from benchmarks.cases import CASES, Case
from benchmarks.impl_ours import RULES, observed_step, uniform
from benchmarks.loops import Started, Unavailable, aec_games
from benchmarks.memory import array_bytes
from benchmarks.ours import one_at_play, worlds_for
from benchmarks.plot import digest, draw, shows
from benchmarks.worker import measure
from gunzi_env import VectorEnv, planes, raw_env
from gunzi_env.rules import load_rules
from gunzi_env.tables import HAND
from tests.support import ROOT

HERE = Path(sys.executable)


# Cases that a worker process can start ---------------------------------------------------------------


def idle() -> Started:
    """Three decisions a call; prints where a library might, which must not disturb the answers."""
    print("a banner")
    os.system("echo another")

    def work() -> int:
        time.sleep(0.001)
        return 3

    return Started(work, "idle")


def absent() -> Started:
    raise Unavailable("not here")


def broken() -> Started:
    raise ValueError("no such game")


def dies() -> Started:
    calls = iter(range(10**9))
    begun = time.perf_counter()

    def work() -> int:
        next(calls)
        if time.perf_counter() - begun > 0.3:
            print("out of cards", file=sys.stderr, flush=True)
            os._exit(9)
        time.sleep(0.01)
        return 1

    return Started(work)


def fake(function: str, **options: bool | int) -> Case:
    return Case(function, function, f"{__name__}:{function}", wall=True, **options)  # type: ignore[arg-type]


# Ratios -----------------------------------------------------------------------------------------------


def made_up() -> results.Section:
    """Rates of two rounds for every case, the second round on a machine half as fast."""
    entrants = {c.name: {"note": "made up", "rates": [1000.0, 500.0]} for c in CASES}
    return {"machine": "m", "seconds": 1, "rounds": 2, "entrants": entrants, "memory": {"bytes": 2355.0}}


def row(label: str) -> ratios.Row:
    return next(found for found in ratios.ROWS if label in found.label)


def test_ratio_is_taken_within_a_round() -> None:
    section = made_up()
    section["entrants"]["engine"]["rates"] = [6000.0, 2000.0]
    found = ratios.ratio(row("spades from Python"), section["entrants"])
    assert (found.median, found.low, found.high) == (5.0, 4.0, 6.0)


def test_the_faster_of_their_games_counts_in_each_round() -> None:
    section = made_up()
    section["entrants"]["openspiel-spades-rollouts"]["rates"] = [4000.0, 500.0]
    section["entrants"]["openspiel-bridge-rollouts"]["rates"] = [1000.0, 2000.0]
    found = ratios.ratio(row("rollouts"), section["entrants"])
    assert (found.low, found.high) == (0.25, 0.25)


def test_one_of_their_games_is_enough() -> None:
    section = made_up()
    section["entrants"]["openspiel-spades-rollouts"] = {"error": "gone"}
    assert ratios.ratio(row("rollouts"), section["entrants"]).median == 1.0
    section["entrants"]["openspiel-bridge-rollouts"] = {"error": "gone too"}
    assert "gone" in ratios.ratio(row("rollouts"), section["entrants"]).missing


def test_table_says_what_is_missing_and_what_is_reached() -> None:
    section = made_up()
    section["entrants"]["two-workers"] = {"error": "not available: no workers"}
    del section["entrants"]["rlcard-doudizhu"]
    text = ratios.ratio_table(section)
    lines = {line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[2:-1]] for line in text.splitlines()}
    assert lines["engine : OpenSpiel spades from Python"] == ["1.00", "1.00..1.00", "5", "10", "**no**"]
    assert lines["AEC `env()` : PettingZoo connect four `env()`"][-1] == "aim"
    assert lines["two worker processes : two loops apart"] == ["-", "-", "0.9", "0.97", "-"]
    assert lines["memory per table with observation and mask, bytes"][-1] == "yes"
    missing = "\n".join(ratios.missing_lines(section))
    assert "not available: no workers" in missing and "rlcard-doudizhu: not run" in missing
    assert "not available: no workers" in ratios.rate_table(section)


def test_rows_name_cases() -> None:
    names = {case.name for case in CASES}
    assert {name for found in ratios.ROWS for name in (found.ours, *found.theirs)} <= names
    assert len(names) == len(CASES)


# Workers and the driver -------------------------------------------------------------------------------


def test_worker_answers_one_line_a_request() -> None:
    command = [sys.executable, "-m", "benchmarks.worker", f"{__name__}:idle", "--wall"]
    run = subprocess.run(command, input="0.02\n0.02\n", capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert run.returncode == 0, run.stderr
    ready, *answers = [json.loads(line) for line in run.stdout.splitlines()]
    assert ready == {"ready": True, "note": "idle"}
    assert len(answers) == 2
    for answer in answers:
        assert answer["decisions"] > 0 and answer["decisions"] % 3 == 0
        assert answer["wall_s"] >= 0.02 and answer["cpu_s"] >= 0
    assert "a banner" in run.stderr and "another" in run.stderr


def test_failures_are_reported_and_the_others_go_on() -> None:
    chosen = [fake("absent"), fake("broken"), fake("dies"), fake("idle", processes=2, pinned=False)]
    found = peers.run(chosen, 0.4, 2, HERE)
    assert found["absent"] == {"error": "not here"}
    assert found["broken"] == {"error": "ValueError: no such game"}
    assert found["dies"] == {"error": "ended: out of cards"}
    assert found["idle"]["note"] == "2 x (idle)"
    assert len(found["idle"]["rates"]) == 2 and min(found["idle"]["rates"]) > 0


def test_an_interpreter_that_is_not_there_is_reported() -> None:
    found = peers.run([fake("idle")], 0.1, 1, ROOT / "nowhere" / "python")
    assert "make bench-peers" in found["idle"]["error"]


def test_one_of_ours_is_measured() -> None:
    ours = next(case for case in CASES if case.name == "aec-raw")
    found = peers.run([ours], 0.05, 1, HERE)
    assert len(found["aec-raw"]["rates"]) == 1 and found["aec-raw"]["rates"][0] > 0


def test_an_interrupted_driver_leaves_no_worker() -> None:
    command = [sys.executable, "-m", "benchmarks.peers", "--only", "aec-raw", "--seconds", "60"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT) as driver:
        assert driver.stdout is not None
        while not driver.stdout.readline().startswith("round 1"):
            assert driver.poll() is None
        children = Path(f"/proc/{driver.pid}/task/{driver.pid}/children")
        workers = children.read_text().split() if children.exists() else []
        driver.send_signal(signal.SIGINT)
        assert driver.wait(30) == 130
    assert not children.exists() or not [worker for worker in workers if Path(f"/proc/{worker}").exists()]


def test_options_that_make_no_sense_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--rounds", "0"], ["--seconds", "0"], ["--only", "nobody"]):
        with pytest.raises(SystemExit) as end:
            peers.main(arguments)
        assert end.value.code == 2
    assert "nobody" in capsys.readouterr().err


# What is measured -------------------------------------------------------------------------------------


def test_a_game_counts_the_decisions_of_players() -> None:
    env = raw_env(rules=RULES)
    asked = []
    step = env.step
    env.step = lambda action: (asked.append(action), step(action))
    decisions = aec_games(env)()
    assert decisions == len(asked) > 100
    assert None not in asked


def test_the_loops_pick_each_legal_action_alike() -> None:
    vector = VectorEnv(4000, RULES, seed=3, skip_forced=False)
    _, legal = vector.reset()
    draws = np.random.default_rng(0)
    drawn = np.stack([uniform(vector, draws) for _ in range(20)])
    assert legal[np.arange(4000), drawn].all()
    choices = legal.sum(axis=1)
    for number in np.unique(choices):
        rows = choices == number
        place = np.take_along_axis(legal[rows].cumsum(axis=1), drawn[:, rows].T.astype(np.intp), axis=1) - 1
        counts, expected = np.bincount(place.ravel(), minlength=number), place.size / number
        assert (np.abs(counts - expected) < 5 * np.sqrt(expected) + 1).all()


def test_worlds_deal_the_same_cards_to_the_same_hands() -> None:
    table = one_at_play(load_rules(RULES))
    others = [seat for seat in range(4) if seat != table.seat[0]]
    worlds = worlds_for(table, others, 20)
    true = np.stack([table.holder(np.zeros(1, np.intp), HAND + seat) for seat in others], axis=2)
    assert (planes.count(worlds) == planes.count(true)).all()
    cards = planes.to_counts(worlds).sum(axis=1), planes.to_counts(true).sum(axis=1)
    assert (cards[0] == cards[1]).all()
    assert (worlds != true).any()


def test_bytes_of_a_table_do_not_depend_on_their_number() -> None:
    assert array_bytes(3) == array_bytes(300)
    assert 500 < array_bytes(3)["state"] < 4000


def test_observed_step_makes_a_decision_a_table() -> None:
    answer = measure(observed_step(load_rules(RULES), 5), 0.001, wall=False)
    assert answer["decisions"] % 5 == 0 and answer["decisions"] > 0


# The page ---------------------------------------------------------------------------------------------


def test_page_is_what_the_results_give() -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    agrees = page.render(text, results.load()) == text
    assert agrees, "run python -m benchmarks.page"
    assert all(f"<!-- figures: {name} -->" in text for name in page.PARTS)


def test_plot_shows_the_results() -> None:
    assert shows(page.PLOT, results.load()["scaling"]), "run python -m benchmarks.page"


def test_page_changes_with_the_results() -> None:
    """A negative control."""
    text = page.PAGE.read_text(encoding="utf-8")
    sections = results.load()
    sections["peers"]["memory"]["bytes"] = 12345.0
    assert "12,345" in page.render(text, sections)
    sections["scaling"]["rows"][0]["engine"] *= 2
    assert not shows(page.PLOT, sections["scaling"])


def test_same_figures_give_the_same_plot(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    section = results.load()["scaling"]
    first, second = tmp_path / "first.svg", tmp_path / "second.svg"
    draw(section, first)
    draw(section, second)
    same = first.read_bytes() == second.read_bytes()
    assert same and digest(section) in first.read_text(encoding="utf-8")


def test_results_keep_the_other_sections(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    results.save(file, "one", {"figure": 1})
    results.save(file, "two", {"figure": 2})
    results.save(file, "one", {"figure": 3})
    assert results.load(file) == {"one": {"figure": 3}, "two": {"figure": 2}}
