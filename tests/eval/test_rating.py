"""The rating command: what it reads, prints, writes and refuses."""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from gunzi_agents.uniform import Uniform
from gunzi_env import Rules
from gunzi_env.cli.options import UsageError
from gunzi_env.cli.text import table_text
from gunzi_eval.commands.rating import main
from gunzi_eval.matches.figures import as_json
from gunzi_eval.matches.tournament import measure

DIGEST = Rules.preset("dalian").digest


def pair(a: str, b: str, mean: float, half: float = 0.02, deals: int = 1000) -> dict[str, Any]:
    return {"a": a, "b": b, "deals": deals, "hands_won": {"mean": mean, "low": mean - half, "high": mean + half}}


def write(path: Path, *pairs: dict[str, Any], **changes: Any) -> str:
    content = {"rules": "dalian", "rules_digest": DIGEST, "starts": 1, "seed": 0, "pairs": list(pairs)} | changes
    path.write_text(json.dumps(content))
    return str(path)


@pytest.fixture
def two_files(tmp_path: Path) -> list[str]:
    one = write(tmp_path / "one.json", pair("greedy", "uniform", 0.9), pair("net|1", "uniform", 0.75))
    return [one, write(tmp_path / "two.json", pair("greedy", "net|1", 0.75), pair("net|1", "net|1", 0.5), seed=1)]


def test_files_are_pooled_whatever_their_order(two_files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    texts = set()
    for files in itertools.permutations(two_files):
        assert main([*files]) == 0
        texts.add(capsys.readouterr().out)
    (text,) = texts
    lines = text.splitlines()
    assert lines[0] == "rating: 3 agents, 3 pairs; rules dalian, uniform = 0"
    assert [line.split()[0] for line in lines[3:6]] == ["greedy", "net|1", "uniform"]
    assert lines[3].split()[1] == "382" and lines[5].split()[1:4] == ["0", "[0,", "0]"]
    assert lines[6].startswith("worst fit: ")


def test_json_and_markdown(two_files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "ratings.json"
    assert main([*two_files, "--json", str(file), "--markdown", "--anchor", "greedy"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["| agent | Elo | 95 % interval | deals |", "|---|---:|---:|---:|"]
    assert lines[3].startswith("| net\\|1 | -191 | [") and lines[3].endswith("] | 2000 |")
    content = json.loads(file.read_text())
    assert (content["rules_digest"], content["anchor"]) == (DIGEST, "greedy")
    assert [r["name"] for r in content["ratings"]] == ["greedy", "net|1", "uniform"]
    assert content["ratings"][0] == {"name": "greedy", "rating": 0.0, "low": 0.0, "high": 0.0}
    assert len(content["pairs"]) == 3 and content["pairs"][0]["predicted"] == pytest.approx(0.75, abs=1e-6)


def test_the_arenas_own_file_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = Rules.preset("dalian")
    found = [measure(("a", "uniform"), (Uniform(), Uniform()), rules, 4, seed=0)]
    file = tmp_path / "arena.json"
    file.write_text(as_json(rules, 0, found))
    assert main([str(file)]) == 0
    assert "[0, 0]" in capsys.readouterr().out.splitlines()[3]


def test_bounds_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    all_won = pair("best", "uniform", 1.0)
    all_won["hands_won"] |= {"low": 0.9, "high": 1.0}
    assert main([write(tmp_path / "f.json", all_won)]) == 0
    text = capsys.readouterr().out
    assert "[382, no bound]" in text and "best: one side won all deals that link it to uniform" in text


def test_openskill_gives_a_column_or_says_what_is_missing(
    two_files: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openskill")
    assert main([*two_files, "--openskill"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[-1] == "openskill"
    monkeypatch.setitem(sys.modules, "openskill.models", None)
    with pytest.raises(UsageError, match=r"pip install 'gunzi\[rating\]'"):
        main([*two_files, "--openskill"])


def test_refusals_name_the_file_and_the_reason(tmp_path: Path) -> None:
    fine = write(tmp_path / "fine.json", pair("greedy", "uniform", 0.9))

    def refused(*files: str, match: str, options: tuple[str, ...] = ()) -> None:
        with pytest.raises(UsageError, match=match):
            main([*files, *options])

    refused(match="name one or more files")
    refused(str(tmp_path / "none.json"), match=r"none\.json: No such file")
    other = write(tmp_path / "other.json", pair("x", "uniform", 0.9), rules="custom", rules_digest="ff")
    refused(fine, other, match=r"other\.json has other rules \(custom, rules_digest ff\) than .*fine\.json")
    later = write(tmp_path / "later.json", pair("x", "uniform", 0.9), starts=2)
    refused(fine, later, match=r"later\.json has other start states \(dalian, starts 2\)")
    again = write(tmp_path / "again.json", pair("uniform", "greedy", 0.1))
    refused(fine, again, match=r"again\.json: uniform and greedy with seed 0 are already in .*fine\.json")
    refused(fine, fine, match="greedy and uniform with seed 0")
    apart = write(tmp_path / "apart.json", pair("x", "y", 0.9))
    refused(fine, apart, match="no games link x, y to uniform")
    refused(fine, match="--anchor expert: the agents .* are greedy, uniform", options=("--anchor", "expert"))
    single = pair("x", "uniform", 0.5, deals=1)
    single["hands_won"] |= {"low": None, "high": None}
    refused(write(tmp_path / "single.json", single), match=r"single\.json: x and uniform played 1 deal")
    alone = write(tmp_path / "alone.json", pair("x", "x", 0.5))
    refused(alone, match=r"alone\.json: no pair of two different agents")
    refused(fine, match="--json", options=("--json", str(tmp_path)))


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "null", "[" * 100_000, '{"rules": 1}', "not\0text"],
)
def test_other_files_are_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "odd.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"odd\.json: not "):
        main([str(file)])


@pytest.mark.parametrize(
    "won",
    [
        {"mean": 1.5, "low": 0, "high": 2},
        {"mean": 0.5, "low": 0.6, "high": 0.7},
        {"mean": float("nan"), "low": 0, "high": 1},
        {"mean": 0.5, "low": 0.4, "high": float("inf")},
    ],
)
def test_shares_that_are_none_are_refused(tmp_path: Path, won: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="not a share and interval"):
        main([write(tmp_path / "f.json", pair("a", "uniform", 0.5) | {"hands_won": won})])


def test_text_of_a_table_is_aligned() -> None:
    assert table_text(["a", "bb"], [["ccc", "d"]]) == "a    bb\n───────\nccc   d"


def test_a_table_too_wide_for_the_terminal_is_printed_row_by_row() -> None:
    rows = [["x" * 50, "[bold]1"], ["y\x07", "2"]]
    wide = table_text(["agent", "Elo"], rows, width=80)
    assert wide.splitlines()[2:] == [f"{'x' * 50}  [bold]1", f"{'y' + chr(92) + 'x07':<50}        2"]
    narrow = table_text(["agent", "Elo"], rows, width=40)
    assert narrow.splitlines()[1:] == ["Elo    [bold]1", "", "agent  y\\x07", "Elo    2"]
