"""Watch four bots play one hand, drawn in the terminal, with the result explained.

No torch, no other files: it shows the game within a second or two.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gunzi_agents import registry
from gunzi_agents.playing import Actions, Seating, play_hands
from gunzi_env.cli.options import check_seed, check_writable, checked_rules, parse, say_next, write_whole
from gunzi_env.published import starts
from gunzi_env.record import Recorder
from gunzi_env.rules import Rules
from gunzi_env.tables import Index, Tables
from gunzi_eval.table.narrator import Narrator
from gunzi_eval.table.terminal import Painter, Spectator, show


@dataclass(frozen=True)
class Demo:
    """Watch four bots play one hand, drawn in the terminal, with the result explained.

    example: gunzi demo --seed 7
    """

    seed: int = 15
    """Names the deal and every random choice; the default hand has tribute and a burial of jokers."""
    rules: str = "dalian"
    """A preset (dalian, dalian_dead, classic, four_deck) or a TOML file such as configs/rules/jack.toml."""
    agent: str = "greedy"
    """Who plays all four seats."""
    record: Path | None = None
    """Write the hand to this file, for gunzi replay."""


def deal(rules: Rules, seed: int) -> Tables:
    """One table with a hand in the middle of a match, as the published distribution has them."""
    tables = Tables(rules, 1)
    starts.deal(tables, seed)
    return tables


def main(argv: list[str]) -> int:
    """``gunzi demo``."""
    config = parse(Demo, argv, "demo")
    check_seed(config.seed)
    check_writable(config.record, "--record")
    rules = checked_rules(config.rules)
    agent = registry.make(config.agent, rules)
    tables, painter = deal(rules, config.seed), Painter()
    title = f"Four {agent.name} bots play one hand of Da Gunzi ({rules.name}, seed {config.seed})"
    show([painter.strong(f"{title}; seats 0 and 2 against 1 and 3"), ""])
    recorder, narrator, spectator = Recorder(rules, [agent.name] * 4), Narrator(tables), Spectator(tables, painter)
    recorder.begin(tables)
    spectator.show(narrator.opening())

    def step(t: Tables, rows: Index, actions: Actions) -> None:
        recorder.note(t, int(actions[0]))
        spectator.show(narrator.advance(int(actions[0])))

    play_hands(tables, Seating.alone(agent, 1, np.array([config.seed], np.uint64)), step=step)
    if config.record is not None:
        recorder.end(tables)
        write_whole(config.record, recorder.text())
        say_next(f"gunzi replay {config.record}")
    else:
        say_next("gunzi play, to sit down yourself; gunzi rulebook --help, to ask the rules")
    return 0
