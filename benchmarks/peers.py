"""gunzi and its peers side by side: ``python -m benchmarks.peers``, after ``make bench-peers`` has built their home.

Each contestant runs in a process of its own, started once. In each round they are measured one after another, all
on the same core, so that what else the machine does touches all of them alike; ratios are taken within a round.
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
from benchmarks.contestants import CONTESTANTS, Contestant
from benchmarks.worker import cores
from gunzi_env.compiled import SWITCH

PEERS_PYTHON = results.ROOT / ".venv-peers" / "bin" / "python"
START_LIMIT_S = 180.0
"""A contestant may compile before it is ready."""
ANSWER_LIMIT_S = 60.0
"""Beyond the seconds asked for, as the shared machine may give little time."""
CLOSE_LIMIT_S = 1.0


class Lost(RuntimeError):
    """A contestant did not start, or died."""


class Process:
    """One worker process and its pipes."""

    def __init__(self, python: Path, contestant: Contestant, core: int | None) -> None:
        command = [str(python), "-m", "benchmarks.worker", contestant.factory]
        command += [] if core is None else ["--core", str(core)]
        command += ["--wall"] if contestant.wall else []
        self.errors = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 - kept as long as the child
        # A group of its own: Ctrl-C reaches the driver alone, which then ends the worker and the worker's children.
        try:
            self.child = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
                text=True, cwd=results.ROOT, start_new_session=True,
                env=None if contestant.compiled else os.environ | {SWITCH: "0"},
            )  # fmt: skip
        except OSError as error:
            self.errors.close()
            raise Lost(f"{python.name} cannot be run: {error.strerror}; `make bench-peers` builds it") from None

    def ask(self, seconds: float) -> None:
        """Have it work for so long."""
        assert self.child.stdin is not None
        try:
            self.child.stdin.write(f"{seconds}\n")
            self.child.stdin.flush()
        except OSError:
            raise Lost(self._last_words()) from None

    def answer(self, limit: float) -> dict[str, Any]:
        """Its next answer, which is one line and comes after one request."""
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
        return f"ended: {lines[-1] if lines else 'without a word'}"

    def stop(self) -> None:
        """End it and its children."""
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


class Entrant:
    """A contestant of this run: its processes, and its rate in each round or why it has none."""

    def __init__(self, contestant: Contestant, python: Path) -> None:
        self.contestant = contestant
        self.processes: list[Process] = []
        self.rates: list[float] = []
        self.note, self.error = "", ""
        try:
            for core in self._cores():
                self.processes.append(Process(python, contestant, core))
                note = self.processes[-1].answer(START_LIMIT_S)["note"]
                self.note = note if contestant.processes == 1 else f"{contestant.processes} x ({note})"
        except Lost as lost:
            self._give_up(lost)

    def _cores(self) -> Sequence[int | None]:
        """The core of each process; one process alone gets the last, the first being the one most used by others."""
        have = cores()
        if not self.contestant.pinned or not have:
            return [None] * self.contestant.processes
        if len(have) < self.contestant.processes:
            raise Lost(f"needs {self.contestant.processes} cores, there are {len(have)}")
        return have[-self.contestant.processes :]

    def round(self, seconds: float) -> None:
        """One measurement; processes of one contestant run at the same time."""
        try:
            for process in self.processes:
                process.ask(seconds)
            answers = [process.answer(ANSWER_LIMIT_S + 10 * seconds) for process in self.processes]
        except Lost as lost:
            self._give_up(lost)
            return
        clock = "wall_s" if self.contestant.wall else "cpu_s"
        self.rates.append(sum(answer["decisions"] / answer[clock] for answer in answers))

    def _give_up(self, lost: Lost) -> None:
        self.error = str(lost)
        self.stop()

    def stop(self) -> None:
        """End its processes."""
        while self.processes:
            self.processes.pop().stop()

    def section(self) -> results.Section:
        """What is kept of it."""
        return {"error": self.error} if self.error else {"note": self.note, "rates": self.rates}


def run(
    contestants: Sequence[Contestant], seconds: float, rounds: int, peers_python: Path
) -> dict[str, results.Section]:
    """Start all, measure all in each round, end all whatever happens; sections by name."""
    entrants: list[Entrant] = []
    try:
        for contestant in contestants:
            entrants.append(Entrant(contestant, Path(sys.executable) if contestant.ours else peers_python))
            said = entrants[-1].error or f"ready, {entrants[-1].note}"
            print(f"  {contestant.name}: {said}", flush=True)
        for number in range(rounds):
            print(f"round {number + 1} of {rounds}", flush=True)
            for entrant in entrants:
                if not entrant.error:
                    entrant.round(seconds)
        return {entrant.contestant.name: entrant.section() for entrant in entrants}
    finally:
        for entrant in entrants:
            entrant.stop()


def _options(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="how long a contestant is measured in a round (1)")
    parser.add_argument("--rounds", type=int, default=5, help="how many rounds (5)")
    names = [contestant.name for contestant in CONTESTANTS]
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", help="one of " + ", ".join(names))
    parser.add_argument("--json", type=results.file_argument, metavar="FILE", help="put the figures into this file too")
    parser.add_argument("--python", type=Path, default=PEERS_PYTHON, help="the interpreter that has the peers")
    options = parser.parse_args(argv)
    if options.seconds <= 0 or options.rounds < 1:
        parser.error("--seconds must be above 0, --rounds at least 1")
    return options


def main(argv: list[str]) -> int:
    """Run, print, and keep the figures where asked; 130 after Ctrl-C."""
    options = _options(argv)
    # A terminated driver cleans up like an interrupted one.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    # Here and not above: the peers' side of this package never imports gunzi.
    from benchmarks.memory import array_bytes
    from gunzi_eval.commands.bench import machine

    chosen = [c for c in CONTESTANTS if not options.only or c.name in options.only]
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
