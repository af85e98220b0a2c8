"""Memory per table: ``python -m benchmarks.memory N`` prints the growth of a fresh process with N tables as JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.impl_ours import RULES, observed_step
from benchmarks.results import ROOT
from gunzi_env import observe
from gunzi_env.rules import load_rules
from gunzi_env.tables import Tables

STEPS = 5


def array_bytes(num: int) -> dict[str, float]:
    """Return the bytes per table of the state arrays, the observation and the mask, from the array sizes."""
    rules = load_rules(RULES)
    tables = Tables(rules, num)
    return {
        "state": sum(array.nbytes for _, array, _ in tables.arrays()) / num,
        "observation": float(observe.size(rules)),
        "mask": float(tables.actions.n),
    }


def resident() -> int:
    """Return the resident memory of this process in bytes; 0 on systems without /proc."""
    status = Path("/proc/self/statm")
    return int(status.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if status.exists() else 0


def growth(num: int) -> float:
    """Return the growth of a fresh process in bytes per table after a few steps, including working memory."""
    command = [sys.executable, "-m", "benchmarks.memory", str(num)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return float(json.loads(run.stdout)["bytes"])


def main(argv: list[str]) -> int:
    """Measure this process and print the result."""
    num, rules = int(argv[0]), load_rules(RULES)
    observed_step(rules, 1)()  # load and build everything that is needed only once
    before = resident()
    work = observed_step(rules, num)
    for _ in range(STEPS):
        work()
    print(json.dumps({"num": num, "bytes": (resident() - before) / num}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
