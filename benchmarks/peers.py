"""Compare gunzi with other environments: ``python -m benchmarks.peers``. ``make bench-peers`` installs the others.

Each case runs in its own process, started once. Each round measures all cases one after another on the same core, so
that other load on the machine affects all of them alike. Ratios are computed within a round.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import ratios, results
from benchmarks.cases import CASES, Case
from benchmarks.worker import cores
from gunzi_env.compiled import SWITCH

PEERS_PYTHON = results.ROOT / ".venv-peers" / "bin" / "python"
START_LIMIT_S = 180.0
"""Time limit for starting; a case may compile first."""
ANSWER_LIMIT_S = 60.0
"""Time limit beyond the measured seconds; a shared machine may be slow."""
CLOSE_LIMIT_S = 1.0


class Lost(RuntimeError):
    """Raised when a case does not start, or dies."""


class Process:
    """A worker process and its pipes."""

    def __init__(self, python: Path, case: Case, core: int | None) -> None:
        command = [str(python), "-m", "benchmarks.worker", case.factory]
        command += [] if core is None else ["--core", str(core)]
        command += ["--wall"] if case.wall else []
        self.errors = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 - closed together with the child
        # Its own process group: Ctrl-C reaches only the driver, which then stops the worker and its children.
        try:
            self.child = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
                text=True, cwd=results.ROOT, start_new_session=True,
                env=None if case.compiled else os.environ | {SWITCH: "0"},
            )  # fmt: skip
        except OSError as error:
            self.errors.close()
            raise Lost(f"{python.name} cannot be run: {error.strerror}; `make bench-peers` builds it") from None

    def ask(self, seconds: float) -> None:
        """Request a measurement of ``seconds``."""
        assert self.child.stdin is not None
        try:
            self.child.stdin.write(f"{seconds}\n")
            self.child.stdin.flush()
        except OSError:
            raise Lost(self._last_words()) from None

    def answer(self, limit: float) -> dict[str, Any]:
        """Read the answer to the last request, one line of JSON."""
        assert self.child.stdout is not None
        ready, _, _ = select.select([self.child.stdout], [], [], limit)
        if not ready:
            raise Lost(f"no answer within {limit:g} s")
        line = self.child.stdout.readline()
        if not line:
            raise Lost(self._last_words())
        message: dict[str, Any] = json.loads(line)
        if "error" in message:
            raise Lost(message["error"])
        return message

    def _last_words(self) -> str:
        self.errors.seek(0)
        lines = self.errors.read().strip().splitlines()
        return f"ended: {lines[-1] if lines else 'no error output'}"

    def stop(self) -> None:
        """Stop the worker and its children."""
        assert self.child.stdin is not None and self.child.stdout is not None
        try:
            self.child.stdin.close()
            self.child.wait(CLOSE_LIMIT_S)
        except (OSError, subprocess.TimeoutExpired):
            pass
        if self.child.poll() is None:
            os.killpg(self.child.pid, signal.SIGKILL)
        self.child.wait()
        self.child.stdout.close()
        self.errors.close()


class RunningCase:
    """A case in this run: its processes, its rate in each round, or the error that stopped it."""

    def __init__(self, case: Case, python: Path) -> None:
        self.case = case
        self.processes: list[Process] = []
        self.rates: list[float] = []
        self.note, self.error = "", ""
        try:
            for core in self._cores():
                self.processes.append(Process(python, case, core))
                note = self.processes[-1].answer(START_LIMIT_S)["note"]
                self.note = note if case.processes == 1 else f"{case.processes} x ({note})"
        except Lost as lost:
            self._give_up(lost)

    def _cores(self) -> Sequence[int | None]:
        """Choose the core of each process. A single process gets the last core; the first is usually busiest."""
        have = cores()
        if not self.case.pinned or not have:
            return [None] * self.case.processes
        if len(have) < self.case.processes:
            raise Lost(f"needs {self.case.processes} cores, there are {len(have)}")
        return have[-self.case.processes :]

    def round(self, seconds: float) -> None:
        """Measure the case once. Its processes run at the same time."""
        try:
            for process in self.processes:
                process.ask(seconds)
            answers = [process.answer(ANSWER_LIMIT_S + 10 * seconds) for process in self.processes]
        except Lost as lost:
            self._give_up(lost)
            return
        clock = "wall_s" if self.case.wall else "cpu_s"
        self.rates.append(sum(answer["decisions"] / answer[clock] for answer in answers))

    def _give_up(self, lost: Lost) -> None:
        self.error = str(lost)
        self.stop()

    def stop(self) -> None:
        """Stop the processes."""
        while self.processes:
            self.processes.pop().stop()

    def section(self) -> results.Section:
        """Return the results section of this case."""
        return {"error": self.error} if self.error else {"note": self.note, "rates": self.rates}


def run(cases: Sequence[Case], seconds: float, rounds: int, peers_python: Path) -> dict[str, results.Section]:
    """Start all cases, measure them in each round, and always stop them. Return the sections by name."""
    running: list[RunningCase] = []
    try:
        for case in cases:
            running.append(RunningCase(case, Path(sys.executable) if case.ours else peers_python))
            status = running[-1].error or f"ready, {running[-1].note}"
            print(f"  {case.name}: {status}", flush=True)
        for number in range(rounds):
            print(f"round {number + 1} of {rounds}", flush=True)
            for running_case in running:
                if not running_case.error:
                    running_case.round(seconds)
        return {running_case.case.name: running_case.section() for running_case in running}
    finally:
        for running_case in running:
            running_case.stop()


def _options(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="seconds per case and round (1)")
    parser.add_argument("--rounds", type=int, default=5, help="number of rounds (5)")
    names = [case.name for case in CASES]
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", help="one of " + ", ".join(names))
    parser.add_argument("--json", type=results.file_argument, metavar="FILE", help="also write the figures to a file")
    parser.add_argument("--python", type=Path, default=PEERS_PYTHON, help="Python with the other libraries")
    options = parser.parse_args(argv)
    if options.seconds <= 0 or options.rounds < 1:
        parser.error("--seconds must be above 0, --rounds at least 1")
    return options


def main(argv: list[str]) -> int:
    """Run and print the benchmark, and save it if asked. Returns 130 after Ctrl-C."""
    options = _options(argv)
    # Clean up on SIGTERM as on Ctrl-C.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    # Imported here because the modules loaded by the peers must not import gunzi.
    from benchmarks.memory import array_bytes
    from gunzi_eval.throughput import machine

    chosen = [c for c in CASES if not options.only or c.name in options.only]
    section: results.Section = {"machine": machine(), "seconds": options.seconds, "rounds": options.rounds}
    print(section["machine"], flush=True)
    try:
        section["entrants"] = run(chosen, options.seconds, options.rounds, options.python)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    section["memory"] = {"bytes": sum(array_bytes(1024).values())}
    print("", ratios.rate_table(section), "", ratios.ratio_table(section), "", sep="\n")
    for line in ratios.missing_lines(section):
        print(line)
    if options.json:
        results.save(options.json, "peers", section)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
