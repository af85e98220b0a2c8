"""Elo ratings by maximum likelihood in the Bradley-Terry model, with 95 % intervals.

The model: in the hands between a and b, a wins the share 1 / (1 + 10 ** ((r_b - r_a) / 400)) (Bradley and Terry,
Biometrika 39, 1952; in units of Elo, 400 points are odds of ten to one). The likelihood is that of all results at once,
so the order of games does not matter. It is concave, and Newton's method finds its only maximum.

The share of a deal is the mean over its tables (0, 1/2 or 1 for two tables), and luck at one table cancels at the
other. The variance of a result is therefore that of its deals, not the binomial one, and the intervals come from the
sandwich H^-1 M H^-1 (Huber 1967; White, Econometrica 50, 1982), where H is the curvature of the likelihood and M the
variance of its gradient, computed from the measured standard errors. Results are treated as independent: those of one
file share their deals, but exchanging the teams has cancelled nearly all luck of a deal.

The maximum is finite if and only if no agent and no group of agents won every deal against the rest (Ford, American
Mathematical Monthly 64, 1957). If one did, its share is replaced by the bound of its interval, the smallest share for
which so many wins in a row are credible, and its rating is a one-sided bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from gunzi_eval.stats.intervals import LEVEL, student

Floats = npt.NDArray[np.float64]

ELO = 400 / math.log(10)
"""Elo points per natural unit of log-odds."""
MAX_STEPS = 200


@dataclass(frozen=True, order=True)
class PairResult:
    """Share of hands that ``a`` won in two or more ``deals`` against ``b``, with the arena's interval."""

    a: str
    b: str
    deals: int
    share: float
    low: float
    high: float

    @property
    def error(self) -> float:
        """Standard error that corresponds to the longer side of the interval; the other may be cut off at 0 or 1.

        >>> round(PairResult("a", "b", 1000, 0.9, 0.88, 0.92).error, 4)
        0.0102
        """
        return max(self.high - self.share, self.share - self.low) / student(self.deals - 1)


@dataclass(frozen=True)
class Rating:
    """Rating of an agent in Elo points; a bound is None if the results leave that side open."""

    name: str
    rating: float
    low: float | None
    high: float | None

    def interval_text(self) -> str:
        """Format the interval.

        >>> Rating("a", 104.6, 80.2, 129.0).interval_text(), Rating("b", 900.0, 850.4, None).interval_text()
        ('[80, 129]', '[850, no bound]')
        """
        bounds = ("no bound" if x is None else format(round(x) + 0, "d") for x in (self.low, self.high))
        return f"[{', '.join(bounds)}]"


@dataclass(frozen=True)
class RatingTable:
    """Ratings, best first, and the share that they predict for each result."""

    anchor: str
    ratings: tuple[Rating, ...]
    results: tuple[PairResult, ...]
    predicted: tuple[float, ...]

    def worst(self) -> tuple[PairResult, float, float]:
        """Return the result with the worst fit, its predicted share and the residual in standard errors.

        A large residual means that one number per agent cannot describe the results, not that a rating is imprecise.
        """
        misses = [(m.share - p) / max(m.error, 1 / m.deals) for m, p in zip(self.results, self.predicted, strict=True)]
        at = max(range(len(misses)), key=lambda k: abs(misses[k]))
        return self.results[at], self.predicted[at], misses[at]

    def fit_text(self) -> str:
        """Describe the goodness of fit and the ratings that are only bounds, one line each."""
        result, predicted, miss = self.worst()
        lines = [
            f"worst fit: {result.a} won {100 * result.share:.1f} % against {result.b}, the ratings predict "
            f"{100 * predicted:.1f} % (z = {miss:+.1f})"
        ]
        for r in self.ratings:
            if r.low is None or r.high is None:
                lines.append(f"{r.name}: one side won all deals that link it to {self.anchor}, the rating is a bound")
        return "\n".join(lines)


def connected(results: Sequence[PairResult], anchor: str) -> set[str]:
    """Return the agents that results link to ``anchor``, including itself."""
    found, fresh = {anchor}, True
    while fresh:
        near = {name for m in results if {m.a, m.b} & found for name in (m.a, m.b)}
        fresh = bool(near - found)
        found |= near
    return found


def _reach(step: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Transitive and reflexive closure of a relation ``bool[n, n]``."""
    reach = step | np.eye(len(step), dtype=bool)
    for _ in range(len(step).bit_length()):
        reach = (reach.astype(np.int64) @ reach.astype(np.int64)) > 0
    return reach


def _maximum(design: Floats, deals: Floats, share: Floats) -> tuple[Floats, Floats]:
    """Maximise the likelihood. Returns the log-odds ``float64[k]`` and the curvature at the maximum ``float64[k, k]``.

    ``design[m, k]`` is 1 for a, -1 for b and 0 for the other agents; the anchor has no column.
    """

    def likelihood(r: Floats) -> float:
        odds = design @ r
        return float(np.sum(deals * (share * odds - np.logaddexp(0, odds))))

    rating = np.zeros(design.shape[1])
    best = likelihood(rating)
    for _ in range(MAX_STEPS):
        chance = 1 / (1 + np.exp(-(design @ rating)))
        slope = design.T @ (deals * (share - chance))
        curvature = (design.T * (deals * chance * (1 - chance))) @ design
        step = np.linalg.solve(curvature, slope)
        if float(np.abs(step).max(initial=0.0)) < 1e-10:
            return rating, curvature
        # Far from the maximum a full step may overshoot.
        while (reached := likelihood(rating + step)) < best - 1e-9 * abs(best):
            step = step / 2
        rating, best = rating + step, reached
    raise ArithmeticError(f"the ratings have not converged after {MAX_STEPS} steps")


def fit(results: Sequence[PairResult], anchor: str) -> RatingTable:
    """Fit the ratings of all agents to all results, with ``anchor`` at 0.

    Every agent must be :func:`connected` to the anchor.

    >>> even = PairResult("greedy", "expert", 1000, 0.5, 0.48, 0.52)
    >>> table = fit([PairResult("greedy", "uniform", 1000, 10 / 11, 0.89, 0.93), even], anchor="uniform")
    >>> [(rating.name, round(rating.rating)) for rating in table.ratings]
    [('expert', 400), ('greedy', 400), ('uniform', 0)]

    Raises:
        ArithmeticError: Newton's method has not converged.
    """
    results = sorted(results)  # floating-point sums depend on the order
    names = sorted({name for m in results for name in (m.a, m.b)})
    a, b = (np.array([names.index(getattr(m, side)) for m in results]) for side in "ab")
    deals, share, error = (np.array([getattr(m, f) for m in results], float) for f in ("deals", "share", "error"))
    took = np.zeros((len(names), len(names)), bool)  # has the row's agent won anything against the column's?
    took[a[share > 0], b[share > 0]] = True
    took[b[share < 1], a[share < 1]] = True
    reach = _reach(took)
    one_sided = ~(reach[a, b] & reach[b, a])  # one side won everything, also through other agents
    bound = np.array([m.low if m.share == 1 else m.high for m in results])
    share = np.where(one_sided, bound, share)
    error = np.where(one_sided, 0.0, error)
    rows, at = np.arange(len(results)), names.index(anchor)
    design = np.zeros((len(results), len(names)))
    design[rows, a], design[rows, b] = 1, -1
    others = np.arange(len(names)) != at
    rating, spread = np.zeros(len(names)), np.zeros(len(names))
    rating[others], curvature = _maximum(design[:, others], deals, share)
    slope_error = design[:, others] * (deals * error)[:, None]
    inverse = np.linalg.inv(curvature)
    spread[others] = np.sqrt(np.sum((slope_error @ inverse) ** 2, axis=0))
    half = NormalDist().inv_cdf((1 + LEVEL) / 2) * spread
    found = [
        Rating(
            name,
            ELO * rating[k],
            ELO * (rating[k] - half[k]) if reach[k, at] else None,
            ELO * (rating[k] + half[k]) if reach[at, k] else None,
        )
        for k, name in enumerate(names)
    ]
    found.sort(key=lambda r: (-r.rating, r.name))
    predicted = 1 / (1 + np.exp(-(design @ rating)))
    return RatingTable(anchor, tuple(found), tuple(results), tuple(predicted.tolist()))
