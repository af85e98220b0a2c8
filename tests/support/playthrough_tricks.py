"""The scenarios of :mod:`tests.support.playthroughs` that begin in play: following, result, levels, blood (R7-R9)."""

from __future__ import annotations

from typing import Any

from tests.support.playthrough_kinds import EMPTY, END, NEXT_HAND, Playthrough, Position, Way, ending, ways

# R7 ---------------------------------------------------------------------------------------------------------

_PAIR = Position({"hands": ["HK HK C4 C6", "H9 H9 HT D4", "HQ HQ HQ HJ", "H7 H8 D7 D8"], "kitty_cards": EMPTY})
_TRIPLE = Position({"hands": ["HK HK HK C4", "H9 H9 H9 HT", "HQ HQ HJ H4", "H6 H7 H8 HA"], "kitty_cards": EMPTY})
_QUAD = Position(
    {
        "hands": ["HK HK HK HK C4", "H9 H9 HT HT HJ", "HQ HQ HQ H4 H5", "H6 H7 D7 D8 D9"],
        "kitty_cards": EMPTY,
    }
)

PLAY = [
    *ways(
        "follow-pair",
        "R7.4, R7.5: a pair is led. Seat 1 has an exact pair, seat 2 a triple that need not be broken.",
        _PAIR,
        Way("live", {"follow": "live"}, ("R7.2 led 2", "R7.3 2 led, more held"), "0 HK HK; 1 HT; 1 H9; 2 HQ; 2 HJ"),
        Way("dead", {"follow": "dead"}, ("R7.2 led 2", "R7.5 2 led, demand 2"), "0 HK HK; 1 H9 H9; 2 HQ; 2 HJ"),
    ),
    *ways(
        "follow-triple",
        "R7.4, R7.5: a triple is led. Seat 1 has an exact triple, seat 2 a pair, seat 3 neither.",
        _TRIPLE,
        Way(
            "live",
            {"follow": "live"},
            ("R7.2 led 3", "R7.3 3 led, more held"),
            "0 HK HK HK; 1 H9 H9; 1 HT; 2 HQ; 2 HJ; 2 H4; 3 H8; 3 H7; 3 H6",
        ),
        Way(
            "dead",
            {"follow": "dead"},
            ("R7.5 3 led, demand 3", "R7.5 3 led, demand 2"),
            "0 HK HK HK; 1 H9 H9 H9; 2 HQ HQ; 2 HJ; 3 H8; 3 H7; 3 H6",
        ),
    ),
    *ways(
        "follow-quad",
        "R7.4, R7.5: four decks, a quad is led. Seat 1 owes two pairs, seat 2 a triple and a single.",
        _QUAD,
        Way(
            "live",
            {"follow": "live"},
            ("R7.2 led 4", "R7.3 4 led, more held"),
            "0 HK HK HK HK; 1 HT HT; 1 HJ; 1 H9; 2 HQ HQ; 2 H5; 2 H4; 3 D9; 3 D8",
        ),
        Way(
            "dead",
            {"follow": "dead"},
            ("R7.5 4 led, demand 5", "R7.5 4 led, demand 3"),
            "0 HK HK HK HK; 1 HT HT; 1 H9 H9; 2 HQ HQ HQ; 2 H4; 3 D9; 3 D8",
        ),
        base="four_deck",
    ),
]

# R9 ---------------------------------------------------------------------------------------------------------

_POINTS = "CK CT C7 C8 C9 S6"  # 20, counted twice in a dig
_STAY, _TAKEN = "R9.1 the dealers stay", "R9.1 the attackers take the deal"
_ENDED = "R9.5 all jokers of a kind"
_GOES_ON = "R9 the match goes on"


def _bound(option: str, low: int, high: int, clause: str, start: Position, must: tuple[str, str]) -> list[Playthrough]:
    """A bound of the score at two values."""
    pair = ((low, must[0]), (high, must[1]))
    return ways(option, clause, start, *(Way(str(value), {option: value}, (name,), END) for value, name in pair))


def _last_levels(name: str, shows: str, start: Position, must: dict[int, str]) -> list[Playthrough]:
    """What the same hand gives where 10, the jack or the ace is the last level."""
    labels = {10: "10", 11: "jack", 14: "ace"}
    each = ((level, {"last_level": level, "must_play": (3, level)}, wanted) for level, wanted in must.items())
    return ways(name, shows, start, *(Way(labels[level], rules, (wanted,), END) for level, rules, wanted in each))


def _must_play(name: str, shows: str, start: Position, must: dict[tuple[int, ...], str]) -> list[Playthrough]:
    each = (("_".join(map(str, levels)), {"must_play": levels}, wanted) for levels, wanted in must.items())
    return ways(name, shows, start, *(Way(label, rules, (wanted,), END) for label, rules, wanted in each))


def _jokers_end(name: str, shows: str, start: Position, must: dict[tuple[str, ...], str]) -> list[Playthrough]:
    each = (("_".join(kinds) or "neither", kinds, wanted) for kinds, wanted in must.items())
    return ways(name, shows, start, *(Way(label, {"jokers_end_match": kinds}, (w,), END) for label, kinds, w in each))


def _switch(option: str, shows: str, start: Position, no: str, yes: str, **also: Any) -> list[Playthrough]:
    """An option off and on, in the last two tricks."""
    moves = f"{END}; {NEXT_HAND}" if option == "j_reset" else END
    pair = (("no", False, no), ("yes", True, yes))
    first = option.partition("-")[0]
    return ways(option, shows, start, *(Way(w, {first: on, **also}, (must,), moves) for w, on, must in pair))


SCORES = [
    *_bound("take", 120, 130, "R9: S = 120, guarded.", ending("guard", 100), (_TAKEN, _STAY)),
    *_bound(
        "blood_low",
        80,
        100,
        "R9.6: S = 90, guarded.",
        ending("guard", 70),
        ("R9.6 no blood", "R9.6 blood for a low score"),
    ),
    *_bound(
        "blood_high",
        130,
        150,
        "R9.6: S = 150, guarded.",
        ending("guard", 130),
        ("R9.6 blood for a high score", "R9.6 no blood"),
    ),
    *_bound(
        "full_points",
        250,
        300,
        "R9.4: S = 260, dug: 20 points in the kitty count twice.",
        ending("dig", 200, _POINTS),
        ("R9.4 full score", _GOES_ON),
    ),
    *_last_levels(
        "last_level",
        "R9.2, R9.3: the dealers win a hand on 10 with a big joker in the kitty: three levels.",
        ending("guard", 80, "BJ C7 C8 C9 D6 S6", level="T", levels=("T", "6")),
        {10: "R9.3 last level left", 11: "R9.2 rise held back", 14: "R9 more than one level"},
    ),
    *_last_levels(
        "last_level-left",
        "R9.3: the dealers win a hand on the jack.",
        ending("guard", 80, level="J", levels=("J", "6")),
        {11: "R9.3 last level left", 14: _GOES_ON},
    ),
    *_must_play(
        "must_play-attackers",
        "R9.2: attackers on 3 dig.",
        ending("dig", 110, level="5", levels=("5", "3")),
        {(3, 10): "R9.2 rise held back", (10,): "R9.2 the attackers rise"},
    ),
    *_must_play(
        "must_play-dealers",
        "R9.2: dealers on 4 win with two big jokers in the kitty: five levels.",
        ending("guard", 80, "BJ BJ C7 C8 D6 S6", level="4", levels=("4", "3")),
        {(3, 10): "R9 more than one level", (3, 5, 10): "R9.2 rise held back"},
    ),
    *ways(
        "sweep_ends_match-nothing",
        "R9.4: S = 0, guarded.",
        Position({"hands": ["HA SA", "H6 DJ", "H7 D8", "H8 D9"], "kitty_cards": _POINTS}),
        Way("no", {"sweep_ends_match": False}, (_GOES_ON,), "0 HA; 0 SA"),
        Way("yes", {"sweep_ends_match": True}, ("R9.4 S = 0",), "0 HA; 0 SA"),
    ),
    *_switch(
        "sweep_ends_match-full",
        "R9.4: S = 300, dug.",
        ending("dig", 240, _POINTS),
        _GOES_ON,
        "R9.4 full score",
    ),
    *_jokers_end(
        "jokers_end_match-big_buried",
        "R9.5: all big jokers lie in the kitty, guarded with S < take.",
        ending("guard", 80, "BJ BJ BJ C7 C8 S6", level=4),
        {("big", "small"): _ENDED, (): _GOES_ON, ("big",): _ENDED, ("small",): _GOES_ON},
    ),
    *_jokers_end(
        "jokers_end_match-small_buried",
        "R9.5: all small jokers lie in the kitty, dug with S >= take.",
        ending("dig", 110, "LJ LJ LJ C7 C8 S6", level=4),
        {("big", "small"): _ENDED, ("big",): _GOES_ON, ("small",): _ENDED, (): _GOES_ON},
    ),
    *_switch(
        "score_blood_when_dug",
        "R9.6: S = 60, dug; the big joker in the kitty counts for nothing.",
        ending("dig", 40, "BJ C7 C8 C9 D6 S6"),
        "R9.6 no blood",
        "R9.6 blood for a low score",
    ),
    *_switch(
        "level_at_high",
        "R9.7: S = 150, guarded.",
        ending("guard", 130),
        "R9 nobody rises",
        "R9.7 rise without a dig",
    ),
    *_switch(
        "j_reset",
        "R9.8: dealers on the jack, the last level, are dug.",
        ending("dig", 80, level="J", levels=("J", "6")),
        "R9.8 the dealers keep their level",
        "R9.8 fallen back",
        last_level=11,
        must_play=(3, 10, 11),
    ),
]

__all__ = ["PLAY", "SCORES"]
