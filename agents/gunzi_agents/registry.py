"""Agents by name: a spec string in, an agent out. Nothing heavy is imported until it is asked for."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from gunzi_agents.base import Agent, AgentError, MissingAgentError
from gunzi_env.rules import Rules


def _uniform(rules: Rules) -> Agent:
    from gunzi_agents.uniform import Uniform

    return Uniform()


def _greedy(rules: Rules) -> Agent:
    from gunzi_agents.greedy import Greedy

    return Greedy()


_BUILDERS: dict[str, Callable[[Rules], Agent]] = {"uniform": _uniform, "greedy": _greedy}


def names() -> tuple[str, ...]:
    """The agents that need no file.

    >>> names()
    ('uniform', 'greedy')
    """
    return tuple(_BUILDERS)


def _looks_like_path(spec: str) -> bool:
    return os.sep in spec or "/" in spec or spec.endswith((".safetensors", ".json")) or Path(spec).exists()


def make(spec: str, rules: Rules) -> Agent:
    """The agent that ``spec`` names: one of :func:`names`, or a run folder or checkpoint (which needs torch).

    Raises:
        AgentError: there is no such agent; the message names those there are.
        MissingAgentError: a path where nothing is.
    """
    if spec in _BUILDERS:
        return _BUILDERS[spec](rules)
    # An empty path would mean the current folder.
    if not spec.strip() or not _looks_like_path(spec):
        raise AgentError(f"unknown agent {spec!r}; there are {', '.join(names())}, or the path of a run or checkpoint")
    if not Path(spec).exists():
        raise MissingAgentError(f"agent {spec!r}: no run folder or checkpoint there")
    from gunzi_agents import neural

    return neural.load(spec, rules)
