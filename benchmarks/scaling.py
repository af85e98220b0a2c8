"""Speed and memory by the number of tables: ``python -m benchmarks.scaling``, a table and a plot."""

from __future__ import annotations

import argparse
import sys

from benchmarks import results
from benchmarks.entrants_ours import RULES, engine_step, observed_step
from benchmarks.memory import array_bytes, growth
from benchmarks.plot import ENOUGH, draw
from benchmarks.results import short, table
from benchmarks.worker import cores, pin
from gunzi_env.rules import load_rules
from gunzi_eval.commands.bench import machine, rate

SIZES = (1, 16, 256, 4096, 65536)


def measure_sizes(seconds: float, repeats: int) -> list[dict[str, float]]:
    """A row for each N: decisions per CPU second, bytes a table."""
    rules, rows = load_rules(RULES), []
    for num in SIZES:
        row: dict[str, float] = {
            "num": num,
            "engine": rate(engine_step(rules, num), seconds, repeats),
            "observed": rate(observed_step(rules, num), seconds, repeats),
            "arrays": sum(array_bytes(num).values()),
            "resident": growth(num),
        }
        print(f"N = {num:,}: {row['engine']:,.0f} decisions/s, {row['arrays']:,.0f} bytes a table", flush=True)
        rows.append(row)
    return rows


def scaling_table(section: results.Section) -> str:
    """The rows in Markdown."""
    heads = ["N", "decisions/s", "with observation and mask", "bytes a table, arrays", "bytes a table, process"]
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
    """Measure, print, draw and keep."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="how long each repeat runs (1)")
    parser.add_argument("--repeats", type=int, default=3, help="the median of so many repeats is taken (3)")
    parser.add_argument("--json", type=results.file_argument, metavar="FILE", help="put the figures into this file too")
    parser.add_argument("--plot", type=results.file_argument, metavar="FILE", help="draw them into this SVG file")
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
