"""Code shared by all benchmark cases: the type of a started case and the PettingZoo loop.

This file must not import gunzi, because it is also loaded in the peers' virtual environment.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

SEED = 7
"""Seed of all deals and policies."""

Work = Callable[[], int]
"""Plays some decisions and returns their number. Chance nodes are not counted."""


class Unavailable(Exception):
    """Raised when a case cannot run on this machine. The message gives the reason."""


def nothing() -> None:
    """Do nothing: the default ``close``."""


@dataclass(frozen=True)
class Started:
    """A case that is ready to be measured."""

    work: Work
    note: str = ""
    """Details for the table, such as a version or a batch size."""
    close: Callable[[], None] = nothing


def aec_games(env: Any) -> Work:
    """Return a function that plays one AEC game with uniform random legal actions per call."""
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
