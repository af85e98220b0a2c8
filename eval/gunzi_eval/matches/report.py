"""Reports of a tournament: a table for the terminal, and an HTML page or Markdown made from the arena's JSON.

The page is self-contained: it loads no scripts, fonts or images.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gunzi_env.cli.text import printable, table_text
from gunzi_eval.matches import charts
from gunzi_eval.matches.figures import POINTS_A_BAR, Pair
from gunzi_eval.stats.intervals import Interval, format_interval

Content = dict[str, Any]

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
th, td { border: 1px solid #ccc; padding: .25rem .6rem; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
svg { display: block; margin: 1rem 0; font-size: 12px; }
svg .title { font-weight: bold; }
rect, circle { fill: #3b6ea5; } line { stroke: #3b6ea5; stroke-width: 2; } .middle { stroke: #aaa; stroke-width: 1; }
"""


def summary_text(pairs: Sequence[Pair], with_deals: bool = False) -> str:
    """Format the main results as a table for the terminal, optionally with the number of deals of each pair."""
    with_matches = any(pair.matches_won for pair in pairs)
    heading = ["a", "b", *(["deals"] if with_deals else []), "levels/hand", "points/hand", "hands won %"]
    heading += ["matches won %"] if with_matches else []
    rows = []
    for pair in pairs:
        row = [pair.a, pair.b, *([str(pair.deals)] if with_deals else [])]
        row += [format_interval(pair.levels, 2), format_interval(pair.points, 1)]
        shares = [pair.hands_won, *([pair.matches_won] if with_matches else [])]
        row += ["-" if share is None else format_interval(share, 1, 100, signed=False) for share in shares]
        rows.append(row)
    return f"mean [95 % interval] from a's view\n{table_text(heading, rows, left=2)}"


@dataclass(frozen=True)
class Section:
    """A table with a title and a note; a page adds charts and colours cells by ``shades[row][column]`` in -1..1."""

    title: str
    note: str
    header: tuple[str, ...]
    rows: list[list[str]]
    charts: tuple[str, ...] = ()
    shades: list[list[float]] | None = None


def _shares(interval: Content | None) -> str:
    return "-" if interval is None else format_interval(Interval(**interval), 1, 100, signed=False)


def _means(interval: Content | None, digits: int, signed: bool = True) -> str:
    return "-" if interval is None else format_interval(Interval(**interval), digits, signed=signed)


def _name(pair: Content) -> str:
    return f"{pair['a']} - {pair['b']}"


def sections(content: Content) -> list[Section]:
    """Return the sections of the report from the arena's JSON ``content``."""
    pairs = content["pairs"]
    return [_cross(pairs), _headline(pairs), _roles(pairs), _phases(pairs), _kitty(pairs), *map(_distribution, pairs)]


def _cross(pairs: Sequence[Content]) -> Section:
    names = list(dict.fromkeys(name for pair in pairs for name in (pair["a"], pair["b"])))
    cells = {}
    for pair in pairs:
        levels = pair["levels"]["mean"]
        cells[pair["a"], pair["b"]], cells[pair["b"], pair["a"]] = levels, -levels
    most = max(map(abs, cells.values())) or 1.0
    text = {key: _means({"mean": mean, "low": mean, "high": mean}, 2).partition(" ")[0] for key, mean in cells.items()}
    return Section(
        "Cross table",
        "Levels per hand, from the view of the agent on the left.",
        ("", *names),
        [[mine, *(text.get((mine, other), "") for other in names)] for mine in names],
        shades=[[0.0, *(cells.get((mine, other), 0.0) / most for other in names)] for mine in names],
    )


def _headline(pairs: Sequence[Content]) -> Section:
    rows = [
        [
            *(pair["a"], pair["b"], str(pair["deals"]), _means(pair["levels"], 2), _means(pair["points"], 1)),
            *(_shares(pair["hands_won"]), _shares(pair["matches_won"])),
        ]
        for pair in pairs
    ]
    lines = [(_name(pair), Interval(**pair["levels"]), _means(pair["levels"], 2)) for pair in pairs]
    return Section(
        "Pairs",
        "Means from a's view with 95 % intervals over deals.",
        ("a", "b", "deals", "levels/hand", "points/hand", "hands won %", "matches won %"),
        rows,
        (charts.whiskers("Levels per hand", lines, 0.0),),
    )


def _roles(pairs: Sequence[Content]) -> Section:
    rows, lines = [], []
    for pair in pairs:
        for role, found in pair["roles"].items():
            figures = [_means(found["levels"], 2), _means(found["points"], 1), _shares(found["hands_won"])]
            rows.append([pair["a"], pair["b"], role, str(found["hands"]), *figures])
            if found["points"] is not None:
                lines.append((f"{_name(pair)}, {role}", Interval(**found["points"]), figures[1]))
    return Section(
        "By role",
        "Hands in which a attacks, and hands in which it deals, from a's view.",
        ("a", "b", "a is", "hands", "levels/hand", "points/hand", "hands won %"),
        rows,
        (charts.whiskers("Points per hand by role", lines, 0.0),),
    )


_PHASES: dict[str, tuple[str, Callable[[Content | None], str]]] = {
    "bid": ("named the trump suit %", _shares),
    "dig": ("dug as attacker %", _shares),
    "guard": ("guarded as dealer %", _shares),
    "blood": ("blood won, cards/hand", lambda interval: _means(interval, 2, signed=False)),
}


def _phases(pairs: Sequence[Content]) -> Section:
    rows = []
    lines: dict[str, list[tuple[str, Interval, str]]] = {phase: [] for phase in _PHASES}
    for pair in pairs:
        for side in ("a", "b"):
            other = pair["b" if side == "a" else "a"]
            cells = []
            for phase, (_, form) in _PHASES.items():
                found = pair["phases"][phase][side]
                cells.append(form(found))
                if found is not None:
                    lines[phase].append((f"{pair[side]} (against {other})", Interval(**found), cells[-1]))
            rows.append([pair[side], other, *cells])
    return Section(
        "By phase",
        "Each agent against the other: hands whose trump suit its bid or shown joker named, kitties dug and guarded, "
        "and the tribute that it receives in the next hand.",
        ("agent", "against", *(heading for heading, _ in _PHASES.values())),
        rows,
        tuple(charts.whiskers(_PHASES[phase][0].capitalize(), found) for phase, found in lines.items() if found),
    )


def _kitty(pairs: Sequence[Content]) -> Section:
    rows = []
    for pair in pairs:
        seats = pair["seats"]
        z = "-" if seats["z"] is None else f"{seats['z']:.2f}"
        kitty = [_means(pair["kitty"]["jokers"], 3, signed=False), _shares(pair["kitty"]["dry"])]
        rows.append([pair["a"], pair["b"], *kitty, _means(seats["levels"], 2), z])
    return Section(
        "Kitty and seats",
        "Jokers in the kitty and dry pots; and the advantage of seats 0 and 2, averaged over both agents, in levels "
        "per hand and in standard errors (z): beyond 3 it is unlikely to be chance.",
        ("a", "b", "jokers/kitty", "dry pots %", "seats 0, 2", "z"),
        rows,
    )


def _distribution(pair: Content) -> Section:
    found = pair["distributions"]
    kinds = (("levels", 1), ("points", POINTS_A_BAR))
    return Section(
        f"{_name(pair)}: distributions",
        f"Number of hands by levels won by a, and by points rounded to {POINTS_A_BAR}.",
        ("figure", "value", "hands"),
        [[kind, value, str(count)] for kind, _ in kinds for value, count in found[kind].items()],
        tuple(charts.bars(f"{_name(pair)}: {kind} per hand", found[kind], step) for kind, step in kinds),
    )


def _about(content: Content) -> str:
    turned = ", each at all four rotations of its hands" if content["rotations"] else ""
    return (
        f"Rules {content['rules']} ({content['rules_digest']}), start states version {content['starts']}, seed "
        f"{content['seed']}. Every deal is played twice with the teams exchanged{turned}. Interval method: "
        f"{content['interval']}."
    )


def as_html(content: Content) -> str:
    """Format the HTML page."""
    shown = charts.shown
    parts = []
    for section in sections(content):
        head = "".join(f"<th>{shown(cell)}</th>" for cell in section.header)
        lines = []
        for number, row in enumerate(section.rows):
            shades = section.shades[number] if section.shades else [0.0] * len(row)
            cells = "".join(f"<td{_colour(shade)}>{shown(cell)}</td>" for cell, shade in zip(row, shades, strict=True))
            lines.append(f"<tr>{cells}</tr>")
        parts.append(
            f"<h2>{shown(section.title)}</h2>\n<p>{shown(section.note)}</p>\n{''.join(section.charts)}\n"
            f"<table>\n<tr>{head}</tr>\n{chr(10).join(lines)}\n</table>"
        )
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>gunzi arena</title>'
        f"<style>{_STYLE}</style></head>\n<body>\n<h1>Arena</h1>\n<p>{shown(_about(content))}</p>\n{body}\n"
        "</body>\n</html>\n"
    )


def _colour(shade: float) -> str:
    if not shade:
        return ""
    return f' style="background: hsl({140 if shade > 0 else 10} 60% {96 - 30 * abs(shade):.0f}%)"'


_MARKS = re.compile(r"([\\`*_(<>|&~])")
"""Characters with a meaning inside a line of Markdown; without the parenthesis there is no link."""


def _plain(text: str) -> str:
    return _MARKS.sub(r"\\\1", printable(text))


def as_markdown(content: Content) -> str:
    """Format the tables as Markdown, without charts."""
    parts = ["# Arena", _plain(_about(content))]
    for section in sections(content):
        heading, *rows = (" | ".join(map(_plain, row)) for row in (section.header, *section.rows))
        lines = [heading, " | ".join("---" for _ in section.header), *rows]
        parts += [f"## {_plain(section.title)}", _plain(section.note), "\n".join(f"| {line} |" for line in lines)]
    return "\n\n".join(parts) + "\n"


FORMS: dict[str, Callable[[Content], str]] = {".html": as_html, ".md": as_markdown}
"""Formats by the suffix of the file name."""
