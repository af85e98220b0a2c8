"""What stands on docs/leaderboard.md: the contests, and what else is measured of the bots."""

from __future__ import annotations

from dataclasses import dataclass

SEED = 5
COSTS = "costs"
"""The section of the results that holds the bots' costs."""
MEASURED = ("uniform", "greedy", "expert")
"""Bots whose cost a decision is measured; that of a search is counted in its contests."""


@dataclass(frozen=True)
class Contest:
    """Two bots, a preset, and how many duplicate deals they play."""

    rules: str
    a: str
    b: str
    deals: int

    @property
    def name(self) -> str:
        """Unique, and fit for a command line.

        >>> Contest("dalian", "search(expert, worlds=32)", "expert", 300).name
        'dalian-search-expert'
        """
        return "-".join([self.rules, *(spec.partition("(")[0] for spec in (self.a, self.b))])


def _ladder(rules: str, deals: int, worlds: int, searched: int) -> list[Contest]:
    """Each bot against the next weaker one."""
    return [
        Contest(rules, "greedy", "uniform", deals),
        Contest(rules, "expert", "greedy", deals),
        Contest(rules, f"search(expert, worlds={worlds})", "expert", searched),
    ]


CONTESTS = (
    *_ladder("dalian", 20000, 32, 300),
    Contest("dalian", "expert", "uniform", 4000),
    *(Contest("dalian", f"expert@{level}", "expert", 1000) for level in ("easy", "medium", "hard")),
    *_ladder("dalian_dead", 2000, 16, 100),
    *_ladder("four_deck", 2000, 16, 100),
)
