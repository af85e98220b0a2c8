"""Populations of opponents: proportions, change between hands only, refreshed members, and resuming to the bit."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from gunzi_agents import checkpoint
from gunzi_agents.networks import ActorCritic, describe, to_arrays
from gunzi_env.keys import mix
from gunzi_env.rules import Rules
from gunzi_train import config as configuration
from gunzi_train.algorithms.ppo import PPO
from gunzi_train.commands import train
from gunzi_train.config import CollectConfig, Config, ConfigError, NetConfig, PopulationConfig, PPOConfig
from gunzi_train.device import settle_torch
from gunzi_train.group import Group
from gunzi_train.plan import Plan
from gunzi_train.rollout.collector import Collector, make_collector, shape_of
from gunzi_train.rollout.opponents import Frozen, Population, SelfPlay, make_opponents

RULES = Rules()
SMALL = Config(
    population=PopulationConfig(agents=("uniform", "greedy"), weights=(3.0, 1.0)),
    net=NetConfig(width=8, depth=1),
    collect=CollectConfig(tables=24, steps=40),
    ppo=PPOConfig(minibatch=64),
    precision="fp32",
)


@pytest.fixture(autouse=True, scope="module")
def _as_in_a_run() -> Iterator[None]:
    threads = torch.get_num_threads()
    settle_torch()
    yield
    torch.set_num_threads(threads)
    torch.set_flush_denormal(False)


def _population(collector: Collector) -> Population:
    assert isinstance(collector.opponents, Population)
    return collector.opponents


def _checkpoint(run: Path, update: int, seed: int) -> None:
    """A run's checkpoint with weights of its own."""
    (run / checkpoint.FOLDER).mkdir(parents=True, exist_ok=True)
    net = ActorCritic(shape_of(SMALL, RULES), torch.Generator().manual_seed(seed))
    meta = checkpoint.describe(RULES) | {"network": describe(net)}
    checkpoint.write(run / checkpoint.FOLDER / checkpoint.file_name(update), to_arrays(net), meta)


def test_a_configuration_names_the_opponents() -> None:
    alone = dataclasses.replace(SMALL, population=PopulationConfig())
    assert isinstance(make_opponents(alone, RULES), SelfPlay)
    assert isinstance(make_opponents(dataclasses.replace(alone, opponent="greedy"), RULES), Frozen)
    assert isinstance(make_opponents(SMALL, RULES), Population)
    for wrong, named in (
        ({"opponent": "greedy"}, "opponent is 'greedy'; with population.agents it must be empty"),
        ({"population": PopulationConfig(("greedy",), (1.0, 2.0))}, "population.weights has 2 numbers"),
        ({"population": PopulationConfig(("greedy",), (-1.0,))}, "allowed: numbers above 0"),
    ):
        with pytest.raises(ConfigError, match=named):
            configuration.check(dataclasses.replace(SMALL, **wrong))  # type: ignore[arg-type]
    made = configuration.read_toml_text(
        'population = {agents = ["greedy", "uniform"], weights = [1, 0.5], refresh = 3}'
    )
    assert made.population == PopulationConfig(("greedy", "uniform"), (1.0, 0.5), 3)
    assert configuration.from_dict(configuration.as_dict(made), "test") == made


def test_each_hand_has_an_opponent_drawn_by_its_deal_in_proportion() -> None:
    config = dataclasses.replace(SMALL, collect=CollectConfig(tables=4000, steps=1))
    tables = make_collector(config, RULES).env.tables
    population = make_opponents(config, RULES)
    assert isinstance(population, Population)
    rows = np.arange(4000)
    population.begin(tables, rows)
    share = float((population.playing == 0).mean())
    assert abs(share - 0.75) < 4 * np.sqrt(0.75 * 0.25 / 4000)
    before = population.playing.copy()
    population.begin(tables, rows[::-1])
    np.testing.assert_array_equal(population.playing, before)  # whatever the order
    tables.hand += 1
    population.begin(tables, rows)
    assert 0.2 < (population.playing != before).mean() < 0.55, "the next hand has a draw of its own"


def test_opponents_change_between_hands_only(monkeypatch: pytest.MonkeyPatch) -> None:
    learner = PPO(Plan(SMALL, RULES, False), Group())
    collector = learner.source
    assert isinstance(collector, Collector)
    population = _population(collector)
    step, changed, hands = collector.env.step, 0, 0
    playing = population.playing.copy()

    def watched(actions):  # type: ignore[no-untyped-def]
        nonlocal changed, hands, playing
        np.testing.assert_array_equal(
            collector.data.learner_mask[collector.t], collector.env.seats % 2 == population.team
        )
        answer = step(actions)
        moved = population.playing != playing
        changed += int(moved.sum())
        assert not (moved & ~done).any(), "an opponent changed within a hand"
        playing = population.playing.copy()
        done[:] = answer[3]
        hands += int(answer[3].sum())
        return answer

    done = np.zeros(SMALL.collect.tables, np.bool_)
    monkeypatch.setattr(collector.env, "step", watched)
    for _ in range(5):
        collector.collect(learner.net, False)
    assert hands > 20 and changed > 3
    assert collector.share == 0.5 and 0.3 < collector.data.learner_mask.mean() < 0.7
    assert set(np.unique(population.playing)) <= {0, 1}


def test_a_population_of_one_plays_as_that_agent_alone() -> None:
    """The keys of its draws are the same, and so is everything that is learned."""
    one = dataclasses.replace(SMALL, population=PopulationConfig(("uniform",)))
    alone = dataclasses.replace(SMALL, population=PopulationConfig(), opponent="uniform")
    learners = [PPO(Plan(config, RULES, False), Group()) for config in (one, alone)]
    for learner in learners:
        learner.update(0.0)
    assert torch.equal(learners[0].optimiser.weights, learners[1].optimiser.weights)


def test_a_run_against_a_population_goes_on_to_the_bit(tmp_path: Path) -> None:
    run = tmp_path / "other"
    _checkpoint(run, 1, seed=1)
    population = PopulationConfig(("uniform", str(run)), refresh=2)
    plan = Plan(dataclasses.replace(SMALL, population=population), RULES, False)
    whole = PPO(plan, Group())
    whole.update(0.0)
    _checkpoint(run, 2, seed=2)
    whole.update(0.0)  # reloads, while hands against the old member go on
    assert isinstance(whole.source, Collector)
    members = _population(whole.source).members
    assert [Path(m.spec).name for m in members] == ["uniform", checkpoint.file_name(1), checkpoint.file_name(2)]
    shared, own, counters = whole.shared_state(), whole.own_state(), whole.counters.as_dict()
    _checkpoint(run, 3, seed=3)  # too late for both until the next reload
    resumed = PPO(plan, Group())
    resumed.restore(shared, own, counters)
    for _ in range(4):
        for learner in (whole, resumed):
            learner.update(0.0)
    assert torch.equal(whole.optimiser.weights, resumed.optimiser.weights)
    assert whole.counters == resumed.counters
    own, again = whole.own_state(), resumed.own_state()
    assert all(np.array_equal(own[name], again[name]) for name in own)
    names = {Path(m.spec).name for m in _population(whole.source).members}
    assert checkpoint.file_name(3) in names and checkpoint.file_name(1) not in names, "who plays no more is dropped"


def test_a_removed_or_damaged_checkpoint_does_not_stop_a_population(tmp_path: Path) -> None:
    run = tmp_path / "other"
    _checkpoint(run, 1, seed=1)
    config = dataclasses.replace(SMALL, population=PopulationConfig((str(run),), refresh=1))
    population = make_opponents(config, RULES)
    assert isinstance(population, Population) and population.identity == "", "it changes by design"
    state = population.state()
    (first,) = checkpoint.listing(run)
    first.write_bytes(b"")
    population.next_rollout()
    assert population.members[0].spec == str(first)
    first.unlink()
    _checkpoint(run, 2, seed=2)
    resumed = make_opponents(config, RULES)
    resumed.restore(state)
    assert isinstance(resumed, Population) and Path(resumed.members[0].spec).name == checkpoint.file_name(2)


def test_frozen_members_are_part_of_the_identity(tmp_path: Path) -> None:
    run = tmp_path / "other"
    _checkpoint(run, 1, seed=1)
    population = make_opponents(dataclasses.replace(SMALL, population=PopulationConfig((str(run), "greedy"))), RULES)
    assert population.identity == checkpoint.load(run)[0].digest


def test_the_draws_of_a_population_are_no_keys_of_its_agents() -> None:
    from gunzi_train.rollout import collector, opponents

    assert mix(opponents._DRAW, np.uint64(1)) != mix(collector._OPPONENT, np.uint64(1))


def test_the_command_trains_against_a_population(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = "--population.agents uniform greedy --population.weights 1 2 --net.width 8 --net.depth 1 --collect.tables 8"
    argv += " --collect.steps 16 --ppo.minibatch 32 --schedule.updates 1 --precision fp32 --evaluate.every-seconds 0"
    words = [*argv.split(), "--save.no-tensorboard", "--save.curve-seconds", "0"]
    assert train.main([*words, "--out", str(tmp_path / "run")]) == 0
    found = checkpoint.load(tmp_path / "run")[0]
    assert found.meta["config"]["population"] == {"agents": ["uniform", "greedy"], "weights": [1.0, 2.0], "refresh": 0}
    capsys.readouterr()
    assert train.main([*words, "--population.agents", "nobody", "--population.weights", "1", "--out", "x"]) == 2
    assert "'nobody'" in capsys.readouterr().err
