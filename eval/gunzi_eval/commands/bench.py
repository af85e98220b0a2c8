"""Measure throughput on one core: decisions per CPU second of the engine, of the AEC environment and of the encoder.

A decision is an asked step: forced cards are played without asking, and nothing is skipped besides. The engine's
figure includes legality, a uniform policy on the legal words and the dealing of the next hand. The median of the
repeats is reported.
"""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version

import numpy as np

from gunzi_env import compiled, engine, observe
from gunzi_env.cli.options import check_range, check_seed, checked_rules, parse, say_next
from gunzi_env.keys import mix
from gunzi_env.rules import Rules
from gunzi_env.tables import Phase, Tables

SIZES = (1, 64, 1024, 4096, 16384, 65536)
HAND = 170
"""About the number of decisions in a hand."""
_HALF = np.uint64(32)


@dataclass(frozen=True)
class Bench:
    """Measure decisions per CPU second on one core.

    example: gunzi bench --seconds 1 --repeats 3
    """

    rules: str = "dalian"
    """A preset (dalian, dalian_dead, classic, four_deck) or a TOML file such as configs/rules/jack.toml."""
    seconds: float = 1.0
    """How long each repeat runs."""
    repeats: int = 3
    """The median of so many repeats is printed."""
    seed: int = 0
    """Names the deals and the random choices."""


class Runner:
    """N tables under the uniform policy; :meth:`step` advances them all and deals anew where a hand is over."""

    def __init__(self, rules: Rules, num: int, seed: int) -> None:
        """Tables in all phases of a hand, as in long use: tables that began together would be quicker than that."""
        self.key, self.ply = np.uint64(seed), 0
        self.tables = Tables(rules, num)
        few = Tables(rules, -(-num // HAND))
        engine.reset(few, seed)
        begins = np.arange(num) * HAND // num
        for ply in range(HAND):
            rows = np.flatnonzero(begins == ply)
            if len(rows):
                self.tables.assign(rows, few.select(np.arange(len(rows))))
            self._advance(few)
        self.tables.table_id[:] = np.arange(num)

    def step(self) -> int:
        """One decision a table; returns how many were made."""
        self._advance(self.tables)
        return self.tables.num

    def _advance(self, tables: Tables) -> None:
        self.ply += 1
        counts = tables.actions.count(tables.legal).astype(np.uint64)
        index = ((mix(self.key, self.ply, np.arange(tables.num)) >> _HALF) * counts) >> _HALF
        engine.step(tables, tables.actions.pick(tables.legal, index))
        over = np.flatnonzero(tables.phase == Phase.OVER)
        if len(over):
            engine.next_hand(tables, over)


def rate(work: Callable[[], int], seconds: float, repeats: int) -> float:
    """The median over ``repeats`` of things done per CPU second, ``work`` returning how many it did.

    CPU time, since all of it runs on one thread: a busy machine then disturbs the figure less.
    """
    work()
    rates = []
    for _ in range(repeats):
        done, started = 0, time.process_time()
        while (spent := time.process_time() - started) < seconds:
            done += work()
        rates.append(done / spent)
    return statistics.median(rates)


def engine_rate(rules: Rules, num: int, seconds: float, repeats: int, seed: int = 0) -> float:
    """Decisions per second of the engine with N = ``num`` tables."""
    return rate(Runner(rules, num, seed).step, seconds, repeats)


def encode_rate(rules: Rules, seconds: float, repeats: int, num: int = 1024, seed: int = 0) -> float:
    """Observations per second: the view and its flat encoding, N = ``num`` at a time."""
    tables = Runner(rules, num, seed).tables
    out = observe.encode_tables(tables)

    def work() -> int:
        observe.encode_tables(tables, out)
        return num

    return rate(work, seconds, repeats)


def aec_rate(rules: Rules, seconds: float, repeats: int, seed: int = 0) -> float:
    """Decisions per second of ``raw_env``, with the observation and mask of every decision."""
    from gunzi_env.aec import raw_env

    env = raw_env(rules=rules)
    env.reset(seed=seed)
    counter = iter(range(2**62))

    def work() -> int:
        observation, _, termination, truncation, _ = env.last()
        if termination or truncation:
            env.reset(seed=seed + next(counter) + 1)
            return 0
        legal = np.flatnonzero(observation["action_mask"])
        env.step(int(legal[int(mix(seed, next(counter))) % len(legal)]))
        return 1

    return rate(work, seconds, repeats)


def machine() -> str:
    """One line on what was measured on."""
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            model = next((line.partition(":")[2].strip() for line in file if line.startswith("model name")), model)
    except OSError:
        pass
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    numba = f", numba {version('numba')}" if compiled.available() else ""
    return f"{model}, {os.cpu_count()} cores{load}; Python {platform.python_version()}, numpy {np.__version__}{numba}"


def main(argv: list[str]) -> int:
    """``gunzi bench``."""
    config = parse(Bench, argv, "bench")
    check_range("--repeats", config.repeats, 1, 1000)
    check_range("--seconds", config.seconds, 0.01, 3600)
    check_seed(config.seed)
    rules = checked_rules(config.rules)
    print(machine(), flush=True)
    print(
        f"rules {rules.name}; decisions per CPU second on one core, median of {config.repeats} x {config.seconds:g} s",
        flush=True,
    )
    timing = (config.seconds, config.repeats)
    for num in SIZES:
        print(f"  engine, N = {num:<6} {engine_rate(rules, num, *timing, config.seed):>12,.0f}", flush=True)
    print(f"  AEC raw_env, N = 1  {aec_rate(rules, *timing, config.seed):>12,.0f}", flush=True)
    print(
        f"  observe.encode      {encode_rate(rules, *timing, seed=config.seed):>12,.0f}  (view and encoding, N = 1024)",
        flush=True,
    )
    say_next("gunzi demo")
    return 0
