"""Run one case in its own process: ``python -m benchmarks.worker MODULE:FACTORY [--core K] [--wall]``.

The worker warms up and prints ``{"ready": true, "note": ...}`` or ``{"error": ...}``. Each line of its input is a
number of seconds; the answer is ``{"decisions": ..., "cpu_s": ..., "wall_s": ...}``. It stops at the end of input.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

from benchmarks.loops import Started, Unavailable, Work

WARM_UP_S = 0.2


def cores() -> list[int]:
    """Return the cores this process may use; empty on systems that do not report them."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def pin(core: int) -> None:
    """Pin this process to one core, where the system supports it."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})


def measure(work: Work, seconds: float, wall: bool) -> dict[str, float]:
    """Work for ``seconds`` of CPU time, or of wall-clock time if ``wall``."""
    clock: Callable[[], float] = time.perf_counter if wall else time.process_time
    decisions, cpu, started = 0, time.process_time(), time.perf_counter()
    until = clock() + seconds
    while clock() < until:
        decisions += work()
    return {"decisions": decisions, "cpu_s": time.process_time() - cpu, "wall_s": time.perf_counter() - started}


def start(factory: str) -> Started:
    """Call the factory ``module:function`` and return the started case."""
    module, _, function = factory.partition(":")
    started: Started = getattr(importlib.import_module(module), function)()
    return started


def own_output() -> TextIO:
    """Reserve standard output for answers and redirect everything that libraries print to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def main(argv: list[str]) -> int:
    """Serve measurements of one case."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.worker")
    parser.add_argument("factory")
    parser.add_argument("--core", type=int)
    parser.add_argument("--wall", action="store_true")
    options = parser.parse_args(argv)
    output = own_output()

    def answer(message: dict[str, Any]) -> None:
        print(json.dumps(message), file=output, flush=True)

    try:
        if options.core is not None:
            pin(options.core)
        started = start(options.factory)
        measure(started.work, WARM_UP_S, options.wall)
    except Unavailable as reason:
        answer({"error": str(reason)})
        return 1
    except Exception as error:  # any error of a library: the driver reports it and continues without the case
        answer({"error": f"{type(error).__name__}: {error}"})
        return 1
    answer({"ready": True, "note": started.note})
    try:
        for line in sys.stdin:
            answer(measure(started.work, float(line), options.wall))
    finally:
        started.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
