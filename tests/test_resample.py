"""Worlds drawn for a View: exactly the odds wanted, nothing but what is seen, the viewer's decision to the letter."""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from gunzi_agents import registry
from gunzi_env import Rules, engine, observe, order, planes, position, resample
from gunzi_env.cards import parse_cards
from gunzi_env.deal import draw_of_deck, mix
from gunzi_env.planes import U64, Words
from gunzi_env.resample_clues import Clues, read
from gunzi_env.resample_odds import Odds
from gunzi_env.resample_tables import without_hidden
from gunzi_env.rulebook import cards_planes
from gunzi_env.tables import HAND, KITTY, PLAYED, STOCK, Flags, Index, Phase, Tables
from gunzi_env.testing import check_tables, check_views, random_actions
from gunzi_env.views import View, schema
from tests.enumerated import Scenario, World, cards_of, late, surprise, worlds_of
from tests.prepared import prepared
from tests.variants import VARIANTS
from tests.worlds import deal, other_world

DALIAN, DEAD, FOUR = (Rules.preset(name) for name in ("dalian", "dalian_dead", "four_deck"))
ALL_RULES = {name: Rules.preset(name) for name in Rules.presets()} | VARIANTS

MODULE = importlib.import_module("gunzi_env.resample")  # the package has the function under this name

DRAWS = 20_000
UNLIKELY = 5.0
"""Standard deviations: a right sampler is as far off once in three million times."""

NEXT, PARTNER, PREVIOUS, BURIED = range(4)


# ---- the odds


def suit(card: str) -> str:
    """At level 3 with spades as trumps."""
    return "S" if (card[1] in "J23" and card in ("LJ", "BJ")) or card[1] in "23" else card[0]


def has(cards: tuple[str, ...], of: str) -> bool:
    return any(suit(card) == of for card in cards)


def points(cards: tuple[str, ...]) -> int:
    return sum(card[1] in "5TK" for card in cards)


def jokers(cards: tuple[str, ...]) -> bool:
    return bool({"LJ", "BJ"} & set(cards))


def exact(t: Tables, world: World, place: int, of: str, number: int) -> bool:
    """Has the seat in this place, which moves after the viewer, exactly ``number`` of a card that it never played?"""
    seat = (int(t.seat[0]) + 1 + place) % 4
    gone = cards_of(t, t.planes[:, 0, PLAYED + seat])
    return any(suit(c) == of and c not in gone and world[place].count(c) == number for c in set(world[place]))


def voids() -> Scenario:
    """Two voids, and a kitty of which it is known how many points it has (R6.5) and that it has no joker (R6.4)."""
    hands = ["SA H4", "D6 C4", "H4 BJ", "D7 SA"]
    t = late(hands, "HT HT C7 H4 C7 D5", leader=1, void="2C 0D")
    return Scenario(
        t, lambda w: points(w[BURIED]) == 3 and not jokers(w[BURIED]) and not has(w[0], "C") and not has(w[2], "D")
    )


def dealer() -> Scenario:
    """The dealer knows the kitty; three voids that cross."""
    hands = ["SA H9 D4", "D6 C4 D9", "H9 C8 H7", "D7 SQ S4"]
    t = late(hands, "HT D5 C6 H4 C7 H4", leader=0, void="1T 2D 3H")
    return Scenario(t, lambda w: not has(w[0], "S") and not has(w[1], "D") and not has(w[2], "H"))


def no_pairs() -> Scenario:
    """R7.5: two seats without an exact pair of hearts."""
    hands = ["SA H9 D4 C9", "D6 C4 H9 C4", "H8 C8 H8 H6", "D7 SQ H6 H9"]
    t = late(hands, "HT D5 C6 H4 C7 H4", rules=DEAD, no_pair="1H 2H", void="3C", untouched={1: "H6 H8", 2: "H9"})
    return Scenario(t, lambda w: not has(w[2], "C") and not exact(t, w, 0, "H", 2) and not exact(t, w, 1, "H", 2))


def no_triples_and_kitty() -> Scenario:
    """R7.5 with a hidden kitty, into which the copies may have gone."""
    hands = ["D4 H8", "SA D4", "H8 H6", "H6 H8"]
    kitty = "HT HT H6 D4 D4 C7"
    flags = {"no_pair": "2H 3H", "no_triple": "2H"}
    rules = replace(FOUR, hand_size=52, kitty_size=8)
    t = late(hands, kitty + " H8 C7", rules=rules, leader=1, untouched={2: "H6 H8", 3: "H6 H8"}, **flags)

    def allowed(w: World) -> bool:
        pairs = exact(t, w, NEXT, "H", 2) or exact(t, w, PARTNER, "H", 2) or exact(t, w, NEXT, "H", 3)
        return not pairs and points(w[BURIED]) == 2

    return Scenario(t, allowed)


def this_trick() -> Scenario:
    """R7.5: who just followed a pair of hearts without one had no exact pair before that play."""
    hands = ["H9 HK HA D4 D9", "C4 D6 H4", "H8 H8 C4", "D6 H9 H4"]
    t = late(hands, "HT D5 C6 H7 C7 HT", rules=DEAD, leader=1, dealer=0, trick=["H7 H7", "H9 H8", "HJ HJ"])
    return Scenario(t, lambda w: all(w[PARTNER].count(c) != n for c, n in (("H8", 1), ("H9", 1), ("H4", 2))))


def shown() -> Scenario:
    """R4.4: a level card shown lies with the partner, one that the dealer showed with him or in the kitty."""
    hands = ["C3 H4", "D6 C4", "C3 D7", "H3 D7"]
    t = late(hands, "HT HT H3 C7 H4 D5", leader=1, shown=["H3", "", "", "H3"], void="2H", untouched={0: "H3", 3: "H3"})
    return Scenario(
        t,
        lambda w: points(w[BURIED]) == 3 and not has(w[NEXT], "H"),
        located=((), ("H3",), (), ()),
        apart={(PREVIOUS, BURIED): "H3"},
    )


def any_points() -> Scenario:
    """R6.5: one point card at least closed the window."""
    hands = ["C7 H4", "D6 C4", "HT C8", "C7 HT"]
    rules = replace(DALIAN, others_bury_block="any_points")
    t = late(hands, "HT H4 C7 C8 C8 H4", rules=rules, leader=1, void="3D")
    return Scenario(t, lambda w: points(w[BURIED]) >= 1 and not has(w[PARTNER], "D"))


def nobody_else_buries() -> Scenario:
    """Nothing is said of the kitty's points; a small joker was buried by the dealer, who has no big one (R6.3)."""
    hands = ["C7 H4 D9", "SA C4 D8", "C8 H4 BJ", "C7 HT BJ"]
    rules = replace(DALIAN, others_bury=False)
    t = late(hands, "LJ H4 C7 C8 C8 C6", rules=rules, leader=1, void="3D")
    return Scenario(t, lambda w: "BJ" not in w[PREVIOUS] and not has(w[PARTNER], "D"))


def hidden_points() -> Scenario:
    """Nothing is said of the kitty's points, and nobody has seen it."""
    hands = ["C7 H4", "BJ C4", "C8 BJ", "C7 HT"]
    t = late(hands, "HT H4 C7 C8 C8 D5", rules=replace(DALIAN, others_bury=False), leader=1, void="3D")
    return Scenario(t, lambda w: not jokers(w[BURIED]) and not has(w[PARTNER], "D"))


def tribute() -> Scenario:
    """R5.1-2: seat 3 gave the dealer BJ and S2, and so kept no level card and no joker; the dealer has these two, or
    has buried S2."""
    hands = ["BJ S2", "SA H4", "LJ H3", "D7 S2"]
    t = late(hands, "HT HT C7 H4 C7 D5", leader=1, blood=2, untouched={0: "S2 BJ"})
    t.tribute[:] = cards_planes(t, "BJ S2")
    t.giver[:], t.receiver[:] = 3, 0

    def allowed(w: World) -> bool:
        kept = set(w[PARTNER]) & {"LJ", "BJ", "H3", "S3"}
        return not kept and points(w[BURIED]) == 3 and not jokers(w[BURIED])

    return Scenario(t, allowed, located=((), (), ("BJ",), ()), apart={(PREVIOUS, BURIED): "S2"})


def exemption() -> Scenario:
    """R5.5: tribute was given, so neither the giver nor his partner held all big jokers."""
    hands = ["D6 D6 D8 D8", "BJ BJ BJ C4", "BJ C8 C8 D4", "D7 D7 C4 C4"]
    rules = replace(FOUR, hand_size=53, kitty_size=4, follow="live")
    t = late(hands, "HT C7 C7 D5", rules=rules, leader=0, dealer=0, blood=1)
    t.tribute[:] = cards_planes(t, "LJ")
    t.giver[:], t.receiver[:] = 3, 0
    # He gave a small joker, so he had no big one; it has been played since.
    return Scenario(t, lambda w: "BJ" not in w[PREVIOUS] and w[NEXT].count("BJ") != 4)


SCENARIOS: dict[str, Callable[[], Scenario]] = {
    f.__name__: f
    for f in (
        voids, dealer, no_pairs, no_triples_and_kitty, this_trick, shown, any_points, nobody_else_buries,
        hidden_points, tribute, exemption,
    )
}  # fmt: skip


@pytest.mark.parametrize("name", SCENARIOS)
def test_draws_have_the_odds_of_all_worlds_enumerated(name: str) -> None:
    scenario = SCENARIOS[name]()
    odds = scenario.odds()
    assert scenario.truth in odds
    assert surprise(odds, scenario.draws(DRAWS)) < UNLIKELY


def test_a_sampler_that_takes_copies_for_one_card_is_found_out() -> None:
    """A negative control: every world that looks different drawn as often as every other."""
    odds = voids().odds()
    assert surprise(odds, random.Random(1).choices(list(odds), k=DRAWS)) > 2 * UNLIKELY


@pytest.mark.parametrize("name", ["voids", "no_pairs", "tribute"])
def test_a_sampler_that_takes_every_proposal_is_found_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A negative control: proposals are right on average, and look right."""

    class Careless(Odds):
        def __init__(self, clues: Clues) -> None:
            super().__init__(clues)
            self.bound[:] = -1000.0

    monkeypatch.setattr(MODULE, "Odds", Careless)
    scenario = SCENARIOS[name]()
    assert UNLIKELY < surprise(scenario.odds(), scenario.draws(DRAWS)) < np.inf


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
    for name in schema(v.rules.decks).fields:
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
    """To the end, at random; the score is checked against the cards there."""
    for step in range(1000):
        if step % 10 == 0:
            check_tables(t)
        if (t.phase == Phase.OVER).all():
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
    """Which true deals the clues exclude: Hall's condition for the copies of every slot."""
    clues = read(v, without_hidden(v))
    may = (planes.unpack(clues.may) << np.arange(4)[:, None, None, None]).sum(axis=0)  # [D, V, slot], places as bits
    held = [planes.to_counts(t.planes[:, g, HAND + (v.seat + k + 1) % 4]).astype(int) for k in range(3)]
    kitty = planes.to_counts(t.planes[:, g, KITTY]).astype(int)
    kitty[v.kitty_known | (v.phase == Phase.BURY)] = 0
    held.append(kitty)
    bad = ((may > 0).sum(axis=0) != sum(held)).any(axis=1)
    for some in range(1, 16):
        inside = ((may > 0) & (may & ~some == 0)).sum(axis=0)
        bad |= (inside > sum(held[p] for p in range(4) if some >> p & 1)).any(axis=1)
    for number, words in enumerate(clues.never, start=1):
        for p in range(3):
            bad |= (planes.unpack(words[p]) & (held[p] == number)).any(axis=1)
    worth = (kitty * planes.unpack(clues.points)).sum(axis=1)
    return bad | (worth < clues.least) | (worth > clues.most)


@pytest.mark.parametrize("agent", ["", "greedy"])
@pytest.mark.parametrize("name", ["dalian", "dalian_dead", "four_deck", "any points, four decks", "mixed K"])
def test_the_true_deal_is_never_excluded(name: str, agent: str) -> None:
    met = 0
    for t, g in decisions(ALL_RULES[name], 60, 8, 4, agent):
        bad = excluded(t, g, observe.view(t, g))
        assert not bad.any(), (t.seed[g[bad]], t.table_id[g[bad]], t.phase[g[bad]])
        met += len(g)
    assert met > 1500


def trumps_to_return(rules: Rules, rng: np.random.Generator) -> list[int]:
    """A deck in dealing order that gives seat 0 three side cards and trumps; the top of the kitty names spades."""
    table = order.layout()
    trump = rng.permutation(np.repeat(table.face_of_slot[3, 0, 33:], rules.decks)).tolist()
    side = rng.permutation(np.repeat(table.face_of_slot[3, 0, :33], rules.decks)).tolist()
    top = parse_cards("S4")[0]
    trump.remove(top)
    mine = trump[: rules.hand_size - 3] + side[:3]
    others = rng.permutation(trump[rules.hand_size - 3 :] + side[3:]).tolist()
    dealt = [mine.pop() if k % 4 == 0 else others.pop() for k in range(rules.num_dealt)]
    return [*dealt, top, *others]


@pytest.mark.parametrize("name", ["dalian", "four_deck"])
def test_large_tributes(name: str) -> None:
    """R5.4: so many are owed that trumps are returned, cards just given among them."""
    rules, rng, number = ALL_RULES[name], np.random.default_rng(2), 24
    draw = np.concatenate([draw_of_deck(rules, trumps_to_return(rules, rng)) for _ in range(number)])
    t = Tables(rules, number)
    engine.reset(t, 3, begin=False)
    dealer = np.zeros(number, np.int8)
    engine.begin_hand(t, np.arange(number), dealer=dealer, blood=np.full(number, 16), draw=draw)
    phases: set[int] = set()
    unusual = np.zeros(number, np.bool_)
    for ply in range(400):
        g = np.flatnonzero((t.phase >= Phase.TRIBUTE) & (t.phase < (Phase.LEAD if ply % 3 else Phase.OVER)))
        if len(g):
            v = observe.view(t, g)
            assert not excluded(t, g, v).any()
            if ply % 7 == 0:
                worlds = resample(v, keys_for(len(g), ply))
                check_same(v, worlds)
                assert np.array_equal(worlds.legal, t.legal[g])
                phases |= set(v.phase.tolist())
        unusual |= (t.returned[0] & t.layout.suit_mask[t.level, 3]) != 0
        engine.step(t, random_actions(t, keys_for(number, ply), 1.0))
        if (t.phase == Phase.OVER).all():
            break
    assert unusual.sum() > 10
    assert phases >= {Phase.RETURN, Phase.BURY, Phase.LEAD, Phase.FOLLOW}


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
    assert {world[NEXT] for world in found} == {("H8", "H8")}
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
    with pytest.raises(ValueError, match="row 0 of the view: no deal was found that is consistent"):
        resample(v.replace(void=everywhere), keys_for(1, 0))
    short = position.setup(hands=["SA", "H9", "S4", "D8"])
    with pytest.raises(ValueError, match="161 cards are unseen, but 3 lie in hidden hands and kitty"):
        resample(observe.view(short), keys_for(1, 0))


def test_of_no_rows() -> None:
    v = observe.view(deal(DALIAN, 2, 1), np.zeros(0, np.intp))
    assert resample(v, np.zeros(0, U64)).num == 0
