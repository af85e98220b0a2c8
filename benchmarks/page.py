"""Write the figures of benchmarks/results.json into docs/performance.md and its plot: ``python -m benchmarks.page``.

The text between ``<!-- figures: NAME -->`` and the next ``<!-- end -->`` is generated. The rest is written by hand.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping

from benchmarks import results
from benchmarks.plot import draw, shows
from benchmarks.ratios import missing_lines, rate_table, ratio_table
from benchmarks.results import Section, short, table
from benchmarks.scaling import scaling_table

PAGE = results.ROOT / "docs" / "performance.md"
PLOT = results.ROOT / "docs" / "performance.svg"

_PART = re.compile(r"(?<=<!-- figures: )(\w+)( -->\n)(.*?)(?=<!-- end -->)", re.DOTALL)


def _ratios(sections: dict[str, Section]) -> str:
    section = sections["peers"]
    lines = [ratio_table(section), ""]
    lines += [f"{line}.\n" for line in missing_lines(section)]
    return "\n".join([*lines, _machine(section, "rounds")])


def _rates(sections: dict[str, Section]) -> str:
    return rate_table(sections["peers"])


def _ours(sections: dict[str, Section]) -> str:
    section = sections["ours"]
    sizes = [
        [f"{int(num):,}", short(engine), short(section["observed"][num])] for num, engine in section["engine"].items()
    ]
    sizes.sort(key=lambda row: int(row[0].replace(",", "")))
    memory = section["memory"]
    single = [
        ["AEC `env()`, decisions/s", short(section["aec"])],
        ["AEC `raw_env()`, decisions/s", short(section["aec_raw"])],
        ["`clone()` of one table, µs", f"{section['clone_us']:.1f}"],
        ["1,000 copies of one table in one call, ms", f"{section['copies']:.2f}"],
        ["1,000 copies with a determinised world each, ms", f"{section['worlds']:.2f}"],
        ["dealing one hand, in a batch, µs", f"{section['deal_ns'] / 1e3:.2f}"],
        ["state per table, bytes", f"{memory['state']:,.0f}"],
        ["observation and mask per table, bytes", f"{memory['observation'] + memory['mask']:,.0f}"],
        ["process growth at N = 16,384, bytes per table", f"{memory['resident']:,.0f}"],
    ]
    phases = [[cost["phase"], f"{cost['share']:.1%}", f"{cost['ns']:,.0f}"] for cost in section["phases"]]
    return "\n\n".join(
        [
            table(["N", "engine, decisions/s", "with observation and mask"], sizes, text=()),
            table(["", "figure"], single),
            table(["phase", "share of decisions", "ns per decision"], phases),
            _machine(section, "repeats"),
        ]
    )


def _scaling(sections: dict[str, Section]) -> str:
    return scaling_table(sections["scaling"]) + "\n\n" + _machine(sections["scaling"], "repeats")


def _machine(section: Section, what: str) -> str:
    return f"Measured on: {section['machine']}; {section[what]} {what} of {section['seconds']:g} s."


Parts = Mapping[str, Callable[[dict[str, Section]], str]]
"""Functions that write each generated part of a page, by name."""

PARTS: Parts = {
    "ratios": _ratios,
    "rates": _rates,
    "ours": _ours,
    "scaling": _scaling,
}


def render(text: str, sections: dict[str, Section], parts: Parts = PARTS) -> str:
    """Return the page with its generated parts updated. Raises KeyError for an unknown part or a missing section."""
    return _PART.sub(lambda part: f"{part[1]}{part[2]}{parts[part[1]](sections)}\n", text)


def main() -> int:
    """Write the page. Redraw the plot only if its figures have changed."""
    sections = results.load()
    PAGE.write_text(render(PAGE.read_text(encoding="utf-8"), sections), encoding="utf-8")
    if not shows(PLOT, sections["scaling"]):
        draw(sections["scaling"], PLOT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
