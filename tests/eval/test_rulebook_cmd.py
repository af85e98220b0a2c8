"""The rulebook on the command line: the same answers as in Python, bad text in one line."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gunzi_env import cli, rulebook
from gunzi_eval.commands import rulebook as rulebook_command

HAND = ["--level", "3", "--trump", "S"]


def ask(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert rulebook_command.main(list(arguments)) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (["legal", *HAND, "--hand", "H9 H9 D4", "--lead", "HK HK"], "H9 H9\n"),
        (["legal", *HAND, "--hand", "H9 HT HJ", "--lead", "HK HK"], "H9 HJ\nH9 HT\nHT HJ\n"),
        (["legal", *HAND, "--hand", "H9 H9"], "H9\nH9 H9\n"),
        (["winner", *HAND, "--plays", "HK HK", "HA H4", "S5 S5", "H2 H2"], "3  H2 H2\n"),
        (["winner", "--level", "T", "--trump", "D", "--plays", "HK", "HK"], "0  HK\n"),
        (["dry", *HAND, "--kitty", "H4 H4 D9 CK C7 D3"], "yes\n"),
        (["dry", *HAND, "--kitty", "H4 H4 D9 CK C7 S4"], "no\n"),
        (["dry", *HAND, "--kitty", "H4 H4 D9 CK C7 D3", "--rules", "classic"], "no\n"),
        (["tribute", *HAND, "--hand", "BJ HA CA D9", "--blood", "2"], "CA BJ\nHA BJ\n"),
        (["tribute", *HAND, "--hand", "H5 HK", "--blood", "2"], "(no card)\n"),
        (["pickup", *HAND, "--kitty", "H4 D4 D9 CK C7 S5", "--number", "1"], "D4\nH4\n"),
        (["beats", "--new", "3xLJ:S", "--standing", "2xH"], "yes\n"),
        (["beats", "--new", "2xD", "--standing", "2xH"], "no\n"),
        (["beats", "--new", "3xLJ:S"], "no\n"),
        (["beats", "--new", "3xLJ:S", "--rules", "classic"], "yes\n"),
    ],
)
def test_answers(arguments: list[str], answer: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(capsys, *arguments) == answer


def test_settlement_has_every_field(capsys: pytest.CaptureFixture[str]) -> None:
    """R9's settled case: 120, dug, a big and a small joker."""
    arguments = [
        "settle",
        "--score",
        "120",
        "--dug",
        "--big",
        "1",
        "--small",
        "1",
        "--levels",
        "4",
        "5",
        "--dealer",
        "2",
    ]
    found = dict(line.split(maxsplit=1) for line in ask(capsys, *arguments).splitlines())
    result = rulebook.settle("dalian", 120, True, 1, 1, False, (4, 5), 2)
    assert found == {
        "winner": "attackers", "gain": "0 4", "levels": f"4 {result.levels[1]}", "next_dealer": "3", "blood": "3",
        "match_winner": "none",
    }  # fmt: skip


def test_order_is_the_rulebooks(capsys: pytest.CaptureFixture[str]) -> None:
    lines = ask(capsys, "order", "--level", "10", "--trump", "H", "--rules", "four_deck").splitlines()
    assert lines == [" ".join(group) for group in rulebook.strength_order("four_deck", 10, "H")]
    assert lines[-1] == "BJ" and sum(len(line.split()) for line in lines) == 54


def test_presets(capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(capsys, "presets") == "dalian\ndalian_dead\nclassic\nfour_deck\n"


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["legal", *HAND, "--hand", "H9 H1"], "'H1'"),
        (["legal", *HAND, "--hand", "H9 H9 H9 H9"], "4 copies of H9"),
        (["legal", *HAND, "--hand", "H9", "--lead", "HK HQ"], "'HK HQ'"),
        (["legal", "--level", "11", "--trump", "S", "--hand", "H9"], "'11'"),
        (["legal", "--level", "3", "--trump", "X", "--hand", "H9"], "'X'"),
        (["dry", *HAND, "--kitty", "H4 ZZ"], "'ZZ'"),
        (["dry", *HAND, "--kitty", "H4", "--rules", "dalain"], "'dalain'"),
        (["beats", "--new", "9xH"], "'9xH'"),
        (["settle", "--score", "7"], "score is 7"),
        (["pickup", *HAND, "--kitty", "H4", "--number", "2"], "n is 2"),
    ],
)
def test_bad_text_is_one_line_that_names_it(
    arguments: list[str], names: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run("rulebook", cli.commands()["rulebook"], arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("gunzi rulebook: ") and captured.err.count("\n") == 1 and names in captured.err


def test_examples_of_the_help_run() -> None:
    """Each question's docstring shows an example; all of them answer."""
    import shlex

    for name, question in rulebook_command.QUESTIONS.items():
        line = next(line.strip() for line in (question.__doc__ or "").splitlines() if "example: " in line)
        words = shlex.split(line.partition("example: gunzi ")[2])
        assert words[:2] == ["rulebook", name]
        assert rulebook_command.main(words[1:]) == 0


def test_command_line() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "gunzi_env.cli", "rulebook", "lgal"], capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 2 and "lgal" in run.stderr and "Traceback" not in run.stderr
