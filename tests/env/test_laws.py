"""The laws of the game over random hands (R11): a share of what ``make soak`` plays in full."""

from __future__ import annotations

import pickle
import re
from typing import Any

import numpy as np
import pytest

from gunzi_env import Rules, engine, testing
from gunzi_env.chapters import tricks
from gunzi_env.order import BIG_JOKER_SLOT
from gunzi_env.planes import BIT, FULL, U64, Ints
from gunzi_env.tables import HAND, KITTY, Index, Phase, Tables
from tests.support.variants import VARIANTS


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


def overcounts(t: Tables, g: Index, action: Ints) -> Index:
    """A fault: whoever leads a pair makes the trick worth one point more than its cards."""
    found = LEAD_APPLY(t, g, action)
    t.trick_points[g[action // 54 == 1]] += 1
    return found


LEAD_APPLY = tricks.lead_apply


def crashes(t: Tables, g: Index, action: Ints) -> Index:
    """A fault: a lead of a big joker raises an error, for whichever table it is."""
    if (action % 54 == BIG_JOKER_SLOT).any():
        raise KeyError("no such card")
    return LEAD_APPLY(t, g, action)


@pytest.mark.parametrize(("fault", "law"), [(overcounts, "no more is counted"), (crashes, "KeyError: 'no such card'")])
@pytest.mark.parametrize("tables", [2, 64])
def test_a_fault_is_told_with_the_hand_that_shows_it(
    fault: Any, law: str, tables: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The right table of the batch, from its deal on: played again alone, the same law breaks at the same place."""
    monkeypatch.setitem(engine.HANDLERS, Phase.LEAD, (tricks.lead_legal, fault))
    rules = Rules.preset("dalian_dead")
    with pytest.raises(testing.LawBroken, match=law) as caught:
        testing.random_hands(rules, 400, seed=9, tables=tables, every=10**9)
    case = caught.value.case
    assert case is not None
    assert str(case) in str(caught.value)
    with pytest.raises((testing.LawBroken, KeyError)) as again:
        testing.replay(case, every=10**9)
    if isinstance(again.value, testing.LawBroken):
        assert again.value.case == case
    monkeypatch.undo()
    assert testing.replay(case, every=10**9).hand[0] == case.key[3]


def test_a_hand_late_in_a_long_run_is_told_from_its_deal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Actions of hands long over are forgotten, those of this one are not."""
    counted = iter(range(10**6))

    def late(t: Tables, g: Index, action: Ints) -> Index:
        found = LEAD_APPLY(t, g, action)
        t.trick_points[g] += next(counted) > 900
        return found

    monkeypatch.setitem(engine.HANDLERS, Phase.LEAD, (tricks.lead_legal, late))
    with pytest.raises(testing.LawBroken) as caught:
        testing.random_hands(Rules.preset("dalian"), 60, seed=4, tables=1, every=10**9)
    monkeypatch.undo()
    case = caught.value.case
    assert case is not None
    assert case.key[3] > 10
    t = testing.replay(case, every=10**9)
    assert (int(t.hand[0]), len(case.actions) > 20) == (case.key[3], True)


def test_a_broken_law_travels_between_processes() -> None:
    case = testing.Case(Rules.preset("classic"), (1, 2, 3, 4), (3, 5), 2, 1, (7, 8))
    again = pickle.loads(pickle.dumps(testing.LawBroken("a law", 3, case)))
    assert (again.law, again.table, again.case) == ("a law", 3, case)
    assert str(again) == str(testing.LawBroken("a law", 3, case))


def test_actions_are_tried() -> None:
    """An illegal action that is accepted, and a refusal that leaves a trace, are both found."""
    t = broken_tables()
    checks = engine.step

    def lenient(t: Tables, actions: Any) -> None:
        if t.num > 1:
            checks(t, actions)

    def leaves_a_trace(t: Tables, actions: Any) -> None:
        t.match[:] += 1
        checks(t, actions)

    for fault, law in ((lenient, "is not legal, but was accepted"), (leaves_a_trace, "a refused action changed")):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(engine, "step", fault)
            with pytest.raises(testing.LawBroken, match=law):
                testing.check_actions(t.select(np.array([0])), 0)


def test_what_is_told_falsely_is_found() -> None:
    """Each of the laws about views, broken by hand."""
    faults = {
        "is told of cards that seat": lambda t: t.known.__setitem__((slice(None), 1, slice(None)), FULL),
        "not with the dealer": lambda t: t.loose.__setitem__((slice(None), 1), FULL),
        "is void of what it holds": lambda t: t.void.__setitem__(1, True),
    }
    for law, fault in faults.items():
        t = broken_tables()
        testing.check_views(t)
        fault(t)
        with pytest.raises(testing.LawBroken, match=law):
            testing.check_views(t)


def test_a_fault_of_the_batch_alone_names_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    def crowded(t: Tables, g: Index, action: Ints) -> Index:
        if len(g) > 1:
            raise KeyError("crowded")
        return LEAD_APPLY(t, g, action)

    monkeypatch.setitem(engine.HANDLERS, Phase.LEAD, (tricks.lead_legal, crowded))
    with pytest.raises(testing.LawBroken, match=r"crowded.*no table alone raises it") as caught:
        testing.random_hands(Rules.preset("dalian"), 30, seed=1, tables=30, every=10**9)
    assert caught.value.case is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"rules": 5, "key": [1, 0, 0, 0], "levels": [3, 3], "dealer": -1, "blood": 0, "actions": []}',
        '{"rules": {}, "key": 5, "levels": [3, 3], "dealer": -1, "blood": 0, "actions": []}',
        '{"rules": {"decks": 9}, "key": [1, 0, 0, 0], "levels": [3, 3], "dealer": -1, "blood": 0, "actions": []}',
        '{"rules": {}, "key": [1, 0, 0, 0], "levels": [99, 3], "dealer": 0, "blood": 0, "actions": []}',
        '{"rules": {}, "key": [1, 0, 0, 0], "levels": [3, 3], "dealer": 0, "blood": 0, "actions": ["x"]}',
    ],
)
def test_what_is_no_case_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no case: "):
        testing.Case.parse(text)


@pytest.mark.parametrize("action", [-1, 53 + 54, 184, 10**6])
def test_a_case_that_cannot_be_played_is_refused(action: int) -> None:
    case = testing.Case(Rules(), (1, 0, 0, 0), (3, 3), -1, 0, (action,))
    with pytest.raises(engine.IllegalAction):
        testing.replay(case)


def test_a_legal_action_that_breaks_a_law_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tried on copies: the table is the one they are copies of."""
    monkeypatch.setitem(engine.HANDLERS, Phase.LEAD, (tricks.lead_legal, overcounts))
    t = broken_tables()
    rows = np.flatnonzero((t.phase == Phase.LEAD) & (t.actions.unpack(t.legal)[:, 54:108].any(axis=1)))
    assert len(rows)
    with pytest.raises(testing.LawBroken, match=r"no more is counted than was played.* after (\w\w) \1$") as caught:
        testing.check_actions(t, int(rows[0]))
    assert caught.value.table == rows[0]


def test_a_legal_action_that_is_refused_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    t = broken_tables()
    monkeypatch.setattr(tricks, "lead", None)
    with pytest.raises(testing.LawBroken, match="'NoneType' object is not callable after one of its legal actions"):
        testing.check_actions(t, int(np.flatnonzero(t.phase == Phase.LEAD)[0]))
