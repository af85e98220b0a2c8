"""Several processes play what one plays: every array of every step, whatever the number of workers."""

from __future__ import annotations

import gc
import re
from collections.abc import Generator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gunzi_env import IllegalAction, VectorEnv
from gunzi_env.planes import U64
from gunzi_env.vector.pool import partition
from gunzi_env.views import View

TABLES, SEED = 11, 5
"""Tables that neither two nor three processes can share evenly."""


@pytest.fixture(scope="module")
def pair() -> Generator[VectorEnv]:
    """Two processes; started once, as that takes a second."""
    with VectorEnv(TABLES, "dalian", seed=SEED, num_workers=2) as env:
        yield env


def choice(legal: npt.NDArray[np.bool_], ply: int) -> npt.NDArray[np.intp]:
    """Random legal actions; one fixed table of numbers a ply."""
    random: npt.NDArray[np.float64] = np.random.default_rng(ply).random(legal.shape)
    return (random * legal).argmax(axis=1)


def differing(one: VectorEnv, other: VectorEnv, a: tuple[Any, ...], b: tuple[Any, ...]) -> list[str]:
    """What is not the same to the last bit after a call that returned ``a`` and ``b``."""
    arrays = {"seats": (one.seats, other.seats), "points": (one.points, other.points)}
    arrays["words"] = one.legal_words, other.legal_words
    arrays |= {f"view {k}": both for k, both in enumerate(zip(a[0].buffers, b[0].buffers, strict=True))}
    arrays |= {f"returned {k}": both for k, both in enumerate(zip(a[1:], b[1:], strict=True))}
    return [name for name, (x, y) in arrays.items() if x.dtype != y.dtype or not np.array_equal(x, y)]


def same_results(one: VectorEnv, other: VectorEnv) -> bool:
    """Are the last results the same, the rows without a meaning too?"""
    return all(np.array_equal(mine, vars(other.result)[name]) for name, mine in vars(one.result).items())


def assert_same_games(one: VectorEnv, other: VectorEnv, plies: int) -> int:
    """Play both alike; returns how many episodes ended."""
    mine, theirs = one.reset(), other.reset()
    assert not differing(one, other, mine, theirs)
    ended = 0
    for ply in range(plies):
        actions = choice(mine[1], ply)
        step, their_step = one.step(actions), other.step(actions)
        assert not differing(one, other, step, their_step), f"ply {ply}"
        if ply % 50 == 0:
            assert np.array_equal(one.view_privileged(), other.view_privileged())
        assert not step[3].any() or same_results(one, other), f"ply {ply}"
        mine = step[:2]
        ended += int(step[3].sum())
    assert one.get_state() == other.get_state()
    return ended


def test_two_play_what_one_plays(pair: VectorEnv) -> None:
    assert assert_same_games(VectorEnv(TABLES, "dalian", seed=SEED), pair, 400) > TABLES


@pytest.mark.parametrize(
    ("workers", "options"),
    [
        (3, {"rules": "four_deck", "episode": "match", "reward": "points", "skip_forced": False}),
        (2, {"rules": "dalian_dead", "deal_value": 2.0, "table_ids": np.arange(TABLES, dtype=U64) * U64(2**60)}),
    ],
)
def test_any_number_and_any_options(workers: int, options: dict[str, Any]) -> None:
    with VectorEnv(TABLES, seed=1, num_workers=workers, **options) as env:
        assert len(set(env.worker_pids)) == workers - 1
        hands = assert_same_games(VectorEnv(TABLES, seed=1, **options), env, 250)
        assert hands or options.get("episode") == "match"


def test_the_checker_sees_other_games(pair: VectorEnv) -> None:
    """The negative control: another seed, and one table of another deal."""
    with pytest.raises(AssertionError):
        assert_same_games(VectorEnv(TABLES, "dalian", seed=SEED + 1), pair, 1)
    ids = np.arange(TABLES, dtype=U64)
    ids[-1] = TABLES
    with pytest.raises(AssertionError):
        assert_same_games(VectorEnv(TABLES, "dalian", seed=SEED, table_ids=ids), pair, 1)


def test_a_state_goes_from_one_to_the_other(pair: VectorEnv) -> None:
    one = VectorEnv(TABLES, "dalian", seed=9)
    _, legal = one.reset()
    for ply in range(60):
        _, legal, _, _ = one.step(choice(legal, ply))
    pair.set_state(one.get_state())
    assert pair.get_state() == one.get_state()
    assert np.array_equal(pair.seats, one.seats)
    seen = pair.observe()
    assert not differing(one, one, one.observe(), seen)
    actions = choice(seen[1], 60)
    assert not differing(one, pair, one.step(actions), pair.step(actions))
    with pytest.raises(ValueError, match=f"4 tables, this environment {TABLES}"):
        pair.set_state(VectorEnv(4, "dalian").get_state())


def test_illegal_actions_are_refused_alike_and_change_nothing(pair: VectorEnv) -> None:
    one = VectorEnv(TABLES, "dalian", seed=SEED)
    _, legal = one.reset()
    pair.reset()
    good, bad = legal.argmax(axis=1), (~legal).argmax(axis=1)
    before = pair.get_state()
    wrong: list[Any] = [good.astype(float), good[1:], None, [None] * TABLES, "a", np.full(TABLES, 2**64 - 1, U64)]
    for table in range(TABLES):
        for action in (bad[table], -1, one.num_actions):
            wrong.append(good.copy())
            wrong[-1][table] = action
    for actions in wrong:
        told = []
        for env in (one, pair):
            with pytest.raises(IllegalAction) as caught:
                env.step(actions)
            error = caught.value
            told.append((str(error), error.table, error.phase, error.seat, error.reason))
        assert told[0] == told[1]
    assert pair.get_state() == before
    assert not differing(one, pair, one.step(good), pair.step(good))


# What the caller is given is his -----------------------------------------------------------------------


def test_what_was_returned_never_changes(pair: VectorEnv) -> None:
    """All that 30 steps returned, kept: more than there are blocks to lend."""
    _, legal = pair.reset()
    kept: list[tuple[list[npt.NDArray[Any]], list[npt.NDArray[Any]]]] = []
    for ply in range(30):
        view, legal, rewards, done = pair.step(choice(legal, ply))
        arrays = [*view.buffers, legal, rewards, done, pair.points, pair.seats]
        kept.append((arrays, [array.copy() for array in arrays]))
    assert all(np.array_equal(a, b) for arrays, copies in kept for a, b in zip(arrays, copies, strict=True))
    assert not np.array_equal(kept[0][0][0], kept[1][0][0])


def test_a_part_of_what_was_returned_is_enough_to_keep_it(pair: VectorEnv) -> None:
    view, legal = pair.reset()
    hand, first = view.hand[0, 3:5], legal[2:3]
    before = hand.copy(), first.copy()
    del view, legal
    gc.collect()
    _, legal = pair.observe()
    for ply in range(12):
        _, legal, _, _ = pair.step(choice(legal, ply))
    assert np.array_equal(hand, before[0]) and np.array_equal(first, before[1])


def test_writing_into_what_was_returned_changes_no_game(pair: VectorEnv) -> None:
    one = VectorEnv(TABLES, "dalian", seed=SEED)
    (_, legal), (view, their_legal) = one.reset(), pair.reset()
    for ply in range(5):
        actions = choice(legal, ply)
        for array in (*view.buffers, their_legal, pair.seats, pair.points):
            array[...] = 1
        _, legal, _, _ = one.step(actions)
        view, their_legal, rewards, done = pair.step(actions)
        rewards[:], done[:] = 7, True
    assert pair.get_state() == one.get_state()


def address(view: View) -> int:
    return int(view.buffers[0].ctypes.data)


def test_memory_is_used_again(pair: VectorEnv) -> None:
    """A loop that keeps only what was returned last goes through few places; what lies there is no copy."""
    view, legal = pair.reset()
    places = set()
    for ply in range(10):
        view, legal, _, _ = pair.step(choice(legal, ply))
        places.add(address(view))
    assert len(places) == 2


# Arguments ---------------------------------------------------------------------------------------------


def test_shares_are_even() -> None:
    for num in range(1, 40):
        for processes in range(1, num + 1):
            parts = partition(num, processes)
            sizes = [part.stop - part.start for part in parts]
            assert sum(sizes) == num and max(sizes) - min(sizes) <= 1 and min(sizes) > 0
            assert [part.start for part in parts[1:]] == [part.stop for part in parts[:-1]]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((4, 0), "num_workers is 0: it must be a positive whole number"),
        ((4, 2.0), "num_workers is 2.0: it must be a positive whole number"),
        ((4, True), "num_workers is True"),
        ((4, 5), "num_workers is 5: it must be within 1..4, the number of tables"),
        ((0, 2), "number of tables is 0: it must be a positive whole number"),
    ],
)
def test_bad_numbers_are_named(arguments: tuple[Any, Any], named: str) -> None:
    with pytest.raises(ValueError, match=re.escape(named)):
        VectorEnv(arguments[0], num_workers=arguments[1])


def test_what_there_is_not_with_several_processes(pair: VectorEnv) -> None:
    import copy

    with pytest.raises(AttributeError, match="the tables are in 2 processes: get_state"):
        pair.tables  # noqa: B018 - that it is asked for is the test
    with pytest.raises(TypeError, match="cannot be copied: use get_state"):
        copy.deepcopy(pair)
    with pytest.raises(ValueError, match=r"call reset\(\) before"), VectorEnv(2, num_workers=2) as fresh:
        fresh.step([0, 0])


def test_one_worker_is_this_process() -> None:
    with VectorEnv(2, "dalian") as env:
        assert env.worker_pids == ()
        assert env.tables.num == 2
