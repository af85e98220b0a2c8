"""What an agent is: a name and a function from a batch of decisions to a batch of actions."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from gunzi_env.observe import View


class AgentError(ValueError):
    """No such agent, or one that cannot play under these rules."""

    exit_code = 2


class MissingAgentError(AgentError):
    """A run folder or checkpoint that is not there."""

    exit_code = 3


@runtime_checkable
class Agent(Protocol):
    """Something that plays.

    ``keys`` are the only randomness an agent may use: uint64 hashes of (seed, deal, seat, ply), the same whoever plays,
    so that a result does not depend on batches, on processes or on what was played before.

    Two attributes are asked for where an agent has them. ``block``, an int: the arena deals at most so many deals at a
    time (1 to 256, and 256 without it), so that a slow agent can be interrupted. ``identity``, a text: what the name
    does not say, such as a hash of the weights; games of another identity are never taken for this agent's.
    """

    name: str

    def act(self, view: View, legal: npt.NDArray[np.bool_], keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
        """One legal action for each row.

        Args:
            view: B decisions, each from the eyes of the seat to move.
            legal: bool[B, A]; no row is empty.
            keys: uint64[B].

        Returns:
            int32[B], action numbers of :class:`gunzi_env.actions.ActionSpace`.
        """
        ...

    def reset(self) -> None:
        """Forget everything: the next decisions belong to other games."""
        ...
