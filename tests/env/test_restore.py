"""Saved and restored at every ply in a fresh process; one trace for (rules, seed, actions), whatever else went on."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gunzi_env import Rules, VectorEnv, engine
from gunzi_env.chapters.deal import deck_of_draw
from gunzi_env.planes import U64
from gunzi_env.record import Recorder
from gunzi_env.tables import NOBODY, Phase, Tables
from tests.support import ROOT
from tests.support.fresh import ONE, actions_at, go_on, trace, trace_on

PRESETS = Rules.presets()


def fresh(task: str, folder: Path, **variables: str) -> dict[str, Any]:
    """Run a task of tests/support/fresh.py in a process of its own."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)} | variables
    run = subprocess.run(
        [sys.executable, "-m", "tests.support.fresh", task, str(folder)],
        capture_output=True,
        text=True,
        timeout=150,
        cwd=ROOT,
        env=environment,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    answer: dict[str, Any] = json.loads(run.stdout)
    return answer


class Saver:
    """Games saved at every ply: one file of tables, and an index of sizes, hashes and actions."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.index = folder, list[dict[str, Any]]()
        self.data = bytearray()

    def save(self, rules: Rules, seed: int, *, match: bool) -> None:
        """Play a hand, or a match with its hands one after the other, and keep every table on the way."""
        t = Tables(rules, 1)
        engine.reset(t, seed)
        game: dict[str, Any] = {
            "preset": rules.name,
            "offset": len(self.data),
            "sizes": [],
            "hashes": [],
            "actions": [],
        }
        self.index.append(game)
        while True:
            saved = t.save()
            self.data += saved
            game["sizes"].append(len(saved))
            game["hashes"].append(t.hash64())
            over = t.phase[0] == Phase.OVER
            if over and (not match or t.match_winner[0] != NOBODY):
                return
            game["actions"].append(-1 if over else int(actions_at(t, len(game["actions"]))[0]))
            if over:
                engine.next_hand(t, ONE)
            else:
                engine.step(t, [game["actions"][-1]])

    def write(self) -> int:
        """Write the files; the number of plies."""
        (self.folder / "tables.bin").write_bytes(self.data)
        (self.folder / "index.json").write_text(json.dumps(self.index), "utf-8")
        return sum(len(game["sizes"]) for game in self.index)


SHORT_MATCH = 31
"""A seed whose match is short under the actions of ``actions_at``: three hands."""


def test_every_ply_is_restored_in_a_fresh_process(tmp_path: Path) -> None:
    """A hand of each preset and a whole match: loaded, hashed, stepped, hashed."""
    saver = Saver(tmp_path)
    for preset in PRESETS:
        saver.save(Rules.preset(preset), 5, match=False)
    saver.save(Rules.preset("dalian"), SHORT_MATCH, match=True)
    plies = saver.write()
    assert plies > 800
    answer = fresh("restore", tmp_path)
    assert answer["wrong"] == []
    assert answer["plies"] == plies


def test_a_wrong_restoration_is_found(tmp_path: Path) -> None:
    """The negative control: another hash, another action, a changed byte of a saved table."""
    saver = Saver(tmp_path)
    saver.save(Rules.preset("dalian"), 5, match=False)
    game = saver.index[0]
    game["hashes"][3] ^= 1
    t = Tables.load(Rules.preset("dalian"), bytes(saver.data[sum(game["sizes"][:60]) :][: game["sizes"][60]]))
    t.score[0] += 5
    changed = t.save()
    assert len(changed) == game["sizes"][60]
    at = sum(game["sizes"][:60])
    saver.data[at : at + len(changed)] = changed
    saver.write()
    wrong = fresh("restore", tmp_path)["wrong"]
    assert wrong[:2] == ["dalian 2 stepped", "dalian 3 loaded"]
    assert wrong[2:] == ["dalian 60 loaded", "dalian 60 stepped"]


def test_a_vector_environment_goes_on_elsewhere(tmp_path: Path) -> None:
    """R11: the same observations, masks, rewards and ends for 200 steps."""
    environments: list[dict[str, Any]] = [
        {"num_tables": 16, "rules": "dalian", "seed": 3},
        {"num_tables": 5, "rules": "four_deck", "seed": 4, "episode": "match", "skip_forced": False},
    ]
    settings = {"environments": environments, "steps": 200, "first": 100}
    expected = []
    for number, arguments in enumerate(environments):
        env = VectorEnv(**arguments)
        env.reset()
        go_on(env, 100, 0)
        (tmp_path / f"vector{number}.bin").write_bytes(env.get_state())
        expected.append(go_on(env, 200, 100))
    (tmp_path / "vector.json").write_text(json.dumps(settings), "utf-8")
    digests = fresh("vector", tmp_path)["digests"]
    assert [len(set(run)) for run in expected] == [200, 200]
    assert digests == expected


def test_a_record_is_replayed_elsewhere(tmp_path: Path) -> None:
    """Every ply of every hand of a match has the hash it had when it was played."""
    t = Tables(Rules.preset("dalian"), 1)
    engine.reset(t, SHORT_MATCH)
    recorder, hashes = Recorder(t.rules, ["a", "b", "c", "d"]), []
    ply = 0
    while True:
        recorder.begin(t)
        hashes.append([t.hash64()])
        while t.phase[0] != Phase.OVER:
            action = int(actions_at(t, ply)[0])
            recorder.note(t, action)
            engine.step(t, [action])
            hashes[-1].append(t.hash64())
            ply += 1
        recorder.end(t)
        if t.match_winner[0] != NOBODY:
            break
        engine.next_hand(t, ONE)
        ply += 1
    (tmp_path / "game.txt").write_text(recorder.text(), "utf-8")
    answer = fresh("replayed", tmp_path)["hashes"]
    assert len(hashes) > 1
    same = answer == hashes
    assert same


# Determinism --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
def test_other_generators_do_not_matter(preset: str) -> None:
    """The global generators are neither read nor moved."""
    rules = Rules.preset(preset)
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002 - the global generator is what must not matter
    one = trace(rules, 17, 150)
    assert random.random() == random.Random(1).random()
    assert np.random.random() == np.random.RandomState(1).random()  # noqa: NPY002
    random.seed(2)
    np.random.seed(2)  # noqa: NPY002
    np.random.default_rng(3).random(1000)
    same = trace(rules, 17, 150) == one
    assert same
    assert len(set(one)) == len(one)
    other = trace(rules, 18, 150)
    assert not set(other) & set(one)


def fields_unlike(t: Tables, other: Tables) -> list[str]:
    return [name for name, array, _ in t.arrays() if not np.array_equal(array, getattr(other, name))]


def used(rules: Rules, num: int, plies: int) -> Tables:
    """Tables that have been played on, with other deals."""
    t = Tables(rules, num)
    engine.reset(t, 99)
    for ply in range(plies):
        engine.next_hand(t, np.flatnonzero(t.phase == Phase.OVER))
        engine.step(t, actions_at(t, ply))
    return t


@pytest.mark.parametrize("preset", PRESETS)
def test_used_tables_dealt_again_are_as_new(preset: str) -> None:
    """Field by field, whatever was played before: in the bidding, in mid-hand, at the end of a hand, after matches."""
    rules = Rules.preset(preset)
    new = Tables(rules, 4)
    engine.reset(new, 23)
    for plies in (0, 3, 12, 60, 119, 250):
        t = used(rules, 4, plies)
        assert fields_unlike(new, t) != []
        engine.reset(t, 23)
        assert fields_unlike(new, t) == []
    # The end of a match, with all of its result standing.
    t = Tables(rules, 4)
    engine.reset(t, 99)
    ply = 0
    while (t.match_winner == NOBODY).all():
        engine.next_hand(t, np.flatnonzero(t.phase == Phase.OVER))
        engine.step(t, actions_at(t, ply))
        ply += 1
    engine.reset(t, 23)
    assert fields_unlike(new, t) == []


def test_used_tables_dealt_again_play_the_same() -> None:
    rules = Rules.preset("dalian_dead")
    same = trace_on(used(rules, 3, 77), 17, 150) == trace(rules, 17, 150)
    assert same


def test_later_hands_begin_alike_on_new_tables() -> None:
    """A hand begun at the same levels, dealer and blood is the same after another hand and on new tables."""
    t = Tables(Rules.preset("dalian"), 40)
    engine.reset(t, 7)
    ply = 0
    while (t.phase != Phase.OVER).any():
        engine.step(t, actions_at(t, ply))
        ply += 1
    levels, dealer, blood = t.next_levels.copy(), t.next_dealer.copy(), t.next_blood.copy()
    rows = np.flatnonzero(t.match_winner == NOBODY)
    assert len(rows) > 20
    engine.next_hand(t, np.arange(t.num))
    new = Tables(t.rules, t.num)
    engine.reset(new, 7, hand=1, begin=False)
    engine.begin_hand(new, np.arange(t.num), levels=levels, dealer=dealer, blood=blood)
    assert fields_unlike(t.select(rows), new.select(rows)) == []


@pytest.mark.parametrize("threads", [1, 4])
def test_threads_do_not_matter(tmp_path: Path, threads: int) -> None:
    settings = {"preset": "dalian", "seed": 17, "plies": 150, "threads": threads}
    (tmp_path / "trace.json").write_text(json.dumps(settings), "utf-8")
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
    answer = fresh("traced", tmp_path, PYTHONHASHSEED=str(threads), **dict.fromkeys(names, str(threads)))
    assert answer["threads"] in (0, threads)
    same = answer["hashes"] == trace(Rules.preset("dalian"), 17, 150)
    assert same


@pytest.mark.parametrize("preset", PRESETS)
def test_a_thousand_seeds_give_a_thousand_deals(preset: str) -> None:
    t = Tables(Rules.preset(preset), 1000)
    engine.reset(t, np.arange(1000, dtype=U64), table_ids=np.zeros(1000, U64))
    assert len({tuple(deck_of_draw(draw)) for draw in t.draw}) == 1000
    # One table at a time, as an environment is seeded.
    for seed in (0, 1, 999):
        alone = Tables(t.rules, 1)
        engine.reset(alone, seed)
        assert fields_unlike(alone, t.select(np.array([seed]))) == []
