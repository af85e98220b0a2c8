"""The test of the tests: ``python -m tests.support.mutants`` (``make mutants``) plants faults one by one.

Each mutant is one change of one place in a copy of the sources, which the suite must refuse. They are the faults that
people who write such games report most: at least one for every kind. The unchanged copy must pass, or nothing is
proved. ``--only NAME`` runs some, ``--list`` names them.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.support import ROOT
from tests.support.mutant_list import MUTANTS, Mutant

FOLDERS = ("gunzi_env", "agents", "train", "eval", "configs", "tests", "docs", "benchmarks")
FILES = ("pyproject.toml", "constraints.txt", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile", "LICENSE")
SUITE = (
    "tests/rules",
    "tests/env",
    "tests/agents",
    "tests/eval/test_duplicate.py",
    "tests/support/test_regressions.py",
)
"""The fast tier of these meets every mutant that the tests named with it have not caught."""
SLOW = 1800
"""Seconds; a mutant that hangs the suite is caught as well, but the unchanged copy must not take so long."""


def copy_of_sources(folder: Path) -> None:
    """A working copy, without caches."""
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in FILES:
        shutil.copy(ROOT / name, folder / name)


def planted(mutant: Mutant, text: str) -> str:
    """A source with the fault in it; ``ValueError`` where the place is not there, or not the only one."""
    if text.count(mutant.old) != 1:
        raise ValueError(f"mutant {mutant.name}: {mutant.path} has {text.count(mutant.old)} times {mutant.old!r}")
    return text.replace(mutant.old, mutant.new)


def run_suite(mutant: Mutant | None) -> tuple[str, float]:
    """Which test refused a copy with this fault ("" where all passed), and the seconds it took."""
    started = time.perf_counter()
    rounds = [[*SUITE, "-m", "fast"]]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_of_sources(folder)
        if mutant is not None:
            path = folder / mutant.path
            path.write_text(planted(mutant, path.read_text("utf-8")), "utf-8")
            rounds = [list(mutant.first), *rounds] if mutant.first else rounds
        for arguments in rounds:
            try:
                refusal = refused(folder, arguments)
            except subprocess.TimeoutExpired:
                refusal = f"no end within {SLOW} s"
            if refusal:
                break
    return refusal, time.perf_counter() - started


def refused(folder: Path, arguments: list[str]) -> str:
    """Which test fails first in a copy of the sources, "" if none does."""
    paths = os.pathsep.join(str(folder / part) for part in (".", "agents", "train", "eval"))
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--tb=no", "-rfE", *arguments]
    # Where this run's coverage is measured, that of the copies is not wanted.
    own = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    environment = own | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    run = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SLOW, check=False
    )
    failed = [line for line in run.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if run.returncode and not failed:
        return "the run ended with: " + (run.stdout + run.stderr)[-300:]
    return failed[0].split(" - ")[0] if failed else ""


def run_all(mutants: Iterable[Mutant], workers: int) -> int:
    """The exit code: 0 if the unchanged copy passes and every mutant is caught."""
    chosen: list[Mutant | None] = [None, *mutants]
    caught, broken = 0, False
    with ThreadPoolExecutor(workers) as pool:
        for mutant, (refusal, seconds) in zip(chosen, pool.map(run_suite, chosen), strict=True):
            if mutant is None:
                broken = bool(refusal)
                word = f"FAILS: {refusal}" if broken else "passes"
                print(f"{'(no fault)':<44} {word}, {seconds:.0f} s", flush=True)
                continue
            caught += bool(refusal)
            print(f"{mutant.name:<44} {refusal or 'SURVIVED'}, {seconds:.0f} s", flush=True)
    print(f"{caught} of {len(chosen) - 1} caught")
    if broken:
        print("the unchanged copy fails: nothing is proved")
    return 0 if caught == len(chosen) - 1 and not broken else 1


def main(argv: list[str]) -> int:
    """Run it; 0 if all are caught."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these mutants alone")
    parser.add_argument("--list", action="store_true", help="name them and stop")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    options = parser.parse_args(argv)
    known = {mutant.name: mutant for mutant in MUTANTS}
    unknown = [name for name in options.only or () if name not in known]
    if unknown:
        parser.error(f"unknown mutant {unknown[0]!r}: known are {', '.join(known)}")
    if options.list:
        for mutant in MUTANTS:
            print(f"{mutant.name:<44} {mutant.report}")
        return 0
    return run_all([known[name] for name in options.only or known], options.workers)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
