"""Replayable test cases as one line of text, and the error that carries one (see :mod:`gunzi_env.testing`)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gunzi_env import engine
from gunzi_env.planes import U64
from gunzi_env.published import starts
from gunzi_env.rules import Rules
from gunzi_env.tables import NOBODY, Tables


@dataclass(frozen=True)
class Case:
    """A replayable hand: rules, key of the deal, start state, and the actions taken."""

    rules: Rules
    key: tuple[int, int, int, int]
    """Seed, table, match and hand."""
    levels: tuple[int, int]
    dealer: int
    """-1 in the first hand of a match (R4.2)."""
    blood: int
    actions: tuple[int, ...] = ()

    @classmethod
    def of(cls, t: Tables, n: int, actions: Sequence[int]) -> Case:
        """Make the case of table ``n`` from the actions since its hand was dealt."""
        return cls(
            t.rules,
            (int(t.seed[n]), int(t.table_id[n]), int(t.match[n]), int(t.hand[n])),
            (int(t.levels[n, 0]), int(t.levels[n, 1])),
            NOBODY if t.first_hand[n] else int(t.dealer[n]),
            int(t.blood[n]),
            tuple(int(a) for a in actions),
        )

    @classmethod
    def parse(cls, text: str) -> Case:
        """Parse a line of text; ``ValueError`` if it is not a case."""
        try:
            values: dict[str, Any] = json.loads(text)
            options = dict(values["rules"])
            preset = options.pop("preset", "dalian")
            rules = Rules.from_dict(options, preset)
            seed, table, match, hand = map(int, values["key"])
            first, second = values["levels"]
            case = cls(rules, (seed, table, match, hand), (first, second), values["dealer"], values["blood"])
            starts.check(rules, case.levels, case.dealer, case.blood)
            return replace(case, actions=tuple(map(int, values["actions"])))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"not a case: {type(error).__name__}: {error}") from None

    def __str__(self) -> str:
        named = self.rules.name != "custom"
        rules = {"preset": self.rules.name} if named else self.rules.as_dict()
        rules = {key: "none" if value is None else value for key, value in rules.items()}
        state = {"key": self.key, "levels": self.levels, "dealer": self.dealer, "blood": self.blood}
        return json.dumps({"rules": rules, **state, "actions": self.actions})

    def start(self) -> Tables:
        """Return one table at the hand's first decision."""
        t = Tables(self.rules, 1)
        seed, table, match, hand = self.key
        engine.reset(t, seed, table_ids=np.array([table], U64), match=match, hand=hand, begin=False)
        state = {"levels": np.array([self.levels]), "dealer": np.array([self.dealer]), "blood": np.array([self.blood])}
        engine.begin_hand(t, np.zeros(1, np.intp), **state)
        return t


class LawBroken(AssertionError):
    """The state of ``table`` violates the rules; ``case`` replays it."""

    def __init__(self, law: str, table: int = 0, case: Case | None = None) -> None:
        super().__init__(law if case is None else f"{law}\nat ply {len(case.actions)} of the case\n{case}")
        self.law, self.table, self.case = law, table, case

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.law, self.table, self.case)
