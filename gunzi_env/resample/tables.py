"""The tables that a :class:`gunzi_env.views.View` tells of: everything but the hidden cards, at the viewer's decision.

What a decision has become on the way (what is forced, what was named and what may still be) is not in a View; it
follows from the viewer's own cards, and the chapters of the rules are asked again (:func:`_stand`).
"""

from __future__ import annotations

import numpy as np

from gunzi_env import engine, planes
from gunzi_env.chapters import kitty, selection, tribute, tricks
from gunzi_env.order import TRUMP
from gunzi_env.planes import FULL, NUM_SLOTS, U64, Words, bits, count, lowest, select, where
from gunzi_env.tables import HAND, KITTY, NOBODY, PENDING, PLAYED, Index, Int8, Phase, Tables
from gunzi_env.views import DEALER_OR_KITTY, Shown, View

_SAME, _SEATS, _BY_SEAT = (
    [field.name for field in View.columns if field.seen is how] for how in (Shown.SAME, Shown.SEAT, Shown.BY_SEAT)
)


def without_hidden(v: View) -> Tables:
    """B tables with all that ``v`` shows, hidden hands empty; ``legal`` is what the viewer may do."""
    t = Tables(v.rules, len(v))
    everyone = np.arange(len(v))
    engine.clear(t, everyone)
    for name in _SAME:
        getattr(t, name)[...] = getattr(v, name)
    for name in _SEATS:
        seat = getattr(v, name)
        getattr(t, name)[:] = np.where(seat == NOBODY, NOBODY, (seat + v.seat) & 3)
    t.phase[:], t.seat[:] = v.phase, v.seat
    t.hand[:] = ~v.first_hand
    odd = (v.seat & 1).astype(np.bool_)
    t.levels[:] = np.where(odd[:, None], v.levels[:, ::-1], v.levels)
    t.next_levels[:] = t.levels
    _exchange(t, v)
    for k in range(4):
        seat = (v.seat + k) & 3
        t.put(everyone, PLAYED + seat, v.played[:, :, k])
        t.trick[:, everyone, seat] = v.trick[:, :, k]
        for name in _BY_SEAT:
            getattr(t, name)[everyone, seat] = getattr(v, name)[:, k]
    _recall(t, v)
    t.put(everyone, HAND + v.seat, planes.add(v.hand, v.pending & where(v.phase != Phase.PICKUP)))
    t.put(everyone, KITTY, v.kitty)
    _stand(t, v)
    engine.refresh(t, everyone)
    return t


def _exchange(t: Tables, v: View) -> None:
    """R5.1, R5.5: who gives; in the giver's own decision nothing has been given yet."""
    turned = (t.phase == Phase.TRIBUTE) & (t.dealer == t.seat)
    t.giver[:] = np.where(v.giver == NOBODY, (t.dealer + np.where(turned, 0, 3)) & 3, t.giver)
    t.receiver[:] = np.where(t.giver == t.dealer, (t.dealer + 3) & 3, t.dealer)


def _recall(t: Tables, v: View) -> None:
    """``shown``, ``known``, ``loose`` and ``returned`` such that the View tells what it tells: its lower bounds are
    less by what has been played since, so the cards played of the same slots are put back."""
    everyone = np.arange(len(v))
    known = v.known[:, :, :4].copy()
    # R5.4: what the viewer returned he alone knows; of what he knows of the giver, that which was not shown.
    returns = (t.receiver == v.seat) & (v.tribute[0] != 0) & (t.giver != t.dealer)
    rows, giver = everyone[returns], v.giver[returns]
    public = known[:, rows, giver] & planes.minus(v.shown[:, rows, giver], v.tribute[:, rows])
    secret = planes.minus(known[:, rows, giver], public)
    known[:, rows, giver] = public
    for k in range(4):
        seat, played = (v.seat + k) & 3, v.played[:, :, k]
        for name, left in (("shown", v.shown[:, :, k]), ("known", known[:, :, k])):
            getattr(t, name)[:, everyone, seat] = _before(left, played)
    t.returned[:, rows] = _before(secret, _beyond(t, rows, t.giver[rows]))
    some = np.flatnonzero(v.known[0, :, DEALER_OR_KITTY])
    t.loose[:, some] = _before(v.known[:, some, DEALER_OR_KITTY], _beyond(t, some, t.dealer[some]))


def _before(left: Words, played: Words) -> Words:
    """What ``played`` has left over, at least, in the slots where anything is left."""
    return planes.add(left, played & left[0])


def _beyond(t: Tables, rows: Index, seat: Int8) -> Words:
    """What a seat played beyond what was known of it."""
    return planes.minus(t.holder(rows, PLAYED + seat), t.known[:, rows, seat])


def _stand(t: Tables, v: View) -> None:
    """Bring every table to the viewer's decision: what he was asked at first, then what he has named since."""
    for phase in Phase:
        g = np.flatnonzero(t.phase == phase)
        if not len(g):
            continue
        if phase == Phase.TRIBUTE:
            tribute.ask(t, g, t.blood[g] > 0)
        elif phase == Phase.RETURN:
            tribute.enter_return(t, g)
        elif phase == Phase.BURY:
            nothing = np.zeros(len(g), U64)
            selection.begin(t, g, HAND + t.seat[g], nothing, nothing | FULL, v.need[g] + count(v.pending[:, g]))
        elif phase == Phase.PICKUP:
            t.put(g, KITTY, planes.add(v.kitty[:, g], v.pending[:, g]))
            kitty.ask_pickup(t, g, v.need[g] + count(v.pending[:, g]))
        elif phase == Phase.JOKERS:
            t.source[g] = HAND + t.seat[g]
        elif phase == Phase.FOLLOW:
            _follow(t, v, g)
        if phase != Phase.FOLLOW:
            _name_cards(t, g, v.pending[:, g])
        t.need[g] = v.need[g]


def _name_cards(t: Tables, g: Index, pending: Words) -> None:
    """Set the cards of a half-made choice aside, from the highest slot down."""
    named = planes.minus(pending, t.holder(g, PENDING))
    t.put(g, t.source[g], planes.minus(t.holder(g, t.source[g]), named))
    t.put(g, PENDING, pending)
    some = np.flatnonzero(named[0])
    t.last[g[some]] = lowest(named[0, some])


def _follow(t: Tables, v: View, g: Index) -> None:
    """R7.3: what must be played is set aside, then the units named are named again."""
    layout, level = t.layout, t.level[g]
    t.led_mask[g] = layout.suit_mask[level, t.led_suit[g]]
    t.win_mask[g] = t.led_mask[g] | layout.suit_mask[level, TRUMP]
    tricks.begin_turn(t, g)
    pending = v.pending[:, g]
    for copies in range(t.rules.decks, 0, -1):
        while True:
            rest = planes.minus(pending, t.holder(g, PENDING))[copies - 1]
            some = np.flatnonzero(rest)
            if not len(some):
                break
            highest = select(rest[some], bits(rest[some]) - np.uint8(1))
            tricks.name_unit(t, g[some], (copies - 1) * NUM_SLOTS + highest.astype(np.intp))
