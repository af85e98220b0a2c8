"""The scenarios of :mod:`tests.support.playthroughs`: every preset, and every value of every option of the rules.

The values of one option share a start, so that their files differ exactly where the option matters.
"""

from __future__ import annotations

from typing import Any

from gunzi_env.rules import Rules
from tests.support.playthrough_kinds import (
    EMPTY,
    END,
    NEXT_HAND,
    Playthrough,
    Position,
    Prepared,
    Shuffled,
    Way,
    ending,
    ways,
)
from tests.support.playthrough_tricks import PLAY, SCORES

# Whole hands ------------------------------------------------------------------------------------------------

_LATER: dict[str, Any] = {"dealer": 2, "levels": (5, 7), "blood": 3}
_HANDS = {
    # preset: (held against, seed of the deal and the moves) of a first hand, of a later hand
    "dalian": (("classic", 100), ("dalian_dead", 108)),
    "dalian_dead": (("dalian", 100), ("dalian", 108)),
    "classic": (("dalian", 39), ("dalian", 147)),
    "four_deck": (("dalian", 22), ("dalian", 23)),
}
_PLAYED = ("R6.2 buried", "R7.6 ruffed")
_GIVEN = ("R4.4 opened", "R5.1 given", "R5.4 returned", "R6.5 chosen among equals")
_FIRST = "R4.2, R6, R7, R9: a match's first hand, from the deal to the result."
_LATER_HAND = "R4.4, R5, R6, R7, R9: a later hand with blood owed, through every phase, from the deal to the result."


def _presets() -> list[Playthrough]:
    found = []
    for preset, ((against, seed), (later_against, later_seed)) in _HANDS.items():
        rules: dict[str, Any] = {"rules": Rules.preset(preset), "base": preset}
        first: dict[str, Any] = {"other": Rules.preset(against), "key": seed, "pass_probability": 0.6}
        later: dict[str, Any] = {"other": Rules.preset(later_against), "key": later_seed, "pass_probability": 0.5}
        start = Shuffled(later_seed, **_LATER)
        name = f"preset-{preset}"
        found += [
            Playthrough(f"{name}-first", _FIRST, Shuffled(seed), **rules, **first, must=_PLAYED),
            Playthrough(f"{name}-later", _LATER_HAND, start, **rules, **later, must=_GIVEN + _PLAYED),
        ]
    return found


# R1, R2 -----------------------------------------------------------------------------------------------------

_FOUR = {"decks": 4, "hand_size": 52, "kitty_size": 8}
_KITTY = "H4 H6 C7 D9 DT SQ"

_CARDS = [
    *ways(
        "decks-jokers",
        "R1.2, R9.5: three big jokers in the kitty are all of three decks, not of four.",
        ending("guard", 80, "BJ BJ BJ C7 C8 S6", level=4),
        Way("3", {"decks": 3}, ("R9 guard, S < take", "R9.5 all jokers of a kind"), END),
        Way("4", _FOUR, ("R9 guard, S < take", "R9 the match goes on", "R9 more than one level"), END),
        also=("hand_size", "kitty_size"),
    ),
    *ways(
        "decks-bid",
        "R4.4: three small jokers are a bid with three decks and none with four.",
        Position(
            {
                "phase": "bid",
                "hands": ["H3 H3 S4 S7 C4 CA", "D3 D3 D3 LJ LJ LJ", "C6 C8 D4 D6 H7 H8", "C9 CJ D7 D8 HJ HQ"],
                "kitty_cards": _KITTY,
                "bid": "2xH",
                "bidder": 0,
                "seat": 1,
            }
        ),
        Way("3", {"decks": 3}, ("R4.5 small jokers bid", "R6.2 the kitty is taken"), "1 bid LJ:S"),
        Way("4", _FOUR, ("R4.5 overturned another", "R6.2 the kitty is taken"), "1 bid D x3"),
        also=("hand_size", "kitty_size"),
    ),
    *ways(
        "hand_size",
        "R1.2: the same shuffled cards dealt as 39 and 6, and as 38 and 10; up to the first lead.",
        Shuffled(27),
        Way("39", {"hand_size": 39, "kitty_size": 6}, ("R6.2 buried",)),
        Way("38", {"hand_size": 38, "kitty_size": 10}, ("R6.2 buried",)),
        also=("kitty_size",),
        key=27,
        until="follow",
    ),
    *ways(
        "mixed_trump_rank",
        "R2.6: spades are trumps at level 3. Mixed 7s rank above the ace of spades, S7 above H7 and C7.",
        Position({"hands": ["SA H4", "H7 S4", "C7 D4", "S7 D6"], "kitty_cards": EMPTY, "score": 60}),
        Way("none", {"mixed_trump_rank": None}, ("R7.3 1 led, none held",), "0 SA; 2 D4; 0 H4"),
        Way("7", {"mixed_trump_rank": 7}, ("R7.3 1 led, more held",), "0 SA; 1 H7; 3 D6"),
    ),
    *ways(
        "first_level",
        "R2.1, R9.3: the dealers leave 10 and win the match; the next one begins at the first level.",
        ending("guard", 70, level="T", levels=("T", "6")),
        *(
            Way(
                str(level),
                {"first_level": level, "must_play": (10,)},
                ("R9.3 last level left", "R9.3 a new match begins"),
                f"{END}; {NEXT_HAND}",
            )
            for level in (3, 5)
        ),
    ),
]

# R4 ---------------------------------------------------------------------------------------------------------

_BIDDING = [
    *ways(
        "first_bid",
        "R4.2: seat 2 draws the first big joker, seat 1 the next.",
        Prepared({"first": 1, "draws": {2: "BJ . BJ D9", 1: ". . BJ C4"}, "kitty": _KITTY}),
        Way("show", {"first_bid": "show"}, ("R4.2 declined", "R4.2 shown while dealing"), "2 pass; 1 show"),
        Way("auto", {"first_bid": "auto"}, ("R4.2 shown by itself",)),
        key=1,
        until="lead",
    ),
    *ways(
        "first_flip",
        "R4.3: nobody shows; 2, 3, 0 and 1 flip H4, DA, C9 and SK.",
        Prepared({"first": 2, "kitty": "H4 DA C9 SK H5 H6"}),
        Way("high", {"first_flip": "high"}, ("R4.3 flipped", "R6.1 kitty hidden")),
        Way("low", {"first_flip": "low"}, ("R4.3 flipped", "R6.1 kitty hidden")),
        key=2,
        until="lead",
        pass_probability=1.0,
    ),
    *ways(
        "jokers_may_open",
        "R4.4: seat 1 holds all small jokers and one level card, and nobody has bid.",
        Position(
            {
                "phase": "bid",
                "hands": ["H4 S4 CA HA", "H3 LJ LJ LJ", "BJ BJ BJ D4", "S3 S3 C8 D8"],
                "kitty_cards": _KITTY,
                "seat": 1,
            }
        ),
        Way(
            "no",
            {"jokers_may_open": False},
            ("R4.4 opened", "R4.5 overturned another"),
            "1 bid H x1; 2 pass; 3 bid S x2; 1 pass; 2 pass",
        ),
        Way(
            "yes",
            {"jokers_may_open": True},
            ("R4.4 opened with jokers", "R4.6 passed in the window"),
            "1 bid LJ:D; 2 pass",
        ),
    ),
    *ways(
        "jokers_may_open-alone",
        "R4.4, R4.7: seat 1 holds all small jokers and no level card; 0 and 3 do not bid.",
        Position(
            {
                "phase": "bid",
                "hands": ["H3 H4 S4 CA", "LJ LJ LJ C6", "D4 D6 D7 D8", "S3 C8 C9 S6"],
                "kitty_cards": _KITTY,
                "seat": 0,
            }
        ),
        Way("no", {"jokers_may_open": False}, ("R4.7 turned up", "R6.1 kitty hidden"), "0 pass; 3 pass"),
        Way("yes", {"jokers_may_open": True}, ("R4.4 opened with jokers",), "0 pass; 1 bid LJ:D"),
    ),
]

# R5 ---------------------------------------------------------------------------------------------------------

_EIGHT = "S7 H7 C7 D7 S8 H8 C8 D8"
_ALL_FOUR = "BJ BJ BJ BJ"


def _exemption(holder: int) -> Position:
    """Two cards owed by seat 3 to the dealer, seat 0; ``holder`` passes as the last, which ends the bidding."""
    hands = ["S3 SA HA DA C6 HK", "C4 C5 C9 CT CJ CQ", "D4 D5 D6 D9 DT DJ", "H4 H6 H9 HJ SJ SQ"]
    hands[holder] = f"{_ALL_FOUR} {hands[holder][:5]}"
    bidding = {"phase": "bid", "bid": "1xS", "bidder": 0, "seat": holder, "passes": 3}
    return Position({"hands": hands, "blood": 2, "kitty_cards": _EIGHT, **bidding})


_TRIBUTE = [
    *ways(
        "tribute_level_points",
        "R5.2: level 10, two cards owed; seat 3 has two tens.",
        Position(
            {
                "phase": "bid",
                "level": "T",
                "hands": ["ST C4 D4 C6 DQ", "C8 C9 D6 D7 DA", "H4 H6 H7 D8 CQ", "HT HT SA SK H9"],
                "kitty_cards": _KITTY,
                "blood": 2,
                "bid": "1xS",
                "bidder": 0,
                "seat": 3,
                "passes": 3,
            }
        ),
        Way("yes", {"tribute_level_points": True}, ("R5.2 level cards worth points given",), "3 pass"),
        Way("no", {"tribute_level_points": False}, ("R5.1 given", "R5.2 no level card is given"), "3 pass"),
        key=3,
        until="bury",
    ),
    *ways(
        "anti_tribute-reversed",
        "R5.5: the giver, seat 3, holds all big jokers: the dealer gives him two cards, and he returns two.",
        _exemption(3),
        Way("no", {"anti_tribute": False}, ("R5.1 given", "R5.1 the dealer's previous player gives"), "3 pass"),
        Way("yes", {"anti_tribute": True}, ("R5.5 tribute reversed", "R5.1 given"), "3 pass"),
        base="four_deck",
        key=4,
        until="bury",
    ),
    *ways(
        "anti_tribute-cancelled",
        "R5.5: the giver's partner, seat 1, holds all big jokers: no tribute.",
        _exemption(1),
        Way("no", {"anti_tribute": False}, ("R5.1 given", "R5.1 the dealer's previous player gives"), "1 pass"),
        Way("yes", {"anti_tribute": True}, ("R5.5 the tribute is cancelled",), "1 pass"),
        base="four_deck",
        key=4,
        until="bury",
    ),
]

# R6 ---------------------------------------------------------------------------------------------------------

_JOKERS = Position(
    {
        "phase": "bury",
        "hands": ["HA HK C9 S9", "BJ LJ C4 C6", "D6 D8 DJ LJ", "D7 D9 CQ CJ"],
        "kitty_cards": "H4 D4 C7 SQ",
    }
)


def _last_bid(kitty: str) -> Position:
    """The bidding ends with a pass: spades are trumps and the kitty is shown."""
    hands = ["S3 S4 C4 CA", "H3 H3 C6 C8", "D4 D6 H7 H8", "D7 D8 HJ HQ"]
    bidding = {"phase": "bid", "bid": "1xS", "bidder": 0, "seat": 1, "passes": 3}
    return Position({"hands": hands, "kitty_cards": kitty, **bidding})


_KITTIES = [
    *ways(
        "others_bury",
        "R6.5: two others hold jokers when the dealer has buried four side cards without points.",
        _JOKERS,
        Way(
            "yes",
            {"others_bury": True},
            ("R6.5 big joker put in", "R6.5 small joker put in"),
            "0 D4; 0 C9; 0 C7; 0 H4; 1 BJ; 1 LJ; 2 LJ",
        ),
        Way("no", {"others_bury": False}, ("R6.5 the others are not asked",), "0 D4; 0 C9; 0 C7; 0 H4"),
    ),
    *ways(
        "others_bury_block",
        "R6.5: the dealer buries a king and three cards that could be picked up.",
        _JOKERS,
        Way(
            "no_pickable",
            {"others_bury_block": "no_pickable"},
            ("R6.5 the others are asked", "R6.5 big joker put in", "R6.5 chosen among equals"),
            "0 D4; 0 C9; 0 HK; 0 H4; 1 BJ; 1 pass; 1 H4; 2 pass",
        ),
        Way(
            "any_points",
            {"others_bury_block": "any_points"},
            ("R6.5 the others are not asked",),
            "0 D4; 0 C9; 0 HK; 0 H4",
        ),
    ),
    *ways(
        "dry_pot-level_card",
        "R6.6: side cards and an off-suit level card, which is a trump but neither ordinary nor permanent.",
        _last_bid("H4 H6 C7 D9 DT D3"),
        Way("ordinary_trump", {"dry_pot": "ordinary_trump"}, ("R6.6 dry",), "1 pass"),
        Way("permanent_neutral", {"dry_pot": "permanent_neutral"}, ("R6.2 the kitty is taken",), "1 pass"),
        key=6,
        until="follow",
    ),
    *ways(
        "dry_pot-side_cards",
        "R6.6: side cards alone are dry in either reading.",
        _last_bid("H4 H6 C7 D9 DT DQ"),
        Way("permanent_neutral", {"dry_pot": "permanent_neutral"}, ("R6.6 dry",), "1 pass"),
        Way("none", {"dry_pot": None}, ("R6.2 the kitty is taken",), "1 pass"),
        key=6,
        until="follow",
    ),
    *ways(
        "dry_pot_first_hand",
        "R6.6: a match's first hand; a joker is shown in the closing window, and the kitty is all trumps.",
        Position(
            {
                "phase": "show",
                "hands": ["BJ S4 C4", "D4 D6 C6", "C8 C9 D7", "S6 S7 D8"],
                "kitty_cards": "H4 H6 H7 H9 H2 LJ",
            }
        ),
        Way("yes", {"dry_pot_first_hand": True}, ("R4.2 shown in the window", "R6.6 dry"), "0 show"),
        Way("no", {"dry_pot_first_hand": False}, ("R4.2 shown in the window", "R6.2 the kitty is taken"), "0 show"),
        key=7,
        until="follow",
    ),
]

SCENARIOS = [*_presets(), *_CARDS, *_BIDDING, *_TRIBUTE, *_KITTIES, *PLAY, *SCORES]
"""All playthroughs, each with a name of its own."""

__all__ = ["SCENARIOS"]
