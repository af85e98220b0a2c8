"""Small positions, all worlds that a seat can think of there one by one, and a test of draws against them.

A world is how the hidden cards lie, ``(next, partner, previous, kitty)``, each the sorted texts of its cards. The rules
are said here once more, as a predicate on worlds; nothing of the sampler's way of thinking is used.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gunzi_env import Rules, observe, position
from gunzi_env.planes import U64, Words
from gunzi_env.resample import resample
from gunzi_env.rulebook import cards_text
from gunzi_env.tables import HAND, KITTY, Tables
from gunzi_env.views import View
from tests.support.brute_force import CARDS

World = tuple[tuple[str, ...], ...]
Odds = dict[World, float]


def late(
    hands: Sequence[str],
    kitty: str,
    *,
    rules: Rules | None = None,
    trick: Sequence[str] = (),
    untouched: dict[int, str] | None = None,
    **said: Any,
) -> Tables:
    """The end of a hand: all cards that are not named have been played, by others than those who left them
    ``untouched``."""
    rules = rules or Rules.preset("dalian")
    leader, untouched = said.get("leader", 0), untouched or {}
    own = [hands[s].split() for s in range(4)]
    for k, play in enumerate(trick):
        own[(leader + k) % 4] = own[(leader + k) % 4] + play.split()
    left = Counter(dict.fromkeys(CARDS, rules.decks)) - Counter(kitty.split())
    for cards in own:
        left -= Counter(cards)
    piles: list[list[str]] = [[] for _ in range(4)]
    # Cards that fewer may have played come first.
    for card in sorted(left.elements(), key=lambda c: -sum(c in text.split() for text in untouched.values())):
        may = [s for s in range(4) if card not in untouched.get(s, "").split()]
        s = min(may, key=lambda s: len(piles[s]) + len(own[s]))
        piles[s].append(card)
    return position.setup(
        rules, hands=hands, kitty_cards=kitty, trick=trick, played=[" ".join(p) for p in piles], **said
    )


@dataclass
class Scenario:
    """A position and what the seat to move can tell of the hidden cards."""

    table: Tables
    allowed: Callable[[World], bool]
    located: World = ((), (), (), ())
    """Cards that certainly lie in a place."""
    apart: dict[tuple[int, ...], str] = field(default_factory=dict)
    """Cards that certainly lie in one of some places: card by card."""
    view: View = field(init=False)

    def __post_init__(self) -> None:
        self.view = observe.view(self.table)

    @property
    def truth(self) -> World:
        t, seat = self.table, int(self.table.seat[0])
        hands = [cards_of(t, t.planes[:, 0, HAND + (seat + k) % 4]) for k in (1, 2, 3)]
        return (*hands, () if self.view.kitty_known[0] else cards_of(t, t.planes[:, 0, KITTY]))

    def odds(self) -> Odds:
        """The share of every world, all ways to lay the physical cards being equally likely."""
        size = [len(cards) for cards in self.truth]
        everywhere = tuple(range(4))
        cards = [(card, (place,)) for place in range(4) for card in self.located[place]]
        cards += [(card, places) for places, text in self.apart.items() for card in text.split()]
        free = Counter(card for place in self.truth for card in place) - Counter(card for card, _ in cards)
        kinds = Counter(cards) + Counter({(card, everywhere): number for card, number in free.items()})
        found: Odds = Counter()
        for world, ways in _lay(list(kinds.items()), size, 1):
            if self.allowed(world):
                found[world] += ways
        total = sum(found.values())
        return {world: ways / total for world, ways in found.items()}

    def draws(self, number: int) -> list[World]:
        """What the sampler draws."""
        keys = np.arange(number, dtype=U64) * U64(0x9E3779B97F4A7C15)
        return worlds_of(resample(self.view.rows(np.zeros(number, np.intp)), keys), self.view)


def cards_of(t: Tables, words: Words) -> tuple[str, ...]:
    return tuple(sorted(cards_text(t, words).split()))


def worlds_of(t: Tables, v: View) -> list[World]:
    """How the hidden cards lie at each table, seen from the seat of ``v``; equal ones are told but once."""
    seat = int(v.seat[0])
    words = t.planes[:, :, [HAND + (seat + k) % 4 for k in (1, 2, 3)] + [KITTY]]
    if v.kitty_known[0]:
        words[:, :, 3] = U64(0)
    flat = words.transpose(1, 2, 0).reshape(t.num, -1)
    distinct, which = np.unique(flat, axis=0, return_inverse=True)
    texts = [tuple(cards_of(t, place) for place in row.reshape(4, -1)) for row in distinct]
    return [texts[k] for k in which.reshape(-1)]


def _lay(kinds: list[Any], room: list[int], ways: int) -> Iterator[tuple[World, int]]:
    """Every way to lay cards of some kinds, ``((card, places), number)`` each, and in how many ways it can be done."""
    if not kinds:
        if not any(room):
            yield ((), (), (), ()), ways
        return
    ((card, places), number), *rest = kinds
    for counts in _split(number, [room[p] if p in places else 0 for p in range(4)]):
        more = ways * math.factorial(number) // math.prod(math.factorial(c) for c in counts)
        for world, total in _lay(rest, [room[p] - counts[p] for p in range(4)], more):
            yield tuple(tuple(sorted((*world[p], *[card] * counts[p]))) for p in range(4)), total


def _split(number: int, most: list[int]) -> Iterator[list[int]]:
    if len(most) == 1:
        if number <= most[0]:
            yield [number]
        return
    for here in range(min(number, most[0]) + 1):
        for rest in _split(number - here, most[1:]):
            yield [here, *rest]


def surprise(odds: Odds, draws: list[World]) -> float:
    """By how many standard deviations the draws are from the odds: chi-square, made normal (Wilson and Hilferty 1931).
    Infinite where a world was drawn that cannot be. Worlds too rare for the approximation are taken together."""
    found = Counter(draws)
    if found.keys() - odds.keys():
        return math.inf
    expected, seen, few, few_seen = [], [], 0.0, 0
    for world, share in odds.items():
        if share * len(draws) < 10:
            few, few_seen = few + share * len(draws), few_seen + found[world]
        else:
            expected.append(share * len(draws))
            seen.append(found[world])
    if few:
        expected.append(few)
        seen.append(few_seen)
    freedom = len(expected) - 1
    assert freedom >= 5, "too few worlds to tell"
    chi = sum((s - e) ** 2 / e for s, e in zip(seen, expected, strict=True))
    spread = 2 / (9 * freedom)
    return ((chi / freedom) ** (1 / 3) - (1 - spread)) / math.sqrt(spread)
