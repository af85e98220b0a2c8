"""Agents by name: a spec string in, an agent out. Nothing heavy is imported until it is asked for."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from gunzi_agents import specs
from gunzi_agents.base import Agent, AgentError, MissingAgentError
from gunzi_agents.specs import Spec
from gunzi_env.rules import Rules


def _uniform(rules: Rules) -> Agent:
    from gunzi_agents.uniform import Uniform

    return Uniform()


def _greedy(rules: Rules) -> Agent:
    from gunzi_agents.greedy import Greedy

    return Greedy()


def _expert(rules: Rules) -> Agent:
    from gunzi_agents.expert import Expert

    return Expert()


_BUILDERS: dict[str, Callable[[Rules], Agent]] = {"uniform": _uniform, "greedy": _greedy, "expert": _expert}


def names() -> tuple[str, ...]:
    """The agents that need no file and no other agent.

    >>> names()
    ('uniform', 'greedy', 'expert')
    """
    return tuple(_BUILDERS)


def _search(spec: Spec, agents: list[Agent]) -> Agent:
    from gunzi_agents.search import Budget, Search

    options = dict(spec.options)
    default = Budget()
    budget = Budget(
        worlds=_whole(spec, options, "worlds", default.worlds, 2),
        candidates=_whole(spec, options, "candidates", default.candidates, 2),
        confidence=options.pop("confidence", default.confidence),
        margin=options.pop("margin", default.margin),
        milliseconds=options.pop("ms", default.milliseconds),
    )
    _nothing_left(spec, options, "worlds, candidates, confidence, margin, ms")
    return Search(agents[0], budget, str(spec))


def _mixed(spec: Spec, agents: list[Agent]) -> Agent:
    from gunzi_agents.mixed import Mixed

    options = dict(spec.options)
    share = _chance(spec, options, "share", 0.5)
    _nothing_left(spec, options, "share")
    return Mixed(agents[0], agents[1], share, str(spec))


def _weak(spec: Spec, agents: list[Agent]) -> Agent:
    from gunzi_agents.mixed import weak

    options = dict(spec.options)
    blunders = _chance(spec, options, "blunders", 0.1)
    _nothing_left(spec, options, "blunders")
    return weak(agents[0], blunders, str(spec))


_MADE_OF: dict[str, tuple[int, Callable[[Spec, list[Agent]], Agent]]] = {
    "search": (1, _search),
    "mixed": (2, _mixed),
    "weak": (1, _weak),
}
"""Bots made of others: of how many, and how."""


def _whole(spec: Spec, options: dict[str, float], key: str, default: int, least: int) -> int:
    value = options.pop(key, default)
    if not least <= value <= 1 << 20 or value != int(value):
        raise AgentError(f"agent '{spec}': {key} is {value:g}, it must be a whole number, {least} or more")
    return int(value)


def _chance(spec: Spec, options: dict[str, float], key: str, default: float) -> float:
    value = options.pop(key, default)
    if not 0 <= value <= 1:
        raise AgentError(f"agent '{spec}': {key} is {value:g}, it must be within 0..1")
    return value


def _nothing_left(spec: Spec, options: dict[str, float], allowed: str) -> None:
    if options:
        raise AgentError(f"agent '{spec}': unknown option {next(iter(options))}; there are {allowed}")


def _looks_like_path(spec: str) -> bool:
    return os.sep in spec or "/" in spec or spec.endswith((".safetensors", ".json")) or Path(spec).exists()


def make(spec: str, rules: Rules) -> Agent:
    """The agent that ``spec`` names.

    * one of :func:`names`, or a run folder or checkpoint (which needs torch);
    * ``search(AGENT, worlds=32, candidates=4, confidence=1.5, margin=0.02, ms=...)``, see
      :mod:`gunzi_agents.search`;
    * ``mixed(AGENT, AGENT, share=0.5)`` and ``weak(AGENT, blunders=0.1)``, see :mod:`gunzi_agents.mixed`;
    * any of them with ``@easy``, ``@medium`` or ``@hard`` behind it: random moves strewn in.

    Raises:
        AgentError: there is no such agent; the message names those there are.
        MissingAgentError: a path where nothing is.
    """
    if spec in _BUILDERS:
        return _BUILDERS[spec](rules)
    if not spec.strip():  # an empty path would mean the current folder
        raise _unknown(spec)
    if Path(spec).exists():  # whatever signs it is written with
        return _load(spec, rules)
    try:
        return _build(specs.parse(spec), rules)
    except specs.SpecError as error:
        raise AgentError(f"agent {error}") from None


def _unknown(name: str) -> AgentError:
    return AgentError(f"unknown agent {name!r}; there are {_known()}")


def _known() -> str:
    made = ", ".join(f"{name}(...)" for name in _MADE_OF)
    return f"{', '.join(names())}, {made}, or the path of a run or checkpoint"


def _build(spec: Spec, rules: Rules) -> Agent:
    from gunzi_agents.mixed import BLUNDERS, weak

    if spec.level is None:
        return _plain(spec, rules)
    if spec.level not in BLUNDERS:
        raise AgentError(f"agent '{spec}': unknown level {spec.level!r}; there are {', '.join(BLUNDERS)}")
    return weak(_plain(spec, rules), BLUNDERS[spec.level], str(spec))


def _plain(spec: Spec, rules: Rules) -> Agent:
    if spec.name in _MADE_OF:
        number, build = _MADE_OF[spec.name]
        if len(spec.agents) != number:
            raise AgentError(f"agent '{spec}': {spec.name} is made of {number} agent{'s' * (number > 1)}")
        return build(spec, [_build(part, rules) for part in spec.agents])
    if spec.agents or spec.options:
        raise AgentError(f"agent '{spec}': {spec.name} takes nothing in brackets; {', '.join(_MADE_OF)} do")
    if spec.name in _BUILDERS:
        return _BUILDERS[spec.name](rules)
    if not _looks_like_path(spec.name):
        raise _unknown(spec.name)
    return _load(spec.name, rules)


def _load(path: str, rules: Rules) -> Agent:
    if not Path(path).exists():
        raise MissingAgentError(f"agent {path!r}: no run folder or checkpoint there")
    from gunzi_agents import neural

    return neural.load(path, rules)
