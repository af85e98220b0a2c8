"""R7: leading, following, and the winner of a trick.

A follow is named unit by unit, by falling multiplicity and then by falling slot, each card once. Let r be the number of
cards still owed, P the pool of cards that may be named and have not been, and T the number of cards of P if every slot
is limited to m - 1 copies. A unit of m copies of slot s is legal iff

    m <= r,  (m, s) comes after the last named unit,  and  s is not among the  r - 1 - T  lowest of the slots
    held m times.

The rest can then still be named after (m, s): every other slot supplies min(copies, m - 1) cards, and every slot below
s that is held m times supplies one more. Dead following (R7.5) adds a condition on the first unit, ``floor``.
"""

# Twin: gunzi_env/compiled/tricks.py. A change here needs the same change there.
from __future__ import annotations

from functools import cache

import numpy as np

from gunzi_env import planes
from gunzi_env.order import TRUMP
from gunzi_env.planes import (
    BELOW,
    NUM_SLOTS,
    U64,
    Ints,
    Words,
    bits,
    count,
    drop_lowest,
    put_planes,
    single,
    where,
)
from gunzi_env.tables import ANY, HAND, NOBODY, PENDING, PLAYED, TWO_PAIRS, Index, Int8, Phase, Tables

_LEAD, _FOLLOW = int(Phase.LEAD), int(Phase.FOLLOW)  # enum members are slow to look up


def enter(t: Tables, g: Index) -> Index:
    """Let the dealer lead the first trick (R7.1); no hand is over."""
    t.seat[g] = t.leader[g] = t.dealer[g]
    t.held[g] = count(t.holder(g, HAND + t.dealer[g]))
    _open_trick(t, g)
    return g[:0]


def _open_trick(t: Tables, g: Index) -> None:
    t.phase[g] = _LEAD
    for row in t.rows_of("trick"):
        row[g] = 0
    t.led_count[g] = t.trick_points[g] = 0
    t.led_suit[g] = t.best[g] = t.best_slot[g] = NOBODY


def lead_legal(t: Tables, g: Index) -> Words:
    """R7.2: return all units held."""
    words = np.zeros((t.rules.decks + 1, len(g)), U64)
    words[:-1] = t.holder(g, HAND + t.seat[g])
    return words


def lead_apply(t: Tables, g: Index, action: Ints) -> Index:
    """Lead a unit; return the tables whose hand is over."""
    seat, unit = t.seat[g], t.actions.unit.take(action, axis=1)
    lead(t, g, action // NUM_SLOTS + 1, action % NUM_SLOTS)
    at = t.at(g, seat, HAND)
    put_planes(t.flat, at, planes.minus(t.flat.take(at, axis=1), unit))
    _lay(t, g, seat, unit)
    t.phase[g] = _FOLLOW
    t.seat[g] = (seat + 1) & 3
    return _run_turns(t, g)


def _lay(t: Tables, g: Index, seat: Int8, play: Words) -> None:
    """Add a seat's play to the trick and to its played cards."""
    put_planes(t.flat_trick, t.at(g, seat), play)
    at = t.at(g, seat, PLAYED)
    put_planes(t.flat, at, planes.add(t.flat.take(at, axis=1), play))


def lead(t: Tables, g: Index, number: Ints, slot: Ints) -> None:
    """Set up the trick for a lead of ``number`` copies of ``slot`` by the seat to move."""
    layout, level = t.layout, t.level[g]
    key = layout.key(level, slot)
    suit = layout.suit_of_slot.take(key)
    t.led_suit[g], t.led_count[g] = suit, number
    t.led_mask[g] = mask = layout.suit_mask.take(level * 4 + suit)
    t.win_mask[g] = mask | layout.suit_mask.take(level * 4 + TRUMP)
    t.trick_points[g] = number * layout.points.take(key)
    t.best[g], t.best_slot[g] = t.seat[g], slot


def _run_turns(t: Tables, g: Index) -> Index:
    """Begin the turn of the seat to move, and play all turns without a choice; return the tables whose hand is over."""
    over = [g[:0]]
    while len(g):
        g, play = begin_turn(t, g)
        g, ended = _commit(t, g, play)
        over.append(ended)
    return np.concatenate(over) if len(over) > 2 else over[-1]


def begin_turn(t: Tables, g: Index) -> tuple[Index, Words]:
    """R7.3: take the cards from the hand that must be played; set them aside if there is a choice.

    Returns the tables without a choice, and their plays ``uint64[D, n]``.
    """
    at = t.at(g, t.seat[g], HAND)
    hand = t.flat.take(at, axis=1)
    led_mask, owed = t.led_mask[g], t.led_count[g]
    suit = hand & led_mask
    suited = count(suit)
    all_suited, whole = suited <= owed, t.held[g] == owed
    must = led_mask & where(all_suited) | where(whole)
    need = (owed - suited * all_suited) * ~whole
    play = hand & must
    put_planes(t.flat, at, hand & ~must)
    aside = ((need > 0) & (play[0] != 0)).nonzero()[0]
    if len(aside):
        t.put(g[aside], PENDING, play.take(aside, axis=1))
    t.need[g] = t.last_copies[g] = need
    t.last[g] = ANY
    if t.rules.follow == "dead":
        t.floor[g] = np.where((suited < owed) | (need == 0), 1, _owed_shape(suit, owed))
    forced = (need == 0).nonzero()[0]
    return g[forced], play.take(forced, axis=1)


def _owed_shape(suit: Words, owed: Ints) -> Int8:
    """R7.5: return ``floor`` for cards ``suit[D, n]`` of the led suit when ``owed`` were led and more are held."""
    above = [*suit[1:], np.zeros_like(suit[0])]
    exact = [plane & ~more for plane, more in zip(suit, above, strict=True)]  # slots held exactly d + 1 times
    pair, triple = exact[1] != 0, exact[2] != 0
    floor = np.ones(len(owed), np.int8)
    floor[(owed == 2) & pair] = 2
    floor[(owed == 3) & pair] = 2
    floor[(owed == 3) & triple] = 3
    if len(suit) > 3:
        quad = owed == 4
        floor[quad & pair] = 2
        floor[quad & (bits(exact[1]) >= 2)] = TWO_PAIRS
        floor[quad & triple] = 3
        floor[quad & (exact[3] != 0)] = 4
    return floor


@cache
def _open_masks(decks: int) -> tuple[Words, Words]:
    """Tabulate masks by plane d and maximum multiplicity c: all bits where c >= d + 1, and where c > d + 1."""
    copies, most = np.arange(1, decks + 1)[:, None], np.arange(decks + 1)
    return where(most >= copies), where(most > copies)


def follow_legal(t: Tables, g: Index) -> Words:
    """Return the legal units of a follow (see the module docstring), ``uint64[D + 1, n]``."""
    decks = t.rules.decks
    hand = t.flat.take(t.at(g, t.seat[g], HAND), axis=1)
    led_mask = t.led_mask[g]
    # A player short of the led suit has set all of it aside, and may name any other card. No slot is named twice.
    mask = (led_mask | where((hand[0] & led_mask) == 0)) & ~t.pending_slots[g]
    pool = hand & mask
    need, most = t.need[g], t.last_copies[g]
    may, freely = (masks.take(most, axis=1) for masks in _open_masks(decks))
    words = np.zeros((decks + 1, len(g)), U64)
    words[:-1] = pool & may & (freely | BELOW.take(t.last[g]))
    spare = need - np.int16(1)  # r - 1 - T of the module docstring
    for d in range(decks - 1):
        words[d] = drop_lowest(words[d], spare, decks - 1 - d)
        spare -= bits(pool[d])
    if t.rules.follow == "dead":
        _demand(words, t.floor[g], need, pool)
    return words


def _demand(words: Words, floor: Int8, need: Ints, pool: Words) -> None:
    """Remove the units that do not satisfy ``floor`` (R7.5)."""
    pairs = floor == TWO_PAIRS
    least = np.where(pairs, 2, floor)
    for d in range(len(pool)):
        words[d] &= where(least <= d + 1)
    first = (pairs & (need == 4)).nonzero()[0]
    if len(first):  # a second pair must remain below the first
        words[1, first] = pool[1, first] & (pool[1, first] - U64(1))


def follow_apply(t: Tables, g: Index, action: Ints) -> Index:
    """Name a unit; return the tables whose hand is over."""
    done, play = name_unit(t, g, action)
    g, over = _commit(t, g[done], play)
    more = _run_turns(t, g)
    return np.concatenate([over, more]) if len(over) else more


def name_unit(t: Tables, g: Index, action: Ints) -> tuple[Index, Words]:
    """Take the named unit from the hand and add it to the cards set aside.

    Returns the rows whose play is complete, and these plays ``uint64[D, n]``.
    """
    number, slot, unit = action // NUM_SLOTS + 1, action % NUM_SLOTS, t.actions.unit.take(action, axis=1)
    at = t.at(g, t.seat[g], HAND)
    put_planes(t.flat, at, planes.minus(t.flat.take(at, axis=1), unit))
    rest = t.need[g] - number
    play = t.holder(g, PENDING) | unit  # a slot is named once: the union is the sum
    t.put(g, PENDING, play & where(rest > 0))
    t.need[g] = rest
    t.last_copies[g] = np.minimum(rest, number)
    # If fewer cards are owed than the unit had copies, the next unit may have any slot.
    t.last[g] = slot | (rest < number) * ANY
    if t.rules.follow == "dead":
        t.floor[g] = np.where(t.floor[g] == TWO_PAIRS, TWO_PAIRS, 1)
    done = (rest == 0).nonzero()[0]
    return done, play.take(done, axis=1)


def _commit(t: Tables, g: Index, play: Words) -> tuple[Index, Index]:
    """Play whole plays ``uint64[D, n]``; return the tables where the next seat follows, and the finished hands."""
    if not len(g):
        return g, g
    seat = t.seat[g]
    _lay(t, g, seat, play)
    worth = (play[0] & t.layout.point_cards.take(t.level[g])).nonzero()[0]
    if len(worth):
        rows = g[worth]
        t.trick_points[rows] += t.layout.value(t.level[rows], play.take(worth, axis=1))
    contest(t, g, seat, play)
    _learn(t, g, seat, play)
    last = seat == ((t.leader[g] + 3) & 3)
    ended = g[last.nonzero()[0]]
    go_on = (~last).nonzero()[0]
    rows = g[go_on]
    t.seat[rows] = (seat[go_on] + 1) & 3
    return rows, _end_trick(t, ended) if len(ended) else ended


def contest(t: Tables, g: Index, seat: Int8, play: Words) -> None:
    """R7.6, R2.5: a play of the led shape in the led suit or in trumps becomes the best if strictly stronger."""
    number = len(g)
    whole = play.take((t.led_count[g] - 1) * np.intp(number) + np.arange(number)) & t.win_mask[g]
    able = whole.nonzero()[0]
    rows = g[able]
    slot = single(whole[able])
    level, strength = t.level[rows], t.layout.strength
    stronger = strength.take(t.layout.key(level, slot)) > strength.take(t.layout.key(level, t.best_slot[rows]))
    wins = stronger.nonzero()[0]
    rows = rows[wins]
    t.best[rows] = seat[able[wins]]
    t.best_slot[rows] = slot[wins]


def _learn(t: Tables, g: Index, seat: Int8, play: Words) -> None:
    """Record what a play proves: a seat that did not follow suit is void; in dead following, shapes that it lacks."""
    off_suit = (play[0] & ~t.led_mask[g]) != 0
    voids = off_suit.nonzero()[0]
    rows = g[voids]
    t.void[rows, seat[voids], t.led_suit[rows]] = True
    if t.rules.follow == "dead":
        followed = (~off_suit).nonzero()[0]
        _learn_shapes(t, g[followed], seat[followed], play.take(followed, axis=1))


def _learn_shapes(t: Tables, g: Index, seat: Int8, play: Words) -> None:
    """R7.5: a seat that follows suit without a pair (or triple) where it would be owed holds no exact one."""
    owed, suit = t.led_count[g], t.led_suit[g]
    pair = ((owed >= 2) & (play[1] == 0)).nonzero()[0]
    triple = ((owed >= 3) & (play[2] == 0)).nonzero()[0]
    t.no_pair[g[pair], seat[pair], suit[pair]] = True
    t.no_triple[g[triple], seat[triple], suit[triple]] = True


def _end_trick(t: Tables, g: Index) -> Index:
    """R7.7: score the points and let the winner lead; return the tables whose hand is over."""
    winner = t.best[g]
    attackers = (winner ^ t.dealer[g]) & 1
    t.score[g] += t.trick_points[g] * attackers
    t.leader[g] = t.seat[g] = winner
    t.held[g] = left = t.held[g] - t.led_count[g]
    _open_trick(t, g[left.nonzero()[0]])
    finished: Index = g[(left == 0).nonzero()[0]]
    return finished
