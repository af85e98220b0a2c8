"""Show what duplicate deals, seat rotation and a control variate save, in hands, on the same deals.

Two agents play each deal in every design of :mod:`gunzi_eval.matches.variance_reduction`. For levels, points and hands
won, the command prints the width of the interval of a thousand hands, and how many hands at single tables one hand of
the design replaces.
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
from gunzi_env.cli.options import (
    UsageError,
    check_range,
    check_seed,
    check_writable,
    checked_rules,
    parse,
    say_next,
    write_whole,
)
from gunzi_env.keys import mix
from gunzi_env.published import starts
from gunzi_env.rules import Rules
from gunzi_env.tables import Tables
from gunzi_eval.matches import duplicate, variance_reduction
from gunzi_eval.matches.hands import Figures, Hands
from gunzi_eval.matches.variance_reduction import Worth, compare
from gunzi_eval.stats.intervals import LEVEL

MAX_DEALS = 1_000_000
FIGURES = {"levels": (3, 1.0), "points": (2, 1.0), "hands_won": (2, 100.0)}
"""The figures and how they are shown: digits and scale."""
_REFERENCE = np.uint64(6)
"""The stream of the seed that the reference's decisions are drawn from."""


@dataclass(frozen=True)
class Variance:
    """Measure how much each way to play the same deals narrows the interval between two agents.

    example: gunzi variance greedy uniform --deals 500
    """

    agents: Annotated[Positional[tuple[str, ...]], tyro.conf.arg(help=f"Two agents. {registry.SPEC_HELP}")] = ()
    deals: int = 500
    """Deals, each played at eight tables and once more by the reference."""
    reference: str = "greedy"
    """The bot whose own game on a deal tells the luck of it."""
    reference_cost: float = 1.0
    """What a hand of the reference costs, in hands of the two agents; less than 1 where these are slow."""
    seed: int = 0
    """Names the deals and every random choice."""
    rules: str = "dalian"
    """A preset (dalian, dalian_dead, classic, four_deck) or a TOML file such as configs/rules/jack.toml."""
    json: Path | None = None
    """Write the figures to this file as JSON."""


def luck(rules: Rules, reference: Agent, deals: int, seed: int) -> Figures:
    """Play the reference in all four seats of the duplicate deals; the figures are team {0, 2}'s."""
    parts = []
    for numbers in duplicate.blocks(deals, duplicate.block_size(reference)):
        t = Tables(rules, len(numbers))
        reference.reset()
        starts.deal(t, seed, table_ids=numbers)
        play_hands(t, Seating.alone(reference, t.num, mix(seed, _REFERENCE, numbers)))
        parts.append(Hands.of(t, np.zeros(t.num, np.int8), t.num))
    return Hands.joined(parts).figures()


def measure(
    agents: tuple[Agent, Agent],
    reference: Agent,
    rules: Rules,
    deals: int,
    seed: int,
    reference_cost: float = 1.0,
    progress: duplicate.Progress = lambda done: None,
) -> dict[str, dict[str, Worth]]:
    """The worth of each design for each figure.

    Raises:
        gunzi_agents.playing.AgentFault: an agent crashed or played an illegal action.
    """
    hands = duplicate.play_hands(agents, rules, deals, seed, progress, rotations=duplicate.ROTATIONS)
    lucky = luck(rules, reference, deals, seed)
    tables = {"levels": hands.levels, "points": hands.points, "hands_won": hands.won}
    centred = {"levels": lucky.levels, "points": lucky.points, "hands_won": lucky.hands_won - 0.5}
    return {
        name: compare(variance_reduction.figures(tables[name].astype(np.float64), centred[name]), seed, reference_cost)
        for name in FIGURES
    }


def text(name: str, found: dict[str, Worth]) -> str:
    """One figure's designs as lines of text."""
    digits, scale = FIGURES[name]
    lines = [f"{name.replace('_', ' ') + (' %' if scale == 100 else ''):<16} hands a deal   1,000 hands   one is worth"]
    for design, w in found.items():
        half = NormalDist().inv_cdf((1 + LEVEL) / 2) * (w.variance / 1000) ** 0.5 * scale
        worth = "nothing to compare with"
        if w.saved is not None:
            worth = f"{w.ratio:.2f} [{w.low:.2f}, {w.high:.2f}], hands saved {100 * w.saved:+.0f} %"
        worth = "1" if design == variance_reduction.ONE_TABLE else worth
        lines.append(f"{design:<16} {w.hands:>12g} {'± ' + format(half, f'.{digits}f'):>13}   {worth}")
    return "\n".join(lines)


def check(config: Variance) -> None:
    """Refuse what cannot be measured, by name, before anything is played."""
    if len(config.agents) != 2:
        raise UsageError(f"name two agents ({', '.join(registry.names())}, or the path of a run), e.g. greedy uniform")
    if len(set(config.agents)) == 1:
        raise UsageError(f"{config.agents[0]} is named twice: between equals the exchange leaves nothing at all")
    check_range("--deals", config.deals, 2 * variance_reduction.FOLDS, MAX_DEALS)
    check_range("--reference-cost", config.reference_cost, 0, 1000)
    check_seed(config.seed)
    check_writable(config.json, "--json")


def main(argv: Sequence[str]) -> int:
    """``gunzi variance``."""
    config = parse(Variance, argv, "variance")
    check(config)
    rules = checked_rules(config.rules)
    a, b = config.agents
    print(
        f"variance: {a} against {b}, reference {config.reference}; rules {rules.name}, {config.deals} deals, "
        f"seed {config.seed}",
        flush=True,
    )
    one, two, reference = (registry.make(spec, rules) for spec in (a, b, config.reference))
    found = measure((one, two), reference, rules, config.deals, config.seed, config.reference_cost)
    for name, worths in found.items():
        print(f"\n{text(name, worths)}")
    if config.json is not None:
        content = {
            "rules": rules.name, "rules_digest": rules.digest, "starts": starts.VERSION, "seed": config.seed,
            "a": a, "b": b, "deals": config.deals, "reference": config.reference,
            "reference_cost": config.reference_cost,
        } | {name: {design: asdict(w) for design, w in worths.items()} for name, worths in found.items()}  # fmt: skip
        write_whole(config.json, json.dumps(content, indent=2, allow_nan=False) + "\n")
        print(f"figures written to {config.json}")
    say_next(f"gunzi arena {a} {b}")
    return 0
