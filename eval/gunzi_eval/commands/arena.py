"""Measure bots against each other on the same deals, with 95 % intervals.

Every pair of agents plays duplicate deals (:mod:`gunzi_eval.matches.duplicate`). Three figures, from the first agent's
view: levels per hand, points per hand, hands won; and matches won, if asked for. JSON, CSV and the report hold more.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro
from tyro.conf import Positional

from gunzi_agents import registry
from gunzi_agents.base import Agent
from gunzi_agents.playing import identity
from gunzi_env.cli.options import (
    UsageError,
    check_range,
    check_seed,
    check_writable,
    checked_rules,
    parse,
    say_next,
    write_whole,
)
from gunzi_env.cli.text import show_table
from gunzi_env.rules import Rules
from gunzi_eval.matches import duplicate, report, tournament
from gunzi_eval.matches.figures import Pair, as_csv, as_json
from gunzi_eval.matches.games_file import GamesFile
from gunzi_eval.matches.tournament import Pairing, Plan
from gunzi_eval.matches.workers import Alone, Games, Player, Pool, Setting, Task, WorkerLost
from gunzi_eval.stats.intervals import Method, bootstrap, figure, student_interval

MAX_DEALS = 10_000_000
MAX_WORKERS = 256


@dataclass(frozen=True)
class Arena:
    """Play every pair of agents on the same deals, each deal twice with the teams exchanged, and print 95 % intervals.

    example: gunzi arena uniform greedy runs/demo --deals 1000 --workers 2 --save games.jsonl --report report.html
    """

    agents: Annotated[Positional[tuple[str, ...]], tyro.conf.arg(help=f"Two or more. {registry.SPEC_HELP}")] = ()
    deals: int = 1000
    """Deals a pair, each played twice."""
    seed: int = 0
    """Names the deals and every random choice."""
    rules: str = "dalian"
    """A preset (dalian, dalian_dead, classic, four_deck) or a TOML file such as configs/rules/jack.toml."""
    matches: int = 0
    """Whole matches a pair besides, each played twice; slower."""
    against: str | None = None
    """Everyone plays this agent alone, instead of each other."""
    rotations: bool = False
    """Play every deal at all four rotations of its hands against the dealer: eight times instead of twice."""
    until: float | None = None
    """Stop a pair when its interval of levels is no wider than this to either side; --deals is then the most."""
    interval: Literal["student", "bootstrap"] = "student"
    """How intervals are made: Student's t, or a percentile bootstrap over deals, its draws from --seed."""
    workers: int = 1
    """Processes that play; the figures are the same for any number."""
    save: Path | None = None
    """Keep every finished block of deals in this file; the same command goes on from there, also with more deals."""
    json: Path | None = None
    """Write the figures to this file as JSON."""
    csv: Path | None = None
    """Write a row for each deal and pair to this file."""
    report: Path | None = None
    """Write a report with tables and charts to this file: .html, or .md without the charts."""


def measure(
    names: tuple[str, str],
    agents: tuple[Agent, Agent],
    rules: Rules,
    deals: int,
    seed: int,
    matches: int = 0,
    progress: duplicate.Progress = lambda done: None,
) -> Pair:
    """Play one pair and reduce its deals to means with intervals.

    Raises:
        gunzi_agents.playing.AgentFault: an agent crashed or played an illegal action.
    """
    hands = duplicate.play_hands(agents, rules, deals, seed, progress)
    won = duplicate.play_matches(agents, rules, matches, seed, progress) if matches else None
    return Pair.of(names, hands, won)


def print_table(pairs: Sequence[Pair], with_deals: bool = False) -> None:
    """The figures as a table of text, if wanted with the number of deals that each pair played."""
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table(box=SIMPLE, title="mean [95 % interval] from a's view", title_justify="left")
    for heading in ("a", "b"):
        table.add_column(heading, no_wrap=True)
    if with_deals:
        table.add_column("deals", justify="right")
    with_matches = any(pair.matches_won for pair in pairs)
    for heading in ("levels/hand", "points/hand", "hands won %", *(["matches won %"] if with_matches else [])):
        table.add_column(heading, justify="right", no_wrap=True)
    for pair in pairs:
        cells = [
            figure(pair.levels, 2),
            figure(pair.points, 1),
            figure(pair.hands_won, 1, 100, signed=False),
        ]
        if pair.matches_won:
            cells.append(figure(pair.matches_won, 1, 100, signed=False))
        table.add_row(pair.a, pair.b, *([str(pair.deals)] if with_deals else []), *cells)
    show_table(table)


class _Meter:
    """Progress on stderr: one line that is written over on a terminal, a line now and then elsewhere."""

    def __init__(self, left: Callable[[], int]) -> None:
        self.left, self.done = left, 0
        self.started = self.shown = time.monotonic()
        self.live = sys.stderr.isatty()

    def __call__(self, done: int) -> None:
        self.done += done
        now = time.monotonic()
        if self.live or now - self.shown > 15:
            left = self.left()
            seconds = (now - self.started) / self.done * left
            text = f"{self.done} of {self.done + left} deals, about {seconds:.0f} s left"
            print(f"\r{text:<60}" if self.live else text, end="" if self.live else "\n", file=sys.stderr, flush=True)
            self.shown = now

    def close(self) -> None:
        if self.live:
            print(f"\r{'':<60}\r", end="", file=sys.stderr, flush=True)


def check(config: Arena) -> None:
    """Refuse what cannot be measured, by name, before anything is played."""
    if len(config.agents) < (2 if config.against is None else 1):
        raise UsageError(
            f"name two or more agents ({', '.join(registry.names())}, or the path of a run), e.g. uniform greedy"
        )
    if not pairs_of(config):
        raise UsageError(f"--against {config.against}: name somebody else to play it")
    check_range("--deals", config.deals, 1, MAX_DEALS)
    check_range("--matches", config.matches, 0, MAX_DEALS)
    check_range("--workers", config.workers, 1, MAX_WORKERS)
    if config.until is not None and not (config.until > 0 and math.isfinite(config.until)):
        raise UsageError(f"--until is {config.until}, allowed are widths in levels above 0")
    check_seed(config.seed)
    if config.report is not None and config.report.suffix not in report.FORMS:
        raise UsageError(f"--report {config.report}: the name must end in {' or '.join(report.FORMS)}")
    for option in ("json", "csv", "report", "save"):
        check_writable(getattr(config, option), f"--{option}")


def pairs_of(config: Arena) -> list[tuple[str, str]]:
    """Who plays whom, in the order of the command line; an agent named twice also plays itself."""
    if config.against is None:
        return list(itertools.combinations(config.agents, 2))
    return [(name, config.against) for name in config.agents if name != config.against]


def main(argv: list[str]) -> int:
    """``gunzi arena``."""
    return run(parse(Arena, argv, "arena"))


def run(config: Arena, make: Callable[[str, Rules], Agent] = registry.make) -> int:
    """The command; ``make`` builds the agents, and is importable by name where there are workers."""
    check(config)
    rules = checked_rules(config.rules)
    names = dict.fromkeys([*config.agents, *([config.against] if config.against is not None else [])])
    print(
        f"arena: {', '.join(names if config.against is not None else config.agents)}; rules {rules.name}, "
        f"{config.deals} deals a pair, seed {config.seed}",
        flush=True,
    )
    setting = Setting(rules, config.seed, duplicate.ROTATIONS if config.rotations else 1, make)
    player = Player(setting)
    agents = {name: player.agent(name) for name in names}
    setting.identities.update((name, identity(agent)) for name, agent in agents.items())
    method: Method = student_interval if config.interval == "student" else bootstrap(config.seed)
    plan = Plan(config.deals, config.matches, config.until, method)
    pairings = {(a, b): Pairing((a, b), duplicate.block_size(agents[a], agents[b]), plan) for a, b in pairs_of(config)}
    sizes = {name: duplicate.block_size(agent) for name, agent in agents.items()}
    file = GamesFile(config.save, setting, sizes) if config.save is not None else None
    with contextlib.closing(file) if file else contextlib.nullcontext():
        _play(list(pairings.values()), player, config.workers, file, sizes)
    figures = {names: pairing.figures() for names, pairing in pairings.items()}
    results = [figures[names] for names in pairs_of(config)]
    print_table(results, with_deals=config.until is not None)
    _write(config, rules, results, pairings)
    say_next("gunzi play --against greedy to meet one yourself")
    return 0


def _play(
    pairings: Sequence[Pairing], player: Player, workers: int, file: GamesFile | None, sizes: dict[str, int]
) -> None:
    """Play on from what the file holds; without a file, what was played when a worker is lost goes into a new one."""
    played: dict[Task, Games] = {}
    meter = _Meter(lambda: sum(pairing.left for pairing in pairings))

    def keep(task: Task, games: Games) -> None:
        if file is not None:
            file.add(task, games)
        else:
            played[task] = games
        meter(task.number)

    players = Alone(player) if workers == 1 else Pool(player.setting, workers)
    try:
        tournament.play(pairings, players, file.games if file else {}, keep)
    except WorkerLost as lost:
        raise WorkerLost(f"{lost}; {_kept(file, played, player.setting, sizes)}") from None
    finally:
        players.close()
        meter.close()


def _kept(file: GamesFile | None, played: dict[Task, Games], setting: Setting, sizes: dict[str, int]) -> str:
    """What is left of a tournament that cannot go on: one sentence."""
    if file is None:
        if not played:
            return "no block was finished before"
        path = Path(f"arena-{time.strftime('%Y%m%d-%H%M%S')}.jsonl")
        try:
            with contextlib.closing(GamesFile(path, setting, sizes)) as file:
                for task, games in played.items():
                    file.add(task, games)
        except UsageError as error:
            return f"what was played could not be kept: {error}"
    return f"{len(file.games)} finished blocks are kept: --save {file.path} goes on from there"


def _write(config: Arena, rules: Rules, results: Sequence[Pair], pairings: dict[tuple[str, str], Pairing]) -> None:
    """The files that were asked for."""
    settings = {"rotations": config.rotations, "interval": config.interval, "until": config.until}
    text = as_json(rules, config.seed, results, **settings)
    if config.json is not None:
        write_whole(config.json, text)
        print(f"figures written to {config.json}")
    if config.csv is not None:
        write_whole(config.csv, as_csv((names, pairings[names].hands()) for names in pairs_of(config)))
        print(f"deals written to {config.csv}")
    if config.report is not None:
        write_whole(config.report, report.FORMS[config.report.suffix](json.loads(text)))
        print(f"report written to {config.report}")
