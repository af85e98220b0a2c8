"""Play the contests of docs/leaderboard.md and write the page: ``python -m benchmarks.leaderboard``, hours in all.

Every finished block of deals is kept in a folder, so that the same command goes on where it was stopped; every finished
contest is put into docs/leaderboard.json at once. Games are kept apart by the bots' sources: those of a bot that has
changed since are not taken for its own.
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

from benchmarks import contests, leaderboard_page, results
from benchmarks.contests import COSTS, MEASURED, SEED, Contest
from benchmarks.results import Section
from gunzi_agents import registry
from gunzi_env import cli, engine, observe
from gunzi_env.cli.options import UsageError
from gunzi_env.keys import mix
from gunzi_env.resample import draw
from gunzi_env.rules import Rules
from gunzi_env.tables import Phase
from gunzi_eval.commands import arena
from gunzi_eval.commands.bench import HAND, Runner, machine

GAMES = results.ROOT / "runs" / "leaderboard"
BATCH = 1024
LEARNED = ("checkpoint.py", "networks.py", "neural.py")
"""The sources of learned bots, which play no contest here."""


def sources() -> str:
    """A digest of the bots' code and of the worlds that searches draw, comments and docstrings left out."""
    found = hashlib.sha256()
    bots, worlds = Path(registry.__file__).parent.rglob("*.py"), Path(draw.__file__).parent.rglob("*.py")
    for file in [*sorted(bots), *sorted(worlds)]:
        if file.name in LEARNED:
            continue
        found.update(f"{file.name} {code(file.read_text(encoding='utf-8'))}".encode())
    return found.hexdigest()[:16]


def code(source: str) -> str:
    """A source without what says nothing to the interpreter: layout, comments, texts that stand alone.

    >>> code("'What x is.'\nx = 1  # why") == code("x = 1")
    True
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [part for part in node.body if not _text(part)]
    return ast.dump(tree)


def _text(part: ast.stmt) -> bool:
    return isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant) and isinstance(part.value.value, str)


def play(contest: Contest, deals: int, folder: Path, workers: int) -> Section:
    """What the arena finds in a contest, and the CPU seconds of those hands that were not played before."""
    bots = sources()
    save, figures = folder / f"{contest.rules}-{bots}.jsonl", folder / f"{contest.name}.json"
    kept, begun = _kept(save, contest), _cpu_seconds()
    arena.run(
        arena.Arena(
            agents=(contest.a, contest.b), deals=deals, seed=SEED, workers=workers, rules=contest.rules,
            save=save, json=figures,
        )
    )  # fmt: skip
    seconds, hands = _cpu_seconds() - begun, 2 * (_kept(save, contest) - kept)
    found = json.loads(figures.read_text(encoding="utf-8"))
    section = {key: found[key] for key in ("rules", "rules_digest", "starts", "seed")}
    section |= {key: found["pairs"][0][key] for key in ("a", "b", "deals", "levels", "points", "hands_won")}
    return section | {"bots": bots, "cpu": {"seconds": seconds, "hands": hands} if hands else None}


def _kept(save: Path, contest: Contest) -> int:
    """Deals of a contest in a tournament's file."""
    if not save.exists():
        return 0
    dealt = 0
    with contextlib.suppress(ValueError):  # a damaged line, or one cut short: the arena says so, or plays it again
        for line in save.read_text(encoding="utf-8").splitlines():
            a, b, _, _, number = json.loads(line).get("task", (None, None, "", 0, 0))
            dealt += number if (a, b) == (contest.a, contest.b) else 0
    return dealt


def _cpu_seconds() -> float:
    """CPU time of this process and of the workers that have ended."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def costs(steps: int, repeats: int) -> Section:
    """CPU microseconds that each bot takes for a decision, the median of ``repeats`` over ``steps`` batches each."""
    found = {}
    for name in MEASURED:
        found[name] = cost(name, steps, repeats)
        print(f"{name}: {found[name]:.1f} µs of CPU a decision", flush=True)
    return {"machine": machine(), "rules": "dalian", "batch": BATCH, "steps": steps, "repeats": repeats, "us": found}


def cost(name: str, steps: int, repeats: int, warm_up: int = HAND) -> float:
    """CPU microseconds a decision of a bot that plays all seats of tables in all phases; the engine is not counted."""
    rules = Rules.preset("dalian")
    agent, tables = registry.make(name, rules), Runner(rules, BATCH, SEED).tables
    rates, spent = [], 0.0
    for step in range(warm_up + steps * repeats):
        view, legal = observe.view(tables), tables.actions.unpack(tables.legal)
        keys = mix(np.uint64(SEED), tables.table_id, step)
        begun = time.process_time()
        actions = agent.act(view, legal, keys)
        spent += time.process_time() - begun
        engine.step(tables, actions, skip_forced=True)
        over = np.flatnonzero(tables.phase == Phase.OVER)
        if len(over):
            engine.next_hand(tables, over)
        played = step + 1 - warm_up  # before, the bot comes to positions of its own
        if played >= 0 and played % steps == 0:
            rates += [spent / (steps * BATCH) * 1e6] if played else []
            spent = 0.0
    return statistics.median(rates)


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    names = [*(contest.name for contest in contests.CONTESTS), COSTS]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.leaderboard", description=__doc__)
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", help="one of " + ", ".join(names))
    parser.add_argument("--workers", type=int, default=1, help="processes that play (1)")
    parser.add_argument("--games", type=Path, default=GAMES, metavar="FOLDER", help="where finished games are kept")
    parser.add_argument("--scale", type=float, default=1.0, help="a part of the deals, for a look: nothing is written")
    options = parser.parse_args(argv)
    if not 0 < options.scale <= 1:
        parser.error(f"--scale is {options.scale}, allowed is more than 0, up to 1")
    if not 1 <= options.workers <= arena.MAX_WORKERS:
        parser.error(f"--workers is {options.workers}, allowed are 1 to {arena.MAX_WORKERS}")
    return options


def run(options: argparse.Namespace) -> int:
    """Play what was chosen; each contest is on the page as soon as it is finished."""
    try:
        options.games.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--games {options.games}: {error.strerror or error}") from None
    whole = options.scale == 1
    for contest in contests.CONTESTS:
        if options.only and contest.name not in options.only:
            continue
        print(f"{contest.name}:", flush=True)
        section = play(contest, max(2, round(contest.deals * options.scale)), options.games, options.workers)
        if whole:
            _keep(contest.name, section)
    if not options.only or COSTS in options.only:
        section = costs(steps=max(2, round(300 * options.scale)), repeats=5)
        if whole:
            _keep(COSTS, section)
    print(
        f"written to {leaderboard_page.PAGE.name}" if whole else f"a look at scale {options.scale:g}: nothing written"
    )
    return 0


def _keep(name: str, section: Section) -> None:
    """Put a section into the results and onto the page."""
    known = results.load(leaderboard_page.RESULTS).get(name, {})
    if section.get("cpu", 0) is None and known.get("bots") == section["bots"]:  # all its games had been played before
        section = section | {"cpu": known["cpu"]}
    results.save(leaderboard_page.RESULTS, name, section)
    leaderboard_page.write()


def main(argv: Sequence[str] | None = None) -> int:
    """Play and write; exit codes as of ``gunzi``."""
    options = _options(argv)
    return cli.guarded("leaderboard", lambda: run(options))


if __name__ == "__main__":
    sys.exit(main())
