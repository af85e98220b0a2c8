"""R7: leading, following, and who wins a trick.

A follow is named unit by unit: largest multiplicity first, then from the highest slot down, each card once.
With r cards still owed, the pool P (planes of the cards that may be named and were not), T the number of
cards that could be named with fewer than m copies each, a unit of m copies of slot s is legal iff

    m <= r,  (m, s) comes after the unit named last,  and  s is not among the  r - 1 - T  lowest of the slots
    held m times

for below (m, s) the rest can then still be named: the other slots give min(copies, m - 1), and those under s
that are held m times give one more. Dead following (R7.5) adds a demand, ``floor``, on the first unit.
"""

from __future__ import annotations

import numpy as np

from gunzi_env import planes
from gunzi_env.order import TRUMP
from gunzi_env.planes import BELOW, FULL, NUM_SLOTS, U64, Ints, Words, bits, copies, count, drop_lowest, single
from gunzi_env.tables import HAND, NOBODY, NUM_HOLDERS, PENDING, PLAYED, Flags, Index, Int8, Phase, Tables

TWO_PAIRS = 5
"""``floor`` where pair + pair is owed to a quad; 1..4 demand that many copies of the first unit."""

_SEATS = np.arange(4)

_ANY = np.int8(63)
"""``last`` while no unit has been named: every slot is under it."""


def enter(t: Tables, g: Index) -> Index:
    """The dealer leads the first trick (R7.1)."""
    t.seat[g] = t.leader[g] = t.dealer[g]
    t.held[g] = count(t.holder(g, HAND + t.dealer[g]))
    _open_trick(t, g)
    return g[:0]


def _open_trick(t: Tables, g: Index) -> None:
    t.phase[g] = Phase.LEAD
    at = (g * 4)[:, None] + _SEATS
    for plane in t.flat_trick:
        plane[at] = U64(0)
    t.led_count[g] = t.trick_points[g] = 0
    t.led_suit[g] = t.best[g] = t.best_slot[g] = NOBODY


def lead_legal(t: Tables, g: Index) -> Words:
    """R7.2: any shape."""
    words = np.zeros((len(g), t.rules.decks + 1), U64)
    words[:, :-1] = t.holder(g, HAND + t.seat[g]).T
    return words


def lead_apply(t: Tables, g: Index, action: Ints) -> Index:
    """Play the shape led; returns the tables whose hand is over."""
    number, slot = action // NUM_SLOTS + 1, action % NUM_SLOTS
    seat = t.seat[g]
    lead(t, g, number, slot)
    unit = copies(slot, number, t.rules.decks)
    at = g * NUM_HOLDERS + HAND + seat
    t.flat[:, at] = planes.minus(t.flat.take(at, axis=1), unit)
    at += PLAYED - HAND
    t.flat[:, at] = planes.add(t.flat.take(at, axis=1), unit)
    _lay(t, g, seat, unit)
    t.phase[g] = Phase.FOLLOW
    t.seat[g] = (seat + 1) & 3
    return _run_turns(t, g)


def _lay(t: Tables, g: Index, seat: Int8, play: Words) -> None:
    """A seat's cards in the current trick."""
    at = g * 4 + seat
    for plane, cards in zip(t.flat_trick, play, strict=True):
        plane[at] = cards


def lead(t: Tables, g: Index, number: Ints, slot: Ints) -> None:
    """What a lead of ``number`` copies of ``slot`` by the seat to move means for the trick."""
    level = t.level[g]
    suit = t.layout.suit_of_slot[level, slot]
    t.led_suit[g], t.led_count[g] = suit, number
    t.led_mask[g] = mask = t.layout.suit_mask[level, suit]
    t.win_mask[g] = mask | t.layout.suit_mask[level, TRUMP]
    t.trick_points[g] = number * t.layout.points[level, slot]
    t.best[g], t.best_slot[g] = t.seat[g], slot


def _run_turns(t: Tables, g: Index) -> Index:
    """Begin the turn of the seat to move; play on while all its cards are forced. Returns the hands that are over."""
    over = [g[:0]]
    while len(g):
        g, ended = _commit(t, *begin_turn(t, g))
        over.append(ended)
    return np.concatenate(over) if len(over) > 2 else over[-1]


def begin_turn(t: Tables, g: Index) -> tuple[Index, Words]:
    """R7.3: take the cards that must be played from the hand.

    Returns the tables where nothing is left to choose, and their plays ``uint64[D, n]``; elsewhere these cards
    are set aside.
    """
    at = g * NUM_HOLDERS + HAND + t.seat[g]
    hand = t.flat.take(at, axis=1)
    led_mask, owed = t.led_mask[g], t.led_count[g].astype(np.int16)
    suited = count(hand & led_mask)
    whole = t.held[g] == owed
    short = suited < owed
    must = np.where(whole, FULL, np.where(suited <= owed, led_mask, U64(0)))
    need = np.where(whole, 0, np.where(short, owed - suited, np.where(suited == owed, 0, owed))).astype(np.int16)
    moved = np.flatnonzero(hand[0] & must)
    if len(moved):
        t.flat[:, at[moved]] = hand[:, moved] & ~must[moved]
        aside = moved[need[moved] > 0]
        t.flat[:, g[aside] * NUM_HOLDERS + PENDING] = hand[:, aside] & must[aside]
    t.need[g] = t.last_copies[g] = need
    t.last[g] = _ANY
    if t.rules.follow == "dead":
        t.floor[g] = np.where(short | (need == 0), 1, _owed_shape(hand & led_mask, owed))
    forced = np.flatnonzero(need == 0)
    return g[forced], hand[:, forced] & must[forced]


def _owed_shape(suit: Words, owed: Ints) -> Int8:
    """R7.5: the ``floor`` for cards ``suit[D, n]`` of the led suit when ``owed`` were led and more are held."""
    above = [*suit[1:], np.zeros_like(suit[0])]
    exact = [plane & ~more for plane, more in zip(suit, above, strict=True)]  # held exactly d + 1 times
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


def follow_legal(t: Tables, g: Index) -> Words:
    """The next unit of a follow (see the top of this module): ``uint64[n, D + 1]``."""
    decks = t.rules.decks
    at = g * NUM_HOLDERS + HAND + t.seat[g]
    hand = t.flat.take(at, axis=1)
    named = t.planes[0, g, PENDING]
    led_mask = t.led_mask[g]
    # A player short of the led suit has set all of it aside: whatever he holds serves.
    mask = np.where((hand[0] & led_mask) != 0, led_mask, FULL) & ~named
    pool = hand & mask
    need, most = t.need[g], t.last_copies[g]
    under = BELOW[t.last[g]]
    words = np.zeros((len(g), decks + 1), U64)
    fewer = np.zeros(len(g), np.int16)  # T of the drawing above
    for d in range(decks):
        m = d + 1
        word = np.where(most > m, pool[d], np.where(most == m, pool[d] & under, U64(0)))
        if m < decks:
            words[:, d] = drop_lowest(word, need - np.int16(1) - fewer, decks - m)
            fewer += bits(pool[d])
        else:
            words[:, d] = word
    if t.rules.follow == "dead":
        _demand(words, t.floor[g], need, pool)
    return words


def _demand(words: Words, floor: Int8, need: Ints, pool: Words) -> None:
    """Strike the units that do not supply what R7.5 demands."""
    pairs = floor == TWO_PAIRS
    least = np.where(pairs, 2, floor)
    for d in range(len(pool)):
        words[least > d + 1, d] = U64(0)
    first = np.flatnonzero(pairs & (need == 4))
    if len(first):  # a pair must be left under the first one
        words[first, 1] = pool[1, first] & (pool[1, first] - U64(1))


def follow_apply(t: Tables, g: Index, action: Ints) -> Index:
    """Name a unit; returns the tables whose hand is over."""
    done, play = name_unit(t, g, action)
    g, over = _commit(t, g[done], play)
    more = _run_turns(t, g)
    return np.concatenate([over, more]) if len(over) else more


def name_unit(t: Tables, g: Index, action: Ints) -> tuple[Flags, Words]:
    """Take the named unit from the hand, with what was set aside before.

    Returns where the play is complete and those plays ``uint64[D, n]``; elsewhere the unit is set aside.
    """
    number, slot = (action // NUM_SLOTS + 1).astype(np.int16), action % NUM_SLOTS
    unit = copies(slot, number, t.rules.decks)
    at = g * NUM_HOLDERS + HAND + t.seat[g]
    t.flat[:, at] = planes.minus(t.flat.take(at, axis=1), unit)
    rest = t.need[g] - number
    t.need[g] = rest
    done = rest == 0
    at = g * NUM_HOLDERS + PENDING
    before = t.flat.take(at, axis=1)
    play = before | unit  # a card is named once: nothing to add up
    changed = np.flatnonzero(~done | (before[0] != 0))
    t.flat[:, at[changed]] = np.where(done[changed], U64(0), play[:, changed])
    # Where fewer cards are owed than the last unit had, every slot is open to the next.
    fewer = rest < number
    t.last_copies[g] = np.minimum(rest, number)
    t.last[g] = np.where(fewer, _ANY, slot)
    if t.rules.follow == "dead":
        t.floor[g] = np.where(t.floor[g] == TWO_PAIRS, TWO_PAIRS, 1)
    return np.asarray(done), play[:, done]


def _commit(t: Tables, g: Index, play: Words) -> tuple[Index, Index]:
    """Lay down whole plays ``uint64[D, n]``; returns the tables where the next seat follows, and the finished ones."""
    if not len(g):
        return g, g
    seat, level = t.seat[g], t.level[g]
    at = g * NUM_HOLDERS + PLAYED + seat
    t.flat[:, at] = planes.add(t.flat.take(at, axis=1), play)
    _lay(t, g, seat, play)
    worth = np.flatnonzero(play[0] & t.layout.point_cards[level])
    if len(worth):
        t.trick_points[g[worth]] += t.layout.value(level[worth], play[:, worth])
    contest(t, g, seat, play)
    _learn(t, g, seat, play)
    last = seat == ((t.leader[g] + 3) & 3)
    go_on = g[~last]
    t.seat[go_on] = (t.seat[go_on] + 1) & 3
    ended = g[last]
    return go_on, _end_trick(t, ended) if len(ended) else ended


def contest(t: Tables, g: Index, seat: Int8, play: Words) -> None:
    """R7.6, R2.5: the same shape in the led suit or in trumps wins if it is strictly stronger."""
    whole = play[t.led_count[g] - 1, np.arange(len(g))] & t.win_mask[g]
    able = np.flatnonzero(whole)
    rows = g[able]
    slot = single(whole[able])
    level = t.level[rows]
    wins = t.layout.strength[level, slot] > t.layout.strength[level, t.best_slot[rows]]
    rows = rows[wins]
    t.best[rows] = seat[able[wins]]
    t.best_slot[rows] = slot[wins]


def _learn(t: Tables, g: Index, seat: Int8, play: Words) -> None:
    """What a play proves: a seat that did not follow suit has none left; in dead following, shapes it lacked."""
    led = t.led_mask[g]
    out = (play[0] & ~led) != 0
    rows = g[out]
    t.void[rows, seat[out], t.led_suit[rows]] = True
    if t.rules.follow == "dead":
        _learn_shapes(t, g[~out], seat[~out], play[:, ~out])


def _learn_shapes(t: Tables, g: Index, seat: Int8, play: Words) -> None:
    """R7.5: who could have owed a shape and did not play it held no exact pair (or triple) just then."""
    owed, suit = t.led_count[g], t.led_suit[g]
    pair = (owed >= 2) & (play[1] == 0)
    triple = (owed >= 3) & (play[2] == 0)
    t.no_pair[g[pair], seat[pair], suit[pair]] = True
    t.no_triple[g[triple], seat[triple], suit[triple]] = True


def _end_trick(t: Tables, g: Index) -> Index:
    """R7.7: the winner's side takes the points, the winner leads; returns the tables whose hand is over."""
    winner = t.best[g]
    attackers = ((winner ^ t.dealer[g]) & 1) != 0
    t.score[g] += t.trick_points[g] * attackers
    t.held[g] -= t.led_count[g]
    t.leader[g] = t.seat[g] = winner
    over = t.held[g] == 0
    _open_trick(t, g[~over])
    finished: Index = g[over]
    return finished
