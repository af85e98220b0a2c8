"""Search: its guard, its budget, and that it finds what its base bot does not see."""

from __future__ import annotations

import numpy as np
import pytest

from gunzi_agents.expert import Expert
from gunzi_agents.search import ROUND, SEARCHED, Budget, Search
from gunzi_agents.uniform import Uniform
from gunzi_env import engine, observe
from gunzi_env.keys import mix
from gunzi_env.observe import View
from gunzi_env.tables import Phase
from gunzi_env.vector import VectorEnv

Decisions = tuple[View, np.ndarray, np.ndarray]


def decisions(plies: int, tables: int = 24, preset: str = "dalian", phase: Phase | None = None) -> Decisions:
    """Views, legal actions and keys after so many decisions of ``expert``."""
    env = VectorEnv(tables, preset, seed=6)
    view, legal = env.reset()
    for _ in range(plies):
        view, legal, _, _ = env.step(Expert().act(view, legal, np.zeros(tables, np.uint64)))
    rows = np.flatnonzero(view.phase == phase) if phase is not None else np.arange(tables)
    return view.rows(rows), legal[rows], mix(np.uint64(3), rows)


def test_what_is_weighed() -> None:
    view, legal, keys = decisions(90)
    found = Search(Expert(), Budget(worlds=16, candidates=3)).weigh(view, legal, keys)
    own = Expert().act(view, legal, keys)
    here = np.arange(len(view))
    np.testing.assert_array_equal(found.candidates[:, 0], own)
    np.testing.assert_array_equal(found.gains[:, 0], 0)
    searched = np.isin(view.phase, SEARCHED) & (legal.sum(axis=1) > 1)
    assert searched.sum() > 15
    assert (found.worlds[~searched] == 0).all()
    assert np.isin(found.worlds[searched, 1:], [0, 8, 16]).all() and (found.worlds[searched, 0] > 0).all()
    for row in here[searched]:
        named = found.candidates[row][found.candidates[row] >= 0]
        assert len(set(named)) == len(named) > 1 and legal[row, named].all()
    assert (found.choice[:, None] == found.candidates).any(axis=1).all()
    assert legal[here, found.choice].all()


def test_the_guard_keeps_the_base_bots_move() -> None:
    view, legal, keys = decisions(95)
    own = Expert().act(view, legal, keys)
    sure = Search(Expert(), Budget(worlds=8, confidence=1e6))
    np.testing.assert_array_equal(sure.act(view, legal, keys), own)
    bold = Search(Expert(), Budget(worlds=8, confidence=0.0, margin=0.0))
    assert (bold.act(view, legal, keys) != own).any()


def test_a_decision_does_not_depend_on_the_batch() -> None:
    view, legal, keys = decisions(100, tables=20)
    search = Search(Expert(), Budget(worlds=8, confidence=0.5))
    together = search.act(view, legal, keys)
    some = np.array([3, 7, 11])
    np.testing.assert_array_equal(search.act(view.rows(some), legal[some], keys[some]), together[some])
    again = Search(Expert(), Budget(worlds=8, confidence=0.5)).act(view, legal, keys)
    np.testing.assert_array_equal(again, together)


@pytest.mark.parametrize("preset", ["classic", "dalian_dead", "four_deck"])
def test_it_plays_hands_to_their_end(preset: str) -> None:
    env = VectorEnv(4, preset, seed=2)
    search = Search(Uniform(), Budget(worlds=2, candidates=2))
    view, legal = env.reset()
    ended = 0
    for ply in range(190):
        searching = ply % 8 == 0 or (view.held < 5).any()
        agent = search if searching else Expert()
        view, legal, _, done = env.step(agent.act(view, legal, mix(np.arange(4, dtype=np.uint64), ply)))
        ended += int(done.sum()) if searching else 0
    assert ended


def test_time_is_a_budget() -> None:
    view, legal, keys = decisions(110, tables=4)
    found = Search(Expert(), Budget(worlds=1 << 20, confidence=0.0, margin=-9.0, ms=1.0)).weigh(view, legal, keys)
    assert ROUND <= found.worlds.max() <= 4 * ROUND


def test_finds_what_its_base_bot_does_not_see() -> None:
    """The end of the same hands twice: with search in two seats, and with its base bot there."""
    env = VectorEnv(96, "dalian", seed=12)
    view, legal = env.reset()
    for _ in range(104):
        view, legal, _, _ = env.step(Expert().act(view, legal, np.zeros(96, np.uint64)))
    rows = np.flatnonzero((env.tables.held > 6) & (env.tables.held < 18))
    assert len(rows) > 20
    searching, plain = env.tables.select(rows), env.tables.select(rows)
    search = Search(Uniform(), Budget(worlds=16, candidates=6, confidence=0.7))
    for agent, tables in ((search, searching), (Uniform(), plain)):
        ply = 0
        while (live := np.flatnonzero(tables.phase != Phase.OVER)).size:
            actions = np.full(tables.num, tables.actions.PASS, np.int32)
            for team, player in ((0, agent), (1, Uniform())):
                mine = live[(tables.seat[live] & 1) == team]
                keys = mix(np.uint64(ply), mine)
                actions[mine] = player.act(observe.view(tables, mine), tables.actions.unpack(tables.legal[mine]), keys)
            engine.step(tables, actions, skip_forced=True)
            ply += 1
    sign = np.where((plain.dealer & 1) == 0, -1, 1)
    gained = (searching.score.astype(float) - plain.score) * sign
    assert gained.mean() > 3 * gained.std() / np.sqrt(len(gained)) > 0
