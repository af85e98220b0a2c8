"""The parts of a scenario of :mod:`tests.support.playthroughs`: start, rules, moves, and what it must pass through."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from gunzi_env import engine, position
from gunzi_env.rulebook import ONE_TABLE
from gunzi_env.rules import Rules
from gunzi_env.tables import NOBODY, Phase, Tables
from tests.rules.game import dealt

NEXT_HAND = "next hand"
"""A move of its own in a script: the following hand is dealt (R9.1, R9.3)."""


class Start(Protocol):
    """How a table came about."""

    def table(self, rules: Rules) -> Tables: ...

    def lines(self) -> list[str]: ...


@dataclass(frozen=True)
class Shuffled:
    """The deal of a seed: a match's first hand, or one of ``dealer``'s with these levels and blood owed."""

    seed: int
    dealer: int | None = None
    levels: tuple[int, int] = (3, 3)
    blood: int = 0

    def table(self, rules: Rules) -> Tables:
        t = Tables(rules, 1)
        engine.reset(t, self.seed, begin=False)
        if self.dealer is None:
            engine.begin_hand(t, ONE_TABLE)
        else:
            dealer, blood = np.array([self.dealer]), np.array([self.blood])
            engine.begin_hand(t, ONE_TABLE, levels=np.array([self.levels]), dealer=dealer, blood=blood)
        return t

    def lines(self) -> list[str]:
        later = "" if self.dealer is None else f", dealer {self.dealer}, levels {self.levels}, blood {self.blood}"
        return [f"deal: seed {self.seed}, table 0" + (later or ", first hand of a match")]


@dataclass(frozen=True)
class Prepared:
    """A prepared deal (:func:`tests.rules.game.dealt`)."""

    wishes: dict[str, Any]

    def table(self, rules: Rules) -> Tables:
        return dealt(rules, **self.wishes).t

    def lines(self) -> list[str]:
        return ["prepared deal:", *(f"  {key}: {value}" for key, value in self.wishes.items())]


@dataclass(frozen=True)
class Position:
    """A position set up from text (:func:`gunzi_env.position.setup`)."""

    fields: dict[str, Any]

    def table(self, rules: Rules) -> Tables:
        return position.setup(rules, **self.fields)

    def lines(self) -> list[str]:
        hands = [f"  hand {s}: {hand}" for s, hand in enumerate(self.fields["hands"])]
        rest = [f"  {key}: {value}" for key, value in self.fields.items() if key != "hands"]
        return ["position:", *rest, *hands]


@dataclass(frozen=True)
class Playthrough:
    """One transcript."""

    name: str
    shows: str
    """What it is there for, with the clause."""
    start: Start
    rules: Rules
    other: Rules
    """The same moves under these must give another transcript."""
    base: str = "dalian"
    options: tuple[str, ...] = ()
    """The options whose value it shows; none in the playthrough of a preset."""
    moves: str = ""
    """"SEAT ACTION" or NEXT_HAND, separated by semicolons."""
    must: tuple[str, ...] = ()
    """Branches (:mod:`gunzi_env.testing.laws.coverage`) or PREDICATES that it goes through."""
    key: int | None = None
    """After the script: random actions from this key; None for none."""
    until: str = "over"
    """The phase at which random actions end."""
    pass_probability: float = 0.0

    def script(self) -> tuple[str, ...]:
        """The moves, one by one."""
        return tuple(move.strip() for move in self.moves.split(";") if move.strip())


@dataclass(frozen=True)
class Way:
    """One value of an option in a scenario that all its values share."""

    label: str
    changes: dict[str, Any]
    must: tuple[str, ...]
    moves: str = ""


def ways(
    name: str, shows: str, start: Start, *values: Way, base: str = "dalian", also: tuple[str, ...] = (), **rest: Any
) -> list[Playthrough]:
    """A playthrough for each value of the option ``name`` (before a dash) and the options ``also``.

    Each is held against the next value.
    """
    rules = [dataclasses.replace(Rules.preset(base), **way.changes) for way in values]
    return [
        Playthrough(
            name=f"{name}-{way.label}",
            shows=shows,
            start=start,
            rules=rules[k],
            other=rules[(k + 1) % len(rules)],
            base=base,
            options=(name.partition("-")[0], *also),
            moves=way.moves,
            must=way.must,
            **rest,
        )
        for k, way in enumerate(values)
    ]


# The last two tricks ----------------------------------------------------------------------------------------

EMPTY = "D4 D6 C7 C8 C9 S6"
"""A kitty without points and jokers."""
END = "0 H6; 1 DQ"
"""The moves of an ``ending``."""


def ending(last: str, score: int, kitty: str = EMPTY, **fields: Any) -> Position:
    """Seat 1 takes 20 points with the first trick and leads the second: a guard or a dig by ``last``."""
    hands = ["H6 SA" if last == "guard" else "H6 D7", "HA DQ", "HK D8", "HK D9"]
    return Position({"hands": hands, "score": score, "kitty_cards": kitty, **fields})


# What no branch of gunzi_env.testing.coverage says, of a table before and after a move ------------------------------


def _over(b: Tables, a: Tables) -> bool:
    return bool(b.phase[0] != Phase.OVER and a.phase[0] == Phase.OVER)


def _goes_on(b: Tables, a: Tables) -> bool:
    return _over(b, a) and bool(a.match_winner[0] == NOBODY)


def _given(b: Tables, a: Tables) -> bool:
    return bool(b.tribute[0, 0] == 0 and a.tribute[0, 0] != 0)


def _level_card_given(a: Tables) -> bool:
    return bool(a.tribute[0, 0] & a.layout.level_cards[a.level[0]])


def _cancelled(b: Tables, a: Tables) -> bool:
    bidding_over = b.phase[0] == Phase.BID and a.phase[0] == Phase.BURY
    return bool(bidding_over and a.blood[0] > 0 and a.tribute[0, 0] == 0 and (a.shown[-1] != 0).any())


PREDICATES: dict[str, Callable[[Tables, Tables], bool]] = {
    "R9 the match goes on": _goes_on,
    "R9 nobody rises": lambda b, a: _over(b, a) and not a.gain.any(),
    "R9.1 the dealers stay": lambda b, a: _goes_on(b, a) and bool((a.next_dealer[0] ^ a.dealer[0]) & 1 == 0),
    "R9.1 the attackers take the deal": lambda b, a: _goes_on(b, a) and bool((a.next_dealer[0] ^ a.dealer[0]) & 1),
    "R9.2 the attackers rise": lambda b, a: (
        _goes_on(b, a) and bool(a.next_levels[0, 1 - a.dealer[0] % 2] > a.levels[0, 1 - a.dealer[0] % 2])
    ),
    "R9.3 a new match begins": lambda b, a: bool(b.phase[0] == Phase.OVER and a.first_hand[0]),
    "R9.6 no blood": lambda b, a: _goes_on(b, a) and bool(a.next_blood[0] == 0),
    "R9.8 the dealers keep their level": lambda b, a: _goes_on(b, a) and bool((a.next_levels == a.levels).all()),
    "R5.1 the dealer's previous player gives": lambda b, a: _given(b, a) and bool(a.giver[0] == (a.dealer[0] + 3) % 4),
    "R5.2 no level card is given": lambda b, a: _given(b, a) and not _level_card_given(a),
    "R5.5 the tribute is cancelled": _cancelled,
    "R6.2 the kitty is taken": lambda b, a: bool(b.phase[0] <= Phase.BID and a.phase[0] == Phase.BURY),
    "R6.5 the others are asked": lambda b, a: bool(b.phase[0] == Phase.BURY and a.phase[0] == Phase.JOKERS),
    "R6.5 the others are not asked": lambda b, a: bool(b.phase[0] == Phase.BURY and a.phase[0] == Phase.LEAD),
    "R4.2 shown by itself": lambda b, a: bool(
        b.phase[0] == Phase.BURY and b.first_hand[0] and b.shown[0, 0].any() and b.rules.first_bid == "auto"
    ),
}
