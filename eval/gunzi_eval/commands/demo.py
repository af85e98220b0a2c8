"""Watch four bots play one hand, with the result explained.

example: gunzi demo --seed 7
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np

from gunzi_agents import registry
from gunzi_agents.playing import Actions, Seating, play_hands
from gunzi_env import engine
from gunzi_env.cli.options import SEEDS, RulesName, check_writable, checked_rules, parse, say_next, write_whole
from gunzi_env.record import Recorder
from gunzi_env.rules import Rules
from gunzi_env.tables import Index, Tables
from gunzi_eval.table.narrator import Narrator
from gunzi_eval.table.terminal import Painter, Spectator, show


@dataclass(frozen=True)
class DemoOptions:
    """Options of ``gunzi demo``."""

    seed: Annotated[int, SEEDS] = 15
    """Seed of the deal and of all random choices; the default hand has tribute and buried jokers."""
    rules: RulesName = "dalian"
    agent: str = "greedy"
    """Bot in all four seats."""
    record: Path | None = None
    """Write the hand to this file, for gunzi replay."""


def deal(rules: Rules, seed: int) -> Tables:
    """Deal one hand from the published distribution of start states."""
    tables = Tables(rules, 1)
    engine.deal_hands(tables, seed)
    return tables


def main(argv: list[str]) -> int:
    """Run ``gunzi demo``."""
    options = parse(DemoOptions, argv, "demo")
    check_writable(options.record, "--record")
    rules = checked_rules(options.rules)
    agent = registry.make(options.agent, rules)
    tables, painter = deal(rules, options.seed), Painter()
    title = f"Four {agent.name} bots play one hand of Da Gunzi ({rules.name}, seed {options.seed})"
    show([painter.strong(f"{title}; seats 0 and 2 against 1 and 3"), ""])
    recorder, narrator, spectator = Recorder(rules, [agent.name] * 4), Narrator(tables), Spectator(tables, painter)
    recorder.begin(tables)
    spectator.show(narrator.opening())

    def step(t: Tables, rows: Index, actions: Actions) -> None:
        recorder.note(t, int(actions[0]))
        spectator.show(narrator.advance(int(actions[0])))

    play_hands(tables, Seating.alone(agent, 1, np.array([options.seed], np.uint64)), step=step)
    if options.record is not None:
        recorder.end(tables)
        write_whole(options.record, recorder.text())
        say_next(f"gunzi replay {options.record}")
    else:
        say_next("gunzi play to play yourself; gunzi rulebook --help for questions about the rules")
    return 0
