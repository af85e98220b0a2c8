"""Worlds drawn for a View: the viewer's decision to the letter, from nothing but what he sees; the truth is among them.

That they have the right odds is in test_resample_odds.py."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from gunzi_agents import registry
from gunzi_env import Rules, engine, observe, order, planes, position, resample
from gunzi_env.cards import BIG_JOKER, parse_cards
from gunzi_env.chapters.deal import draw_of_deck
from gunzi_env.keys import mix
from gunzi_env.planes import U64, Words
from gunzi_env.resample.constraints import read
from gunzi_env.resample.tables import without_hidden
from gunzi_env.tables import HAND, KITTY, STOCK, Flags, Index, Phase, Tables
from gunzi_env.testing import check_tables, check_views, random_actions
from gunzi_env.views import View
from tests.support.enumerated import late, worlds_of
from tests.support.prepared import prepared
from tests.support.variants import VARIANTS
from tests.support.worlds import deal, other_world

DALIAN, DEAD = Rules.preset("dalian"), Rules.preset("dalian_dead")
ALL_RULES = {name: Rules.preset(name) for name in Rules.presets()} | VARIANTS

MODULE = importlib.import_module("gunzi_env.resample.draw")  # gunzi_env.resample is the function

# ---- what is drawn is what is seen


def decisions(rules: Rules, tables: int, seed: int, every: int, agent: str = "") -> Iterator[tuple[Tables, Index]]:
    """Tables and those of them that are at a decision from the tribute on: all before the play, and then at one ply in
    ``every``."""
    t = deal(rules, tables, seed)
    player = registry.make(agent, rules) if agent else None
    for ply in range(1000):
        least = Phase.LEAD if ply % every else Phase.OVER
        g = np.flatnonzero((t.phase >= Phase.TRIBUTE) & (t.phase < least))
        if len(g):
            yield t, g
        actions = random_actions(t, mix(t.table_id, U64(ply), U64(seed)), 0.3)
        if player:
            play = np.flatnonzero(t.phase < Phase.OVER)
            keys = mix(t.table_id[play], U64(ply))
            actions[play] = player.act(observe.view(t, play), t.actions.unpack(t.legal[play]), keys)
        engine.step(t, actions)
        if (t.phase == Phase.OVER).all():
            return


def keys_for(number: int, seed: int) -> Words:
    return mix(np.arange(number, dtype=U64), U64(seed))


def check_same(v: View, t: Tables) -> None:
    """Do the movers of ``t`` see what ``v`` shows?"""
    seen = observe.view(t)
    for name in View.schema_of(v.rules.decks).fields:
        assert np.array_equal(getattr(seen, name), getattr(v, name)), name


@pytest.mark.parametrize("name", ALL_RULES)
def test_every_decision_is_met_again_in_its_worlds(name: str) -> None:
    rules = ALL_RULES[name]
    phases: set[int] = set()
    for ply, (t, g) in enumerate(decisions(rules, 12, 5, 17)):
        g = np.repeat(g, 2)
        v = observe.view(t, g)
        worlds = resample(v, keys_for(len(g), ply))
        check_same(v, worlds)
        assert np.array_equal(worlds.legal, t.legal[g])
        assert not np.isin(worlds.seed, t.seed).any()
        check_tables(worlds)
        check_views(worlds)
        phases |= set(v.phase.tolist())
        if ply == 20:
            play_on(worlds)
    assert {Phase.BURY, Phase.LEAD, Phase.FOLLOW} <= phases


def play_on(t: Tables) -> None:
    """To the end at random, and into the next hand."""
    for step in range(1000):
        if step % 10 == 0 or (t.phase == Phase.OVER).all():
            check_tables(t)
        if (t.phase == Phase.OVER).all():
            engine.next_hand(t, np.arange(t.num))
            return check_tables(t)
        engine.step(t, random_actions(t, keys_for(t.num, step), 0.5))
    raise AssertionError("no end")


def test_rare_decisions_are_met_again() -> None:
    """Prepared deals: tribute of many cards, turned round and cancelled, jokers buried by all, pick-ups of equals."""
    met: set[int] = set()
    for t in prepared():
        for ply in range(300):
            if t.phase[0] == Phase.OVER or (t.phase[0] > Phase.BID and t.planes[0, 0, STOCK]):
                break
            v = observe.view(t)
            if t.phase[0] >= Phase.TRIBUTE and (ply < 40 or ply % 30 == 0):
                worlds = resample(v.rows(np.zeros(3, np.intp)), keys_for(3, ply))
                check_same(v.rows(np.zeros(3, np.intp)), worlds)
                assert np.array_equal(worlds.legal, t.legal[[0, 0, 0]])
                check_views(worlds)
                met.add(int(t.phase[0]))
            engine.step(t, random_actions(t, keys_for(1, ply), 0.2))
    assert met >= set(range(Phase.BURY, Phase.OVER))


# ---- the true deal is never excluded


def excluded(t: Tables, g: Index, v: View) -> Flags:
    """Which true deals the constraints exclude: Hall's condition for the copies of every slot."""
    constraints = read(v, without_hidden(v))
    may = (planes.unpack(constraints.may) << np.arange(4)[:, None, None, None]).sum(
        axis=0
    )  # [D, V, slot], places as bits
    held = [planes.to_counts(t.planes[:, g, HAND + (v.seat + k + 1) % 4]).astype(int) for k in range(3)]
    kitty = planes.to_counts(t.planes[:, g, KITTY]).astype(int)
    kitty[v.kitty_known | (v.phase == Phase.BURY)] = 0
    held.append(kitty)
    bad = ((may > 0).sum(axis=0) != sum(held)).any(axis=1)
    for some in range(1, 16):
        inside = ((may > 0) & (may & ~some == 0)).sum(axis=0)
        bad |= (inside > sum(held[p] for p in range(4) if some >> p & 1)).any(axis=1)
    for number, words in enumerate(constraints.excluded, start=1):
        for p in range(3):
            bad |= (planes.unpack(words[p]) & (held[p] == number)).any(axis=1)
    worth = (kitty * planes.unpack(constraints.points)).sum(axis=1)
    return bad | (worth < constraints.min_points) | (worth > constraints.max_points)


@pytest.mark.parametrize("agent", ["", "greedy"])
@pytest.mark.parametrize("name", ["dalian", "dalian_dead", "four_deck", "any points, four decks", "mixed K"])
def test_the_true_deal_is_never_excluded(name: str, agent: str) -> None:
    met = 0
    for t, g in decisions(ALL_RULES[name], 60, 8, 4, agent):
        bad = excluded(t, g, observe.view(t, g))
        assert not bad.any(), (t.seed[g[bad]], t.table_id[g[bad]], t.phase[g[bad]])
        met += len(g)
    assert met > 1500


def dealt_at_random(rules: Rules, rng: np.random.Generator, mine: Callable[[list[int]], list[int]], seat: int) -> Any:
    """A deck in dealing order: of the cards in random order a seat gets those that ``mine`` takes, and others if these
    do not fill its hand; the top of the kitty names spades."""
    top = parse_cards("S4")[0]
    others = rng.permutation(np.repeat(np.arange(54), rules.decks)).tolist()
    others.remove(top)
    own = mine(others)
    for card in own:
        others.remove(card)
    own += [others.pop() for _ in range(rules.hand_size - len(own))]
    dealt = [own.pop() if k % 4 == seat else others.pop() for k in range(rules.num_dealt)]
    return draw_of_deck(rules, [*dealt, top, *others])


def few_sides(rules: Rules) -> Callable[[list[int]], list[int]]:
    """Three side cards, else trumps."""
    trump = set(order.layout(None).face_of_slot[3, 0, 33:].tolist())

    def mine(cards: list[int]) -> list[int]:
        sides = [card for card in cards if card not in trump]
        return [card for card in cards if card in trump][: rules.hand_size - 3] + sides[:3]

    return mine


def big_jokers(cards: list[int]) -> list[int]:
    return [card for card in cards if card == BIG_JOKER]


EXCHANGES: dict[str, tuple[str, Any, int, int, Callable[[Tables], Any]]] = {
    "trumps returned": ("dalian", few_sides, 0, 16, lambda t: (t.returned[0] & t.layout.suit_mask[t.level, 3]) != 0),
    "trumps returned, four decks": (
        "four_deck", few_sides, 0, 16, lambda t: (t.returned[0] & t.layout.suit_mask[t.level, 3]) != 0
    ),
    "turned round (R5.5)": ("four_deck", None, 3, 5, lambda t: (t.giver == t.dealer) & (t.tribute[0] != 0)),
    "turned round, large": ("four_deck", None, 3, 20, lambda t: (t.giver == t.dealer) & (t.tribute[0] != 0)),
    "cancelled (R5.5)": ("four_deck", None, 1, 5, lambda t: (t.phase >= Phase.BURY) & (t.tribute[0] == 0)),
}  # fmt: skip


@pytest.mark.parametrize("name", EXCHANGES)
def test_rare_exchanges(name: str) -> None:
    """R5.4: so much is owed that trumps are returned, some just given among them. R5.5: the dealer gives, or nobody."""
    preset, some, seat, blood, unusual = EXCHANGES[name]
    rules, rng, number = ALL_RULES[preset], np.random.default_rng(2), 24
    mine = some(rules) if some else big_jokers
    t = Tables(rules, number)
    engine.reset(t, 3, begin=False)
    dealer, owed = np.zeros(number, np.int8), np.full(number, blood)
    draw = np.concatenate([dealt_at_random(rules, rng, mine, seat) for _ in range(number)])
    engine.begin_hand(t, np.arange(number), dealer=dealer, blood=owed, draw=draw)
    phases: set[int] = set()
    met = np.zeros(number, np.bool_)
    for ply in range(400):
        g = np.flatnonzero((t.phase >= Phase.TRIBUTE) & (t.phase < (Phase.LEAD if ply % 3 else Phase.OVER)))
        if len(g):
            v = observe.view(t, g)
            assert not excluded(t, g, v).any()
            if ply % 6 == 0:
                worlds = resample(v, keys_for(len(g), ply))
                check_same(v, worlds)
                check_views(worlds)
                assert np.array_equal(worlds.legal, t.legal[g])
                phases |= set(v.phase.tolist())
        met |= unusual(t)
        engine.step(t, random_actions(t, keys_for(number, ply), 1.0 if some else 0.5))
        if (t.phase == Phase.OVER).all():
            break
    assert met.sum() > 10
    assert phases >= {Phase.BURY, Phase.JOKERS, Phase.LEAD, Phase.FOLLOW}
    assert name.startswith("cancelled") or Phase.RETURN in phases


# ---- nothing but the View


@pytest.mark.parametrize("name", ["dalian", "four_deck"])
def test_other_deals_that_look_the_same_give_the_same_worlds(name: str) -> None:
    rng, differ = np.random.default_rng(4), 0
    for ply, (t, g) in enumerate(decisions(ALL_RULES[name], 6, 2, 4)):
        one = t.select(g[:1])
        other = other_world(one, int(one.seat[0]), rng, consistent=True)
        keys = keys_for(1, ply)
        assert resample(observe.view(one), keys) == resample(observe.view(other), keys)
        differ += not np.array_equal(one.planes, other.planes)
    assert differ > 20


def test_a_world_follows_from_its_row_and_key_alone() -> None:
    for name in ("dalian", "four_deck"):
        views = [observe.view(t, g) for t, g in decisions(ALL_RULES[name], 20, 6, 12)]
        for v in views[::5]:
            n = len(v)
            order = np.concatenate([np.arange(n), np.arange(n)[::-1], np.zeros(3, np.intp)])
            keys = keys_for(n, 1)[order]
            together = resample(v.rows(order), keys)
            for k in (0, n - 1, n, len(order) - 1):
                alone = resample(v.rows(order[k : k + 1]), keys[k : k + 1])
                assert alone == together.select(np.array([k]))
            other = resample(v.rows(order), keys + U64(1))
            assert n < 3 or not np.array_equal(other.planes, together.planes)


def test_more_worlds_than_one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    t, g = next(x for x in decisions(DALIAN, 30, 6, 1) if (x[0].phase[x[1]] >= Phase.LEAD).sum() > 20)
    v, keys = observe.view(t, np.repeat(g, 3)), keys_for(3 * len(g), 2)
    whole = resample(v, keys)
    monkeypatch.setattr(MODULE, "_BLOCK", 7)
    assert resample(v, keys) == whole


# ---- what cannot be


def test_evidence_that_no_proposal_meets_is_dropped() -> None:
    """R7.5: the two hearts left can only be where they are said not to be."""
    hands = ["SA D4", "H8 H8", "D6 D7", "D8 C9"]
    t = late(hands, "HT D5 C6 H4 C7 H4", rules=DEAD, void="2H 3H", no_pair="1H", untouched={1: "H8"})
    v = observe.view(t).rows(np.zeros(50, np.intp))
    assert excluded(t, np.zeros(50, np.intp), v).all()
    worlds = resample(v, keys_for(50, 0))
    check_tables(worlds)
    found = set(worlds_of(worlds, v))
    assert {world[0] for world in found} == {("H8", "H8")}
    assert len(found) == 6


def test_what_is_no_decision_or_no_deal_is_an_error() -> None:
    t = deal(DALIAN, 8, 1)
    v = observe.view(t)
    with pytest.raises(ValueError, match=r"row 0 of the view: phase (SHOW|BID) is before the hands are dealt"):
        resample(v, keys_for(8, 0))
    t = late(["SA D4", "H8 H8", "H9 H9", "H7 H7"], "HT D5 C6 H4 C7 H4")
    v = observe.view(t)
    with pytest.raises(ValueError, match=r"keys are uint64\[2\]: give uint64\[1\]"):
        resample(v, keys_for(2, 0))
    with pytest.raises(ValueError, match=r"keys are int64\[1\]"):
        resample(v, np.zeros(1, np.int64))
    with pytest.raises(ValueError, match="row 0 of the view: it is not the viewer's move"):
        resample(observe.view(t, None, np.array([1], np.int8)), keys_for(1, 0))
    everywhere = v.void.copy()
    everywhere[:, 1:, 0] = True
    with pytest.raises(ValueError, match="row 0 of the view: no consistent deal was found"):
        resample(v.replace(void=everywhere), keys_for(1, 0))
    short = position.setup(hands=["SA", "H9", "S4", "D8"])
    with pytest.raises(ValueError, match="161 cards are unseen, but the hidden hands and the kitty have 3"):
        resample(observe.view(short), keys_for(1, 0))


def test_of_no_rows() -> None:
    v = observe.view(deal(DALIAN, 2, 1), np.zeros(0, np.intp))
    assert resample(v, np.zeros(0, U64)).num == 0
