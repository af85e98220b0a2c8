"""What the habits of ``greedy`` wish for is legal by itself: bot and referee do not disagree."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from gunzi_agents.greedy import Greedy
from gunzi_agents.greedy_play import Slots
from gunzi_env import Rules, VectorEnv
from gunzi_env.observe import View
from gunzi_env.tables import Flags, Phase


class Watched(Greedy):
    """Counts decisions and illegal wishes by phase; what is played is made legal in any case."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: Counter[Phase] = Counter()
        self.illegal: Counter[Phase] = Counter()

    def _wish(self, phase: Phase, view: View, legal: Flags) -> Slots:
        wish = super()._wish(phase, view, legal)
        self.asked[phase] += len(view)
        self.illegal[phase] += int((~legal[np.arange(len(view)), wish]).sum())
        return wish


@pytest.mark.parametrize("preset", Rules.presets())
def test_every_wish_is_legal(preset: str) -> None:
    env = VectorEnv(96, preset, seed=2, skip_forced=False)
    bot = Watched()
    view, legal = env.reset()
    for _ in range(200):
        view, legal, _, _ = env.step(bot.act(view, legal, np.zeros(len(view), np.uint64)))
    assert bot.illegal.total() == 0
    assert set(bot.asked) >= set(Phase) - {Phase.SHOW, Phase.OVER}
