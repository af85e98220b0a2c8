"""Means with 95 % confidence intervals over independent deals.

The result of a deal is the average of its tables, so deals are independent and identically distributed. Student's
interval mean ± t * s / sqrt(n) is exact for normal data, and with a thousand deals the mean is close to normal for any
distribution of results. It has three advantages over a bootstrap: it needs no random numbers, it is wider with few
deals (where percentile bootstraps are too narrow), and mirrored data give the mirrored interval to the last bit.
:func:`bootstrap` is available for comparison.

Some metrics concern a part of a deal's hands, such as those in which a side attacks: the sum of ``values`` over deals
divided by the sum of ``weights``. Both methods accept such ratios; with equal weights the ratio is the mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

LEVEL = 0.95
RESAMPLES = 1999
"""Resamples of a bootstrap: 95 % of the 2,000 gaps between the sorted means is a whole number."""
_MEMORY = 200_000
"""Approximate number of deals that a bootstrap draws at once."""
SHARE_DIGITS = 12
"""Shares are rounded to this many digits, so that 1 - share, the other side's share, mirrors every digit shown."""


@dataclass(frozen=True)
class Interval:
    """Mean and its 95 % interval; ``low`` and ``high`` are None for a single deal, which has no spread.

    >>> found = mean_interval(np.array([1.0, 2.0, 3.0, 2.0]))
    >>> found.mean, round(found.low, 1), round(found.high, 1)
    (2.0, 0.7, 3.3)
    """

    mean: float
    low: float | None
    high: float | None

    def as_dict(self) -> dict[str, float | None]:
        """Convert to the form of the arena's JSON.

        >>> Interval(0.5, None, None).as_dict()
        {'mean': 0.5, 'low': None, 'high': None}
        """
        return {"mean": self.mean, "low": self.low, "high": self.high}


def student(freedom: int, level: float = LEVEL) -> float:
    """Two-sided quantile of Student's t distribution, to within 0.1 %.

    >>> round(student(1), 3), round(student(2), 3), round(student(10), 3), round(student(999), 3)
    (12.706, 4.303, 2.228, 1.962)
    """
    p = (1 + level) / 2
    if freedom == 1:
        return math.tan(math.pi * (p - 0.5))
    if freedom == 2:
        return (2 * p - 1) / math.sqrt(2 * p * (1 - p))
    # Abramowitz and Stegun 26.7.5: an expansion about the normal quantile in powers of 1 / freedom.
    z = NormalDist().inv_cdf(p)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return sum(term / freedom**power for power, term in enumerate(terms))


def format_interval(interval: Interval, digits: int, scale: float = 1.0, signed: bool = True) -> str:
    """Format a mean and its interval, multiplied by ``scale`` and rounded to ``digits``.

    >>> format_interval(Interval(0.25, 0.125, 0.375), 3)
    '+0.250 [+0.125, +0.375]'
    >>> format_interval(Interval(0.5, None, None), 1, 100, signed=False)
    '50.0 [one deal]'
    """
    form = f"{'+' if signed else ''}.{digits}f"
    # "+ 0.0" turns a negative zero into zero
    mean, *bounds = (
        None if x is None else format(round(x * scale, digits) + 0.0, form)
        for x in (interval.mean, interval.low, interval.high)
    )
    return f"{mean} [one deal]" if bounds[0] is None else f"{mean} [{bounds[0]}, {bounds[1]}]"


Values = npt.NDArray[np.float64]
Method = Callable[[Values, Values], Interval]
"""(values, weights), float64[n] each, n >= 1, to the interval of sum(values) / sum(weights)."""


def student_interval(values: Values, weights: Values) -> Interval:
    """Student's interval; a ratio is linearised (Cochran, Sampling Techniques, 1977, section 6.4).

    >>> student_interval(np.array([1.0, 0.0, 4.0]), np.array([1.0, 0.0, 1.0])).mean
    2.5
    """
    count, mean = len(values), _ratio(values, weights)
    if count == 1:
        return Interval(mean, None, None)
    spread = math.sqrt(float(np.sum((values - mean * weights) ** 2)) / (count - 1))
    half = student(count - 1) * spread / math.sqrt(count) / float(np.mean(weights))
    return Interval(mean, mean - half, mean + half)


def bootstrap(seed: int) -> Method:
    """Percentile bootstrap over deals (Efron and Tibshirani 1993, chapter 13).

    The draws depend only on ``seed`` and the number of deals, so all metrics of a pair share their draws and mirrored
    data give the mirrored interval to the last bit.
    """

    def interval(values: Values, weights: Values) -> Interval:
        count, mean = len(values), _ratio(values, weights)
        if count == 1:
            return Interval(mean, None, None)
        rng = np.random.default_rng(seed)
        found: list[float] = []
        while len(found) < RESAMPLES:
            drawn = rng.integers(0, count, (-(-_MEMORY // count), count))
            sums, totals = values[drawn].sum(axis=1), weights[drawn].sum(axis=1)
            there = totals > 0  # a draw of few deals may contain no such hand
            found += (sums[there] / totals[there]).tolist()
        found = sorted(found[:RESAMPLES])
        outside = round((RESAMPLES + 1) * (1 - LEVEL) / 2)
        return Interval(mean, found[outside - 1], found[-outside])

    return interval


def _ratio(values: Values, weights: Values) -> float:
    total = float(np.sum(weights))
    if not total:
        raise ValueError("no deals: a mean needs at least one")
    return float(np.sum(values)) / total


def mean_interval(values: Values, method: Method = student_interval) -> Interval:
    """Mean of ``float64[n]``, n >= 1, with its interval.

    If all deals agree, the interval is that value: an agent against itself is exactly 0.

    >>> mean_interval(np.array([1.0, 1.0, 1.0]))
    Interval(mean=1.0, low=1.0, high=1.0)
    >>> mean_interval(np.array([2.0]))
    Interval(mean=2.0, low=None, high=None)
    """
    return method(values, np.ones(len(values)))


def share_interval(values: Values, weights: Values | None = None, method: Method = student_interval) -> Interval:
    """Share in 0..1 with its interval, cut off at 0 and 1; with ``weights``, ``values`` of that many hands.

    If every deal was won (or lost), the spread is zero although the next deal may be lost. The bound is then the share
    for which n wins in a row have a probability of 2.5 %.

    >>> interval = share_interval(np.ones(20))
    >>> interval.mean, round(interval.low, 3), interval.high
    (1.0, 0.832, 1.0)
    """
    weights = np.ones(len(values)) if weights is None else weights
    found = method(values - weights / 2, weights)  # relative to 1/2, so that both sides are treated alike
    if found.low is None or found.high is None:
        return Interval(_share(found.mean), None, None)
    low, high = found.low, found.high
    unanimous = ((1 - LEVEL) / 2) ** (1 / int(np.count_nonzero(weights)))
    if found.mean == 0.5:
        low = unanimous - 0.5
    if found.mean == -0.5:
        high = 0.5 - unanimous
    return Interval(_share(found.mean), _share(max(-0.5, low)), _share(min(0.5, high)))


def _share(above_half: float) -> float:
    return round(0.5 + above_half, SHARE_DIGITS)
