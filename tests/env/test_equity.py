"""The match-equity tables, their look-up, and the reward that is made of them."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gunzi_env import Rules, VectorEnv, raw_env
from gunzi_env.keys import mix
from gunzi_env.published import equity
from gunzi_env.rules import RulesError
from gunzi_env.tables import NOBODY
from gunzi_env.testing import random_actions

DALIAN = Rules.preset("dalian")
JACK = dataclasses.replace(DALIAN, last_level=11, must_play=(3, 11))


def chance(rules: Rules, levels: tuple[int, int], dealer: int, blood: int = 0) -> float:
    found = equity.win_chance(
        rules, np.array([levels], np.int8), np.array([dealer], np.int8), np.array([blood], np.int16)
    )
    return float(found[0])


@pytest.mark.parametrize("preset", Rules.presets())
def test_tables_rise_with_the_own_level_and_fall_with_the_others(preset: str) -> None:
    table = equity.table(Rules.preset(preset))
    assert table.shape == equity.shape(Rules.preset(preset))
    assert ((table > 0) & (table < 1)).all()
    own, other = np.diff(table, axis=0), -np.diff(table, axis=1)
    # The level is the hand's too: at 5 the tribute takes level cards worth points, and dealers to whom much is owed are
    # better off there than at 6.
    six = 6 - 4
    assert own[six].min() > -0.12 and other[:, six].min() > -0.01
    assert (np.delete(own, six, axis=0) > 0).all() and (np.delete(other, six, axis=1) > 0).all()
    assert (own[:, :, 0] > 0).all() and (other[:, :, 0] > 0).all()
    assert (table[:, :, 4] > table[:, :, 0]).all()  # blood is paid to the dealers


@pytest.mark.parametrize("preset", Rules.presets())
def test_the_two_sides_chances_sum_to_one(preset: str) -> None:
    rules = Rules.preset(preset)
    for levels in ((3, 3), (4, 9), (10, 7)):
        for dealer in range(4):
            turned = chance(rules, levels[::-1], (dealer + 1) % 4, 2)
            assert chance(rules, levels, dealer, 2) == pytest.approx(1 - turned, abs=1e-12)
            assert chance(rules, levels, dealer) == chance(rules, levels, dealer ^ 2)
    assert chance(rules, (3, 3), NOBODY) == 0.5


def test_a_table_cannot_be_written_to() -> None:
    with pytest.raises(ValueError, match="read-only"):
        equity.table(DALIAN)[0] = 0


def test_the_rewards_of_a_match_are_its_result_less_what_it_began_with() -> None:
    env = VectorEnv(6, "dalian", seed=3, episode="match", reward="equity")
    env.reset()
    total, winner = np.zeros(6), np.full(6, NOBODY)
    hands = np.zeros(6, int)
    for ply in range(40_000):
        before = env.tables.hand.copy()
        _, _, rewards, done = env.step(random_actions(env.tables, mix(7, ply, np.arange(6)), 0.3))
        np.testing.assert_array_equal(rewards[:, 0], -rewards[:, 1])
        np.testing.assert_array_equal(rewards[:, :2], rewards[:, 2:])
        open_ = winner == NOBODY
        total[open_] += rewards[open_, 0]
        hands[open_] += (env.tables.hand != before)[open_]
        winner[done & open_] = env.result.match_winner[done & open_]
        if (winner != NOBODY).all():
            break
    assert (winner != NOBODY).all() and hands.max() > 2
    np.testing.assert_allclose(total, (winner == 0) - equity.FIRST_HAND, atol=1e-6)


def test_workers_pay_the_same() -> None:
    paid = []
    for workers in (1, 2):
        with VectorEnv(8, "dalian", seed=2, reward="equity", num_workers=workers) as env:
            _, legal = env.reset()
            total = np.zeros((8, 4))
            for _ in range(250):
                _, legal, rewards, _ = env.step(legal.argmax(axis=1))
                total += rewards
        paid.append(total)
    assert paid[0].any()
    np.testing.assert_array_equal(*paid)


def test_a_hand_is_rewarded_with_the_change_of_the_chance() -> None:
    env = VectorEnv(64, "dalian", seed=5, reward="equity")
    env.reset()
    seen = 0
    for ply in range(400):
        t = env.tables
        start = [t.levels.copy(), np.where(t.first_hand, NOBODY, t.dealer), t.blood.copy()]
        _, _, rewards, done = env.step(random_actions(t, mix(9, ply, np.arange(64)), 0.3))
        for n in np.flatnonzero(done):
            before = chance(DALIAN, tuple(start[0][n]), int(start[1][n]), int(start[2][n]))
            won = env.result.match_winner[n]
            if won != NOBODY:
                assert rewards[n, 0] == pytest.approx((won == 0) - before, abs=1e-6)
            else:
                assert -before < rewards[n, 0] < 1 - before
            seen += 1
    assert seen > 64


def test_both_environments_pay_the_same() -> None:
    position = {"levels": [9, 10], "dealer": 1, "blood": 2}
    env = raw_env(reward="equity")
    env.reset(seed=1, options=position)
    rng = np.random.default_rng(0)
    while not any(env.terminations.values()):
        env.step(int(rng.choice(np.flatnonzero(env.infos[env.agent_selection]["action_mask"]))))
    paid = float(equity.gained(env.tables, np.array([0]))[0])
    assert list(env.rewards.values()) == pytest.approx([paid, -paid, paid, -paid], abs=1e-6)
    assert paid != 0
    result = equity.win_chance(DALIAN, env.tables.next_levels, env.tables.next_dealer, env.tables.next_blood)[0]
    assert env.tables.match_winner[0] == NOBODY
    assert paid == pytest.approx(result - chance(DALIAN, (9, 10), 1, 2))


@pytest.mark.parametrize("make", [lambda: VectorEnv(1, JACK, reward="equity"), lambda: raw_env(JACK, reward="equity")])
def test_rules_without_a_table_are_refused_at_once(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(equity.FOLDER, raising=False)
    with pytest.raises(RulesError, match=rf"digest {JACK.digest}.*'gunzi equity --make .*{equity.FOLDER} is not set"):
        make()


def test_a_table_of_ones_own_rules_is_read_from_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(equity.FOLDER, str(tmp_path))
    with pytest.raises(RulesError, match=f"{equity.FOLDER}={tmp_path}"):
        equity.table(JACK)
    chances = np.random.default_rng(0).random(equity.shape(JACK)).round(4)
    (tmp_path / f"{JACK.digest}.json").write_text(json.dumps(equity.document(JACK, "a test", chances)))
    try:
        np.testing.assert_array_equal(equity.table(JACK), chances)
        assert chance(JACK, (11, 3), 3, 4) == pytest.approx(1 - chances[0, 8, 4])
        assert VectorEnv(1, JACK, reward="equity").reward == "equity"
    finally:
        equity.table.cache_clear()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"version": 99}, "version is 99, not 1"),
        ({"preset": "classic"}, "preset is 'classic', not 'dalian'"),
        ({"fields": []}, "fields is"),
        ({"rows": []}, "the rows are not chances"),
        ({"rows": None}, "the rows are not chances"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(change: dict[str, Any], named: str) -> None:
    document = equity.document(DALIAN, "a test", equity.table(DALIAN)) | change
    with pytest.raises(RulesError, match=rf"table dalian\.json: {named}"):
        equity.read(DALIAN, json.dumps(document))


def test_a_table_of_other_custom_rules_is_refused() -> None:
    document = equity.document(JACK, "a test", np.zeros(equity.shape(JACK))) | {"rules": "0" * 16}
    with pytest.raises(RulesError, match="rules is '0000000000000000'"):
        equity.read(JACK, json.dumps(document))


@pytest.mark.parametrize("value", [1.5, -0.1, float("nan"), "a"])
def test_a_chance_outside_0_to_1_is_refused(value: Any) -> None:
    document = equity.document(DALIAN, "a test", equity.table(DALIAN))
    document["rows"][5][2][1] = value
    with pytest.raises(RulesError, match="the rows are not chances"):
        equity.read(DALIAN, json.dumps(document))


def test_text_that_is_no_table_is_refused() -> None:
    for text in ("", "[]", "{}", "null", "[" * 100_000):
        with pytest.raises(RulesError, match=r"dalian\.json is no match-equity table"):
            equity.read(DALIAN, text)
