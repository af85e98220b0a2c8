"""The figures of a pair: what is kept of hands, parts of them, CSV, and the bootstrap."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from gunzi_agents.uniform import Uniform
from gunzi_env.order import BIG_JOKER_SLOT
from gunzi_env.planes import BIT
from gunzi_env.rules import Rules
from gunzi_env.tables import KITTY, NOBODY, Phase, Tables
from gunzi_eval.matches.duplicate import play_hands
from gunzi_eval.matches.figures import CSV_FIELDS, Pair, as_csv, as_json
from gunzi_eval.matches.hands import Hands
from gunzi_eval.stats.intervals import bootstrap, mean_interval, share_interval, student_interval
from tests.support.mirror import mirrored
from tests.support.odd_agents import High

RULES = Rules.preset("dalian")


def invented(deals: int, seed: int, tables: int = 2) -> Hands:
    """Hands of no game, but with values as hands have them."""
    rng = np.random.default_rng(seed)
    attacks = rng.integers(0, 2, (tables, deals))
    points = 5 * rng.integers(-24, 37, (tables, deals))
    values = [attacks, rng.integers(-4, 7, (tables, deals)), points, rng.integers(0, 2, (tables, deals))]
    values += [rng.integers(-1, 2, (tables, deals)), rng.integers(-9, 12, (tables, deals))]
    values += [rng.integers(0, 4, (tables, deals)), rng.integers(0, 2, (tables, deals))]
    return Hands.unpack(np.array(values, np.int16))


def from_the_other_side(hands: Hands) -> Hands:
    """The same hands as the other agent saw them: it sat in team 0 at the second half of the tables."""
    half = len(hands.levels) // 2
    sides = {
        "attacks": 1 - hands.attacks, "levels": -hands.levels, "points": -hands.points, "dug": hands.dug,
        "bid": -hands.bid, "blood": -hands.blood, "jokers": hands.jokers, "dry": hands.dry,
    }  # fmt: skip
    return Hands(**{name: np.roll(values, half, axis=0) for name, values in sides.items()})


def test_what_is_kept_of_a_hand_follows_the_rules() -> None:
    t = Tables(RULES, 4)
    t.phase[:] = Phase.OVER
    t.dealer[:] = [0, 1, 2, 3]
    t.score[:] = [100, 100, 120, 300]
    t.gain[:] = [[2, 0], [0, 1], [0, 1], [1, 0]]
    t.dug[:] = [False, True, True, False]
    t.kitty_shown[:] = [True, True, False, True]
    t.first_hand[:] = [True, False, False, False]
    t.bid_seat[:] = [NOBODY, 2, NOBODY, 3]
    t.next_dealer[:] = [2, 3, 3, NOBODY]
    t.next_blood[:] = [1, 0, 4, 0]
    t.holders[KITTY, 1] = BIT[BIG_JOKER_SLOT]
    t.dry[:] = [False, False, False, True]
    hands = Hands.of(t, np.array([0, 0, 1, 1], np.int8), 2)
    assert hands.attacks.tolist() == [[0, 1], [1, 0]]
    assert hands.levels.tolist() == [[2, -1], [1, -1]]
    assert hands.points.tolist() == [[20, -20], [0, -180]]
    assert hands.won.tolist() == [[1, 0], [1, 0]]
    assert hands.dug.tolist() == [[0, 1], [1, 0]]
    # a shown joker is the dealer's (R4.2); at the second table seat 2 of the own team 0 bid; then nobody, then seat 3
    assert hands.bid.tolist() == [[1, 1], [0, 1]]
    # owed to whoever deals next: seat 2 of team 0, then seat 3 of team 1
    assert hands.blood.tolist() == [[1, 0], [4, 0]]
    assert hands.jokers.tolist() == [[0, 1], [0, 0]] and hands.dry.tolist() == [[0, 0], [0, 1]]


def test_hands_survive_packing_and_joining() -> None:
    one, two = invented(3, 1), invented(2, 2)
    both = Hands.joined([Hands.unpack(one.pack()), two])
    np.testing.assert_array_equal(both.points[:, :3], one.points)
    np.testing.assert_array_equal(both.dry[:, 3:], two.dry)


def test_parts_are_means_over_their_hands() -> None:
    hands = invented(300, 5)
    found = json.loads(as_json(RULES, 0, [Pair.of(("a", "b"), hands)]))["pairs"][0]
    attacks, dealing = hands.attacks == 1, hands.attacks == 0
    roles, phases = found["roles"], found["phases"]
    assert roles["attacker"]["hands"] == attacks.sum() and roles["dealer"]["hands"] == dealing.sum()
    assert roles["attacker"]["points"]["mean"] == pytest.approx(hands.points[attacks].mean())
    assert roles["dealer"]["hands_won"]["mean"] == pytest.approx((hands.points[dealing] > 0).mean())
    assert phases["dig"]["a"]["mean"] == pytest.approx(hands.dug[attacks].mean())
    assert phases["dig"]["b"]["mean"] == pytest.approx(hands.dug[dealing].mean())
    assert phases["guard"]["a"]["mean"] == pytest.approx(1 - hands.dug[dealing].mean())
    assert phases["bid"]["b"]["mean"] == pytest.approx((hands.bid == -1).mean())
    assert phases["blood"]["a"]["mean"] == pytest.approx(np.maximum(hands.blood, 0).mean())
    assert found["kitty"]["jokers"]["mean"] == pytest.approx(hands.jokers.mean())
    assert sum(found["distributions"]["points"].values()) == 600
    values = hands.levels.reshape(-1).tolist()
    assert found["distributions"]["levels"] == {str(v): values.count(v) for v in sorted(set(values))}


def test_intervals_of_parts_hold_the_truth_as_often_as_they_say() -> None:
    """Deals have 0, 1 or 2 hands of the kind, and richer hands where there are two; noise of the share 0.005."""
    rng = np.random.default_rng(3)
    inside = []
    for _ in range(2000):
        weights = rng.integers(0, 3, 60).astype(float)
        values = weights * rng.normal(size=60) + weights**2
        found = student_interval(values, weights)
        inside.append(found.low <= 5 / 3 <= found.high)  # E[w^2] / E[w] for w uniform on 0, 1, 2
    assert np.mean(inside) == pytest.approx(0.95, abs=0.02)


@pytest.mark.parametrize("method", [student_interval, bootstrap(4)])
@pytest.mark.parametrize("deals", [1, 2, 60])
def test_the_other_side_sees_the_mirror_image(method: object, deals: int) -> None:
    hands = invented(deals, 8)
    won = np.random.default_rng(1).integers(0, 5, deals) / 4
    there = Pair.of(("a", "b"), hands, won, method).as_dict()  # type: ignore[arg-type]
    back = Pair.of(("b", "a"), from_the_other_side(hands), 1 - won, method).as_dict()  # type: ignore[arg-type]
    assert mirrored(there) == back


def test_bootstrap_agrees_with_student_where_there_are_many_deals() -> None:
    values = np.random.default_rng(2).choice([-2.0, -0.5, 0.0, 0.5, 3.0], 2000)
    student, drawn = mean_interval(values), mean_interval(values, bootstrap(0))
    assert drawn.mean == student.mean and drawn != student
    assert (drawn.low, drawn.high) == pytest.approx((student.low, student.high), abs=0.01)
    assert mean_interval(values, bootstrap(0)) == drawn != mean_interval(values, bootstrap(1))
    assert mean_interval(np.zeros(9), bootstrap(0)).high == 0.0
    # a percentile interval of wins alone would have no width
    assert share_interval(np.ones(100), method=bootstrap(0)).low == share_interval(np.ones(100)).low < 1


def test_bootstrap_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    """400 samples of 100 deals; noise 0.011, and percentiles are known to be a little narrow."""
    rng = np.random.default_rng(6)
    found = [mean_interval(rng.exponential(size=100) - 1, bootstrap(seed)) for seed in range(400)]
    assert 0.9 < np.mean([each.low <= 0 <= each.high for each in found]) < 0.975


def test_seats_are_alike_and_an_unfair_table_is_seen() -> None:
    hands = play_hands((Uniform(), Uniform()), RULES, 60, 4)
    fair = Pair.of(("a", "b"), hands).as_dict()
    assert fair["levels"] == {"mean": 0.0, "low": 0.0, "high": 0.0}
    assert fair["seats"]["levels"]["mean"] == hands.levels[0].mean() != 0  # not duplicated: luck does not cancel
    assert abs(fair["seats"]["z"]) < 3
    unfair = Hands(**{**vars(hands), "levels": hands.levels + np.array([[1], [-1]], np.int16)})
    assert Pair.of(("a", "b"), unfair).as_dict()["seats"]["z"] > 3


def test_csv_has_a_row_a_deal_that_adds_up_to_the_figures() -> None:
    hands = play_hands((Uniform(), High()), RULES, 12, 3)
    pair = Pair.of(("u,1", "h"), hands).as_dict()
    rows = list(csv.DictReader(io.StringIO(as_csv([(("u,1", "h"), hands), (("h", "u,1"), hands)]))))
    assert tuple(rows[0]) == CSV_FIELDS and len(rows) == 24
    mine = [row for row in rows if row["a"] == "u,1"]
    assert [int(row["deal"]) for row in mine] == list(range(12)) and {row["tables"] for row in mine} == {"2"}
    for name in ("levels", "points", "hands_won"):
        assert np.mean([float(row[name]) for row in mine]) == pytest.approx(pair[name]["mean"])
    total = {name: sum(int(row[name]) for row in mine) for name in CSV_FIELDS[7:]}
    assert total["attacks"] == pair["roles"]["attacker"]["hands"]
    assert total["digs"] / total["attacks"] == pytest.approx(pair["phases"]["dig"]["a"]["mean"])
    assert total["guards"] / (24 - total["attacks"]) == pytest.approx(pair["phases"]["guard"]["a"]["mean"])
    assert total["blood_against"] / 24 == pytest.approx(pair["phases"]["blood"]["b"]["mean"])
    assert total["bids"] / 24 == pytest.approx(pair["phases"]["bid"]["a"]["mean"])
    assert (total["jokers"], total["dry"]) == (hands.jokers.sum(), hands.dry.sum())
