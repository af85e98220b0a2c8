"""The greedy bot: readable habits, no search, no memory; whole batches at once.

* It bids on length (:func:`gunzi_agents.greedy_setup.bid`).
* It makes a void when it can bury one, and buries no joker unless the last trick is likely to be its side's.
* It leads its sure winners, and follows with the cheapest sufficient card.
* It feeds points to a winning partner, and withholds them from a winning opponent.
* It wastes no jokers, 2s and level cards on worthless tricks, and does not overtake its partner.

Everything it decides from is in the View; whatever it wishes, it plays a legal action.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from gunzi_agents import greedy_setup
from gunzi_agents.greedy_play import Player, Weights
from gunzi_agents.greedy_setup import Habits
from gunzi_agents.reading import Flags, Reading, Slots
from gunzi_env.observe import View
from gunzi_env.planes import NUM_SLOTS
from gunzi_env.tables import Phase


class Greedy:
    """Plays what its habits say; see :mod:`gunzi_agents.greedy`."""

    name = "greedy"

    def __init__(self, weights: Weights | None = None, habits: Habits | None = None) -> None:
        self.weights = weights or Weights()
        self.habits = habits or Habits()
        self._card_phases: dict[Phase, Callable[[Reading, Flags], Slots]] = {
            Phase.TRIBUTE: lambda r, legal: greedy_setup.give(self._player(r), legal[0]),
            Phase.RETURN: lambda r, legal: greedy_setup.give_back(self._player(r), self.habits),
            Phase.BURY: lambda r, legal: greedy_setup.bury(self._player(r), self.habits),
            Phase.JOKERS: lambda r, legal: greedy_setup.bury_jokers(r, legal, self.habits),
            Phase.PICKUP: lambda r, legal: greedy_setup.give(self._player(r), legal[0]),
            Phase.LEAD: lambda r, legal: self._player(r).lead(legal),
            Phase.FOLLOW: lambda r, legal: self._player(r).follow(legal),
        }

    def _player(self, reading: Reading) -> Player:
        return Player(reading, self.weights)

    def reset(self) -> None:
        """Nothing is remembered."""

    def act(self, view: View, legal: npt.NDArray[np.bool_], keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
        """See :meth:`gunzi_agents.base.Agent.act`; ``keys`` are not needed, ties go to the lower action."""
        out = np.zeros(len(view), np.int32)
        present = np.bincount(view.phase, minlength=len(Phase))
        for phase in Phase:
            if present[phase]:
                rows = np.flatnonzero(view.phase == phase)
                everything = len(rows) == len(view)
                part, allowed = (view, legal) if everything else (view.rows(rows), legal[rows])
                out[rows] = self._decide(phase, part, allowed)
        return out

    def _decide(self, phase: Phase, view: View, legal: Flags) -> Slots:
        if phase == Phase.SHOW:
            return greedy_setup.show(view, legal, self.habits)
        if phase == Phase.BID:
            return greedy_setup.bid(view, legal, self.habits)
        decks = view.rules.decks
        cards = np.ascontiguousarray(legal[:, : decks * NUM_SLOTS].T).reshape(decks, NUM_SLOTS, len(view))
        return self._legal(self._card_phases[phase](Reading(view), cards), legal)

    def _legal(self, wish: Slots, legal: Flags) -> Slots:
        """The wishes, or the first legal action where a wish is not allowed."""
        bad = ~legal[np.arange(len(wish)), wish]
        if bad.any(): print("BAD", bad.sum(), len(bad))
        return np.where(legal[np.arange(len(wish)), wish], wish, legal.argmax(axis=1))
