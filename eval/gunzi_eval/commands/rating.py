"""Rate agents on one Elo scale from the JSON files of gunzi arena.

Every pair of every file counts once, and the order of files and games does not matter. The ratings maximise the
likelihood of all results in a Bradley-Terry model; they are in Elo points above the anchor, with 95 % intervals.

example: gunzi rating arena.json more.json
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional

from gunzi_env.cli.options import SEEDS, UsageError, check_writable, parse, say_next, write_whole
from gunzi_env.cli.text import table_text
from gunzi_eval.stats import openskill_ratings
from gunzi_eval.stats.bradley_terry import PairResult, RatingTable, connected, fit

OpenSkill = dict[str, tuple[float, float]]
"""Mean and spread by agent."""


@dataclass(frozen=True)
class RatingOptions:
    """Options of ``gunzi rating``."""

    files: Positional[tuple[Path, ...]] = ()
    """Files written by gunzi arena --json, with the same rules and start states."""
    anchor: str = "uniform"
    """Agent at 0 Elo; games must link all other agents to it."""
    openskill: bool = False
    """Add a column with OpenSkill ratings, averaged over orders of the games."""
    seed: Annotated[int, SEEDS] = 0
    """Seed of the orders of games for --openskill."""
    markdown: bool = False
    """Print the ratings as a Markdown table."""
    json: Path | None = None
    """Write the ratings to this file as JSON."""


@dataclass(frozen=True)
class Games:
    """The results in some files, and the rules and start states that they share."""

    rules: str
    digest: str
    starts: int
    results: tuple[PairResult, ...]


def read(files: Sequence[Path]) -> Games:
    """Read the results from files; pairs of an agent with itself are left out.

    Raises:
        UsageError: a file was not written by the arena, has other rules or start states than the first file, or
            repeats a pair with the same seed.
    """
    first: dict[str, Any] = {}
    known: dict[tuple[frozenset[str], int], Path] = {}
    results = []
    for file in files:
        content, found = _read_one(file)
        first = first or content
        for key, what in (("rules_digest", "rules"), ("starts", "start states")):
            if content[key] != first[key]:
                theirs, ours = (f"{c['rules']}, {key} {c[key]}" for c in (content, first))
                raise UsageError(f"{file} has other {what} ({theirs}) than {files[0]} ({ours}): rate them separately")
        for result in found:
            if result.a == result.b:
                continue
            pair = (frozenset((result.a, result.b)), content["seed"])
            if pair in known:
                raise UsageError(
                    f"{file}: {result.a} and {result.b} with seed {content['seed']} are already in {known[pair]}; "
                    "the same deals must not count twice"
                )
            known[pair] = file
            results.append(result)
    if not results:
        raise UsageError(f"{', '.join(map(str, files))}: no pair of two different agents")
    return Games(first["rules"], first["rules_digest"], first["starts"], tuple(results))


def _read_one(file: Path) -> tuple[dict[str, Any], list[PairResult]]:
    try:
        content = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{file}: not JSON; name files written by gunzi arena --json") from None
    try:
        types = {"rules": str, "rules_digest": str, "starts": int, "seed": int, "pairs": list}
        if any(type(content[key]) is not kind for key, kind in types.items()):
            raise TypeError
        return content, [_result(file, pair) for pair in content["pairs"]]
    except (KeyError, TypeError):
        raise UsageError(f"{file}: not written by gunzi arena --json, or by an older version") from None


def _result(file: Path, pair: dict[str, Any]) -> PairResult:
    a, b, deals, won = pair["a"], pair["b"], pair["deals"], pair["hands_won"]
    mean, low, high = (won[key] for key in ("mean", "low", "high"))
    if not (isinstance(a, str) and isinstance(b, str) and type(deals) is int):
        raise TypeError
    if low is None or high is None or deals < 2:
        raise UsageError(f"{file}: {a} and {b} played {deals} deal: a rating needs two or more per pair")
    numbers = (float(low), float(mean), float(high))
    if not all(math.isfinite(x) for x in numbers) or not 0 <= numbers[0] <= numbers[1] <= numbers[2] <= 1:
        raise UsageError(f"{file}: hands won by {a} against {b} are {mean} [{low}, {high}], not a share and interval")
    return PairResult(a, b, deals, numbers[1], numbers[0], numbers[2])


def check_linked(results: Sequence[PairResult], anchor: str) -> None:
    """Refuse an anchor that is not in the results, and agents that no chain of games links to it."""
    names = {name for result in results for name in (result.a, result.b)}
    if anchor not in names:
        raise UsageError(f"--anchor {anchor}: the agents of these files are {', '.join(sorted(names))}")
    if apart := sorted(names - connected(results, anchor)):
        raise UsageError(
            f"no games link {', '.join(apart)} to {anchor}: add a file in which one of them plays one of the others, "
            "or choose another --anchor"
        )


def _rows(table: RatingTable, openskill: OpenSkill | None) -> tuple[list[str], list[list[str]]]:
    """Return the heading and a row of cells for each agent."""
    deals = {r.name: sum(m.deals for m in table.results if r.name in (m.a, m.b)) for r in table.ratings}
    rows = []
    for r in table.ratings:
        row = [r.name, format(round(r.rating) + 0, "d"), r.interval_text(), str(deals[r.name])]
        rows.append([*row, f"{openskill[r.name][0]:.0f} ± {openskill[r.name][1]:.0f}"] if openskill else row)
    return ["agent", "Elo", "95 % interval", "deals", *(["openskill"] if openskill else [])], rows


def markdown_text(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format cells as a Markdown table; vertical bars in names are escaped."""
    lines = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in (heading, *rows)]
    lines.insert(1, "|---|" + "---:|" * (len(heading) - 1))
    return "\n".join(lines)


def as_json(games: Games, table: RatingTable, openskill: OpenSkill | None) -> str:
    """Format the ratings, best first, and each result with its predicted share as JSON."""
    content = {
        "rules": games.rules,
        "rules_digest": games.digest,
        "starts": games.starts,
        "anchor": table.anchor,
        "ratings": [
            asdict(r) | ({"openskill": dict(zip(("mean", "spread"), openskill[r.name]))} if openskill else {})
            for r in table.ratings
        ],
        "pairs": [
            {"a": m.a, "b": m.b, "deals": m.deals, "hands_won": m.share, "predicted": p}
            for m, p in zip(table.results, table.predicted)
        ],
    }
    return json.dumps(content, indent=2, allow_nan=False) + "\n"


def main(argv: list[str]) -> int:
    """Run ``gunzi rating``."""
    options = parse(RatingOptions, argv, "rating")
    if not options.files:
        raise UsageError("name one or more files written by gunzi arena --json")
    check_writable(options.json, "--json")
    games = read(options.files)
    check_linked(games.results, options.anchor)
    table = fit(games.results, options.anchor)
    openskill = None
    if options.openskill:
        openskill = openskill_ratings.ratings(games.results, options.anchor, options.seed)
    heading, rows = _rows(table, openskill)
    if options.markdown:
        print(markdown_text(heading, rows))
    else:
        print(f"rating: {len(rows)} agents, {len(games.results)} pairs; rules {games.rules}, {options.anchor} = 0")
        print(table_text(heading, rows))
        print(table.fit_text())
    if options.json is not None:
        write_whole(options.json, as_json(games, table, openskill))
        print(f"ratings written to {options.json}")
    say_next("gunzi arena --help")
    return 0
