"""Results of a pair of agents with their intervals, and the forms in which they are written.

All figures are from the first agent's view, over the deals of :mod:`gunzi_eval.matches.duplicate`. A figure of some
hands (those in which a side attacks) is the sum over those hands divided by their number.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gunzi_env.published import starts
from gunzi_env.rules import Rules
from gunzi_eval.matches.hands import Hands
from gunzi_eval.stats.intervals import Interval, Method, mean_interval, share_interval, student_interval

POINTS_A_BAR = 20
"""The distribution of points is counted in steps of so many."""

Shares = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Pair:
    """The figures of one pair from ``a``'s view."""

    a: str
    b: str
    deals: int
    levels: Interval
    points: Interval
    hands_won: Interval
    matches_won: Interval | None
    details: dict[str, Any] = field(default_factory=dict)
    """What else the JSON has of a pair, see :func:`details`; plain JSON types."""

    @classmethod
    def of(
        cls,
        names: tuple[str, str],
        hands: Hands,
        won: Shares | None = None,
        method: Method = student_interval,
    ) -> Pair:
        """Reduce hands, and the share ``won[n]`` of each match, to means with intervals."""
        figures = hands.figures()
        return cls(
            *names,
            len(figures.levels),
            levels=mean_interval(figures.levels, method),
            points=mean_interval(figures.points, method),
            hands_won=share_interval(figures.hands_won, method=method),
            matches_won=None if won is None else share_interval(won, method=method),
            details={"matches": 0 if won is None else len(won)} | details(hands, method),
        )

    def as_dict(self) -> dict[str, Any]:
        """The form of the JSON file."""
        return {
            "a": self.a,
            "b": self.b,
            "deals": self.deals,
            "levels": self.levels.as_dict(),
            "points": self.points.as_dict(),
            "hands_won": self.hands_won.as_dict(),
            "matches_won": self.matches_won.as_dict() if self.matches_won else None,
        } | self.details


class _Parts:
    """Intervals over deals, as plain JSON types, of what happens in a part of their hands."""

    def __init__(self, method: Method) -> None:
        self.method = method

    def mean(self, values: npt.NDArray[Any], where: npt.NDArray[np.bool_]) -> dict[str, Any] | None:
        """Of ``values[tables, deals]`` over the hands ``where``; None without such hands."""
        return self.method(*_sums(values, where)).as_dict() if where.any() else None

    def share(self, happens: npt.NDArray[Any], where: npt.NDArray[np.bool_]) -> dict[str, Any] | None:
        """The same of what happens or does not."""
        return share_interval(*_sums(happens, where), method=self.method).as_dict() if where.any() else None


def _sums(values: npt.NDArray[Any], where: npt.NDArray[np.bool_]) -> tuple[Shares, Shares]:
    """By deal: the sum of the values and their number, float64[deals]."""
    return np.where(where, values, 0).sum(axis=0, dtype=np.float64), where.sum(axis=0, dtype=np.float64)


def details(hands: Hands, method: Method = student_interval) -> dict[str, Any]:
    """By role, by phase, by seat, and how levels and points are distributed; plain JSON types.

    ``roles``: hands in which a attacks, and in which it deals. ``phases`` has the two sides beside each other: ``bid``,
    the share of hands whose trump suit the side's bid or shown joker named (R4.2, R4.4); ``dig``, of the hands where it
    attacks, those it dug (R8.2); ``guard``, of those where it deals, those it guarded (R8.3); ``blood``, the cards that
    the next hand owes to it (R9.6). ``kitty``: jokers in it at the end, and the share of dry pots (R6.6). ``seats``:
    what sitting in team 0 was worth in levels, and by how many standard errors it differs from 0; only bad luck or an
    unfair deal makes it large.
    """
    part = _Parts(method)
    attacks = hands.attacks == 1
    deals = ~attacks
    every = np.ones_like(attacks)
    roles = {
        name: {
            "hands": int(where.sum()),
            "levels": part.mean(hands.levels, where),
            "points": part.mean(hands.points, where),
            "hands_won": part.share(hands.won, where),
        }
        for name, where in (("attacker", attacks), ("dealer", deals))
    }
    guarded = 1 - hands.dug
    phases = {
        "bid": {"a": part.share(hands.bid == 1, every), "b": part.share(hands.bid == -1, every)},
        "dig": {"a": part.share(hands.dug, attacks), "b": part.share(hands.dug, deals)},
        "guard": {"a": part.share(guarded, deals), "b": part.share(guarded, attacks)},
        "blood": {
            "a": part.mean(np.maximum(hands.blood, 0), every),
            "b": part.mean(np.maximum(-hands.blood, 0), every),
        },
    }
    return {
        "tables": hands.levels.shape[0],
        "roles": roles,
        "phases": phases,
        "kitty": {"jokers": part.mean(hands.jokers, every), "dry": part.share(hands.dry, every)},
        "seats": _seats(hands, method),
        "distributions": {
            "levels": _counts(hands.levels),
            "points": _counts(_nearest(hands.points, POINTS_A_BAR)),
        },
    }


def _seats(hands: Hands, method: Method) -> dict[str, Any]:
    """Team 0's levels a hand: of the deals' two halves the first has a in team 0."""
    first, second = np.split(hands.levels.astype(np.float64), 2)
    worth = (first - second).mean(axis=0) / 2
    found: dict[str, Any] = {"levels": mean_interval(worth, method).as_dict(), "z": None}
    spread = float(np.std(worth, ddof=1)) / math.sqrt(len(worth)) if len(worth) > 1 else 0.0
    if spread:
        found["z"] = found["levels"]["mean"] / spread
    return found


def _nearest(values: npt.NDArray[Any], step: int) -> npt.NDArray[Any]:
    """Multiples of ``step``; what lies between two goes to the larger in size, so that both sides are alike."""
    return np.sign(values) * ((np.abs(values) + step // 2) // step * step)


def _counts(values: npt.NDArray[Any]) -> dict[str, int]:
    """How many hands have each value, in order."""
    found, counts = np.unique(values, return_counts=True)
    return {str(int(value)): int(count) for value, count in zip(found, counts, strict=True)}


def as_json(rules: Rules, seed: int, pairs: Sequence[Pair], **settings: Any) -> str:
    """The arena's JSON: pairs in the order of the command line, figures from a's view."""
    content = {
        "rules": rules.name,
        "rules_digest": rules.digest,
        "starts": starts.VERSION,  # of the states that hands start from: another version is another benchmark
        "seed": seed,
        **settings,
        "pairs": [pair.as_dict() for pair in pairs],
    }
    return json.dumps(content, indent=2, allow_nan=False) + "\n"


CSV_FIELDS = (
    "a", "b", "deal", "tables", "levels", "points", "hands_won",
    "attacks", "digs", "guards", "bids", "bids_against", "blood", "blood_against", "jokers", "dry",
)  # fmt: skip


def as_csv(results: Iterable[tuple[tuple[str, str], Hands]]) -> str:
    """One row a deal and pair, from a's view: the three figures as means of the deal's tables, then whole numbers
    summed over them (``attacks``: at how many of them a attacks)."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_FIELDS)
    for names, hands in results:
        figures = hands.figures()
        sums = [
            values.sum(axis=0)
            for values in (
                hands.attacks,
                hands.attacks * hands.dug,
                (1 - hands.attacks) * (1 - hands.dug),
                hands.bid == 1,
                hands.bid == -1,
                np.maximum(hands.blood, 0),
                np.maximum(-hands.blood, 0),
                hands.jokers,
                hands.dry,
            )
        ]
        columns = [values.tolist() for values in (figures.levels, figures.points, figures.hands_won, *sums)]
        tables = hands.levels.shape[0]
        writer.writerows((*names, deal, tables, *row) for deal, row in enumerate(zip(*columns, strict=True)))
    return text.getvalue()
