"""The pairings and cost measurements shown on docs/leaderboard.md."""

from __future__ import annotations

from dataclasses import dataclass

SEED = 5
COSTS = "costs"
"""Name of the results section with the bots' CPU costs."""
MEASURED = ("uniform", "greedy", "expert")
"""Bots whose cost per decision is measured. The cost of a search is taken from its pairings."""


@dataclass(frozen=True)
class Pairing:
    """Two bots, a rules preset and a number of duplicate deals."""

    rules: str
    a: str
    b: str
    deals: int

    @property
    def name(self) -> str:
        """Unique name that needs no quoting in a shell.

        >>> Pairing("dalian", "search(expert, worlds=32)", "expert", 300).name
        'dalian-search-expert'
        """
        return "-".join([self.rules, *(spec.partition("(")[0] for spec in (self.a, self.b))])


def _ladder(rules: str, deals: int, worlds: int, searched: int) -> list[Pairing]:
    """Return the pairings of each bot with the next weaker one."""
    return [
        Pairing(rules, "greedy", "uniform", deals),
        Pairing(rules, "expert", "greedy", deals),
        Pairing(rules, f"search(expert, worlds={worlds})", "expert", searched),
    ]


PAIRINGS = (
    *_ladder("dalian", 20000, 32, 300),
    Pairing("dalian", "expert", "uniform", 4000),
    *(Pairing("dalian", f"expert@{level}", "expert", 1000) for level in ("easy", "medium", "hard")),
    *_ladder("dalian_dead", 2000, 16, 100),
    *_ladder("four_deck", 2000, 16, 100),
)
