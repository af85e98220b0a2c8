"""Command-line options shared by all commands: parsing a dataclass, bounds, usage errors, and writing files atomically.

A command module declares its options as a dataclass and parses them with :func:`parse`::

    @dataclass(frozen=True)
    class Options:
        rules: RulesName = "dalian"
        seed: Seed = 0
        deals: Annotated[int, Between(1, 1000)] = 100
        \"\"\"Number of deals.\"\"\"

The docstring of the module is the description that ``--help`` prints, and its first line the summary in
``gunzi --help``. The docstrings of the fields are the help of the options.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated, TypeVar, get_type_hints

import tyro

from gunzi_env import files
from gunzi_env.rules import Rules, RulesError, load_rules

T = TypeVar("T")

_INDENT = "  "  # tyro joins lines that begin with a letter


@dataclass(frozen=True)
class Between:
    """Inclusive bounds of an option, declared as ``Annotated[int, Between(1, 10)]`` and checked by :func:`parse`."""

    low: float
    high: float


SEEDS = Between(0, 2**63 - 1)
"""Seeds that the counter-based generator accepts."""

Seed = Annotated[int, SEEDS, tyro.conf.arg(help="Seed of the deals and of all random choices.")]
RulesName = Annotated[
    str,
    tyro.conf.arg(help=f"A preset ({', '.join(Rules.presets())}) or a TOML file such as configs/rules/jack.toml."),
]


class UsageError(ValueError):
    """Invalid command line; the message names the option and what is allowed."""

    exit_code = 2


def parse(config: type[T], argv: Sequence[str], command: str) -> T:
    """Fill the dataclass ``config`` from ``argv`` and check its bounds.

    ``command`` is the name of a gunzi command, or a whole command such as ``python -m x.y``.

    Raises:
        UsageError: the command line cannot be parsed, or a number is out of bounds.
        SystemExit: with code 0 after ``--help``.
    """
    with tyro_errors():
        text = description(sys.modules[config.__module__].__doc__)
        prog = command if " " in command else f"gunzi {command}"
        options = tyro.cli(config, args=list(argv), prog=prog, description=text)
    check_bounds(options)
    return options


def description(docstring: str | None) -> str:
    """Format the docstring of a command's module for ``--help``: wrapped to the terminal, except examples and lists."""
    width = min(get_terminal_size().columns, 100)
    paragraphs = []
    for paragraph in inspect.cleandoc(docstring or "").split("\n\n"):
        if paragraph.startswith("example") or "\n " in paragraph:
            paragraphs.append(textwrap.indent(paragraph, _INDENT))
        else:
            text = " ".join(paragraph.split())
            paragraphs.append(textwrap.fill(text, width, initial_indent=_INDENT, subsequent_indent=_INDENT))
    return "\n\n".join(paragraphs)


def check_bounds(options: object) -> None:
    """Refuse a number outside the :class:`Between` of its field; None is accepted.

    >>> @dataclass
    ... class Options:
    ...     max_deals: Annotated[int, Between(1, 9)] = 0
    >>> check_bounds(Options())
    Traceback (most recent call last):
        ...
    gunzi_env.cli.options.UsageError: --max-deals is 0, allowed are 1 to 9
    """
    for name, hint in get_type_hints(type(options), include_extras=True).items():
        value = getattr(options, name)
        for bounds in getattr(hint, "__metadata__", ()):
            if isinstance(bounds, Between) and value is not None:
                check_range(f"--{name.replace('_', '-')}", value, bounds.low, bounds.high)


@contextlib.contextmanager
def tyro_errors(error: Callable[[str], Exception] = UsageError) -> Iterator[None]:
    """Turn tyro's boxed message about the command line into a one-line ``error``.

    ``--help`` still prints to stdout and raises ``SystemExit(0)``.
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
    """Extract the sentences of one of tyro's boxes: the error and similar options, without the options' help.

    >>> one_line("╭─ Value error ─────────────╮\\n│ Error parsing --seed: 'x' │\\n╰───────────────────────────╯")
    "Error parsing --seed: 'x'"
    """
    sections: list[list[str]] = [[]]
    for line in _COLOUR.sub("", box).splitlines()[1:-1]:  # without the frame, blank in ASCII
        text = line.strip("│|").removeprefix(" ").rstrip()
        if _RULE.fullmatch(text):
            sections.append([])
        elif not text.startswith(" " * 8):  # only the help of an option is indented this far
            sections[-1].append(text)
    sentences = []
    for section in sections:
        words = " ".join(text.strip() for text in section if not text.startswith("    "))
        deep = [text.strip() for text in section if text.startswith("    ")]
        # Under this heading the help is indented no further than the option.
        options = ", ".join(deep[:1] if words == "Argument helptext:" else deep)
        if not words.startswith("For full helptext") and (words or options):
            words = words.replace("Argument helptext:", "expected").replace("Perhaps you meant:", "perhaps you meant")
            sentences.append(f"{words} {options}".strip().removesuffix("."))
    if len(sentences) == 1 and sentences[0].startswith("Unrecognized"):
        sentences.append("--help lists the options")
    return "; ".join(sentences) or "the command line cannot be parsed"


def checked_rules(spec: str) -> Rules:
    """Load the rules of a preset or a TOML file.

    Raises:
        UsageError: there is no such preset or file.
        RulesError: the file contains invalid rules.
    """
    try:
        return load_rules(spec)
    except RulesError:
        raise
    except (OSError, ValueError) as error:
        raise UsageError(f"--rules {spec}: {error}; presets: {', '.join(Rules.presets())}") from None


def check_range(name: str, value: float, low: float, high: float) -> None:
    """Refuse a number outside ``low..high``; ``name`` is the option in the message."""
    if not low <= value <= high:
        raise UsageError(f"{name} is {value}, allowed are {low} to {high}")


def check_seed(seed: int) -> None:
    """Refuse a seed that does not fit the counter-based generator."""
    check_range("--seed", seed, SEEDS.low, SEEDS.high)


def check_writable(path: Path | None, option: str) -> None:
    """Refuse an output file that cannot be written, before any work is done; None is accepted."""
    if path is None:
        return
    if path.is_dir():
        raise UsageError(f"{option} {path}: this is a folder, name a file")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise UsageError(f"{option} {path}: there is no folder {folder.name!r} to write to")
    temporary = files.temporary_name(path)
    try:  # Permission bits are not enough: the file system may refuse. So create a file, as it will be done later.
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
    """Print the next useful command to stderr, so that the output on stdout can be piped."""
    sys.stdout.flush()
    print(f"next: {text}", file=sys.stderr)
