"""Leads and follows of ``greedy``: the play with the largest value in points.

A card in hand is valued by the tricks that its shape may win when led later, and slightly by its rank; a trick by its
points and the lead. It follows, without further rules, that the cheapest sufficient card is played, no joker is spent
on an empty trick and the partner is not overtaken.

Arrays as in :mod:`gunzi_agents.reading`: slots first, decisions last.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt

from gunzi_agents.reading import OPPONENTS, PARTNER, Flags, Floats, Reading, Slots, pick
from gunzi_env.order import TRUMP
from gunzi_env.planes import NUM_SLOTS, unpack

NEVER = np.float32(-1e9)
_SLOTS = np.arange(NUM_SLOTS)[:, None]


@dataclass(frozen=True)
class Weights:
    """Values in points."""

    gain: tuple[float, float, float, float] = (5.5, 13.0, 22.0, 32.0)
    """A trick of 1, 2, 3, 4 cards per seat, led and won."""
    feed: float = 3.0
    """Points that the partner, if still to play, adds to our trick, per card."""
    lead: float = 3.0
    """The right to lead next."""
    side: float = 0.06
    """Each rank of a side card."""
    trump: float = 2.5
    """Each trump, because it may ruff."""
    rank: float = 0.15
    """Each rank of a trump."""
    fade: tuple[float, float] = (0.55, 0.9)
    """Factor on the value of a side winner, and of a trump, that is led later, because it may be ruffed then."""
    control: float = 40.0
    """The last trick, which decides the levels (R9)."""
    single: float = 0.6
    """Probability that a single high trump wins the last trick."""
    short: float = 1.5
    """Each card below four in a side suit that is discarded from, because it may become a void."""
    kept: float = 0.6
    """Probability that our side wins a point card that is kept."""
    risk: float = 3.0
    """Cost of a losing lead, per card."""


class Player:
    """Values of keeping and playing the cards of a :class:`~gunzi_agents.reading.Reading`."""

    def __init__(self, reading: Reading, weights: Weights) -> None:
        self.r, self.v, self.w = reading, reading.view, weights

    @cached_property
    def cost(self) -> Floats:
        """Value of keeping m copies of a slot, ``float32[D, 54, B]``; infinite where there are fewer."""
        r, w = self.r, self.w
        rank = np.where(r.trump, _SLOTS - r.first_trump, _SLOTS % (r.first_trump // 3))
        single = (np.where(r.trump, w.trump, 0) + np.where(r.trump, w.rank, w.side) * rank).astype(np.float32)
        later = np.where(r.trump, w.fade[1], w.fade[0]).astype(np.float32)
        short = np.where(np.arange(4) < TRUMP, w.short, 0)[:, None] * np.maximum(4 - r.length, 0)
        bonus = r.by_slot(short.astype(np.float32))
        worth = [np.zeros_like(r.points)]
        for n in range(1, r.decks + 1):
            best = r.holds[n - 1] * (w.gain[n - 1] * later) + single * n  # as one shape
            for m in range(1, n // 2 + 1):  # or as two
                best = np.maximum(best, worth[m] + worth[n - m])
            worth.append(best)
        out = np.full((r.decks, *r.points.shape), -NEVER)
        for n in range(1, r.decks + 1):
            held = r.mine == n
            for m in range(1, n + 1):
                np.copyto(out[m - 1], worth[n] - worth[n - m] - bonus * m, where=held)
        return out

    def _endings(self) -> tuple[Floats, Floats, Floats]:
        """Estimate the end of the hand after playing m copies of a slot.

        Returns:
            The probability of winning all remaining tricks by leading; the probability that the best single trump left
            wins the last trick, each ``float32[D, 54, B]``; and the latter before the play, ``float32[B]``.
        """
        r = self.r
        holds = np.maximum(r.holds, np.float32(1e-3))
        group = np.ones_like(r.points)
        for n in range(1, r.decks + 1):
            np.copyto(group, holds[n - 1], where=r.mine == n)
        others = group.prod(axis=0) / group
        single = np.where(r.trump & (r.mine > 0), r.holds[0], np.float32(0))
        best = single.argmax(axis=0)
        top = single[best, r.row]
        single[best, r.row] = 0
        second = single.max(axis=0)
        run, left = np.empty_like(holds), np.empty_like(holds)
        for m in range(1, r.decks + 1):
            run[m - 1] = others
            for n in range(m + 1, r.decks + 1):
                np.multiply(others, holds[n - m - 1], out=run[m - 1], where=r.mine == n)
            left[m - 1] = top
            rows = np.flatnonzero(r.mine[best, r.row] <= m)
            left[m - 1, best[rows], rows] = second[rows]
        return run, left * np.float32(self.w.single), top * np.float32(self.w.single)

    # Leading ------------------------------------------------------------------------------------------

    def lead(self, legal: Flags) -> Slots:
        """Choose the best of the legal leads ``bool[D, 54, B]``: actions ``[B]``."""
        r, w = self.r, self.w
        run, left, _ = self._endings()
        partner = self._partner_takes()
        value = np.empty_like(run)
        for m in range(r.decks):
            holds = r.holds[m]
            ours = holds + (1 - holds) * partner[m]
            value[m] = holds * w.gain[m] + (ours - np.float32(w.kept)) * (m + 1) * r.points
            value[m] -= (1 - ours) * (w.risk * (m + 1)) + self.cost[m]
            value[m] += w.control * (holds * np.maximum(run[m], left[m]) + (1 - holds) * left[m])
        value = np.where(legal, value, NEVER)
        return value.reshape(-1, len(r.row)).argmax(axis=0)

    def _partner_takes(self) -> Floats:
        """Estimate P(partner beats a lead of m copies, no opponent beats the partner), ``float32[D, 54, B]``."""
        r = self.r
        stays = np.ones_like(r.out[PARTNER])
        for seat in OPPONENTS:
            stays = stays * (1 - r.out[seat])
        by_ruff = r.by_slot(r.out[PARTNER] * stays) * r.ruffs(PARTNER)[:, None]
        # More than half of the cards above the lead are too low to hold against the opponent's card.
        return by_ruff + r.over(PARTNER) * r.by_slot(stays * np.float32(0.4))

    # Following ----------------------------------------------------------------------------------------

    def follow(self, legal: Flags) -> Slots:
        """Choose the best of the legal units ``bool[D, 54, B]``: actions ``[B]``."""
        r, w, v = self.r, self.w, self.v
        owed = v.led_count.astype(np.intp) - 1
        safe = self._safe(owed)
        ours = self._ours(owed, safe)
        run, left, top = self._endings()
        copies = np.arange(1, r.decks + 1, dtype=np.float32)[:, None, None]
        cost = np.where(self._pool(), self.cost - copies * (r.points * (ours - np.float32(w.kept))), -NEVER)
        throw, price = cheapest(cost, legal, v.need)
        stay_out = ours * (v.trick_points + w.lead) - price + w.control * top
        # Winning the trick: its points, those the partner adds, the lead, and the effect on the last trick.
        number = owed.astype(np.float32) + 1
        prize = v.trick_points + w.feed * number * self._after_me(PARTNER) + w.lead
        run, left = pick(run, owed), pick(left, owed)
        value = safe * prize + (safe - np.float32(w.kept)) * number * r.points - pick(self.cost, owed)
        value += w.control * (safe * np.maximum(run, left) + (1 - safe) * left)
        value = np.where(self._wins(owed) & pick(legal, owed), value, NEVER)
        best = value.argmax(axis=0)
        return np.where(value[best, r.row] > stay_out, owed * NUM_SLOTS + best, throw)

    def _after_me(self, seat: int) -> Flags:
        """Test whether this seat still plays in this trick, ``bool[B]``."""
        return seat < self.v.leader

    def _wins(self, owed: Slots) -> Flags:
        """Find the slots that win the trick so far, with as many copies as were led, ``bool[54, B]`` (R7.6)."""
        r, v = self.r, self.v
        strength = r.layout.strength[v.level]
        stronger = strength > strength[r.row, v.best_slot][:, None]
        return stronger.T & ((r.suit == v.led_suit) | r.trump) & (v.need == v.led_count)

    def _pool(self) -> Flags:
        """Find the slots that may be part of this play, ``bool[54, B]`` (R7.3)."""
        r, v = self.r, self.v
        led = v.hand[0] & r.masks[v.led_suit, r.row]
        return unpack(np.where(led != 0, led, v.hand[0]) & ~v.pending[0]).T

    def _beaten(self, seat: int, owed: Slots) -> Floats:
        """Probability that a seat still to play beats each slot as the winning card so far, ``[54, B]``."""
        r, v = self.r, self.v
        over = pick(r.over(seat), owed)
        out = np.where(v.led_suit == TRUMP, np.float32(1), r.out[seat, v.led_suit, r.row])
        ruffs = np.where(v.led_suit == TRUMP, np.float32(0), out * r.ruffs(seat)[owed, r.row])
        chance = np.where(r.trump, out * over, np.minimum(over + ruffs, 1))
        return np.where(self._after_me(seat), chance, np.float32(0))

    def _safe(self, owed: Slots) -> Floats:
        """Probability that no opponent still to play beats each slot, ``float32[54, B]``."""
        out = np.ones_like(self.r.points)
        for seat in OPPONENTS:
            out *= 1 - self._beaten(seat, owed)
        return out

    def _ours(self, owed: Slots, safe: Floats) -> Floats:
        """Probability that our side wins the trick if we do not contest it now, ``float32[B]``."""
        r, v = self.r, self.v
        partner = self._beaten(PARTNER, owed)[v.best_slot, r.row]
        # The opponent before the partner may still play higher.
        return np.where(v.best == PARTNER, safe[v.best_slot, r.row], partner * np.float32(0.7))


def cheapest(cost: Floats, legal: Flags, need: npt.NDArray[np.int16]) -> tuple[Slots, Floats]:
    """Find the next unit of the cheapest cards to discard, and the price of all: ``[B]``, ``float32[B]``.

    A play is named largest multiplicity first, then from the highest slot down.
    """
    decks, _, rows = cost.shape
    # No two costs are equal, so that the same set is found again when its next card is named.
    cost = cost + _SLOTS.astype(np.float32) * np.float32(1e-4)
    lowest = [_lowest(cost[m], decks // (m + 1)) for m in range(decks)]
    able = np.asarray(legal.any(axis=1))
    price = np.full(rows, -NEVER * 100)
    unit = np.zeros(rows, np.intp)
    limit = np.full(rows, -NEVER)
    for parts in _partitions(decks):
        first, number = parts[0], parts.count(parts[0])
        total = sum(lowest[m - 1][:i].sum(axis=0) for m, i in _tally(parts))
        better = (need == sum(parts)) & able[first - 1] & (total < price)
        price = np.where(better, total, price)
        unit = np.where(better, first - 1, unit)
        limit = np.where(better, lowest[first - 1][number - 1], limit)
    chosen, allowed = pick(cost, unit), pick(legal, unit)
    place = np.where(allowed & (chosen <= limit), _SLOTS, -1).max(axis=0)
    # If the set cannot be named from its top (dead following), the cheapest legal unit.
    cheapest = np.where(allowed, chosen, -NEVER).argmin(axis=0)
    return unit * NUM_SLOTS + np.where(place >= 0, place, cheapest), price


def _lowest(cost: Floats, number: int) -> Floats:
    """Find the ``number`` lowest values of each column, lowest first: ``float32[number, B]``."""
    out = np.empty((number, cost.shape[1]), np.float32)
    for i in range(number):
        cost.min(axis=0, out=out[i])
        if i + 1 < number:
            cost = np.where(cost == out[i], -NEVER, cost)
    return out


@cache
def _partitions(total: int) -> tuple[tuple[int, ...], ...]:
    """List the partitions of 1 to ``total`` cards into units, largest first.

    >>> _partitions(3)
    ((1,), (2,), (1, 1), (3,), (2, 1), (1, 1, 1))
    """

    def of(n: int, most: int) -> list[tuple[int, ...]]:
        if n == 0:
            return [()]
        return [(m, *rest) for m in range(min(n, most), 0, -1) for rest in of(n - m, m)]

    return tuple(parts for n in range(1, total + 1) for parts in of(n, n))


def _tally(parts: tuple[int, ...]) -> list[tuple[int, int]]:
    """Count each multiplicity in a partition."""
    return [(m, parts.count(m)) for m in sorted(set(parts))]
