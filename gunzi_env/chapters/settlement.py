"""R8, R9: what a finished hand is worth, who deals next, levels and blood."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gunzi_env.cards import ACE
from gunzi_env.order import BIG_JOKER_SLOT, SMALL_JOKER_SLOT
from gunzi_env.planes import BIT, count
from gunzi_env.rules import Rules
from gunzi_env.tables import KITTY, NOBODY, Flags, Index, Int8, Int16, Tables


@dataclass(frozen=True)
class Settlement:
    """The settlement of n hands; teams are {0, 2} and {1, 3}."""

    take: Flags  # [n] S >= take: the attackers win the hand
    gain: Int8  # [n, 2] levels gained before R9.2
    levels: Int8  # [n, 2] after R9.2; void once the match has ended
    next_dealer: Int8  # [n] NOBODY once the match has ended
    blood: Int16  # [n] 0 once the match has ended
    match_winner: Int8  # [n] team, NOBODY while the match goes on


def settle(
    rules: Rules,
    score: npt.NDArray[np.int16],
    dug: Flags,
    big: Int16,
    small: Int16,
    dry: Flags,
    levels: Int8,
    dealer: Int8,
) -> Settlement:
    """R9 for n hands: S ``int16[n]`` with R8.2, dug, jokers in the kitty, dry, levels ``[n, 2]`` before, dealer."""
    rows = np.arange(len(score))
    dealers = dealer & 1
    attackers = 1 - dealers
    take = score >= rules.take
    jokers = np.where(dry, 0, 2 * big + small)
    attackers_rise = take & (dug | (rules.level_at_high & (score >= rules.blood_high)))  # R9.7
    dealers_rise = ~take & ~dug
    gain = np.zeros((len(score), 2), np.int8)
    gain[rows, dealers] = np.where(dealers_rise, 1 + jokers, 0)
    gain[rows, attackers] = np.where(attackers_rise, 1 + jokers, 0)
    after, passed = _raise_levels(rules, levels, gain, dealers)
    if rules.j_reset:  # R9.8
        fallen = dug & (levels[rows, dealers] == rules.last_level)
        after[rows[fallen], dealers[fallen]] = rules.first_level
    winner = np.where(passed, dealers, NOBODY)
    winner = _match_winner(rules, score, dug, take, (big, small), dry, dealers, winner)
    ended = winner != NOBODY
    blood = _score_blood(rules, score, dug) + np.where(~take & dug, 0, jokers)
    next_dealer = (dealer + np.where(take, 1, 2)) & 3  # R9.1
    return Settlement(
        take=take,
        gain=gain,
        levels=after,
        next_dealer=np.where(ended, NOBODY, next_dealer).astype(np.int8),
        blood=np.where(ended, 0, blood).astype(np.int16),
        match_winner=winner.astype(np.int8),
    )


def _raise_levels(rules: Rules, levels: Int8, gain: Int8, dealers: Int8) -> tuple[Int8, Flags]:
    """R9.2, R9.3: levels after the rise, and where the dealers have left the last level."""
    rows = np.arange(len(levels))
    must = np.array([level in rules.must_play for level in range(ACE + 1)])
    stop = np.array([next((m for m in rules.must_play if m > level), ACE) for level in range(ACE + 1)])
    raised = np.minimum(levels + gain, stop[levels])
    held_back = must[levels]
    held_back[rows, dealers] = False  # attackers stay on a must-play level, dealers who rise leave it
    after = np.where(held_back, levels, raised)
    passed = (gain[rows, dealers] > 0) & (levels[rows, dealers] == rules.last_level)
    after[rows[passed], dealers[passed]] = rules.last_level
    return after.astype(np.int8), passed


def _match_winner(
    rules: Rules,
    score: npt.NDArray[np.int16],
    dug: Flags,
    take: Flags,
    jokers: tuple[Int16, Int16],
    dry: Flags,
    dealers: Int8,
    winner: npt.NDArray[np.int8],
) -> npt.NDArray[np.int8]:
    """R9.4, R9.5 on top of R9.3."""
    attackers = 1 - dealers
    for kind, number in zip(("big", "small"), jokers, strict=True):
        if kind in rules.jokers_end_match:
            buried = (number == rules.decks) & ~dry
            winner = np.where(buried & ~take & ~dug, dealers, winner)
            winner = np.where(buried & take & dug, attackers, winner)
    if rules.sweep_ends_match:
        winner = np.where(score == 0, dealers, winner)
        winner = np.where(score >= rules.full_points, attackers, winner)
    return winner


def _score_blood(rules: Rules, score: npt.NDArray[np.int16], dug: Flags) -> Int16:
    """R9.6, the score part."""
    low = -((score - rules.blood_low) // 10)  # the ceiling of (blood_low - S) / 10
    low = np.where((score < rules.blood_low) & (rules.score_blood_when_dug | ~dug), low, 0)
    high = np.where(score > rules.blood_high, (score - rules.blood_high) // 10, 0)
    return np.asarray(low + high, np.int16)


def enter(t: Tables, g: Index) -> None:
    """Count the kitty (R8.2, R8.3) and settle finished hands."""
    kitty = t.holder(g, KITTY)
    level = t.level[g]
    t.dug[g] = dug = ((t.leader[g] ^ t.dealer[g]) & 1) != 0  # the last trick's winner stands as leader
    t.score[g] += np.where(dug, 2 * t.layout.value(level, kitty), 0).astype(np.int16)
    big, small = (count(kitty & BIT[slot]) for slot in (BIG_JOKER_SLOT, SMALL_JOKER_SLOT))
    out = settle(t.rules, t.score[g], dug, big, small, t.dry[g], t.levels[g], t.dealer[g])
    t.gain[g], t.next_levels[g], t.next_blood[g] = out.gain, out.levels, out.blood
    t.next_dealer[g], t.match_winner[g] = out.next_dealer, out.match_winner
    t.kitty_public[g] = True  # R6.4: after the last trick it is shown to all
