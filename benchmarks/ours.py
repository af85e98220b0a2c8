"""Measure the speed and memory of gunzi on one core: ``python -m benchmarks.ours`` (``make bench``).

Speed is in decisions per CPU second, the median of the repeats. It includes the uniform random policy and dealing.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

import numpy as np

from benchmarks import results
from benchmarks.impl_ours import RULES, engine_step, env, observed_step, raw_env
from benchmarks.loops import SEED, Work
from benchmarks.memory import array_bytes, growth
from benchmarks.worker import cores, pin
from gunzi_env import engine, planes
from gunzi_env.planes import NUM_SLOTS, Words
from gunzi_env.rules import Rules, load_rules
from gunzi_env.tables import HAND, Phase, Tables
from gunzi_eval.throughput import Runner, machine, rate

SIZES = (1, 16, 256, 4096, 16384, 65536)
COPIES = 1000
PHASE_TABLES = 8192
"""Number of tables stepped together to measure the cost of one phase."""
MEMORY_TABLES = 16384

Timed = Callable[[Work], float]
"""Returns the work done per CPU second."""


def one_at_play(rules: Rules) -> Tables:
    """Return one table in the middle of a hand."""
    tables = Runner(rules, 256, SEED).tables
    return tables.select(np.flatnonzero(tables.phase == Phase.FOLLOW)[:1])


def worlds_for(table: Tables, others: list[int], num: int) -> Words:
    """Redeal the cards of the other seats among them ``num`` times; return ``uint64[D, num, 3]``."""
    here = np.zeros(1, np.intp)
    counts = [planes.to_counts(table.holder(here, HAND + seat))[0] for seat in others]
    cards = np.repeat(np.arange(NUM_SLOTS), np.sum(counts, axis=0, dtype=np.intp))
    dealt = np.random.default_rng(SEED).permuted(np.tile(cards, (num, 1)), axis=1)
    hands = np.split(dealt, np.cumsum([int(count.sum()) for count in counts])[:-1], axis=1)
    copies = np.stack([(hand[:, :, None] == np.arange(NUM_SLOTS)).sum(axis=1) for hand in hands], axis=1)
    return planes.from_counts(copies, table.rules.decks)


def copies_ms(rules: Rules, timed: Timed) -> dict[str, float]:
    """Return milliseconds for 1,000 copies of a table in one call, plain and with a determinised world each."""
    table = one_at_play(rules)
    others = [seat for seat in range(4) if seat != table.seat[0]]
    hands, everyone, source = worlds_for(table, others, COPIES), np.arange(COPIES), np.zeros(COPIES, np.intp)

    def copy() -> int:
        table.select(source)
        return 1

    def worlds() -> int:
        copies = table.select(source)
        for column, seat in enumerate(others):
            copies.put(everyone, HAND + seat, hands[:, :, column])
        return 1

    return {"copies": 1e3 / timed(copy), "worlds": 1e3 / timed(worlds)}


def clone_us(rules: Rules, timed: Timed) -> float:
    """Return microseconds to clone one table."""
    table = one_at_play(rules)

    def work() -> int:
        table.clone()
        return 1

    return 1e6 / timed(work)


def phase_costs(rules: Rules, seconds: float) -> list[dict[str, str | float]]:
    """Return the cost of a decision in a single-phase batch, and the share of decisions, for each phase."""
    tables, draws = Runner(rules, PHASE_TABLES * 2, SEED).tables, np.random.default_rng(SEED)
    found: list[dict[str, str | float]] = []
    for phase in sorted(set(Phase) - {Phase.OVER}):
        rows = np.flatnonzero(tables.phase == phase)
        if not len(rows):
            continue
        batch = tables.select(np.resize(rows, PHASE_TABLES))
        number = batch.actions.count(batch.legal)
        spent, steps = 0.0, 0
        while spent < seconds:
            fresh, index = batch.clone(), (draws.random(PHASE_TABLES) * number).astype(np.uint8)
            actions = batch.actions.pick(batch.legal, index)
            started = time.process_time()
            engine.step(fresh, actions)
            spent, steps = spent + time.process_time() - started, steps + 1
        cost = spent / steps / PHASE_TABLES * 1e9
        found.append({"phase": phase.name.lower(), "share": len(rows) / tables.num, "ns": cost})
    return found


def deal_ns(rules: Rules, timed: Timed) -> float:
    """Return nanoseconds per dealt hand, in a batch."""
    tables, seeds = Tables(rules, PHASE_TABLES), iter(range(2**62))

    def work() -> int:
        engine.reset(tables, next(seeds))
        return tables.num

    return 1e9 / timed(work)


def measure_all(rules: Rules, seconds: float, repeats: int) -> results.Section:
    """Measure everything, print each line at once, and return the results section."""

    def timed(work: Work) -> float:
        return rate(work, seconds, repeats)

    section: results.Section = {"machine": machine(), "seconds": seconds, "repeats": repeats}
    print(f"{section['machine']}\nrules {rules.name}; decisions per CPU second, one core", flush=True)
    for key, label, make in (("engine", "engine", engine_step), ("observed", "with observation, mask", observed_step)):
        section[key] = {}
        for num in SIZES:
            section[key][str(num)] = timed(make(rules, num))
            print(f"  {label + ', N = ' + str(num):<36} {section[key][str(num)]:>12,.0f}", flush=True)
    for key, start in (("aec", env), ("aec_raw", raw_env)):
        section[key] = timed(start().work)
        print(f"  {'AEC ' + start.__name__ + '()':<36} {section[key]:>12,.0f}", flush=True)
    section["clone_us"] = clone_us(rules, timed)
    print(f"clone of one table: {section['clone_us']:.1f} us", flush=True)
    section |= copies_ms(rules, timed)
    print(f"{COPIES:,} copies: {section['copies']:.2f} ms, with a world each: {section['worlds']:.2f} ms", flush=True)
    section["deal_ns"] = deal_ns(rules, timed)
    print(f"dealing one hand, in a batch: {section['deal_ns']:,.0f} ns", flush=True)
    section["phases"] = phase_costs(rules, seconds / 2)
    for cost in section["phases"]:
        print(f"  {cost['phase']:<10} {cost['share']:>6.1%} of the decisions {cost['ns']:>9,.0f} ns each", flush=True)
    section["memory"] = array_bytes(MEMORY_TABLES) | {"resident": growth(MEMORY_TABLES)}
    print("bytes/table: " + ", ".join(f"{name} {size:,.0f}" for name, size in section["memory"].items()), flush=True)
    return section


def main(argv: list[str]) -> int:
    """Run ``make bench``."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ours", description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="seconds per repeat (1)")
    parser.add_argument("--repeats", type=int, default=3, help="number of repeats; the median is reported (3)")
    parser.add_argument("--json", type=results.file_argument, metavar="FILE", help="also write the figures to a file")
    options = parser.parse_args(argv)
    if options.seconds <= 0 or options.repeats < 1:
        parser.error("--seconds must be above 0, --repeats at least 1")
    for core in cores()[-1:]:
        pin(core)
    section = measure_all(load_rules(RULES), options.seconds, options.repeats)
    if options.json:
        results.save(options.json, "ours", section)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
