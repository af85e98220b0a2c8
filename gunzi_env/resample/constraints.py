"""What a :class:`gunzi_env.views.View` says of where each unseen card can lie: the constraints of :mod:`gunzi_env.resample`.

Each physical card that the viewer has not located has a set of *places* it may be in: the hands of his next, his
partner and his previous, and the kitty where he does not know it. Cards of one slot can differ: one that was shown
lies with him who showed it, the others may lie anywhere. Everything here is sound, that is, true of the deal itself:

* voids (R7.3), and exact pairs, triples and quads that a seat did not have when it owed them (R7.5, :func:`_lacks`);
* cards that were shown, given, returned, picked up or turned up: ``View.known``, and for tribute :func:`_given`;
* tribute: who gave his largest cards has kept no larger ones (R5.1-3): see :func:`_kept_none`;
* an unknown buried kitty has no joker (R6.4), and how many of its cards can be picked up is public (R6.5);
* who buried a small joker has no big one (R6.3), where it was certainly the dealer;
* nobody on the owing side holds all big jokers where tribute was given to the dealer under ``anti_tribute`` (R5.5).

Left unused: that the dealer of a first hand drew a card of the trump suit (R4.2), and that a quad led was not answered
by two exact pairs (R7.5).
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from gunzi_env import observe, planes
from gunzi_env.chapters.kitty import pickable_mask
from gunzi_env.chapters.tribute import giveable_mask
from gunzi_env.order import BIG_JOKER_SLOT, JOKERS, NUM_LEVELS, SMALL_JOKER_SLOT, TRUMP, Layout
from gunzi_env.planes import BIT, FULL, U64, ZERO, Words, count, where
from gunzi_env.tables import Flags, Int8, Int16, Phase, Tables
from gunzi_env.views import DEALER_OR_KITTY, View

HIDDEN_KITTY = 3
"""The place after the three hands (0 next, 1 partner, 2 previous)."""

NUM_PLACES = 4

_BIG, _SMALL = BIT[BIG_JOKER_SLOT], BIT[SMALL_JOKER_SLOT]

_FEW = 8
"""A tribute of one card in so many of a hand, or fewer, was returned in side cards without points (R5.4): that the
receiver of 4 of 39 has no 4 of these is one hand in forty millions."""


class Constraints(NamedTuple):
    """V rows; D copies of each slot."""

    may: Words  # [place, D, V] where copy d of a slot may lie; none for a copy that is seen
    room: Int16  # [place, V] how many unseen cards lie there
    points: Words  # [V] slots of point cards: the kitty has as many of these as follows
    least: Int16  # [V] at least
    most: Int16  # [V] at most
    never: Words  # [D, 3, V] slots of which a seat does not hold exactly 1, 2, ... copies

    def rows(self, idx: planes.Ints | slice) -> Constraints:
        """The constraints of some rows."""
        may, never = self.may[..., idx], self.never[..., idx]
        return Constraints(may, self.room[:, idx], self.points[idx], self.least[idx], self.most[idx], never)


def read(v: View, t: Tables) -> Constraints:
    """The constraints of ``v``, whose tables without the hidden cards are ``t``; :class:`ValueError` names a row whose
    unseen cards are not as many as hidden hands and kitty have."""
    hidden = ~v.kitty_known & (v.phase != Phase.BURY)  # R6.2: while he buries, the dealer holds the kitty
    unseen = observe.unseen(v)
    room = _rooms(v, hidden)
    _check_number(unseen, room)
    barred = _barred(v, t, hidden)
    least, most = _points_buried(v, hidden)
    points = v.layout.point_cards[v.level]
    return Constraints(_places(v, t, hidden, unseen, barred), room, points, least, most, _lacks(v, t))


def _rooms(v: View, hidden: Flags) -> Int16:
    """How many cards each hidden hand and the kitty have."""
    room = np.empty((NUM_PLACES, len(v)), np.int16)
    for place in range(3):
        room[place] = v.held - count(v.trick[:, :, place + 1])
        giving = (v.phase == Phase.RETURN) & (v.giver == place + 1)
        room[place] -= giving * count(v.tribute)  # R5.4: he has given and waits for the return
    room[HIDDEN_KITTY] = v.rules.kitty_size * hidden
    return room


def _check_number(unseen: Words, room: Int16) -> None:
    number, fits = count(unseen), room.sum(axis=0)
    wrong = np.flatnonzero((number != fits) | (room < 0).any(axis=0))
    if len(wrong):
        n = wrong[0]
        raise ValueError(
            f"{number[n]} cards are unseen, but {fits[n]} lie in hidden hands and kitty: hands are drawn where "
            "all cards are in play"
        )


def _points_buried(v: View, hidden: Flags) -> tuple[Int16, Int16]:
    """R6.5: how many point cards an unknown buried kitty has, from how many of its cards may be picked up."""
    size = np.int16(v.rules.kitty_size)
    least, most = np.zeros(len(v), np.int16), size * hidden
    said = hidden & (v.phase >= Phase.JOKERS) & v.rules.others_bury
    if v.rules.others_bury_block == "any_points":
        most[said & (v.pickable > 0)] = 0
        least[said & (v.pickable == 0)] = 1
    else:
        least[said] = most[said] = size - v.pickable[said]
    return least, most


def _suit_masks(v: View) -> Words:
    """The slots of each led suit, ``uint64[V, 4]``."""
    return np.asarray(v.layout.suit_mask[v.level])


def _in_suits(flags: Flags, masks: Words) -> Words:
    """Flags ``[V, 4]`` by suit as the slots of these suits."""
    return np.asarray(np.bitwise_or.reduce(where(flags) & masks, axis=1))


def _barred(v: View, t: Tables, hidden: Flags) -> Words:
    """Slots of which a place has no card but those known to be there, ``uint64[place, V]``."""
    out = np.zeros((NUM_PLACES, len(v)), U64)
    masks = _suit_masks(v)
    kept = _kept_none(v, t)
    for place in range(3):
        out[place] = _in_suits(v.void[:, place + 1], masks) | (kept & where(v.giver == place + 1))
        buried = (v.dealer == place + 1) & v.kitty_public & ~v.dry & ((v.kitty[0] & _SMALL) != 0)
        alone = (v.phase == Phase.JOKERS) & (place == 2)  # the viewer is the first to be asked
        out[place] |= _BIG & where(buried & (alone | ~np.bool_(v.rules.others_bury)))  # R6.3
    # R6.4; and what the dealer did not keep he did not bury either.
    out[HIDDEN_KITTY] = (JOKERS | (kept & where(v.giver == v.dealer))) & where(v.phase >= Phase.JOKERS)
    out[HIDDEN_KITTY] |= where(~hidden)
    return out


def _unsure(v: View) -> Flags:
    """Can trumps or points have been returned (R5.4)? So many were given that the receiver may have had too few others,
    and he has not played more of these than the kitty (or a pick-up) can have brought."""
    sides = _returned_first(v)
    receiver = _receiver(v)[None, :, None].astype(np.intp) & 3
    played = count(np.take_along_axis(v.played, receiver, axis=2)[..., 0] & sides)
    return np.asarray((count(v.tribute) > v.rules.hand_size // _FEW) & (played <= v.rules.kitty_size))


def _returned_first(v: View) -> Words:
    """R5.4: side cards without points."""
    table = v.layout
    return np.asarray(~(table.point_cards[v.level] | table.suit_mask[v.level, TRUMP]) & FULL)


def _returnable(v: View) -> Words:
    """The slots that may have been returned."""
    return _returned_first(v) | (FULL & where(_unsure(v)))


@cache
def _larger(layout: Layout) -> Words:
    """By level and group (see ``Layout.rising``): the slots of all larger groups, ``uint64[level, groups + 1]``; before
    the first group stands all."""
    rising = layout.rising
    out = np.zeros((NUM_LEVELS, rising.shape[1] + 1), U64)
    out[:, :-1] = np.bitwise_or.accumulate(rising[:, ::-1], axis=1)[:, ::-1]
    return out


def _kept_none(v: View, t: Tables) -> Words:
    """R5.1-3: the slots of which the giver kept no card, nor has got one since that the viewer does not know of."""
    rising = v.layout.rising[v.level]
    weakest = ((rising & v.tribute[0][:, None]) != 0).argmax(axis=1)
    number = count(v.tribute)
    # R5.3: who gave fewer than he owed had no more that may be given.
    above = _larger(v.layout)[v.level, np.where(number < v.blood, 0, weakest + 1)]
    above &= giveable_mask(t, np.arange(len(v)))
    # He who returned cards knows which are still there; but for a dealer who has taken a kitty and buried since.
    above &= where(_viewer_receives(v) & (v.giver != v.dealer)) | ~_returnable(v)
    # R5.5: the dealer gave, and has taken a kitty since that nobody else saw.
    took = (v.giver == v.dealer) & ~v.kitty_shown & (v.phase >= Phase.BURY)
    return above & where((number > 0) & ~took)


def _receiver(v: View) -> Int8:
    """Who got the tribute, relative to the viewer (R5.1, R5.5)."""
    return np.where(v.giver == v.dealer, (v.dealer + 3) & 3, v.dealer)


def _viewer_receives(v: View) -> Flags:
    return np.asarray((_receiver(v) == 0) & (v.tribute[0] != 0))


def _given(v: View) -> tuple[Words, Words]:
    """Cards given as tribute, or shown by him who got it, that are still with him, with the giver or in the kitty:
    ``uint64[D, V]``, and which of these places there are, ``uint64[place, D, V]``. The receiver himself sees them."""
    receiver, returnable, masks = _receiver(v), _returnable(v), _suit_masks(v)
    # R6.5: what has lain in a public kitty may have been picked up since, by others than the dealer.
    pickable = pickable_mask(v.layout, v.level) & where(v.kitty_public)
    cards = v.tribute.copy()
    for seat in range(4):
        cards = planes.add(cards, v.shown[:, :, seat] & where(receiver == seat))
    cards = planes.minus(cards, v.kitty)
    may = np.zeros((NUM_PLACES, len(v)), U64)
    for seat in range(4):
        got, back = where(receiver == seat), where(v.giver == seat) & returnable
        picked = pickable & where(v.dealer != seat)
        cards = planes.minus(cards, v.played[:, :, seat] & (got | back | picked))
        if seat:
            cards = planes.minus(cards, v.known[:, :, seat] & picked)
            may[seat - 1] = (got | back) & ~_in_suits(v.void[:, seat], masks)
        else:
            cards = planes.minus(cards, planes.add(v.hand, v.pending) & (back | picked))
    may[HIDDEN_KITTY] = where(receiver == v.dealer) | (where(v.giver == v.dealer) & returnable)
    there = (v.tribute[0] != 0) & ~_viewer_receives(v) & (v.phase > Phase.RETURN)
    return cards & where(there), may


def _places(v: View, t: Tables, hidden: Flags, unseen: Words, barred: Words) -> Words:
    """``Constraints.may``: first the copies known to be somewhere, then those of fewer places, then the others."""
    number, decks = len(v), len(unseen)
    out = np.zeros((NUM_PLACES, decks, number), U64)
    full = np.full(number, FULL)
    located = np.zeros_like(unseen)

    def lay(cards: Words, places: dict[int, Words]) -> Words:
        """Give the next copies of these cards their places."""
        upto = planes.add(located, cards) & unseen
        for place, mask in places.items():
            out[place] |= upto & ~located & mask
        return upto

    for seat in range(3):
        located = lay(v.known[:, :, seat + 1], {seat: full})
    kitty = ~(JOKERS & where(v.phase >= Phase.JOKERS)) & where(hidden)
    located = lay(v.turned & where(hidden & (v.phase < Phase.BURY)), {HIDDEN_KITTY: full})
    void = [~_in_suits(v.void[:, seat + 1], _suit_masks(v)) for seat in range(3)]
    loose = v.known[:, :, DEALER_OR_KITTY] & where(hidden & (v.dealer != 0))
    dealer = {seat: void[seat] & where(v.dealer == seat + 1) for seat in range(3)}
    located = lay(loose, dealer | {HIDDEN_KITTY: kitty})
    given, may = _given(v)
    located = lay(given, {seat: may[seat] for seat in range(3)} | {HIDDEN_KITTY: may[HIDDEN_KITTY] & kitty})
    lay(unseen, {place: ~barred[place] for place in range(NUM_PLACES)})
    return out


def _lacks(v: View, t: Tables) -> Words:
    """``Constraints.never``. R7.5: a seat that played fewer copies than it owed had no exact pair (triple, quad) just then.
    It has it neither now where it has played no copy of the slot at all; after its play to this very trick, where it
    has not what would have been one with the copies played."""
    decks = len(v.hand)
    out = np.zeros((decks, 3, len(v)), U64)
    if v.rules.follow == "dead":
        masks = _suit_masks(v)
        led = np.where(v.led_suit[:, None] == np.arange(4), masks, ZERO).sum(axis=1, dtype=U64)
        for seat in range(3):
            untouched = ~v.played[0, :, seat + 1]
            out[1, seat] = _in_suits(v.no_pair[:, seat + 1], masks) & untouched
            out[2, seat] = _in_suits(v.no_triple[:, seat + 1], masks) & untouched
            play = v.trick[:, :, seat + 1]
            followed = (play[0] != 0) & ((play[0] & ~led) == 0) & (v.leader != seat + 1)
            for owed in range(1, decks):  # owed + 1 copies
                lacked = led & where(followed & (v.led_count > owed) & (play[owed] == 0))
                out[owed, seat] |= lacked & ~play[0]
                for kept in range(owed):
                    out[kept, seat] |= lacked & play[owed - 1 - kept] & ~play[owed - kept]
    _exempt(v, t, out)
    return out


def _exempt(v: View, t: Tables, out: Words) -> None:
    """R5.5: who would have turned a tribute round or cancelled it did not hold all big jokers."""
    if not v.rules.anti_tribute:
        return
    given = (v.phase == Phase.TRIBUTE) & (v.dealer != 0) | (v.tribute[0] != 0) & (v.giver == ((v.dealer + 3) & 3))
    given &= (v.blood > 0) & ((v.kitty[0] & _BIG) == 0) & ~_unsure(v)
    for seat in range(3):
        gone = v.played[:, :, seat + 1]
        with_gift = planes.add(gone, v.tribute)
        for cards, who in ((gone, (v.dealer + 1) & 3), (with_gift, (v.dealer + 3) & 3)):
            left = len(out) - np.bitwise_count(cards & _BIG).sum(axis=0)
            for copies in range(len(out)):
                out[copies, seat] |= _BIG & where(given & (who == seat + 1) & (left == copies + 1))
