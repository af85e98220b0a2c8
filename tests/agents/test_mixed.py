"""Bots made of others: how they are named, and who plays."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from gunzi_agents import registry
from gunzi_agents.base import AgentError, MissingAgentError
from gunzi_agents.greedy import Greedy
from gunzi_agents.mixed import BLUNDERS, Mixed, weak
from gunzi_agents.specs import SpecError, parse
from gunzi_agents.uniform import Uniform
from gunzi_env.keys import mix
from gunzi_env.rules import Rules
from gunzi_env.vector import VectorEnv
from gunzi_eval.matches import tournament

RULES = Rules.preset("dalian")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("greedy", "greedy"),
        (" greedy ", "greedy"),
        ("greedy@easy", "greedy@easy"),
        ("search(greedy,worlds=8)", "search(greedy, worlds=8)"),
        ("search( weak( runs/x y , blunders=.5 ) )@hard", "search(weak(runs/x y, blunders=0.5))@hard"),
        ("search(greedy, worlds=1048575)", "search(greedy, worlds=1048575)"),
        ("mixed(greedy@easy,uniform,share=0.25)", "mixed(greedy@easy, uniform, share=0.25)"),
    ],
)
def test_a_spec_is_written_as_it_is_read(text: str, written: str) -> None:
    assert str(parse(text)) == written
    assert parse(written) == parse(text)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "an agent's name is missing at the end"),
        ("search(", "an agent or an option is missing at the end"),
        ("search(greedy", "a closing bracket is missing"),
        ("search()", r"an agent or an option is missing at '\)'"),
        ("search(greedy))", r"nothing was expected from '\)' on"),
        ("search(greedy, worlds=many)", "worlds is 'many', it must be a number"),
        ("search(greedy, worlds=nan)", "worlds is 'nan', it must be a number"),
        ("search(greedy, confidence=inf)", "confidence is 'inf', it must be a number"),
        ("search(greedy, worlds=)", "a number for worlds is missing"),
        ("search(greedy, worlds=1, worlds=2)", "worlds is given twice"),
        ("greedy@", "a level is missing at the end"),
        ("greedy@easy@hard", "nothing was expected from '@hard' on"),
    ],
)
def test_a_text_that_is_no_spec_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(SpecError, match=complaint):
        parse(text)


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("greedy@never", "unknown level 'never'; there are easy, medium, hard"),
        ("greedy(uniform)", "greedy takes nothing in brackets"),
        ("search(greedy, uniform)", "search is made of 1 agent"),
        ("mixed(greedy)", "mixed is made of 2 agents"),
        ("mixed(greedy, uniform, share=2)", r"share is 2, it must be within 0\.\.1"),
        ("weak(greedy, blunder=1)", "unknown option blunder; there are blunders"),
        ("search(greedy, worlds=1)", "worlds is 1, it must be a whole number, 2 or more"),
        ("search(greedy, worlds=2.5)", "worlds is 2.5"),
        ("search(greedi)", "unknown agent 'greedi'; there are uniform"),
        ("search(greedy", "a closing bracket is missing"),
    ],
)
def test_what_cannot_be_built_is_named(spec: str, complaint: str) -> None:
    with pytest.raises(AgentError, match=complaint) as error:
        registry.make(spec, RULES)
    assert error.value.exit_code == 2


def test_a_missing_run_inside_brackets_is_missing() -> None:
    with pytest.raises(MissingAgentError, match="agent 'runs/none'"):
        registry.make("weak(runs/none)", RULES)


@pytest.mark.parametrize("spec", ["greedy@easy", "weak(greedy, blunders=0.3)", "mixed(greedy, uniform, share=0.5)"])
def test_an_agent_is_named_as_it_was_asked_for(spec: str) -> None:
    assert registry.make(spec, RULES).name == spec


def test_the_share_decides_who_plays() -> None:
    env = VectorEnv(4096, RULES, seed=3)
    view, legal = env.reset()
    keys = mix(np.uint64(9), np.arange(4096))
    greedy, other = Greedy().act(view, legal, keys), Uniform().act(view, legal, keys)
    differ = greedy != other
    assert differ.sum() > 500
    for share in (0.0, 0.25, 1.0):
        played = Mixed(Greedy(), Uniform(), share).act(view, legal, keys)
        assert np.all((played == greedy) | (played == other))
        found = np.mean((played == other)[differ])
        assert abs(found - share) < 6 * np.sqrt(share * (1 - share) / differ.sum()) + 1e-9


def test_a_decision_does_not_depend_on_the_batch() -> None:
    env = VectorEnv(256, RULES, seed=4)
    view, legal = env.reset()
    keys = mix(np.uint64(5), np.arange(256))
    agent = weak(Greedy(), 0.5)
    together = agent.act(view, legal, keys)
    some = np.arange(3, 256, 7)
    assert np.array_equal(agent.act(view.rows(some), legal[some], keys[some]), together[some])


def test_levels_are_ordered() -> None:
    """Each level loses to the next: points are read, since few deals tell little in levels."""
    assert list(BLUNDERS) == ["easy", "medium", "hard"]
    names = ["greedy@easy", "greedy@medium", "greedy@hard", "greedy"]
    for worse, better in pairwise(names):
        agents = (registry.make(better, RULES), registry.make(worse, RULES))
        pair = tournament.measure((better, worse), agents, RULES, deals=256, seed=1)
        assert pair.points.low is not None and pair.points.low > 0


def test_a_share_outside_its_range_is_refused() -> None:
    with pytest.raises(ValueError, match=r"share is 1.5: it must be within 0..1"):
        Mixed(Uniform(), Uniform(), 1.5)
