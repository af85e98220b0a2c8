"""Designs that measure one agent against another, and their efficiency: how much they get out of each hand played.

All designs estimate the same value: the mean result of a hand from the published start states, with the agent's side
drawn at random.

* ``one table``: each deal is played once, so the result includes all its luck.
* ``less luck``: the same with a control variate. A reference bot plays the deal too, in all four seats. Its result c
  for the agent's side is luck, because both sides play alike, and b times c is subtracted. As the side is drawn at
  random, c has mean 0 (1/2 for hands won, which is subtracted first) for any bot. The coefficient b = E[yc] / E[c^2] of
  a deal comes from the other deals (cross-fitting in folds). It is therefore independent of the deal's c, so bc has
  mean 0 and the estimate is unbiased for any b (Glasserman, Monte Carlo Methods in Financial Engineering, 2004, section
  4.1, describes the method and its bias without folds). The hand of the reference counts as a cost.
* ``teams exchanged``: the deal at two tables. The control variate cancels between the two tables, so combining both
  techniques gains nothing.
* ``and rotated``: the exchange at each of four rotations of the hands (:mod:`gunzi_eval.matches.duplicate`), at eight
  tables.

Designs are compared by their variance at an equal number of hands: v = variance of a deal * hands per deal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gunzi_eval.matches.duplicate import ROTATIONS
from gunzi_eval.stats.intervals import LEVEL, RESAMPLES

Floats = npt.NDArray[np.float64]

SINGLE, CONTROL_VARIATE, EXCHANGED, ROTATED = "one table", "less luck", "teams exchanged", "and rotated"
HANDS = {SINGLE: 1, CONTROL_VARIATE: 1, EXCHANGED: 2, ROTATED: 2 * ROTATIONS}
"""Hands that the agents play per deal, by design."""
FOLDS = 5
OUTSIDE = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)


@dataclass(frozen=True)
class Efficiency:
    """Efficiency of a design."""

    hands: float
    """Hands per deal, including that of the reference."""
    mean: float
    """The estimate."""
    variance: float
    """Variance of a deal's result times ``hands``; divided by the number of hands it is the squared standard error."""
    ratio: float | None
    """Hands at one table that one hand of this design replaces; None if all hands at one table had the same result."""
    low: float | None
    high: float | None
    """95 % bootstrap interval of ``ratio`` over deals."""

    @property
    def saved(self) -> float | None:
        """Share of hands saved for an interval of the same width; negative if more hands are needed."""
        return 1 - 1 / self.ratio if self.ratio else None


def coefficients(own: Floats, luck: Floats) -> Floats:
    """Estimate the coefficient b of each deal, ``float64[n]``, from the deals of the other folds.

    ``own[2, n]`` are the results with the agent in team 0 and in team 1, ``luck[n]`` is the luck of team 0.
    """
    fold = np.arange(len(luck)) % FOLDS
    both = (own[0] - own[1]) * luck / 2  # E[yc] over the two sides
    b = np.zeros(len(luck))
    for k in range(FOLDS):
        others = fold != k
        square = float(np.sum(luck[others] ** 2))
        b[fold == k] = float(np.sum(both[others])) / square if square else 0.0
    return b


def estimates(tables: Floats, luck: Floats) -> dict[str, Floats]:
    """Compute the results of each design, ``float64[k, n]``: k equally likely results of each of n deals.

    Args:
        tables: ``[2 * ROTATIONS, n]``, one metric of :class:`gunzi_eval.matches.hands.HandResults`. Only the last
            design uses the rotated tables.
        luck: ``[n]``, the reference's result for team 0 minus its mean.
    """
    own = tables[[0, ROTATIONS]]
    off = coefficients(own, luck) * luck
    return {
        SINGLE: own,
        CONTROL_VARIATE: np.stack([own[0] - off, own[1] + off]),
        EXCHANGED: own.mean(axis=0, keepdims=True),
        ROTATED: tables.mean(axis=0, keepdims=True),
    }


def compare(of_deals: Mapping[str, Floats], seed: int, reference_cost: float = 1.0) -> dict[str, Efficiency]:
    """Compute the efficiency of each design.

    Args:
        of_deals: Results of :func:`estimates`.
        seed: Seed of the bootstrap.
        reference_cost: Cost of a hand of the reference, in hands of the agents.
    """
    # A variance follows from two means over deals, so a resample of deals needs only these columns.
    columns = [column for values in of_deals.values() for column in (values.mean(axis=0), (values**2).mean(axis=0))]
    moments = np.stack(columns, axis=1)
    count = len(moments)
    rng = np.random.default_rng(seed)
    drawn = np.stack([np.bincount(rng.integers(0, count, count), minlength=count) @ moments for _ in range(RESAMPLES)])
    hands = np.array([HANDS[name] + reference_cost * (name == CONTROL_VARIATE) for name in of_deals])
    exact, resampled = (_variances(m) * hands for m in (moments.mean(axis=0), drawn / count))
    found = {}
    for k, name in enumerate(of_deals):
        ratio = low = high = None
        if exact[0] > 0:
            ratio = float(_ratio(exact[0], exact[k]))
            low, high = np.quantile(_ratio(resampled[:, 0], resampled[:, k]), OUTSIDE).tolist()
        found[name] = Efficiency(float(hands[k]), float(moments[:, 2 * k].mean()), float(exact[k]), ratio, low, high)
    return found


def _variances(moments: Floats) -> Floats:
    mean, square = moments[..., ::2], moments[..., 1::2]
    spread = square - mean**2
    return np.where(spread > 1e-12 * square, spread, 0.0)  # the rest is rounding error


def _ratio(single: Floats, other: Floats) -> Floats:
    """Compute single / other, capped at a million: with equal agents the exchange leaves no variance."""
    return np.asarray(single / np.maximum(other, np.maximum(single, 1e-300) / 1e6))
