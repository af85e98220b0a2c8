"""Play the pairings of docs/leaderboard.md and write the page: ``python -m benchmarks.leaderboard``. Takes hours.

Finished blocks of deals are saved in a folder, so the same command resumes an interrupted run. Each finished pairing is
written to docs/leaderboard.json immediately. Saved games carry a digest of the bots' source code: after a code change
the games are played again.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import hashlib
import json
import os
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks import leaderboard_page, pairings, results
from benchmarks.pairings import COSTS, MEASURED, SEED, Pairing
from benchmarks.results import Section
from gunzi_agents import registry
from gunzi_agents.base import Agent
from gunzi_agents.playing import Actions, Seating, advance
from gunzi_env import cli, engine
from gunzi_env.cli.options import UsageError
from gunzi_env.observe import View
from gunzi_env.planes import Words
from gunzi_env.published import starts
from gunzi_env.resample import draw
from gunzi_env.rules import Rules
from gunzi_env.tables import Flags, Phase
from gunzi_eval.matches import report, tournament
from gunzi_eval.matches.tournament import Plan
from gunzi_eval.matches.workers import MAX_WORKERS, TournamentSpec
from gunzi_eval.throughput import HAND, Runner, machine

GAMES = results.ROOT / "runs" / "leaderboard"
BATCH = 1024
LEARNED = ("checkpoint.py", "networks.py", "neural.py")
"""Source files of neural bots, which are in no pairing."""


def sources() -> str:
    """Return a digest of the code of the bots and of ``resample``, ignoring comments and docstrings."""
    found = hashlib.sha256()
    bots, worlds = Path(registry.__file__).parent.rglob("*.py"), Path(draw.__file__).parent.rglob("*.py")
    for file in [*sorted(bots), *sorted(worlds)]:
        if file.name in LEARNED:
            continue
        found.update(f"{file.name} {code(file.read_text(encoding='utf-8'))}".encode())
    return found.hexdigest()[:16]


def code(source: str) -> str:
    r"""Return a dump of the source's syntax tree, without comments, formatting and docstrings.

    >>> code("'A docstring.'\nx = 1  # comment") == code("x = 1")
    True
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [part for part in node.body if not _text(part)]
    return ast.dump(tree)


def _text(part: ast.stmt) -> bool:
    return isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant) and isinstance(part.value.value, str)


def play(pairing: Pairing, deals: int, folder: Path, workers: int) -> Section:
    """Play a pairing as a tournament. Return its figures and the CPU seconds of the hands played in this run."""
    bots = sources()
    save = folder / f"{pairing.rules}-{bots}.jsonl"
    deals_before, cpu_before = _saved_deals(save, pairing), _cpu_seconds()
    rules, pair = Rules.preset(pairing.rules), (pairing.a, pairing.b)
    print(f"{pairing.a}, {pairing.b}; rules {rules.name}, {deals} deals a pair, seed {SEED}", flush=True)
    spec, plan = TournamentSpec(rules, SEED, make=registry.make), Plan(deals)
    found = tournament.run([pair], spec, plan, workers, save)[pair].result()
    print(report.summary_text([found]), flush=True)
    seconds, hands = _cpu_seconds() - cpu_before, 2 * (_saved_deals(save, pairing) - deals_before)
    section = {"rules": rules.name, "rules_digest": rules.digest, "starts": starts.VERSION, "seed": SEED}
    section |= {key: found.as_dict()[key] for key in ("a", "b", "deals", "levels", "points", "hands_won")}
    return section | {"bots": bots, "cpu": {"seconds": seconds, "hands": hands} if hands else None}


def _saved_deals(save: Path, pairing: Pairing) -> int:
    """Count the deals of a pairing in a tournament file."""
    if not save.exists():
        return 0
    dealt = 0
    with contextlib.suppress(ValueError):  # damaged or truncated line: the arena reports it or plays it again
        for line in save.read_text(encoding="utf-8").splitlines():
            a, b, _, _, number = json.loads(line).get("task", (None, None, "", 0, 0))
            dealt += number if (a, b) == (pairing.a, pairing.b) else 0
    return dealt


def _cpu_seconds() -> float:
    """Return the CPU time of this process and of its finished child processes."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def costs(steps: int, repeats: int) -> Section:
    """Measure CPU microseconds per decision of each bot: the median of ``repeats`` runs of ``steps`` batches."""
    found = {}
    for name in MEASURED:
        found[name] = cost(name, steps, repeats)
        print(f"{name}: {found[name]:.1f} µs of CPU time per decision", flush=True)
    return {"machine": machine(), "rules": "dalian", "batch": BATCH, "steps": steps, "repeats": repeats, "us": found}


def cost(name: str, steps: int, repeats: int, warm_up: int = HAND) -> float:
    """Measure CPU microseconds per decision of a bot that plays all four seats. The engine's time is not included."""
    rules = Rules.preset("dalian")
    agent, tables = _Timed(registry.make(name, rules)), Runner(rules, BATCH, SEED).tables
    seating, plies = Seating.alone(agent, BATCH), np.zeros(BATCH, np.int64)
    rates = []
    for step in range(warm_up + steps * repeats):
        advance(tables, seating, plies)
        over = np.flatnonzero(tables.phase == Phase.OVER)
        if len(over):
            engine.next_hand(tables, over)
        played = step + 1 - warm_up  # the warm-up steps lead to positions of the bot's own play
        if played >= 0 and played % steps == 0:
            rates += [agent.spent / (steps * BATCH) * 1e6] if played else []
            agent.spent = 0.0
    return statistics.median(rates)


class _Timed(Agent):
    """Another agent, with the CPU seconds that it spent deciding."""

    def __init__(self, agent: Agent) -> None:
        self.agent, self.name, self.spent = agent, agent.name, 0.0

    def act(self, view: View, legal: Flags, keys: Words) -> Actions:
        begun = time.process_time()
        actions = self.agent.act(view, legal, keys)
        self.spent += time.process_time() - begun
        return actions


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    names = [*(pairing.name for pairing in pairings.PAIRINGS), COSTS]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.leaderboard", description=__doc__)
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", help="one of " + ", ".join(names))
    parser.add_argument("--workers", type=int, default=1, help="number of worker processes (1)")
    parser.add_argument("--games", type=Path, default=GAMES, metavar="FOLDER", help="folder for finished games")
    parser.add_argument("--scale", type=float, default=1.0, help="fraction of the deals; below 1, nothing is written")
    options = parser.parse_args(argv)
    if not 0 < options.scale <= 1:
        parser.error(f"--scale is {options.scale}, allowed is more than 0, up to 1")
    if not 1 <= options.workers <= MAX_WORKERS:
        parser.error(f"--workers is {options.workers}, allowed are 1 to {MAX_WORKERS}")
    return options


def run(options: argparse.Namespace) -> int:
    """Play the selected pairings. Each one is written to the page when it finishes."""
    try:
        options.games.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--games {options.games}: {error.strerror or error}") from None
    whole = options.scale == 1
    for pairing in pairings.PAIRINGS:
        if options.only and pairing.name not in options.only:
            continue
        print(f"{pairing.name}:", flush=True)
        section = play(pairing, max(2, round(pairing.deals * options.scale)), options.games, options.workers)
        if whole:
            _save(pairing.name, section)
    if not options.only or COSTS in options.only:
        section = costs(steps=max(2, round(300 * options.scale)), repeats=5)
        if whole:
            _save(COSTS, section)
    print(
        f"written to {leaderboard_page.PAGE.name}" if whole else f"trial run, scale {options.scale:g}: nothing written"
    )
    return 0


def _save(name: str, section: Section) -> None:
    """Save a results section and update the page."""
    known = results.load(leaderboard_page.RESULTS).get(name, {})
    # Without new hands, all games were loaded from the file: keep the CPU time measured earlier.
    if section.get("cpu", 0) is None and known.get("bots") == section["bots"]:
        section = section | {"cpu": known["cpu"]}
    results.save(leaderboard_page.RESULTS, name, section)
    leaderboard_page.write()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command. Exit codes are those of ``gunzi``."""
    options = _options(argv)
    return cli.guarded("leaderboard", lambda: run(options))


if __name__ == "__main__":
    sys.exit(main())
