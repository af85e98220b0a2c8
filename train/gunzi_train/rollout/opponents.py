"""Opponents: what the network plays against, where it does not play all four seats itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from gunzi_agents import registry
from gunzi_agents.base import Agent
from gunzi_agents.networks import ActorCritic
from gunzi_agents.playing import AgentFault, ask, identity
from gunzi_env.chapters.deal import deal_key
from gunzi_env.keys import mix
from gunzi_env.rules import Rules
from gunzi_train.config import Config
from gunzi_train.errors import OpponentFault
from gunzi_train.rollout.collector import Collector
from gunzi_train.seeds import derived_seed

_OPPONENT = np.uint64(0x6F70706F6E656E74)
"""Sets the opponent's keys apart from other hashes of the same deals."""


class Against(Collector):
    """The network plays one team, team 0 at every other table and team 1 at the rest; a frozen agent plays the other.

    So the network meets both roles and all seats, and to it the agent's moves are a part of the game. The agent's keys
    are hashes of deal, seat and ply.
    """

    share = 0.5

    def __init__(self, *args: Any, opponent: Agent, **options: Any) -> None:
        super().__init__(*args, **options)
        self.opponent = opponent
        self.opponent_identity = identity(opponent)
        opponent.reset()
        self.team = np.arange(self.config.tables) & 1
        """Of the network at each table."""

    def _act(self, t: int, net: ActorCritic, bf16: bool) -> None:
        data, tables = self.data, self.env.tables
        data.mine[t] = (data.seats[t] & 1) == self.team
        mine, theirs = np.flatnonzero(data.mine[t]), np.flatnonzero(~data.mine[t])
        if len(mine):
            self._draw(t, mine, net, bf16)
        if len(theirs):
            keys = mix(_OPPONENT, deal_key(tables, theirs), data.seats[t, theirs], self.plies[theirs])
            view, legal = self.view.rows(theirs), data.legal[t, theirs]
            try:
                data.actions[t, theirs] = ask(self.opponent, view, legal, keys, tables, theirs)
            except AgentFault as fault:
                raise OpponentFault(str(fault)) from fault
            data.log_probs[t, theirs] = 0.0


def make_collector(config: Config, rules: Rules, *stream: object) -> Collector:
    """New tables; ``stream`` sets their deals and draws apart from those of all other streams of the run."""
    options: dict[str, Any] = {
        "seed": derived_seed(config.seed, "deals", *stream),
        "privileged": config.net.critic != "shared",
        "generator": torch.Generator().manual_seed(derived_seed(config.seed, "play", *stream)),
    }
    if not config.opponent:
        return Collector(rules, config.collect, config.reward, **options)
    opponent = registry.make(config.opponent, rules)
    return Against(rules, config.collect, config.reward, opponent=opponent, **options)
