"""Agent specs as text: ``greedy``, ``expert@easy``, ``runs/x``, ``py:bots:make``, ``search(expert, worlds=32)``.

    spec     = name [ "(" argument {"," argument} ")" ] [ "@" level ]
    argument = spec | key "=" number

A name may contain any characters but ``( ) , = @`` and has no blanks at its ends, so that paths are names.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

_SIGNS = "(),=@"


class SpecError(ValueError):
    """Malformed agent spec; the message points at the offending text."""


@dataclass(frozen=True)
class Spec:
    """An agent's name, the agents and options in its brackets, and its level."""

    name: str
    agents: tuple[Spec, ...] = ()
    options: dict[str, float] = field(default_factory=dict)
    level: str | None = None

    def __str__(self) -> str:
        inside = [str(agent) for agent in self.agents] + [f"{key}={value:.15g}" for key, value in self.options.items()]
        level = f"@{self.level}" if self.level else ""
        return self.name + (f"({', '.join(inside)})" if inside else "") + level


def parse(text: str) -> Spec:
    """Parse a spec; :class:`SpecError` if it is malformed.

    >>> parse("search(weak(greedy, blunders=0.5), worlds=32)@easy").agents[0].options
    {'blunders': 0.5}
    >>> str(parse("search( runs/x ,worlds=8 )"))
    'search(runs/x, worlds=8)'
    >>> parse("search(greedy")
    Traceback (most recent call last):
    gunzi_agents.specs.SpecError: 'search(greedy': a closing bracket is missing
    """
    reader = _Reader(text)
    spec = reader.spec()
    if reader.at < len(text):
        raise SpecError(f"{text!r}: nothing was expected from {text[reader.at :]!r} on")
    return spec


def is_name(text: str) -> bool:
    """Test whether a text can be a name in a spec."""
    return bool(text) and text == text.strip() and not set(text) & set(_SIGNS)


class _Reader:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def spec(self) -> Spec:
        name = self._word("an agent's name")
        agents: list[Spec] = []
        options: dict[str, float] = {}
        if self._take("("):
            self._arguments(agents, options)
        level = self._word("a level") if self._take("@") else None
        return Spec(name, tuple(agents), options, level)

    def _arguments(self, agents: list[Spec], options: dict[str, float]) -> None:
        while True:
            start = self.at
            word = self._word("an agent or an option")
            if not self._take("="):
                self.at = start
                agents.append(self.spec())
            elif word in options:
                raise SpecError(f"{self.text!r}: {word} is given twice")
            else:
                options[word] = self._number(word)
            if self._take(")"):
                return
            if not self._take(","):
                raise SpecError(f"{self.text!r}: a closing bracket is missing")

    def _word(self, what: str) -> str:
        start = self.at
        while self.at < len(self.text) and self.text[self.at] not in _SIGNS:
            self.at += 1
        word = self.text[start : self.at].strip()
        if not word:
            rest = repr(self.text[start:]) if self.text[start:] else "the end"
            raise SpecError(f"{self.text!r}: {what} is missing at {rest}")
        return word

    def _number(self, key: str) -> float:
        word = self._word(f"a number for {key}")
        try:
            value = float(word)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise SpecError(f"{self.text!r}: {key} is {word!r}, it must be a number")
        return value

    def _take(self, sign: str) -> bool:
        while self.at < len(self.text) and self.text[self.at] == " ":
            self.at += 1
        if self.at == len(self.text) or self.text[self.at] != sign:
            return False
        self.at += 1
        return True
