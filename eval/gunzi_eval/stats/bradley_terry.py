"""One scale for all agents: the Bradley-Terry model, by maximum likelihood, with intervals.

The model: a takes the share 1 / (1 + 10 ** ((r_b - r_a) / 400)) of the hands that a and b play (Bradley and Terry,
Biometrika 39, 1952; the unit is Elo's: 400 points are ten to one). The likelihood is that of all meetings at once,
so the order of games means nothing; it is concave, and Newton's method finds its one maximum.

A deal's share is the mean of its tables (0, 1/2 or 1 for two of them), and what luck gives at one it takes at the
other: the spread of a meeting's share is that of its deals, not the binomial one. So the intervals come from the
sandwich H^-1 M H^-1 (Huber 1967; White, Econometrica 50, 1982), H the curvature of the likelihood and M the spread of
its slope, in which the measured standard errors stand. It takes meetings as independent: those of one file share their
deals, but the luck of a deal has all but cancelled in its exchange.

The maximum is finite if and only if nobody, and no group, won every deal against the rest (Ford, American Mathematical
Monthly 64, 1957). Where one did, its share is taken as the bound of its interval, the least that so many deals won in
a row leave credible, and its rating is a bound on one side.
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
"""Points of a natural unit of log-odds."""
MAX_STEPS = 200


@dataclass(frozen=True, order=True)
class Meeting:
    """What ``a`` took of two or more ``deals`` against ``b``: the share of hands won, with the arena's interval."""

    a: str
    b: str
    deals: int
    share: float
    low: float
    high: float

    @property
    def error(self) -> float:
        """The standard error that the interval stands for. The longer side counts: the other may end at 0 or 1.

        >>> round(Meeting("a", "b", 1000, 0.9, 0.88, 0.92).error, 4)
        0.0102
        """
        return max(self.high - self.share, self.share - self.low) / student(self.deals - 1)


@dataclass(frozen=True)
class Rating:
    """An agent's place on the scale, in Elo points; None where nothing bounds it on that side."""

    name: str
    rating: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Scale:
    """The ratings, best first, and for each meeting the share that they predict."""

    anchor: str
    ratings: tuple[Rating, ...]
    meetings: tuple[Meeting, ...]
    predicted: tuple[float, ...]

    def worst(self) -> tuple[Meeting, float, float]:
        """The meeting that one scale fits worst, its predicted share, and the miss in standard errors.

        A large miss says that the agents do not stand on one line, not that a rating is imprecise.
        """
        misses = [(m.share - p) / max(m.error, 1 / m.deals) for m, p in zip(self.meetings, self.predicted, strict=True)]
        at = max(range(len(misses)), key=lambda k: abs(misses[k]))
        return self.meetings[at], self.predicted[at], misses[at]


def connected(meetings: Sequence[Meeting], anchor: str) -> set[str]:
    """The agents that meetings link to ``anchor``, itself included."""
    found, fresh = {anchor}, True
    while fresh:
        near = {name for m in meetings if {m.a, m.b} & found for name in (m.a, m.b)}
        fresh = bool(near - found)
        found |= near
    return found


def _reach(step: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Where one gets to in any number of steps, none included."""
    reach = step | np.eye(len(step), dtype=bool)
    for _ in range(len(step).bit_length()):
        reach = (reach.astype(np.int64) @ reach.astype(np.int64)) > 0
    return reach


def _maximum(design: Floats, deals: Floats, share: Floats) -> tuple[Floats, Floats]:
    """The log-odds that maximise the likelihood, float64[k], and its curvature there, ``[k, k]``.

    ``design[m, k]`` is 1 for a, -1 for b, 0 for others and for the anchor.
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
        # Far from the maximum a whole step may lead past it.
        while (reached := likelihood(rating + step)) < best - 1e-9 * abs(best):
            step = step / 2
        rating, best = rating + step, reached
    raise ArithmeticError(f"the ratings have not settled after {MAX_STEPS} steps")


def fit(meetings: Sequence[Meeting], anchor: str) -> Scale:
    """The scale of all meetings on which ``anchor`` is 0. All agents must be :func:`connected` to it."""
    meetings = sorted(meetings)  # sums of floats depend on the order, and the order must not count
    names = sorted({name for m in meetings for name in (m.a, m.b)})
    a, b = (np.array([names.index(getattr(m, side)) for m in meetings]) for side in "ab")
    deals, share, error = (np.array([getattr(m, f) for m in meetings], float) for f in ("deals", "share", "error"))
    took = np.zeros((len(names), len(names)), bool)  # has the row taken anything of the column?
    took[a[share > 0], b[share > 0]] = True
    took[b[share < 1], a[share < 1]] = True
    reach = _reach(took)
    one_sided = ~(reach[a, b] & reach[b, a])  # won outright, here and on every way round
    bound = np.array([m.low if m.share == 1 else m.high for m in meetings])
    share = np.where(one_sided, bound, share)
    error = np.where(one_sided, 0.0, error)
    rows, at = np.arange(len(meetings)), names.index(anchor)
    design = np.zeros((len(meetings), len(names)))
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
    return Scale(anchor, tuple(found), tuple(meetings), tuple(predicted.tolist()))
