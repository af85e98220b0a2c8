"""The uniform agent: every legal action is equally probable."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gunzi_agents.base import Agent
from gunzi_env.keys import mix
from gunzi_env.observe import View

# Makes this agent's draws independent of those of other users of the same keys.
_SALT = np.uint64(0x756E69666F726D)
_HALF = np.uint64(32)


def choose(legal: npt.NDArray[np.bool_], keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
    """Draw one legal action per row, uniformly by its key: ``bool[B, A]``, ``uint64[B]`` -> ``int32[B]``.

    Raises:
        ValueError: a row has no legal action; the message names the first.
    """
    row, action = np.nonzero(legal)  # row-major: the legal actions of a row are adjacent
    counts = np.bincount(row, minlength=len(legal)).astype(np.uint64)
    if not counts.all():
        raise ValueError(f"row {int(np.argmin(counts))} has no legal action")
    # The upper half of a hash times n, shifted down: 0..n-1 with a bias below n / 2**32.
    kth = ((mix(keys, _SALT) >> _HALF) * counts) >> _HALF
    return action[(np.cumsum(counts) - counts + kth).astype(np.intp)].astype(np.int32)


class Uniform(Agent):
    """Plays random legal actions; a smoke test, not an opponent."""

    name = "uniform"

    def act(self, view: View, legal: npt.NDArray[np.bool_], keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
        """See :meth:`gunzi_agents.base.Agent.act`."""
        return choose(legal, keys)

    def reset(self) -> None:
        """Do nothing: there is no memory."""
