"""Measure speed and memory against the number of tables: ``python -m benchmarks.scaling``."""

from __future__ import annotations

import argparse
import sys

from benchmarks import results
from benchmarks.impl_ours import RULES, engine_step, observed_step
from benchmarks.memory import array_bytes, growth
from benchmarks.plot import ENOUGH, draw
from benchmarks.results import short, table
from benchmarks.worker import cores, pin
from gunzi_env.rules import load_rules
from gunzi_eval.throughput import machine, rate

SIZES = (1, 16, 256, 4096, 65536)


def measure_sizes(seconds: float, repeats: int) -> list[dict[str, float]]:
    """Measure decisions per CPU second and bytes per table; return one row for each N."""
    rules, rows = load_rules(RULES), []
    for num in SIZES:
        row: dict[str, float] = {
            "num": num,
            "engine": rate(engine_step(rules, num), seconds, repeats),
            "observed": rate(observed_step(rules, num), seconds, repeats),
            "arrays": sum(array_bytes(num).values()),
            "resident": growth(num),
        }
        print(f"N = {num:,}: {row['engine']:,.0f} decisions/s, {row['arrays']:,.0f} bytes per table", flush=True)
        rows.append(row)
    return rows


def scaling_table(section: results.Section) -> str:
    """Return the rows as a Markdown table."""
    heads = ["N", "decisions/s", "with observation and mask", "bytes per table, arrays", "bytes per table, process"]
    rows = [
        [
            f"{row['num']:,}",
            short(row["engine"]),
            short(row["observed"]),
            f"{row['arrays']:,.0f}",
            f"{row['resident']:,.0f}" if row["num"] >= ENOUGH else "-",
        ]
        for row in section["rows"]
    ]
    return table(heads, rows, text=())


def main(argv: list[str]) -> int:
    """Measure and print; draw and save if asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="seconds per repeat (1)")
    parser.add_argument("--repeats", type=int, default=3, help="number of repeats; the median is reported (3)")
    parser.add_argument("--json", type=results.file_argument, metavar="FILE", help="also write the figures to a file")
    parser.add_argument("--plot", type=results.file_argument, metavar="FILE", help="also draw the figures as SVG")
    options = parser.parse_args(argv)
    if options.seconds <= 0 or options.repeats < 1:
        parser.error("--seconds must be above 0, --repeats at least 1")
    for core in cores()[-1:]:
        pin(core)
    section: results.Section = {"machine": machine(), "seconds": options.seconds, "repeats": options.repeats}
    section["rows"] = measure_sizes(options.seconds, options.repeats)
    print("", scaling_table(section), sep="\n")
    if options.json:
        results.save(options.json, "scaling", section)
    if options.plot:
        draw(section, options.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
