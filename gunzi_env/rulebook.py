"""Questions to the rules in text, answered by the engine's own code.

Cards are written as in :mod:`gunzi_env.cards`; ``rules`` is a preset's name, the path of a TOML file or a
:class:`Rules`; ``level`` is a number or text such as ``"T"``; ``trump`` a suit letter. Bad text raises
``ValueError`` naming the token.

>>> legal_plays("dalian", 3, "S", "H9 H9 HT D4", lead="HK HK")
['H9 H9', 'H9 HT']
>>> trick_winner("dalian", 3, "S", ["HK", "HA", "S4", "HA"])
2
>>> settle("dalian", 120, dug=True, big=1, small=1).gain
(0, 4)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gunzi_env import order, planes
from gunzi_env.actions import BID_WORDS
from gunzi_env.cards import FACE_NAMES, SUITS, format_cards, parse_hand, parse_rank, parse_suit
from gunzi_env.chapters import kitty, selection, settlement, tribute, tricks
from gunzi_env.planes import NUM_SLOTS, Ints, Words
from gunzi_env.rules import Rules, load_rules
from gunzi_env.tables import HAND, KITTY, NOBODY, PENDING, Index, Tables

Source = str | Path | Rules
"""A preset's name, the path of a TOML file, or rules."""

ONE_TABLE = np.zeros(1, np.intp)


@dataclass(frozen=True)
class HandResult:
    """What a hand is worth (R9)."""

    winner: str
    """"dealers" or "attackers", by S against ``take``."""
    gain: tuple[int, int]
    """Levels gained before R9.2 by the teams {0, 2} and {1, 3}."""
    levels: tuple[int, int]
    """After R9.2; void once the match has ended."""
    next_dealer: int | None
    """None once the match has ended."""
    blood: int | None
    """Owed in the next hand; None once the match has ended."""
    match_winner: int | None
    """Team 0 or 1; None while the match goes on."""


def _table(rules: Source, level: int | str, trump: str) -> Tables:
    """One empty table of this order."""
    table = Tables(load_rules(rules), 1)
    table.level[0] = parse_level(table.rules, level)
    table.trump[0] = parse_suit(trump)
    return table


def parse_level(rules: Rules, level: int | str) -> int:
    """A level of these rules; ``ValueError`` names another."""
    rank = parse_rank(level)
    if not rules.first_level <= rank <= rules.last_level:
        raise ValueError(f"level {level!r} is outside {rules.first_level}..{rules.last_level}")
    return rank


def cards_planes(t: Tables, text: str) -> Words:
    """A text's cards as planes ``uint64[D, 1]`` in the order of table 0."""
    faces = parse_hand(text, t.rules.decks)
    counts = np.zeros((1, NUM_SLOTS), int)
    np.add.at(counts[0], order.to_slots(t.layout, int(t.level[0]), int(t.trump[0]), faces), 1)
    return planes.from_counts(counts, t.rules.decks)


def cards_text(t: Tables, words: Words, n: int = 0) -> str:
    """The cards of planes ``uint64[D]`` at table ``n``, by face."""
    counts = planes.to_counts(words)
    slots = [int(s) for s in np.repeat(np.arange(NUM_SLOTS), counts)]
    return format_cards(sorted(order.to_faces(t.layout, int(t.level[n]), t.trump_or_provisional(n), slots)))


def _every_choice(
    t: Tables,
    legal: Callable[[Tables, Index], Words],
    name: Callable[[Tables, Index, Ints], tuple[Index, Words]],
) -> list[str]:
    """All ways to complete the choice begun at table 0, sorted: every sequence of actions is followed to its end."""
    found = []
    while True:
        everyone = np.arange(t.num)
        source, action = np.nonzero(t.actions.unpack(legal(t, everyone).T))
        t = t.select(source)
        done, chosen = name(t, np.arange(t.num), action)
        found += [cards_text(t, cards) for cards in chosen.T]
        if len(done) == t.num:
            return sorted(found)
        t = t.select(np.delete(np.arange(t.num), done))


def legal_plays(rules: Source, level: int | str, trump: str, hand: str, lead: str | None = None) -> list[str]:
    """Every whole play of ``hand`` (R7.2-5), sorted: all leads, or all answers to ``lead``.

    >>> legal_plays("dalian_dead", 3, "S", "H9 H9 HT HJ", lead="HK HK")
    ['H9 H9']
    """
    t = _table(rules, level, trump)
    cards = cards_planes(t, hand)
    size = int(planes.count(cards)[0])
    if not size:
        raise ValueError("the hand is empty")
    t.put(ONE_TABLE, HAND, cards)
    if lead is None:
        actions = np.flatnonzero(t.actions.unpack(tricks.lead_legal(t, ONE_TABLE).T)[0])
        return sorted(t.actions.name(int(a), int(t.level[0]), int(t.trump[0])) for a in actions)
    number = _open(t, lead)
    if size < number:
        raise ValueError(f"{size} cards in hand cannot answer a lead of {number}")
    t.held[0] = size
    forced, play = tricks.begin_turn(t, ONE_TABLE)
    if len(forced):
        return [cards_text(t, play[:, 0])]
    return _every_choice(t, tricks.follow_legal, tricks.name_unit)


def _open(t: Tables, lead: str) -> int:
    """Open a trick at table 0 with a lead in text; the number of its cards."""
    faces = parse_hand(lead, t.rules.decks)
    if not faces or len(set(faces)) > 1:
        raise ValueError(f"{lead!r} is no lead: one card or several identical ones are led (R7.2)")
    slot = order.to_slots(t.layout, int(t.level[0]), int(t.trump[0]), faces[:1])
    tricks.lead(t, ONE_TABLE, np.array([len(faces)]), np.array(slot))
    return len(faces)


def trick_winner(rules: Source, level: int | str, trump: str, plays: Sequence[str]) -> int:
    """Who wins a trick (R7.6, R2.5): an index into ``plays``, 0 being the leader's."""
    t = _table(rules, level, trump)
    if not 1 <= len(plays) <= 4:
        raise ValueError(f"a trick has 1 to 4 plays, not {len(plays)}")
    number = _open(t, plays[0])
    for seat, play in enumerate(plays[1:], start=1):
        cards = cards_planes(t, play)
        if planes.count(cards)[0] != number:
            raise ValueError(f"{play!r} has {planes.count(cards)[0]} cards, the lead has {number}")
        tricks.contest(t, ONE_TABLE, np.array([seat], np.int8), cards)
    return int(t.best[0])


def is_dry(rules: Source, level: int | str, trump: str, kitty_cards: str) -> bool:
    """Is this a dry pot (R6.6), if it is shown?

    >>> is_dry("dalian", 3, "S", "H4 H5 D3 C2 BJ C9"), is_dry("classic", 3, "S", "H4 H5 D3 C2 BJ C9")
    (True, False)
    """
    t = _table(rules, level, trump)
    return bool(kitty.is_dry(t.rules, t.layout, t.level, cards_planes(t, kitty_cards))[0])


def tribute_choices(rules: Source, level: int | str, trump: str, hand: str, blood: int) -> list[str]:
    """Every set of cards that may be given for ``blood`` (R5.1-3), sorted.

    >>> tribute_choices("dalian", 3, "S", "HA DA HK S5 C4", 1)
    ['DA', 'HA']
    """
    t = _table(rules, level, trump)
    if blood < 0:
        raise ValueError(f"blood is {blood}: it cannot be negative")
    t.put(ONE_TABLE, HAND, cards_planes(t, hand))
    t.dealer[0], t.blood[0] = 1, blood
    mask = tribute.giveable_mask(t, ONE_TABLE)
    need = np.minimum(blood, planes.count(tribute.giveable(t, ONE_TABLE, np.zeros(1, np.int8)))).astype(np.int16)
    return _choices(t, HAND, mask, tribute.falling(t, ONE_TABLE), need)


def pickup_choices(rules: Source, level: int | str, trump: str, kitty_cards: str, n: int) -> list[str]:
    """Every set of ``n`` cards that may be picked up from a kitty (R6.5), sorted.

    >>> pickup_choices("dalian", 3, "S", "H4 D4 HA H5 S4 BJ", 1)
    ['D4', 'H4']
    """
    t = _table(rules, level, trump)
    cards = cards_planes(t, kitty_cards)
    t.put(ONE_TABLE, KITTY, cards)
    mask = kitty.pickable_mask(t.layout, t.level)
    most = int(planes.count(cards & mask)[0])
    if not 0 <= n <= most:
        raise ValueError(f"n is {n}: this kitty has {most} cards that may be picked up")
    return _choices(t, KITTY, mask, t.layout.rising[t.level], np.array([n], np.int16))


def _choices(t: Tables, source: int, mask: Words, groups: Words, need: Ints) -> list[str]:
    """Every way of taking ``need`` cards of a holder at table 0, each group before the next."""
    holder = np.array([source])
    forced, group, rest = selection.split(t.holder(ONE_TABLE, holder) & mask, groups, need)
    if selection.begin(t, ONE_TABLE, holder, forced & mask, group & mask, rest)[0]:
        return [cards_text(t, t.planes[:, 0, PENDING])]
    return _every_choice(t, selection.legal, _name_card)


def _name_card(t: Tables, g: Index, action: Ints) -> tuple[Index, Words]:
    done = selection.name_card(t, g, action)
    return done, t.holder(g[done], PENDING)


def bid_beats(rules: Source, new: str, standing: str | None) -> bool:
    """May ``new`` be bid over ``standing``, None if nobody has bid (R4.4-5)?

    Bids are ``"2xH"`` (level cards), ``"3xLJ:S"``, ``"3xBJ:D"`` (all jokers of a kind, naming a suit).

    >>> bid_beats("dalian", "3xLJ:S", "3xH"), bid_beats("dalian", "2xH", "2xD"), bid_beats("dalian", "3xBJ:S", None)
    (True, False, False)
    """
    checked = load_rules(rules)
    strength, _ = parse_bid(checked, new)
    if standing is None:
        return strength <= checked.decks or checked.jokers_may_open
    return strength > parse_bid(checked, standing)[0]


def parse_bid(rules: Rules, text: str) -> tuple[int, int]:
    """Strength and suit of a bid in text (R4.5): copies of level cards, decks + 1 small jokers, decks + 2 big jokers.

    >>> parse_bid(Rules(), "2xH"), parse_bid(Rules(), "3xBJ:S")
    ((2, 1), (5, 0))
    """
    copies, cross, cards = str(text).strip().partition("x")
    kind, colon, suit = cards.partition(":")
    if cross and copies.isdecimal() and 1 <= int(copies) <= rules.decks:
        if not colon:
            return int(copies), parse_suit(kind)
        if kind in BID_WORDS and int(copies) == rules.decks:  # R4.4: all of them or none
            return rules.decks + 1 + BID_WORDS.index(kind), parse_suit(suit)
    d = rules.decks
    raise ValueError(
        f"{text!r} is no bid: write 1xH to {d}xH for level cards, {d}xLJ:H or {d}xBJ:H for all jokers of a kind"
    )


def format_bid(rules: Rules, strength: int, suit: int) -> str:
    """The text of a bid, the opposite of :func:`parse_bid`.

    >>> format_bid(Rules(), 2, 1), format_bid(Rules(), 5, 0)
    ('2xH', '3xBJ:S')
    """
    if strength <= rules.decks:
        return f"{strength}x{SUITS[suit]}"
    return f"{rules.decks}x{BID_WORDS[strength - rules.decks - 1]}:{SUITS[suit]}"


def settle(
    rules: Source,
    score: int,
    dug: bool,
    big: int = 0,
    small: int = 0,
    dry: bool = False,
    levels: tuple[int, int] = (3, 3),
    dealer: int = 0,
) -> HandResult:
    """The result of a hand (R9): S with R8.2, dug or not, jokers in the kitty, dry, levels before, dealer's seat."""
    r = load_rules(rules)
    if score % 5 or not 0 <= score <= r.max_score:
        raise ValueError(f"score is {score}: it must be a multiple of 5 within 0..{r.max_score} (R8.4)")
    for kind, number in (("big", big), ("small", small)):
        if not 0 <= number <= r.decks:
            raise ValueError(f"{kind} is {number}: there are {r.decks} {kind} jokers")
    if big + small > r.kitty_size:
        raise ValueError(f"{big} big and {small} small jokers are more than the {r.kitty_size} cards of a kitty")
    if dealer not in range(4):
        raise ValueError(f"dealer is {dealer}: seats are 0..3")
    both = [parse_level(r, level) for level in levels]
    if len(both) != 2:
        raise ValueError(f"levels are {levels}: give those of the teams (0, 2) and (1, 3)")
    out = settlement.settle(
        r,
        np.array([score], np.int16),
        np.array([dug]),
        np.array([big], np.int16),
        np.array([small], np.int16),
        np.array([dry]),
        np.array([both], np.int8),
        np.array([dealer], np.int8),
    )
    return result_of(out, 0)


def result_of(out: settlement.Settlement, n: int) -> HandResult:
    """Row ``n`` of a settlement."""
    ended = bool(out.match_winner[n] != NOBODY)
    return HandResult(
        winner="attackers" if out.take[n] else "dealers",
        gain=(int(out.gain[n, 0]), int(out.gain[n, 1])),
        levels=(int(out.levels[n, 0]), int(out.levels[n, 1])),
        next_dealer=None if ended else int(out.next_dealer[n]),
        blood=None if ended else int(out.blood[n]),
        match_winner=int(out.match_winner[n]) if ended else None,
    )


def strength_order(rules: Source, level: int | str, trump: str) -> list[list[str]]:
    """All cards, weakest first, equals in one group, trumps last (R2).

    Side cards of one rank are equals between the suits (R5.1, R6.5); in a trick only the led suit counts.

    >>> strength_order("dalian", 3, "S")[-6:]
    [['H2', 'C2', 'D2'], ['S2'], ['H3', 'C3', 'D3'], ['S3'], ['LJ'], ['BJ']]
    """
    t = _table(rules, level, trump)
    faces = t.layout.face_of_slot[t.level[0], t.trump[0]]
    groups = planes.unpack(t.layout.rising[t.level[0]])
    return [[FACE_NAMES[f] for f in faces[group]] for group in groups]
