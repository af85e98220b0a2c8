"""The dispatcher: commands, exit codes, one line for what went wrong."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint, PackageNotFoundError
from pathlib import Path

import pytest

from gunzi_env import cli
from tests.support import ROOT


def gunzi(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gunzi_env.cli", *arguments],
        capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL,
    )  # fmt: skip


class Point:
    """Stands for an entry point whose command does what the test says."""

    def __init__(self, command: Callable[[list[str]], int]) -> None:
        self.command = command

    def load(self) -> Callable[[list[str]], int]:
        return self.command


def raising(error: BaseException) -> Point:
    def command(argv: list[str]) -> int:
        raise error

    return Point(command)


class TypedError(ValueError):
    exit_code = 3


class OurError(ValueError):
    """A ValueError of one of our packages that says no code."""


OurError.__module__ = "gunzi_train.config"


def test_help_lists_every_command() -> None:
    run = gunzi("--help")
    assert run.returncode == 0
    for name in ("demo", "rulebook", "bench", "train", "arena", "play", "replay"):
        assert f"\n  {name} " in run.stdout
    assert "(not installed)" not in run.stdout
    assert gunzi().stdout == run.stdout


def test_version() -> None:
    assert gunzi("--version").stdout.startswith("gunzi 0.")


def test_python_m_eval_is_the_same_command() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "eval", "--version"], capture_output=True, text=True, timeout=60, cwd=ROOT
    )
    assert run.stdout.startswith("gunzi 0."), run.stderr


def test_a_checkout_that_is_not_installed_has_its_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "entry_points", lambda group: [])
    monkeypatch.setattr(cli, "_declared", [])
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert not cli.commands()
    cli.use_checkout(ROOT)
    assert {"arena", "demo", "train"} <= set(cli.commands())
    assert sys.path[:2] == [str(ROOT), str(ROOT / "agents")]


def test_unknown_command_is_refused_with_the_list() -> None:
    run = gunzi("arean")
    assert run.returncode == 2
    assert run.stderr.startswith("gunzi: unknown command 'arean'; commands: arena, bench, compare, demo")
    assert run.stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["demo", "rulebook", "bench", "train", "arena", "play", "replay"])
def test_every_command_has_help_with_an_example(name: str) -> None:
    run = gunzi(name, "--help")
    assert run.returncode == 0, run.stderr
    assert f"gunzi {name}" in run.stdout.partition("xample")[2]


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (TypedError("file x\n is broken"), 3, "gunzi t: file x is broken\n"),
        (OurError("unknown key 'lr'"), 2, "gunzi t: unknown key 'lr'\n"),
        (KeyboardInterrupt(), 130, "gunzi t: interrupted\n"),
        (
            ModuleNotFoundError("No module named 'torch'", name="torch"),
            2,
            "gunzi t: this needs torch, which is not installed: pip install 'gunzi[train]'\n",
        ),
    ],
)
def test_typed_errors_are_one_line(
    error: BaseException, code: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run("t", raising(error), []) == code  # type: ignore[arg-type]
    assert capsys.readouterr().err == line


@pytest.mark.parametrize("error", [ValueError("of somebody else"), ModuleNotFoundError("x", name="x"), KeyError("k")])
def test_other_errors_are_not_hidden(error: Exception) -> None:
    with pytest.raises(type(error)):
        cli.run("t", raising(error), [])  # type: ignore[arg-type]


def test_a_closed_pipe_is_no_traceback() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "gunzi_env.cli", "rulebook", "order", "--level", "3", "--trump", "S"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    errors = process.stderr.read()
    process.wait(timeout=60)
    process.stderr.close()
    assert "Traceback" not in errors and "BrokenPipe" not in errors
    assert process.returncode == cli.CLOSED_PIPE


@pytest.mark.parametrize("arguments", [[], ["--help"], ["--version"], ["demo", "--help"]])
def test_a_closed_pipe_is_no_traceback_before_a_command_runs(arguments: list[str]) -> None:
    command = f'"{sys.executable}" -m gunzi_env.cli {" ".join(arguments)} | true; exit ${{PIPESTATUS[0]}}'
    run = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    # Who is quick may still write into the pipe before its reader is gone.
    assert (run.returncode, run.stderr) in ((cli.CLOSED_PIPE, ""), (0, ""))


def test_arena_into_a_closed_pipe_ends_as_other_commands_do() -> None:
    arena = [sys.executable, "-m", "gunzi_env.cli", "arena", "uniform", "uniform", "--deals", "1"]
    process = subprocess.Popen(arena, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stderr is not None
    assert process.stdout.readline().startswith("arena: ")
    process.stdout.close()
    assert "Traceback" not in process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == cli.CLOSED_PIPE


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("arguments", [["--version"], ["rulebook", "presets"]])
def test_a_full_disk_is_one_line(arguments: list[str]) -> None:
    with open("/dev/full", "w") as full:
        run = subprocess.run(
            [sys.executable, "-m", "gunzi_env.cli", *arguments],
            stdout=full, stderr=subprocess.PIPE, text=True, timeout=60,
        )  # fmt: skip
    assert run.returncode == cli.USAGE
    assert "cannot write the output: No space left" in run.stderr and run.stderr.count("\n") == 1


def test_an_oserror_of_another_file_is_not_hidden() -> None:
    with pytest.raises(OSError, match="elsewhere"):
        cli.run("t", raising(OSError(28, "elsewhere")), [])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["demo", "--seed", "x"], "gunzi demo: Error parsing --seed: invalid literal for int() with base 10: 'x'"),
        (["bench", "--see", "3"], "gunzi bench: Unrecognized options: --see, 3; perhaps you meant --seed INT"),
        (["rulebook", "nope"], "gunzi rulebook: Unrecognized options: nope; Available subcommands: legal, winner"),
        (["rulebook", "order"], "gunzi rulebook: Missing from gunzi rulebook order: --level STR, --trump STR"),
        (["play", "--record"], "gunzi play: Missing value for argument '--record'"),
        (["replay", ""], "gunzi replay: the name of the record is empty"),
        (["demo", "--agent", ""], "gunzi demo: unknown agent ''; there are uniform, greedy"),
        (["arena", "uniform", ""], "gunzi arena: unknown agent ''; there are uniform, greedy"),
    ],
)
def test_a_bad_command_line_is_one_line(arguments: list[str], line: str) -> None:
    run = gunzi(*arguments)
    assert run.returncode == 2
    assert run.stderr.startswith(line) and run.stderr.count("\n") == 1, run.stderr


def test_a_command_whose_module_is_missing_or_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stands in the list, and says so."""
    (tmp_path / "gunzi_broken.py").write_text("def main(:")
    monkeypatch.syspath_prepend(tmp_path)
    for module in ("gunzi_no_such_module", "gunzi_no_such.module", "gunzi_broken"):
        assert cli.summary(EntryPoint("x", f"{module}:main", "gunzi.commands")) == "(not installed)"


def test_a_checkout_that_is_not_installed_has_no_version(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def unknown(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(cli, "version", unknown)
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == "gunzi (not installed)\n"


def test_output_that_is_no_file_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """A notebook's, for one."""
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert cli.main(["--version"]) == 0


def test_an_exit_with_words_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "commands", lambda: {"x": raising(SystemExit("no"))})
    with pytest.raises(SystemExit, match="no"):
        cli.main(["x"])
