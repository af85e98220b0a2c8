"""The scale: planted ratings are found, intervals cover them, order means nothing, who won all has a bound."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from gunzi_eval.stats import openskill_ratings
from gunzi_eval.stats.bradley_terry import ELO, PairResult, connected, fit
from gunzi_eval.stats.intervals import share_interval

TRUE = {"uniform": 0.0, "a": 120.0, "b": 350.0, "c": 600.0, "d": -90.0}


def expected(a: str, b: str) -> float:
    return 1 / (1 + 10 ** ((TRUE[b] - TRUE[a]) / 400))


def played(a: str, b: str, deals: int, rng: np.random.Generator, leaning: float = 0.0) -> PairResult:
    """A result whose deals are means of two tables, a share ``leaning`` of them played on opposite luck."""
    p = expected(a, b)
    luck, other = rng.random(deals), rng.random(deals)
    second = np.where(rng.random(deals) < leaning, 1 - luck, other)
    return result(a, b, ((luck < p).astype(float) + (second < p)) / 2)


def result(a: str, b: str, shares: np.ndarray) -> PairResult:
    found = share_interval(shares)
    assert found.low is not None and found.high is not None
    return PairResult(a, b, len(shares), found.mean, found.low, found.high)


def exact(a: str, b: str, deals: int = 1000) -> PairResult:
    p = expected(a, b)
    return PairResult(a, b, deals, p, p - 0.02, p + 0.02)


def test_planted_ratings_are_recovered_exactly_from_exact_shares() -> None:
    table = fit([exact(a, b) for a, b in itertools.combinations(TRUE, 2)], "uniform")
    assert {r.name: pytest.approx(r.rating, abs=1e-6) for r in table.ratings} == TRUE
    assert [r.name for r in table.ratings] == ["c", "b", "a", "uniform", "d"]
    assert table.predicted == pytest.approx([m.share for m in table.results])
    assert abs(table.worst()[2]) < 1e-6


@pytest.mark.parametrize("leaning", [0.0, 0.9])
def test_intervals_cover_the_planted_ratings_as_often_as_they_say(leaning: float) -> None:
    """400 scales: the share covered has a standard error of 1.1 %; with leaning deals binomial ones are too wide."""
    rng = np.random.default_rng(1)
    pairs = list(itertools.combinations(TRUE, 2))
    covered, widths = dict.fromkeys(TRUE, 0), []
    for _ in range(400):
        table = fit([played(a, b, 300, rng, leaning) for a, b in pairs], "uniform")
        for r in table.ratings:
            assert r.low is not None and r.high is not None
            covered[r.name] += r.low <= TRUE[r.name] <= r.high
            widths.append(r.high - r.low)
    assert covered.pop("uniform") == 400
    assert all(0.92 < count / 400 < 0.98 for count in covered.values()), covered
    assert np.mean(widths) < (37 if leaning else 45)


def test_order_and_direction_of_the_meetings_mean_nothing() -> None:
    rng = np.random.default_rng(2)
    results = [played(a, b, 200, rng) for a, b in itertools.combinations(TRUE, 2)] + [played("a", "c", 77, rng)]
    table = fit(results, "uniform")
    for seed in range(5):
        random.Random(seed).shuffle(results)
        assert fit(results, "uniform") == table
    turned = [PairResult(m.b, m.a, m.deals, 1 - m.share, 1 - m.high, 1 - m.low) for m in results]
    for one, two in zip(table.ratings, fit(turned, "uniform").ratings, strict=True):
        assert one.name == two.name
        assert (one.rating, one.low, one.high) == pytest.approx((two.rating, two.low, two.high), abs=1e-7)


def test_another_anchor_moves_the_scale_and_nothing_else() -> None:
    rng = np.random.default_rng(3)
    results = [played(a, b, 200, rng) for a, b in itertools.combinations(TRUE, 2)]
    here, there = ({r.name: r for r in fit(results, anchor).ratings} for anchor in ("uniform", "b"))
    assert (there["b"].rating, there["b"].low, there["b"].high) == (0, 0, 0)
    for name in TRUE:
        assert there[name].rating == pytest.approx(here[name].rating - here["b"].rating)


def test_two_agents_have_the_interval_of_their_share() -> None:
    """The delta method by hand: the log-odds have the derivative 1 / (p (1 - p))."""
    table = fit([PairResult("x", "uniform", 10**6, 0.75, 0.74, 0.76)], "uniform")
    best = table.ratings[0]
    assert best.rating == pytest.approx(ELO * np.log(3))
    assert best.high == pytest.approx(best.rating + ELO * 0.01 / (0.75 * 0.25), rel=1e-4)


def test_who_won_everything_is_bounded_on_one_side() -> None:
    rng = np.random.default_rng(4)
    won, lost = result("top", "a", np.ones(50)), result("bottom", "a", np.zeros(50))
    table = fit([played("a", "uniform", 300, rng), won, lost], "uniform")
    top, a, _, bottom = table.ratings
    assert (top.name, bottom.name) == ("top", "bottom")
    least = won.low
    assert top.rating == pytest.approx(a.rating + ELO * np.log(least / (1 - least)))
    assert top.high is None and top.low is not None and top.low < top.rating
    assert bottom.low is None and bottom.high is not None and bottom.high > bottom.rating
    assert a.low is not None and a.high is not None
    assert table.worst()[0] in table.results


def test_a_clean_win_over_one_is_no_bound_when_another_way_links_them() -> None:
    rng = np.random.default_rng(5)
    results = [played("c", "b", 400, rng), played("b", "uniform", 400, rng), result("c", "uniform", np.ones(40))]
    assert all(r.low is not None and r.high is not None for r in fit(results, "uniform").ratings)


def test_a_group_that_won_everything_is_bounded_together() -> None:
    rng = np.random.default_rng(6)
    results = [played("b", "c", 200, rng), result("b", "uniform", np.ones(40)), played("a", "uniform", 200, rng)]
    found = {r.name: (r.low is None, r.high is None) for r in fit(results, "uniform").ratings}
    assert found == {"b": (False, True), "c": (False, True), "uniform": (False, False), "a": (False, False)}


def test_what_hangs_together() -> None:
    results = [exact("a", "b"), exact("c", "d"), exact("b", "uniform")]
    assert connected(results, "uniform") == {"uniform", "a", "b"}
    assert connected(results, "d") == {"c", "d"}


def test_a_circle_shows_as_a_miss() -> None:
    won = [PairResult(a, b, 1000, 0.7, 0.68, 0.72) for a, b in (("x", "y"), ("y", "uniform"), ("uniform", "x"))]
    table = fit(won, "uniform")
    assert [r.rating for r in table.ratings] == pytest.approx([0, 0, 0], abs=1e-9)
    assert table.worst()[2] == pytest.approx(0.2 / won[0].error, rel=1e-3)


def test_the_second_opinion_agrees_and_has_no_order() -> None:
    pytest.importorskip("openskill")
    results = [exact(a, b, 100) for a, b in itertools.combinations(TRUE, 2)]
    found = openskill_ratings.ratings(results, "uniform", 0)
    assert found == openskill_ratings.ratings(results[::-1], "uniform", 0)
    assert found != openskill_ratings.ratings(results, "uniform", 1)
    assert found["uniform"] == (0.0, 0.0)
    assert all(abs(found[name][0] - rating) < 60 for name, rating in TRUE.items()), found
