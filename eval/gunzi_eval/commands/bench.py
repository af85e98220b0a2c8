"""Measure the speed of the engine, AEC environment and encoder.

Speeds are decisions per CPU second. A decision is a step that asks a seat; forced cards are played without asking. The
engine's figure includes legality, a uniform policy on the legal actions, and dealing the next hand.

example: gunzi bench --seconds 1 --repeats 3
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from gunzi_env.cli.options import Between, RulesName, Seed, checked_rules, parse, say_next
from gunzi_eval.throughput import aec_rate, encode_rate, engine_rate, machine

SIZES = (1, 64, 1024, 4096, 16384, 65536)
"""Numbers of tables."""


@dataclass(frozen=True)
class BenchOptions:
    """Options of ``gunzi bench``."""

    rules: RulesName = "dalian"
    seconds: Annotated[float, Between(0.01, 3600)] = 1.0
    """Duration of each repeat in CPU seconds."""
    repeats: Annotated[int, Between(1, 1000)] = 3
    """Number of repeats; the median is printed."""
    seed: Seed = 0


def main(argv: list[str]) -> int:
    """Run ``gunzi bench``."""
    options = parse(BenchOptions, argv, "bench")
    rules = checked_rules(options.rules)
    print(machine(), flush=True)
    length = f"median of {options.repeats} x {options.seconds:g} s"
    print(f"rules {rules.name}; decisions per CPU second on one core, {length}", flush=True)
    timing = (options.seconds, options.repeats)
    for num in SIZES:
        print(f"  engine, N = {num:<6} {engine_rate(rules, num, *timing, options.seed):>12,.0f}", flush=True)
    print(f"  AEC raw_env, N = 1  {aec_rate(rules, *timing, options.seed):>12,.0f}", flush=True)
    observations = encode_rate(rules, *timing, seed=options.seed)
    print(f"  observe.encode      {observations:>12,.0f}  (view and encoding, N = 1024)", flush=True)
    say_next("gunzi demo")
    return 0
