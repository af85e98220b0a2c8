"""Bytes a table: ``python -m benchmarks.memory N`` prints what N tables at work cost a fresh process, as JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.entrants_ours import RULES, observed_step
from benchmarks.results import ROOT
from gunzi_env import observe
from gunzi_env.rules import load_rules
from gunzi_env.tables import Tables

STEPS = 5


def array_bytes(num: int) -> dict[str, float]:
    """Bytes a table of all arrays of the tables and of the two buffers, counted from the arrays."""
    rules = load_rules(RULES)
    tables = Tables(rules, num)
    return {
        "state": sum(array.nbytes for _, array, _ in tables.arrays()) / num,
        "observation": float(observe.size(rules)),
        "mask": float(tables.actions.n),
    }


def resident() -> int:
    """Bytes of this process in memory; 0 where the system does not say."""
    status = Path("/proc/self/statm")
    return int(status.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if status.exists() else 0


def growth(num: int) -> float:
    """Bytes a table by which a fresh process has grown after some steps, working space included."""
    command = [sys.executable, "-m", "benchmarks.memory", str(num)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return float(json.loads(run.stdout)["bytes"])


def main(argv: list[str]) -> int:
    """Measure this process."""
    num, rules = int(argv[0]), load_rules(RULES)
    observed_step(rules, 1)()  # what is loaded and built once
    before = resident()
    work = observed_step(rules, num)
    for _ in range(STEPS):
        work()
    print(json.dumps({"num": num, "bytes": (resident() - before) / num}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
