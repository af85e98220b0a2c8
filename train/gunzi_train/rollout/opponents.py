"""Opponents: the agents that play against the learner, or none in self-play.

With opponents, the learner plays team 0 at every other table and team 1 at the rest, so it meets both roles and all
seats; to the learner, the opponents' moves are part of the game.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from gunzi_agents import checkpoint, registry
from gunzi_agents.base import Agent, AgentError
from gunzi_agents.checkpoint import CheckpointError
from gunzi_agents.playing import AgentFault, ask, identity
from gunzi_env.chapters.deal import deal_key
from gunzi_env.keys import mix
from gunzi_env.observe import View
from gunzi_env.rules import Rules
from gunzi_env.tables import Flags, Index, Int8, Tables
from gunzi_train.config import Config
from gunzi_train.errors import OpponentFault

Actions = npt.NDArray[np.int32]
Words = npt.NDArray[np.uint64]
Arrays = dict[str, npt.NDArray[Any]]

_DRAW = np.uint64(0x706F70756C617465)
"""Separates the draws of a population from other hashes of the same deals."""


class Opponents(Protocol):
    """The agents that play the seats that the learner does not play, at N tables."""

    identity: str
    """Identities of the frozen agents, see :class:`gunzi_agents.base.Agent`; "" without any."""
    share: float
    """Expected share of the decisions that the learner makes."""

    def begin(self, tables: Tables, rows: Index) -> None:
        """Assign opponents to tables ``rows``, where new hands have begun."""

    def next_rollout(self) -> None:
        """Prepare for the next rollout; hands in progress keep their opponents."""

    def learner_mask(self, seats: Int8) -> Flags:
        """Mark the tables bool[N] whose seat to move, ``seats`` int8[N], belongs to the learner."""

    def act(self, view: View, legal: Flags, keys: Words, tables: Tables, rows: Index) -> Actions:
        """Choose legal actions int32[B] at tables ``rows``; arguments as in :func:`gunzi_agents.playing.ask`.

        Raises:
            OpponentFault: an agent crashed or returned an illegal action.
        """

    def state(self) -> Arrays:
        """Return the state for a checkpoint."""

    def restore(self, state: Arrays) -> None:
        """Continue from :meth:`state`; ``ValueError`` or ``KeyError`` if it does not fit."""


class SelfPlay:
    """No opponents: the learner plays all four seats."""

    identity = ""
    share = 1.0

    def begin(self, tables: Tables, rows: Index) -> None:
        """Do nothing."""

    def next_rollout(self) -> None:
        """Do nothing."""

    def learner_mask(self, seats: Int8) -> Flags:
        """See :class:`Opponents`."""
        return np.ones(len(seats), np.bool_)

    def act(self, view: View, legal: Flags, keys: Words, tables: Tables, rows: Index) -> Actions:
        """Fail: the learner makes every decision."""
        raise AssertionError("in self-play no decision is left to an opponent")

    def state(self) -> Arrays:
        """Return nothing."""
        return {}

    def restore(self, state: Arrays) -> None:
        """Do nothing."""


class Frozen:
    """One agent that plays the other team at every table and never changes."""

    share = 0.5

    def __init__(self, agent: Agent, num_tables: int) -> None:
        self.agent = agent
        self.identity = identity(agent)
        self.team = np.arange(num_tables) & 1
        """The learner's team at each table."""
        agent.reset()

    def begin(self, tables: Tables, rows: Index) -> None:
        """Do nothing: the agent never changes."""

    def next_rollout(self) -> None:
        """Do nothing: the agent never changes."""

    def learner_mask(self, seats: Int8) -> Flags:
        """See :class:`Opponents`."""
        return (seats & 1) == self.team

    def act(self, view: View, legal: Flags, keys: Words, tables: Tables, rows: Index) -> Actions:
        """See :class:`Opponents`."""
        return _ask(self.agent, view, legal, keys, tables, rows)

    def state(self) -> Arrays:
        """Return nothing: agents have no state between decisions."""
        return {}

    def restore(self, state: Arrays) -> None:
        """Do nothing."""


class Member(NamedTuple):
    """An agent of a population."""

    entry: int
    """Number of the entry that it was made for."""
    spec: str
    """Spec of the agent; the path of its checkpoint if it comes from a run folder."""
    agent: Agent


class Population:
    """Several agents, one of which is drawn for each hand at each table.

    The draw is a hash of the deal, so it does not depend on the number of tables or processes. With ``refresh``,
    entries that are run folders are reloaded from their newest checkpoint every ``refresh`` rollouts; hands in progress
    are finished against the agent that they began with.

    Args:
        specs: the entries, as :func:`gunzi_agents.registry.make` takes them.
        rules: the rules to play.
        num_tables: N.
        weights: weight of each entry in the draw; equal weights if empty.
        refresh: rollouts between reloads, 0 for never.
    """

    share = 0.5

    def __init__(
        self, specs: Sequence[str], rules: Rules, num_tables: int, *, weights: Sequence[float] = (), refresh: int = 0
    ) -> None:
        self.specs, self.rules, self.refresh = tuple(specs), rules, refresh
        self.team = np.arange(num_tables) & 1
        chances = np.array(weights or [1.0] * len(self.specs))
        self._ends = np.cumsum(chances / chances.sum())
        self._rollouts = 0
        self.members = [self._newest(entry) for entry in range(len(self.specs))]
        self._present = np.arange(len(self.specs))  # the member that plays for each entry in hands to come
        self.playing = np.zeros(num_tables, np.int64)
        """The member, an index of ``members``, that plays at each table."""
        frozen = (identity(m.agent) for m in self.members if not self._reloaded(m.entry))
        self.identity = " ".join(filter(None, frozen))

    def begin(self, tables: Tables, rows: Index) -> None:
        """Draw the opponent of each new hand."""
        points = mix(_DRAW, deal_key(tables, rows)) * 2.0**-64
        entries = np.searchsorted(self._ends, points, side="right")
        self.playing[rows] = self._present[np.minimum(entries, len(self._present) - 1)]

    def next_rollout(self) -> None:
        """Reload the entries that are run folders, every ``refresh`` rollouts."""
        self._rollouts += 1
        if not self.refresh or self._rollouts % self.refresh:
            return
        for entry in filter(self._reloaded, range(len(self.specs))):
            try:
                member = self._newest(entry)
            except (AgentError, CheckpointError):
                continue  # a damaged or removed checkpoint is no reason to stop: the old one plays on
            if identity(member.agent) != identity(self.members[self._present[entry]].agent):
                self._present[entry] = len(self.members)
                self.members.append(member)
        self._drop_unused()

    def learner_mask(self, seats: Int8) -> Flags:
        """See :class:`Opponents`."""
        return (seats & 1) == self.team

    def act(self, view: View, legal: Flags, keys: Words, tables: Tables, rows: Index) -> Actions:
        """See :class:`Opponents`."""
        actions = np.zeros(len(rows), np.int32)
        playing = self.playing[rows]
        for number in np.unique(playing).tolist():
            part = np.flatnonzero(playing == number)
            agent = self.members[number].agent
            actions[part] = _ask(agent, view.rows(part), legal[part], keys[part], tables, rows[part])
        return actions

    def state(self) -> Arrays:
        """Return who plays at each table, and the checkpoint of each member."""
        members = [[m.entry, m.spec, identity(m.agent)] for m in self.members]
        content = {"members": members, "present": self._present.tolist(), "rollouts": self._rollouts}
        text = np.frombuffer(json.dumps(content).encode(), np.uint8)
        return {"population": text, "population.playing": self.playing.copy()}

    def restore(self, state: Arrays) -> None:
        """Continue from :meth:`state`.

        A checkpoint that has been removed since is replaced by the newest one of its run: then the training is not
        equal bit for bit to one without a break.
        """
        content = json.loads(state["population"].tobytes())
        newest = self.members[: len(self.specs)]
        self.members = [self._again(newest[entry], spec, known) for entry, spec, known in content["members"]]
        self._present = np.array(content["present"], np.int64)
        self._rollouts = int(content["rollouts"])
        self.playing = state["population.playing"].copy()

    def _reloaded(self, entry: int) -> bool:
        return self.refresh > 0 and Path(self.specs[entry]).is_dir()

    def _newest(self, entry: int) -> Member:
        spec = self.specs[entry]
        if self._reloaded(entry):
            spec = str(checkpoint.load(spec)[0].path)
        agent = registry.make(spec, self.rules)
        agent.reset()
        return Member(entry, spec, agent)

    def _again(self, newest: Member, spec: str, known: str) -> Member:
        """Load a member of a saved state, or take the newest one of its entry if that has changed or gone."""
        try:
            agent = registry.make(spec, self.rules)
        except (AgentError, CheckpointError):
            return newest
        agent.reset()
        return Member(newest.entry, spec, agent) if identity(agent) == known else newest

    def _drop_unused(self) -> None:
        used = np.unique(np.concatenate((self._present, self.playing)))
        self.members = [self.members[number] for number in used.tolist()]
        self._present, self.playing = np.searchsorted(used, self._present), np.searchsorted(used, self.playing)


def make_opponents(config: Config, rules: Rules) -> Opponents:
    """Make the opponents that a configuration names, for the tables of one process.

    Raises:
        AgentError, CheckpointError: an agent that does not exist or cannot play under these rules.
    """
    tables, population = config.collect.tables, config.population
    if population.agents:
        return Population(population.agents, rules, tables, weights=population.weights, refresh=population.refresh)
    if config.opponent:
        return Frozen(registry.make(config.opponent, rules), tables)
    return SelfPlay()


def _ask(agent: Agent, view: View, legal: Flags, keys: Words, tables: Tables, rows: Index) -> Actions:
    try:
        return ask(agent, view, legal, keys, tables, rows)
    except AgentFault as fault:
        raise OpponentFault(str(fault)) from fault
