"""R5: tribute and return.

Knowledge that everybody shares is kept as lower bounds (``known``): the cards a seat was seen to get or show
and cannot have lost unseen. A return is seen by the two alone, so after it nothing is certain of the hand
that returned; what was given and shown stays on record in ``tribute`` and ``shown``.
"""

from __future__ import annotations

import numpy as np

from gunzi_env import planes
from gunzi_env.chapters import selection
from gunzi_env.order import BIG_JOKER_SLOT, TRUMP
from gunzi_env.planes import BIT, U64, Ints, Words, count
from gunzi_env.tables import HAND, Flags, Index, Tables


def giveable(t: Tables, g: Index, seat: Ints) -> Words:
    """R5.2: what a hand may give, as planes ``uint64[D, n]``."""
    return t.holder(g, HAND + seat) & giveable_mask(t, g)


def giveable_mask(t: Tables, g: Index) -> Words:
    """R5.2: no point cards, except level cards."""
    level = t.level[g]
    mask = ~t.layout.point_cards[level]
    return mask | t.layout.level_cards[level] if t.rules.tribute_level_points else mask


def falling(t: Tables, g: Index) -> Words:
    """R5.1: groups of equals, largest first: ``uint64[n, k]``."""
    return t.layout.rising[t.level[g], ::-1]


def return_classes(t: Tables, g: Index) -> Words:
    """R5.4: side cards without points, then trumps without, then any: ``uint64[n, 3]``."""
    level = t.level[g]
    points, trumps = t.layout.point_cards[level], t.layout.suit_mask[level, TRUMP]
    return np.stack([~points & ~trumps, ~points & trumps, points], axis=1)


def enter(t: Tables, g: Index) -> Index:
    """Begin the tribute; returns the tables where it is given without a question, or none is owed."""
    t.known[:, g] = t.shown[:, g]
    owes = t.blood[g] > 0
    t.giver[g] = (t.dealer[g] + 3) & 3
    t.receiver[g] = t.dealer[g]
    if t.rules.anti_tribute:
        owes &= ~_exempt(t, g)
    t.seat[g] = t.giver[g]
    return _give(t, g[ask(t, g, owes)])


def ask(t: Tables, g: Index, owes: Flags) -> Flags:
    """R5.1-3: set aside what the giver must give where he owes; he chooses the rest, True where there is none."""
    pool = giveable(t, g, t.giver[g])
    # R5.3: he who has too few gives those he has.
    need = np.where(owes, np.minimum(t.blood[g], count(pool)), 0).astype(np.int16)
    forced, group, rest = selection.split(pool, falling(t, g), need)
    mask = giveable_mask(t, g)
    return selection.begin(t, g, HAND + t.giver[g], forced & mask, group & mask, rest)


def _exempt(t: Tables, g: Index) -> Flags:
    """R5.5: turn the tribute round, or cancel it (True), where one of the owing side holds all big jokers."""
    decks = t.rules.decks
    bit = BIT[BIG_JOKER_SLOT]
    cancelled = np.zeros(len(g), np.bool_)
    for offset in (3, 1):  # the giver, then his partner
        seat = (t.dealer[g] + offset) & 3
        holds = (t.blood[g] > 0) & ((t.planes[decks - 1, g, HAND + seat] & bit) != 0)
        rows, who = g[holds], seat[holds]
        t.shown[:, rows, who] |= bit
        t.known[:, rows, who] |= bit
        if offset == 3:
            t.giver[rows], t.receiver[rows] = t.dealer[rows], who
        else:
            cancelled |= holds
    return cancelled


def apply(t: Tables, g: Index, action: Ints) -> Index:
    """Name a card of the tribute; returns the tables where it is complete."""
    return _give(t, g[selection.name_card(t, g, action)])


def _give(t: Tables, g: Index) -> Index:
    cards = selection.take_pending(t, g)
    selection.give(t, g, HAND + t.receiver[g], cards)
    t.tribute[:, g] = cards
    giver, receiver = t.giver[g], t.receiver[g]
    t.known[:, g, giver] = planes.minus(t.known[:, g, giver], cards)
    t.known[:, g, receiver] = planes.add(t.known[:, g, receiver], cards)
    return g


def enter_return(t: Tables, g: Index) -> Index:
    """Begin the return (R5.4); returns the tables where there is no choice."""
    need = count(t.tribute[:, g])
    t.seat[g] = t.receiver[g]
    source = HAND + t.receiver[g]
    forced, group, rest = selection.split(t.holder(g, source), return_classes(t, g), need)
    return _give_back(t, g[selection.begin(t, g, source, forced, group, rest)])


def apply_return(t: Tables, g: Index, action: Ints) -> Index:
    """Name a card of the return; returns the tables where it is complete."""
    return _give_back(t, g[selection.name_card(t, g, action)])


def _give_back(t: Tables, g: Index) -> Index:
    cards = selection.take_pending(t, g)
    selection.give(t, g, HAND + t.giver[g], cards)
    t.returned[:, g] = cards
    some = g[cards[0] != 0]
    t.known[:, some, t.receiver[some]] = U64(0)
    return g
