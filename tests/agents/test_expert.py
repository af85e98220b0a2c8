"""``expert`` beside ``greedy``, whose habits it shares (test_rule_bots.py): circumstances, worths and strength."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from gunzi_agents import expert_weights, registry
from gunzi_agents.expert import Expert
from gunzi_agents.expert_play import ExpertPlayer
from gunzi_agents.greedy_play import Weights
from gunzi_agents.reading import Reading
from gunzi_env import engine, observe, position
from gunzi_env.rules import Rules
from gunzi_env.tables import Phase
from gunzi_env.vector import VectorEnv
from gunzi_eval.matches import tournament


def player(view: observe.View) -> ExpertPlayer:
    return ExpertPlayer(Reading(view), Weights())


def test_every_weight_has_its_circumstance() -> None:
    width = len(expert_weights.CIRCUMSTANCES)
    for table in (expert_weights.LEAD, expert_weights.FOLLOW):
        assert all(len(row) == width and np.isfinite(row).all() for row in table.values())


def circumstance(name: str, **options: object) -> float:
    t = position.setup(leader=0, **options)  # type: ignore[arg-type]
    found = player(observe.view(t)).circumstances
    return float(found[expert_weights.CIRCUMSTANCES.index(name), 0])


HANDS = ["HA H4", "C4 C6", "D4 D6", "C7 D7"]


def test_circumstances() -> None:
    assert circumstance("dealer", hands=HANDS, dealer=0) == 1
    assert circumstance("dealer", hands=HANDS, dealer=2) == 0
    assert circumstance("attacker", hands=HANDS, dealer=2) == 0
    assert circumstance("attacker", hands=HANDS, dealer=1) == 1
    assert circumstance("late", hands=HANDS) == pytest.approx(1 - 2 / 39)
    assert circumstance("end", hands=HANDS) == pytest.approx(np.exp(-2 / 5))
    kitty = {"kitty_cards": "BJ LJ D5 DT D8 D9", "dealer": 0}
    assert circumstance("jokers", hands=HANDS, **kitty) == 3  # R9: two for the big one
    assert circumstance("kitty", hands=HANDS, **kitty) == pytest.approx(15 / 20)


def test_the_score_tells_who_is_winning() -> None:
    """R9: attackers want ``take``, and the nearer it is the more a few points decide."""
    env = VectorEnv(64, "dalian", seed=8)
    view, legal = env.reset()
    for _ in range(105):
        view, legal, _, _ = env.step(Expert().act(view, legal, np.zeros(64, np.uint64)))
    late = view.rows(np.flatnonzero((view.phase == Phase.LEAD) & (view.held < 12) & (view.held > 4)))
    attacker = (late.dealer & 1) == 1
    assert attacker.any() and not attacker.all()
    rows = [player(late.replace(score=np.full(len(late), score, np.int16))).circumstances for score in (0, 105, 240)]
    winning, close = ([row[expert_weights.CIRCUMSTANCES.index(name)] for row in rows] for name in ("winning", "close"))
    for lower, higher in pairwise(winning):
        assert (np.where(attacker, higher - lower, lower - higher) > 0).all()
    assert (np.where(attacker, winning[0], 1 - winning[0]) < 0.1).all()
    assert (np.where(attacker, winning[2], 1 - winning[2]) > 0.9).all()
    assert (close[1] > close[0]).all() and (close[1] > close[2]).all()


def test_it_plays_what_it_thinks_most_of() -> None:
    """Single cards: what is appraised highest is played; of throws of several cards the appraisal is a rough one."""
    env = VectorEnv(256, "dalian", seed=8)
    agent, seen = Expert(), 0
    view, legal = env.reset()
    for _ in range(60):
        actions = agent.act(view, legal, np.zeros(256, np.uint64))
        single = (view.phase == Phase.LEAD) | ((view.phase == Phase.FOLLOW) & (view.led_count == 1))
        worth = np.where(legal, agent.appraise(view, legal), -np.inf)
        best = worth.max(axis=1)
        np.testing.assert_allclose(worth[np.arange(256), actions][single], best[single], rtol=1e-4, atol=1e-3)
        seen += int(single.sum())
        view, legal, _, _ = env.step(actions)
    assert seen > 3000


def test_the_last_trick_counts_more_with_jokers_in_the_kitty() -> None:
    """R9: a dig or a guard is worth 1 + J levels."""
    worth = []
    for kitty in ("D4 D6 D7 D8 D9 DJ", "BJ BJ D7 D8 D9 DJ"):
        t = position.setup(hands=["LJ H4", "C4 C6", "C8 C6", "C7 C9"], leader=0, dealer=0, kitty_cards=kitty)
        legal = engine.legal(t)
        values = Expert().appraise(observe.view(t), legal)[0]
        low, high = np.flatnonzero(legal[0])
        worth.append(float(values[low] - values[high]))
    assert worth[1] > worth[0]


def test_beats_greedy() -> None:
    """A coarse check of few deals: the strength is measured in docs/leaderboard.md."""
    rules = Rules.preset("dalian")
    agents = (registry.make("expert", rules), registry.make("greedy", rules))
    pair = tournament.measure(("expert", "greedy"), agents, rules, deals=512, seed=11)
    assert pair.points.low is not None and pair.points.low > 2
    assert pair.levels.mean > 0.05
