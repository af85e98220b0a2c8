"""R6: the dry pot, the dealer's exchange, and the others' jokers.

What everybody knows of places that cannot be told apart is kept in ``loose``: cards that are in the dealer's
hand or in the kitty. When the kitty becomes public, what of it is not buried is with the dealer.
"""

from __future__ import annotations

import numpy as np

from gunzi_env import planes
from gunzi_env.chapters import selection
from gunzi_env.order import BIG_JOKER_SLOT, JOKERS, SMALL_JOKER_SLOT, TRUMP, Layout
from gunzi_env.planes import BIT, FULL, ONE, U64, Ints, Words, count
from gunzi_env.rules import Rules
from gunzi_env.tables import HAND, KITTY, PENDING, Flags, Index, Int8, Int16, Phase, Tables


def is_dry(rules: Rules, layout: Layout, level: Int8, kitty: Words) -> Flags:
    """R6.6: is a shown kitty ``uint64[D, n]`` dry? ``dry_pot=None`` says never."""
    if rules.dry_pot is None:
        return np.zeros(len(level), np.bool_)
    breaks = layout.ordinary_trumps[level]
    if rules.dry_pot == "permanent_neutral":
        breaks = breaks | layout.level_cards[level]
    all_trumps = (kitty[0] & ~layout.suit_mask[level, TRUMP]) == 0
    return np.asarray(all_trumps | ((kitty[0] & breaks) == 0))


def enter(t: Tables, g: Index) -> Index:
    """R6.1, R6.2: show the kitty, test it, give it to the dealer; returns the tables where it is dry."""
    kitty = t.holder(g, KITTY)
    shown = t.kitty_shown[g]
    judged = shown & (t.rules.dry_pot_first_hand | ~t.first_hand[g])
    dry = judged & is_dry(t.rules, t.layout, t.level[g], kitty)
    t.dry[g] = t.kitty_public[g] = dry
    t.pickable[g] = 0
    t.loose[:, g] = np.where(dry, U64(0), np.where(shown, kitty, t.turned[:, g]))
    rows = g[~dry]
    t.seat[rows] = t.dealer[rows]
    hand = HAND + t.dealer[rows]
    selection.give(t, rows, hand, kitty[:, ~dry])
    t.put(rows, KITTY, np.zeros_like(kitty[:, ~dry]))
    nothing = np.zeros(len(rows), U64)
    selection.begin(t, rows, hand, nothing, nothing | FULL, count(kitty[:, ~dry]))
    return g[dry]


def bury_apply(t: Tables, g: Index, action: Ints) -> Index:
    """Name a card to bury; returns the tables where the dealer has buried (R6.2, R6.4)."""
    g = g[selection.name_card(t, g, action)]
    buried = selection.take_pending(t, g)
    selection.give(t, g, np.full(len(g), KITTY), buried)
    dealer = t.dealer[g]
    t.loose[:, g] = planes.add(t.loose[:, g], t.known[:, g, dealer])
    t.known[:, g, dealer] = U64(0)
    open_window(t, g)
    return g


def open_window(t: Tables, g: Index) -> None:
    """The dealer has buried: who knows what (R6.4), and how many jokers the others may put in (R6.5)."""
    # R7.1; said already now, since nobody may see whether another is asked for jokers first (R4.6).
    t.leader[g] = t.dealer[g]
    buried = t.holder(g, KITTY)[0]
    _make_public(t, g[(buried & JOKERS) != 0])
    t.pickable[g] = count_pickable(t, g) if t.rules.others_bury else 0
    if t.rules.others_bury_block == "any_points":
        # One point card buried by the dealer closes the window.
        t.pickable[g[(buried & t.layout.point_cards[t.level[g]]) != 0]] = 0


def count_pickable(t: Tables, g: Index) -> Int16:
    """R6.5: how many cards of the kitty may be picked up, ``int16[n]``."""
    return count(t.holder(g, KITTY) & pickable_mask(t.layout, t.level[g]))


def pickable_mask(layout: Layout, level: Int8) -> Words:
    """R6.5: neither jokers nor point cards."""
    return np.asarray(~(JOKERS | layout.point_cards[level]), U64)


def _make_public(t: Tables, g: Index) -> None:
    """R6.4: everybody sees the kitty, and so what is left with the dealer."""
    g = g[~t.kitty_public[g]]
    t.kitty_public[g] = True
    rest = planes.minus(t.loose[:, g], t.holder(g, KITTY))
    t.known[:, g, t.dealer[g]] = planes.add(t.known[:, g, t.dealer[g]], rest)
    t.loose[:, g] = U64(0)
    # R5.5: in a reversed tribute the cards given back went to the dealer, and what of them lies here is not with him.
    back = g[t.giver[g] == t.dealer[g]]
    t.returned[:, back] = planes.minus(t.returned[:, back], t.holder(back, KITTY))


def enter_jokers(t: Tables, g: Index) -> Index:
    """R6.5: begin with the dealer's next; returns the tables where nobody can bury a joker."""
    t.seat[g] = (t.dealer[g] + 1) & 3
    return ask_in_turn(t, g)


def ask_in_turn(t: Tables, g: Index) -> Index:
    """Go on to the next seat that could bury a joker; returns the tables where all three have been passed."""
    waiting = g
    finished = [g[:0]]
    while len(waiting):  # round the table: the dealer comes at last
        over = t.seat[waiting] == t.dealer[waiting]
        finished.append(waiting[over])
        waiting = waiting[~over]
        able = (t.pickable[waiting] > 0) & ((t.planes[0, waiting, HAND + t.seat[waiting]] & JOKERS) != 0)
        waiting = waiting[~able]
        t.seat[waiting] = (t.seat[waiting] + 1) & 3
    return np.sort(np.concatenate(finished))


def jokers_legal(t: Tables, g: Index) -> Words:
    """R6.3: big jokers, small ones once no big joker is left; pass to end it."""
    hand = t.holder(g, HAND + t.seat[g])[0]
    big, small = BIT[BIG_JOKER_SLOT], BIT[SMALL_JOKER_SLOT]
    words = np.zeros((t.rules.decks + 1, len(g)), U64)
    words[0] = np.where((hand & big) != 0, big, hand & small)
    words[-1] = ONE
    return words


def jokers_apply(t: Tables, g: Index, action: Ints) -> Index:
    """Name a joker or pass; returns the tables where all three seats are through."""
    passes = action == t.actions.PASS
    rows, slot = g[~passes], action[~passes]
    t.source[rows] = HAND + t.seat[rows]
    selection.name_card(t, rows, slot)
    named = count(t.holder(rows, PENDING))
    hand = t.planes[0, rows, HAND + t.seat[rows]]
    # He is not asked again once nothing is left to name.
    full = ((hand & JOKERS) == 0) | (named == t.pickable[rows])
    ends = np.concatenate([g[passes], rows[full]])
    some = t.planes[0, ends, PENDING] != 0
    picked = _put_in(t, np.sort(ends[some]))
    return _next_seat(t, np.sort(np.concatenate([ends[~some], picked])))


def _put_in(t: Tables, g: Index) -> Index:
    """The named jokers enter the kitty, which is public from now on; returns the tables where the pick-up is forced."""
    jokers = selection.take_pending(t, g)
    seat = t.seat[g]
    known = t.known[:, g, seat]
    t.known[:, g, seat] = planes.minus(known, jokers)
    # R5.4: of what was returned to him, which the receiver alone knows, jokers may have gone in as well.
    giver = np.flatnonzero(seat == t.giver[g])
    beyond = planes.minus(jokers[:, giver], known[:, giver])
    t.returned[:, g[giver]] = planes.minus(t.returned[:, g[giver]], beyond)
    _make_public(t, g)
    selection.give(t, g, np.full(len(g), KITTY), jokers)
    done = ask_pickup(t, g, count(jokers))
    t.phase[g[~done]] = Phase.PICKUP
    return _pick_up(t, g[done])


def ask_pickup(t: Tables, g: Index, number: Int16) -> Flags:
    """Set aside the smallest cards of the kitty and let the seat choose among equals; True where there are none."""
    mask = pickable_mask(t.layout, t.level[g])
    pool = t.holder(g, KITTY) & mask
    forced, group, rest = selection.split(pool, t.layout.rising[t.level[g]], number)
    return selection.begin(t, g, np.full(len(g), KITTY, np.int8), forced & mask, group & mask, rest)


def pickup_apply(t: Tables, g: Index, action: Ints) -> Index:
    """Name a card to pick up; returns the tables where all three seats are through."""
    done = g[selection.name_card(t, g, action)]
    return _next_seat(t, _pick_up(t, done))


def _pick_up(t: Tables, g: Index) -> Index:
    cards = selection.take_pending(t, g)
    seat = t.seat[g]
    selection.give(t, g, HAND + seat, cards)
    t.known[:, g, seat] = planes.add(t.known[:, g, seat], cards)
    t.pickable[g] = count_pickable(t, g)
    return g


def _next_seat(t: Tables, g: Index) -> Index:
    t.phase[g] = Phase.JOKERS
    t.seat[g] = (t.seat[g] + 1) & 3
    return ask_in_turn(t, g)
