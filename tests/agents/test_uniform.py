"""The uniform agent and the registry."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from gunzi_agents import registry
from gunzi_agents.base import Agent, AgentError, MissingAgentError
from gunzi_agents.uniform import Uniform, choose
from gunzi_env.keys import mix
from gunzi_env.rules import Rules

RULES = Rules.preset("dalian")


def masks(rows: int, columns: int = 184, seed: int = 1) -> np.ndarray:
    """Random legal sets of very different sizes, none empty."""
    rng = np.random.default_rng(seed)
    legal = rng.random((rows, columns)) < rng.random((rows, 1)) ** 3
    legal[np.arange(rows), rng.integers(0, columns, rows)] = True
    return legal


def keys_of(rows: int) -> np.ndarray:
    return mix(np.arange(rows, dtype=np.uint64))


def test_choice_is_legal_and_typed() -> None:
    legal = masks(5000)
    actions = choose(legal, keys_of(5000))
    assert actions.dtype == np.int32 and actions.shape == (5000,)
    assert legal[np.arange(5000), actions].all()


def test_each_legal_action_has_the_same_chance() -> None:
    """Chi square over 7 legal actions, 70,000 draws: beyond 27.9 once in ten thousand."""
    legal = np.zeros((70_000, 184), bool)
    places = [0, 1, 53, 54, 100, 162, 183]
    legal[:, places] = True
    counts = np.bincount(choose(legal, keys_of(70_000)), minlength=184)[places]
    assert counts.sum() == 70_000
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 27.9


def test_choice_depends_on_key_and_row_alone() -> None:
    legal, keys = masks(1000), keys_of(1000)
    whole = choose(legal, keys)
    order = np.random.default_rng(2).permutation(1000)
    np.testing.assert_array_equal(choose(legal[order], keys[order]), whole[order])
    parts = [choose(legal[i : i + 1], keys[i : i + 1])[0] for i in range(1000)]
    np.testing.assert_array_equal(parts, whole)
    assert (choose(legal, mix(keys, np.uint64(1))) != whole).mean() > 0.5


def test_single_legal_action_is_taken() -> None:
    legal = np.zeros((184, 184), bool)
    np.fill_diagonal(legal, True)
    np.testing.assert_array_equal(choose(legal, keys_of(184)), np.arange(184))


def test_empty_row_is_refused_by_number() -> None:
    legal = masks(10)
    legal[4] = False
    with pytest.raises(ValueError, match="row 4 has no legal action"):
        choose(legal, keys_of(10))
    assert len(choose(legal[:0], keys_of(0))) == 0


def test_uniform_is_an_agent() -> None:
    assert isinstance(Uniform(), Agent)
    assert registry.make("uniform", RULES).name == "uniform"


def test_registry_names_what_there_is() -> None:
    with pytest.raises(AgentError, match="unknown agent 'unifrom'; there are uniform, greedy") as error:
        registry.make("unifrom", RULES)
    assert error.value.exit_code == 2
    with pytest.raises(MissingAgentError, match="runs/none") as error:
        registry.make("runs/none", RULES)
    assert error.value.exit_code == 3


def test_every_named_agent_is_built() -> None:
    for name in registry.names():
        assert isinstance(registry.make(name, RULES), Agent)


def test_rule_bots_need_no_torch() -> None:
    code = (
        "import sys; from gunzi_agents import make; from gunzi_env import Rules\n"
        "for name in ('uniform', 'greedy'): make(name, Rules())\n"
        "print('torch' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert run.stdout.strip() == "False", run.stderr
