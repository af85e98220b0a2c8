"""PettingZoo's own tests for every preset and both episodes, and what they leave out (copies, masks, rewards)."""

from __future__ import annotations

import copy
import pickle
from functools import partial
from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, parallel_api_test, performance_benchmark, render_test, seed_test

import gunzi_env
from gunzi_env import IllegalAction, Rules, position, record
from gunzi_env.cards import format_cards
from gunzi_env.tables import Phase, Tables
from tests.rules.game import deck

CASES = [(preset, episode) for preset in Rules.presets() for episode in ("hand", "match")]


def play(env: Any, steps: int, seed: int = 0) -> int:
    """Random legal moves; returns how many were made before the end."""
    rng = np.random.default_rng(seed)
    for made in range(steps):
        if not env.agents:
            return made
        observation, _, termination, truncation, _ = env.last()
        env.step(None if termination or truncation else int(rng.choice(np.flatnonzero(observation["action_mask"]))))
    return steps


@pytest.mark.parametrize(("preset", "episode"), CASES)
@pytest.mark.filterwarnings("ignore")  # api_test warns of dict observations and of a render mode nobody asked for
def test_api(preset: str, episode: str, capsys: pytest.CaptureFixture[str]) -> None:
    make = partial(gunzi_env.env, rules=preset, episode=episode)
    api_test(make(), num_cycles=200)
    api_test(gunzi_env.raw_env(rules=preset, episode=episode), num_cycles=200)
    seed_test(make, num_cycles=60)
    render_test(make)
    # The parallel form of a turn-based game; max_cycles_test, state_test and parallel_seed_test ignore masks.
    parallel_api_test(gunzi_env.parallel_env(rules=preset, episode=episode), num_cycles=200)
    assert "Passed API test" in capsys.readouterr().out


def test_performance_benchmark(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """PettingZoo's benchmark can play the environment: five seconds of a clock that runs faster here."""
    clock = iter(np.arange(0, 10_000, 0.02))
    module = __import__("pettingzoo.test.performance_benchmark", fromlist=["time"])
    monkeypatch.setattr(module, "time", type("clock", (), {"time": staticmethod(lambda: float(next(clock)))}))
    performance_benchmark(gunzi_env.env())
    assert "Finished performance benchmark" in capsys.readouterr().out


@pytest.mark.skipif(not hasattr(pettingzoo, "register"), reason="PettingZoo before 1.27 has no registry")
def test_registered() -> None:
    made = pettingzoo.make("aec", "gunzi/dagunzi-v0", rules="classic")
    assert made.unwrapped.rules == Rules.preset("classic")
    assert str(made.unwrapped.metadata["name"]) == "dagunzi_v0"


@pytest.mark.parametrize("make", [gunzi_env.env, gunzi_env.raw_env])
def test_copies_keep_the_game(make: Any) -> None:
    env = make()
    env.reset(seed=3)
    play(env, 60)
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert twin.unwrapped.tables == env.unwrapped.tables
        assert play(twin, 30, seed=4) == 30
        assert twin.unwrapped.tables != env.unwrapped.tables, "a copy shares nothing"
    state = env.unwrapped.get_state()
    other = make()
    other.reset(seed=99)
    other.unwrapped.set_state(state)
    assert other.unwrapped.tables == env.unwrapped.tables
    play(other, 500, seed=5)
    play(env, 500, seed=5)
    assert other.unwrapped.tables == env.unwrapped.tables
    assert other.unwrapped.record() == env.unwrapped.record()
    other.reset()
    env.reset()
    assert other.unwrapped.tables == env.unwrapped.tables, "the generator is part of the state"


def test_seeds() -> None:
    hashes = set()
    env = gunzi_env.raw_env()
    for seed in range(100):
        env.reset(seed=seed)
        hashes.add(env.tables.hash64())
    assert len(hashes) == 100
    env.reset(seed=7)
    first = env.tables.hash64()
    env.reset()
    assert env.tables.hash64() != first, "an unseeded reset goes on to another game"
    env.reset(seed=7)
    assert env.tables.hash64() == first
    np.random.seed(0)  # noqa: NPY002 - the global generator must not matter
    env.reset(seed=7)
    assert env.tables.hash64() == first


@pytest.mark.parametrize("reward", ["levels", "points"])
def test_rewards_by_team(reward: str) -> None:
    env = gunzi_env.raw_env(reward=reward)
    for seed in range(20):
        env.reset(seed=seed)
        received = dict.fromkeys(env.possible_agents, 0.0)
        rng = np.random.default_rng(seed)
        for agent in env.agent_iter():
            observation, gained, termination, _, _ = env.last()
            received[agent] += gained
            env.step(None if termination else int(rng.choice(np.flatnonzero(observation["action_mask"]))))
        assert received["player_0"] == received["player_2"] == -received["player_1"] == -received["player_3"]
        t = env.tables
        if reward == "levels":
            team = 0 if t.next_dealer[0] in (0, 2) else 1
            deal = 0.0 if t.match_winner[0] >= 0 else 0.5 if team == 0 else -0.5
            assert received["player_0"] == t.gain[0, 0] - t.gain[0, 1] + deal
        else:
            margin = max(-1, min(1, (int(t.score[0]) - 120) / 120))
            assert received["player_0"] == pytest.approx(margin if t.dealer[0] % 2 else -margin)


def test_match_ends_once_and_truncates() -> None:
    env = gunzi_env.raw_env(episode="match")
    env.reset(seed=1)
    rng = np.random.default_rng(0)
    while not any(env.terminations.values()):
        mask = env.observe(env.agent_selection)["action_mask"]
        env.step(int(rng.choice(np.flatnonzero(mask))))
    assert sorted(env.rewards.values()) == [-1, -1, 1, 1]
    assert all(env.terminations.values())
    assert not any(env.truncations.values())
    env = gunzi_env.raw_env(episode="match", max_hands=1)
    env.reset(seed=1)
    play(env, 5000)
    assert env.tables.phase[0] == Phase.OVER


@pytest.mark.parametrize(
    "action",
    [-1, 184, 2**63, 2**70, 1.5, float("nan"), True, None, "0", np.array([1]), [0], np.float64(2), np.bool_(True)],
)
def test_illegal_actions(action: Any) -> None:
    env = gunzi_env.raw_env()
    env.reset(seed=5)
    play(env, 40)
    before = pickle.dumps(env.get_state())
    with pytest.raises(IllegalAction, match=r"illegal action .*(seat|whole)"):
        env.step(action)
    assert pickle.dumps(env.get_state()) == before


def test_every_masked_action_is_refused_by_name() -> None:
    env = gunzi_env.raw_env()
    env.reset(seed=5)
    play(env, 40)
    t: Tables = env.tables
    before = t.save()
    for action in np.flatnonzero(env.infos[env.agent_selection]["action_mask"] == 0):
        with pytest.raises(IllegalAction) as caught:
            env.step(int(action))
        assert caught.value.seat == t.seat[0]
        assert caught.value.phase == Phase(t.phase[0]).name
    assert t.save() == before


def test_terminate_illegal_wrapper() -> None:
    env = gunzi_env.env()
    env.reset(seed=5)
    mask = env.last()[0]["action_mask"]
    env.step(int(np.flatnonzero(mask == 0)[0]))
    assert all(env.terminations.values())


def test_reset_options() -> None:
    env = gunzi_env.raw_env()
    env.reset(seed=1, options={"levels": (5, "T"), "dealer": 1, "blood": 2})
    assert (env.tables.levels[0].tolist(), int(env.tables.dealer[0]), int(env.tables.blood[0])) == ([5, 10], 1, 2)
    assert env.tables.level[0] == 10
    play(env, 70)
    text = env.record()
    other = gunzi_env.raw_env()
    other.reset(options={"record": text})
    assert other.tables == env.tables
    position = "phase: lead\nhand 0: SA\nhand 1: SK\nhand 2: S4\nhand 3: S5\n"
    env.reset(options={"position": position})
    assert env.agent_selection == "player_0"
    with pytest.raises(ValueError, match="dealer is 7"):
        env.reset(options={"dealer": 7})
    with pytest.raises(ValueError, match="unknown rank 'x'"):
        env.reset(options={"levels": ("x", 3), "dealer": 0})
    with pytest.warns(UserWarning, match="unknown reset options"):
        env.reset(seed=1, options={"colour": 1})


@pytest.mark.parametrize("kitty", ["BJ LJ BJ LJ BJ LJ", "H4 H5 H6 C7 C8 C9"])
@pytest.mark.parametrize("dealer", [-1, 2])
def test_a_given_deal_is_recorded(kitty: str, dealer: int) -> None:
    """The record begins with the deck of the option, dealt again before the first decision (R4.8) or not."""
    env = gunzi_env.raw_env()
    env.reset(seed=5)
    first = int(env.tables.first[0]) if dealer < 0 else dealer
    text = format_cards(deck(env.rules, first=first, kitty=kitty))
    env.reset(seed=5, options={"deal": text, "dealer": dealer})
    again = dealer < 0 and kitty.startswith("BJ")
    assert bool(env.tables.attempt[0]) == again
    assert f"deal {text}" in env.record().splitlines()
    assert record.replay(env.record()).hash64() == env.tables.hash64()
    play(env, 30)
    assert record.replay(env.record()).hash64() == env.tables.hash64()


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="unknown preset 'nope': the presets are dalian"):
        gunzi_env.env(rules="nope")
    with pytest.raises(ValueError, match="unknown episode"):
        gunzi_env.env(episode="week")
    with pytest.raises(ValueError, match="reward 'match' needs"):
        gunzi_env.env(reward="match")
    with pytest.raises(ValueError, match="unknown render_mode"):
        gunzi_env.env(render_mode="rgb")
    with pytest.raises(ValueError, match="max_hands"):
        gunzi_env.raw_env(max_hands=0)


def test_dict_observation_and_state() -> None:
    env = gunzi_env.raw_env(observation="dict")
    env.reset(seed=2)
    for agent in env.agents:
        seen = env.observe(agent)
        assert env.observation_space(agent).contains(seen)
        assert np.concatenate(list(seen["observation"].values())).tolist() == [
            *gunzi_env.observe.encode(env.view(agent))[0].tolist()
        ]
        assert seen["action_mask"].any() == (agent == env.agent_selection)
    assert env.state_space.contains(env.state())


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ("x", "options are 'x'"),
        ({"levels": 3}, "option levels is 3"),
        ({"levels": (3, 4, 5), "dealer": 0}, "option levels"),
        ({"deal": [1, 2]}, "option deal is of type list"),
        ({"position": 3}, "option position is of type int"),
        ({"record": 3}, "option record is of type int"),
        ({"position": "phase: lead", "deal": "S3"}, "option position stands alone"),
        ({"record": "x", "dealer": 1}, "option record stands alone"),
        ({"deal": "S3 X9"}, "unknown card 'X9'"),
    ],
)
def test_bad_options_are_named(options: Any, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        gunzi_env.raw_env().reset(seed=1, options=options)


def test_before_reset() -> None:
    env = gunzi_env.raw_env()
    for call in (lambda: env.step(0), env.last):
        with pytest.raises(AttributeError, match=r"call reset\(\) first"):
            call()
    with pytest.raises(ValueError, match=r"call reset\(\) before"):
        gunzi_env.VectorEnv(4).step([0, 0, 0, 0])
    for seed in (-1, 1.5, 2**70, "x", True):
        with pytest.raises(ValueError, match="seed is"):
            gunzi_env.VectorEnv(4, seed=seed)
    for state in ("x", None, {}):
        with pytest.raises(ValueError, match="no state"):
            env.set_state(state)


def walk(environment: Any, seed: int) -> None:
    """Random play to the end of the episode."""
    rng = np.random.default_rng(seed)
    while environment.agents:
        observation, _, ended, cut, _ = environment.last()
        environment.step(None if ended or cut else int(rng.choice(np.flatnonzero(observation["action_mask"]))))


def test_a_match_from_a_position_has_no_record() -> None:
    """Its cards were never dealt; all else goes on: copies, the state, the next hand."""
    environment = gunzi_env.raw_env(episode="match", max_hands=2, skip_forced=True)
    text = position.format_position(position.setup(hands=["SA H9", "H4 D8", "S6 S7", "C8 C9"], kitty_cards="H6"))
    environment.reset(seed=3, options={"position": text})
    for other in (environment.clone(), gunzi_env.raw_env(episode="match", max_hands=2, skip_forced=True)):
        other.reset(seed=9)
        other.set_state(environment.get_state())
        walk(other, 5)
        with pytest.raises(ValueError, match="has no record"):
            other.record()
    walk(environment, 5)
    assert environment.tables == other.tables
    assert environment.tables.hand[0] > 0 or environment.tables.match_winner[0] >= 0


def test_forced_decisions_are_played_and_recorded() -> None:
    environment = gunzi_env.raw_env(skip_forced=True)
    environment.reset(seed=11)
    rng = np.random.default_rng(1)
    while environment.tables.phase[0] != Phase.OVER:
        mask = environment.observe(environment.agent_selection)["action_mask"]
        assert mask.sum() > 1
        environment.step(int(rng.choice(np.flatnonzero(mask))))
    again = record.replay(record.parse(environment.record()))
    assert again.hash64() == environment.tables.hash64()


def test_positions_and_records_of_other_rules_are_refused() -> None:
    environment = gunzi_env.raw_env("classic")
    other = gunzi_env.raw_env("dalian")
    other.reset(seed=1)
    with pytest.raises(record.RecordError, match="other rules"):
        environment.reset(options={"record": other.record()})
    for tables in (position.setup("dalian", hands=["S4", "S6", "S7", "S8"]), Tables(environment.rules, 2)):
        with pytest.raises(position.PositionError, match="not one table of this environment's rules"):
            environment.reset(options={"position": tables})


def test_render_without_a_mode_warns() -> None:
    environment = gunzi_env.raw_env()
    environment.reset(seed=1)
    with pytest.warns(UserWarning, match="without a render_mode"):
        assert environment.render() is None
    environment.close()
    with pytest.raises(ValueError, match="unknown observation 'rows': use flat or dict"):
        gunzi_env.raw_env(observation="rows")  # type: ignore[arg-type]


def test_a_match_cut_off_is_truncated_and_not_terminated() -> None:
    environment = gunzi_env.raw_env(episode="match", max_hands=1)
    for seed in range(20):
        environment.reset(seed=seed)
        rng = np.random.default_rng(seed)
        while not (any(environment.terminations.values()) or any(environment.truncations.values())):
            mask = environment.observe(environment.agent_selection)["action_mask"]
            environment.step(int(rng.choice(np.flatnonzero(mask))))
        ended = environment.tables.match_winner[0] >= 0
        assert set(environment.terminations.values()) == {ended}
        assert set(environment.truncations.values()) == {not ended}
