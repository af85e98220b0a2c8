"""Rules, decks and small helpers for the oracle's own tests."""

from __future__ import annotations

import random
from collections import Counter
from types import SimpleNamespace
from typing import Any

from tests.support.oracle import Oracle
from tests.support.oracle_rules import (
    face,
    text,
)

DALIAN: dict[str, Any] = {
    "decks": 3, "hand_size": 39, "kitty_size": 6, "take": 120, "blood_low": 80, "blood_high": 150, "full_points": 300,
    "first_level": 3, "last_level": 10, "must_play": (3, 10), "first_bid": "show", "first_flip": "high",
    "jokers_may_open": False, "mixed_trump_rank": None, "tribute_level_points": True, "anti_tribute": False,
    "others_bury": True, "others_bury_block": "no_pickable", "dry_pot": "ordinary_trump", "dry_pot_first_hand": True,
    "follow": "live", "sweep_ends_match": True, "jokers_end_match": ("big", "small"), "score_blood_when_dug": True,
    "level_at_high": False, "j_reset": False,
}  # fmt: skip
CLASSIC = {"first_bid": "auto", "first_flip": "low", "jokers_may_open": True, "dry_pot": "permanent_neutral"}
FOUR_DECK = {
    "decks": 4, "hand_size": 52, "kitty_size": 8, "take": 160, "blood_low": 120, "blood_high": 200, "full_points": 400,
    "first_flip": "low", "follow": "dead", "dry_pot": "permanent_neutral", "anti_tribute": True,
    "score_blood_when_dug": False, "jokers_end_match": ("big",),
}  # fmt: skip
HOUSE = {
    "follow": "dead", "mixed_trump_rank": 5, "last_level": 11, "must_play": (3, 5, 11), "j_reset": True,
    "others_bury_block": "any_points", "tribute_level_points": False, "dry_pot_first_hand": False,
    "level_at_high": True,
}  # fmt: skip
PRESETS: dict[str, dict[str, Any]] = {
    "dalian": {}, "dalian_dead": {"follow": "dead"}, "classic": CLASSIC, "four_deck": FOUR_DECK, "house": HOUSE,
}  # fmt: skip


def rules_of(preset: str = "dalian", **changes: Any) -> SimpleNamespace:
    return SimpleNamespace(**(DALIAN | PRESETS[preset] | changes))


def deck_of(rules: Any, first: int, hands: dict[int, str], kitty: str = "", seed: int = 1) -> list[int]:
    """A deck in which each seat draws the cards of `hands` first and `kitty` lies on top of the kitty."""
    deck: list[int] = [-1] * (54 * rules.decks)
    for seat, cards in hands.items():
        for i, token in enumerate(cards.split()):
            deck[(seat - first) % 4 + 4 * i] = face(token)
    for i, token in enumerate(kitty.split()):
        deck[4 * rules.hand_size + i] = face(token)
    rest = sorted((Counter(list(range(54)) * rules.decks) - Counter(c for c in deck if c >= 0)).elements())
    random.Random(seed).shuffle(rest)
    return [card if card >= 0 else rest.pop() for card in deck]


def start(rules: Any, hands: dict[int, str], kitty: str = "", *, seed: int = 1, **how: Any) -> Oracle:
    first = how["first_seat"] if how.get("dealer") is None else how["dealer"]
    return Oracle(rules, deck=deck_of(rules, first, hands, kitty, seed), **how)


def decline(hand: Oracle, *phases: str) -> None:
    while hand.phase in phases:
        hand.apply("pass")


def words(cards: list[int]) -> str:
    return " ".join(text(card) for card in cards)


def faces_in_order(tokens: str) -> list[int]:
    return [face(token) for token in tokens.split()]
