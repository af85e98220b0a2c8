"""The greedy bot: readable rules of thumb for whole batches, without search or memory.

* It bids on length (:func:`gunzi_agents.greedy_setup.bid`).
* It creates a void if it can bury one, and buries a joker only if its side is likely to win the last trick.
* It leads sure winners, and follows with the cheapest sufficient card.
* It adds points to a trick that its partner wins, and withholds them from an opponent.
* It spends no jokers, 2s and level cards on worthless tricks, and does not overtake its partner.

It decides from the View alone. A preferred action that is illegal is replaced by the first legal one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from gunzi_agents import greedy_setup
from gunzi_agents.base import Agent
from gunzi_agents.greedy_play import Player, Weights
from gunzi_agents.greedy_setup import Habits
from gunzi_agents.reading import Flags, Reading, Slots
from gunzi_env.observe import View
from gunzi_env.planes import NUM_SLOTS
from gunzi_env.tables import Phase

Decide = Callable[[Player, Flags, Habits], Slots]
"""From the valued hands of B decisions and the legal units ``bool[D, 54, B]`` to the preferred actions ``[B]``."""

CARD_PHASES: dict[Phase, Decide] = {
    Phase.TRIBUTE: lambda player, legal, habits: greedy_setup.give(player, legal[0]),
    Phase.RETURN: lambda player, legal, habits: greedy_setup.give_back(player),
    Phase.BURY: lambda player, legal, habits: greedy_setup.bury(player, habits),
    Phase.JOKERS: lambda player, legal, habits: greedy_setup.bury_jokers(player.r, legal[0], habits),
    Phase.PICKUP: lambda player, legal, habits: greedy_setup.pick_up(player.r, legal[0]),
    Phase.LEAD: lambda player, legal, habits: player.lead(legal),
    Phase.FOLLOW: lambda player, legal, habits: player.follow(legal),
}


class Greedy(Agent):
    """Plays by fixed rules of thumb; see :mod:`gunzi_agents.greedy`."""

    name = "greedy"
    player = Player

    def __init__(self, weights: Weights | None = None, habits: Habits | None = None) -> None:
        self.weights = weights or Weights()
        self.habits = habits or Habits()

    def reset(self) -> None:
        """Do nothing: there is no memory."""

    def act(self, view: View, legal: npt.NDArray[np.bool_], keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
        """See :meth:`gunzi_agents.base.Agent.act`; ``keys`` are not used, ties go to the lowest number."""
        out = np.zeros(len(view), np.int32)
        present = np.bincount(view.phase, minlength=len(Phase))
        for phase in Phase:
            if present[phase]:
                rows = np.flatnonzero(view.phase == phase)
                everything = len(rows) == len(view)
                part, allowed = (view, legal) if everything else (view.rows(rows), legal[rows])
                wish = self._wish(phase, part, allowed)
                # An illegal preference is replaced by the first legal action.
                out[rows] = np.where(allowed[np.arange(len(rows)), wish], wish, allowed.argmax(axis=1))
        return out

    def _wish(self, phase: Phase, view: View, legal: Flags) -> Slots:
        if phase == Phase.SHOW:
            return greedy_setup.show(view, self.habits)
        if phase == Phase.BID:
            return greedy_setup.bid(view, legal, self.habits)
        decks = view.rules.decks
        cards = np.ascontiguousarray(legal[:, : decks * NUM_SLOTS].T).reshape(decks, NUM_SLOTS, len(view))
        return CARD_PHASES[phase](self.player(Reading(view), self.weights), cards, self.habits)
