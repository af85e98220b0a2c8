"""The expert bot: counts cards, weighs a play by score, kitty and the last trick; no search; whole batches at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gunzi_agents.expert_play import ExpertPlayer
from gunzi_agents.greedy import Greedy
from gunzi_agents.reading import Flags, Reading
from gunzi_env.observe import View
from gunzi_env.planes import NUM_SLOTS
from gunzi_env.tables import Phase


class Expert(Greedy):
    """Plays what its considerations say; see :mod:`gunzi_agents.expert`."""

    name = "expert"
    player = ExpertPlayer

    def appraise(self, view: View, legal: Flags) -> npt.NDArray[np.float32]:
        """What each action of a play is worth in points, ``float32[B, A]``; 0 in other phases."""
        out = np.zeros(legal.shape, np.float32)
        cards = view.rules.decks * NUM_SLOTS
        for phase, values in ((Phase.LEAD, ExpertPlayer.lead_values), (Phase.FOLLOW, ExpertPlayer.follow_values)):
            rows = np.flatnonzero(view.phase == phase)
            if len(rows):
                player = ExpertPlayer(Reading(view.rows(rows)), self.weights)
                out[rows, :cards] = values(player).reshape(cards, -1).T
        return out
