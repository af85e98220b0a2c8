"""Results of the hands of duplicate deals, and the three metrics of every measurement.

Results are stored per table as small integers, so sums are exact and the other side's view is the mirror image to the
last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from gunzi_env.order import JOKERS
from gunzi_env.planes import count
from gunzi_env.tables import KITTY, NOBODY, Tables

Ints = npt.NDArray[np.int16]


@dataclass(frozen=True)
class Metrics:
    """One value per deal, ``float64[deals]``, from the first agent's view: the mean of the deal's tables."""

    levels: npt.NDArray[np.float64]
    """R9's gain of the own side before R9.2, minus the other's."""
    points: npt.NDArray[np.float64]
    """S - take when attacking, take - S when dealing."""
    hands_won: npt.NDArray[np.float64]
    """1 if S decided for the own side (R9), else 0."""


@dataclass(frozen=True)
class HandResults:
    """Results of finished hands, ``int16[tables, deals]`` each, from the first agent's view.

    A deal has 2 tables, or 8 with rotations; at the first half of them the agent is in team 0 ({0, 2}).
    """

    attacks: Ints
    """1 if the own side attacks, 0 if it deals."""
    levels: Ints
    """R9's gain of the own side before R9.2, minus the other's."""
    points: Ints
    """S - take when attacking, take - S when dealing."""
    dug: Ints
    """1 if the attackers won the last trick (R8.2), 0 if it was guarded (R8.3)."""
    bid: Ints
    """1 if the own side's bid or shown joker named the trump suit (R4.2, R4.4), -1 if the other's did, else 0."""
    blood: Ints
    """Tribute cards that the own side receives in the next hand (R9.6), negative if it gives them; 0 after a match."""
    jokers: Ints
    """Jokers in the kitty at the end."""
    dry: Ints
    """R6.6: 1 in a dry pot."""

    @classmethod
    def of(cls, tables: Tables, team: npt.NDArray[np.int8], deals: int) -> HandResults:
        """Read the results of finished tables.

        Args:
            tables: N tables, a multiple of ``deals``.
            team: ``[N]``, the own side's team at each table, 0 or 1.
            deals: Number of deals.
        """
        rows = np.arange(tables.num)
        attacks = (tables.dealer & 1) != team
        over = tables.score - np.int16(tables.rules.take)
        gain = tables.gain
        bidder = np.where(tables.first_hand, tables.dealer, tables.bid_seat)
        mine = np.where((bidder & 1) == team, 1, -1)
        to_us = np.where((tables.next_dealer & 1) == team, 1, -1)
        kitty = tables.holder(rows, KITTY) & JOKERS
        found = (
            attacks,
            gain[rows, team] - gain[rows, 1 - team],
            np.where(attacks, over, -over),
            tables.dug,
            np.where(tables.kitty_shown & (bidder != NOBODY), mine, 0),
            to_us * tables.next_blood,
            count(kitty),
            tables.dry,
        )
        return cls(*(np.asarray(values, np.int16).reshape(-1, deals) for values in found))

    @classmethod
    def joined(cls, parts: Sequence[HandResults]) -> HandResults:
        """Concatenate the deals of all parts."""
        return cls.unpack(np.concatenate([part.pack() for part in parts], axis=2))

    def pack(self) -> Ints:
        """Pack all fields into one array ``int16[field, tables, deals]``."""
        return np.stack([getattr(self, field.name) for field in fields(self)])

    @classmethod
    def unpack(cls, packed: Ints) -> HandResults:
        """Restore the results from the array of :meth:`pack`."""
        return cls(*packed)

    @property
    def won(self) -> Ints:
        """1 if S decided for the own side; the attackers need S >= take (R9)."""
        return np.where(self.attacks == 1, self.points >= 0, self.points > 0).astype(np.int16)

    def metrics(self) -> Metrics:
        """Compute the three metrics of each deal."""
        return Metrics(*(np.asarray(values.mean(axis=0)) for values in (self.levels, self.points, self.won)))
