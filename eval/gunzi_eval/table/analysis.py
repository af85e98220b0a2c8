"""What a bot would do at a decision, and what it thinks that each action is worth, where it can say so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from gunzi_agents.base import Agent
from gunzi_agents.playing import ask
from gunzi_agents.search import Appraiser, Search
from gunzi_env import observe
from gunzi_env.observe import View
from gunzi_env.tables import Tables
from gunzi_eval.stats.intervals import Interval, student

BEST = 5
"""So many actions of an opinion are named."""

Values = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]


@runtime_checkable
class Policy(Protocol):
    """A bot that plays each action with a chance, or would: a network."""

    def probabilities(self, view: View, legal: Flags) -> Values:
        """The chance of each action, ``float32[B, A]``."""
        ...


@dataclass(frozen=True)
class ActionValue:
    """An action and what it is worth, with a 95 % interval and the number of worlds where it was searched."""

    action: int
    value: Interval
    worlds: int = 0


@dataclass(frozen=True)
class Analysis:
    """A bot's choice, and its best options in its own measure; none where it cannot say what it thinks."""

    agent: str
    choice: int
    measure: str = ""
    options: tuple[ActionValue, ...] = ()


def choices(agent: Agent, tables: Tables, keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
    """The agent's action at each of N tables, int32[N], for ``keys uint64[N]``.

    Raises:
        gunzi_agents.playing.AgentFault: it crashed or answered what is not legal.
    """
    everywhere = np.arange(tables.num)
    agent.reset()
    return ask(agent, observe.view(tables), tables.actions.unpack(tables.legal), keys, tables, everywhere)


def action_values(agent: Agent, tables: Tables) -> tuple[str, Values] | None:
    """How the agent measures actions and what each is worth at N tables, float32[N, A]; None if it cannot say."""
    view, legal = observe.view(tables), tables.actions.unpack(tables.legal)
    if isinstance(agent, Appraiser):
        return "worth in its own measure", agent.appraise(view, legal)
    if isinstance(agent, Policy):
        return "probability", agent.probabilities(view, legal)
    return None


def analyse(agent: Agent, tables: Tables, keys: npt.NDArray[np.uint64], played: int) -> Analysis:
    """What the agent thinks at one table, for ``keys uint64[1]``.

    Its choice and the action ``played`` are among the options, if it has weighed them at all.
    """
    choice = int(choices(agent, tables, keys)[0])
    measure, options = _searched(agent, tables, keys) if isinstance(agent, Search) else _appraised(agent, tables)
    if len(options) < 2:
        return Analysis(agent.name, choice)
    options = sorted(options, key=lambda option: -option.value.mean)
    named = [option for rank, option in enumerate(options) if rank < BEST or option.action in (choice, played)]
    return Analysis(agent.name, choice, measure, tuple(named))


def _appraised(agent: Agent, tables: Tables) -> tuple[str, list[ActionValue]]:
    found = action_values(agent, tables)
    if found is None:
        return "", []
    measure, worth = found
    legal = np.flatnonzero(tables.actions.unpack(tables.legal)[0])
    if (worth[0, legal] == worth[0, legal[0]]).all():  # it thinks nothing of them in this phase
        return measure, []
    return measure, [ActionValue(action, Interval(float(worth[0, action]), None, None)) for action in legal.tolist()]


def _searched(search: Search, tables: Tables, keys: npt.NDArray[np.uint64]) -> tuple[str, list[ActionValue]]:
    """The candidates of a search; the base bot's own move, against which they are measured, is worth 0."""
    found = search.weigh(observe.view(tables), tables.actions.unpack(tables.legal), keys)
    options = [ActionValue(int(found.candidates[0, 0]), Interval(0.0, None, None))]
    for column in np.flatnonzero(found.worlds[0, 1:] > 1) + 1:
        worlds, mean = int(found.worlds[0, column]), float(found.gains[0, column])
        half = student(worlds - 1) * float(found.errors[0, column])
        options.append(ActionValue(int(found.candidates[0, column]), Interval(mean, mean - half, mean + half), worlds))
    return f"levels gained over {search.base.name}'s own move", options
