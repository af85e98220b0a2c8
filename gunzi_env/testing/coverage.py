"""Which branches of the rules a step went through: what random play must reach, and what it cannot."""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt

from gunzi_env.order import JOKERS, TRUMP
from gunzi_env.planes import bits, count
from gunzi_env.tables import DEALING, HAND, NOBODY, PENDING, PLAYED, Phase, Tables

BranchCounts = Counter[str]
Mask = npt.NDArray[np.bool_]


def count_branches(
    before: Tables, after: Tables, actions: npt.NDArray[np.int32], which: Mask, *, zero: bool = False
) -> BranchCounts:
    """How many of the tables in ``which`` went through each branch in one step; clause first in each name.

    ``zero`` also lists the branches that none went through.
    """
    found: BranchCounts = Counter()
    parts = (_bidding, _closing, _tribute, _kitty, _follows, _results)
    for part in parts:
        for name, mask in part(before, after, actions).items():
            number = int((mask & which).sum())
            if number or zero:
                found[name] += number
    return found


def _left(before: Tables, after: Tables, phase: Phase) -> Mask:
    return np.asarray((before.phase == phase) & (after.phase != phase))


def _bidding(b: Tables, a: Tables, actions: npt.NDArray[np.int32]) -> dict[str, Mask]:
    space = b.actions
    show, bid = b.phase == Phase.SHOW, b.phase == Phase.BID
    passes = actions == space.PASS
    number = np.clip(actions - space.BIDS, 0, len(space.bid_strength) - 1)
    strength = np.where(bid & ~passes, space.bid_strength[number], 0)
    made = bid & ~passes
    mine = made & (b.bid_strength > 0) & (b.bid_seat == b.seat)
    same_suit = space.bid_suit[number] == b.bid_suit
    window = b.passes != DEALING
    return {
        "R4.2 shown while dealing": show & ~passes & ~window,
        "R4.2 shown in the window": show & ~passes & window,
        "R4.2 declined": show & passes,
        "R4.4 opened": made & (b.bid_strength == 0),
        "R4.4 opened with jokers": made & (b.bid_strength == 0) & (strength > b.rules.decks),
        "R4.5 overturned another": made & (b.bid_strength > 0) & (b.bid_seat != b.seat),
        "R4.5 reinforced": mine & same_suit,
        "R4.5 overturned oneself": mine & ~same_suit,
        "R4.5 small jokers bid": strength == b.rules.decks + 1,
        "R4.5 big jokers bid": strength == b.rules.decks + 2,
        "R4.6 bid in the window": made & window,
        "R4.6 passed in the window": bid & passes & window,
    }


def _closing(b: Tables, a: Tables, actions: npt.NDArray[np.int32]) -> dict[str, Mask]:
    closed = (b.phase <= Phase.BID) & (a.phase > Phase.BID)
    first, shown = b.first_hand, a.kitty_shown
    turned = a.turned[0] != 0
    jokers = (a.turned[0] & JOKERS) != 0
    exempt = (bits(a.shown).sum(axis=(0, 2)) > 0) & (a.blood > 0) & (a.giver == a.dealer)
    return {
        "R4.3 flipped": closed & first & turned,
        "R4.7 turned up": closed & ~first & turned,
        "R4.3, R4.7 joker skipped": closed & turned & jokers,
        "R4.8 dealt again": (b.phase <= Phase.BID) & (a.attempt > b.attempt),
        "R5.5 tribute reversed": closed & exempt,
        "R5.1 blood owed": closed & (a.blood > 0),
        "R6.1 kitty hidden": closed & ~shown,
        "R6.6 dry": closed & a.dry,
    }


def _tribute(b: Tables, a: Tables, actions: npt.NDArray[np.int32]) -> dict[str, Mask]:
    given = (b.tribute[0] == 0) & (a.tribute[0] != 0)
    number = count(a.tribute)
    level = a.level
    trumps = a.layout.suit_mask[level, TRUMP]
    points = a.layout.point_cards[level]
    back = (b.returned[0] == 0) & (a.returned[0] != 0)
    return {
        "R5.1 given": given,
        "R5.1 chosen among equals": b.phase == Phase.TRIBUTE,
        "R5.2 level cards worth points given": given & ((a.tribute[0] & points & a.layout.level_cards[level]) != 0),
        "R5.3 fewer than owed": given & (number < a.blood),
        "R5.4 returned": back,
        "R5.4 trumps returned": back & ((a.returned[0] & trumps & ~points) != 0),
        "R5.4 points returned": back & ((a.returned[0] & points) != 0),
    }


def _kitty(b: Tables, a: Tables, actions: npt.NDArray[np.int32]) -> dict[str, Mask]:
    buried = _left(b, a, Phase.BURY)
    naming = b.phase == Phase.JOKERS
    passes = actions == b.actions.PASS
    named = b.planes[0, :, PENDING] != 0
    return {
        "R6.2 buried": buried,
        "R6.3 small joker buried by the dealer": (b.phase == Phase.BURY) & (actions == 52),
        "R6.4 jokers make it public": buried & a.kitty_public,
        "R6.5 nothing to pick up": buried & (a.pickable == 0),
        "R6.5 declined": naming & passes & ~named,
        "R6.5 big joker put in": naming & (actions == 53),
        "R6.5 small joker put in": naming & (actions == 52),
        "R6.5 chosen among equals": b.phase == Phase.PICKUP,
    }


def _follows(b: Tables, a: Tables, actions: npt.NDArray[np.int32]) -> dict[str, Mask]:
    rows = np.arange(b.num)
    follow = b.phase == Phase.FOLLOW
    hand = b.planes[:, rows, HAND + b.seat]
    pending = b.planes[:, :, PENDING]
    suited = count(hand & b.led_mask)
    begun = (pending & ~b.led_mask)[0] != 0
    copies = actions // 54 + 1
    out = {f"R7.2 led {k}": (b.phase == Phase.LEAD) & (copies == k) for k in range(1, b.rules.decks + 1)}
    fresh = follow & (b.last == 63)
    for k in range(1, b.rules.decks + 1):
        led = fresh & (b.led_count == k)
        out[f"R7.3 {k} led, more held"] = led & (suited > 0)
        out[f"R7.3 {k} led, none held"] = led & (suited == 0) & (pending[0] == 0)
        out[f"R7.3 {k} led, fewer held"] = led & (suited == 0) & (pending[0] != 0) & ~begun
        if b.rules.follow == "dead":
            for floor in range(2, 6):
                out[f"R7.5 {k} led, demand {floor}"] = led & (b.floor == floor) & (k > 1)
    forced = (b.phase >= Phase.LEAD) & (bits(a.planes[:, :, PLAYED:PENDING]).sum(axis=(0, 2)) > 0)
    passed_over = (a.phase == Phase.FOLLOW) & (((a.seat - b.seat) & 3) > 1) & (a.leader == b.leader)
    out["R7.3 played without asking"] = forced & passed_over
    trick_won = (a.phase == Phase.FOLLOW) & (b.phase == Phase.FOLLOW) & (a.best != b.best) & (a.leader == b.leader)
    ruffed = trick_won & (b.led_suit != TRUMP) & (a.layout.suit_of_slot[a.level, a.best_slot] == TRUMP)
    out["R7.6 ruffed"] = ruffed
    return out


def _results(b: Tables, a: Tables, actions: npt.NDArray[np.int32]) -> dict[str, Mask]:
    over = (b.phase != Phase.OVER) & (a.phase == Phase.OVER)
    take = a.score >= a.rules.take
    ended = over & (a.match_winner != NOBODY)
    rows = np.arange(a.num)
    dealers = a.dealer & 1
    gain = a.gain.sum(axis=1)
    leaves = (a.gain[rows, dealers] > 0) & (a.levels[rows, dealers] == a.rules.last_level)
    sweep = a.rules.sweep_ends_match
    zero = ended & (a.score == 0) & sweep
    full = ended & (a.score >= a.rules.full_points) & sweep
    return {
        "R9 guard, S < take": over & ~take & ~a.dug,
        "R9 dig, S < take": over & ~take & a.dug,
        "R9 guard, S >= take": over & take & ~a.dug,
        "R9 dig, S >= take": over & take & a.dug,
        "R9 more than one level": over & (gain > 1),
        "R9.2 rise held back": over & ((a.next_levels - a.levels).sum(axis=1) < gain) & ~ended,
        "R9.3 last level left": ended & leaves,
        "R9.4 S = 0": zero,
        "R9.4 full score": full,
        "R9.5 all jokers of a kind": ended & ~leaves & ~zero & ~full,
        "R9.6 blood for a low score": over & ~ended & (a.score < a.rules.blood_low) & (a.next_blood > 0),
        "R9.6 blood for a high score": over & ~ended & (a.score > a.rules.blood_high) & (a.next_blood > 0),
        "R9.6 blood for jokers": over
        & ~ended
        & ((a.rules.blood_low <= a.score) & (a.score <= a.rules.blood_high))
        & (a.next_blood > 0),
        "R9.7 rise without a dig": over & ~a.dug & take & (gain > 0),
        "R9.8 fallen back": over & ~ended & (a.next_levels < a.levels).any(axis=1),
    }
