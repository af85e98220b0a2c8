"""Twin of :mod:`gunzi_env.chapters.tricks`: R7 table by table, compiled by numba.

The original handles many tables at a time and explains the rules; tests compare the two at every step. Words, and
everything combined with them, are ``uint64`` throughout.

The functions take whole buffers, not the array of each field: numba counts references to every array argument.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gunzi_env.compiled.jit import inlined, jit
from gunzi_env.compiled.rows import Decks, rows
from gunzi_env.planes import BELOW, BIT, FULL
from gunzi_env.tables import ANY, HAND, NOBODY, NUM_HOLDERS, PENDING, PLAYED, TWO_PAIRS, Phase

Array = npt.NDArray[Any]

_LEAD, _FOLLOW = int(Phase.LEAD), int(Phase.FOLLOW)
_NONE, _ONE, _ALL = np.uint64(0), np.uint64(1), np.uint64(2**64 - 1)
_SLOTS, _TRUMP = 54, 3
_M1, _M2, _M4, _H01 = (np.uint64(0x0101010101010101 * byte) for byte in (0x55, 0x33, 0x0F, 0x01))
_S1, _S2, _S4, _S56 = (np.uint64(shift) for shift in (1, 2, 4, 56))

_GOES_ON, _OVER, _TRICK_ENDED = 0, 1, 2

FIVES, TENS = 4, 5
"""Columns of ``masks[level, 6]``; the first four are the led suits."""
SUIT, STRENGTH, POINTS = 0, 1, 2
"""Columns of ``cards[level, slot, 3]``."""


@inlined
def bits(word: np.uint64) -> np.int64:
    """Count the bits of a word."""
    word = word - ((word >> _S1) & _M1)
    word = (word & _M2) + ((word >> _S2) & _M2)
    word = (word + (word >> _S4)) & _M4
    return np.int64((word * _H01) >> _S56)


@jit
def lead_legal(words: Array, octets: Array, decks: Decks, g: Array) -> None:
    """R7.2: any shape."""
    r = rows(decks)
    for n in g:
        for d in range(len(decks)):
            words[r.legal + d, n] = words[d * NUM_HOLDERS + HAND + octets[r.seat, n], n]
        words[r.legal + len(decks), n] = _NONE


@jit
def follow_legal(
    words: Array,
    octets: Array,
    shorts: Array,
    flags: Array,
    masks: Array,
    cards: Array,
    decks: Decks,
    g: Array,
    dead: bool,
) -> None:
    """The next unit of a follow. Takes all buffers, so that a rule that binds it can read any field."""
    r = rows(decks)
    for n in g:
        hand, led = HAND + octets[r.seat, n], words[r.led_mask, n]
        mask = led if words[hand, n] & led else FULL
        mask &= ~words[PENDING, n]
        need, most = shorts[r.need, n], octets[r.last_copies, n]
        spare = need - 1
        for d in range(len(decks)):
            pool = words[d * NUM_HOLDERS + hand, n] & mask
            word = _NONE
            if most > d + 1:
                word = pool
            elif most == d + 1:
                word = pool & BELOW[octets[r.last, n]]
            if d < len(decks) - 1:
                for _ in range(min(spare, len(decks) - 1 - d)):
                    word &= word - _ONE
                spare -= bits(pool)
            words[r.legal + d, n] = word
        words[r.legal + len(decks), n] = _NONE
        if dead:
            _demand(r, words, octets, shorts, n, hand, mask)


@inlined
def _demand(r: Any, words: Array, octets: Array, shorts: Array, n: int, hand: int, mask: np.uint64) -> None:
    """R7.5: strike the units that do not supply what is demanded."""
    floor = octets[r.floor, n]
    least = 2 if floor == TWO_PAIRS else floor
    for d in range(least - 1):
        words[r.legal + d, n] = _NONE
    if floor == TWO_PAIRS and shorts[r.need, n] == 4:
        pairs = words[NUM_HOLDERS + hand, n] & mask
        words[r.legal + 1, n] = pairs & (pairs - _ONE)


@inlined
def _remove(words: Array, decks: Decks, n: int, holder: int, slot: int, number: int) -> None:
    """Take ``number`` copies of a slot away."""
    for d in range(len(decks) - 1, -1, -1):
        if number and words[d * NUM_HOLDERS + holder, n] & BIT[slot]:
            words[d * NUM_HOLDERS + holder, n] &= ~BIT[slot]
            number -= 1


@inlined
def _lay(r: Any, words: Array, decks: Decks, n: int, seat: int, play: Array) -> None:
    """Put a seat's play on the table."""
    for d in range(len(decks) - 1, -1, -1):
        words[r.trick + 4 * d + seat, n] = play[d]
        union = words[d * NUM_HOLDERS + PLAYED + seat, n] | play[d]
        for j in range(d):
            union |= words[j * NUM_HOLDERS + PLAYED + seat, n] & play[d - 1 - j]
        words[d * NUM_HOLDERS + PLAYED + seat, n] = union


@jit
def lead_apply(
    words: Array,
    octets: Array,
    shorts: Array,
    flags: Array,
    masks: Array,
    cards: Array,
    g: Array,
    action: Array,
    dead: bool,
    decks: Decks,
    play: Array,
    over: Array,
) -> int:
    """R7.2: play the shape led; writes the tables whose hand is over into ``over`` and returns their number."""
    r = rows(decks)
    number_over = 0
    for i, n in enumerate(g):
        number, slot, seat, level = action[i] // _SLOTS + 1, action[i] % _SLOTS, octets[r.seat, n], octets[r.level, n]
        suit = cards[level, slot, SUIT]
        octets[r.led_suit, n], octets[r.led_count, n] = suit, number
        words[r.led_mask, n] = masks[level, suit]
        words[r.win_mask, n] = masks[level, suit] | masks[level, _TRUMP]
        shorts[r.trick_points, n] = number * cards[level, slot, POINTS]
        octets[r.best, n], octets[r.best_slot, n] = seat, slot
        _remove(words, decks, n, HAND + seat, slot, number)
        for d in range(len(decks)):
            play[d] = BIT[slot] if d < number else _NONE
        _lay(r, words, decks, n, seat, play)
        octets[r.phase, n] = _FOLLOW
        octets[r.seat, n] = (seat + 1) & 3
        if _run_turns(r, words, octets, shorts, flags, masks, cards, n, dead, decks, play):
            over[number_over] = n
            number_over += 1
    return number_over


@jit
def follow_apply(
    words: Array,
    octets: Array,
    shorts: Array,
    flags: Array,
    masks: Array,
    cards: Array,
    g: Array,
    action: Array,
    dead: bool,
    decks: Decks,
    play: Array,
    over: Array,
) -> int:
    """Name a unit; writes and returns as :func:`lead_apply`."""
    r = rows(decks)
    number_over = 0
    for i, n in enumerate(g):
        number, slot = action[i] // _SLOTS + 1, action[i] % _SLOTS
        _remove(words, decks, n, HAND + octets[r.seat, n], slot, number)
        rest = shorts[r.need, n] - number
        for d in range(len(decks)):
            play[d] = words[d * NUM_HOLDERS + PENDING, n] | (BIT[slot] if d < number else _NONE)
            words[d * NUM_HOLDERS + PENDING, n] = play[d] if rest else _NONE
        shorts[r.need, n] = rest
        octets[r.last_copies, n] = min(rest, number)
        octets[r.last, n] = ANY if rest < number else slot
        if dead and octets[r.floor, n] != TWO_PAIRS:
            octets[r.floor, n] = 1
        if rest:
            continue
        ended = _commit(r, words, octets, shorts, flags, masks, cards, n, dead, decks, play)
        if ended == _GOES_ON:
            ended = _run_turns(r, words, octets, shorts, flags, masks, cards, n, dead, decks, play)
        if ended == _OVER:
            over[number_over] = n
            number_over += 1
    return number_over


@inlined
def _run_turns(
    r: Any,
    words: Array,
    octets: Array,
    shorts: Array,
    flags: Array,
    masks: Array,
    cards: Array,
    n: int,
    dead: bool,
    decks: Decks,
    play: Array,
) -> int:
    """Begin the turn of the seat to move and play on while turns are forced; returns 1 if the hand is over."""
    while _begin_turn(r, words, octets, shorts, n, dead, decks, play):
        ended = _commit(r, words, octets, shorts, flags, masks, cards, n, dead, decks, play)
        if ended != _GOES_ON:
            return int(ended == _OVER)
    return 0


@inlined
def _begin_turn(
    r: Any, words: Array, octets: Array, shorts: Array, n: int, dead: bool, decks: Decks, play: Array
) -> bool:
    """R7.3: take the forced cards from the hand; returns whether they are the whole play."""
    hand, led, owed = HAND + octets[r.seat, n], words[r.led_mask, n], octets[r.led_count, n]
    suited: Any = 0
    for d in range(len(decks)):
        suited += bits(words[d * NUM_HOLDERS + hand, n] & led)
    whole = shorts[r.held, n] == owed
    must = _ALL if whole else (led if suited <= owed else _NONE)
    need = 0 if whole else (owed - suited if suited <= owed else owed)
    shorts[r.need, n] = octets[r.last_copies, n] = need
    octets[r.last, n] = ANY
    if dead:
        octets[r.floor, n] = 1 if suited < owed or need == 0 else _owed_shape(words, decks, n, hand, led, owed)
    for d in range(len(decks)):
        play[d] = words[d * NUM_HOLDERS + hand, n] & must
        words[d * NUM_HOLDERS + hand, n] &= ~must
        if need and play[0]:
            words[d * NUM_HOLDERS + PENDING, n] = play[d]
    return need == 0


@inlined
def _owed_shape(words: Array, decks: Decks, n: int, hand: int, led: np.uint64, owed: int) -> int:
    """R7.5: the ``floor`` of a hand with more cards of the led suit than are owed."""
    two, three = words[NUM_HOLDERS + hand, n] & led, words[2 * NUM_HOLDERS + hand, n] & led
    four = words[3 * NUM_HOLDERS + hand, n] & led if len(decks) > 3 else _NONE
    pairs, triples = two & ~three, three & ~four
    if owed == 4 and four:
        return 4
    if owed >= 3 and triples:
        return 3
    if owed == 4 and bits(pairs) >= 2:
        return TWO_PAIRS
    if owed >= 2 and pairs:
        return 2
    return 1


@inlined
def _commit(
    r: Any,
    words: Array,
    octets: Array,
    shorts: Array,
    flags: Array,
    masks: Array,
    cards: Array,
    n: int,
    dead: bool,
    decks: Decks,
    play: Array,
) -> int:
    """Lay down a whole play; returns whether the game goes on, the trick has ended, or the hand is over."""
    seat, level = octets[r.seat, n], octets[r.level, n]
    _lay(r, words, decks, n, seat, play)
    for d in range(len(decks)):
        shorts[r.trick_points, n] += 5 * bits(play[d] & masks[level, FIVES]) + 10 * bits(play[d] & masks[level, TENS])
    whole = play[octets[r.led_count, n] - 1] & words[r.win_mask, n]
    if whole:
        slot = bits(whole - _ONE)
        if cards[level, slot, STRENGTH] > cards[level, octets[r.best_slot, n], STRENGTH]:
            octets[r.best, n], octets[r.best_slot, n] = seat, slot
    suit = octets[r.led_suit, n]
    if play[0] & ~words[r.led_mask, n]:
        flags[r.void + 4 * suit + seat, n] = True
    elif dead:
        if octets[r.led_count, n] >= 2 and not play[1]:
            flags[r.no_pair + 4 * suit + seat, n] = True
        if octets[r.led_count, n] >= 3 and not play[2]:
            flags[r.no_triple + 4 * suit + seat, n] = True
    if seat != ((octets[r.leader, n] + 3) & 3):
        octets[r.seat, n] = (seat + 1) & 3
        return _GOES_ON
    return _end_trick(r, words, octets, shorts, decks, n)


@inlined
def _end_trick(r: Any, words: Array, octets: Array, shorts: Array, decks: Decks, n: int) -> int:
    """R7.7: the winner's side takes the points, the winner leads."""
    winner = octets[r.best, n]
    if (winner ^ octets[r.dealer, n]) & 1:
        shorts[r.score, n] += shorts[r.trick_points, n]
    octets[r.leader, n] = octets[r.seat, n] = winner
    shorts[r.held, n] -= octets[r.led_count, n]
    if shorts[r.held, n] == 0:
        return _OVER
    octets[r.phase, n] = _LEAD
    for row in range(r.trick, r.trick + 4 * len(decks)):
        words[row, n] = _NONE
    octets[r.led_count, n] = shorts[r.trick_points, n] = 0
    octets[r.led_suit, n] = octets[r.best, n] = octets[r.best_slot, n] = NOBODY
    return _TRICK_ENDED
