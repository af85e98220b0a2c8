"""Documentation that cannot drift: the rules' text, clause numbers, commands and code blocks."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.support import ROOT

RULES = ROOT / "docs" / "rules.md"
# The statement of the rules this repository copies; it stands beside some checkouts.
ORIGINAL = ROOT.parent / "shared" / "rules" / "RULES.md"
SOURCES = ("gunzi_env", "agents", "train", "eval", "configs", "tests", "docs", "examples", "benchmarks")
CLAUSE = re.compile(r"\bR(\d+)\.(\d+)\b")


def clauses() -> set[tuple[int, int]]:
    """The (chapter, clause) numbers that docs/rules.md has."""
    found = set()
    chapter = 0
    for line in RULES.read_text(encoding="utf-8").splitlines():
        if heading := re.match(r"#+ ", line):
            number = re.match(r"## R(\d+) ", line)
            # "Settled cases" and the like belong to the chapter above; they hold no numbered clauses.
            chapter = int(number[1]) if number else (chapter if heading[0] == "### " else 0)
        elif chapter and (number := re.match(r"(\d+)\. ", line)):
            found.add((chapter, int(number[1])))
    return found


def cited() -> dict[tuple[int, int], str]:
    """Every clause cited in code, tests and documents, with one place where it is."""
    found = {}
    folders = [path for name in SOURCES if (path := ROOT / name).is_dir()]
    files = [f for folder in folders for f in folder.rglob("*") if f.suffix in {".py", ".md", ".toml", ".txt"}]
    for file in [*files, *ROOT.glob("*.md")]:
        if file == Path(__file__) or any(part.startswith(".") for part in file.relative_to(ROOT).parts):
            continue
        for match in CLAUSE.finditer(file.read_text(encoding="utf-8")):
            found[int(match[1]), int(match[2])] = str(file.relative_to(ROOT))
    return found


@pytest.mark.skipif(not ORIGINAL.exists(), reason="the original of the rules is not beside this checkout")
def test_rules_are_the_original_word_for_word() -> None:
    assert RULES.read_bytes() == ORIGINAL.read_bytes()


def test_rules_page_has_its_clauses() -> None:
    """A negative control of the parser: known counts of clauses by chapter."""
    found = clauses()
    counts = [sum(chapter == n for chapter, _ in found) for n in range(1, 10)]
    assert counts == [4, 6, 2, 8, 6, 6, 7, 4, 8]
    assert (5, 0) in found and (9, 9) not in found


def test_cited_clauses_exist() -> None:
    unknown = {place: f"R{clause[0]}.{clause[1]}" for clause, place in cited().items() if clause not in clauses()}
    assert not unknown
    assert len(cited()) > 20


@cache
def blocks(file: str) -> tuple[tuple[str, str], ...]:
    """(language, text) of each fenced block of a page; a page that is not there yet has none."""
    path = ROOT / file
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return tuple(re.findall(r"^```(\w*)[^\n]*\n(.*?)^```", text, re.M | re.S))


def shell_lines(file: str) -> list[str]:
    """The commands of a page, from shell blocks and indented blocks, without prompts and comments."""
    path = ROOT / file
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    fenced = [body for language, body in blocks(file) if language in {"sh", "bash", "console", "shell"}]
    indented = re.findall(r"^    (?:\$ )?((?:gunzi|make) .*)$", text, re.M)
    lines = "\n".join(fenced).replace("\\\n", " ").splitlines() + indented
    clean = [line.strip().removeprefix("$ ").partition(" #")[0].strip() for line in lines]
    return [line for line in clean if line and not line.startswith("#")]


PAGES = ("README.md", "CONTRIBUTING.md")
PAGES += tuple(f"docs/{name}.md" for name in ("proof", "performance", "leaderboard", "machines", "training"))
PYTHON_BLOCKS = [body for page in PAGES for language, body in blocks(page) if language == "python"]
COMMANDS = [line for page in PAGES for line in shell_lines(page)]
GUNZI = [line for line in COMMANDS if line.startswith("gunzi ")]
# Those that end by themselves in a few seconds are run; of the others the options are checked.
QUICK = {"demo", "rulebook"}


def gunzi(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gunzi_env.cli", *arguments],
        capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, cwd=ROOT,
    )  # fmt: skip


def test_blocks_are_found() -> None:
    """The README, once there, shows code and commands; the reader of pages sees the commands of CONTRIBUTING."""
    assert "make test" in shell_lines("CONTRIBUTING.md")
    if (ROOT / "README.md").exists():
        assert any(language == "python" for language, _ in blocks("README.md"))
        assert any(line.startswith("gunzi ") for line in shell_lines("README.md"))


@pytest.mark.parametrize("code", PYTHON_BLOCKS)
def test_code_blocks_run(code: str) -> None:
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, cwd=ROOT)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("line", [line for line in COMMANDS if line.startswith("make ")])
def test_make_targets_exist(line: str) -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    for word in shlex.split(line)[1:]:
        assert "=" in word or word in targets, f"{line}: no such target"


@pytest.mark.parametrize("line", GUNZI)
def test_commands_run_or_have_their_options(line: str) -> None:
    words = shlex.split(line)[1:]
    if words[0] in QUICK:
        run = gunzi(words)
        assert run.returncode == 0, run.stderr
        return
    run = gunzi([words[0], "--help"])
    assert run.returncode == 0, run.stderr
    for word in words[1:]:
        assert not word.startswith("--") or word.partition("=")[0] in run.stdout, f"{line}: no option {word}"
