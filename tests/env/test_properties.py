"""Properties that hold under any rules: hypothesis draws the rules, where a hand begins, and single questions."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gunzi_env import engine, rulebook, testing
from gunzi_env.cards import SUITS, format_cards
from gunzi_env.planes import U64
from gunzi_env.rules import Rules
from gunzi_env.testing import Case
from tests.support import oracle_rules, strategies
from tests.support.against_oracle import Pair, compare_all


def play_under_any_rules(start: Case, seed: int, pass_probability: float) -> None:
    """A whole hand on engine and oracle: equal in every field at every ply, and every law holds."""
    t = start.start()
    pair = Pair(t, 0)
    compare_all(t, [pair])
    rng = np.random.default_rng(seed)
    while not pair.over:
        action = testing.random_actions(t, rng.integers(2**63, size=1).astype(U64), pass_probability)
        pair.tell(int(action[0]))
        engine.step(t, action)
        compare_all(t, [pair])
    testing.replay(Case.of(t, 0, pair.actions), every=40)


any_start = given(strategies.starts(), st.integers(0, 2**32), st.sampled_from([0.0, 0.5, 0.9]))


@settings(max_examples=40)
@any_start
def test_whole_hands(start: Case, seed: int, pass_probability: float) -> None:
    play_under_any_rules(start, seed, pass_probability)


@settings(max_examples=300)
@given(strategies.rules(), st.data())
def test_settlement(rules: Rules, data: st.DataObject) -> None:
    """R9 for any S, jokers and levels: the engine's table against the oracle's sentences."""
    score = data.draw(st.integers(0, rules.max_score // 5)) * 5
    dug, dry = data.draw(st.booleans()), data.draw(st.booleans())
    big = data.draw(st.integers(0, rules.decks))
    small = data.draw(st.integers(0, min(rules.decks, rules.kitty_size - big)))
    levels = data.draw(st.tuples(*[st.integers(rules.first_level, rules.last_level)] * 2))
    dealer = data.draw(st.integers(0, 3))
    ours = rulebook.settle(rules, score, dug, big, small, dry, levels, dealer)
    theirs = oracle_rules.settle(rules, score, dug, big, small, dry, levels, dealer)
    ended = theirs["match_winner"] is not None
    for name in ("winner", "gain", "next_dealer", "blood", "match_winner"):
        assert getattr(ours, name) == theirs[name], name
    assert ended or ours.levels == theirs["levels"]


@st.composite
def orders(draw: st.DrawFn) -> tuple[Rules, int, int]:
    """Rules, a level and a trump suit."""
    rules = draw(strategies.rules())
    return rules, draw(st.integers(rules.first_level, rules.last_level)), draw(st.integers(0, 3))


@settings(max_examples=100)
@given(orders())
def test_order_of_strength(order: tuple[Rules, int, int]) -> None:
    rules, level, trump = order
    ours = rulebook.strength_order(rules, level, SUITS[trump])
    theirs = oracle_rules.strength_order(rules, level, trump)
    assert [set(group) for group in ours] == [{oracle_rules.text(f) for f in group} for group in theirs]


def some_cards(rules: Rules, draw: st.DrawFn, size: int) -> list[int]:
    """Cards of one face, of two, or any: what winners and discards are made of."""
    kinds = draw(st.lists(st.integers(0, 53), min_size=1, max_size=draw(st.sampled_from([1, 2, size]))))
    return sorted((kinds * size)[:size])


@settings(max_examples=500)
@given(orders(), st.data())
def test_trick_winner(order: tuple[Rules, int, int], data: st.DataObject) -> None:
    """R7.6, R2.5: as the oracle says; and a play that could not win changes nothing by being there or not."""
    rules, level, trump = order
    size = data.draw(st.integers(1, rules.decks))
    lead = [data.draw(st.integers(0, 53))] * size
    plays = [lead] + [some_cards(rules, data.draw, size) for _ in range(3)]
    texts = [format_cards(play) for play in plays]

    def winner(of: list[str]) -> int:
        return rulebook.trick_winner(rules, level, SUITS[trump], of)

    best = winner(texts)
    assert best == oracle_rules.trick_winner(rules, level, trump, plays)
    for loser in {1, 2, 3} - {best}:
        assert texts.index(texts[best]) == best, "of equal plays the first wins"
        left = [play for n, play in enumerate(texts) if n != loser]
        assert winner(left) == best - (loser < best)


@settings(max_examples=200)
@given(orders(), st.data())
def test_dry_kitty(order: tuple[Rules, int, int], data: st.DataObject) -> None:
    """R6.6, for kitties of few suits, which random ones hardly ever are."""
    rules, level, trump = order
    suits = data.draw(st.sets(st.integers(0, 3), min_size=1))
    faces = [f for f in range(54) if f >= 52 or f // 13 in suits]
    kitty = data.draw(st.lists(st.sampled_from(faces), min_size=1, max_size=8))
    kitty = [card for n, card in enumerate(kitty) if kitty[:n].count(card) < rules.decks]
    ours = rulebook.is_dry(rules, level, SUITS[trump], format_cards(kitty))
    assert ours == oracle_rules.is_dry(rules, level, trump, kitty)
