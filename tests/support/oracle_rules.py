"""What the oracle says of single questions: order, shapes, who wins, what is legal, what a hand is worth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

LJ, BJ = 52, 53
SUITS, RANKS = "SHCD", "23456789TJQKA"
EVERYBODY = {0, 1, 2, 3}
Suit = int | str  # 0..3 for a side suit, "T" for trump


def text(face: int) -> str:
    return {LJ: "LJ", BJ: "BJ"}.get(face) or SUITS[face // 13] + RANKS[face % 13]


def face(token: str) -> int:
    """The face of a text such as "HT"; ValueError for anything else."""
    if token in ("LJ", "BJ"):
        return LJ if token == "LJ" else BJ
    if len(token) != 2 or token[0] not in SUITS or token[1] not in RANKS:
        raise ValueError(f"no card: {token!r}")
    return SUITS.index(token[0]) * 13 + RANKS.index(token[1])


def faces(words: str) -> list[int]:
    return sorted(face(token) for token in words.split())


def rank_of(card: int) -> int | None:
    return None if card >= LJ else card % 13 + 2


def points(card: int) -> int:
    """R1.4."""
    return {5: 5, 10: 10, 13: 10}.get(rank_of(card) or 0, 0)


class Order:
    """R2.2-3 for one level and trump suit: `suit[f]`, `power[f]` (equal means equal strength or rank) and `slot[f]`.

    A side card's power is its rank and every trump's is higher, so that powers order tribute and pick-up as well.
    """

    def __init__(self, mixed: int | None, level: int, trump: int) -> None:
        special = [2, level]
        if mixed is not None and mixed != level:
            special.insert(1, mixed)  # R2.6
        side_suits = [s for s in range(4) if s != trump]
        plain = [r for r in range(3, 15) if r not in special]
        groups = [[trump * 13 + r - 2] for r in plain]
        for r in special:
            groups += [[s * 13 + r - 2 for s in side_suits], [trump * 13 + r - 2]]
        groups += [[LJ], [BJ]]
        self.suit: dict[int, Suit] = {s * 13 + r - 2: s for s in side_suits for r in plain}
        self.power: dict[int, int] = {card: card % 13 + 2 for card in self.suit}
        for strength, group in enumerate(groups):
            for card in group:
                self.suit[card], self.power[card] = "T", 100 + strength
        in_slots = [s * 13 + r - 2 for s in side_suits for r in plain] + [card for group in groups for card in group]
        self.slot = {card: i for i, card in enumerate(in_slots)}
        self.trump = trump
        self.ordinary = {trump * 13 + r - 2 for r in plain}

    def groups(self, cards: Iterable[int]) -> list[list[int]]:
        """The cards in groups of equals, weakest group first."""
        found: dict[int, list[int]] = {}
        for card in sorted(cards):
            found.setdefault(self.power[card], []).append(card)
        return [found[p] for p in sorted(found)]


@cache
def _order(mixed: int | None, level: int, trump: int) -> Order:
    return Order(mixed, level, trump)


def order_of(rules: Any, level: int, trump: int) -> Order:
    return _order(rules.mixed_trump_rank, level, trump)


def strength_order(rules: Any, level: int, trump: int) -> list[list[int]]:
    """All 54 faces, weakest first, equals in one group (side cards of one rank are equals), trumps last."""
    return order_of(rules, level, trump).groups(range(54))


def is_dry(rules: Any, level: int, trump: int, kitty: Sequence[int]) -> bool:
    """R6.6, for a kitty that was shown."""
    order = order_of(rules, level, trump)
    if rules.dry_pot is None:
        return False
    if all(order.suit[card] == "T" for card in kitty):
        return True
    ordinary = any(card in order.ordinary for card in kitty)
    if rules.dry_pot == "ordinary_trump":
        return not ordinary
    return not ordinary and not any(rank_of(card) == level for card in kitty)


def trick_winner(rules: Any, level: int, trump: int, plays: Sequence[Sequence[int]]) -> int:
    """R7.6: which play wins, 0 being the lead."""
    order = order_of(rules, level, trump)
    best = 0
    for i, play in enumerate(plays):
        can_win = len(set(play)) == 1 and order.suit[play[0]] in ("T", order.suit[plays[0][0]])
        if can_win and order.power[play[0]] > order.power[plays[best][0]]:  # equals lose to the earlier (R2.5)
            best = i
    return best


def shape_owed_is_played(held: Counter[int], play: Counter[int], n: int) -> bool:
    """R7.5 for a seat whose cards of the led suit are `held`, at least n of them."""
    exact = Counter(held.values())  # exact[k]: how many faces are held exactly k times
    pattern = sorted(play.values(), reverse=True)
    if n == 2:
        return pattern == [2] or not exact[2]
    if n == 3:
        return pattern == [3] if exact[3] else pattern[0] >= 2 or not exact[2]
    if n == 4:
        for owed, binds in (([4], exact[4]), ([3, 1], exact[3]), ([2, 2], exact[2] >= 2), ([2, 1, 1], exact[2])):
            if binds:
                return pattern == owed
    return True


def sub_multisets(cards: Sequence[int], n: int) -> Iterator[tuple[int, ...]]:
    """All different sorted n-card selections, each once."""
    counts = sorted(Counter(cards).items())

    def choose(i: int, left: int) -> Iterator[tuple[int, ...]]:
        if left == 0:
            yield ()
        elif i < len(counts):
            card, held = counts[i]
            for m in range(min(held, left) + 1):
                for rest in choose(i + 1, left - m):
                    yield (card,) * m + rest

    return choose(0, n)


def legal_plays(
    rules: Any, level: int, trump: int, hand: Sequence[int], lead: Sequence[int] | None
) -> set[tuple[int, ...]]:
    """Every whole play allowed by R7.2-5, by trying all selections of cards."""
    order = order_of(rules, level, trump)
    if not lead:
        sizes = range(1, rules.decks + 1)
        return {play for n in sizes for play in sub_multisets(hand, n) if len(set(play)) == 1}
    n, led = len(lead), order.suit[lead[0]]
    held = [card for card in hand if order.suit[card] == led]

    def allowed(play: tuple[int, ...]) -> bool:
        if sum(order.suit[card] == led for card in play) != min(n, len(held)):
            return False
        if rules.follow == "live" or len(held) < n:
            return True
        return shape_owed_is_played(Counter(held), Counter(play), n)

    return {play for play in sub_multisets(hand, n) if allowed(play)}


def _raised(rules: Any, level: int, gain: int, may_leave: bool) -> int:
    """R9.2; last_level + 1 means that the team has left the last level (R9.3)."""
    if gain == 0 or (level in rules.must_play and not may_leave):
        return level
    if level == rules.last_level:
        return level + 1
    ends: list[int] = [m for m in rules.must_play if m > level]
    return min([level + gain, *ends])


def _blood(rules: Any, score: int, dug: bool, jokers: int) -> int:
    """R9.6 and the table of R9."""
    owed: int = 0
    if score < rules.blood_low and (not dug or rules.score_blood_when_dug):
        owed = -(-(rules.blood_low - score) // 10)
    if score > rules.blood_high:
        owed = (score - rules.blood_high) // 10
    return owed + (0 if score < rules.take and dug else jokers)


def settle(
    rules: Any, score: int, dug: bool, big: int, small: int, dry: bool, levels: tuple[int, int], dealer: int
) -> dict[str, Any]:
    """R9. `score` includes the dig. With a match_winner, next_dealer and blood are None and the levels are void."""
    jokers = 0 if dry else 2 * big + small
    dealing, attacking = dealer % 2, 1 - dealer % 2
    dealers_won = score < rules.take
    gain, match_winner = [0, 0], None
    if dealers_won and not dug:
        gain[dealing] = 1 + jokers
    if not dealers_won and (dug or (rules.level_at_high and score >= rules.blood_high)):
        gain[attacking] = 1 + jokers
    after = [_raised(rules, levels[t], gain[t], t == dealing) for t in (0, 1)]
    if rules.j_reset and dug and levels[dealing] == 11:
        after[dealing] = rules.first_level  # R9.8
    for team in (0, 1):
        if after[team] > rules.last_level:
            match_winner = team
            after[team] = rules.last_level
    all_of_a_kind = ("big" in rules.jokers_end_match and big == rules.decks) or (
        "small" in rules.jokers_end_match and small == rules.decks
    )
    if all_of_a_kind and not dry and dug != dealers_won:
        match_winner = dealing if dealers_won else attacking
    if rules.sweep_ends_match and score == 0:
        match_winner = dealing
    if rules.sweep_ends_match and score >= rules.full_points:
        match_winner = attacking
    going_on = match_winner is None
    return {
        "winner": "dealers" if dealers_won else "attackers",
        "dug": dug,
        "gain": (gain[0], gain[1]),
        "levels": (after[0], after[1]),
        "next_dealer": (dealer + (2 if dealers_won else 1)) % 4 if going_on else None,
        "blood": _blood(rules, score, dug, jokers) if going_on else None,
        "match_winner": match_winner,
        "score": score,
    }
