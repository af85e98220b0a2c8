"""Hands of an agent against itself, as a record to read and replay. They do not affect learning."""

from __future__ import annotations

import numpy as np

from gunzi_agents.base import Agent
from gunzi_agents.playing import ask
from gunzi_env import engine, observe, record
from gunzi_env.chapters.deal import start_keys
from gunzi_env.published import starts
from gunzi_env.record import Record
from gunzi_env.rules import Rules
from gunzi_env.tables import Phase, Tables


def play(agent: Agent, rules: Rules, *, hands: int, seed: int) -> str:
    """Record ``hands`` single hands with ``agent`` in all four seats, playing as in the arena.

    Args:
        agent: its name becomes that of the players.
        rules: the rules to play.
        hands: number of hands.
        seed: seed of the deals and of the states that they start from.
    """
    tables = Tables(rules, hands)
    engine.reset(tables, seed, begin=False)
    everyone = np.arange(hands)
    levels, dealer, blood = starts.sample(rules, start_keys(tables, everyone))
    engine.begin_hand(tables, everyone, levels=levels, dealer=dealer, blood=blood)
    game = Record(rules, (agent.name,) * 4, [record.begin(tables, n) for n in range(hands)])
    while len(live := np.flatnonzero(tables.phase != Phase.OVER)):
        actions = np.full(hands, tables.actions.PASS, np.int32)
        legal = tables.actions.unpack(tables.legal[live])
        no_keys = np.zeros(len(live), np.uint64)  # a trained network does not draw
        actions[live] = ask(agent, observe.view(tables, live), legal, no_keys, tables, live)
        for n in live.tolist():
            record.note(game.hands[n], tables, int(actions[n]), n)
        engine.step(tables, actions)
    for n in range(hands):
        game.hands[n].result = record.result_text(tables, n)
    return record.write(game)
