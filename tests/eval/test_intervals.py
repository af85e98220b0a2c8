"""Intervals against known data."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gunzi_eval.stats.intervals import Interval, mean_interval, share_interval, student


@pytest.mark.parametrize(
    ("freedom", "published"),
    [(1, 12.7062), (2, 4.3027), (3, 3.1824), (4, 2.7764), (5, 2.5706), (10, 2.2281), (30, 2.0423), (120, 1.9799)],
)
def test_student_quantiles_match_the_published_table(freedom: int, published: float) -> None:
    assert student(freedom) == pytest.approx(published, rel=1.2e-3)


def test_student_tends_to_the_normal() -> None:
    assert student(10**6) == pytest.approx(1.959964, abs=1e-5)
    assert student(10**6, level=0.99) == pytest.approx(2.575829, abs=1e-5)


def test_interval_of_known_data() -> None:
    """1..9: mean 5, s = sqrt(7.5), t(8) = 2.306."""
    interval = mean_interval(np.arange(1.0, 10.0))
    half = 2.306 * math.sqrt(7.5) / 3
    assert interval.mean == 5.0
    assert interval.low == pytest.approx(5 - half, rel=1e-3)
    assert interval.high == pytest.approx(5 + half, rel=1e-3)


@pytest.mark.parametrize("size", [3, 10, 400])
def test_intervals_cover_the_truth_as_often_as_they_say(size: int) -> None:
    """4,000 samples of skewed differences, like those of levels; binomial noise of the share is 0.0034."""
    rng = np.random.default_rng(size)
    samples = rng.normal(size=(4000, size)) if size < 100 else rng.exponential(size=(4000, size)) - 1
    inside = [found.low <= 0 <= found.high for found in map(mean_interval, samples)]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.015)


def test_mirrored_data_give_mirrored_intervals() -> None:
    values = np.random.default_rng(3).normal(size=101)
    there, back = mean_interval(values), mean_interval(-values)
    assert (there.mean, there.low, there.high) == (-back.mean, -back.high, -back.low)


def test_few_deals_and_no_spread() -> None:
    assert mean_interval(np.array([3.0])) == Interval(3.0, None, None)
    assert mean_interval(np.zeros(7)) == Interval(0.0, 0.0, 0.0)
    two = mean_interval(np.array([0.0, 1.0]))
    assert two.low == pytest.approx(0.5 - 12.706 * 0.5, rel=1e-3)
    with pytest.raises(ValueError, match="no deals"):
        mean_interval(np.zeros(0))


def test_shares_stay_within_0_and_1() -> None:
    few = share_interval(np.array([1.0, 1.0, 0.5]))
    assert 0.0 <= few.low < few.mean < few.high == 1.0
    assert share_interval(np.full(9, 0.5)) == Interval(0.5, 0.5, 0.5)
    assert share_interval(np.array([1.0])) == Interval(1.0, None, None)


def test_unanimous_shares_leave_room_for_a_loss() -> None:
    won, lost = share_interval(np.ones(100)), share_interval(np.zeros(100))
    assert (won.mean, won.high, lost.mean, lost.low) == (1.0, 1.0, 0.0, 0.0)
    # at this chance of winning a deal, a hundred wins in a row come once in forty tries
    assert won.low**100 == pytest.approx(0.025)
    assert lost.high == pytest.approx(1 - won.low)
