"""A bot's choice at a decision, and its values of the actions, if it can report them."""

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
"""Number of actions in an analysis."""

Values = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]


@runtime_checkable
class Policy(Protocol):
    """A bot that can report action probabilities, such as a network."""

    def probabilities(self, view: View, legal: Flags) -> Values:
        """Return the probability of each action, ``float32[B, A]``."""
        ...


@dataclass(frozen=True)
class ActionValue:
    """An action and its value; for a search, with a 95 % interval and the number of sampled worlds."""

    action: int
    value: Interval
    worlds: int = 0


@dataclass(frozen=True)
class Analysis:
    """A bot's choice and its best actions in its own measure; no values if the bot cannot report any."""

    agent: str
    choice: int
    measure: str = ""
    values: tuple[ActionValue, ...] = ()


def choices(agent: Agent, tables: Tables, keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
    """Ask the agent for its action at each of N tables, ``int32[N]``, with ``keys uint64[N]``.

    Raises:
        gunzi_agents.playing.AgentFault: the agent crashed or chose an illegal action.
    """
    everywhere = np.arange(tables.num)
    agent.reset()
    return ask(agent, observe.view(tables), tables.actions.unpack(tables.legal), keys, tables, everywhere)


def action_values(agent: Agent, tables: Tables) -> tuple[str, Values] | None:
    """Return the agent's measure and its values of all actions at N tables, ``float32[N, A]``, or None."""
    view, legal = observe.view(tables), tables.actions.unpack(tables.legal)
    if isinstance(agent, Appraiser):
        return "worth in its own measure", agent.appraise(view, legal)
    if isinstance(agent, Policy):
        return "probability", agent.probabilities(view, legal)
    return None


def analyse(agent: Agent, tables: Tables, keys: npt.NDArray[np.uint64], played: int | None = None) -> Analysis:
    """Analyse the decision at one table with an agent.

    Args:
        agent: The bot.
        tables: One table.
        keys: ``uint64[1]``, for random choices.
        played: Action to list in addition to the best ones, if the agent values it.

    Raises:
        gunzi_agents.playing.AgentFault: the agent crashed or chose an illegal action.
    """
    choice = int(choices(agent, tables, keys)[0])
    measure, values = _searched(agent, tables, keys) if isinstance(agent, Search) else _appraised(agent, tables)
    if len(values) < 2:
        return Analysis(agent.name, choice)
    values = sorted(values, key=lambda value: -value.value.mean)
    named = [value for rank, value in enumerate(values) if rank < BEST or value.action in (choice, played)]
    return Analysis(agent.name, choice, measure, tuple(named))


def _appraised(agent: Agent, tables: Tables) -> tuple[str, list[ActionValue]]:
    found = action_values(agent, tables)
    if found is None:
        return "", []
    measure, values = found
    legal = np.flatnonzero(tables.actions.unpack(tables.legal)[0])
    if (values[0, legal] == values[0, legal[0]]).all():  # it does not value actions in this phase
        return measure, []
    return measure, [ActionValue(action, Interval(float(values[0, action]), None, None)) for action in legal.tolist()]


def _searched(search: Search, tables: Tables, keys: npt.NDArray[np.uint64]) -> tuple[str, list[ActionValue]]:
    """Return the candidates of a search; values are relative to the base bot's own action, which has value 0."""
    found = search.weigh(observe.view(tables), tables.actions.unpack(tables.legal), keys)
    values = [ActionValue(int(found.candidates[0, 0]), Interval(0.0, None, None))]
    for column in np.flatnonzero(found.worlds[0, 1:] > 1) + 1:
        worlds, mean = int(found.worlds[0, column]), float(found.gains[0, column])
        half = student(worlds - 1) * float(found.errors[0, column])
        values.append(ActionValue(int(found.candidates[0, column]), Interval(mean, mean - half, mean + half), worlds))
    return f"levels gained over {search.base.name}'s own move", values
