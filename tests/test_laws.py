"""The laws of the game over random hands (R11): a share of what ``make soak`` plays in full."""

from __future__ import annotations

import re

import numpy as np
import pytest

from gunzi_env import Rules, engine, testing
from gunzi_env.order import BIG_JOKER_SLOT
from gunzi_env.planes import BIT, U64
from gunzi_env.tables import HAND, KITTY, Phase, Tables
from tests.variants import VARIANTS


@pytest.mark.parametrize("preset", Rules.presets())
def test_random_hands(preset: str) -> None:
    rules = Rules.preset(preset)
    met = testing.random_hands(rules, 150, seed=1, every=900)
    met.branches += testing.random_hands(rules, 150, seed=2, pass_probability=0.9, every=900).branches
    assert met.hands == 150
    assert met.tried > 10
    phases = {p.name for p in Phase if p != Phase.OVER} - ({"SHOW"} if rules.first_bid == "auto" else set())
    assert set(met.phases) == phases
    common = ["R4.4 opened", "R4.6 passed in the window", "R5.1 given", "R6.6 dry", "R7.6 ruffed", "R9 dig, S >= take"]
    assert all(met.branches[name] for name in common)


@pytest.mark.parametrize("rules", VARIANTS.values(), ids=VARIANTS)
def test_variants(rules: Rules) -> None:
    assert testing.random_hands(rules, 25, seed=3, pass_probability=0.5, every=2000).hands == 25


def broken_tables() -> Tables:
    t = Tables(Rules.preset("dalian"), 3)
    engine.reset(t, 0)
    rng = np.random.default_rng(0)
    while (t.phase < Phase.LEAD).any():
        t_legal = t.actions.unpack(t.legal)
        engine.step(t, (rng.random(t_legal.shape) * t_legal).argmax(axis=1))
    return t


def test_a_broken_law_is_found() -> None:
    """The negative control: each law catches the fault it is there for, and says where."""
    faults = {
        "each face must have one copy a deck": lambda t: t.planes.__setitem__((slice(None), 1, HAND), U64(0)),
        "a plane must lie within": lambda t: t.planes.__setitem__(
            (slice(None), 1, slice(None)), t.planes[::-1, 1].copy()
        ),
        "the kitty in play": lambda t: t.planes.__setitem__(
            (slice(None), 1, [HAND, KITTY]), t.planes[:, 1, [KITTY, HAND]]
        ),
        "S within R8.4": lambda t: t.score.__setitem__(1, 7),
        "no more is counted": lambda t: t.score.__setitem__(1, 300),
        "somebody can always act": lambda t: t.legal.__setitem__(1, U64(0)),
        "only actions of the phase": lambda t: t.legal.__setitem__((1, -1), U64(1)),
    }
    for law, fault in faults.items():
        t = broken_tables()
        testing.check_tables(t)
        fault(t)
        with pytest.raises(testing.LawBroken, match=re.escape(law) + ".*table 1 in phase"):
            testing.check_tables(t)


def test_a_wrong_mask_is_found() -> None:
    t = broken_tables()
    t.legal[0, 0] |= BIT[BIG_JOKER_SLOT] | ~t.planes[0, 0, HAND + t.seat[0]] & U64(1)
    if t.planes[0, 0, HAND + t.seat[0]] & U64(1):
        t.legal[0, 0] |= BIT[1]
    t.planes[:, 0, HAND + t.seat[0]] &= ~BIT[BIG_JOKER_SLOT]
    with pytest.raises(AssertionError):
        testing.check_actions(t, 0)
