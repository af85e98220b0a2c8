"""Steps, refusals, and the state's copies: clone, select, assign, save, load, hash."""

from __future__ import annotations

import io
import pickle
import re
from typing import Any

import numpy as np
import pytest

from gunzi_env import IllegalAction, Rules, VectorEnv, engine
from gunzi_env.planes import U64
from gunzi_env.tables import NOBODY, Phase, Tables
from gunzi_env.testing import random_actions


def played(rules: str, tables: int, steps: int, seed: int = 0) -> Tables:
    t = Tables(Rules.preset(rules), tables)
    engine.reset(t, seed)
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        engine.step(t, random_actions(t, rng.integers(2**63, size=tables).astype(U64), 0.3))
    return t


@pytest.mark.parametrize("steps", [0, 3, 20, 60, 140])
def test_copies_are_independent(steps: int) -> None:
    t = played("four_deck", 5, steps)
    before = t.save()
    for other in (t.clone(), t.select(np.arange(5)), Tables.load(t.rules, before), pickle.loads(pickle.dumps(t))):
        assert other == t
        assert [other.hash64(n) for n in range(5)] == [t.hash64(n) for n in range(5)]
        engine.step(other, other.actions.unpack(other.legal).argmax(axis=1))
        assert other != t
        assert t.save() == before
    twin = t.clone()
    engine.step(t, t.actions.unpack(t.legal).argmax(axis=1))
    assert twin.save() == before


def test_select_and_assign() -> None:
    t = played("dalian", 4, 50)
    picked = t.select(np.array([2, 2, 0]))
    assert picked.num == 3
    assert picked.hash64(0) == picked.hash64(1) == t.hash64(2)
    target = played("dalian", 4, 10, seed=9)
    kept = target.hash64(1)
    target.assign(np.array([3, 0]), t.select(np.array([1, 2])))
    assert [target.hash64(n) for n in (3, 0, 1)] == [t.hash64(1), t.hash64(2), kept]
    with pytest.raises(ValueError, match="other rules"):
        target.assign(np.array([0]), played("classic", 1, 1))


def test_load_refuses() -> None:
    t = played("dalian", 2, 5)
    for data in (b"", b"PK", t.save()[:100], t.save()[:-50], pickle.dumps([1])):
        with pytest.raises(ValueError, match="no saved tables"):
            Tables.load(t.rules, data)
    with pytest.raises(ValueError, match="do not fit these rules"):
        Tables.load(Rules.preset("four_deck"), t.save())


@pytest.mark.parametrize("num", [0, -1, 1.0, True, "3"])
def test_number_of_tables(num: Any) -> None:
    with pytest.raises(ValueError, match="number of tables"):
        Tables(Rules.preset("dalian"), num)


@pytest.mark.parametrize(
    "actions",
    [[0], [[0], [0], [0]], [0.0, 1.0, 2.0], [True, False, True], None, "abc", [0, 1, None], [0, 2**70, 1], [0, -1, 0]],
)
def test_bad_shapes_and_types_change_nothing(actions: Any) -> None:
    t = played("dalian", 3, 40)
    before = t.save()
    with pytest.raises(IllegalAction):
        engine.step(t, actions)
    assert t.save() == before


def test_one_illegal_action_stops_all_tables_and_is_named() -> None:
    t = played("dalian", 3, 60)
    actions = t.actions.unpack(t.legal).argmax(axis=1)
    actions[1] = t.actions.SHOW
    before = t.save()
    with pytest.raises(IllegalAction) as caught:
        engine.step(t, actions)
    assert (caught.value.table, caught.value.seat) == (1, int(t.seat[1]))
    assert caught.value.phase == Phase(t.phase[1]).name
    assert "'show' is no choice here" in str(caught.value)
    assert t.save() == before
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.reason) == (str(caught.value), caught.value.reason)


def test_finished_tables_are_left_alone() -> None:
    t = played("dalian", 3, 60)
    while (t.phase != Phase.OVER).all():
        engine.step(t, t.actions.unpack(t.legal).argmax(axis=1))
    over = int(np.argmax(t.phase == Phase.OVER))
    before = t.hash64(over)
    while (t.phase != Phase.OVER).any():
        actions = t.actions.unpack(t.legal).argmax(axis=1)
        actions[over] = -5
        engine.step(t, actions)
        assert t.hash64(over) == before
    with pytest.raises(IllegalAction, match="over at every table"):
        engine.step(t, np.zeros(3, int))


def test_skip_forced_plays_the_same_game() -> None:
    """Forced decisions played by themselves lead where asked ones lead."""
    asked, skipped = played("dalian_dead", 32, 0, seed=4), played("dalian_dead", 32, 0, seed=4)
    engine.play_forced(skipped, np.arange(32))
    number = {}
    for t, skip in ((asked, False), (skipped, True)):
        decisions = 0
        while (t.phase != Phase.OVER).any():
            # A choice that depends on the position alone, not on how many questions came before.
            legal = t.actions.unpack(t.legal)
            score = (np.arange(t.actions.n) * 7919 + t.score[:, None] * 31 + t.held[:, None]) % 1009
            decisions += int((t.phase != Phase.OVER).sum())
            engine.step(t, np.where(legal, score, -1).argmax(axis=1), skip_forced=skip)
            single = (t.actions.unpack(t.legal).sum(axis=1) == 1) & skip
            assert not single.any()
        number[skip] = decisions
    assert asked == skipped
    assert number[True] < number[False]


def test_next_hand_follows_the_result() -> None:
    t = played("dalian", 64, 0, seed=2)
    rng = np.random.default_rng(0)
    for _ in range(3000):
        engine.step(t, random_actions(t, rng.integers(2**63, size=64).astype(U64), 0.0))
        over = np.flatnonzero(t.phase == Phase.OVER)
        before = t.select(over) if len(over) else None
        if before is None:
            continue
        engine.next_hand(t, over)
        new = before.match_winner != NOBODY
        assert (t.first_hand[over] == new).all()
        assert (t.levels[over[new]] == 3).all()
        assert (t.levels[over[~new]] == before.next_levels[~new]).all()
        assert (t.blood[over] == before.next_blood).all()
        assert (t.first[over[~new]] == before.next_dealer[~new]).all()
        assert (t.match[over] == before.match + new).all()
    assert t.match.sum() > 20


@pytest.mark.parametrize("episode", ["hand", "match"])
def test_vector_env(episode: Any) -> None:
    env = VectorEnv(48, "dalian", seed=5, episode=episode)
    _, legal = env.reset()
    rng = np.random.default_rng(0)
    ended = 0
    for _ in range(1500):
        level, dealer = env.tables.levels.copy(), env.tables.dealer.copy()
        view, legal, rewards, done = env.step((rng.random(legal.shape) * legal).argmax(axis=1))
        assert legal.any(axis=1).all()
        assert (legal.sum(axis=1) > 1).all(), "forced decisions are skipped"
        assert (view.seat == env.seats).all()
        assert (rewards.sum(axis=1) == 0).all()
        assert (rewards[:, 0] == rewards[:, 2]).all()
        assert (rewards[~done] == 0).all()
        rows = np.flatnonzero(done)
        ended += len(rows)
        if episode == "match":
            assert (env.result.match_winner[rows] != NOBODY).all()
            assert (np.abs(rewards[rows]) == 1).all()
        for n in rows:
            assert env.result.winner_dealers[n] == (env.result.score[n] < 120)
            assert dealer[n] in (-1, env.result.dealer[n])
            assert level[n].min() >= 3
    assert ended > (100 if episode == "hand" else 20)


def test_vector_env_points_add_up_to_the_score() -> None:
    env = VectorEnv(32, "dalian", seed=6)
    _, legal = env.reset()
    total = np.zeros(32, int)
    rng = np.random.default_rng(0)
    hands = 0
    for _ in range(800):
        _, legal, _, done = env.step((rng.random(legal.shape) * legal).argmax(axis=1))
        total += env.points
        for n in np.flatnonzero(done):
            sign = 1 if env.result.dealer[n] % 2 else -1
            assert total[n] == sign * env.result.score[n]
            total[n] = 0
            hands += 1
    assert hands > 50


def test_vector_env_state() -> None:
    env, twin = VectorEnv(8, "classic", seed=1), VectorEnv(8, "classic", seed=1)
    _, legal = env.reset()
    for _ in range(100):
        _, legal, _, _ = env.step(legal.argmax(axis=1))
    twin.set_state(env.get_state())
    assert twin.tables == env.tables
    with pytest.raises(ValueError, match="8 tables"):
        VectorEnv(4, "classic").set_state(env.get_state())


def test_deal_does_not_depend_on_global_state() -> None:
    first = played("dalian", 2, 0, seed=8).save()
    np.random.seed(1)  # noqa: NPY002 - it must not matter
    assert played("dalian", 2, 0, seed=8).save() == first


def test_load_refuses_a_file_without_tables() -> None:
    buffer = io.BytesIO()
    np.savez(buffer, other=np.zeros(3))
    with pytest.raises(ValueError, match="'phase' is missing or empty"):
        Tables.load(Rules.preset("dalian"), buffer.getvalue())
    assert played("dalian", 1, 0) != "a table"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"episode": "game"}, "unknown episode 'game': use one of hand, match"),
        ({"reward": "money"}, "unknown reward 'money': use one of levels, points, match"),
        ({"reward": "match"}, "reward 'match' needs episode 'match'"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": 1.0}, "seed is 1.0"),
    ],
)
def test_vector_env_names_bad_arguments(options: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=re.escape(named)):
        VectorEnv(2, **options)
    with pytest.raises(ValueError, match="call reset"):
        VectorEnv(2).step([0, 0])


@pytest.mark.parametrize("size", [1, 2, 3])
def test_vector_env_with_hands_of_a_card_or_two(size: int) -> None:
    """Nearly all that is decided is the burial; a hand is never over before somebody was asked."""
    rules = Rules(hand_size=size, kitty_size=162 - 4 * size)
    env = VectorEnv(4, rules, seed=1)
    _, legal = env.reset()
    rng = np.random.default_rng(0)
    hands = 0
    for _ in range(60):  # a step may be a hundred forced ones
        assert (legal.sum(axis=1) > 1).all()
        _, legal, _, done = env.step((rng.random(legal.shape) * legal).argmax(axis=1))
        hands += int(done.sum())
    assert hands > 4
