"""What contestants of both sides share: the loop of a PettingZoo game, and how one is started.

Nothing of gunzi is imported here: the peers' virtual environment loads this file too.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

SEED = 7
"""Of all deals and policies."""

Work = Callable[[], int]
"""Makes some decisions and returns how many; a decision is a player's, chance is not counted."""


class Unavailable(Exception):
    """A contestant that cannot take part here; the message says why."""


def nothing() -> None:
    """Close a contestant that holds nothing."""


@dataclass(frozen=True)
class Started:
    """A contestant ready to be measured."""

    work: Work
    note: str = ""
    """What is worth knowing about it: a version, a batch size."""
    close: Callable[[], None] = nothing


def aec_games(env: Any) -> Work:
    """Whole games of a PettingZoo AEC environment with action masks, one a call, by uniform random legal actions."""
    draw = random.Random(SEED).random
    env.reset(seed=SEED)

    def game() -> int:
        decisions = 0
        while True:
            observation, _, termination, truncation, _ = env.last()
            if termination or truncation:
                env.reset()
                return decisions
            legal = np.flatnonzero(observation["action_mask"])
            env.step(int(legal[int(draw() * len(legal))]))
            decisions += 1

    return game
