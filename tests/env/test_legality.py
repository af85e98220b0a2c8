"""Plays by brute force: every selection of a hand is legal or not by R7.2-5, for the engine and the rulebook alike."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Literal

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gunzi_env import engine, position
from gunzi_env.planes import U64, Words
from gunzi_env.rulebook import legal_plays
from gunzi_env.rules import Rules
from gunzi_env.tables import PLAYED, Phase, Tables
from tests.support.brute_force import (
    CARDS,
    RANKS,
    Cards,
    World,
    difference,
    hands_of,
    joined,
    may_answer,
    may_lead,
    reached,
    selections,
)


def answers(t: Tables, lead: Cards) -> list[Counter[tuple[Cards, ...]]]:
    """All answers of seat 1, once seat 0 has led, by table of one level and trump suit."""
    engine.step(t, [t.actions.parse(" ".join(lead), int(t.level[0]), int(t.trump[0]))] * t.num)

    def asks(t: Tables) -> npt.NDArray[np.bool_]:
        unanswered = t.planes[0, :, PLAYED + 1] == 0
        assert ((t.phase == Phase.FOLLOW) & (t.seat == 1))[unanswered].all()
        return np.asarray(unanswered)

    return reached(t, asks, lambda t: [t.planes[:, :, PLAYED + 1]])


def expected_answers(world: World, rules: Rules, hand: Sequence[str], lead: Cards) -> set[tuple[Cards, ...]]:
    dead = rules.follow == "dead"
    return {(play,) for play in selections(hand, len(lead)) if may_answer(world, dead, hand, lead, play)}


def told(rules: Rules, level: str, trump: str, hand: Sequence[str], lead: Cards) -> Counter[tuple[Cards, ...]]:
    """The rulebook's answers."""
    plays = legal_plays(rules, level, trump, " ".join(hand), " ".join(lead))
    return Counter((tuple(sorted(play.split())),) for play in plays)


# ---- answers to a lead (R7.3-5)

FOLLOWS: list[Literal["live", "dead"]] = ["live", "dead"]

LED_SIDE = ("H7", ["H4", "H9", "HA"], ["C9", "C9", "D4", "S6", "CQ", "C9"])
LED_TRUMP = ("C3", ["H3", "D3", "S2"], ["H9", "H9", "C4", "D9", "H9", "H8"])
"""Level 3, trump S: the card led, three faces of its suit (of the trumps, two are equals), cards of other suits."""


def shapes(decks: int, n: int, led: Sequence[str], others: Sequence[str]) -> Iterator[list[str]]:
    """0..decks copies of each of three faces, with 0..n + 1 cards of other suits: void, short, exactly n, more."""
    for counts in product(range(decks + 1), repeat=3):
        suited = [card for card, copies in zip(led, counts, strict=True) for _ in range(copies)]
        for number in range(n + 2):
            if len(suited) + number >= n:
                yield suited + list(others[:number])


@pytest.mark.parametrize("led", [LED_SIDE, LED_TRUMP], ids=["side suit led", "trump led"])
@pytest.mark.parametrize("follow", FOLLOWS)
@pytest.mark.parametrize(("preset", "n"), [("dalian", n) for n in (1, 2, 3)] + [("four_deck", n) for n in (1, 2, 3, 4)])
def test_every_shape_of_three_faces(
    preset: str, n: int, follow: Literal["live", "dead"], led: tuple[str, list[str], list[str]]
) -> None:
    """R7.3-5, exhaustively."""
    rules = dataclasses.replace(Rules.preset(preset), follow=follow)
    world, (card, faces, others) = World("3", "S"), led
    lead = (card,) * n
    hands = list(shapes(rules.decks, n, faces, others))
    bound = 0
    for begin in range(0, len(hands), 300):
        part = hands[begin : begin + 300]
        tables = [position.setup(rules, hands=hands_of(rules, hand, lead)) for hand in part]
        for hand, found in zip(part, answers(joined(tables), lead), strict=True):
            expected = expected_answers(world, rules, hand, lead)
            assert not difference(expected, found), (hand, lead)
            bound += len(expected) < len(set(selections(hand, n)))
            assert not difference(expected, told(rules, "3", "S", hand, lead)), (hand, lead)
    assert bound > len(hands) // 4


Question = tuple[Rules, str, str, list[str], Cards]


@st.composite
def questions(draw: st.DrawFn) -> Question:
    """Rules, level, trump suit, a hand of up to 12 cards, most of the led suit, and a lead."""
    preset = Rules.preset(draw(st.sampled_from(["dalian", "four_deck"])))
    follow, mixed = draw(st.sampled_from(FOLLOWS)), draw(st.sampled_from([None, 7, 13]))
    rules = dataclasses.replace(preset, follow=follow, mixed_trump_rank=mixed)
    level, trump = draw(st.sampled_from("3456789T")), draw(st.sampled_from("SHCD"))
    world = world_of(rules, level, trump)
    card = draw(st.sampled_from(CARDS))
    n = draw(st.integers(1, rules.decks))
    inside = [c for c in CARDS if world.suit[c] == world.suit[card]]
    outside = [c for c in CARDS if world.suit[c] != world.suit[card]]
    faces = draw(st.lists(st.sampled_from(inside), max_size=6, unique=True))
    faces += draw(st.lists(st.sampled_from(outside), max_size=4, unique=True))
    hand: list[str] = []
    for face in faces:
        hand += [face] * min(draw(st.integers(1, rules.decks)), rules.decks - n * (face == card))
    others = [c for c in outside if c not in faces]
    hand = hand[: draw(st.integers(n, 12))]
    return rules, level, trump, hand + others[: max(0, n - len(hand))], (card,) * n


def world_of(rules: Rules, level: str, trump: str) -> World:
    mixed = rules.mixed_trump_rank
    return World(level, trump, ("?2" + RANKS)[mixed - 1] if mixed else None)


@given(questions())
@settings(deadline=None, derandomize=True, max_examples=800)
def test_larger_hands(question: Question) -> None:
    """R7.3-5 under any level, trump suit and mixed trumps."""
    rules, level, trump, hand, lead = question
    expected = expected_answers(world_of(rules, level, trump), rules, hand, lead)
    table = position.setup(rules, hands=hands_of(rules, hand, lead), level=level, trump=trump)
    assert not difference(expected, answers(table, lead)[0])
    assert not difference(expected, told(rules, level, trump, hand, lead))


# ---- leads (R7.2)

EQUALS = "H3 C3 D3 H2 C2 S2 S3 LJ BJ BJ"
RUNS = "D9 D9 D9 DT DT DJ DJ H9 H9 LJ LJ"


@pytest.mark.parametrize("preset", ["dalian", "four_deck"])
@pytest.mark.parametrize("text", [EQUALS, RUNS, "H3 C3 S4 S6 " * 3, "C9"], ids=["equals", "runs", "triples", "one"])
def test_leads_are_all_shapes_and_nothing_else(preset: str, text: str) -> None:
    """R3.1, R7.2: two equals of different suits, and runs of pairs, are none."""
    rules, hand = Rules.preset(preset), text.split()
    table = position.setup(rules, hands=hands_of(rules, hand), leader=1)
    found = reached(table, lambda t: t.planes[0, :, PLAYED + 1] == 0, lambda t: [t.planes[:, :, PLAYED + 1]])[0]
    every = (play for n in range(1, rules.decks + 1) for play in selections(hand, n))
    assert not difference({(play,) for play in every if may_lead(play)}, found)


# ---- the comparison itself can fail


def test_a_missing_a_foreign_and_a_repeated_play_are_seen() -> None:
    right = {(("H4", "H4"),), (("H4", "H9"),)}
    assert not difference(right, Counter(right))
    assert "never reached: [(('H4', 'H9'),)]" in difference(right, Counter({(("H4", "H4"),): 1}))
    assert "not allowed: [(('C9', 'H4'),)]" in difference(right, Counter([*right, (("C9", "H4"),)]))
    assert "more than once: [(('H4', 'H4'),)]" in difference(right, Counter([*right, (("H4", "H4"),)]))


@pytest.mark.parametrize("fault", ["one taken away", "one too many", "no way on"])
def test_a_faulty_engine_is_seen(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A player with H4 H4 H9 C9 follows a single heart: H4 or H9."""
    legal, apply = engine.HANDLERS[Phase.FOLLOW]
    rules, hand, lead = Rules.preset("dalian"), ["H4", "H4", "H9", "C9"], ("H7",)
    slot = {face: engine_slot(rules, face) for face in ("H9", "C9")}

    def faulty(t: Tables, g: npt.NDArray[np.intp]) -> Words:
        words = legal(t, g)
        if fault == "one taken away":
            words[0] &= ~(U64(1) << slot["H9"])
        elif fault == "one too many":
            words[0] |= U64(1) << slot["C9"]
        else:
            words[:] = 0
        return words

    expected = expected_answers(World("3", "S"), rules, hand, lead)
    assert not difference(expected, answers(position.setup(rules, hands=hands_of(rules, hand, lead)), lead)[0])
    monkeypatch.setitem(engine.HANDLERS, Phase.FOLLOW, (faulty, apply))
    table = position.setup(rules, hands=hands_of(rules, hand, lead))
    if fault == "no way on":
        with pytest.raises(AssertionError, match="dead end"):
            answers(table, lead)
    else:
        wrong = "never reached: [(('H9',),)]" if fault == "one taken away" else "not allowed: [(('C9',),)]"
        assert difference(expected, answers(table, lead)[0]) == wrong


def engine_slot(rules: Rules, card: str) -> np.uint64:
    """The bit of a card in legal words, at level 3 with spades as trumps."""
    return U64(Tables(rules, 1).actions.parse(card, 3, 0))
