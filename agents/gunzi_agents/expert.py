"""The expert bot: counts cards, and values a play by score, kitty and last trick. No search, no memory.

It shares with :mod:`gunzi_agents.greedy` the bidding, tribute and burial, and the card counting of
:mod:`gunzi_agents.reading`: the cards left in each suit, the seats known to be out of a suit, and the probability that
a card, pair or triple is still beaten. In addition (:mod:`gunzi_agents.expert_play`):

* The value of points depends on the score: on which side is winning the hand, and on how much a few points decide (R9).
* Trumps and shapes are kept for the last trick, more so with many jokers and points in the kitty (R8.2, R9). Play
  differs between dealer, dealer's partner and attacker, and with the number of cards left.
* Leads depend on length, on the seats that are out of the suit and on the points still outside. A long trump suit draws
  trumps.
* Winning a trick is compared with discarding card by card: points, the lead, voids created, shapes broken.
* The dealer's partner buries jokers more readily, especially if the dealer has shown strength by burying some (R6.5).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gunzi_agents.expert_play import ExpertPlayer
from gunzi_agents.greedy import Greedy
from gunzi_agents.greedy_setup import Habits
from gunzi_agents.reading import Flags, Reading
from gunzi_env.observe import View
from gunzi_env.planes import NUM_SLOTS
from gunzi_env.tables import Phase

HABITS = Habits(
    partner=-0.45,
    public=0.65,
    void=20.0,
)
"""Differences from greedy before the play. Over 3,000 duplicate deals each against greedy, the first two gained 0.06
levels per hand and the void 0.03; points did not differ."""


class Expert(Greedy):
    """Plays by weighted features of a play; see :mod:`gunzi_agents.expert`."""

    name = "expert"
    player = ExpertPlayer

    def __init__(self, habits: Habits = HABITS) -> None:
        super().__init__(habits=habits)

    def appraise(self, view: View, legal: Flags) -> npt.NDArray[np.float32]:
        """Value each action of a lead or follow in points, ``float32[B, A]``; 0 in other phases."""
        out = np.zeros(legal.shape, np.float32)
        cards = view.rules.decks * NUM_SLOTS
        for phase, values in ((Phase.LEAD, ExpertPlayer.lead_values), (Phase.FOLLOW, ExpertPlayer.follow_values)):
            rows = np.flatnonzero(view.phase == phase)
            if len(rows):
                player = ExpertPlayer(Reading(view.rows(rows)), self.weights)
                out[rows, :cards] = values(player).reshape(cards, -1).T
        return out
