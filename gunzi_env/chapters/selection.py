"""Choosing k cards of a pool, one a decision: tribute, return, burial and pick-up (R5.1, R5.4, R6.2, R6.5).

A set of cards is named from the highest slot down, so that every set has exactly one sequence; a card may
be named only if what lies at or below it suffices for the rest, so that no sequence runs into a dead end.
What is forced is not asked.
"""

from __future__ import annotations

import numpy as np

from gunzi_env import planes
from gunzi_env.order import BIG_JOKER_SLOT, SMALL_JOKER_SLOT
from gunzi_env.planes import BELOW, BIT, NUM_SLOTS, U64, Ints, Words, at_or_below, kth_smallest
from gunzi_env.tables import PENDING, Flags, Index, Int16, Tables


def split(pool: Words, groups: Words, need: Ints) -> tuple[Words, Words, Int16]:
    """Take ``need`` cards of ``pool[D, n]`` from ``groups[n, k]`` (slot masks), each group before the next.

    Returns the mask of slots taken whole, the mask of the group taken in part (0 where none is) and how many
    cards are taken from it. The pool must have at least ``need`` cards in its groups.
    """
    sizes = np.bitwise_count(pool[:, :, None] & groups).sum(axis=0, dtype=np.int16)
    upto = sizes.cumsum(axis=1, dtype=np.int16)
    whole = upto <= need[:, None]
    forced = np.bitwise_or.reduce(np.where(whole, groups, U64(0)), axis=1)
    rest = (need - np.where(whole, sizes, np.int16(0)).sum(axis=1, dtype=np.int16)).astype(np.int16)
    partial = np.minimum(whole.sum(axis=1), groups.shape[1] - 1)
    group = np.where(rest > 0, groups[np.arange(len(need)), partial], U64(0))
    return forced, group, rest


def begin(t: Tables, g: Index, source: Ints, forced: Words, group: Words, need: Ints) -> Flags:
    """Set the forced slots of ``source`` aside and prepare the choice of ``need`` cards of ``group``.

    True where there is nothing to choose."""
    pool = t.holder(g, source)
    t.put(g, PENDING, pool & forced)
    t.put(g, source, pool & ~forced)
    t.source[g], t.choice[g], t.need[g] = source, group, need
    t.last[g] = NUM_SLOTS - 1
    return np.asarray(need == 0)


def legal(t: Tables, g: Index) -> Words:
    """The next card: ``uint64[D + 1, n]``."""
    pool = t.holder(g, t.source[g]) & t.choice[g] & at_or_below(t.last[g])
    words = np.zeros((t.rules.decks + 1, len(g)), U64)
    words[0] = pool[0] & ~BELOW[kth_smallest(pool, t.need[g])]
    return words


def bury_legal(t: Tables, g: Index) -> Words:
    """Like :func:`legal`, but small jokers stay while a big one stays (R6.3)."""
    pool = t.holder(g, t.source[g]) & at_or_below(t.last[g])
    big = (t.holder(g, t.source[g])[0] & BIT[BIG_JOKER_SLOT]) != 0
    words = np.zeros((t.rules.decks + 1, len(g)), U64)
    small = np.where(big, BIT[SMALL_JOKER_SLOT], U64(0))
    # Naming every big joker first frees the small ones, so a big joker may always be named;
    # under any other card they do not count, since they lie above it.
    words[0] = pool[0] & ~BELOW[kth_smallest(pool, t.need[g])] & ~small
    return words


def name_card(t: Tables, g: Index, action: Ints) -> Index:
    """Set the named card aside; returns which of the choices are complete."""
    unit = t.actions.unit.take(action, axis=1)
    source = t.source[g]
    t.put(g, source, planes.minus(t.holder(g, source), unit))
    t.put(g, PENDING, planes.add(t.holder(g, PENDING), unit))
    t.need[g] = rest = t.need[g] - np.int16(1)
    t.last[g] = action
    return np.asarray((rest == 0).nonzero()[0])


def take_pending(t: Tables, g: Index) -> Words:
    """The cards set aside, ``uint64[D, n]``; they are nobody's until they are put somewhere."""
    cards = t.holder(g, PENDING)
    t.put(g, PENDING, np.zeros_like(cards))
    return cards


def give(t: Tables, g: Index, holder: Ints, cards: Words) -> None:
    """Add cards to a holder."""
    t.put(g, holder, planes.add(t.holder(g, holder), cards))
