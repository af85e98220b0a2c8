"""What the commands share: arguments from a documented dataclass, typed usage errors, whole files or none."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from gunzi_env import files
from gunzi_env.rules import Rules, RulesError, load_rules

T = TypeVar("T")

MAX_SEED = 2**63 - 1


class UsageError(ValueError):
    """The command line asks for something that cannot be; the message names it and what is allowed."""

    exit_code = 2


def parse(config: type[T], argv: Sequence[str], command: str) -> T:
    """``config``, a dataclass whose docstrings are the help, filled from ``argv``; usage errors and ``--help`` exit."""
    import tyro

    with tyro_errors():
        return tyro.cli(config, args=list(argv), prog=f"gunzi {command}")


@contextlib.contextmanager
def tyro_errors(error: Callable[[str], Exception] = UsageError) -> Iterator[None]:
    """Around a call of tyro: its boxed complaint about the command line becomes the one line of an ``error``.

    ``--help`` still ends in ``SystemExit(0)``, its text on stdout.
    """
    stderr = io.StringIO()
    try:
        with contextlib.redirect_stderr(stderr):
            yield
    except SystemExit as end:
        if end.code in (None, 0):
            raise
        raise error(one_line(stderr.getvalue())) from None
    sys.stderr.write(stderr.getvalue())  # warnings about a command line that was accepted


_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_RULE = re.compile(r"[\s─━\-+]*")


def one_line(box: str) -> str:
    """The sentences of one of tyro's boxes: what is wrong, what is missing or similar; the options' help is left out.

    >>> one_line("╭─ Value error ─────────────╮\\n│ Error parsing --seed: 'x' │\\n╰───────────────────────────╯")
    "Error parsing --seed: 'x'"
    """
    sections: list[list[str]] = [[]]
    for line in _COLOUR.sub("", box).splitlines()[1:-1]:  # without the frame, blank in ASCII
        text = line.strip("│|").removeprefix(" ").rstrip()
        if _RULE.fullmatch(text):
            sections.append([])
        elif not text.startswith(" " * 8):  # so deep is only the help of an option
            sections[-1].append(text)
    sentences = []
    for section in sections:
        words = " ".join(text.strip() for text in section if not text.startswith("    "))
        deep = [text.strip() for text in section if text.startswith("    ")]
        # Below this heading the help is no deeper than the option.
        options = ", ".join(deep[:1] if words == "Argument helptext:" else deep)
        if not words.startswith("For full helptext") and (words or options):
            words = words.replace("Argument helptext:", "expected").replace("Perhaps you meant:", "perhaps you meant")
            sentences.append(f"{words} {options}".strip().removesuffix("."))
    if len(sentences) == 1 and sentences[0].startswith("Unrecognized"):
        sentences.append("--help lists those there are")
    return "; ".join(sentences) or "the command line cannot be read"


def checked_rules(spec: str) -> Rules:
    """The rules of a preset's name or a TOML file.

    Raises:
        UsageError: neither is there, or the file holds no valid rules.
    """
    try:
        return load_rules(spec)
    except RulesError:
        raise
    except (OSError, ValueError) as error:
        raise UsageError(f"--rules {spec}: {error}; presets: {', '.join(Rules.presets())}") from None


def check_range(name: str, value: float, low: float, high: float) -> None:
    """Refuse a number outside low..high by name."""
    if not low <= value <= high:
        raise UsageError(f"{name} is {value}, allowed are {low} to {high}")


def check_seed(seed: int) -> None:
    """Refuse a seed that does not fit the counter-based generator."""
    check_range("--seed", seed, 0, MAX_SEED)


def check_writable(path: Path | None, option: str) -> None:
    """Refuse a file that could not be written, before the work that would be lost is done."""
    if path is None:
        return
    if path.is_dir():
        raise UsageError(f"{option} {path}: is a folder, give a file")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise UsageError(f"{option} {path}: there is no folder {folder.name!r} to write to")
    temporary = files.temporary_name(path)
    try:  # Permission bits do not say all: the file system may refuse. So a file is made, as it will be later.
        temporary.touch()
        temporary.unlink()
    except OSError as error:
        raise UsageError(f"{option} {path}: cannot write there: {error.strerror or error}") from None


def write_whole(path: Path, text: str) -> None:
    """Write a command's output file with :func:`gunzi_env.files.write_whole`.

    Raises:
        UsageError: it cannot be written; an older file is unchanged.
    """
    try:
        files.write_whole(path, text)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None


def say_next(text: str) -> None:
    """Name the next useful command; on stderr, so that a command's output can be piped."""
    sys.stdout.flush()
    print(f"next: {text}", file=sys.stderr)
