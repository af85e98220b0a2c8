"""What a finished hand means, in plain words with the clauses of docs/rules.md."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gunzi_env.cards import format_cards, rank_name
from gunzi_env.order import BIG_JOKER_SLOT, SMALL_JOKER_SLOT, to_faces
from gunzi_env.planes import Words, to_counts
from gunzi_env.rules import Rules
from gunzi_env.tables import KITTY, Tables


@dataclass(frozen=True)
class Outcome:
    """A finished hand of one table, in plain numbers; teams are 0 for seats 0 and 2, 1 for seats 1 and 3."""

    rules: Rules
    score: int
    dug: bool
    dealer: int
    dry: bool
    kitty: str
    kitty_points: int
    big: int
    small: int
    levels: tuple[int, int]
    gain: tuple[int, int]
    next_levels: tuple[int, int]
    next_dealer: int
    blood: int
    match_winner: int

    @classmethod
    def of(cls, tables: Tables, n: int = 0) -> Outcome:
        """The outcome of table ``n``, whose hand must be over."""
        copies = to_counts(tables.planes[:, n, KITTY])
        points = tables.layout.points[tables.level[n]]
        return cls(
            rules=tables.rules,
            score=int(tables.score[n]),
            dug=bool(tables.dug[n]),
            dealer=int(tables.dealer[n]),
            dry=bool(tables.dry[n]),
            kitty=cards_text(tables, n, tables.planes[:, n, KITTY]),
            kitty_points=int(copies @ points.astype(np.int64)),
            big=int(copies[BIG_JOKER_SLOT]),
            small=int(copies[SMALL_JOKER_SLOT]),
            levels=(int(tables.levels[n, 0]), int(tables.levels[n, 1])),
            gain=(int(tables.gain[n, 0]), int(tables.gain[n, 1])),
            next_levels=(int(tables.next_levels[n, 0]), int(tables.next_levels[n, 1])),
            next_dealer=int(tables.next_dealer[n]),
            blood=int(tables.next_blood[n]),
            match_winner=int(tables.match_winner[n]),
        )

    @property
    def dealers(self) -> int:
        """The dealing team."""
        return self.dealer & 1

    @property
    def attackers_win(self) -> bool:
        """R9: S against take."""
        return self.score >= self.rules.take

    @property
    def jokers(self) -> int:
        """R9's J: a big joker counts two, a small one one; none in a dry pot."""
        return 0 if self.dry else 2 * self.big + self.small


def cards_text(tables: Tables, n: int, planes: Words) -> str:
    """The cards of ``uint64[D]`` at table ``n``, strongest first, as text."""
    copies = to_counts(planes)
    slots = [slot for slot in range(len(copies) - 1, -1, -1) for _ in range(int(copies[slot]))]
    return format_cards(to_faces(tables.layout, int(tables.level[n]), tables.trump_or_provisional(n), slots))


def team_name(team: int) -> str:
    """A team by its seats.

    >>> team_name(1)
    'seats 1 and 3'
    """
    return f"seats {team} and {team + 2}"


def sentences(hand: Outcome) -> list[str]:
    """The result in sentences, one an item."""
    return [_tricks(hand), _verdict(hand), *_levels(hand), *_after(hand)]


def _tricks(hand: Outcome) -> str:
    attackers, points = team_name(1 - hand.dealers), hand.kitty_points
    taken = hand.score - (2 * points if hand.dug else 0)
    start = f"The attackers ({attackers}) took {taken} points in tricks"
    holds = f"It holds {hand.kitty}, {points} points"
    if hand.dug:
        dig = "and won the last trick: they dig the kitty and add its points twice (R8.2)"
        return f"{start} {dig}. {holds}: S = {hand.score}."
    guard = "The dealers won the last trick and guard the kitty (R8.3)"
    return f"{start}. {guard}. {holds}{', which count for nobody' if points else ''}: S = {hand.score}."


def _verdict(hand: Outcome) -> str:
    sign, take = (">=" if hand.attackers_win else "<"), hand.rules.take
    if hand.attackers_win:
        return f"S {sign} {take}: the attackers take the deal (R9)."
    return f"S {sign} {take}: the dealers ({team_name(hand.dealers)}) stay (R9)."


def _levels(hand: Outcome) -> list[str]:
    lines = []
    if hand.big or hand.small:
        kinds = [f"{n} {kind} joker{'s' * (n > 1)}" for n, kind in ((hand.big, "big"), (hand.small, "small")) if n]
        what = f"The kitty holds {' and '.join(kinds)}"
        lines.append(
            f"{what}, but a dry pot's jokers count for nothing (R6.6)."
            if hand.dry
            else f"{what}: J = {hand.jokers} (R9)."
        )
    elif hand.dry:
        lines.append("The pot was dry: the kitty was not exchanged (R6.6).")
    if hand.match_winner < 0:
        lines += [_rise(hand), *_fall(hand)]
    return lines


def _rise(hand: Outcome) -> str:
    risen = next((team for team in (0, 1) if hand.gain[team]), None)
    high = hand.rules.level_at_high  # R9.7
    if risen is None:
        needed = "dealers rise only by a guard"
        if hand.attackers_win:
            needed = "attackers rise only by a dig" + (f" or by S >= {hand.rules.blood_high}" if high else "")
        return f"Nobody's level rises: {needed} ({'R9, R9.7' if high and hand.attackers_win else 'R9'})."
    gain, old, new = hand.gain[risen], hand.levels[risen], hand.next_levels[risen]
    why = "R9" if hand.dug or not hand.attackers_win else f"S >= {hand.rules.blood_high}, R9.7"
    text = f"Level: +{gain} for {team_name(risen)} ({why}), {rank_name(old)} to {rank_name(new)}"
    return f"{text}; a must-play level holds the rise (R9.2)." if new != old + gain else f"{text}."


def _fall(hand: Outcome) -> list[str]:
    """R9.8: it comes on top of what the other side gains."""
    fallen = [team for team in (0, 1) if hand.next_levels[team] < hand.levels[team]]
    return [
        f"{team_name(team).capitalize()} were dug on the last level and fall back to "
        f"{rank_name(hand.next_levels[team])} (R9.8)."
        for team in fallen
    ]


def _after(hand: Outcome) -> list[str]:
    if hand.match_winner >= 0:
        return [f"The match is over: {team_name(hand.match_winner)} win it ({_ending(hand)})."]
    who = "the dealer's next player" if hand.attackers_win else "the dealer's partner"
    lines = [f"The next dealer is seat {hand.next_dealer}, {who} (R9.1)."]
    if not hand.blood:
        return [*lines, "No blood is owed (R9.6)."]
    owed = f"{hand.blood} blood: {hand.blood} card{'s' * (hand.blood > 1)} of tribute in the next hand (R9.6, R5.1)"
    return [*lines, f"The side that does not deal owes {owed}."]


def _ending(hand: Outcome) -> str:
    rules = hand.rules
    if rules.sweep_ends_match and hand.score == 0:
        return "S = 0, R9.4"
    if rules.sweep_ends_match and hand.score >= rules.full_points:
        return f"S >= {rules.full_points}, R9.4"
    kinds = (("big", hand.big), ("small", hand.small))
    if not hand.dry and any(number == rules.decks and kind in rules.jokers_end_match for kind, number in kinds):
        return "all jokers of a kind in the kitty, R9.5"
    return f"they leave level {rank_name(rules.last_level)}, R9.3"
