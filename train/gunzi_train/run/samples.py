"""Hands of an agent against itself, as a record to read and replay. They do not affect learning."""

from __future__ import annotations

from gunzi_agents.base import Agent
from gunzi_agents.playing import Actions, Seating, play_hands
from gunzi_env import engine, record
from gunzi_env.record import Record
from gunzi_env.rules import Rules
from gunzi_env.tables import Index, Tables


def play(agent: Agent, rules: Rules, *, hands: int, seed: int) -> str:
    """Record ``hands`` single hands with ``agent`` in all four seats, playing as in the arena.

    Args:
        agent: its name becomes that of the players.
        rules: the rules to play.
        hands: number of hands.
        seed: seed of the deals and of the states that they start from.
    """
    tables = Tables(rules, hands)
    engine.deal_hands(tables, seed)
    game = Record(rules, (agent.name,) * 4, [record.begin(tables, n) for n in range(hands)])

    def step(t: Tables, rows: Index, actions: Actions) -> None:
        for n in rows.tolist():
            record.note(game.hands[n], t, int(actions[n]), n)
        engine.step(t, actions)  # forced moves are asked for, so that the record shows them

    play_hands(tables, Seating.alone(agent, hands), step=step)
    for n in range(hands):
        game.hands[n].result = record.result_text(tables, n)
    return record.write(game)
