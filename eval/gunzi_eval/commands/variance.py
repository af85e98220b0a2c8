"""Measure how duplicate deals and a control variate narrow intervals.

Two agents play each deal in every design: at one table, at one table with a control variate (the result of a reference
bot on the same deal), with the teams exchanged, and with the teams exchanged at all four rotations of the hands. For
levels, points and hands won, the command prints the half-width of the 95 % interval of a thousand hands, and how many
hands at single tables one hand of the design replaces.

example: gunzi variance greedy uniform --deals 500
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Annotated

import numpy as np
import tyro
from tyro.conf import Positional

from gunzi_agents import registry
from gunzi_agents.base import Agent
from gunzi_agents.playing import Seating, play_hands
from gunzi_env import engine
from gunzi_env.cli.options import (
    Between,
    RulesName,
    Seed,
    UsageError,
    check_writable,
    checked_rules,
    parse,
    say_next,
    write_whole,
)
from gunzi_env.cli.text import table_text
from gunzi_env.keys import mix
from gunzi_env.published import starts
from gunzi_env.rules import Rules
from gunzi_env.tables import Tables
from gunzi_eval.matches import duplicate, variance_reduction
from gunzi_eval.matches.hands import HandResults, Metrics
from gunzi_eval.matches.variance_reduction import Efficiency, compare, estimates
from gunzi_eval.stats.intervals import LEVEL

METRICS = {"levels": (3, 1.0), "points": (2, 1.0), "hands_won": (2, 100.0)}
"""Digits and scale of each metric."""
_REFERENCE = np.uint64(6)
"""Stream of the seed for the decisions of the reference."""


@dataclass(frozen=True)
class VarianceOptions:
    """Options of ``gunzi variance``."""

    agents: Annotated[Positional[tuple[str, ...]], tyro.conf.arg(help=f"Two agents. {registry.SPEC_HELP}")] = ()
    deals: Annotated[int, Between(2 * variance_reduction.FOLDS, 1_000_000)] = 500
    """Number of deals, each played at eight tables and once more by the reference."""
    reference: str = "greedy"
    """Bot whose result on a deal, playing all four seats, estimates the luck of that deal."""
    reference_cost: Annotated[float, Between(0, 1000)] = 1.0
    """Cost of a hand of the reference, in hands of the two agents; less than 1 if these are slower."""
    seed: Seed = 0
    rules: RulesName = "dalian"
    json: Path | None = None
    """Write the results to this file as JSON."""


def luck(rules: Rules, reference: Agent, deals: int, seed: int) -> Metrics:
    """Play the duplicate deals with the reference in all four seats. Returns the metrics of team {0, 2}."""
    parts = []
    for numbers in duplicate.blocks(deals, duplicate.block_size(reference)):
        t = Tables(rules, len(numbers))
        reference.reset()
        engine.deal_hands(t, seed, table_ids=numbers)
        play_hands(t, Seating.alone(reference, t.num, mix(seed, _REFERENCE, numbers)))
        parts.append(HandResults.of(t, np.zeros(t.num, np.int8), t.num))
    return HandResults.joined(parts).metrics()


def measure(
    agents: tuple[Agent, Agent],
    reference: Agent,
    rules: Rules,
    deals: int,
    seed: int,
    reference_cost: float = 1.0,
    progress: duplicate.Progress = lambda done: None,
) -> dict[str, dict[str, Efficiency]]:
    """Measure the efficiency of each design for each metric.

    Raises:
        gunzi_agents.playing.AgentFault: an agent crashed or played an illegal action.
    """
    hands = duplicate.play_hands(agents, rules, deals, seed, progress, rotations=duplicate.ROTATIONS)
    lucky = luck(rules, reference, deals, seed)
    tables = {"levels": hands.levels, "points": hands.points, "hands_won": hands.won}
    centred = {"levels": lucky.levels, "points": lucky.points, "hands_won": lucky.hands_won - 0.5}
    return {
        name: compare(estimates(tables[name].astype(np.float64), centred[name]), seed, reference_cost)
        for name in METRICS
    }


def text(name: str, found: dict[str, Efficiency]) -> str:
    """Format the designs as a table for one metric."""
    digits, scale = METRICS[name]
    rows = []
    for design, e in found.items():
        half_width = NormalDist().inv_cdf((1 + LEVEL) / 2) * (e.variance / 1000) ** 0.5 * scale
        replaces, saved = "undefined", "-"
        if e.saved is not None:
            replaces, saved = f"{e.ratio:.2f} [{e.low:.2f}, {e.high:.2f}]", f"{100 * e.saved:+.0f} %"
        if design == variance_reduction.SINGLE:
            replaces, saved = "1", "-"
        rows.append([design, f"{e.hands:g}", f"± {half_width:.{digits}f}", replaces, saved])
    title = name.replace("_", " ") + (" %" if scale == 100 else "")
    return table_text([title, "hands/deal", "1,000 hands", "replaces hands", "hands saved"], rows)


def check(options: VarianceOptions) -> None:
    """Refuse agents that cannot be compared, and a file that cannot be written."""
    if len(options.agents) != 2:
        raise UsageError(f"name two agents ({', '.join(registry.names())}, or the path of a run), e.g. greedy uniform")
    if len(set(options.agents)) == 1:
        raise UsageError(f"{options.agents[0]} is named twice: with equal agents the exchange removes all variance")
    check_writable(options.json, "--json")


def main(argv: Sequence[str]) -> int:
    """Run ``gunzi variance``."""
    options = parse(VarianceOptions, argv, "variance")
    check(options)
    rules = checked_rules(options.rules)
    a, b = options.agents
    print(
        f"variance: {a} against {b}, reference {options.reference}; rules {rules.name}, {options.deals} deals, "
        f"seed {options.seed}",
        flush=True,
    )
    one, two, reference = (registry.make(spec, rules) for spec in (a, b, options.reference))
    found = measure((one, two), reference, rules, options.deals, options.seed, options.reference_cost)
    for name, designs in found.items():
        print(f"\n{text(name, designs)}")
    if options.json is not None:
        content = {
            "rules": rules.name, "rules_digest": rules.digest, "starts": starts.VERSION, "seed": options.seed,
            "a": a, "b": b, "deals": options.deals, "reference": options.reference,
            "reference_cost": options.reference_cost,
        } | {name: {design: asdict(w) for design, w in designs.items()} for name, designs in found.items()}  # fmt: skip
        write_whole(options.json, json.dumps(content, indent=2, allow_nan=False) + "\n")
        print(f"results written to {options.json}")
    say_next(f"gunzi arena {a} {b}")
    return 0
