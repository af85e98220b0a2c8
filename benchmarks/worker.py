"""One contestant in a process of its own: ``python -m benchmarks.worker MODULE:FACTORY [--core K] [--wall]``.

It warms up, says ``{"ready": true, "note": ...}`` or ``{"error": ...}``, and then answers each line of its input, a
number of seconds, by ``{"decisions": ..., "cpu_s": ..., "wall_s": ...}``, until the input ends.
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
    """The cores this process may use; none where the system does not say."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def pin(core: int) -> None:
    """Keep to one core, where the system can."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})


def measure(work: Work, seconds: float, wall: bool) -> dict[str, float]:
    """Work for so many seconds of CPU time, or of the clock on the wall."""
    clock: Callable[[], float] = time.perf_counter if wall else time.process_time
    decisions, cpu, started = 0, time.process_time(), time.perf_counter()
    until = clock() + seconds
    while clock() < until:
        decisions += work()
    return {"decisions": decisions, "cpu_s": time.process_time() - cpu, "wall_s": time.perf_counter() - started}


def start(factory: str) -> Started:
    """Call ``module:function``."""
    module, _, function = factory.partition(":")
    started: Started = getattr(importlib.import_module(module), function)()
    return started


def own_output() -> TextIO:
    """The standard output for answers alone: what libraries print goes to the standard error instead."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def main(argv: list[str]) -> int:
    """Serve one contestant."""
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
    except Exception as error:  # whatever a peer may raise: the driver reports it and goes on without
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
