"""Hands of the present network against itself, as a record that one can read and replay. Nothing learns from them."""

from __future__ import annotations

import numpy as np

from gunzi_agents.networks import ActorCritic
from gunzi_agents.neural import NeuralAgent
from gunzi_agents.playing import ask
from gunzi_env import engine, observe, record
from gunzi_env.chapters.deal import start_keys
from gunzi_env.published import starts
from gunzi_env.record import Record
from gunzi_env.rules import Rules
from gunzi_env.tables import Phase, Tables


def play(net: ActorCritic, rules: Rules, name: str, *, hands: int, seed: int) -> str:
    """The record of ``hands`` single hands with ``net`` in all four seats, playing as it does in the arena.

    Args:
        net: left as it is, ready for training.
        rules: what is played.
        name: of the players.
        hands: how many.
        seed: names the deals and the states they start from.
    """
    agent = NeuralAgent(net, rules, name)
    tables = Tables(rules, hands)
    engine.reset(tables, seed, begin=False)
    everyone = np.arange(hands)
    levels, dealer, blood = starts.sample(rules, start_keys(tables, everyone))
    engine.begin_hand(tables, everyone, levels=levels, dealer=dealer, blood=blood)
    game = Record(rules, (name,) * 4, [record.begin(tables, n) for n in range(hands)])
    while len(live := np.flatnonzero(tables.phase != Phase.OVER)):
        actions = np.full(hands, tables.actions.PASS, np.int32)
        legal = tables.actions.unpack(tables.legal[live])
        no_keys = np.zeros(len(live), np.uint64)  # the network's choice hangs on none
        actions[live] = ask(agent, observe.view(tables, live), legal, no_keys, tables, live)
        for n in live.tolist():
            record.note(game.hands[n], tables, int(actions[n]), n)
        engine.step(tables, actions)
    for n in range(hands):
        game.hands[n].result = record.result_text(tables, n)
    net.train()
    return record.write(game)
