"""Choices of single cards by brute force: tribute, return, burial, others' jokers and pick-up (R5, R6)."""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from gunzi_env import position
from gunzi_env.rules import Rules
from gunzi_env.tables import HAND, KITTY, Phase
from tests.support.brute_force import (
    CARDS,
    JOKERS,
    Cards,
    World,
    are_smallest,
    difference,
    hands_of,
    may_be_picked,
    may_bury,
    may_give,
    may_return,
    reached,
    selections,
)


def dealt(rng: random.Random, faces: Sequence[str], decks: int, sizes: Sequence[int]) -> list[list[str]]:
    """Hands of these sizes out of all copies of a few faces."""
    pool = list(faces) * decks
    rng.shuffle(pool)
    ends = np.cumsum(sizes)
    return [pool[end - size : end] for end, size in zip(ends, sizes, strict=True)]


def few_faces(rng: random.Random, number: int, level: str, without: Sequence[str] = ()) -> list[str]:
    """Faces among which many are equals: aces, 2s and level cards, some jokers."""
    likely = [card for card in CARDS if card[1] in ("A", "2", level) or card in JOKERS]
    chosen = rng.sample(likely, 2 * number // 3)
    chosen += rng.sample([card for card in CARDS if card not in likely], number - len(chosen))
    return [card for card in chosen if card not in without]


REVERSIBLE = dataclasses.replace(Rules.preset("four_deck"), tribute_level_points=False)


@pytest.mark.parametrize("rules", [Rules.preset("dalian"), REVERSIBLE], ids=["dalian", "exemption, no level points"])
def test_tribute_and_return(rules: Rules) -> None:
    """R5.1-5: what is given, and for each of these what may come back."""
    rng = random.Random(5)
    met: Counter[str] = Counter()
    for _ in range(150):
        level, trump = rng.choice("35T"), rng.choice("SHCD")
        dealer, blood = rng.randrange(4), rng.randint(0, 4)
        hands = dealt(rng, few_faces(rng, 15, level, ["BJ"]), rules.decks, [7, 7, 7, 7, rules.kitty_size])
        holder = rng.randrange(4)
        if all_big := rng.random() < 0.4:
            hands[holder][: rules.decks] = ["BJ"] * rules.decks
        giver, taker = (dealer + 3) % 4, dealer
        if rules.anti_tribute and all_big and blood and holder in (giver, (giver + 2) % 4):
            met["turned" if holder == giver else "cancelled"] += 1
            giver, taker, owed = (taker, giver, blood) if holder == giver else (giver, taker, 0)
        else:
            owed = blood
        expected = exchanges(World(level, trump), rules, level, hands[giver], hands[taker], owed)
        gifts = Counter(gift for gift, _ in expected)
        met["several gifts"] += len(gifts) > 1
        met["several returns"] += max(gifts.values()) > 1
        texts = [" ".join(cards) for cards in hands]
        table = position.setup(
            rules,
            phase="tribute",
            level=level,
            trump=trump,
            dealer=dealer,
            blood=blood,
            hands=texts[:4],
            kitty_cards=texts[4],
        )
        found = reached(
            table, lambda t: np.isin(t.phase, [Phase.TRIBUTE, Phase.RETURN]), lambda t: [t.tribute, t.returned]
        )
        assert not difference(expected, found[0]), (level, trump, dealer, blood, hands)
    assert met["several gifts"] > 10 and met["several returns"] > 50
    assert (met["turned"] > 3 and met["cancelled"] > 3) == rules.anti_tribute


def exchanges(
    world: World, rules: Rules, level: str, giver: list[str], taker: list[str], owed: int
) -> set[tuple[Cards, ...]]:
    """Every tribute with every return."""
    gifts = [gift for n in range(owed + 1) for gift in selections(giver, n)]
    return {
        (gift, back)
        for gift in gifts
        if may_give(world, rules, level, giver, owed, gift)
        for back in selections([*taker, *gift], len(gift))
        if may_return(world, [*taker, *gift], back)
    }


@pytest.mark.parametrize("preset", ["dalian", "four_deck"])
def test_burial(preset: str) -> None:
    """R6.2-3."""
    rules = dataclasses.replace(Rules.preset(preset), dry_pot=None)
    rng = random.Random(6)
    bound = 0
    for _ in range(50):
        faces = [*JOKERS, *few_faces(rng, 9, "3", JOKERS)][:9]
        hands = dealt(rng, faces, rules.decks, [4, 4, 4, 4, 5])
        texts = [" ".join(cards) for cards in hands]
        table = position.setup(rules, phase="bury", hands=texts[:4], kitty_cards=texts[4])
        together = hands[0] + hands[4]
        every = list(selections(together, 5))
        expected = {(cards,) for cards in every if may_bury(together, cards)}
        found = reached(table, lambda t: t.phase == Phase.BURY, lambda t: [t.planes[:, :, KITTY]])
        assert not difference(expected, found[0]), together
        bound += len(expected) < len(every)
    assert bound > 15


@pytest.mark.parametrize("preset", ["dalian", "four_deck"])
def test_others_jokers_and_pick_up(preset: str) -> None:
    """R6.3, R6.5: which jokers go in and, for each choice of them, what is picked up; read off hand and kitty."""
    rules = Rules.preset(preset)
    rng = random.Random(7)
    several = 0
    for _ in range(60):
        level, trump = rng.choice("35T"), rng.choice("SHCD")
        jokers = rng.sample(JOKERS * rules.decks, rng.randint(1, 5))
        faces = [*few_faces(rng, 7, level, JOKERS), "S4", "H4", "C4"]
        kitty, others = dealt(rng, sorted(set(faces)), rules.decks, [rules.kitty_size, 5 - len(jokers)])
        if not may_be_picked(kitty):
            continue
        hand = jokers + others
        world = World(level, trump)
        expected = {
            (without_and_with(hand, put, picked), without_and_with(kitty, picked, put))
            for n in range(min(len(jokers), len(may_be_picked(kitty))) + 1)
            for put in selections(jokers, n)
            if may_bury(jokers, put)
            for picked in selections(may_be_picked(kitty), n)
            if are_smallest(world, may_be_picked(kitty), picked)
        }
        texts = hands_of(rules, hand, out=kitty)
        table = position.setup(
            rules, phase="jokers", level=level, trump=trump, hands=texts, kitty_cards=" ".join(kitty)
        )
        found = reached(
            table,
            lambda t: np.isin(t.phase, [Phase.JOKERS, Phase.PICKUP]) & (t.seat == 1),
            lambda t: [t.planes[:, :, HAND + 1], t.planes[:, :, KITTY]],
        )
        assert not difference(expected, found[0]), (level, trump, hand, kitty)
        several += len(expected) > len(jokers) + 1
    assert several > 15


def without_and_with(cards: Sequence[str], gone: Cards, come: Cards) -> Cards:
    return tuple(sorted(((Counter(cards) - Counter(gone)) + Counter(come)).elements()))
