"""Results of a pair of agents with their intervals, and their JSON and CSV forms.

All figures are from the first agent's view, over the deals of :mod:`gunzi_eval.matches.duplicate`. A figure for a part
of the hands (such as those in which a side attacks) is the sum over those hands divided by their number.
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
from gunzi_eval.matches.hands import HandResults
from gunzi_eval.stats.intervals import Interval, Method, mean_interval, share_interval, student_interval

POINTS_A_BAR = 20
"""Bin width of the distribution of points."""

Shares = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Pair:
    """Results of one pair of agents from ``a``'s view."""

    a: str
    b: str
    deals: int
    levels: Interval
    points: Interval
    hands_won: Interval
    matches_won: Interval | None
    details: dict[str, Any] = field(default_factory=dict)
    """Further entries of the JSON, see :func:`details`; plain JSON types."""

    @classmethod
    def of(
        cls,
        names: tuple[str, str],
        hands: HandResults,
        won: Shares | None = None,
        method: Method = student_interval,
    ) -> Pair:
        """Reduce hands, and the share ``won[matches]`` of each match, to means with intervals."""
        metrics = hands.metrics()
        return cls(
            *names,
            len(metrics.levels),
            levels=mean_interval(metrics.levels, method),
            points=mean_interval(metrics.points, method),
            hands_won=share_interval(metrics.hands_won, method=method),
            matches_won=None if won is None else share_interval(won, method=method),
            details={"matches": 0 if won is None else len(won)} | details(hands, method),
        )

    def as_dict(self) -> dict[str, Any]:
        """Convert to the form of the arena's JSON."""
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
    """Intervals over deals, as plain JSON types, of events in a part of the hands."""

    def __init__(self, method: Method) -> None:
        self.method = method

    def mean(self, values: npt.NDArray[Any], where: npt.NDArray[np.bool_]) -> dict[str, Any] | None:
        """Mean of ``values[tables, deals]`` over the hands ``where``; None if there are no such hands."""
        return self.method(*_sums(values, where)).as_dict() if where.any() else None

    def share(self, happens: npt.NDArray[Any], where: npt.NDArray[np.bool_]) -> dict[str, Any] | None:
        """Share of the hands ``where`` in which the event happens; None if there are no such hands."""
        return share_interval(*_sums(happens, where), method=self.method).as_dict() if where.any() else None


def _sums(values: npt.NDArray[Any], where: npt.NDArray[np.bool_]) -> tuple[Shares, Shares]:
    """Sum and number of the values in each deal, ``float64[deals]`` each."""
    return np.where(where, values, 0).sum(axis=0, dtype=np.float64), where.sum(axis=0, dtype=np.float64)


def details(hands: HandResults, method: Method = student_interval) -> dict[str, Any]:
    """Break the results down by role, phase and seat, and count levels and points; plain JSON types.

    * ``roles``: hands in which a attacks, and hands in which it deals.
    * ``phases``, for each side: ``bid``, the share of hands in which its bid or shown joker named the trump suit (R4.2,
      R4.4); ``dig``, the share of its attacking hands in which it dug (R8.2); ``guard``, the share of its dealing hands
      in which it guarded (R8.3); ``blood``, the tribute cards that it receives in the next hand (R9.6).
    * ``kitty``: jokers in it at the end, and the share of dry pots (R6.6).
    * ``seats``: the advantage of team 0 in levels per hand, and ``z`` in standard errors. Only chance or an unfair deal
      makes it large.
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


def _seats(hands: HandResults, method: Method) -> dict[str, Any]:
    """Levels per hand of team 0; a is in team 0 at the first half of a deal's tables."""
    first, second = np.split(hands.levels.astype(np.float64), 2)
    worth = (first - second).mean(axis=0) / 2
    found: dict[str, Any] = {"levels": mean_interval(worth, method).as_dict(), "z": None}
    spread = float(np.std(worth, ddof=1)) / math.sqrt(len(worth)) if len(worth) > 1 else 0.0
    if spread:
        found["z"] = found["levels"]["mean"] / spread
    return found


def _nearest(values: npt.NDArray[Any], step: int) -> npt.NDArray[Any]:
    """Round to multiples of ``step``; halves are rounded away from 0, so that both sides are treated alike."""
    return np.sign(values) * ((np.abs(values) + step // 2) // step * step)


def _counts(values: npt.NDArray[Any]) -> dict[str, int]:
    """Number of hands with each value, in ascending order of the values."""
    found, counts = np.unique(values, return_counts=True)
    return {str(int(value)): int(count) for value, count in zip(found, counts, strict=True)}


def as_json(rules: Rules, seed: int, pairs: Sequence[Pair], **settings: Any) -> str:
    """Format the arena's JSON: pairs in the given order, figures from a's view."""
    content = {
        "rules": rules.name,
        "rules_digest": rules.digest,
        "starts": starts.VERSION,  # version of the start states: another version is another benchmark
        "seed": seed,
        **settings,
        "pairs": [pair.as_dict() for pair in pairs],
    }
    return json.dumps(content, indent=2, allow_nan=False) + "\n"


CSV_FIELDS = (
    "a", "b", "deal", "tables", "levels", "points", "hands_won",
    "attacks", "digs", "guards", "bids", "bids_against", "blood", "blood_against", "jokers", "dry",
)  # fmt: skip


def as_csv(results: Iterable[tuple[tuple[str, str], HandResults]]) -> str:
    """Format one CSV row per deal and pair, from a's view.

    The three metrics are means of the deal's tables; the following integers are sums over the tables (``attacks``: the
    number of tables at which a attacks).
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_FIELDS)
    for names, hands in results:
        metrics = hands.metrics()
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
        columns = [values.tolist() for values in (metrics.levels, metrics.points, metrics.hands_won, *sums)]
        tables = hands.levels.shape[0]
        writer.writerows((*names, deal, tables, *row) for deal, row in enumerate(zip(*columns, strict=True)))
    return text.getvalue()
