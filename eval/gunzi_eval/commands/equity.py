"""The match-equity table: the chance to win the match from levels, dealer and blood, made and checked here.

The table is printed from the dealers' view; ``--make`` plays hands and writes the file that ``reward="equity"`` reads
(:mod:`gunzi_env.published.equity`); ``--check`` plays matches to their ends and holds the winners against the table.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gunzi_agents import registry
from gunzi_agents.base import Agent
from gunzi_agents.playing import MAX_HANDS, Seating, play_matches
from gunzi_env import engine
from gunzi_env.cards import rank_name
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
from gunzi_env.keys import mix
from gunzi_env.published import equity, starts
from gunzi_env.rules import Rules
from gunzi_env.tables import NOBODY, Tables
from gunzi_eval.stats import match_equity
from gunzi_eval.stats.intervals import Interval, figure, share_interval

BLOCK = 2048
"""Matches played side by side."""
BINS = 10
MOST_HANDS, MOST_MATCHES = 10_000_000, 1_000_000
_STATES, _MATCHES = np.uint64(4), np.uint64(5)
"""Streams of the seed."""


@dataclass(frozen=True)
class Equity:
    """Print the chance of the dealers to win the match; or make the table, or check it against played matches.

    example: gunzi equity --blood 4
    example: gunzi equity --check --matches 1000
    """

    rules: str = "dalian"
    """A preset (dalian, dalian_dead, classic, four_deck) or a TOML file such as configs/rules/jack.toml."""
    blood: int = 0
    """The blood owed in the table that is printed."""
    make: bool = False
    """Play hands, solve for the table and write its file."""
    hands: int = 32768
    """Hands to make it from."""
    folder: Path | None = None
    """Where to write it; a preset's is written where the environment reads it when left out."""
    check: bool = False
    """Play matches to their ends from states as they occur, and compare."""
    matches: int = 2000
    """Matches to check with."""
    agent: str = "greedy"
    """Who plays, in all four seats."""
    seed: int = 1
    """Names the deals and every random choice."""
    json: Path | None = None
    """Write the figures of --check to this file as JSON."""


@dataclass(frozen=True)
class Bin:
    """Matches whose predicted chances are much the same: how many, the mean of these, how many the dealers won."""

    matches: int
    predicted: float
    won: Interval
    z: float
    """The difference in standard errors, the prediction taken for the truth."""


def z_score(predicted: npt.NDArray[np.float64], won: npt.NDArray[np.float64]) -> float:
    """(won - predicted) in standard errors of independent matches with just these chances, both ``float64[n]``.

    >>> round(z_score(np.full(100, 0.5), np.repeat([1.0, 0.0], 50)), 6)
    0.0
    """
    variance = float(np.sum(predicted * (1 - predicted)))
    return float(np.sum(won - predicted)) / max(variance, 1e-12) ** 0.5


def calibrate(predicted: npt.NDArray[np.float64], won: npt.NDArray[np.float64]) -> list[Bin]:
    """Predicted chances against results (1 won, 0 lost), ``float64[n]`` each, in bins of a tenth."""
    number = np.minimum((predicted * BINS).astype(int), BINS - 1)
    bins = []
    for k in range(BINS):
        mine = number == k
        if mine.any():
            p, w = predicted[mine], won[mine]
            bins.append(Bin(len(p), float(p.mean()), share_interval(w), z_score(p, w)))
    return bins


def play_on(
    rules: Rules, agent: Agent, matches: int, seed: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Matches from states as they occur (:mod:`gunzi_env.published.starts`) to their ends.

    Returns:
        What the table predicts for the side that deals first, and 1 where it won, else 0: ``float64[matches]`` each.
    """
    parts = [
        _play_block(rules, agent, np.arange(first, min(first + BLOCK, matches), dtype=np.uint64), seed)
        for first in range(0, matches, BLOCK)
    ]
    predicted, won = zip(*parts, strict=True)
    return np.concatenate(predicted), np.concatenate(won)


def _later_states(rules: Rules, numbers: npt.NDArray[np.uint64], seed: int) -> tuple[Any, Any, Any]:
    """Levels, dealer, blood of hands that are not the first of a match: of a first one nothing is predicted."""
    attempt = 0
    levels, dealer, blood = starts.sample(rules, mix(seed, _STATES, numbers, attempt))
    while (again := np.flatnonzero(dealer == NOBODY)).size:
        attempt += 1
        fresh = starts.sample(rules, mix(seed, _STATES, numbers[again], attempt))
        levels[again], dealer[again], blood[again] = fresh
    return levels, dealer, blood


def _play_block(
    rules: Rules, agent: Agent, numbers: npt.NDArray[np.uint64], seed: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    t = Tables(rules, len(numbers))
    everyone = np.arange(t.num)
    levels, dealer, blood = _later_states(rules, numbers, seed)
    even = equity.win_chance(rules, levels, dealer, blood)
    # Other cards than the table was made from: those hands bear the seed itself.
    engine.reset(t, int(mix(seed, _MATCHES)[()]), table_ids=numbers, begin=False)
    engine.begin_hand(t, everyone, levels=levels, dealer=dealer, blood=blood)
    agent.reset()
    if play_matches(t, Seating.alone(agent, t.num, mix(seed, _MATCHES, numbers))).any():
        raise RuntimeError(f"a match has not ended after {MAX_HANDS} hands")
    deals_even = (dealer & 1) == 0
    return np.where(deals_even, even, 1 - even), ((t.match_winner == 0) == deals_even).astype(np.float64)


def as_text(document: dict[str, Any]) -> str:
    """The document as JSON with one pair of levels a line, so that two versions can be compared line by line."""
    head = [f"  {json.dumps(key)}: {json.dumps(value)}," for key, value in document.items() if key != "rows"]
    rows = ",\n".join(f"    {json.dumps(row, separators=(',', ':'))}" for row in document["rows"])
    return "\n".join(["{", *head, '  "rows": [', rows, "  ]", "}"]) + "\n"


def _make(config: Equity, rules: Rules) -> None:
    path = _path(config, rules)
    check_writable(path, "--folder")
    print(f"{rules.name}: {config.hands} hands of {config.agent}, seed {config.seed}", flush=True)
    hands = match_equity.play(rules, registry.make(config.agent, rules), config.hands, config.seed)
    chances = match_equity.chain(rules, hands).solve()
    source = f"{config.hands} hands of {config.agent}, seed {config.seed}"
    write_whole(path, as_text(equity.document(rules, source, chances)))
    print(f"table written to {path}")
    if rules.name == "custom":
        print(f"set {equity.FOLDER}={path.parent} for the environments to read it")


def _path(config: Equity, rules: Rules) -> Path:
    if config.folder is None and rules.name == "custom":
        raise UsageError("--folder is missing: these rules are no preset, so say where their table is to stand")
    return (config.folder or Path(str(files("gunzi_env").joinpath("data/equity")))) / equity.file_name(rules)


def _check(config: Equity, rules: Rules) -> None:
    equity.table(rules)
    print(f"check: {config.matches} matches of {config.agent}, rules {rules.name}, seed {config.seed}", flush=True)
    predicted, won = play_on(rules, registry.make(config.agent, rules), config.matches, config.seed)
    bins, total = calibrate(predicted, won), z_score(predicted, won)
    print(f"{'matches':>8} {'predicted %':>12} {'dealers won %':>22} {'z':>6}")
    for b in bins:
        print(f"{b.matches:>8} {100 * b.predicted:>12.1f} {figure(b.won, 1, 100, signed=False):>22} {b.z:>+6.2f}")
    square = sum(b.z**2 for b in bins)
    print(f"all: z = {total:+.2f}; chi-square {square:.1f} over {len(bins)} bins (about {len(bins)} is expected)")
    if config.json is not None:
        content = {
            "rules": rules.name, "rules_digest": rules.digest, "table": equity.VERSION, "agent": config.agent,
            "seed": config.seed, "matches": config.matches, "z": total, "bins": [asdict(b) for b in bins],
        }  # fmt: skip
        write_whole(config.json, json.dumps(content, indent=2, allow_nan=False) + "\n")
        print(f"figures written to {config.json}")


def table_text(rules: Rules, blood: int) -> str:
    """The chances in per cent, a line for each level of the dealers."""
    chances = equity.table(rules)
    names = [rank_name(level) for level in range(rules.first_level, rules.last_level + 1)]
    lines = [f"chance of the dealers to win the match in %, blood {blood}: their level down, the attackers' across"]
    lines.append("    " + "".join(f"{name:>6}" for name in names))
    for name, row in zip(names, chances[:, :, blood], strict=True):
        lines.append(f"{name:>4}" + "".join(f"{100 * chance:>6.1f}" for chance in row))
    return "\n".join(lines)


def check(config: Equity, rules: Rules) -> None:
    """Refuse what cannot be done, by name, before anything is played."""
    if config.make and config.check:
        raise UsageError("--make and --check are two runs: give one of them")
    check_range("--blood", config.blood, 0, rules.max_blood)
    check_range("--hands", config.hands, 1, MOST_HANDS)
    check_range("--matches", config.matches, 1, MOST_MATCHES)
    check_seed(config.seed)
    check_writable(config.json, "--json")
    if config.json is not None and not config.check:
        raise UsageError("--json is for the figures of --check: name both")


def main(argv: Sequence[str]) -> int:
    """``gunzi equity``."""
    config = parse(Equity, argv, "equity")
    rules = checked_rules(config.rules)
    check(config, rules)
    if config.make:
        _make(config, rules)
    if config.check:
        _check(config, rules)
    elif not config.make:
        print(table_text(rules, config.blood))
    say_next("gunzi equity" if config.make else "gunzi equity --check" if not config.check else "gunzi rating --help")
    return 0
