"""Tables of rates and of ratios between cases."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from benchmarks.cases import LABELS
from benchmarks.results import Section, short, table


@dataclass(frozen=True)
class Row:
    """A ratio of two rates: our case divided by the fastest of theirs, with its optional minimum and aim."""

    label: str
    ours: str
    theirs: tuple[str, ...]
    at_least: float | None = None
    aim: float | None = None


ROWS = (
    Row("engine : OpenSpiel spades from Python", "engine", ("openspiel-spades-plain",), 5, 10),
    Row("engine : OpenSpiel spades from Python, its loop tuned", "engine", ("openspiel-spades",)),
    Row(
        "engine : OpenSpiel's C++ rollouts of a trick-taking game",
        "engine", ("openspiel-spades-rollouts", "openspiel-bridge-rollouts"), 0.25, 0.5,
    ),
    Row(
        "with observation and mask : OpenSpiel bridge with both in numpy buffers",
        "observed", ("openspiel-bridge-observed-plain",), 5, 10,
    ),
    Row("with observation and mask : the same, its loop tuned", "observed", ("openspiel-bridge-observed",)),
    Row("AEC `env()` : PettingZoo connect four `env()`", "aec", ("connect-four",), 0.35, 0.8),
    Row("AEC `raw_env()` : PettingZoo connect four `raw_env()`", "aec-raw", ("connect-four-raw",), 0.35, 0.8),
    Row("AEC `raw_env()` : RLCard dou dizhu `env.step`", "aec-raw", ("rlcard-doudizhu",), 1, 2),
    Row("two worker processes : two loops apart", "two-workers", ("two-loops",), 0.9, 0.97),
)  # fmt: skip

MEMORY_AT_MOST, MEMORY_AIM = 4000, 2000
"""Bytes per table, including the observation and mask buffers."""


@dataclass(frozen=True)
class Ratio:
    """The figures of a row, or in ``missing`` the reason why there are none."""

    median: float = 0.0
    low: float = 0.0
    high: float = 0.0
    missing: str = ""


def ratio(row: Row, cases: dict[str, Section]) -> Ratio:
    """Return the median and range of the per-round ratios. Within a round both sides see the same load."""
    present = [name for name in row.theirs if _missing(name, cases) is None]
    reason = _missing(row.ours, cases) or (None if present else _missing(row.theirs[0], cases))
    if reason:
        return Ratio(missing=reason)
    fastest = [max(rates) for rates in zip(*(cases[name]["rates"] for name in present), strict=True)]
    by_round = [ours / theirs for ours, theirs in zip(cases[row.ours]["rates"], fastest, strict=True)]
    return Ratio(statistics.median(by_round), min(by_round), max(by_round))


def _missing(name: str, cases: dict[str, Section]) -> str | None:
    """Return the reason why a case has no figures, or None if it has."""
    if name not in cases:
        return f"{name}: not run"
    error = cases[name].get("error")
    return f"{name}: {error}" if error else None


def _verdict(median: float, at_least: float | None, aim: float | None) -> str:
    if at_least is None or aim is None:
        return "-"
    return "aim" if median >= aim else "yes" if median >= at_least else "**no**"


def ratio_table(section: Section) -> str:
    """Return the Markdown table of ratios and memory, with minimum and aim of each."""
    rows = []
    for row in ROWS:
        found = ratio(row, section["entrants"])
        if found.missing:
            figures = ["-", "-", "-"]
        else:
            figures = [_figure(found.median), f"{_figure(found.low)}..{_figure(found.high)}"]
            figures.append(_verdict(found.median, row.at_least, row.aim))
        bars = ["-" if bar is None else f"{bar:g}" for bar in (row.at_least, row.aim)]
        rows.append([row.label, *figures[:2], *bars, figures[2]])
    size = section["memory"]["bytes"]
    verdict = _verdict(-size, -MEMORY_AT_MOST, -MEMORY_AIM)
    limits = [f"at most {MEMORY_AT_MOST:,}", f"{MEMORY_AIM:,}"]
    rows.append(["memory per table with observation and mask, bytes", f"{size:,.0f}", "-", *limits, verdict])
    return table(["ours : theirs", "median", "min..max", "minimum", "aim", "reached"], rows)


def _figure(value: float) -> str:
    return f"{value:.2f}" if value < 9.995 else f"{value:.1f}"


def rate_table(section: Section) -> str:
    """Return the Markdown table of decisions per second of each case, or the reason why there is none."""
    rows = []
    for name, case in section["entrants"].items():
        rates = case.get("rates")
        if case.get("error") or not rates:
            rows.append([LABELS.get(name, name), "-", "-", case.get("error", "not run")])
            continue
        spread = f"{short(min(rates))}..{short(max(rates))}"
        rows.append([LABELS.get(name, name), short(statistics.median(rates)), spread, case["note"]])
    return table(["case", "decisions/s", "min..max", "settings"], rows, text=(0, 3))


def missing_lines(section: Section) -> list[str]:
    """Return one line for each row of the ratio table that has no figure."""
    found = [(row, ratio(row, section["entrants"]).missing) for row in ROWS]
    return [f"{row.label}: no figure, {reason}" for row, reason in found if reason]
