"""Positions: set up from text, written down, read again; and what cannot be is refused by name."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gunzi_env import engine, planes
from gunzi_env.cards import parse_cards
from gunzi_env.order import to_slots
from gunzi_env.planes import bits
from gunzi_env.position import PositionError, format_position, parse, play_actions, setup
from gunzi_env.rulebook import ONE_TABLE
from gunzi_env.rules import Rules, RulesError
from gunzi_env.tables import HAND, KITTY, PENDING, PLAYED, STOCK, Phase, Tables
from tests.rules.game import Game

PLACES = [*range(HAND, HAND + 4), KITTY, *range(PLAYED, PLAYED + 4), PENDING]
FIELDS = ["phase", "seat", "levels", "level", "trump", "dealer", "score", "dry", "kitty_public", "held", "void"]
FIELDS += ["kitty_shown", "bid_strength", "bid_suit", "bid_seat", "no_pair", "no_triple"]
FIELDS += ["leader", "led_suit", "led_count", "best", "best_slot", "trick_points"]
FOLLOWING = ["need", "last", "last_copies", "floor"]
WRITTEN = (Phase.TRIBUTE, Phase.BURY, Phase.JOKERS, Phase.FOLLOW)
RESULT = ["score", "dug", "gain", "next_levels", "next_dealer", "next_blood", "match_winner"]


def assert_same(a: Tables, b: Tables) -> None:
    """The same cards in the same places, the same question, the same state of play."""
    for holder in PLACES:
        np.testing.assert_array_equal(a.planes[:, 0, holder], b.planes[:, 0, holder], str(holder))
    np.testing.assert_array_equal(a.trick, b.trick)
    np.testing.assert_array_equal(a.shown, b.shown)
    # What a position says to be known of a hand is never more than was known.
    for name in ("known", "loose"):
        assert not planes.minus(getattr(b, name), getattr(a, name)).any(), name
    np.testing.assert_array_equal(a.legal, b.legal)
    for name in FIELDS + (FOLLOWING if a.phase[0] == Phase.FOLLOW else []):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), name)
    if a.phase[0] >= Phase.JOKERS:
        assert a.pickable[0] == b.pickable[0]


def random_action(t: Tables, rng: np.random.Generator) -> int:
    total = int(bits(t.legal).sum())
    return int(t.actions.pick(t.legal, np.array([int(rng.integers(total))]))[0])


def random_hand(preset: str, seed: int) -> Iterator[tuple[Tables, bool]]:
    """Every state of one random hand from a published start (the same table each time), and whether it can be written
    down: a lead, or a question of a phase in WRITTEN before anything is named."""
    rules = Rules.preset(preset)
    t = Tables(rules, 1)
    engine.deal_hands(t, seed)
    rng = np.random.default_rng(seed)
    before = (Phase.OVER, 0)
    while t.phase[0] != Phase.OVER:
        now = (Phase(t.phase[0]), int(t.seat[0]))
        yield t, now[0] == Phase.LEAD or (now[0] in WRITTEN and now != before)
        before = now
        engine.step(t, [random_action(t, rng)])


@pytest.mark.parametrize("preset", Rules.presets())
@pytest.mark.parametrize("seed", range(3))
def test_positions_of_random_hands_are_read_back(preset: str, seed: int) -> None:
    seen = 0
    for t, can_be_written in random_hand(preset, seed):
        if can_be_written:
            text = format_position(t)
            again = parse(text)
            assert_same(t, again)
            assert format_position(again) == text
            seen += 1
        elif Phase.TRIBUTE <= t.phase[0] <= Phase.PICKUP:
            never = t.phase[0] in (Phase.RETURN, Phase.PICKUP)
            with pytest.raises(PositionError, match="cannot be written" if never else "in the middle of a choice"):
                format_position(t)
    assert seen > 60


@pytest.mark.parametrize("preset", Rules.presets())
@pytest.mark.parametrize("ply", [30, 70, 110])
def test_a_position_plays_on_like_the_original(preset: str, ply: int) -> None:
    """The same actions lead to the same result, R8.2's kitty included."""
    states = enumerate(random_hand(preset, 8))
    t = next(t.clone() for number, (t, can_be_written) in states if number >= ply and can_be_written)
    again = parse(format_position(t))
    rng = np.random.default_rng(1)
    while t.phase[0] != Phase.OVER:
        action = random_action(t, rng)
        engine.step(t, [action])
        engine.step(again, [action])
    for name in RESULT:
        np.testing.assert_array_equal(getattr(t, name), getattr(again, name), name)


def test_cards_named_lie_where_they_are_named_and_the_rest_in_the_stock() -> None:
    hands, played = ["SA H9", "H8 H8", "BJ C4", "D4 D5"], ["S4", "", "H9 HT", "D9"]
    t = setup(hands=hands, played=played, kitty_cards="H4 H5 H6", trump="H")
    game = Game(t)
    assert [game.hand(s) for s in range(4)] == ["SA H9", "H8 H8", "C4 BJ", "D4 D5"]
    assert [game.played(s) for s in range(4)] == ["S4", "", "H9 HT", "D9"]
    assert game.kitty == "H4 H5 H6"
    total = sum(int(planes.count(t.planes[:, :1, holder])[0]) for holder in (*PLACES, STOCK))
    assert total == t.rules.num_cards


def test_a_trick_begun_stands_besides_the_hands() -> None:
    t = setup(hands=["C9", "H4 H6", "H7 H9", "D4 D5"], trick=["HK"], leader=0, dealer=1)
    game = Game(t)
    assert (game.phase, game.seat, game.dealer) == ("follow", 1, 1)
    assert game.played(0) == "HK" and game.legal == ["H4", "H6"]
    total = sum(int(planes.count(t.planes[:, :1, holder])[0]) for holder in (*PLACES, STOCK))
    assert total == t.rules.num_cards
    assert int(t.trick_points[0]) == 10


def test_a_trick_with_several_plays() -> None:
    """The third player is asked; the second had no choice, and named what he must play (R7.3)."""
    game = Game(setup(hands=["C9", "D4", "H7 H9", "D5 D6"], trick=["HK", "H4"], leader=0))
    assert (game.seat, game.played(1), game.legal) == (2, "H4", ["H7", "H9"])
    with pytest.raises(PositionError, match="'C4' is not the play that seat 1 must make"):
        setup(hands=["C9", "H4", "H7 H9", "D5 D6"], trick=["HK", "C4"], leader=0)


def test_phases() -> None:
    """Each phase in which a position can stand, and the question it asks."""
    hands = ["H3 BJ", "D3 LJ", "HA DA", "S3 HK"]
    asked: list[tuple[dict[str, Any], str, int, list[str]]] = [
        ({"phase": "show"}, "show", 0, ["pass", "show"]),
        ({"phase": "bid"}, "bid", 0, ["pass", "bid H x1"]),
        ({"phase": "bid", "seat": 1}, "bid", 1, ["pass", "bid D x1"]),
        ({"phase": "tribute", "dealer": 3, "blood": 1}, "tribute", 2, ["HA", "DA"]),
        ({"phase": "bury", "kitty_cards": "H4 S4"}, "bury", 0, ["S4", "H3", "BJ"]),
        ({"phase": "jokers", "kitty_cards": "H4 S4"}, "jokers", 1, ["LJ", "pass"]),
        ({"phase": "lead", "leader": 2}, "lead", 2, ["HA", "DA"]),
        ({"phase": "lead"}, "lead", 0, ["H3", "BJ"]),
    ]
    for fields, phase, seat, legal in asked:
        game = Game(setup(hands=hands, **fields))
        assert (game.phase, game.seat, game.legal) == (phase, seat, legal)


def test_a_standing_bid_must_be_beaten() -> None:
    hands = ["H3 H3 H3", "D3 D3", "", ""]
    assert Game(setup(hands=hands, phase="bid", bid="2xD", bidder=1)).legal == ["pass", "bid H x3"]
    jokers = ["BJ BJ BJ", "D3", "", "LJ LJ LJ"]
    assert Game(setup(hands=jokers, phase="bid", bid="3xLJ:C", bidder=3)).legal[1:] == [
        "bid BJ:S", "bid BJ:H", "bid BJ:C", "bid BJ:D",
    ]  # fmt: skip


@pytest.mark.parametrize("preset", Rules.presets())
def test_positions_of_the_closing_window_are_read_back(preset: str) -> None:
    """R4.6: what was bid and shown while cards were dealt, and what the same moves make of it."""
    rules, rng = Rules.preset(preset), np.random.default_rng(2)
    seen = shown = 0
    for seed in range(60):
        t = Tables(rules, 1)
        engine.reset(t, seed, begin=False)
        engine.begin_hand(t, ONE_TABLE, dealer=np.array([seed % 4]))
        while t.phase[0] <= Phase.BID:
            if t.passes[0] >= 0:
                text, again = format_position(t), parse(format_position(t))
                assert_same(t, again)
                assert format_position(again) == text
                seen, shown = seen + 1, shown + bool(t.shown.any())
            engine.step(t, [random_action(t, rng) if rng.random() < 0.2 else t.actions.PASS])
    assert seen > 50 and shown > 20


def test_levels_and_rules() -> None:
    t = setup("four_deck", hands=["SA"] * 4, level="T", levels=(4, 10), dealer=3, trump="D")
    assert (t.level[0], t.levels[0].tolist(), t.trump[0], t.rules.name) == (10, [4, 10], 3, "four_deck")
    assert setup(hands=["SA", "H4", "D5", "C4"], level=7).levels[0].tolist() == [7, 7]


def test_voids_dry_and_public_kitty_are_read_back() -> None:
    t = setup(
        hands=["SA H4", "H9 H8", "S4 C4", "D8 D9"], kitty_cards="H5 H6", void="1C 1T 3H", trump="S",
        kitty_public=True, score=35, dealer=2, leader=1,
    )  # fmt: skip
    assert [tuple(map(int, found)) for found in np.argwhere(t.void[0])] == [(1, 1), (1, 3), (3, 0)]
    text = format_position(t)
    assert "void: 1C 1T 3H" in text and "kitty public: yes" in text and "score: 35" in text
    assert_same(t, parse(text))
    dry = setup(hands=["SA", "H9", "S4", "D8"], kitty_cards="H5 H6", dry=True)
    assert "dry: yes" in format_position(dry) and parse(format_position(dry)).dry[0]


def test_text_is_read_freely() -> None:
    """Comments, blank lines, spaces; keys in any order; what is left out has its default."""
    t = parse("# a position\n\n hand 3:  d8\nhand 0 : SA\n  hand  1: H9\nhand 2: S4\nseat: 1\n")
    assert_same(t, setup(hands=["SA", "H9", "S4", "D8"], leader=1))


GOOD = ["SA H4", "H9 D4", "S4 D6", "D8 C9"]


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"phase": "return"}, "phase is 'return'"),
        ({"dealer": 4}, "dealer is 4"),
        ({"dealer": -1}, "dealer is -1"),
        ({"leader": 7}, "leader is 7"),
        ({"seat": "x"}, "seat is 'x'"),
        ({"bidder": 4}, "bidder is 4"),
        ({"hands": GOOD[:3]}, "four entries"),
        ({"played": ["S5"]}, "four entries"),
        ({"hands": ["SA", "H9 D4", "S4", "D8"]}, "1, 2, 1, 1 cards"),
        ({"hands": [""] * 4}, "0, 0, 0, 0 cards"),
        ({"hands": ["SA SA", "SA H9", "SA D6", "D8 C9"]}, "4 copies of SA"),
        ({"hands": ["SA SA SA SA"] * 4}, "copies of SA"),
        ({"kitty_cards": "H4 H4 H4"}, "4 copies of H4"),
        ({"played": ["H4 H4", "H4", "", ""]}, "4 copies of H4"),
        ({"trick": ["H4 H4 H4"]}, "4 copies of H4"),
        ({"level": 5, "levels": (4, 5)}, "level is 5"),
        ({"void": "1S"}, "void names '1S'"),  # spades are trumps: T
        ({"void": "4H"}, "void names '4H'"),
        ({"void": "H"}, "void names 'H'"),
        ({"phase": "show"}, "seat 0 has nothing to decide in phase show"),
        ({"phase": "bid"}, "seat 0 has nothing to decide in phase bid"),
        ({"phase": "jokers", "kitty_cards": "S5"}, "seat 1 has no joker"),
        ({"dry": True, "kitty_shown": False}, "kitty was not shown"),
        ({"bid": "1xS", "kitty_shown": False}, "so the kitty was shown"),
        ({"hands": ["S3 H4", *GOOD[1:]], "shown": ["S3", "", "", ""], "kitty_shown": False}, "so the kitty was shown"),
        ({"hands": ["BJ H4", *GOOD[1:]], "shown": ["BJ", "", "", ""], "kitty_shown": False}, "so the kitty was shown"),
        ({"phase": "show", "bid": "1xS"}, "in phase show there are no bids"),
        ({"phase": "show", "shown": ["BJ", "", "", ""]}, "ends phase show"),
        ({"bid": "1xH", "hands": ["H3 H4", *GOOD[1:]]}, "bid is '1xH', but trump is S"),
        ({"bid": "1xS"}, "seat 0 has shown S3"),
        ({"bid": "1xS", "blood": 1}, "seat 0 has shown 1 S3, but only 0 are in play"),
        ({"shown": ["", "H9", "", ""]}, "other cards than level cards and jokers"),
        ({"shown": ["", "H3"]}, "four entries"),
        (
            {"hands": ["S3 H4", *GOOD[1:]], "blood": 1, "shown": ["S3", "S3", "", ""]},
            "seats 0 and 1 have shown 2 S3, but only 1 are in play: two seats cannot show the same card",
        ),
    ],
)
def test_what_cannot_be_is_refused_by_name(fields: dict[str, Any], named: str) -> None:
    with pytest.raises(PositionError, match=named):
        setup(**({"hands": GOOD} | fields))


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"hands": ["SX", "H9", "S4", "D8"]}, "'SX'"),
        ({"level": "X"}, "'X'"),
        ({"level": 11}, "11"),
        ({"trump": "T"}, "'T'"),
        ({"phase": "bid", "hands": ["H3", "", "", ""], "bid": "4xH"}, "'4xH'"),
        ({"hands": ["D8", "H9", "S4", "D6"], "trick": ["HK", "D4"]}, "hands have"),
    ],
)
def test_bad_text_is_refused_by_name(fields: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        setup(**({"hands": GOOD} | fields))


def test_an_illegal_play_in_a_trick_is_refused() -> None:
    with pytest.raises(ValueError, match=r"R7\.3"):
        setup(hands=["C9", "H9", "S4 D5", "D6 D7"], trick=["HK", "D4"])
    with pytest.raises(ValueError, match="HQ"):
        setup(hands=["C9", "H9 H8 H7", "S4 D5 D8", "D6 D7 D9"], trick=["HK HQ"])


def test_rules_are_checked() -> None:
    with pytest.raises(RulesError, match="'dalia'"):
        setup("dalia", hands=GOOD)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("hand 0 SA", "'hand 0 SA'"),
        ("hat: SA", "'hat: SA'"),
        ("hand 4: SA", "'hand 4: SA'"),
        ("hand 0: SA\nhand 0: S4", "'hand 0' is given twice"),
        ("dealer: me", "dealer is 'me'"),
        ("score: many", "score is 'many'"),
        ("dry: maybe", "dry is 'maybe'"),
        ("kitty public: 1", "kitty public is '1'"),
        ("kitty shown: 1", "kitty shown is '1'"),
        ("shown 0: X3", "'X3'"),
        ("phase: over", "phase is 'over'"),
        ("seat: 9\nhand 0: SA\nhand 1: H4\nhand 2: D5\nhand 3: C4", "is 9"),
    ],
)
def test_a_bad_line_is_refused_by_name(text: str, named: str) -> None:
    with pytest.raises(PositionError, match=named):
        parse(text)


def test_errors_are_value_errors_for_usage() -> None:
    assert issubclass(PositionError, ValueError) and PositionError.exit_code == 2


def test_what_cannot_be_written() -> None:
    game = Game(setup(hands=["SA", "H4", "D5", "C4"]))
    assert game.play("0 SA").phase == "over"
    with pytest.raises(PositionError, match="over"):
        format_position(game.t)
    mine = setup(dataclasses.replace(Rules(), level_at_high=True), hands=GOOD)
    with pytest.raises(PositionError, match="other than a preset"):
        format_position(mine)
    half = Game(setup(hands=["HK HK S4", "H4 H6 H8", "D5 D6 D7", "C4 C5 C6"])).play("0 HK HK", "1 H8")
    with pytest.raises(PositionError, match="half made"):
        format_position(half.t)


def test_dealing_cannot_be_written() -> None:
    t = Tables(Rules(), 1)
    engine.reset(t, 0)
    assert t.phase[0] == Phase.SHOW and t.passes[0] < 0
    with pytest.raises(PositionError, match="still being dealt"):
        format_position(t)


def test_play_actions_names_units_most_copies_first() -> None:
    t = setup(hands=["HK HK HK", "D4 D4 S4", "D5 D5 D7", "C4 C4 C6"])
    words = np.zeros((3, 54), int)
    for slot in to_slots(t.layout, 3, 0, parse_cards("D4 D4 S4")):
        words[0, slot] += 1
    play = planes.from_counts(words[:1], 3)[:, 0]
    named = [t.actions.name(action, 3, 0) for action in play_actions(t, play)]
    assert named == ["D4 D4", "S4"]


def test_a_position_is_text() -> None:
    with pytest.raises(PositionError, match="a position is text of lines"):
        parse(5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"score": 7}, "score is 7: it must be a multiple of 5"),
        ({"phase": "lead", "trick": (), "levels": (4, 5)}, "level is 3, but the dealer's team is on 4"),
        ({"phase": "follow"}, "phase is 'follow' and the trick has 0 plays"),
        ({"phase": "jokers", "dry": True, "kitty_cards": "H4", "seat": 1}, "seat 1 has no joker to bury"),
    ],
)
def test_what_contradicts_itself_is_named(fields: dict[str, Any], named: str) -> None:
    with pytest.raises(PositionError, match=re.escape(named)):
        setup(hands=["SA", "BJ", "S7", "S8"], **fields)
