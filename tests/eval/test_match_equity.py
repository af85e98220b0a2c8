"""Value iteration: against played-out chains, its fixed point, and what is pooled; the command around it."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from gunzi_agents.uniform import Uniform
from gunzi_env import Rules
from gunzi_env.cli.options import UsageError
from gunzi_env.published import equity
from gunzi_env.rulebook import settle
from gunzi_eval.commands import equity as equity_command
from gunzi_eval.stats import match_equity
from gunzi_eval.stats.match_equity import Chain, EquityError, Hands

DALIAN = Rules.preset("dalian")
# S, dug, big, small, dry
TOY = [(60, 0, 1, 0, 0), (110, 1, 0, 0, 0), (130, 0, 0, 2, 0), (200, 1, 0, 1, 1), (100, 0, 3, 0, 0)]


def toy_hands(ends: list[tuple[int, ...]], levels: range = range(3, 11)) -> Hands:
    """Every end once at each level, without blood."""
    level = np.repeat(np.array(levels, np.int16), len(ends))
    return Hands(level, np.zeros_like(level), np.array(ends * len(levels), np.int16))


def simulate(state: tuple[int, int, int], rng: np.random.Generator) -> bool:
    """Does team 0, which deals, win? By the rulebook alone."""
    levels, dealer = (state[0], state[1]), 0
    while True:
        score, dug, big, small, dry = TOY[rng.integers(len(TOY))]
        result = settle(DALIAN, score, bool(dug), big, small, bool(dry), levels, dealer)
        if result.match_winner is not None:
            return result.match_winner == 0
        assert result.next_dealer is not None
        levels, dealer = result.levels, result.next_dealer


@pytest.mark.parametrize("state", [(4, 9, 2), (10, 5, 0)])
def test_the_table_agrees_with_matches_played_by_the_rulebook(state: tuple[int, int, int]) -> None:
    chances = match_equity.chain(DALIAN, toy_hands(TOY)).solve()
    rng = np.random.default_rng(sum(state))
    count = 800
    won = sum(simulate(state, rng) for _ in range(count))
    expected = chances[state[0] - 3, state[1] - 3, state[2]]
    assert abs(won - count * expected) < 4 * np.sqrt(count * expected * (1 - expected))


def test_the_table_is_a_fixed_point() -> None:
    found = match_equity.chain(DALIAN, toy_hands(TOY))
    chances = found.solve()
    assert np.abs(found.sweep(chances) - chances).max() < 1e-11
    leaving = np.bincount(found.row, found.weight, len(found.won))
    assert (leaving <= 1 + 1e-12).all() and (found.won <= 1 - leaving + 1e-12).all()
    assert np.abs(found.sweep(np.full(found.shape, 0.5)) - 0.5).max() > 0.01


def test_what_must_happen_has_chance_one_or_zero() -> None:
    sweep = match_equity.chain(DALIAN, toy_hands([(0, 0, 0, 0, 0)])).solve()
    assert (sweep == 1).all()  # R9.4
    lost = match_equity.chain(DALIAN, toy_hands([(300, 1, 0, 0, 0)])).solve()
    assert (lost == 0).all()


def test_matches_that_never_end_are_said_to() -> None:
    """The dealers stay and nobody rises: value iteration would call that settled at its first guess."""
    with pytest.raises(EquityError, match="do not end"):
        match_equity.chain(DALIAN, toy_hands([(110, 1, 0, 0, 0)])).solve()


def test_hands_are_pooled_by_blood_and_by_what_the_level_card_is_worth() -> None:
    level = np.array([4, 5, 6, 10, 4, 4, 4], np.int16)
    blood = np.array([0, 0, 0, 0, 1, 12, 14], np.int16)
    hands = Hands(level, blood, np.zeros((7, 5), np.int16))
    pooled = {
        (level, blood): np.flatnonzero(match_equity._pooled(hands, level, blood)).tolist()
        for level, blood in [(3, 0), (5, 0), (10, 3), (8, 1), (7, 12), (7, 10), (7, 5)]
    }
    assert pooled == {
        (3, 0): [0, 2], (5, 0): [1], (10, 3): [3], (8, 1): [4], (7, 12): [5, 6], (7, 10): [5],
        (7, 5): [4],
    }  # fmt: skip
    with pytest.raises(EquityError, match="level like 5"):
        match_equity.chain(DALIAN, toy_hands(TOY, range(3, 5)))


@pytest.mark.parametrize("preset", Rules.presets())
def test_shipped_tables_are_of_this_version_and_command(preset: str) -> None:
    path = Path(equity.__file__).parents[1] / "data" / "equity" / f"{preset}.json"
    document = json.loads(path.read_text("utf-8"))
    assert (document["preset"], document["rules"]) == (preset, Rules.preset(preset).digest)
    assert document["source"].endswith("hands of greedy, seed 1")
    assert path.read_text("utf-8") == equity_command.as_text(document)
    assert path.stat().st_size < 25_000


def test_hands_are_made_at_every_worth_and_blood() -> None:
    hands = match_equity.play(DALIAN, Uniform(), 150, 2)
    times = np.bincount(hands.level)
    assert times[5] > 35 and times[10] > 35 and times[3:].all() and times.sum() == 150
    assert np.count_nonzero(hands.blood > 15) > 12 and np.count_nonzero(hands.blood == 0) > 25
    again = match_equity.play(DALIAN, Uniform(), 150, 2)
    np.testing.assert_array_equal(hands.ends, again.ends)
    assert (match_equity.play(DALIAN, Uniform(), 150, 3).ends != hands.ends).any()


def test_command_makes_a_table_that_the_environment_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    toml = tmp_path / "short.toml"
    toml.write_text("last_level = 4\nmust_play = [3, 4]\n")
    arguments = ["--rules", str(toml), "--folder", str(tmp_path), "--make", "--hands", "90", "--agent", "uniform"]
    assert equity_command.main(arguments) == 0
    monkeypatch.setenv(equity.FOLDER, str(tmp_path))
    rules = dataclasses.replace(DALIAN, last_level=4, must_play=(3, 4))
    try:
        assert equity.table(rules).shape == (2, 2, rules.max_blood + 1)
        capsys.readouterr()
        figures = tmp_path / "check.json"
        checking = ["--rules", str(toml), "--check", "--matches", "40", "--agent", "uniform", "--json", str(figures)]
        assert equity_command.main(checking) == 0
        content = json.loads(figures.read_text())
        assert sum(b["matches"] for b in content["bins"]) == 40
        assert abs(content["z"]) < 4
        assert equity_command.main(["--rules", str(toml)]) == 0
        assert "blood 0" in capsys.readouterr().out
    finally:
        equity.table.cache_clear()


def test_calibration_finds_the_right_and_the_wrong_prediction() -> None:
    rng = np.random.default_rng(0)
    predicted = rng.random(4000)
    won = (rng.random(4000) < predicted).astype(float)
    assert abs(equity_command.z_score(predicted, won)) < 3
    bins = equity_command.calibrate(predicted, won)
    assert len(bins) == 10 and all(abs(b.z) < 3.5 for b in bins)
    assert equity_command.z_score(predicted * 0.9, won) > 4


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--blood", "31"], "--blood is 31, allowed are 0 to 30"),
        (["--hands", "0", "--make"], "--hands is 0"),
        (["--matches", "0", "--check"], "--matches is 0"),
        (["--json", "x.json"], "--json needs --check"),
        (["--make", "--rules", "configs/rules/jack.toml"], "--folder is missing"),
        (["--make", "--check"], "--make and --check exclude each other"),
    ],
)
def test_bad_arguments_are_named(arguments: list[str], named: str) -> None:
    with pytest.raises(UsageError, match=named):
        equity_command.main(arguments)


def test_a_chain_weighs_the_other_side_by_its_complement() -> None:
    """Two states: from 0 the deal passes to the other side at 1; there the dealers win one time in four."""
    found = Chain(
        (1, 1, 2),
        row=np.array([0, 1]),
        column=np.array([1, 0]),
        stays=np.array([False, True]),
        weight=np.array([1.0, 0.5]),
        won=np.array([0.0, 0.25]),
    )
    # V0 = 1 - V1 and V1 = 1/4 + V0 / 2
    np.testing.assert_allclose(found.solve().ravel(), [0.5, 0.5])
