"""Print the match-equity table: probabilities of winning the match.

The probability depends on the levels of both sides and the blood owed. Rows are the level of the dealers and columns
that of the attackers. --make plays hands and writes the table that the environments read for reward="equity". --check
plays matches to the end and compares the winners with the table.

examples:
  gunzi equity --blood 4
  gunzi equity --check --matches 1000
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from gunzi_agents import registry
from gunzi_agents.base import Agent
from gunzi_agents.playing import MAX_HANDS, Seating, play_matches
from gunzi_env import engine
from gunzi_env.cards import rank_name
from gunzi_env.cli.options import (
    SEEDS,
    Between,
    RulesName,
    UsageError,
    check_range,
    check_writable,
    checked_rules,
    parse,
    say_next,
    write_whole,
)
from gunzi_env.cli.text import table_text
from gunzi_env.keys import mix
from gunzi_env.published import equity, starts
from gunzi_env.rules import Rules
from gunzi_env.tables import NOBODY, Tables
from gunzi_eval.stats import match_equity
from gunzi_eval.stats.intervals import Interval, format_interval, share_interval

BLOCK = 2048
"""Matches played in one batch."""
BINS = 10
_STATES, _MATCHES = np.uint64(4), np.uint64(5)
"""Streams of the seed."""


@dataclass(frozen=True)
class EquityOptions:
    """Options of ``gunzi equity``."""

    rules: RulesName = "dalian"
    blood: int = 0
    """Blood owed in the printed table."""
    make: bool = False
    """Play hands, solve for the table and write its file."""
    hands: Annotated[int, Between(1, 10_000_000)] = 32768
    """Number of hands for --make."""
    folder: Path | None = None
    """Folder for the file of --make; by default, the file of a preset is written where the environments read it."""
    check: bool = False
    """Play matches from states as they occur to the end, and compare the winners with the table."""
    matches: Annotated[int, Between(1, 1_000_000)] = 2000
    """Number of matches for --check."""
    agent: str = "greedy"
    """Bot in all four seats."""
    seed: Annotated[int, SEEDS] = 1
    """Seed of the deals and of all random choices."""
    json: Path | None = None
    """Write the results of --check to this file as JSON."""


@dataclass(frozen=True)
class Bin:
    """Matches with similar predicted probabilities: their number, mean prediction and share won by the dealers."""

    matches: int
    predicted: float
    won: Interval
    z: float
    """Deviation in standard errors, assuming that the predictions are correct."""


def z_score(predicted: npt.NDArray[np.float64], won: npt.NDArray[np.float64]) -> float:
    """Compute the sum of (won - predicted), both ``float64[n]``, in standard errors of independent matches.

    >>> round(z_score(np.full(100, 0.5), np.repeat([1.0, 0.0], 50)), 6)
    0.0
    """
    variance = float(np.sum(predicted * (1 - predicted)))
    return float(np.sum(won - predicted)) / max(variance, 1e-12) ** 0.5


def calibrate(predicted: npt.NDArray[np.float64], won: npt.NDArray[np.float64]) -> list[Bin]:
    """Group predicted probabilities and results (1 won, 0 lost), ``float64[n]`` each, into bins of a tenth."""
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
    """Play matches from states as they occur (:mod:`gunzi_env.published.starts`) to the end.

    Returns:
        The predicted probability for the side that deals first, and 1 if it won, else 0: ``float64[matches]`` each.
    """
    parts = [
        _play_block(rules, agent, np.arange(first, min(first + BLOCK, matches), dtype=np.uint64), seed)
        for first in range(0, matches, BLOCK)
    ]
    predicted, won = zip(*parts, strict=True)
    return np.concatenate(predicted), np.concatenate(won)


def _later_states(rules: Rules, numbers: npt.NDArray[np.uint64], seed: int) -> tuple[Any, Any, Any]:
    """Draw levels, dealer and blood of hands that are not the first of a match: the table excludes first hands."""
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
    # Another seed than that of --make, so that the table is checked with other cards.
    engine.reset(t, int(mix(seed, _MATCHES)[()]), table_ids=numbers, begin=False)
    engine.begin_hand(t, everyone, levels=levels, dealer=dealer, blood=blood)
    agent.reset()
    if play_matches(t, Seating.alone(agent, t.num, mix(seed, _MATCHES, numbers))).any():
        raise RuntimeError(f"a match has not ended after {MAX_HANDS} hands")
    deals_even = (dealer & 1) == 0
    return np.where(deals_even, even, 1 - even), ((t.match_winner == 0) == deals_even).astype(np.float64)


def as_text(document: dict[str, Any]) -> str:
    """Format the document as JSON with one pair of levels per line, so that versions can be compared line by line."""
    head = [f"  {json.dumps(key)}: {json.dumps(value)}," for key, value in document.items() if key != "rows"]
    rows = ",\n".join(f"    {json.dumps(row, separators=(',', ':'))}" for row in document["rows"])
    return "\n".join(["{", *head, '  "rows": [', rows, "  ]", "}"]) + "\n"


def _make(options: EquityOptions, rules: Rules) -> None:
    path = _path(options, rules)
    check_writable(path, "--folder")
    print(f"{rules.name}: {options.hands} hands of {options.agent}, seed {options.seed}", flush=True)
    hands = match_equity.play(rules, registry.make(options.agent, rules), options.hands, options.seed)
    chances = match_equity.chain(rules, hands).solve()
    source = f"{options.hands} hands of {options.agent}, seed {options.seed}"
    write_whole(path, as_text(equity.document(rules, source, chances)))
    print(f"table written to {path}")
    if rules.name == "custom":
        print(f"set {equity.FOLDER}={path.parent} so that the environments read it")


def _path(options: EquityOptions, rules: Rules) -> Path:
    if options.folder is None and rules.name == "custom":
        raise UsageError("--folder is missing: these rules are not a preset, so name a folder for their table")
    return (options.folder or Path(str(files("gunzi_env").joinpath("data/equity")))) / equity.file_name(rules)


def _check(options: EquityOptions, rules: Rules) -> None:
    equity.table(rules)
    print(f"check: {options.matches} matches of {options.agent}, rules {rules.name}, seed {options.seed}", flush=True)
    predicted, won = play_on(rules, registry.make(options.agent, rules), options.matches, options.seed)
    bins, total = calibrate(predicted, won), z_score(predicted, won)
    rows = [
        [str(b.matches), f"{100 * b.predicted:.1f}", format_interval(b.won, 1, 100, signed=False), f"{b.z:+.2f}"]
        for b in bins
    ]
    print(table_text(["matches", "predicted %", "dealers won %", "z"], rows, left=0))
    square = sum(b.z**2 for b in bins)
    print(f"all: z = {total:+.2f}; chi-square {square:.1f} over {len(bins)} bins (expected: about {len(bins)})")
    if options.json is not None:
        content = {
            "rules": rules.name, "rules_digest": rules.digest, "table": equity.VERSION, "agent": options.agent,
            "seed": options.seed, "matches": options.matches, "z": total, "bins": [asdict(b) for b in bins],
        }  # fmt: skip
        write_whole(options.json, json.dumps(content, indent=2, allow_nan=False) + "\n")
        print(f"results written to {options.json}")


def equity_text(rules: Rules, blood: int) -> str:
    """Format the probabilities in per cent, one row per level of the dealers."""
    chances = equity.table(rules)
    names = [rank_name(level) for level in range(rules.first_level, rules.last_level + 1)]
    rows = [
        [name, *(f"{100 * chance:.1f}" for chance in row)]
        for name, row in zip(names, chances[:, :, blood], strict=True)
    ]
    title = f"probability in % that the dealers win the match, blood {blood}"
    return f"{title}\nrows: their level, columns: the attackers' level\n{table_text(['', *names], rows, left=0)}"


def check(options: EquityOptions, rules: Rules) -> None:
    """Refuse options that exclude each other or do not fit the rules."""
    if options.make and options.check:
        raise UsageError("--make and --check exclude each other")
    check_range("--blood", options.blood, 0, rules.max_blood)
    check_writable(options.json, "--json")
    if options.json is not None and not options.check:
        raise UsageError("--json needs --check")


def main(argv: Sequence[str]) -> int:
    """Run ``gunzi equity``."""
    options = parse(EquityOptions, argv, "equity")
    rules = checked_rules(options.rules)
    check(options, rules)
    if options.make:
        _make(options, rules)
    if options.check:
        _check(options, rules)
    elif not options.make:
        print(equity_text(rules, options.blood))
    say_next("gunzi equity" if options.make else "gunzi equity --check" if not options.check else "gunzi rating --help")
    return 0
