"""Measure bots against each other on the same deals, with 95 % intervals.

Every pair of agents plays duplicate deals (:mod:`gunzi_eval.duplicate`). Three figures, from the first agent's
view: levels per hand, points per hand, hands won; and matches won, if asked for.
"""

from __future__ import annotations

import itertools
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tyro.conf import Positional

from gunzi_agents import registry
from gunzi_agents.base import Agent
from gunzi_env import starts
from gunzi_env.rules import Rules
from gunzi_eval import duplicate
from gunzi_eval.arguments import (
    UsageError,
    check_range,
    check_seed,
    check_writable,
    checked_rules,
    parse,
    say_next,
    write_whole,
)
from gunzi_eval.intervals import Interval, figure, mean_interval, share_interval

MAX_DEALS = 10_000_000


@dataclass(frozen=True)
class Arena:
    """Play every pair of agents on the same deals, each deal twice with the teams exchanged, and print 95 % intervals.

    example: gunzi arena uniform greedy runs/demo --deals 1000
    """

    agents: Positional[tuple[str, ...]] = ()
    """Two or more agents: uniform, greedy, or the path of a run folder or checkpoint."""
    deals: int = 1000
    """Deals a pair, each played twice."""
    seed: int = 0
    """Names the deals and every random choice."""
    rules: str = "dalian"
    """A preset (dalian, dalian_dead, classic, four_deck) or a TOML file such as configs/rules/jack.toml."""
    matches: int = 0
    """Whole matches a pair besides, each played twice; slower."""
    json: Path | None = None
    """Write the figures to this file as JSON."""


@dataclass(frozen=True)
class Pair:
    """The figures of one pair from ``a``'s view."""

    a: str
    b: str
    deals: int
    levels: Interval
    points: Interval
    hands_won: Interval
    matches_won: Interval | None

    def as_dict(self) -> dict[str, Any]:
        """The form of the JSON file."""
        return {
            "a": self.a,
            "b": self.b,
            "deals": self.deals,
            "levels": self.levels.as_dict(),
            "points": self.points.as_dict(),
            "hands_won": self.hands_won.as_dict(),
            "matches_won": self.matches_won.as_dict() if self.matches_won else None,
        }


def measure(
    names: tuple[str, str],
    agents: tuple[Agent, Agent],
    rules: Rules,
    deals: int,
    seed: int,
    matches: int = 0,
    progress: duplicate.Progress = lambda done: None,
) -> Pair:
    """Play one pair and reduce its deals to means with intervals.

    Raises:
        gunzi_eval.duplicate.AgentFault: an agent crashed or played an illegal action.
    """
    figures = duplicate.play(agents, rules, deals, seed, progress)
    won = duplicate.play_matches(agents, rules, matches, seed, progress) if matches else None
    return Pair(
        *names,
        deals,
        levels=mean_interval(figures.levels),
        points=mean_interval(figures.points),
        hands_won=share_interval(figures.hands_won),
        matches_won=None if won is None else share_interval(won),
    )


def as_json(rules: Rules, seed: int, pairs: Sequence[Pair]) -> str:
    """The arena's JSON: pairs in the order of the command line, figures from a's view."""
    content = {
        "rules": rules.name,
        "rules_digest": rules.digest,
        "starts": starts.VERSION,  # of the states that hands start from: another version is another benchmark
        "seed": seed,
        "pairs": [pair.as_dict() for pair in pairs],
    }
    return json.dumps(content, indent=2, allow_nan=False) + "\n"


def print_table(pairs: Sequence[Pair]) -> None:
    """The figures as a table of text."""
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE, title="mean [95 % interval] from a's view", title_justify="left")
    for heading in ("a", "b"):
        table.add_column(heading, no_wrap=True)
    with_matches = any(pair.matches_won for pair in pairs)
    for heading in ("levels/hand", "points/hand", "hands won %", *(["matches won %"] if with_matches else [])):
        table.add_column(heading, justify="right", no_wrap=True)
    for pair in pairs:
        cells = [
            figure(pair.levels, 2),
            figure(pair.points, 1),
            figure(pair.hands_won, 1, 100, signed=False),
        ]
        if pair.matches_won:
            cells.append(figure(pair.matches_won, 1, 100, signed=False))
        table.add_row(pair.a, pair.b, *cells)
    # Piped output has no width of its own, and a wrapped table cannot be read. It is printed as text, because rich
    # makes a closed pipe an exit with code 1.
    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    with console.capture() as text:
        console.print(table)
    print(text.get(), end="", flush=True)


class _Meter:
    """Progress on stderr: one line that is written over on a terminal, a line now and then elsewhere."""

    def __init__(self, total: int) -> None:
        self.total, self.done = total, 0
        self.started = self.shown = time.monotonic()
        self.live = sys.stderr.isatty()

    def __call__(self, done: int) -> None:
        self.done += done
        now = time.monotonic()
        if self.live or now - self.shown > 15:
            left = (now - self.started) / self.done * (self.total - self.done)
            text = f"{self.done} of {self.total} deals, about {left:.0f} s left"
            print(f"\r{text:<60}" if self.live else text, end="" if self.live else "\n", file=sys.stderr, flush=True)
            self.shown = now

    def close(self) -> None:
        if self.live:
            print(f"\r{'':<60}\r", end="", file=sys.stderr, flush=True)


def check(config: Arena) -> None:
    """Refuse what cannot be measured, by name, before anything is played."""
    if len(config.agents) < 2:
        raise UsageError(
            f"name two or more agents ({', '.join(registry.names())}, or the path of a run), e.g. uniform greedy"
        )
    check_range("--deals", config.deals, 1, MAX_DEALS)
    check_range("--matches", config.matches, 0, MAX_DEALS)
    check_seed(config.seed)
    check_writable(config.json, "--json")


def main(argv: list[str]) -> int:
    """``gunzi arena``."""
    config = parse(Arena, argv, "arena")
    check(config)
    rules = checked_rules(config.rules)
    print(
        f"arena: {', '.join(config.agents)}; rules {rules.name}, {config.deals} deals a pair, seed {config.seed}",
        flush=True,
    )
    agents = [registry.make(spec, rules) for spec in config.agents]
    pairs = list(itertools.combinations(range(len(agents)), 2))
    meter = _Meter(len(pairs) * (config.deals + config.matches))
    results = []
    try:
        for i, j in pairs:
            names = (config.agents[i], config.agents[j])
            results.append(
                measure(names, (agents[i], agents[j]), rules, config.deals, config.seed, config.matches, meter)
            )
    finally:
        meter.close()
    print_table(results)
    if config.json is not None:
        write_whole(config.json, as_json(rules, config.seed, results))
        print(f"figures written to {config.json}")
    say_next("gunzi play --against greedy to meet one yourself" if len(results) else "gunzi demo")
    return 0
