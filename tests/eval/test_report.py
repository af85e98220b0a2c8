"""The report: every figure is the JSON's, and names are text."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from typing import Any

import pytest

from gunzi_env.rules import Rules
from gunzi_eval.matches import charts, report
from gunzi_eval.matches.figures import Pair, as_json
from gunzi_eval.stats.intervals import Interval
from tests.eval.test_figures import invented

NASTY = "<script>alert(1)</script>|[x](http://y)`*\x07"


class Page(HTMLParser):
    """Headings, the tables' cells, and all text outside of them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.text: list[str] = []
        self.tags: list[str] = []
        self._open: list[str] = []
        self._heading = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._open.append(tag)
        if tag == "h2":
            self._heading = ""
        if tag == "tr":
            self.tables.setdefault(self._heading, []).append([])
        if tag in ("td", "th"):
            self.tables[self._heading][-1].append("")
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attrs)

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        inside = self._open[-1] if self._open else ""
        if inside == "h2":
            self._heading += data
        elif inside in ("td", "th"):
            self.tables[self._heading][-1][-1] += data
        else:
            self.text.append(data)


@pytest.fixture(scope="module")
def content() -> dict[str, Any]:
    """Three agents, one of an unfriendly name; one pair with matches, one with a single deal."""
    import numpy as np

    pairs = [
        Pair.of(("a", "b"), invented(40, 1), np.array([0.5, 1.0, 0.25])),
        Pair.of(("a", NASTY), invented(7, 2)),
        Pair.of(("b", NASTY), invented(1, 3)),
    ]
    text = as_json(Rules.preset("dalian"), 7, pairs, rotations=True, interval="student", until=None)
    return dict(json.loads(text))


def numbers(cell: str) -> list[float]:
    return [float(number) for number in re.findall(r"[-+]?\d+\.?\d*", cell)]


def agrees(cell: str, found: dict[str, Any] | None, digits: int, scale: float = 1.0) -> bool:
    """Does a cell show this interval, to the digits that it has?"""
    if found is None:
        return cell == "-"
    expected = [found[key] * scale for key in ("mean", "low", "high") if found[key] is not None]
    return ("one deal" in cell) == (found["low"] is None) and numbers(cell) == pytest.approx(
        expected, abs=0.5000001 * 10**-digits
    )


def check_tables(tables: dict[str, list[list[str]]], pairs: list[dict[str, Any]], nasty: str) -> None:
    """Every cell of every table against the JSON."""
    shown = {"a": "a", "b": "b", NASTY: nasty}
    levels = {(pair["a"], pair["b"]): pair["levels"]["mean"] for pair in pairs}
    cross = tables["Cross table"]
    names = ["a", "b", NASTY]
    assert cross[0] == ["", *map(shown.get, names)]
    for row, mine in zip(cross[1:], names, strict=True):
        assert row[0] == shown[mine]
        for cell, other in zip(row[1:], names, strict=True):
            if mine == other:
                assert cell == ""
            else:
                mean = levels.get((mine, other), -levels.get((other, mine), 0.0))
                assert float(cell) == pytest.approx(mean, abs=0.005001)
    for pair, head, kitty in zip(pairs, tables["Pairs"][1:], tables["Kitty and seats"][1:], strict=True):
        who = [shown[pair["a"]], shown[pair["b"]]]
        assert head[:3] == [*who, str(pair["deals"])] and kitty[:2] == who
        assert agrees(head[3], pair["levels"], 2) and agrees(head[4], pair["points"], 1)
        assert agrees(head[5], pair["hands_won"], 1, 100) and agrees(head[6], pair["matches_won"], 1, 100)
        assert agrees(kitty[2], pair["kitty"]["jokers"], 3) and agrees(kitty[3], pair["kitty"]["dry"], 1, 100)
        assert agrees(kitty[4], pair["seats"]["levels"], 2)
        assert kitty[5] == "-" if pair["seats"]["z"] is None else float(kitty[5]) == round(pair["seats"]["z"], 2)
        roles = [row for row in tables["By role"][1:] if row[:2] == who]
        for row, (role, found) in zip(roles, pair["roles"].items(), strict=True):
            assert row[2:4] == [role, str(found["hands"])]
            assert agrees(row[4], found["levels"], 2) and agrees(row[5], found["points"], 1)
            assert agrees(row[6], found["hands_won"], 1, 100)
        for side, other in (("a", "b"), ("b", "a")):
            (row,) = (row for row in tables["By phase"][1:] if row[:2] == [shown[pair[side]], shown[pair[other]]])
            for cell, phase in zip(row[2:], ("bid", "dig", "guard", "blood"), strict=True):
                digits, scale = (2, 1) if phase == "blood" else (1, 100)
                assert agrees(cell, pair["phases"][phase][side], digits, scale)
        spread = tables[f"{who[0]} - {who[1]}: distributions"][1:]
        for kind in ("levels", "points"):
            found = {value: int(count) for which, value, count in spread if which == kind}
            assert found == pair["distributions"][kind]


def test_every_figure_of_the_page_is_the_jsons(content: dict[str, Any]) -> None:
    page = Page(report.as_html(content))
    check_tables(page.tables, content["pairs"], NASTY.replace("\x07", "\\x07"))
    assert len(page.tables) == 5 + 3
    about = next(text for text in page.text if text.startswith("Rules dalian"))
    assert content["rules_digest"] in about and "seed 7" in about and "all four rotations" in about


def test_the_page_stands_by_itself_and_names_are_text(content: dict[str, Any]) -> None:
    text = report.as_html(content)
    page = Page(text)
    assert not {"script", "link", "img", "iframe", "b"} & set(page.tags)
    assert text.count("http") == text.count("http://www.w3.org/2000/svg") + text.count("http://y")
    assert page.tags.count("svg") == 1 + 1 + 4 + 2 * 3
    for svg in re.findall(r"<svg.*?</svg>", text, re.S):
        ElementTree.fromstring(svg)
    assert "\x07" not in text


def test_charts_draw_what_they_are_given() -> None:
    svg = ElementTree.fromstring(charts.bars("t", {"-20": 1, "0": 4, "40": 2}, 20))
    space = {"s": "http://www.w3.org/2000/svg"}
    heights = [float(bar.attrib["height"]) for bar in svg.findall("s:rect", space)]
    assert heights == [30.0, 120.0, 0.0, 60.0]  # 20 never came
    assert [bar.findtext("s:title", None, space) for bar in svg.findall("s:rect", space)][2] == "20: 0"
    svg = ElementTree.fromstring(
        charts.whiskers("t", [("x", Interval(1.0, 0.0, 2.0), "1"), ("y", Interval(-2.0, None, None), "-2")], 0.0)
    )
    x = [float(dot.attrib["cx"]) for dot in svg.findall("s:circle", space)]
    middle, bar = svg.findall("s:line", space)
    assert x[1] < float(middle.attrib["x1"]) == float(bar.attrib["x1"]) < x[0] < float(bar.attrib["x2"])
    assert float(bar.attrib["x2"]) - x[0] == pytest.approx(x[0] - float(bar.attrib["x1"]), abs=0.2)


def test_markdown_has_the_same_tables(content: dict[str, Any]) -> None:
    text = report.as_markdown(content)
    tables: dict[str, list[list[str]]] = {}
    heading = ""

    def plain(cell: str) -> str:
        return re.sub(r"\\(.)", r"\1", cell.strip())

    for line in text.splitlines():
        if line.startswith("## "):
            heading = plain(line[3:])
        elif line.startswith("|") and "---" not in line:
            # a bar after a backslash belongs to the text
            tables.setdefault(heading, []).append([plain(cell) for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
    check_tables(tables, content["pairs"], plain(NASTY.replace("\x07", "\\\\x07")))
    assert "<script" not in text.replace("\\<script", "") and "](" not in text
