"""The agent protocol: a name and a function from a batch of decisions to a batch of actions.

An agent subclasses :class:`Agent`, which supplies the defaults, or has all of its attributes. It may have more:
:class:`Appraiser` and :class:`Policy` let ``gunzi explain`` show action values, and an appraiser makes a better base
for :mod:`gunzi_agents.search`.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from gunzi_env.observe import View

MAX_DEALS = 256
"""Largest number of deals in a block of the arena."""


class AgentError(ValueError):
    """There is no such agent, or it cannot play under these rules."""

    exit_code = 2


class MissingAgentError(AgentError):
    """A run folder or checkpoint does not exist."""

    exit_code = 3


@runtime_checkable
class Agent(Protocol):
    """A player of Da Gunzi.

    ``keys`` are the only source of randomness that an agent may use: uint64 hashes of (seed, deal, seat, ply), which do
    not depend on the agents, so that a result does not depend on batches, processes or earlier games.
    """

    name: str
    """The name in tables and messages."""
    identity: str = ""
    """Distinguishes agents of one name, such as a hash of the weights. Saved games of another identity are not reused.
    An agent made of others has theirs, see :func:`joined`."""
    max_deals: int = MAX_DEALS
    """Maximum number of deals per block of the arena, 1 to 256. A slow agent sets a small one, because an interrupted
    tournament loses the unfinished blocks."""

    def act(self, view: View, legal: npt.NDArray[np.bool_], keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
        """Choose one legal action per row.

        Args:
            view: B decisions, each seen by the seat to move.
            legal: ``bool[B, A]``; no row is empty.
            keys: ``uint64[B]``.

        Returns:
            ``int32[B]``, action numbers of :class:`gunzi_env.actions.ActionSpace`.
        """
        ...

    def reset(self) -> None:
        """Forget all games: the next decisions belong to new ones."""
        return


@runtime_checkable
class Appraiser(Protocol):
    """Optional capability: an agent that values every legal action."""

    def appraise(self, view: View, legal: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
        """Value each action in a unit of the agent's choice, ``float32[B, A]``; any value where it is illegal."""
        ...


@runtime_checkable
class Policy(Protocol):
    """Optional capability: an agent that gives every action a probability, such as a network."""

    def probabilities(self, view: View, legal: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
        """Compute the probability of each action, ``float32[B, A]``; 0 where it is illegal."""
        ...


def joined(*agents: Agent) -> str:
    """Join the identities of the agents that an agent is made of; those without one are left out."""
    return " ".join(agent.identity for agent in agents if agent.identity)
