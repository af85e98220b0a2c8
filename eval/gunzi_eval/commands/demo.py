"""Watch four bots play one hand, drawn in the terminal, with the result explained.

No torch, no other files: it shows the game within a second or two.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gunzi_agents import registry
from gunzi_agents.playing import decide
from gunzi_env import engine
from gunzi_env.chapters.deal import start_keys
from gunzi_env.cli.options import check_seed, check_writable, checked_rules, parse, say_next, write_whole
from gunzi_env.published import starts
from gunzi_env.record import Recorder
from gunzi_env.rules import Rules
from gunzi_env.tables import Phase, Tables
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
    tables, here = Tables(rules, 1), np.array([0])
    engine.reset(tables, seed, begin=False)
    levels, dealer, blood = starts.sample(rules, start_keys(tables, here))
    engine.begin_hand(tables, here, levels=levels, dealer=dealer, blood=blood)
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
    ply = 0
    while tables.phase[0] != Phase.OVER:
        action = decide(agent, tables, config.seed, ply)
        recorder.note(tables, action)
        spectator.show(narrator.advance(action))
        ply += 1
    if config.record is not None:
        recorder.end(tables)
        write_whole(config.record, recorder.text())
        say_next(f"gunzi replay {config.record}")
    else:
        say_next("gunzi play, to sit down yourself; gunzi rulebook --help, to ask the rules")
    return 0
