"""Numeric options of composite agents: a dataclass declares names, defaults and bounds, a spec gives the values."""

from __future__ import annotations

from dataclasses import field, fields
from typing import Any, TypeVar

from gunzi_agents.base import AgentError
from gunzi_agents.specs import Spec

T = TypeVar("T")

MAX_WHOLE = 1 << 20
"""Largest value of a whole-number option."""


def number(default: Any, low: float, high: float = MAX_WHOLE) -> Any:
    """Declare a field with bounds; it takes whole numbers if the default is one."""
    return field(default=default, metadata={"low": low, "high": high})


def read(kind: type[T], spec: Spec) -> T:
    """Fill the dataclass ``kind`` from the options of a spec.

    Raises:
        AgentError: an option is unknown or out of its bounds.
    """
    declared = {f.name: f for f in fields(kind)}  # type: ignore[arg-type]
    found: dict[str, Any] = {}
    for key, value in spec.options.items():
        if key not in declared:
            raise AgentError(f"agent '{spec}': unknown option {key}; there are {', '.join(declared)}")
        f = declared[key]
        low, high = f.metadata.get("low", -float("inf")), f.metadata.get("high", float("inf"))
        if isinstance(f.default, int):
            if not low <= value <= high or value != int(value):
                raise AgentError(f"agent '{spec}': {key} is {value:g}, it must be a whole number, {low} or more")
            value = int(value)
        elif not low <= value <= high:
            raise AgentError(f"agent '{spec}': {key} is {value:g}, it must be within {low:g}..{high:g}")
        found[key] = value
    return kind(**found)


def signature(kind: type) -> str:
    """Format the options of the dataclass ``kind`` with their defaults, as in a spec."""
    return ", ".join(f"{f.name}={'...' if f.default is None else format(f.default, 'g')}" for f in fields(kind))
