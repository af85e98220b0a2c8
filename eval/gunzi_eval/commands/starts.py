"""Count the states in which hands begin, in whole matches between copies of one bot, and write the published files.

A file gunzi_env/data/starts/PRESET.json contains the number of hands that began in each state: first hand of a match or
not, levels of the dealers and of the attackers, blood owed. Every match is played to the end: cutting matches off would
make the states of long matches too rare.

example: python -m gunzi_eval.commands.starts dalian --matches 2048
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from tyro.conf import Positional

from gunzi_agents import registry
from gunzi_agents.base import Agent
from gunzi_agents.playing import MAX_HANDS, Seating, play_matches
from gunzi_env import engine
from gunzi_env.cli.options import Between, Seed, UsageError, check_writable, parse, write_whole
from gunzi_env.published import starts
from gunzi_env.rules import Rules, load_rules
from gunzi_env.tables import Index, Tables

BLOCK = 2048
"""Matches per batch; changing it changes the games, because it determines the table numbers."""

State = tuple[int, int, int, int]


@dataclass(frozen=True)
class StartsOptions:
    """Options of ``python -m gunzi_eval.commands.starts``."""

    presets: Positional[tuple[str, ...]] = ()
    """Presets whose files are written; by default all."""
    matches: Annotated[int, Between(1, 1_000_000)] = 2048
    """Number of matches per preset."""
    seed: Seed = 1
    agent: str = "greedy"
    """Bot in all four seats."""
    folder: Path | None = None
    """Folder for PRESET.json; by default the folder that the environments read."""


def measure(rules: Rules, agent: Agent, matches: int, seed: int) -> dict[str, Any]:
    """Count the states that began a hand in ``matches`` matches, see :func:`gunzi_env.published.starts.document`.

    Raises:
        gunzi_agents.playing.AgentFault: the agent crashed or played an illegal action.
        RuntimeError: a match did not end.
    """
    met: Counter[State] = Counter()
    for first in range(0, matches, BLOCK):
        numbers = np.arange(first, min(first + BLOCK, matches), dtype=np.uint64)
        met += _play_matches(rules, agent, numbers, seed)
    return starts.document(rules, f"{matches} matches of {agent.name}, seed {seed}", dict(met))


def _play_matches(rules: Rules, agent: Agent, numbers: np.ndarray, seed: int) -> Counter[State]:
    tables = Tables(rules, len(numbers))
    agent.reset()
    engine.reset(tables, seed, table_ids=numbers)
    met: Counter[State] = Counter()
    endless = play_matches(tables, Seating.alone(agent, len(numbers)), on_hand=lambda t, g: met.update(_states(t, g)))
    if endless.any():
        raise RuntimeError(f"a match of {agent.name} has not ended after {MAX_HANDS} hands")
    return met


def _states(tables: Tables, g: Index) -> Counter[State]:
    """Count the states in which the hands at the tables ``g`` begin."""
    first = tables.first_hand[g]
    dealers = np.where(first, 0, tables.dealer[g] & 1)
    levels = tables.levels[g]
    rows = np.arange(len(g))
    columns = (first, levels[rows, dealers], levels[rows, 1 - dealers], tables.blood[g])
    return Counter((int(a), int(b), int(c), int(d)) for a, b, c, d in zip(*columns, strict=True))


def as_text(document: dict[str, Any]) -> str:
    """Format the document as JSON with one state per line, so that versions can be compared line by line."""
    head = [f"  {json.dumps(key)}: {json.dumps(value)}," for key, value in document.items() if key != "rows"]
    rows = ",\n".join(f"    {json.dumps(row)}" for row in document["rows"])
    return "\n".join(["{", *head, '  "rows": [', rows, "  ]", "}"]) + "\n"


def main(argv: list[str]) -> int:
    """Run ``python -m gunzi_eval.commands.starts``."""
    options = parse(StartsOptions, argv, "python -m gunzi_eval.commands.starts")
    unknown = [name for name in options.presets if name not in Rules.presets()]
    if unknown:
        raise UsageError(f"unknown preset {unknown[0]!r}: the presets are {', '.join(Rules.presets())}")
    folder = options.folder or Path(str(files("gunzi_env").joinpath("data/starts")))
    for name in options.presets or Rules.presets():
        path = folder / f"{name}.json"
        check_writable(path, "--folder")
        print(f"{name}: {options.matches} matches of {options.agent}, seed {options.seed}", flush=True)
        began = time.monotonic()
        rules = load_rules(name)
        document = measure(rules, registry.make(options.agent, rules), options.matches, options.seed)
        write_whole(path, as_text(document))
        hands = sum(row[-1] for row in document["rows"])
        length, seconds = hands / options.matches, time.monotonic() - began
        print(f"{path}: {len(document['rows'])} states, {hands} hands, {length:.1f} a match, {seconds:.0f} s")
    print("next: gunzi arena uniform greedy --deals 1000", file=sys.stderr)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except UsageError as error:
        print(f"gunzi_eval.commands.starts: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
