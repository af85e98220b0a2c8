"""Throughput on one core: decisions per CPU second of the engine, the AEC environment and the encoder.

A decision is a step that asks a seat; forced cards are played without asking. The engine's figure includes legality, a
uniform policy on the legal actions, and dealing the next hand. Rates are medians over repeats.
"""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable
from importlib.metadata import version

import numpy as np

from gunzi_env import compiled, engine, observe
from gunzi_env.keys import mix
from gunzi_env.rules import Rules
from gunzi_env.tables import Phase, Tables

HAND = 170
"""Approximate number of decisions in a hand."""
_HALF = np.uint64(32)


class Runner:
    """Plays N tables with the uniform policy; a finished hand is followed by the next."""

    def __init__(self, rules: Rules, num: int, seed: int) -> None:
        """Create tables in all phases of a hand, as in long runs: tables in the same phase would be faster."""
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
        """Make one decision at every table; returns their number."""
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
    """Measure items per CPU second, the median over ``repeats``; ``work`` returns the number of items it processed.

    All of it runs on one thread, and CPU time is less sensitive to other load than wall time.
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
    """Measure decisions per second of the engine with ``num`` tables."""
    return rate(Runner(rules, num, seed).step, seconds, repeats)


def encode_rate(rules: Rules, seconds: float, repeats: int, num: int = 1024, seed: int = 0) -> float:
    """Measure observations per second: view and flat encoding of ``num`` tables at a time."""
    tables = Runner(rules, num, seed).tables
    out = observe.encode_tables(tables)

    def work() -> int:
        observe.encode_tables(tables, out)
        return num

    return rate(work, seconds, repeats)


def aec_rate(rules: Rules, seconds: float, repeats: int, seed: int = 0) -> float:
    """Measure decisions per second of ``raw_env``, including the observation and mask of every decision."""
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
    """Describe the machine in one line."""
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            model = next((line.partition(":")[2].strip() for line in file if line.startswith("model name")), model)
    except OSError:
        pass
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    numba = f", numba {version('numba')}" if compiled.available() else ""
    return f"{model}, {os.cpu_count()} cores{load}; Python {platform.python_version()}, numpy {np.__version__}{numba}"
