"""Positions that are false or half made: refused, by the name of the seat, the card or the field."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from gunzi_env.position import PositionError, format_position, parse, setup
from gunzi_env.tables import Phase, Tables
from tests.env.test_position import assert_same
from tests.rules.game import Game

GOOD = ["SA H4", "H9 D4", "S4 D6", "D8 C9"]
JOKERS = ["SA BJ", "H9 BJ", "S4 LJ", "D8 LJ"]
WET = "H4 S6"
"""A kitty that is not dry (R6.6): an ordinary trump and a side card."""


def refuses(named: str, **fields: Any) -> None:
    with pytest.raises(PositionError, match=re.escape(named)):
        setup(**({"hands": GOOD} | fields))


def test_a_trick_without_a_play() -> None:
    """An empty line is no trick begun."""
    lines = [f"hand {s}: {hand}" for s, hand in enumerate(GOOD)]
    with pytest.raises(PositionError, match="phase is 'follow' and the trick has 0 plays"):
        parse("\n".join(["phase: follow", "trick:", *lines]))
    assert parse("\n".join(["phase: lead", "trick:", *lines])).phase[0] == Phase.LEAD
    refuses("seat 0 cannot lead ''", phase="follow", trick=[""])
    refuses("seat 3 cannot lead ' '", phase="follow", trick=[" "], leader=3)


@pytest.mark.parametrize(
    ("hands", "trick", "named"),
    [
        (["C4", "H9 H4", "S4 D6 C6", "D8 D9 C9"], ["HA HA", "HT"], "seat 1 cannot play 'HT': it has 1 cards"),
        (["C4 C6", "H9", "S4 D6 C6", "D8 D9 C9"], ["HA", "HT H9"], "seat 1 cannot play 'HT H9': it has 2 cards"),
        (["C4 C6", "H9", "S4 D6 C6", "D8 D9 C9"], ["HA HK"], "seat 0 cannot lead 'HA HK': one card or several"),
        (["C4", "H9", "S4", "D8 D9"], ["HA", "H8", "D4", "D6"], "the trick has 4 plays"),
        # The third seat's play is too short: not the fourth's fault, who is asked after it.
        (["C4", "H9", "S4 D6", "D8 D9 C9"], ["HA HA", "HT HJ", "D7"], "seat 2 cannot play 'D7'"),
        (["C4", "H9", "H6", "D8 D9 C9"], ["HA HA", "HT HJ", "D7 D4"], "seat 2 cannot play 'D7 D4': it must play H6"),
        (["C4", "H9", "S4 H6", "D8 D9"], ["HA", "HT", "S6"], "hands have 2, 2, 3, 2 cards"),
        (["C4 C6", "H9 H6", "S4 H6 H8", "D8 D9 C9"], ["HA", "C6"], "seat 1 cannot play 'C6': 'C6' is not allowed"),
        (["C4", "C9", "H6", "D8 D9"], ["HA", "HT", "D7"], "'D7' is not the play that seat 2 must make (R7.3)"),
    ],
)
def test_plays_of_a_trick_are_whole_and_those_of_their_seats(hands: list[str], trick: list[str], named: str) -> None:
    """R7.2, R7.3."""
    refuses(named, hands=hands, trick=trick, leader=0)


def test_a_trick_of_which_all_else_is_forced() -> None:
    """R7.3: it is played at once; the plays that are named are those that must be made."""
    hands, trick = ["C4", "C6", "S4", "D8 D9"], ["HK", "H4", "H7"]
    game = Game(setup(hands=hands, trick=trick, leader=0))
    assert (game.phase, game.seat, game.legal) == ("follow", 3, ["D8", "D9"])
    game = Game(setup(hands=[*hands[:3], "D8 H9"], trick=trick, leader=0))
    assert (game.phase, game.seat, game.score, game.played(3)) == ("lead", 0, 0, "H9")


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"void": "1H"}, "void says 1H, but seat 1 has H9"),
        ({"void": "1C 0T"}, "void says 0T, but seat 0 has SA"),
        ({"void": "1H", "trick": ["HT"], "leader": 1, "hands": ["H5 C4", "C9", "H7 C7", "H8 C8"]}, "seat 1 has HT"),
        # A play within the suit proves nothing, and a card of another suit than the led one was there before.
        ({"void": "1H", "trick": ["HT", "H6"], "hands": ["C4", "C9", "H7 C7", "H8 C8"]}, "seat 1 has H6"),
        ({"void": "1D", "trick": ["HT", "D6"], "hands": ["C4", "C9", "H7 C7", "H8 C8"]}, "seat 1 has D6"),
        ({"no_pair": "1H"}, "no pair is said, but in live following"),
        ({"no_triple": "1H"}, "no triple is said, but in live following"),
        ({"no_pair": "1S", "rules": "dalian_dead"}, "no pair names '1S'"),
    ],
)
def test_what_a_seat_has_run_out_of(fields: dict[str, Any], named: str) -> None:
    """R7.3, R7.5."""
    refuses(named, **fields)


def test_the_play_that_proves_a_void() -> None:
    t = setup(hands=["C4", "C9", "H7 H9 C7", "H8 C8 S4"], trick=["HT HT", "H6 D6"], void="1H", leader=0)
    assert t.void[0].sum() == t.void[0, 1, 0] == 1
    assert parse(format_position(t)) == t


@pytest.mark.parametrize("phase", ["lead", "follow"])
@pytest.mark.parametrize("public", [False, True])
def test_a_kitty_with_a_joker_is_public(phase: str, public: bool) -> None:
    """R6.4, R6.5: as in the question for jokers, and as many may be put in as is known there."""
    kitty: dict[str, Any] = {"kitty_cards": "BJ C4 C5 D6", "kitty_public": public}
    hands, trick = (["C4", *JOKERS[1:]], ["HK"]) if phase == "follow" else (JOKERS, [])
    game = Game(setup(hands=hands, phase=phase, trick=trick, **kitty))
    assert (bool(game.t.kitty_public[0]), int(game.t.pickable[0])) == (True, 2)
    assert [game.sees_kitty(s) for s in range(4)] == ["C4 C5 D6 BJ"] * 4
    jokers = setup(hands=JOKERS, phase="jokers", **kitty)
    assert (bool(jokers.kitty_public[0]), int(jokers.pickable[0])) == (True, 2)
    assert parse(format_position(game.t)) == game.t


def test_a_kitty_without_one_is_not() -> None:
    game = Game(setup(hands=GOOD, kitty_cards="C4 C5 D7", dealer=2, leader=1))
    assert (bool(game.t.kitty_public[0]), int(game.t.pickable[0])) == (False, 2)
    assert [game.sees_kitty(s) for s in range(4)] == [None, None, "C4 C5 D7", None]
    assert (game.t.leader[0], game.seat) == (1, 1)
    dry = Game(setup(hands=GOOD, kitty_cards="C4 D5 BJ", dry=True))
    assert (bool(dry.t.kitty_public[0]), int(dry.t.pickable[0])) == (True, 0)


SHORT: dict[str, Any] = {"hands": ["H3 BJ", "D3 LJ", "HA DA", "S3 HK"], "kitty_cards": WET}


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"phase": phase} | field, f"{name} is said, but in phase {phase}")
        for phase, fields in {
            "show": {"dry": True, "kitty public": True, "kitty shown": True, "leader": 0, "void": "1H"},
            "bid": {"dry": True, "kitty public": True, "kitty shown": False, "played": ["S4", "", "", ""]},
            "tribute": {"dry": True, "kitty public": True, "no pair": "1H", "passes": 1},
            "bury": {"dry": True, "kitty public": True, "no triple": "1H", "leader": 2},
            "jokers": {"void": "1H", "passes": 2},
            "lead": {"seat": 0, "passes": 1},
        }.items()
        for name, value in fields.items()
        for field in [{name.replace(" ", "_"): value}]
    ],
)
def test_a_field_that_means_nothing_in_this_phase(fields: dict[str, Any], named: str) -> None:
    """It would be overwritten or forgotten."""
    refuses(named, **(SHORT | fields))


def test_a_dry_kitty_is_dry_by_the_rules() -> None:
    """R6.6."""
    begun = {"trick": ["D6"], "hands": ["C4", *SHORT["hands"][1:]]}
    for fields in ({"phase": "lead"}, {"phase": "follow"} | begun, {"phase": "jokers"}):
        refuses("dry is yes, but a kitty of S6 H4 is not (R6.6)", **(SHORT | {"dry": True} | fields))
    refuses("dry is yes, but a kitty of S3 H4 is not", hands=GOOD, rules="classic", dry=True, kitty_cards="S3 H4")
    assert setup(hands=GOOD, dry=True, kitty_cards="S3 H4").dry[0]
    seat = setup(**SHORT, phase="jokers", seat=1)
    assert (seat.phase[0], seat.dry[0]) == (Phase.JOKERS, False)


@pytest.mark.parametrize("phase", ["show", "bid", "bury", "lead"])
def test_more_cards_than_are_dealt(phase: str) -> None:
    """R1.2: the end of the bidding would move them elsewhere."""
    suits = {suit: " ".join(f"{suit}{rank} {suit}{rank} {suit}{rank}" for rank in "3456789TJQKA") for suit in "HDCS"}
    hands, kitty = [f"{cards} {suit}2" for suit, cards in suits.items()], "LJ LJ LJ BJ BJ"
    hands[0] = hands[0].replace("H2", "BJ")  # somebody must have something to decide
    assert [len(hand.split()) for hand in hands] == [37] * 4
    setup(hands=hands, kitty_cards=f"{kitty} S2", phase=phase)
    refuses("kitty has 7 cards: it has at most 6 (R1.2)", hands=hands, kitty_cards=f"{kitty} S2 S2", phase=phase)
    too_many = [*hands[:2], f"{hands[2]} H2 H2 H2", hands[3]]
    refuses("hand 2 has 40 cards with those played: a hand has at most 39", hands=too_many, phase=phase)
    if phase == "lead":
        refuses("hand 2 has 40 cards", hands=hands, played=["", "", "H2 H2 H2", ""])


@pytest.mark.parametrize("fields", [{"blood": 1}, {"level": 5}, {"levels": (3, 4)}, {"levels": (4, 3), "dealer": 1}])
def test_a_show_is_of_a_first_hand(fields: dict[str, Any]) -> None:
    """R4.2, R5.1: levels and blood come from hands before it."""
    refuses("levels and blood need a dealer", **(SHORT | {"phase": "show"} | fields))
    refuses("with first_bid auto nobody is asked", **SHORT, phase="show", rules="classic")
    assert setup(**SHORT, phase="show").phase[0] == Phase.SHOW


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"score": "5"}, "score is '5'"),
        ({"score": 5.0}, "score is 5.0"),
        ({"score": True}, "score is True"),
        ({"score": None}, "score is None"),
        ({"blood": 2.0}, "blood is 2.0"),
        ({"blood": "2"}, "blood is '2'"),
        ({"dealer": 2.0}, "dealer is 2.0"),
        ({"leader": np.float64(1)}, "leader is "),
        ({"trump": "X", "phase": "bid"}, "unknown suit 'X'"),
    ],
)
def test_numbers_are_whole_and_suits_are_suits(fields: dict[str, Any], named: str) -> None:
    refuses(named, **fields)
    assert setup(hands=GOOD, score=np.int16(35), dealer=np.int8(2)).score[0] == 35


def test_who_is_asked_at_the_tribute_and_the_burial() -> None:
    """He is who the rules say."""
    fields: dict[str, Any] = SHORT | {"phase": "tribute", "blood": 1, "dealer": 3}
    assert setup(**fields, seat=2).phase[0] == Phase.TRIBUTE
    refuses("seat is 1, but seat 2 is asked", **fields, seat=1)
    refuses("seat is 1, but seat 0 is asked", **SHORT, phase="bury", seat=1)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"bid": "1xS", "blood": 1}, "seat 0 has shown 1 S3, but 0 of these are in play"),
        ({"bid": "2xS", "bidder": 2, "hands": ["S3 H4", *GOOD[1:]], "blood": 1}, "seat 2 has shown 2 S3, but 1 of"),
        ({"hands": ["BJ H4", *GOOD[1:]], "shown": ["BJ", "", "BJ", ""], "blood": 2}, "seats 0 and 2 have shown 2 BJ"),
    ],
)
def test_cards_shown_that_are_not_there(fields: dict[str, Any], named: str) -> None:
    """R4.4."""
    refuses(named, **fields)


def test_why_a_position_cannot_be_written() -> None:
    game = Game(setup(hands=["S4 H4", "D3 C8", "HA DA", "H9 H8"], phase="tribute", dealer=3, blood=1, kitty_cards=WET))
    _written(game.t)
    game.play("2 HA")
    _written(game.t, "positions of phase return cannot be written")
    game.play(f"3 {game.legal[0]}")
    _written(game.t)
    game.play(f"3 {game.legal[0]}")
    _written(game.t, "phase bury is in the middle of a choice")
    jokers = {"hands": ["H6 S6 S7", "LJ LJ D4", "C6 C7 C8", "D9 H9 S9"], "kitty_cards": "D7 C7 H7 HT"}
    game = Game(setup(**jokers, phase="jokers"))  # type: ignore[arg-type]
    _written(game.t)
    _written(game.play("1 LJ").t, "phase jokers is in the middle of a choice")
    game.play("1 LJ")
    assert game.phase == "pickup"
    _written(game.t, "positions of phase pickup cannot be written")
    _written(Game(setup(hands=["SA", "H4", "D5", "C4"])).play("0 SA").t, "the hand is over")


def _written(t: Tables, why: str = "") -> None:
    """It is written and read back, or refused and why."""
    if why:
        with pytest.raises(PositionError, match=why):
            format_position(t)
    else:
        assert_same(t, parse(format_position(t)))


def test_a_half_made_tribute_cannot_be_written() -> None:
    """R5.1: what is forced is set aside before the question, and lies in the hand in the text."""
    hands = ["S4 C4 C6 C7", "H9 D4 D6 C8", "S7 D8 H7 S8", "BJ HA DA CA"]
    game = Game(setup(hands=hands, phase="tribute", blood=3, kitty_cards=WET))
    assert game.pending == "BJ"
    assert "hand 3: HA CA DA BJ" in format_position(game.t)
    _written(game.t)
    game.play(f"3 {game.legal[-1]}")
    assert game.phase == "tribute"
    _written(game.t, "phase tribute is in the middle of a choice")
