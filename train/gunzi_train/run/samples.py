"""Sample hands of the current network in self-play, as a record for reading and replay. They are not trained on."""

from __future__ import annotations

from gunzi_agents.networks import ActorCritic
from gunzi_agents.neural import NeuralAgent
from gunzi_agents.playing import Actions, Seating, play_hands
from gunzi_env import engine, record
from gunzi_env.published import starts
from gunzi_env.record import Record
from gunzi_env.rules import Rules
from gunzi_env.tables import Index, Tables


def play(net: ActorCritic, rules: Rules, name: str, *, hands: int, seed: int) -> str:
    """Play single hands with ``net`` in all four seats, acting as it does in the arena, and return their record.

    Args:
        net: the network; in training mode afterwards.
        rules: the rules of the hands.
        name: name of the players in the record.
        hands: number of hands.
        seed: names the deals and the states that the hands start from.
    """
    agent, tables = NeuralAgent(net, rules, name), Tables(rules, hands)
    starts.deal(tables, seed)
    game = Record(rules, (name,) * 4, [record.begin(tables, n) for n in range(hands)])

    def step(t: Tables, rows: Index, actions: Actions) -> None:
        for n in rows.tolist():
            record.note(game.hands[n], t, int(actions[n]), n)
        engine.step(t, actions)  # forced moves are asked for, so that the record shows them

    play_hands(tables, Seating.alone(agent, hands), step=step)
    for n in range(hands):
        game.hands[n].result = record.result_text(tables, n)
    net.train()
    return record.write(game)
