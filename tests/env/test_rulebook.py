"""The rulebook's answers against plain enumeration, and its refusal of bad text.

Answers to a lead are in ``test_legality.py``.
"""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from gunzi_env import actions, rulebook
from gunzi_env.cards import FACE_NAMES, parse_face
from gunzi_env.rulebook import (
    bid_beats,
    is_dry,
    legal_plays,
    pickup_choices,
    settle,
    strength_order,
    tribute_choices,
    trick_winner,
)
from gunzi_env.rules import Rules, RulesError

MIXED = dataclasses.replace(Rules.preset("dalian_dead"), mixed_trump_rank=9)
SOURCES = ["dalian", "dalian_dead", "four_deck", dataclasses.replace(Rules.preset("four_deck"), follow="live"), MIXED]
NAMES = ["three live", "three dead", "four dead", "four live", "mixed"]
EACH_SOURCE = pytest.mark.parametrize("rules", SOURCES, ids=NAMES)
LEVELS: list[int | str] = [3, 4, 5, 6, 7, 8, 9, "T"]


def decks_of(rules: str | Rules) -> int:
    return rulebook.load_rules(rules).decks


class Order:
    """Where each card stands: its led suit, and its group of equals from the weakest up (R2.2-3)."""

    def __init__(self, rules: str | Rules, level: int | str, trump: str) -> None:
        groups = strength_order(rules, level, trump)
        # The first group of the trump suit is its weakest ordinary card; from there on all are trumps.
        first = next(number for number, group in enumerate(groups) if group[0][0] == trump)
        self.power = {card: number for number, group in enumerate(groups) for card in group}
        self.suit = {card: card[0] if number < first else "trump" for card, number in self.power.items()}
        self.suits = sorted(set(self.suit.values()))


def text(cards: Sequence[str]) -> str:
    return " ".join(sorted(cards, key=parse_face))


def selections(cards: Sequence[str], n: int) -> set[tuple[str, ...]]:
    """All different selections of n cards."""
    return set(combinations(sorted(cards, key=parse_face), n))


def shape(cards: Sequence[str]) -> tuple[int, ...]:
    """Copies of each face, most first."""
    return tuple(sorted(Counter(cards).values(), reverse=True))


def small_hand(rng: random.Random, decks: int, order: Order, led: str) -> list[str]:
    """Up to 11 cards, many copies of few faces, most of them of the led suit."""
    inside = [card for card in FACE_NAMES if order.suit[card] == led]
    outside = [card for card in FACE_NAMES if order.suit[card] != led]
    faces = rng.sample(inside, rng.randint(0, 5)) + rng.sample(outside, rng.randint(0, 3))
    cards = [card for card in faces for _ in range(rng.randint(1, decks))]
    rng.shuffle(cards)
    return cards[:11]


def with_equals(rng: random.Random, order: Order) -> list[str]:
    """Up to 9 cards, many of them equals of one another."""
    cards = rng.sample(FACE_NAMES, 2)
    for power in rng.sample(range(28), 3):
        group = [card for card in FACE_NAMES if order.power[card] == power]
        cards += [card for card in rng.sample(group, rng.randint(1, len(group))) for _ in range(rng.randint(1, 2))]
    return cards[:9]


def deals(rng: random.Random, number: int) -> Iterator[tuple[int | str, str]]:
    for _ in range(number):
        yield rng.choice(LEVELS), rng.choice("SHCD")


@EACH_SOURCE
def test_leads_are_all_copies_of_each_card(rules: str | Rules) -> None:
    """R7.2."""
    rng = random.Random(2)
    for level, trump in deals(rng, 30):
        order = Order(rules, level, trump)
        hand = small_hand(rng, decks_of(rules), order, rng.choice(order.suits))
        if not hand:
            continue
        expected = [" ".join([card] * m) for card, held in Counter(hand).items() for m in range(1, held + 1)]
        assert legal_plays(rules, level, trump, " ".join(hand)) == sorted(expected)


def test_hands_of_any_size() -> None:
    """Every card there is: 162 leads; 66 pairs or two singles of 11 hearts in three copies."""
    everything = " ".join(name for name in FACE_NAMES for _ in range(3))
    assert len(legal_plays("dalian", 3, "S", everything)) == 162
    assert len(legal_plays("dalian", 3, "S", everything, "HK HK")) == 66
    assert legal_plays("dalian", 3, "S", "H4") == ["H4"]
    assert legal_plays("dalian", 3, "S", "C4 D5", "HK HK") == ["C4 D5"]


@EACH_SOURCE
def test_trick_winner_is_that_of_a_plain_reading(rules: str | Rules) -> None:
    """R7.6, R2.5."""
    rng = random.Random(3)
    decks = decks_of(rules)
    winners = Counter[int]()
    for level, trump in deals(rng, 200):
        order = Order(rules, level, trump)
        few = rng.sample(FACE_NAMES, 4) + rng.sample([c for c in FACE_NAMES if order.suit[c] == "trump"], 2)
        n = rng.randint(1, decks)
        plays = [[rng.choice(few)] * n]
        for _ in range(3):
            alike = rng.random() < 0.7
            pool = [card for card in few for _ in range(decks)]
            plays.append([rng.choice(few)] * n if alike else rng.sample(pool, n))
        best = 0
        for number, play in enumerate(plays):
            able = shape(play) == (n,) and order.suit[play[0]] in ("trump", order.suit[plays[0][0]])
            if able and order.power[play[0]] > order.power[plays[best][0]]:
                best = number
        assert trick_winner(rules, level, trump, [" ".join(play) for play in plays]) == best, plays
        winners[best] += 1
    assert min(winners[k] for k in range(4)) > 10


def largest_first(order: Order, may: Sequence[str], n: int, sign: int) -> list[str]:
    """All selections of n cards that leave nothing better (by ``sign`` * power) behind."""
    found = []
    for chosen in selections(may, n):
        left = Counter(may) - Counter(chosen)
        worst = min((sign * order.power[card] for card in chosen), default=0)
        if not chosen or all(sign * order.power[card] <= worst for card in left):
            found.append(text(chosen))
    return sorted(found)


@EACH_SOURCE
@pytest.mark.parametrize("level_points", [True, False])
def test_tribute_choices_by_enumeration(rules: str | Rules, level_points: bool) -> None:
    """R5.1-3."""
    rules = dataclasses.replace(rulebook.load_rules(rules), tribute_level_points=level_points)
    rng = random.Random(4)
    several = 0
    for level, trump in deals(rng, 60):
        order = Order(rules, level, trump)
        rank = "T" if level == "T" else str(level)
        hand = with_equals(rng, order)
        may = [c for c in hand if c[1] not in "5TK" or (level_points and c[1] == rank)]
        blood = rng.randint(0, 6)
        expected = largest_first(order, may, min(blood, len(may)), 1)
        assert tribute_choices(rules, level, trump, " ".join(hand), blood) == expected, (level, trump, hand, blood)
        several += len(expected) > 1
    assert several > 10


@EACH_SOURCE
def test_pickup_choices_by_enumeration(rules: str | Rules) -> None:
    """R6.5."""
    rng = random.Random(5)
    several = 0
    for level, trump in deals(rng, 80):
        order = Order(rules, level, trump)
        kitty = with_equals(rng, order)
        may = [card for card in kitty if card[1] not in "5TK" and card not in ("LJ", "BJ")]
        n = rng.randint(0, len(may))
        expected = largest_first(order, may, n, -1)
        assert pickup_choices(rules, level, trump, " ".join(kitty), n) == expected, (level, trump, kitty, n)
        several += len(expected) > 1
        with pytest.raises(ValueError, match=f"n is {len(may) + 1}"):
            pickup_choices(rules, level, trump, " ".join(kitty), len(may) + 1)
    assert several > 10


@pytest.mark.parametrize("rules", ["dalian", "classic"])
def test_is_dry_by_a_plain_reading(rules: str) -> None:
    """R6.6, on kitties that are dry more often than not."""
    rng = random.Random(6)
    dry = 0
    for level, trump in deals(rng, 300):
        order = Order(rules, level, trump)
        rank = "T" if level == "T" else str(level)
        ordinary = [c for c in FACE_NAMES if c[0] == trump and c[1] not in ("2", rank)]
        faces = rng.choice([FACE_NAMES, [c for c in FACE_NAMES if c not in ordinary], list(order.power)[30:]])
        kitty = [rng.choice(faces) for _ in range(6)]
        if max(Counter(kitty).values()) > 3:
            continue
        stands_in_the_way = set(ordinary) | (set() if rules == "dalian" else {s + rank for s in "SHCD"})
        expected = all(order.suit[c] == "trump" for c in kitty) or not stands_in_the_way & set(kitty)
        assert is_dry(rules, level, trump, " ".join(kitty)) is expected, (level, trump, kitty)
        dry += expected
    assert 60 < dry < 240


@pytest.mark.parametrize("rules", ["dalian", "classic", "four_deck"])
def test_bids_are_ordered_by_strength_alone(rules: str) -> None:
    """R4.5: every bid against every other."""
    d = decks_of(rules)
    bids = [(n, f"{n}x{suit}") for n in range(1, d + 1) for suit in "SHCD"]
    bids += [(d + k, f"{d}x{joker}:{suit}") for k, joker in ((1, "LJ"), (2, "BJ")) for suit in "SHCD"]
    for strength, bid in bids:
        assert bid_beats(rules, bid, None) is (strength <= d or rules == "classic")
        for standing, other in bids:
            assert bid_beats(rules, bid, other) is (strength > standing)


@EACH_SOURCE
def test_strength_order_has_every_card_once(rules: str | Rules) -> None:
    for level in LEVELS:
        for trump in "SHCD":
            groups = strength_order(rules, level, trump)
            assert sorted(card for group in groups for card in group) == sorted(FACE_NAMES)
            assert len(groups) == 28 and groups[-2:] == [["LJ"], ["BJ"]]


def test_settle_gives_a_result() -> None:
    result = settle("dalian", 160, dug=True, big=1, levels=(5, 4), dealer=2)
    assert (result.winner, result.gain, result.levels) == ("attackers", (0, 3), (5, 7))
    assert (result.next_dealer, result.blood, result.match_winner) == (3, 3, None)
    ended = settle("dalian", 100, dug=False, levels=("10", "T"), dealer=1)  # type: ignore[arg-type]
    assert (ended.match_winner, ended.next_dealer, ended.blood) == (1, None, None)


def test_rules_are_a_name_a_file_or_rules(tmp_path: Path) -> None:
    path = tmp_path / "house.toml"
    path.write_text('follow = "dead"\n', encoding="utf-8")
    for rules in ("dalian_dead", path, str(path), Rules.preset("dalian_dead")):
        assert legal_plays(rules, 3, "S", "H9 H9 HT", "HK HK") == ["H9 H9"]


def test_levels_and_suits_are_read_freely() -> None:
    for level in ("T", "10", 10, "t"):
        assert strength_order("dalian", level, "s")[-3] == ["ST"]
    assert legal_plays("dalian", "3", "S", "s3  h3") == ["H3", "S3"]


def test_copies_are_counted_within_one_argument_alone() -> None:
    """A trick may repeat what no deck could deal; one hand may not."""
    assert trick_winner("dalian", 3, "S", ["HK HK HK", "HA HA HA", "HA HA HA", "HK HK HK"]) == 1
    assert legal_plays("dalian", 3, "S", "HK HK HK", "HK HK") == ["HK HK"]
    with pytest.raises(ValueError, match="4 copies of HK"):
        legal_plays("dalian", 3, "S", "HK HK HK HK")
    assert len(legal_plays("four_deck", 3, "S", "HK HK HK HK")) == 4


BAD: list[tuple[Callable[[], Any], str]] = [
    (lambda: legal_plays("dalian", 3, "S", "H9 HX"), "'HX'"),
    (lambda: legal_plays("dalian", 3, "S", "H9", "XK"), "'XK'"),
    (lambda: legal_plays("dalian", 3, "S", "H9 HT", "HK HQ"), "'HK HQ'"),
    (lambda: legal_plays("dalian", 3, "S", "H9 HT", ""), "''"),
    (lambda: legal_plays("dalian", 3, "S", ""), "hand is empty"),
    (lambda: legal_plays("dalian", 3, "S", "H9", "HK HK"), "1 cards"),
    (lambda: legal_plays("dalian", 2, "S", "H9"), "level 2"),
    (lambda: legal_plays("dalian", 11, "S", "H9"), "level 11"),
    (lambda: legal_plays("dalian", "J", "S", "H9"), "level 'J'"),
    (lambda: legal_plays("dalian", "X", "S", "H9"), "'X'"),
    (lambda: legal_plays("dalian", 3, "N", "H9"), "'N'"),
    (lambda: legal_plays("dalian", 3, "", "H9"), "''"),
    (lambda: legal_plays("dalia", 3, "S", "H9"), "'dalia'"),
    (lambda: trick_winner("dalian", 3, "S", []), "not 0"),
    (lambda: trick_winner("dalian", 3, "S", ["HK"] * 5), "not 5"),
    (lambda: trick_winner("dalian", 3, "S", ["HK", "HA HA"]), "'HA HA'"),
    (lambda: trick_winner("dalian", 3, "S", ["HK HQ", "HA HA"]), "'HK HQ'"),
    (lambda: trick_winner("dalian", 3, "S", ["HK", ""]), "''"),
    (lambda: trick_winner("dalian", 3, "S", ["HK", "H1"]), "'H1'"),
    (lambda: is_dry("dalian", 3, "S", "H4 H4 H4 H4"), "4 copies of H4"),
    (lambda: is_dry("dalian", 3, "S", "H4 ?"), "'?'"),
    (lambda: tribute_choices("dalian", 3, "S", "H4", -1), "-1"),
    (lambda: tribute_choices("dalian", 3, "S", "4H", 1), "'4H'"),
    (lambda: pickup_choices("dalian", 3, "S", "H4 C5", 2), "n is 2"),
    (lambda: pickup_choices("dalian", 3, "S", "H4 C5", -1), "n is -1"),
    (lambda: pickup_choices("dalian", 3, "S", "H4 CC", 1), "'CC'"),
    (lambda: bid_beats("dalian", "4xH", None), "'4xH'"),
    (lambda: bid_beats("dalian", "0xH", None), "'0xH'"),
    (lambda: bid_beats("dalian", "2H", None), "'2H'"),
    (lambda: bid_beats("dalian", "2xX", None), "'X'"),
    (lambda: bid_beats("dalian", "2xLJ:H", None), "'2xLJ:H'"),
    (lambda: bid_beats("dalian", "3xLJ", None), "'LJ'"),
    (lambda: bid_beats("dalian", "3xLJ:X", None), "'X'"),
    (lambda: bid_beats("dalian", "1xH", "pass"), "'pass'"),
    (lambda: settle("dalian", 121, dug=False), "score is 121"),
    (lambda: settle("dalian", 365, dug=False), "score is 365"),
    (lambda: settle("dalian", 100, dug=False, big=4), "big is 4"),
    (lambda: settle("dalian", 100, dug=False, small=-1), "small is -1"),
    (lambda: settle("dalian", 100, dug=False, dealer=4), "dealer is 4"),
    (lambda: settle("dalian", 100, dug=False, levels=(3, 11)), "level 11"),
    (lambda: settle("dalian", 100, dug=False, levels=(3, 3, 3)), "levels are"),  # type: ignore[arg-type]
    (lambda: settle(Rules(decks=4, hand_size=53, kitty_size=4), 100, dug=False, big=3, small=3), "3 big and 3 small"),
    (lambda: strength_order("dalian", 3, "X"), "'X'"),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_bad_text_names_its_token(number: int) -> None:
    ask, named = BAD[number]
    with pytest.raises(ValueError) as error:
        ask()
    assert named in str(error.value)


def test_an_unknown_preset_is_an_error_of_the_rules() -> None:
    with pytest.raises(RulesError, match="'dalia'"):
        is_dry("dalia", 3, "S", "H4")


@pytest.mark.parametrize("preset", Rules.presets())
def test_every_bid_is_read_back(preset: str) -> None:
    """R4.5: as many bids as the numbering has, each of its strength and suit."""
    rules = Rules.preset(preset)
    space = actions.space(rules)
    every = list(zip(space.bid_strength.tolist(), space.bid_suit.tolist(), strict=True))
    texts = [rulebook.format_bid(rules, *bid) for bid in every]
    assert len(set(texts)) == len(every) == 4 * rules.decks + 8
    assert [rulebook.parse_bid(rules, text) for text in texts] == every
    assert {f"{rules.decks}xBJ:D", f"{rules.decks}xLJ:S", "1xH"} <= set(texts)
