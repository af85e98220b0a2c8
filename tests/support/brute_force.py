"""The rules of legality once more (R5, R6, R7), as predicates on lists of card texts, and all that the engine reaches.

Of all selections of cards those that the predicate allows must be the ones that sequences of actions of the
engine reach, each by exactly one sequence; and no sequence may run into a dead end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from gunzi_env import engine
from gunzi_env.planes import Words
from gunzi_env.rulebook import cards_text
from gunzi_env.rules import Rules
from gunzi_env.tables import Tables

RANKS = "3456789TJQKA"
CARDS = [suit + rank for suit in "SHCD" for rank in "2" + RANKS] + ["LJ", "BJ"]
POINTS = {"5", "T", "K"}
JOKERS = ["LJ", "BJ"]

Cards = tuple[str, ...]
"""A multiset of cards: their texts, sorted."""


# ---- the rules once more


class World:
    """Suits and strengths for one level and trump suit (R2.2-3, R2.6)."""

    def __init__(self, level: str, trump: str, mixed: str | None = None) -> None:
        classes = {"2": 200, level: 400} | ({mixed: 300} if mixed and mixed != level else {})
        self.suit: dict[str, str] = {"LJ": "trump", "BJ": "trump"}
        self.power: dict[str, int] = {"LJ": 500, "BJ": 501}
        for card in CARDS[:-2]:
            suit, rank = card[0], card[1]
            self.suit[card] = "trump" if rank in classes or suit == trump else suit
            if rank in classes:
                self.power[card] = classes[rank] + (suit == trump)
            else:
                self.power[card] = RANKS.index(rank) + 100 * (suit == trump)


def may_lead(play: Cards) -> bool:
    """R7.2, R3.1: copies of one card."""
    return len(play) > 0 and all(card == play[0] for card in play)


def may_answer(world: World, dead: bool, hand: Sequence[str], lead: Cards, play: Cards) -> bool:
    """R7.3-5, for a play of as many cards as were led."""
    led = world.suit[lead[0]]
    suited = Counter(card for card in hand if world.suit[card] == led)
    if suited.total() < len(lead):
        return suited <= Counter(play)
    if any(world.suit[card] != led for card in play):
        return False
    return not dead or pays_its_duty(suited, Counter(play))


def pays_its_duty(suited: Counter[str], play: Counter[str]) -> bool:
    """R7.5: what binds is an exact pair, triple or quad in the hand."""
    n = play.total()
    groups = sorted(play.values(), reverse=True)
    exact = Counter(suited.values())  # exact[k]: how many cards are held exactly k times
    if n == 4:
        if exact[4]:
            return groups == [4]
        if exact[3]:
            return groups == [3, 1]
        pairs = min(exact[2], 2)
        return pairs == 0 or groups == [2] * pairs + [1] * (4 - 2 * pairs)
    if n == 3 and exact[3]:
        return groups == [3]
    if n in (2, 3) and exact[2]:
        return groups[0] >= 2
    return True


def may_give(world: World, rules: Rules, level: str, hand: Sequence[str], blood: int, given: Cards) -> bool:
    """R5.1-3."""
    able = [c for c in hand if c[1] not in POINTS or (rules.tribute_level_points and c[1] == level)]
    kept = Counter(able) - Counter(given)
    if not Counter(given) <= Counter(able) or len(given) != min(blood, len(able)):
        return False
    return not given or all(world.power[stays] <= min(world.power[goes] for goes in given) for stays in kept)


def may_return(world: World, hand: Sequence[str], back: Cards) -> bool:
    """R5.4: nothing of a class as long as a card of an earlier class stays."""

    def rank_of_class(card: str) -> int:
        return 2 if card[1] in POINTS else 1 if world.suit[card] == "trump" else 0

    kept = Counter(hand) - Counter(back)
    return all(rank_of_class(stays) >= rank_of_class(goes) for stays in kept for goes in back)


def may_bury(hand: Sequence[str], buried: Cards) -> bool:
    """R6.3: no small joker while a big one stays."""
    return "LJ" not in buried or buried.count("BJ") == list(hand).count("BJ")


def may_be_picked(kitty: Sequence[str]) -> list[str]:
    """R6.5: neither points nor jokers."""
    return [card for card in kitty if card[1] not in POINTS and card not in JOKERS]


def are_smallest(world: World, able: Sequence[str], picked: Cards) -> bool:
    """R6.5: nothing smaller stays."""
    left = Counter(able) - Counter(picked)
    return not picked or all(world.power[stays] >= max(world.power[goes] for goes in picked) for stays in left)


def selections(cards: Iterable[str], n: int) -> Iterator[Cards]:
    """All sub-multisets of n cards, each once."""
    held = sorted(Counter(cards).items())

    def choose(kind: int, left: int) -> Iterator[Cards]:
        if left == 0:
            yield ()
        elif kind < len(held):
            card, copies = held[kind]
            for taken in range(min(copies, left) + 1):
                for rest in choose(kind + 1, left - taken):
                    yield (card,) * taken + rest

    return choose(0, n)


# ---- what the engine reaches

Asks = Callable[[Tables], npt.NDArray[np.bool_]]
Results = Callable[[Tables], list[Words]]


def reached(t: Tables, asks: Asks, results: Results) -> list[Counter[tuple[Cards, ...]]]:
    """By table: each complete choice, as the multisets that ``results`` reads, with its number of sequences."""
    found: list[Counter[tuple[Cards, ...]]] = [Counter() for _ in range(t.num)]
    case = np.arange(t.num)
    texts: dict[tuple[object, ...], Cards] = {}
    while True:
        going_on = asks(t)
        done = np.flatnonzero(~going_on)
        if len(done):
            words = results(t)
            for n in done:
                key = tuple(_cards(texts, t, planes[:, n], int(n)) for planes in words)
                found[case[n]][key] += 1
        if not going_on.any():
            return found
        t, case = t.select(np.flatnonzero(going_on)), case[going_on]
        legal = engine.legal(t)
        assert legal.any(axis=1).all(), "a sequence of actions ran into a dead end"
        source, action = np.nonzero(legal)
        t, case = t.select(source), case[source]
        engine.step(t, action)


def _cards(texts: dict[tuple[object, ...], Cards], t: Tables, planes: Words, n: int) -> Cards:
    key = (planes.tobytes(), t.level[n].item(), t.trump[n].item())
    if key not in texts:
        texts[key] = tuple(sorted(cards_text(t, planes, n).split()))
    return texts[key]


def difference(allowed: Iterable[tuple[Cards, ...]], found: Counter[tuple[Cards, ...]]) -> str:
    """What is wrong with ``found``: every allowed choice is to be reached once, and nothing else."""
    expected = set(allowed)
    faults = {
        "never reached": expected - set(found),
        "not allowed": set(found) - expected,
        "reached more than once": {choice for choice, times in found.items() if times > 1},
    }
    return "; ".join(f"{fault}: {sorted(choices)}" for fault, choices in faults.items() if choices)


def joined(tables: Sequence[Tables]) -> Tables:
    """Many tables in one batch."""
    out = Tables(tables[0].rules, len(tables))
    for n, table in enumerate(tables):
        out.assign(np.array([n]), table)
    return out


def hands_of(rules: Rules, hand: Sequence[str], lead: Cards = (), out: Sequence[str] = ()) -> list[str]:
    """``hand`` for seat 1, a leader who holds ``lead``, and as many other cards as that takes for the others."""
    rest = Counter(CARDS * rules.decks) - Counter(hand) - Counter(lead) - Counter(out)
    others = list(rest.elements())[:: 2 if len(hand) > 8 else 5]
    size, first = len(hand), len(hand) - len(lead)
    split = [(*lead, *others[:first]), hand, others[first : first + size], others[first + size : first + 2 * size]]
    return [" ".join(cards) for cards in split]
