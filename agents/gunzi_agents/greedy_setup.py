"""Decisions of ``greedy`` before the play: bids, tribute, return, burial, pick-up.

Arrays as in :mod:`gunzi_agents.reading`: slots first, decisions last.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gunzi_agents.greedy_play import NEVER, Player
from gunzi_agents.reading import PARTNER, Flags, Floats, Reading, Slots
from gunzi_env import actions, planes
from gunzi_env.cards import NUM_FACES, RANKS_PER_SUIT
from gunzi_env.observe import View
from gunzi_env.order import BIG_JOKER_SLOT, PROVISIONAL_TRUMP, SMALL_JOKER_SLOT, TRUMP
from gunzi_env.planes import NUM_SLOTS
from gunzi_env.rules import Rules
from gunzi_env.tables import NOBODY

_SLOTS = np.arange(NUM_SLOTS)[:, None]
_BARRED = np.float32(1e5)
"""Above the value of any card: such a card is given only if the rules demand it."""


@dataclass(frozen=True)
class Habits:
    """Parameters of the decisions before the play: bidding in cards of a suit, the kitty in points and levels."""

    pair: float = 0.7
    """Additional value of a second or third copy, in single cards of the suit."""
    open: float = 0.5
    """Cards above the average that justify the first bid."""
    theirs: float = 2.0
    """An opponent's bid is overturned for a suit that may be shorter by this, because they are long in theirs."""
    ours: float = 2.0
    """The partner's bid is overturned only for a suit longer by this."""
    show: float = 2.5
    """Trump power above the average that justifies showing a big joker."""
    void: float = 10.0
    """Value of burying a whole side suit."""
    dig: float = 0.2
    """Cost of each point buried, ..."""
    guard: float = 0.8
    """... reduced by this times the edge (:func:`edge`): points that are dug count twice, guarded ones not at all."""
    joker: float = 0.17
    """Reduction of the edge by a buried small joker with three decks; by a big one 1.3 times as much."""
    dealer: float = -0.85
    """Edge of a dealer without trumps."""
    partner: float = -0.55
    """Edge of a dealer's partner without trumps."""
    attacker: float = -0.74
    """Edge of an attacker without trumps."""
    public: float = 0.3
    """Increase of the dealers' edge if there are jokers in the kitty."""


# Bidding ----------------------------------------------------------------------------------------------


def show(view: View, habits: Habits) -> Slots:
    """R4.2: show the big joker with more trump power than that many cards have on average."""
    space = actions.space(view.rules)
    copies = planes.to_counts(view.hand)
    power = np.zeros(NUM_SLOTS)
    power[_always_trumps(view.rules)] = 1
    power[SMALL_JOKER_SLOT], power[BIG_JOKER_SLOT] = 1.5, 2
    fair = power.sum() / NUM_FACES * planes.count(view.hand)
    return np.where(copies @ power >= fair + habits.show, space.SHOW, space.PASS)


def _always_trumps(rules: Rules) -> Flags:
    """Compute the slots that are trumps whatever the suit in a match's first hand, ``bool[54]``."""
    table, level = rules.layout, rules.first_level
    return planes.unpack(table.level_cards[level] | table.permanent_trumps[level])


def bid(view: View, legal: Flags, habits: Habits) -> Slots:
    """R4.4: bid the longest suit allowed, if it is long enough for the cards drawn so far."""
    space = actions.space(view.rules)
    fair = planes.count(view.hand) * np.float32(11 / NUM_FACES)
    over = suit_lengths(view, habits) - fair[:, None]
    rows = np.arange(len(view))
    value = np.full(legal.shape, NEVER)
    # The strongest of several bids for one suit is the hardest to overturn.
    value[:, space.BIDS :] = over[:, space.bid_suit] + 0.01 * space.bid_strength
    standing = over[rows, view.bid_suit]
    ours = (view.bid_seat & 1) == 0
    value[:, space.PASS] = np.where(
        view.bid_seat == NOBODY, habits.open, np.where(ours, standing + habits.ours, standing - habits.theirs)
    )
    return np.where(legal, value, NEVER * 2).argmax(axis=1)


def suit_lengths(view: View, habits: Habits) -> Floats:
    """Count the cards of S H C D without permanent trumps, ``float32[B, 4]``; further copies count more."""
    table = view.layout
    suit = table.face_of_slot[:, PROVISIONAL_TRUMP] // RANKS_PER_SUIT  # [level, 54]
    plain = ~(table.level_cards | table.permanent_trumps)
    masks = planes.pack(suit[:, None] == np.arange(4)[:, None]) & plain[:, None]  # [level, 4]
    held = np.bitwise_count(view.hand[:, :, None] & masks[view.level]).astype(np.float32)
    return held.sum(axis=0) + np.float32(habits.pair) * held[1:].sum(axis=0)


# Cards given, returned, buried, picked up ---------------------------------------------------------------


def give(player: Player, legal: Flags) -> Slots:
    """R5.1: give the least valuable of equal cards."""
    return np.where(legal, player.cost[0], -NEVER).argmin(axis=0)


def pick_up(r: Reading, legal: Flags) -> Slots:
    """R6.5: pick up, of equal cards, one that completes a pair or a triple, else one of a long suit."""
    value = 100 * r.mine.astype(np.int16) + r.by_slot(r.length)
    return np.where(legal, value, -1).argmax(axis=0)


def give_back(player: Player) -> Slots:
    """R5.4: return side cards first, point cards last, and the least valuable of these."""
    r = player.r
    classes = np.where(r.points > 0, 2, r.trump).astype(np.float32)
    return _name(player, _prices(player, 0.0) + classes * _BARRED)


def bury(player: Player, habits: Habits) -> Slots:
    """R6.2: bury the least valuable cards, a whole suit if possible, and jokers if the last trick is likely ours."""
    r = player.r
    base = np.full(len(r.row), habits.dealer, np.float32)
    chance = edge(r) + base
    price = _prices(player, habits.void) + (np.float32(habits.dig) - np.float32(habits.guard) * chance) * r.points
    price[:, SMALL_JOKER_SLOT:] = _BARRED
    nothing = np.zeros(len(r.row), np.intp)
    big, small = jokers_to_bury(r, base, nothing, nothing + r.rules.kitty_size, habits)
    for d in range(r.decks):
        price[d, BIG_JOKER_SLOT, big > d] = -2 * _BARRED
        price[d, SMALL_JOKER_SLOT, small > d] = -_BARRED
    return _name(player, price)


def _prices(player: Player, void: float) -> Floats:
    """Value each further copy of a slot, ``float32[D, 54, B]``; infinite where there is none.

    Shapes are given up as a whole: where breaking them costs most, each copy gets its share of the price of all. The
    cards of a side suit that can be given up completely share ``void``.
    """
    r, cost = player.r, player.cost
    whole = np.zeros_like(r.points)
    for n in range(1, r.decks + 1):
        np.copyto(whole, cost[n - 1] / np.float32(n), where=r.mine == n)
    total = player.v.need + planes.count(player.v.pending)
    length = np.maximum(r.length, 1)
    soon = (np.arange(4) < TRUMP)[:, None] & (length <= total)
    bonus = r.by_slot(np.where(soon, void / length, 0).astype(np.float32))
    further = np.diff(cost, axis=0, prepend=np.float32(0))
    price = np.where(cost[0] > whole, whole, further) - bonus + _SLOTS.astype(np.float32) * np.float32(1e-4)
    return np.where(r.mine > np.arange(r.decks)[:, None, None], price, -NEVER)


def _name(player: Player, price: Floats) -> Slots:
    """Name the highest card not yet named of the cheapest set; the set stays the same until it is complete."""
    v = player.v
    total = (v.need + planes.count(v.pending)).astype(np.intp)
    ordered = np.sort(price.reshape(-1, len(total)), axis=0)
    limit = ordered[total - 1, player.r.row]
    chosen = (price <= limit).sum(axis=0)
    named = planes.to_counts(v.pending).T
    return np.where(chosen > named, _SLOTS, -1).max(axis=0)


# Jokers for the kitty -------------------------------------------------------------------------------------


def edge(r: Reading) -> Floats:
    """Estimate the trumps' share in P(winning hand and last trick) - P(losing both), ``float32[B]``.

    The coefficients are a least-squares fit to the dealers' hands of this bot in self-play, scaled down for four decks.
    """
    mine = r.mine.astype(np.float32)
    ordinary = planes.unpack(r.layout.ordinary_trumps[r.view.level]).T
    trumps = mine * r.trump
    high = trumps * ~ordinary
    pairs, triples = ((trumps >= n).sum(axis=0) for n in (2, 3))
    big, small = mine[BIG_JOKER_SLOT], mine[SMALL_JOKER_SLOT]
    worth = 0.012 * trumps.sum(axis=0) + 0.05 * high.sum(axis=0) + 0.012 * pairs + 0.08 * triples
    return np.asarray((worth + 0.07 * (big + small) + 0.04 * big) * (3 / r.decks), np.float32)


def jokers_to_bury(
    r: Reading, base: Floats, inside: npt.NDArray[np.intp], room: npt.NDArray[np.intp], habits: Habits
) -> tuple[Slots, Slots]:
    """Compute how many big and small jokers are worth burying (R6.2, R6.5, R9), each ``[B]``.

    A joker multiplies the value of the hand, 1 + J levels, and reduces the probability of winning it, so it pays if we
    are likely to win the last trick. ``inside`` is J so far, ``room`` the number allowed; small ones are buried only
    after all big ones (R6.3).
    """
    mine = r.mine.astype(np.intp)
    chance = edge(r) + base
    levels = 1 + inside
    found = []
    going = np.ones(len(r.row), np.bool_)
    for slot, worth, loss in ((BIG_JOKER_SLOT, 2, 1.3 * habits.joker), (SMALL_JOKER_SLOT, 1, habits.joker)):
        loss *= 3 / r.decks
        number = np.zeros(len(r.row), np.intp)
        for k in range(r.decks):
            going = going & (mine[slot] > k) & (room > 0)
            going &= (levels + worth) * (chance - loss) > levels * chance
            number += going
            room = room - going
            chance = chance - loss * going
            levels = levels + worth * going
        found.append(number)
        going = number == mine[slot]
    return found[0], found[1]


def bury_jokers(r: Reading, legal: Flags, habits: Habits) -> Slots:
    """R6.5: bury the jokers of :func:`jokers_to_bury`, or pass."""
    v = r.view
    named, kitty = planes.to_counts(v.pending).T, planes.to_counts(v.kitty).T
    inside = 2 * kitty[BIG_JOKER_SLOT].astype(np.intp) + kitty[SMALL_JOKER_SLOT]
    side = np.where(v.dealer == PARTNER, habits.partner, habits.attacker)
    strong = np.where(inside > 0, np.where(v.dealer == PARTNER, habits.public, -habits.public), 0)
    wanted = jokers_to_bury(r, side + strong, inside, v.pickable.astype(np.intp), habits)
    out = np.full(len(v), actions.space(v.rules).PASS)
    for slot, number in zip((SMALL_JOKER_SLOT, BIG_JOKER_SLOT), wanted[::-1], strict=True):
        out = np.where((named[slot] < number) & legal[slot], slot, out)
    return out
