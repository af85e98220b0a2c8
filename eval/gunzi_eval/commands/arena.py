"""Play every pair of agents on the same deals; print 95 % intervals.

Each deal is played twice with the teams exchanged. The table shows levels per hand, points per hand and hands won from
the first agent's view, and matches won with --matches. The JSON file and the report contain more.

examples:
  gunzi arena uniform greedy runs/demo --deals 1000 --report report.html
  gunzi arena greedy expert --deals 20000 --workers 2 --save games.jsonl
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro
from tyro.conf import Positional

from gunzi_agents import registry
from gunzi_agents.base import Agent
from gunzi_env.cli.options import (
    Between,
    RulesName,
    Seed,
    UsageError,
    check_writable,
    checked_rules,
    parse,
    say_next,
    write_whole,
)
from gunzi_env.rules import Rules
from gunzi_eval.matches import duplicate, report, tournament
from gunzi_eval.matches.figures import Pair, as_csv, as_json
from gunzi_eval.matches.tournament import MAX_DEALS_PER_PAIR, Pairing, Plan
from gunzi_eval.matches.workers import MAX_WORKERS, TournamentSpec
from gunzi_eval.stats.intervals import Method, bootstrap, student_interval

PROGRESS_SECONDS = 15.0
"""Seconds between lines of progress where stderr is not a terminal."""


@dataclass(frozen=True)
class ArenaOptions:
    """Options of ``gunzi arena``."""

    agents: Annotated[Positional[tuple[str, ...]], tyro.conf.arg(help=f"Two or more. {registry.SPEC_HELP}")] = ()
    deals: Annotated[int, Between(1, MAX_DEALS_PER_PAIR)] = 1000
    """Number of deals per pair, each played twice."""
    seed: Seed = 0
    rules: RulesName = "dalian"
    matches: Annotated[int, Between(0, MAX_DEALS_PER_PAIR)] = 0
    """Number of whole matches per pair, each played twice; much slower than deals."""
    against: str | None = None
    """Agent that all others play, instead of each other."""
    rotations: bool = False
    """Play each deal at all four rotations of its hands relative to the dealer: eight times instead of twice."""
    until: float | None = None
    """Stop a pair once the half-width of its 95 % interval of levels is at most this; --deals is the maximum."""
    interval: Literal["student", "bootstrap"] = "student"
    """Interval method: Student's t, or a percentile bootstrap over deals with random numbers from --seed."""
    workers: Annotated[int, Between(1, MAX_WORKERS)] = 1
    """Number of processes; the results do not depend on it."""
    save: Path | None = None
    """Save each finished block of deals in this file; the same command resumes from it, also with more deals."""
    json: Path | None = None
    """Write the results to this file as JSON."""
    csv: Path | None = None
    """Write one row per deal and pair to this file."""
    report: Path | None = None
    """Write a report to this file: .html with tables and charts, or .md with tables."""


def check(options: ArenaOptions) -> None:
    """Refuse options that cannot be played, before anything is played."""
    if len(options.agents) < (2 if options.against is None else 1):
        raise UsageError(
            f"name two or more agents ({', '.join(registry.names())}, or the path of a run), e.g. uniform greedy"
        )
    if not pairs_of(options):
        raise UsageError(f"--against {options.against}: name another agent to play it")
    if options.until is not None and not (options.until > 0 and math.isfinite(options.until)):
        raise UsageError(f"--until is {options.until}, allowed are widths in levels above 0")
    if options.report is not None and options.report.suffix not in report.FORMS:
        raise UsageError(f"--report {options.report}: the name must end in {' or '.join(report.FORMS)}")
    for option in ("json", "csv", "report", "save"):
        check_writable(getattr(options, option), f"--{option}")


def pairs_of(options: ArenaOptions) -> list[tuple[str, str]]:
    """Return the pairs in the order of the command line; an agent named twice also plays itself."""
    if options.against is None:
        return list(itertools.combinations(options.agents, 2))
    return [(name, options.against) for name in options.agents if name != options.against]


def main(argv: list[str]) -> int:
    """Run ``gunzi arena``."""
    return run(parse(ArenaOptions, argv, "arena"))


def run(options: ArenaOptions, make: Callable[[str, Rules], Agent] = registry.make) -> int:
    """Run the command; ``make`` builds the agents and must be importable by name if there are workers."""
    check(options)
    rules = checked_rules(options.rules)
    names = options.agents
    if options.against is not None:
        names = tuple(dict.fromkeys([*names, options.against]))
    print(
        f"arena: {', '.join(names)}; rules {rules.name}, {options.deals} deals a pair, seed {options.seed}", flush=True
    )
    spec = TournamentSpec(rules, options.seed, duplicate.ROTATIONS if options.rotations else 1, make)
    method: Method = student_interval if options.interval == "student" else bootstrap(options.seed)
    plan = Plan(options.deals, options.matches, options.until, method)
    pairs = pairs_of(options)
    with progress_line(len(pairs) * (options.deals + options.matches)) as progress:
        played = tournament.run(pairs, spec, plan, options.workers, options.save, progress)
    found = {pair: pairing.result() for pair, pairing in played.items()}
    results = [found[pair] for pair in pairs]
    print(report.summary_text(results, with_deals=options.until is not None), flush=True)
    _write(options, rules, results, played)
    say_next("gunzi play --against greedy to meet one yourself")
    return 0


@contextlib.contextmanager
def progress_line(deals: int) -> Iterator[Callable[[int, int], None]]:
    """Show the progress of a tournament on stderr: a bar on a terminal, else a line from time to time; yields the
    callback."""
    if not sys.stderr.isatty():
        yield _progress_printer()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("deals,"), TimeRemainingColumn(), TextColumn("left"))
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("arena", total=deals)
        yield lambda done, left: bar.update(task, completed=done, total=done + left)


def _progress_printer() -> Callable[[int, int], None]:
    started = shown = time.monotonic()

    def show(done: int, left: int) -> None:
        nonlocal shown
        now = time.monotonic()
        if now - shown > PROGRESS_SECONDS:
            seconds = (now - started) / done * left
            print(f"{done} of {done + left} deals, about {seconds:.0f} s left", file=sys.stderr, flush=True)
            shown = now

    return show


def _write(
    options: ArenaOptions, rules: Rules, results: Sequence[Pair], played: dict[tuple[str, str], Pairing]
) -> None:
    """Write the requested files."""
    settings = {"rotations": options.rotations, "interval": options.interval, "until": options.until}
    text = as_json(rules, options.seed, results, **settings)
    if options.json is not None:
        write_whole(options.json, text)
        print(f"results written to {options.json}")
    if options.csv is not None:
        write_whole(options.csv, as_csv((pair, played[pair].hands()) for pair in pairs_of(options)))
        print(f"deals written to {options.csv}")
    if options.report is not None:
        write_whole(options.report, report.FORMS[options.report.suffix](json.loads(text)))
        print(f"report written to {options.report}")
