"""Ways to measure one agent against another, and how much each gets out of a hand played.

All estimate the same: the mean figure of a hand from the published start states, the agent's side drawn at random.

* ``one table``: each deal is played once. All luck is in the figure.
* ``less luck``: the same, with a control variate. A reference bot plays the deal too, in all four seats; what the
  agent's side gets there, c, is luck, since both sides play alike, and b times c is taken off. As the side is drawn at
  random, c has the mean 0 (1/2 for hands won, which is taken off first), whatever the bot is. The coefficient
  b = E[yc] / E[c^2] of a deal comes from the other deals (cross-fitting, in folds): so it does not depend on the deal's
  c, bc has the mean 0 too, and the estimate is unbiased whatever b came out as (Glasserman, Monte Carlo Methods in
  Financial Engineering, 2004, section 4.1, has the method, and the bias without folds). The reference's hand is paid
  for.
* ``teams exchanged``: the deal at two tables. The control variate cancels between the two tables, so combining both
  techniques gains nothing.
* ``and rotated``: the exchange at each of four rotations of the hands (:mod:`gunzi_eval.matches.duplicate`), at eight
  tables.

A design is worth as much as its variance is small at an equal number of hands: v = variance of a deal * hands a deal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gunzi_eval.matches.duplicate import ROTATIONS
from gunzi_eval.stats.intervals import LEVEL, RESAMPLES

Floats = npt.NDArray[np.float64]

ONE_TABLE, LESS_LUCK, EXCHANGED, ROTATED = "one table", "less luck", "teams exchanged", "and rotated"
HANDS = {ONE_TABLE: 1, LESS_LUCK: 1, EXCHANGED: 2, ROTATED: 2 * ROTATIONS}
"""Hands that the agents play of a deal."""
FOLDS = 5
OUTSIDE = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)


@dataclass(frozen=True)
class Worth:
    """What a design gets out of the hands."""

    hands: float
    """Hands a deal, that of the reference included."""
    mean: float
    """The estimate."""
    variance: float
    """Of a deal's figure, times ``hands``: divided by the number of hands it is the square of the standard error."""
    ratio: float | None
    """How many hands at one table do the work of one hand of this design; None where one table always gave the same."""
    low: float | None
    high: float | None
    """The 95 % bootstrap interval of ``ratio``, over deals."""

    @property
    def saved(self) -> float | None:
        """The share of hands that need not be played for the same interval; negative where more have to be."""
        return 1 - 1 / self.ratio if self.ratio else None


def coefficients(own: Floats, luck: Floats) -> Floats:
    """b of each deal, ``float64[n]``, from the deals of the other folds.

    ``own[2, n]`` are the figures with the agent in team 0 and in team 1, ``luck[n]`` is that of team 0.
    """
    fold = np.arange(len(luck)) % FOLDS
    both = (own[0] - own[1]) * luck / 2  # E[yc] over the two sides
    b = np.zeros(len(luck))
    for k in range(FOLDS):
        others = fold != k
        square = float(np.sum(luck[others] ** 2))
        b[fold == k] = float(np.sum(both[others])) / square if square else 0.0
    return b


def figures(tables: Floats, luck: Floats) -> dict[str, Floats]:
    """Each design's figures of a deal, ``float64[k, n]``: of k alike possible ones, one of which would be met.

    ``tables[2 * ROTATIONS, n]`` are the figures of :class:`gunzi_eval.matches.hands.Hands`, from whose deals only the
    unrotated ones count but for the last design; ``luck[n]`` is the reference's figure for team 0, its mean taken off.
    """
    own = tables[[0, ROTATIONS]]
    off = coefficients(own, luck) * luck
    return {
        ONE_TABLE: own,
        LESS_LUCK: np.stack([own[0] - off, own[1] + off]),
        EXCHANGED: own.mean(axis=0, keepdims=True),
        ROTATED: tables.mean(axis=0, keepdims=True),
    }


def compare(of_deals: Mapping[str, Floats], seed: int, reference_cost: float = 1.0) -> dict[str, Worth]:
    """The worth of each design.

    Args:
        of_deals: What :func:`figures` found.
        seed: Names the deals that the bootstrap draws.
        reference_cost: What a hand of the reference costs, in hands of the agents.
    """
    # A variance is made of two means over deals, so a resample of deals needs but these columns.
    columns = [column for values in of_deals.values() for column in (values.mean(axis=0), (values**2).mean(axis=0))]
    moments = np.stack(columns, axis=1)
    count = len(moments)
    rng = np.random.default_rng(seed)
    drawn = np.stack([np.bincount(rng.integers(0, count, count), minlength=count) @ moments for _ in range(RESAMPLES)])
    hands = np.array([HANDS[name] + reference_cost * (name == LESS_LUCK) for name in of_deals])
    exact, resampled = (_variances(m) * hands for m in (moments.mean(axis=0), drawn / count))
    found = {}
    for k, name in enumerate(of_deals):
        ratio = low = high = None
        if exact[0] > 0:
            ratio = float(_ratio(exact[0], exact[k]))
            low, high = np.quantile(_ratio(resampled[:, 0], resampled[:, k]), OUTSIDE).tolist()
        found[name] = Worth(float(hands[k]), float(moments[:, 2 * k].mean()), float(exact[k]), ratio, low, high)
    return found


def _variances(moments: Floats) -> Floats:
    mean, square = moments[..., ::2], moments[..., 1::2]
    spread = square - mean**2
    return np.where(spread > 1e-12 * square, spread, 0.0)  # else it is rounding


def _ratio(single: Floats, other: Floats) -> Floats:
    """single / other, at most a million: of two agents that play alike the exchange leaves nothing."""
    return np.asarray(single / np.maximum(other, np.maximum(single, 1e-300) / 1e6))
