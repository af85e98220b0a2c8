"""Constraints on the places of unseen cards, derived from a :class:`gunzi_env.views.View`.

Each unseen physical card has a set of possible *places*: the hands of the viewer's next, partner and previous seats,
and the kitty unless the viewer knows it. Copies of one slot can differ: a copy that was shown lies with the seat that
showed it, while the others may lie anywhere. All constraints are sound, that is, the true deal satisfies them:

* voids (R7.3); exact pairs, triples and quads that a seat lacked when it owed them (R7.5, :func:`_excluded_counts`);
* cards that were shown, given, returned, picked up or turned up: ``View.known``, for tribute :func:`_tribute_cards`;
* a seat that gave its largest cards as tribute kept no larger ones (R5.1-3, :func:`_larger_than_given`);
* an unknown buried kitty has no joker (R6.4), and the number of its cards that can be picked up is public (R6.5);
* a dealer who certainly buried a small joker has no big one (R6.3);
* under ``anti_tribute``, no seat of the owing side held all big jokers if tribute was given to the dealer (R5.5).

Two facts are not used: the dealer of a first hand drew a card of the trump suit (R4.2), and a seat that did not answer
a quad with two exact pairs had none (R7.5).
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
"""The place of the unknown kitty, after the hands 0 (next), 1 (partner) and 2 (previous)."""

NUM_PLACES = 4

_BIG, _SMALL = BIT[BIG_JOKER_SLOT], BIT[SMALL_JOKER_SLOT]

_CERTAIN_RETURN = 8
"""A tribute of at most 1 / 8 of a hand counts as returned in side cards without points (R5.4). The error is negligible:
a receiver of 4 cards of 39 has fewer than 4 of these in one hand of forty million."""


class Constraints(NamedTuple):
    """Constraints of V Views with D copies of each slot."""

    may: Words  # [place, D, V] slots whose copy d may lie there; in no place for a copy that is seen
    capacity: Int16  # [place, V] number of unseen cards there
    points: Words  # [V] slots of point cards
    min_points: Int16  # [V] bounds on the number of point cards in the kitty
    max_points: Int16  # [V]
    excluded: Words  # [D, 3, V] slots of which a seat cannot hold exactly d + 1 copies

    def rows(self, idx: planes.Ints | slice) -> Constraints:
        """Select rows."""
        may, excluded = self.may[..., idx], self.excluded[..., idx]
        bounds = self.min_points[idx], self.max_points[idx]
        return Constraints(may, self.capacity[:, idx], self.points[idx], *bounds, excluded)


def read(v: View, t: Tables) -> Constraints:
    """Derive the constraints of ``v`` (V rows), whose tables without the hidden cards are ``t``.

    Raises:
        ValueError: in some row the unseen cards do not fill the hidden hands and the kitty.
    """
    hidden = ~v.kitty_known & (v.phase != Phase.BURY)  # R6.2: during the burial the dealer holds the kitty
    unseen = observe.unseen(v)
    capacity = _capacities(v, hidden)
    _check_number(unseen, capacity)
    excluded = _excluded_slots(v, t, hidden)
    min_points, max_points = _points_buried(v, hidden)
    points = v.layout.point_cards[v.level]
    return Constraints(
        _places(v, t, hidden, unseen, excluded), capacity, points, min_points, max_points, _excluded_counts(v, t)
    )


def _capacities(v: View, hidden: Flags) -> Int16:
    """Count the cards of each hidden hand and of the kitty."""
    capacity = np.empty((NUM_PLACES, len(v)), np.int16)
    for place in range(3):
        capacity[place] = v.held - count(v.trick[:, :, place + 1])
        giving = (v.phase == Phase.RETURN) & (v.giver == place + 1)
        capacity[place] -= giving * count(v.tribute)  # R5.4: given, and not returned yet
    capacity[HIDDEN_KITTY] = v.rules.kitty_size * hidden
    return capacity


def _check_number(unseen: Words, capacity: Int16) -> None:
    number, fits = count(unseen), capacity.sum(axis=0)
    wrong = np.flatnonzero((number != fits) | (capacity < 0).any(axis=0))
    if len(wrong):
        n = wrong[0]
        raise ValueError(
            f"{number[n]} cards are unseen, but the hidden hands and the kitty have {fits[n]}: resample needs "
            "all cards in play"
        )


def _points_buried(v: View, hidden: Flags) -> tuple[Int16, Int16]:
    """R6.5: bound the point cards of an unknown buried kitty by the public number of cards that may be picked up."""
    size = np.int16(v.rules.kitty_size)
    min_points, max_points = np.zeros(len(v), np.int16), size * hidden
    said = hidden & (v.phase >= Phase.JOKERS) & v.rules.others_bury
    if v.rules.others_bury_block == "any_points":
        max_points[said & (v.pickable > 0)] = 0
        min_points[said & (v.pickable == 0)] = 1
    else:
        min_points[said] = max_points[said] = size - v.pickable[said]
    return min_points, max_points


def _suit_masks(v: View) -> Words:
    """Return the slots of each led suit, ``uint64[V, 4]``."""
    return np.asarray(v.layout.suit_mask[v.level])


def _in_suits(flags: Flags, masks: Words) -> Words:
    """Convert flags ``[V, 4]`` by led suit to the slots of these suits."""
    return np.asarray(np.bitwise_or.reduce(where(flags) & masks, axis=1))


def _excluded_slots(v: View, t: Tables, hidden: Flags) -> Words:
    """Return the slots of which a place has no cards besides those known to be there, ``uint64[place, V]``."""
    out = np.zeros((NUM_PLACES, len(v)), U64)
    masks = _suit_masks(v)
    kept = _larger_than_given(v, t)
    for place in range(3):
        out[place] = _in_suits(v.void[:, place + 1], masks) | (kept & where(v.giver == place + 1))
        buried = (v.dealer == place + 1) & v.kitty_public & ~v.dry & ((v.kitty[0] & _SMALL) != 0)
        alone = (v.phase == Phase.JOKERS) & (place == 2)  # the viewer is asked first: no other seat has put in a joker
        out[place] |= _BIG & where(buried & (alone | ~np.bool_(v.rules.others_bury)))  # R6.3
    # R6.4; and a giver who is the dealer had no larger cards to bury either.
    out[HIDDEN_KITTY] = (JOKERS | (kept & where(v.giver == v.dealer))) & where(v.phase >= Phase.JOKERS)
    out[HIDDEN_KITTY] |= where(~hidden)
    return out


def _unsure(v: View) -> Flags:
    """Return where trumps or points may have been returned (R5.4).

    This needs a tribute so large that the receiver may have had too few other cards. It is ruled out once the receiver
    has played more of those than the kitty (or a pick-up) can have supplied.
    """
    sides = _returned_first(v)
    receiver = _receiver(v)[None, :, None].astype(np.intp) & 3
    played = count(np.take_along_axis(v.played, receiver, axis=2)[..., 0] & sides)
    return np.asarray((count(v.tribute) > v.rules.hand_size // _CERTAIN_RETURN) & (played <= v.rules.kitty_size))


def _returned_first(v: View) -> Words:
    """R5.4: return the slots of side cards without points."""
    table = v.layout
    return np.asarray(~(table.point_cards[v.level] | table.suit_mask[v.level, TRUMP]) & FULL)


def _returnable(v: View) -> Words:
    """Return the slots of which cards may have been returned."""
    return _returned_first(v) | (FULL & where(_unsure(v)))


@cache
def _larger(layout: Layout) -> Words:
    """Tabulate by level and group (see ``Layout.rising``) the slots of this and all larger groups,
    ``uint64[level, groups + 1]``."""
    rising = layout.rising
    out = np.zeros((NUM_LEVELS, rising.shape[1] + 1), U64)
    out[:, :-1] = np.bitwise_or.accumulate(rising[:, ::-1], axis=1)[:, ::-1]
    return out


def _larger_than_given(v: View, t: Tables) -> Words:
    """R5.1-3: return the slots of which the giver can hold only cards that the viewer knows of."""
    rising = v.layout.rising[v.level]
    weakest = ((rising & v.tribute[0][:, None]) != 0).argmax(axis=1)
    number = count(v.tribute)
    # R5.3: a seat that gave fewer cards than it owed had no more that may be given.
    above = _larger(v.layout)[v.level, np.where(number < v.blood, 0, weakest + 1)]
    above &= giveable_mask(t, np.arange(len(v)))
    # A viewer who returned cards knows them, unless the giver, as dealer, has exchanged the kitty since.
    above &= where(_viewer_receives(v) & (v.giver != v.dealer)) | ~_returnable(v)
    # R5.5: the dealer gave, and has since taken a kitty unseen by the others.
    took = (v.giver == v.dealer) & ~v.kitty_shown & (v.phase >= Phase.BURY)
    return above & where((number > 0) & ~took)


def _receiver(v: View) -> Int8:
    """Return the seat that received the tribute, relative to the viewer (R5.1, R5.5)."""
    return np.where(v.giver == v.dealer, (v.dealer + 3) & 3, v.dealer)


def _viewer_receives(v: View) -> Flags:
    return np.asarray((_receiver(v) == 0) & (v.tribute[0] != 0))


def _tribute_cards(v: View) -> tuple[Words, Words]:
    """Return tribute cards, and cards shown by the receiver, that are still with receiver or giver or in the kitty.

    Returns:
        The cards ``uint64[D, V]``, none where the viewer is the receiver and sees them; and the slots of them that each
        place may have, ``uint64[place, V]``.
    """
    receiver, returnable, masks = _receiver(v), _returnable(v), _suit_masks(v)
    # R6.5: cards of a public kitty may have been picked up since by seats other than the dealer.
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


def _places(v: View, t: Tables, hidden: Flags, unseen: Words, excluded: Words) -> Words:
    """Compute ``Constraints.may``: located copies first, then those with fewer places, then the others."""
    number, decks = len(v), len(unseen)
    out = np.zeros((NUM_PLACES, decks, number), U64)
    full = np.full(number, FULL)
    located = np.zeros_like(unseen)

    def lay(cards: Words, places: dict[int, Words]) -> Words:
        """Set the places of the next copies of these cards."""
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
    given, may = _tribute_cards(v)
    located = lay(given, {seat: may[seat] for seat in range(3)} | {HIDDEN_KITTY: may[HIDDEN_KITTY] & kitty})
    lay(unseen, {place: ~excluded[place] for place in range(NUM_PLACES)})
    return out


def _excluded_counts(v: View, t: Tables) -> Words:
    """Compute ``Constraints.excluded`` from dead following (R7.5) and unused exemptions (R5.5).

    A seat that played fewer copies than it owed had no exact pair (triple, quad) at that moment. It still has none of a
    slot of which it has played no copy since. In the current trick, the copies left plus those just played do not make
    one either.
    """
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
    _exclude_exempt(v, t, out)
    return out


def _exclude_exempt(v: View, t: Tables, out: Words) -> None:
    """R5.5: exclude all big jokers for a seat that would have reversed or cancelled the tribute with them."""
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
