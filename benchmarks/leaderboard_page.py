"""Write the tables of docs/leaderboard.md from docs/leaderboard.json: ``python -m benchmarks.leaderboard_page``.

A stored result counts only if its rules, start states, seed, bots and number of deals match the current definition of
the pairing. Otherwise the pairing is listed as "not played".
"""

from __future__ import annotations

import sys
from functools import partial

from benchmarks import page, pairings, results
from benchmarks.pairings import COSTS, MEASURED, SEED, Pairing
from benchmarks.results import Section, table
from gunzi_env.published import starts
from gunzi_env.rules import Rules
from gunzi_eval.stats.bradley_terry import PairResult, connected, fit
from gunzi_eval.stats.intervals import Interval, format_interval

RESULTS = results.ROOT / "docs" / "leaderboard.json"
PAGE = results.ROOT / "docs" / "leaderboard.md"
ANCHOR = "uniform"
NOT_PLAYED, NOT_MEASURED = "not played", "not measured"


def played(pairing: Pairing, sections: dict[str, Section]) -> Section | None:
    """Return the stored results of a pairing, or None if they do not match its definition."""
    found = sections.get(pairing.name)
    mine = {
        "rules_digest": Rules.preset(pairing.rules).digest,
        "starts": starts.VERSION,
        "seed": SEED,
        "deals": pairing.deals,
        "a": pairing.a,
        "b": pairing.b,
    }
    return found if found is not None and all(found[key] == value for key, value in mine.items()) else None


def _preset(rules: str, sections: dict[str, Section]) -> str:
    found = {pairing: played(pairing, sections) for pairing in pairings.PAIRINGS if pairing.rules == rules}
    there = [section for section in found.values() if section is not None]
    bots = sorted({section["bots"] for section in there})
    about = f"Rules `{rules}` ({Rules.preset(rules).digest}), start states version {starts.VERSION}, seed {SEED}"
    about += f"; digest of the bots' code: {', '.join(bots)}." if bots else "."
    heads = ["a", "b", "deals", "levels per hand", "points per hand", "hands won by a, %"]
    rows = [_row(pairing, section) for pairing, section in found.items()]
    return "\n\n".join(
        [f"{about} {len(there)} of {len(found)} pairings played.", table(heads, rows, (0, 1)), _scale(there)]
    )


def _row(pairing: Pairing, section: Section | None) -> list[str]:
    start = [f"`{pairing.a}`", f"`{pairing.b}`", f"{pairing.deals:,}"]
    if section is None:
        return [*start, NOT_PLAYED, NOT_PLAYED, NOT_PLAYED]
    levels, points, won = (Interval(**section[key]) for key in ("levels", "points", "hands_won"))
    return [*start, format_interval(levels, 3), format_interval(points, 1), format_interval(won, 1, 100, signed=False)]


def _scale(sections: list[Section]) -> str:
    """Rate all bots that are connected to the anchor through games."""
    pairs = [
        PairResult(s["a"], s["b"], s["deals"], *(s["hands_won"][k] for k in ("mean", "low", "high"))) for s in sections
    ]
    linked = connected(pairs, ANCHOR)
    pairs_there = [pair for pair in pairs if pair.a in linked]
    if not pairs_there:
        return f"No rating: no played game links a bot to `{ANCHOR}`."
    ratings = fit(pairs_there, ANCHOR)
    rows = [[f"`{r.name}`", format(round(r.rating) + 0, "d"), r.interval_text()] for r in ratings.ratings]
    lines = [table(["bot", "Elo", "95 % interval"], rows), ratings.fit_text().replace("\n", "; ") + "."]
    apart = sorted({name for pair in pairs for name in (pair.a, pair.b)} - linked)
    return "\n\n".join([*lines, *([f"Not linked to `{ANCHOR}` by games: {', '.join(apart)}."] if apart else [])])


def _costs(sections: dict[str, Section]) -> str:
    section = sections.get(COSTS)
    rows = []
    for name in MEASURED:
        decision = f"{section['us'][name]:.1f}" if section else NOT_MEASURED
        rows.append([f"`{name}`", "dalian", decision, "", ""])
    for pairing in pairings.PAIRINGS:
        if pairing.a.startswith("search("):
            found = played(pairing, sections)
            cpu = found["cpu"] if found is not None else None
            spent = [f"{cpu['seconds'] / cpu['hands']:.2f}", f"{cpu['hands']:,}"] if cpu else [NOT_MEASURED, ""]
            rows.append([f"`{pairing.a}`", pairing.rules, "", *spent])
    where = f"\n\nCost per decision measured on: {section['machine']}." if section else ""
    return table(["bot", "rules", "CPU µs per decision", "CPU s per hand", "hands"], rows, (0, 1)) + where


PARTS: page.Parts = {rules: partial(_preset, rules) for rules in dict.fromkeys(c.rules for c in pairings.PAIRINGS)} | {
    COSTS: _costs
}


def write() -> None:
    """Update the tables of the page."""
    text = page.render(PAGE.read_text(encoding="utf-8"), results.load(RESULTS), PARTS)
    PAGE.write_text(text, encoding="utf-8")


def main() -> int:
    """Write the page."""
    write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
