"""Agents by name: :func:`make` builds an agent from the text of a spec.

Other packages add agents without a change here:

* an entry point of the group ``gunzi.agents``, ``NAME = "module:function"``, makes ``NAME`` an agent;
* the spec ``py:MODULE:FUNCTION`` names a function directly, in a module that is installed or in the current folder;
* :func:`register` and :func:`composite` add one to this process. The worker processes of a tournament build agents
  again by name, so there the module that registers must be imported too: entry points and ``py:`` always work.

The function takes the :class:`~gunzi_env.rules.Rules` and returns an :class:`~gunzi_agents.base.Agent`.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from gunzi_agents import options, specs
from gunzi_agents.base import Agent, AgentError, MissingAgentError
from gunzi_agents.expert import Expert
from gunzi_agents.greedy import Greedy
from gunzi_agents.mixed import BLUNDERS, Mixed, MixedOptions, WeakOptions, weak
from gunzi_agents.search import Budget, Search
from gunzi_agents.specs import Spec
from gunzi_agents.uniform import Uniform
from gunzi_env.rules import Rules

GROUP = "gunzi.agents"
"""Entry-point group: agent name -> ``module:function(rules: Rules) -> Agent``."""
PYTHON = "py:"
"""Prefix of specs that name a function, ``py:MODULE:FUNCTION``."""

Build = Callable[[Rules], Agent]


@dataclass(frozen=True)
class Composite:
    """A kind of agent made of other agents."""

    agents: int
    """Number of agents it is made of."""
    options: type
    """Dataclass of its options, see :mod:`gunzi_agents.options`."""
    build: Callable[[list[Agent], Any, str], Agent]
    """Builds it from its agents, its options and its name."""


_BUILDERS: dict[str, Build] = {}
_COMPOSITES: dict[str, Composite] = {}


def register(name: str, build: Build) -> None:
    """Add an agent that needs no file and no other agent, to this process.

    Raises:
        ValueError: the name is taken, or is not a name of the spec syntax.
    """
    _require_free(name)
    _BUILDERS[name] = build


def composite(name: str, *, agents: int, options: type, build: Callable[[list[Agent], Any, str], Agent]) -> None:
    """Add a kind of agent that is made of others, ``name(AGENT, ..., option=number)``, to this process.

    Args:
        name: its name in specs.
        agents: number of agents in the brackets.
        options: dataclass of the options, see :mod:`gunzi_agents.options`.
        build: makes it from the agents, the options and the text of the spec.

    Raises:
        ValueError: the name is taken, or is not a name of the spec syntax.
    """
    _require_free(name)
    _COMPOSITES[name] = Composite(agents, options, build)


def _require_free(name: str) -> None:
    if name in _BUILDERS or name in _COMPOSITES:
        raise ValueError(f"there is already an agent {name!r}")
    if not specs.is_name(name) or name.startswith(PYTHON):
        raise ValueError(f"{name!r} cannot name an agent")


def _search(agents: list[Agent], budget: Budget, name: str) -> Agent:
    return Search(agents[0], budget, name)


def _mixed(agents: list[Agent], chosen: MixedOptions, name: str) -> Agent:
    return Mixed(agents[0], agents[1], chosen.share, name)


def _weak(agents: list[Agent], chosen: WeakOptions, name: str) -> Agent:
    return weak(agents[0], chosen.blunders, name)


register("uniform", lambda rules: Uniform())
register("greedy", lambda rules: Greedy())
register("expert", lambda rules: Expert())
composite("search", agents=1, options=Budget, build=_search)
composite("mixed", agents=2, options=MixedOptions, build=_mixed)
composite("weak", agents=1, options=WeakOptions, build=_weak)


def _syntax() -> str:
    made = [
        f"{name}({', '.join(['AGENT'] * kind.agents)}, {options.signature(kind.options)})"
        for name, kind in _COMPOSITES.items()
    ]
    levels = ", ".join(f"@{level}" for level in BLUNDERS)
    return (
        f"An agent is {', '.join([*_BUILDERS, *made])}, an installed plugin, py:MODULE:FUNCTION, or the path of a run "
        f"folder or checkpoint. Any of them may end in {levels}: random moves mixed in."
    )


SPEC_HELP = _syntax()
"""Help text of every option that takes agents."""


def names() -> tuple[str, ...]:
    """List the agents that need no file and no other agent: bundled, registered, and entry points.

    >>> names()[:3]
    ('uniform', 'greedy', 'expert')
    """
    plugins = sorted({point.name for point in entry_points(group=GROUP)} - set(_BUILDERS))
    return (*_BUILDERS, *plugins)


def make(spec: str, rules: Rules) -> Agent:
    """Build the agent that ``spec`` names, for these rules.

    * one of :func:`names`, ``py:MODULE:FUNCTION``, or a run folder or checkpoint (which needs torch);
    * ``search(AGENT, worlds=32, candidates=4, confidence=1.5, margin=0.02, ms=...)``, see :mod:`gunzi_agents.search`;
    * ``mixed(AGENT, AGENT, share=0.5)`` and ``weak(AGENT, blunders=0.1)``, see :mod:`gunzi_agents.mixed`;
    * any of them followed by ``@easy``, ``@medium`` or ``@hard``: random moves mixed in.

    Raises:
        AgentError: there is no such agent, or its function cannot be imported, fails or returns no agent.
        MissingAgentError: the path does not exist.
    """
    if spec in _BUILDERS:
        return _checked(spec, _BUILDERS[spec], rules)
    if not spec.strip():  # an empty path would mean the current folder
        raise _unknown(spec)
    if Path(spec).exists():  # a path may contain the signs of the syntax
        return _load(spec, rules)
    try:
        return _build(specs.parse(spec), rules)
    except specs.SpecError as error:
        raise AgentError(f"agent {error}") from None


def _unknown(name: str) -> AgentError:
    made = ", ".join(f"{kind}(...)" for kind in _COMPOSITES)
    known = f"{', '.join(names())}, {made}, py:MODULE:FUNCTION, or the path of a run or checkpoint"
    return AgentError(f"unknown agent {name!r}; there are {known}")


def _build(spec: Spec, rules: Rules) -> Agent:
    if spec.level is None:
        return _plain(spec, rules)
    if spec.level not in BLUNDERS:
        raise AgentError(f"agent '{spec}': unknown level {spec.level!r}; there are {', '.join(BLUNDERS)}")
    return weak(_plain(spec, rules), BLUNDERS[spec.level], str(spec))


def _plain(spec: Spec, rules: Rules) -> Agent:
    if (kind := _COMPOSITES.get(spec.name)) is not None:
        if len(spec.agents) != kind.agents:
            raise AgentError(f"agent '{spec}': {spec.name} is made of {kind.agents} agent{'s' * (kind.agents > 1)}")
        chosen: object = options.read(kind.options, spec)
        return kind.build([_build(part, rules) for part in spec.agents], chosen, str(spec))
    if spec.agents or spec.options:
        raise AgentError(f"agent '{spec}': {spec.name} takes nothing in brackets; {', '.join(_COMPOSITES)} do")
    return _named(spec.name, rules)


def _named(name: str, rules: Rules) -> Agent:
    if name in _BUILDERS:
        return _checked(name, _BUILDERS[name], rules)
    if name.startswith(PYTHON):
        return _checked(name, _imported(name, name.removeprefix(PYTHON)), rules)
    for point in entry_points(group=GROUP, name=name):
        return _checked(name, _imported(name, f"{point.module}:{point.attr}"), rules)
    if os.sep in name or "/" in name or name.endswith((".safetensors", ".json")) or Path(name).exists():
        return _load(name, rules)
    raise _unknown(name)


def _imported(name: str, place: str) -> Build:
    """Import ``MODULE:FUNCTION``; a module of the current folder is found, but one that is installed goes first."""
    module_name, _, function_name = place.partition(":")
    if not module_name or not function_name.isidentifier():
        raise AgentError(f"agent {name!r}: write py:MODULE:FUNCTION, such as py:my_bots:make")
    if (folder := os.getcwd()) not in sys.path:  # a console script does not have it, a worker process may not
        sys.path.append(folder)
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):  # a module that this one needs
            raise AgentError(f"agent {name!r}: module {module_name} needs {error.name}, which is missing") from error
        raise AgentError(f"agent {name!r}: there is no module {error.name}") from error
    except Exception as error:
        cause = f"{type(error).__name__}: {error}"
        raise AgentError(f"agent {name!r}: module {module_name} cannot be imported: {cause}") from error
    function = getattr(module, function_name, None)
    if not callable(function):
        raise AgentError(f"agent {name!r}: module {module_name} has no function {function_name}")
    build: Build = function
    return build


def _checked(name: str, build: Build, rules: Rules) -> Agent:
    """Call a builder; what it returns must be an agent."""
    try:
        made: object = build(rules)
    except AgentError:
        raise
    except Exception as error:
        raise AgentError(f"agent {name!r}: cannot be made: {type(error).__name__}: {error}") from error
    if not isinstance(made, Agent):
        lacks = [part for part in ("name", "identity", "max_deals", "act", "reset") if not hasattr(made, part)]
        raise AgentError(
            f"agent {name!r}: its function returned {type(made).__name__}, which is no agent: it lacks "
            f"{', '.join(lacks)}; subclass gunzi_agents.Agent"
        )
    return made


def _load(path: str, rules: Rules) -> Agent:
    if not Path(path).exists():
        raise MissingAgentError(f"agent {path!r}: no run folder or checkpoint there")
    from gunzi_agents import neural  # torch takes seconds to import

    return neural.load(path, rules)
