"""The rules as a value: every option of RULES.md, its default, and the presets of R10.

>>> Rules.preset("classic").first_flip
'low'
>>> Rules(take=125)
Traceback (most recent call last):
    ...
gunzi_env.rules.RulesError: take is 125: scores are multiples of 5 and the bound must be a multiple of 10
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from gunzi_env import order
from gunzi_env.cards import ACE, NUM_FACES, POINTS_PER_DECK, rank_name

JACK = 11
MIN_KITTY = 4
"""R1.2: four players flip one card each (R4.3)."""
MAX_HAND = 120
"""Counters of cards are small integers."""


class RulesError(ValueError):
    """Rules that contradict themselves, or that cannot be read; the message names the field."""

    exit_code = 2


@dataclass(frozen=True, kw_only=True)
class Rules:
    """One way of playing Da Gunzi. Immutable and checked; the defaults are the preset ``dalian``."""

    decks: int = 3
    """R1.2: 3 or 4."""
    hand_size: int = 39
    """R1.2: cards a hand; ``hand_size * 4 + kitty_size`` must be all cards."""
    kitty_size: int = 6
    """R1.2: cards in the kitty, at least 4."""
    take: int = 120
    """R9: from this score on the attackers take the deal."""
    blood_low: int = 80
    """R9.6: blood is owed for every 10 points below this."""
    blood_high: int = 150
    """R9.6: blood is owed for every full 10 points above this."""
    full_points: int = 300
    """R9.4: from this score on the attackers win the match."""
    first_level: int = 3
    """R2.1."""
    last_level: int = 10
    """R2.1, R9.3: leaving it wins the match."""
    must_play: tuple[int, ...] = (3, 10)
    """R9.2: levels that only the dealers can leave, and that no rise jumps over."""
    first_bid: Literal["show", "auto"] = "show"
    """R4.2: the first big joker may be shown, or is shown by itself."""
    first_flip: Literal["high", "low"] = "high"
    """R4.3: which flipped card makes the dealer."""
    jokers_may_open: bool = False
    """R4.4: may jokers be the first bid?"""
    mixed_trump_rank: int | None = None
    """R2.6: a rank 4..13 that is trump between the 2s and the level cards."""
    tribute_level_points: bool = True
    """R5.2: level cards are given although the level is worth points."""
    anti_tribute: bool = False
    """R5.5: all big jokers with the giver turn the tribute round, with his partner cancel it."""
    others_bury: bool = True
    """R6.5: may the others bury jokers?"""
    others_bury_block: Literal["no_pickable", "any_points"] = "no_pickable"
    """R6.5: when the others may not bury."""
    dry_pot: Literal["ordinary_trump", "permanent_neutral"] | None = "ordinary_trump"
    """R6.6: which shown kitty is dry; None for no dry pot."""
    dry_pot_first_hand: bool = True
    """R6.6: is there a dry pot in the first hand of a match?"""
    follow: Literal["live", "dead"] = "live"
    """R7.4, R7.5: does the shape bind those who follow?"""
    sweep_ends_match: bool = True
    """R9.4: do a score of 0 and a full score end the match?"""
    jokers_end_match: tuple[Literal["big", "small"], ...] = ("big", "small")
    """R9.5: jokers of which kind, all of them in the kitty, end the match."""
    score_blood_when_dug: bool = True
    """R9.6: does the score part stand when the score is low and the kitty was dug?"""
    level_at_high: bool = False
    """R9.7: does a score of ``blood_high`` rise without a dig?"""
    j_reset: bool = False
    """R9.8: dealers on the jack who are dug fall back to the first level."""
    name: str = field(default="custom", compare=False)
    """The preset's name; rules with other values are "custom"."""

    def __post_init__(self) -> None:
        _check_types(self)
        _check_sizes(self)
        _check_levels(self)
        object.__setattr__(self, "must_play", tuple(sorted(set(self.must_play))))
        object.__setattr__(self, "jokers_end_match", tuple(sorted(set(self.jokers_end_match))))
        values = self.as_dict()
        names = (name for name, preset in _PRESETS.items() if _with_defaults(preset) == values)
        object.__setattr__(self, "name", next(names, "custom"))

    @classmethod
    def preset(cls, name: str) -> Rules:
        """The preset of R10 with this name; :class:`RulesError` names the known ones."""
        if name not in _PRESETS:
            raise RulesError(f"unknown preset {name!r}: the presets are {', '.join(_PRESETS)}")
        return cls(**_PRESETS[name])

    @classmethod
    def presets(cls) -> tuple[str, ...]:
        """The names of the presets."""
        return tuple(_PRESETS)

    @classmethod
    def from_dict(cls, values: dict[str, Any], base: str = "dalian") -> Rules:
        """The preset ``base`` with some fields changed; lists serve for tuples, ``"none"`` for None."""
        known = [f.name for f in fields(cls) if f.name != "name"]
        unknown = [key for key in values if key not in known]
        if unknown:
            raise RulesError(f"unknown option {unknown[0]!r}: the options are {', '.join(known)}")
        clean = {k: tuple(v) if isinstance(v, list) else None if v == "none" else v for k, v in values.items()}
        return dataclasses.replace(cls.preset(base), **clean)  # type: ignore[arg-type]  # __post_init__ checks

    @classmethod
    def from_toml(cls, path: str | Path) -> Rules:
        """Rules from a TOML file: a key ``preset`` (default ``dalian``) and the options that differ from it."""
        try:
            values = tomllib.loads(Path(path).read_text("utf-8-sig"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise RulesError(f"cannot read rules from {path}: {error}") from None
        base = values.pop("preset", "dalian")
        if not isinstance(base, str):
            raise RulesError(f"preset is {base!r}: it must be one of {', '.join(_PRESETS)}")
        return cls.from_dict(values, base)

    def as_dict(self) -> dict[str, Any]:
        """Every option by name, in plain JSON types (``name`` left out)."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "name"}
        return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}

    @property
    def digest(self) -> str:
        """16 hexadecimal digits that differ between different rules."""
        return hashlib.sha256(json.dumps(self.as_dict(), sort_keys=True).encode()).hexdigest()[:16]

    @property
    def layout(self) -> order.Layout:
        """The order of slots in every hand of these rules, by level and trump suit (R2, R2.6)."""
        return order.layout(self.mixed_trump_rank)  # cached there; a cached property would be pickled with the rules

    @property
    def num_cards(self) -> int:
        """All cards: 54 a deck."""
        return NUM_FACES * self.decks

    @property
    def total_points(self) -> int:
        """R1.4: 100 a deck."""
        return POINTS_PER_DECK * self.decks

    @property
    def num_dealt(self) -> int:
        """Cards that are dealt to hands; the rest is the kitty."""
        return 4 * self.hand_size

    @property
    def max_score(self) -> int:
        """R8.4: all points taken, those of the kitty twice: at best it holds tens and kings, then fives."""
        tens = min(self.kitty_size, 8 * self.decks)
        fives = min(self.kitty_size - tens, 4 * self.decks)
        return self.total_points + 10 * tens + 5 * fives

    @property
    def max_blood(self) -> int:
        """R9.6: no hand leaves more blood, not even with all jokers in the kitty."""
        by_score = max(self.blood_low, self.max_score - self.blood_high) // 10
        return by_score + 3 * self.decks


_DEALT_FOUR = {"decks": 4, "hand_size": 52, "kitty_size": 8}
_SCORES_FOUR = {"take": 160, "blood_low": 120, "blood_high": 200, "full_points": 400}

_PRESETS: dict[str, dict[str, Any]] = {
    "dalian": {},
    "dalian_dead": {"follow": "dead"},
    "classic": {
        "first_bid": "auto",
        "first_flip": "low",
        "jokers_may_open": True,
        "dry_pot": "permanent_neutral",
    },
    "four_deck": _DEALT_FOUR
    | _SCORES_FOUR
    | {
        "first_flip": "low",
        "follow": "dead",
        "dry_pot": "permanent_neutral",
        "anti_tribute": True,
        "score_blood_when_dug": False,
        "jokers_end_match": ("big",),
    },
}
"""R10: what each preset changes."""


def _with_defaults(changes: dict[str, Any]) -> dict[str, Any]:
    values = {f.name: changes.get(f.name, f.default) for f in fields(Rules) if f.name != "name"}
    return {k: sorted(v) if isinstance(v, tuple) else v for k, v in values.items()}


def load_rules(rules: str | Path | Rules) -> Rules:
    """``Rules`` from a preset's name, the path of a TOML file, or ``Rules`` themselves."""
    if isinstance(rules, Rules):
        return rules
    if isinstance(rules, Path) or (isinstance(rules, str) and rules.endswith(".toml")):
        return Rules.from_toml(rules)
    if isinstance(rules, str):
        if "/" in rules or "\\" in rules:
            raise RulesError(f"{rules!r} is no rules file: its name must end in .toml")
        return Rules.preset(rules)
    raise RulesError(f"rules are {rules!r}: give a preset ({', '.join(_PRESETS)}), the path of a .toml file, or Rules")


def _check_types(rules: Rules) -> None:
    hints = get_type_hints(Rules)
    for f in fields(Rules):
        value = getattr(rules, f.name)
        if not _fits(value, hints[f.name]):
            raise RulesError(f"{f.name} is {value!r}: it must be {_described(hints[f.name])}")


def _fits(value: object, hint: Any) -> bool:
    """Is ``value`` of the type ``hint``? A bool is no int here, and a list no tuple."""
    parts = get_args(hint)
    if get_origin(hint) is Literal:
        return isinstance(value, str) and value in parts
    if get_origin(hint) is tuple:
        return isinstance(value, tuple) and all(_fits(item, parts[0]) for item in value)
    if parts:  # a union
        return any(_fits(value, part) for part in parts)
    return type(value) is hint


def _described(hint: Any) -> str:
    """A type in words, for an error message."""
    parts = get_args(hint)
    if get_origin(hint) is Literal:
        return " or ".join(map(repr, parts))
    if get_origin(hint) is tuple:
        return f"a list, each {_described(parts[0])}"
    if parts:
        return " or ".join(map(_described, parts))
    return "none" if hint is NoneType else f"of type {hint.__name__}"


def _check_sizes(rules: Rules) -> None:
    if rules.decks not in (3, 4):
        raise RulesError(f"decks is {rules.decks}: the game is played with 3 or 4")
    if not (1 <= rules.hand_size <= MAX_HAND and rules.kitty_size >= MIN_KITTY):
        raise RulesError(
            f"hand_size is {rules.hand_size} and kitty_size {rules.kitty_size}: "
            f"a hand has 1 to {MAX_HAND} cards, a kitty at least {MIN_KITTY}"
        )
    if rules.num_dealt + rules.kitty_size != rules.num_cards:
        raise RulesError(
            f"hand_size {rules.hand_size} x 4 + kitty_size {rules.kitty_size} "
            f"must be the {rules.num_cards} cards of decks {rules.decks}"
        )
    for name in ("take", "blood_low", "blood_high", "full_points"):
        value = getattr(rules, name)
        if value % 10 or value < 0:
            raise RulesError(f"{name} is {value}: scores are multiples of 5 and the bound must be a multiple of 10")
    if not 0 < rules.take <= rules.full_points <= rules.max_score:
        raise RulesError(
            f"take is {rules.take} and full_points {rules.full_points}: "
            f"0 < take <= full_points <= {rules.max_score} must hold"
        )
    if not rules.blood_low <= rules.take <= rules.blood_high:
        # R9.6: blood is owed by the side that does not deal next, so below take and above it never mix.
        raise RulesError(f"blood_low {rules.blood_low} <= take {rules.take} <= blood_high {rules.blood_high} must hold")


def _check_levels(rules: Rules) -> None:
    if not 3 <= rules.first_level <= rules.last_level <= ACE:
        raise RulesError(
            f"first_level {rules.first_level} and last_level {rules.last_level} must be within 3..{ACE} in order"
        )
    outside = [level for level in rules.must_play if not rules.first_level <= level <= rules.last_level]
    if outside:
        raise RulesError(f"must_play names {outside[0]}, outside {rules.first_level}..{rules.last_level}")
    if rules.last_level not in rules.must_play:
        raise RulesError(f"must_play must name last_level {rules.last_level} (R9.3)")
    if rules.mixed_trump_rank is not None and not 4 <= rules.mixed_trump_rank < ACE:
        raise RulesError(f"mixed_trump_rank is {rules.mixed_trump_rank}: it must be none or from 4 to 13 (the king)")
    if rules.j_reset and rules.last_level != JACK:
        raise RulesError(f"j_reset needs last_level {JACK} ({rank_name(JACK)}), it is {rules.last_level} (R9.8)")
