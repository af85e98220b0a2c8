"""Designs of measurement: the control variate is unbiased, known variances come out, the command works."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gunzi_agents.uniform import Uniform
from gunzi_env import Rules
from gunzi_env.cli.options import UsageError
from gunzi_eval.commands import variance
from gunzi_eval.matches import duplicate, variance_reduction
from gunzi_eval.matches.variance_reduction import (
    CONTROL_VARIATE,
    EXCHANGED,
    ROTATED,
    SINGLE,
    coefficients,
    compare,
    estimates,
)

DALIAN = Rules.preset("dalian")
SKILL = 0.7


def deals(rng: np.random.Generator, count: int, luck_share: float = 2.0) -> tuple[np.ndarray, np.ndarray]:
    """Eight tables' figures and the reference's: skill, luck to the side in team 0, noise; the luck is skewed."""
    luck = rng.exponential(size=count) * rng.choice([-1.0, 3.0], count, p=[0.75, 0.25])
    side = np.repeat([1.0, -1.0], 4)[:, None]
    tables = SKILL + side * luck_share * luck + rng.normal(size=(8, count))
    return tables, luck + 0.5 * rng.normal(size=count)


def test_a_deals_coefficient_does_not_depend_on_the_deal() -> None:
    tables, luck = deals(np.random.default_rng(0), 40)
    own = tables[[0, 4]]
    before = coefficients(own, luck)
    assert len(set(before)) == variance_reduction.FOLDS
    changed, other_luck = own.copy(), luck.copy()
    changed[:, 7], other_luck[7] = 1000.0, -50.0
    after = coefficients(changed, other_luck)
    fold = np.arange(40) % variance_reduction.FOLDS == 7 % variance_reduction.FOLDS
    np.testing.assert_array_equal(after[fold], before[fold])
    assert (after[~fold] != before[~fold]).all()


def test_over_the_two_sides_the_control_takes_nothing_off() -> None:
    """So with the side drawn at random the estimate is unbiased deal by deal, whatever the coefficient is."""
    tables, luck = deals(np.random.default_rng(1), 40)
    found = estimates(tables, luck)
    np.testing.assert_allclose(found[CONTROL_VARIATE].mean(axis=0), found[EXCHANGED][0], atol=1e-12)
    np.testing.assert_array_equal(found[SINGLE].mean(axis=0), found[EXCHANGED][0])
    assert (found[CONTROL_VARIATE] != found[SINGLE]).all()


def test_the_control_variate_is_unbiased_where_a_plain_regression_is_not() -> None:
    """Few deals, whose figure bends with their luck: a regression on the deals themselves takes part of that off."""
    rng = np.random.default_rng(2)
    crossed, plain = [], []
    for _ in range(4000):
        luck, side = rng.normal(size=10), rng.choice([1.0, -1.0], 10)
        own = SKILL + np.stack([luck, -luck]) + luck**2 - 1
        met = np.where(side > 0, own[0], own[1])
        tables = np.repeat(own, 4, axis=0)
        found = estimates(tables, luck)[CONTROL_VARIATE]
        crossed.append(np.where(side > 0, found[0], found[1]).mean())
        control = side * luck
        plain.append(np.mean(met - np.sum(met * control) / np.sum(control**2) * control))
    for values, biased in ((crossed, False), (plain, True)):
        z = (np.mean(values) - SKILL) / (np.std(values) / len(values) ** 0.5)
        assert (abs(z) > 5) == biased and (biased or abs(z) < 3), z


def test_known_variances_come_out_at_an_equal_number_of_hands() -> None:
    """Figure: luck of variance v at each table with its sign, noise of variance 1 at each."""
    tables, luck = deals(np.random.default_rng(3), 20_000)
    v = 4 * float(np.var(luck) - 0.25 + np.mean(luck) ** 2)  # the reference's own noise has variance 1/4
    found = compare(estimates(tables, luck), seed=0)
    assert [w.hands for w in found.values()] == [1, 2, 2, 8]
    assert found[SINGLE].variance == pytest.approx(v + 1, rel=0.03)
    assert found[EXCHANGED].variance == pytest.approx(2 * (1 / 2), rel=0.03)
    assert found[ROTATED].variance == pytest.approx(8 * (1 / 8), rel=0.03)
    true = v / 4 + 0.25
    left = v * 0.25 / true  # of the luck, by a control that is itself noisy
    assert found[CONTROL_VARIATE].variance == pytest.approx(2 * (left + 1), rel=0.05)
    for w in found.values():
        assert w.low is not None and w.high is not None and w.ratio is not None
        assert w.low <= w.ratio <= w.high
        assert w.mean == pytest.approx(SKILL, abs=0.03)
    assert found[SINGLE].ratio == found[SINGLE].low == 1 and found[SINGLE].saved == 0
    free = compare(estimates(tables, luck), seed=0, reference_cost=0.0)
    assert free[CONTROL_VARIATE].variance == pytest.approx(found[CONTROL_VARIATE].variance / 2)


def test_the_interval_of_the_ratio_covers_it() -> None:
    rng = np.random.default_rng(4)
    ratio = 4 * 6 + 1  # the luck has the variance 2 * (0.75 + 9 * 0.25)
    covered = 0
    for k in range(60):
        w = compare(estimates(*deals(rng, 400)), k)[EXCHANGED]
        assert w.low is not None and w.high is not None
        covered += w.low <= ratio <= w.high
    assert covered >= 51  # 57 are expected; fewer has a chance of 1 in 200


def test_where_all_deals_went_one_way_there_is_no_ratio() -> None:
    found = compare(estimates(np.ones((8, 20)), np.zeros(20)), seed=0)
    assert all((w.ratio, w.low, w.high, w.saved, w.variance) == (None, None, None, None, 0) for w in found.values())
    assert "undefined" in variance.text("hands_won", found)


def test_the_reference_plays_the_deals_that_are_measured() -> None:
    """Uniform's own tables, side by side, are just what it gets as its own reference from the same keys."""
    found = variance.luck(DALIAN, Uniform(), 30, 5)
    again = variance.luck(DALIAN, Uniform(), 30, 5)
    np.testing.assert_array_equal(found.points, again.points)
    hands = duplicate.play_hands((Uniform(), Uniform()), DALIAN, 30, 5)
    # Other keys, the same cards and start states: the figures go together.
    assert np.corrcoef(found.points, hands.points[0])[0, 1] > 0.3
    assert set(np.unique(found.hands_won)) == {0.0, 1.0}


def test_command_prints_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "variance.json"
    arguments = ["uniform", "greedy", "--deals", "10", "--reference", "uniform", "--json", str(file)]
    assert variance.main(arguments) == 0
    out = capsys.readouterr().out
    assert out.startswith("variance: uniform against greedy, reference uniform; rules dalian, 10 deals, seed 0\n")
    assert [out.count(name) for name in (SINGLE, CONTROL_VARIATE, EXCHANGED, ROTATED)] == [3, 3, 3, 3]
    content = json.loads(file.read_text())
    assert (content["a"], content["deals"], content["rules_digest"]) == ("uniform", 10, DALIAN.digest)
    assert set(content["points"]) == {SINGLE, CONTROL_VARIATE, EXCHANGED, ROTATED}
    assert content["points"][EXCHANGED]["mean"] < -50


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["uniform"], "name two agents"),
        (["uniform", "greedy", "uniform"], "name two agents"),
        (["uniform", "uniform"], "uniform is named twice"),
        (["uniform", "greedy", "--deals", "9"], "--deals is 9, allowed are 10"),
        (["uniform", "greedy", "--reference-cost", "-1"], "--reference-cost is -1"),
    ],
)
def test_bad_arguments_are_named(arguments: list[str], named: str) -> None:
    with pytest.raises(UsageError, match=named):
        variance.main(arguments)
