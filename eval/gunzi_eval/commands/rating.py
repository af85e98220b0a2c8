"""Put agents on one scale from the arena's files, whatever the order of games.

Every pair of every file counts once; the ratings maximise the likelihood of all of them together
(:mod:`gunzi_eval.stats.bradley_terry`), in Elo points above the anchor, with 95 % intervals.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tyro.conf import Positional

from gunzi_env.cli.options import UsageError, check_seed, check_writable, parse, say_next, write_whole
from gunzi_env.cli.text import table_text
from gunzi_eval.stats import openskill_ratings
from gunzi_eval.stats.bradley_terry import Meeting, Rating, Scale, connected, fit

Opinion = dict[str, tuple[float, float]]


@dataclass(frozen=True)
class Ratings:
    """Rate agents by all games in the JSON files of `gunzi arena`.

    example: gunzi rating arena.json more.json
    """

    files: Positional[tuple[Path, ...]] = ()
    """Files that gunzi arena --json wrote, under the same rules and start states."""
    anchor: str = "uniform"
    """The agent that stands at 0; all others must be linked to it by games."""
    openskill: bool = False
    """Give openskill's ratings besides, averaged over orders of the games."""
    seed: int = 0
    """Names the orders of games that openskill is averaged over."""
    markdown: bool = False
    """Print the ratings as a Markdown table."""
    json: Path | None = None
    """Write the ratings to this file as JSON."""


@dataclass(frozen=True)
class Pool:
    """All meetings of some files, and what they were played under."""

    rules: str
    digest: str
    starts: int
    meetings: tuple[Meeting, ...]


def read(files: Sequence[Path]) -> Pool:
    """The meetings of some files; an agent against itself says nothing and is left out.

    Raises:
        UsageError: a file is none of the arena's, is of other rules or start states than the first, or has a pair
            that was there with the same seed.
    """
    first: dict[str, Any] = {}
    met: dict[tuple[frozenset[str], int], Path] = {}
    meetings = []
    for file in files:
        content, found = _read_one(file)
        first = first or content
        for key, what in (("rules_digest", "rules"), ("starts", "start states")):
            if content[key] != first[key]:
                theirs, ours = (f"{c['rules']}, {key} {c[key]}" for c in (content, first))
                raise UsageError(f"{file} has other {what} ({theirs}) than {files[0]} ({ours}): rate them apart")
        for meeting in found:
            if meeting.a == meeting.b:
                continue
            pair = (frozenset((meeting.a, meeting.b)), content["seed"])
            if pair in met:
                raise UsageError(
                    f"{file}: {meeting.a} and {meeting.b} with seed {content['seed']} are in {met[pair]} already; "
                    "the same deals must not count twice"
                )
            met[pair] = file
            meetings.append(meeting)
    if not meetings:
        raise UsageError(f"{', '.join(map(str, files))}: no pair of two different agents")
    return Pool(first["rules"], first["rules_digest"], first["starts"], tuple(meetings))


def _read_one(file: Path) -> tuple[dict[str, Any], list[Meeting]]:
    try:
        content = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{file}: is no JSON; give files that gunzi arena --json wrote") from None
    try:
        types = {"rules": str, "rules_digest": str, "starts": int, "seed": int, "pairs": list}
        if any(type(content[key]) is not kind for key, kind in types.items()):
            raise TypeError
        return content, [_meeting(file, pair) for pair in content["pairs"]]
    except (KeyError, TypeError):
        raise UsageError(f"{file}: is no file of gunzi arena --json, or one of an older version") from None


def _meeting(file: Path, pair: dict[str, Any]) -> Meeting:
    a, b, deals, won = pair["a"], pair["b"], pair["deals"], pair["hands_won"]
    mean, low, high = (won[key] for key in ("mean", "low", "high"))
    if not (isinstance(a, str) and isinstance(b, str) and type(deals) is int):
        raise TypeError
    if low is None or high is None or deals < 2:
        raise UsageError(f"{file}: {a} and {b} met in {deals} deal: a rating needs two or more a pair")
    numbers = (float(low), float(mean), float(high))
    if not all(math.isfinite(x) for x in numbers) or not 0 <= numbers[0] <= numbers[1] <= numbers[2] <= 1:
        raise UsageError(f"{file}: hands won by {a} against {b} are {mean} [{low}, {high}]: no share with its interval")
    return Meeting(a, b, deals, numbers[1], numbers[0], numbers[2])


def check_linked(meetings: Sequence[Meeting], anchor: str) -> None:
    """Refuse agents that no chain of games links to the anchor, by name."""
    names = {name for m in meetings for name in (m.a, m.b)}
    if anchor not in names:
        raise UsageError(f"--anchor {anchor}: the agents of these files are {', '.join(sorted(names))}")
    if apart := sorted(names - connected(meetings, anchor)):
        raise UsageError(
            f"no games link {', '.join(apart)} to {anchor}, so no scale holds them all: add a file in which one of "
            "them meets one of the others, or choose another --anchor"
        )


def interval(rating: Rating) -> str:
    """A rating's interval as text.

    >>> interval(Rating("a", 104.6, 80.2, 129.0)), interval(Rating("b", 900.0, 850.4, None))
    ('[80, 129]', '[850, no bound]')
    """
    bounds = ("no bound" if x is None else format(round(x) + 0, "d") for x in (rating.low, rating.high))
    return f"[{', '.join(bounds)}]"


def _rows(scale: Scale, opinion: Opinion | None) -> list[list[str]]:
    deals = {r.name: sum(m.deals for m in scale.meetings if r.name in (m.a, m.b)) for r in scale.ratings}
    rows = [["agent", "Elo", "95 % interval", "deals", *(["openskill"] if opinion else [])]]
    for r in scale.ratings:
        row = [r.name, format(round(r.rating) + 0, "d"), interval(r), str(deals[r.name])]
        rows.append([*row, f"{opinion[r.name][0]:.0f} ± {opinion[r.name][1]:.0f}"] if opinion else row)
    return rows


def markdown_text(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells, a heading first, as a Markdown table; what Markdown would read in a name escaped."""
    lines = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    lines.insert(1, "|---|" + "---:|" * (len(rows[0]) - 1))
    return "\n".join(lines)


def fit_text(scale: Scale) -> str:
    """How well one scale fits, and which ratings are bounds."""
    meeting, predicted, miss = scale.worst()
    lines = [
        f"largest miss: {meeting.a} took {100 * meeting.share:.1f} % of {meeting.b}, the scale says "
        f"{100 * predicted:.1f} % (z = {miss:+.1f})"
    ]
    for r in scale.ratings:
        if r.low is None or r.high is None:
            lines.append(f"{r.name}: all deals that link it to {scale.anchor} went one way, its rating is a bound")
    return "\n".join(lines)


def as_json(pool: Pool, scale: Scale, opinion: Opinion | None) -> str:
    """The ratings best first, and each meeting with the share that they predict."""
    content = {
        "rules": pool.rules,
        "rules_digest": pool.digest,
        "starts": pool.starts,
        "anchor": scale.anchor,
        "ratings": [
            asdict(r) | ({"openskill": dict(zip(("mean", "spread"), opinion[r.name]))} if opinion else {})
            for r in scale.ratings
        ],
        "pairs": [
            {"a": m.a, "b": m.b, "deals": m.deals, "hands_won": m.share, "predicted": p}
            for m, p in zip(scale.meetings, scale.predicted)
        ],
    }
    return json.dumps(content, indent=2, allow_nan=False) + "\n"


def main(argv: list[str]) -> int:
    """``gunzi rating``."""
    config = parse(Ratings, argv, "rating")
    if not config.files:
        raise UsageError("name one or more files that gunzi arena --json wrote")
    check_seed(config.seed)
    check_writable(config.json, "--json")
    pool = read(config.files)
    check_linked(pool.meetings, config.anchor)
    scale = fit(pool.meetings, config.anchor)
    opinion = openskill_ratings.ratings(pool.meetings, config.anchor, config.seed) if config.openskill else None
    rows = _rows(scale, opinion)
    if config.markdown:
        print(markdown_text(rows))
    else:
        print(f"rating: {len(rows) - 1} agents, {len(pool.meetings)} pairs; rules {pool.rules}, {config.anchor} = 0")
        print(table_text(rows))
        print(fit_text(scale))
    if config.json is not None:
        write_whole(config.json, as_json(pool, scale, opinion))
        print(f"ratings written to {config.json}")
    say_next("gunzi arena --help to play more of them")
    return 0
