"""PettingZoo environments that are reset to a hand that is over, or will be without a decision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gunzi_env
from gunzi_env.tables import Phase

ONE_EACH = "phase: lead\nhand 0: SA\nhand 1: SK\nhand 2: S4\nhand 3: S5\nkitty: H4 S6\n"
"""Nothing is left to decide: with ``skip_forced`` the hand is over at once; the dealers have guarded (R8.3), S = 0."""


@pytest.mark.parametrize("make", [gunzi_env.env, gunzi_env.raw_env])
def test_a_position_without_a_decision_is_over_at_once(make: Any) -> None:
    """As after the step that ends a hand: rewards and terminations for everybody, and nobody to act."""
    environment = make(skip_forced=True)
    environment.reset(options={"position": ONE_EACH})
    assert environment.unwrapped.tables.phase[0] == Phase.OVER
    slow = make()
    slow.reset(options={"position": ONE_EACH})
    slow.step(int(np.flatnonzero(slow.last()[0]["action_mask"])[0]))
    ends = []
    for one in (environment, slow):
        assert set(one.terminations.values()) == {True} and set(one.truncations.values()) == {False}
        received = {}
        for agent in one.agent_iter():
            observation, reward, termination, truncation, _ = one.last()
            assert termination and not truncation and not observation["action_mask"].any()
            received[agent] = reward
            one.step(None)
        assert not one.agents
        ends.append(received)
    assert ends[0] == ends[1]
    assert ends[0]["player_0"] == ends[0]["player_2"] == -ends[0]["player_1"] == -ends[0]["player_3"] > 0
    environment.reset(seed=1)
    assert len(environment.agents) == 4 and environment.last()[0]["action_mask"].any()


@pytest.mark.parametrize("make", [gunzi_env.env, gunzi_env.raw_env])
def test_a_position_without_a_decision_in_a_match(make: Any) -> None:
    """The match goes on with the next hand, or is cut off."""
    text = ONE_EACH + "score: 60\n"
    environment = make(episode="match", skip_forced=True)
    environment.reset(options={"position": text})
    assert environment.unwrapped.tables.hand[0] == 1 and not any(environment.terminations.values())
    assert environment.last()[0]["action_mask"].any()
    cut = make(episode="match", max_hands=1, skip_forced=True)
    cut.reset(options={"position": text})
    assert all(cut.truncations.values()) and not any(cut.terminations.values())


@pytest.mark.parametrize("make", [gunzi_env.env, gunzi_env.raw_env])
@pytest.mark.parametrize("episode", ["hand", "match"])
def test_a_record_of_a_finished_hand(make: Any, episode: str) -> None:
    """It is over at once, with the rewards of its last step; in a match the next hand is dealt."""
    played = gunzi_env.raw_env()
    played.reset(seed=4, options={"dealer": 1, "levels": (5, 4)})
    rng = np.random.default_rng(0)
    while played.tables.phase[0] != Phase.OVER:
        played.step(int(rng.choice(np.flatnonzero(played.last()[0]["action_mask"]))))
    text = played.record()
    environment = make(episode=episode)
    environment.reset(options={"record": text})
    if episode == "hand":
        assert environment.rewards == played.rewards and all(environment.terminations.values())
        assert environment.unwrapped.record() == text
        environment.step(None)
        assert len(environment.agents) == 3
    else:
        assert not any(environment.terminations.values()) and environment.last()[0]["action_mask"].any()
        assert environment.unwrapped.record().startswith(text)
        assert environment.unwrapped.tables.hand[0] == 1
