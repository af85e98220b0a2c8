"""Twin of :func:`gunzi_env.observe.encode` of :func:`gunzi_env.views.view`: table by table, for numba to compile.

The originals explain the encoding. Its layout (the bits of each number, the widths of the words) is passed in from
:mod:`gunzi_env.observe` and not repeated here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gunzi_env.compiled.jit import inlined, jit
from gunzi_env.compiled.rows import Decks, rows
from gunzi_env.compiled.tricks import FIVES, TENS
from gunzi_env.planes import BIT, FULL
from gunzi_env.tables import HAND, KITTY, NOBODY, NUM_HOLDERS, PENDING, PLAYED, Phase

Array = npt.NDArray[Any]

_BID, _JOKERS, _OVER = int(Phase.BID), int(Phase.JOKERS), int(Phase.OVER)
_NONE, _ONE = np.uint64(0), np.uint64(1)


@inlined
def _left(words: Array, decks: Decks, n: int, of: int, step: int, less: int, less_step: int) -> np.uint64:
    """The slots of the multiset at rows ``of, of + step, ...`` that are left without that at ``less, ...``."""
    slots = _NONE
    for d in range(len(decks)):
        slots |= words[of + d * step, n] & ~words[less + d * less_step, n]
    return slots


@inlined
def _beyond(words: Array, decks: Decks, n: int, known: int, seat: int, out: Array) -> None:
    """What a seat played beyond the cards known of it, as planes."""
    for d in range(len(decks)):
        out[d] = _NONE
        for j in range(len(decks) - d):
            out[d] |= words[(d + j) * NUM_HOLDERS + PLAYED + seat, n] & ~words[known + 4 * j + seat, n]


@inlined
def _left_of_row(words: Array, decks: Decks, n: int, of: int, less: Array) -> np.uint64:
    """The slots of the multiset at rows ``of, of + 1, ...`` that are left without ``less``."""
    slots = _NONE
    for d in range(len(decks)):
        slots |= words[of + d, n] & ~less[d]
    return slots


@inlined
def _add(seen: Array, words: Array, decks: Decks, n: int, holder: int) -> None:
    """Add a holder's cards to the planes ``seen``."""
    for d in range(len(decks) - 1, -1, -1):
        union = seen[d] | words[d * NUM_HOLDERS + holder, n]
        for j in range(d):
            union |= seen[j] & words[(d - 1 - j) * NUM_HOLDERS + holder, n]
        seen[d] = union


@inlined
def _see_sets(
    r: Any,
    words: Array,
    octets: Array,
    flags: Array,
    masks: Array,
    decks: Decks,
    n: int,
    me: int,
    mine: bool,
    kitty_known: bool,
    work: Array,
    out: Array,
) -> None:
    """The sets of slots; ``work`` is ``uint64[D]`` to work in."""
    level = octets[r.level, n]
    for d in range(len(decks)):
        work[d] = out[d] = words[d * NUM_HOLDERS + HAND + me, n]
    if mine:
        _add(work, words, decks, n, PENDING)
    for seat in range(4):
        _add(work, words, decks, n, PLAYED + seat)
    if kitty_known:
        _add(work, words, decks, n, KITTY)
    out[len(decks)] = words[PENDING, n] if mine else _NONE
    for d in range(len(decks)):
        out[len(decks) + 1 + d] = ~work[len(decks) - 1 - d] & FULL
    at = 2 * len(decks) + 1
    base = r.shown if octets[r.phase, n] <= _BID else r.known
    for k in range(3):
        seat = (me + 1 + k) & 3
        out[at + k] = words[r.trick + seat, n]
        out[at + 4 + k] = _left(words, decks, n, base + seat, 4, PLAYED + seat, NUM_HOLDERS)
    best = octets[r.best_slot, n]
    out[at + 3] = BIT[best] if best >= 0 else _NONE
    dealer = octets[r.dealer, n]
    loose = _NONE
    if words[r.loose, n]:
        _beyond(words, decks, n, r.known, dealer, work)
        loose = _left_of_row(words, decks, n, r.loose, work)
    if me == octets[r.receiver, n] and words[r.returned, n]:
        giver = octets[r.giver, n]
        _beyond(words, decks, n, r.known, giver, work)
        back = _left_of_row(words, decks, n, r.returned, work)
        if giver == dealer and octets[r.phase, n] >= _JOKERS and not flags[r.kitty_public, n]:
            loose |= back
        elif giver != me:
            out[at + 4 + ((giver - me) & 3) - 1] |= back
    out[at + 7] = loose
    out[at + 8] = words[KITTY, n] if kitty_known else _NONE
    out[at + 9], out[at + 10] = masks[level, FIVES], masks[level, TENS]


@inlined
def _around(seat: int, me: int) -> int:
    """A seat as the viewer counts."""
    return NOBODY if seat == NOBODY else (seat - me) & 3


@inlined
def _suits(flags: Array, first: int, seat: int, n: int) -> int:
    """Flags of a seat by suit, as a binary number."""
    number = 0
    for suit in range(4):
        number |= int(flags[first + 4 * suit + seat, n]) << suit
    return number


@inlined
def _see_numbers(
    r: Any,
    octets: Array,
    shorts: Array,
    flags: Array,
    n: int,
    me: int,
    mine: bool,
    kitty_known: bool,
    out: Array,
) -> None:
    """The numbers, in the order of the encoding."""
    team = me & 1
    out[0] = octets[r.phase, n] if mine else NOBODY
    out[1], out[2] = octets[r.levels + team, n], octets[r.levels + 1 - team, n]
    out[3], out[4] = _around(octets[r.dealer, n], me), octets[r.trump, n]
    out[5] = (
        int(flags[r.first_hand, n])
        | int(flags[r.kitty_public, n]) << 1
        | int(flags[r.kitty_shown, n]) << 2
        | int(flags[r.dry, n]) << 3
        | int(kitty_known) << 4
    )
    out[6], out[7], out[8] = shorts[r.blood, n], shorts[r.score, n], shorts[r.held, n]
    out[9], out[10] = shorts[r.drawn, n], shorts[r.need, n] if mine else 0
    out[11], out[12] = shorts[r.pickable, n], octets[r.led_count, n]
    out[13], out[14] = octets[r.led_suit, n], _around(octets[r.leader, n], me)
    out[15], out[16] = _around(octets[r.best, n], me), shorts[r.trick_points, n]
    out[17], out[18] = octets[r.bid_strength, n], octets[r.bid_suit, n]
    out[19] = _around(octets[r.bid_seat, n], me)
    for k in range(3):
        seat = (me + 1 + k) & 3
        out[20 + k] = _suits(flags, r.void, seat, n)
        out[23 + k] = _suits(flags, r.no_pair, seat, n)
        out[26 + k] = _suits(flags, r.no_triple, seat, n)


@jit
def encode(
    words: Array,
    octets: Array,
    shorts: Array,
    flags: Array,
    masks: Array,
    decks: Decks,
    g: Array,
    viewer: Array,
    low: Array,
    high: Array,
    at: Array,
    bits: Array,
    first: Array,
    widths: Array,
    one: Any,
    out: Array,
) -> None:
    """Encode what ``viewer[i]`` sees of table ``g[i]`` into ``out[i]``, ``one`` where a flag is set."""
    r = rows(decks)
    sets = len(widths) - len(first) + 1
    numbers = np.empty(len(low), np.int64)
    seen = np.empty(len(widths), np.uint64)
    work = np.empty(len(decks), np.uint64)
    zero = out.dtype.type(0)
    for i in range(len(g)):
        n, me = g[i], viewer[i]
        phase = octets[r.phase, n]
        mine = me == octets[r.seat, n] and phase != _OVER
        kitty_known = flags[r.kitty_public, n] or (me == octets[r.dealer, n] and phase >= _JOKERS)
        _see_sets(r, words, octets, flags, masks, decks, n, me, mine, kitty_known, work, seen)
        _see_numbers(r, octets, shorts, flags, n, me, mine, kitty_known, numbers)
        for k in range(len(first) - 1):
            word = _NONE
            for piece in range(first[k], first[k + 1]):
                value = min(max(numbers[piece], low[piece]), high[piece])
                word |= bits[value + at[piece]]
            seen[sets + k] = word
        row, column = out[i], 0
        for k in range(len(widths)):
            word, part = seen[k], row[column : column + widths[k]]  # a loop over a slice is vectorised
            for s in range(len(part)):
                part[s] = one if (word >> np.uint64(s)) & _ONE else zero
            column += widths[k]
