"""The ``gunzi`` command: finds a subcommand by its entry point, runs it, and turns what goes wrong into an exit code.

A command is registered under the entry-point group ``gunzi.commands`` as ``name = "module:function"``; the function
takes ``argv: list[str]`` and returns an exit code. So the environment knows of training and evaluation no more than
their names.

Exit codes: 0 done; 2 usage or configuration; 3 an unusable checkpoint or record; 4 a worker was lost; 5 non-finite
numbers; 130 after Ctrl-C; 141 when whoever read the output went away. An exception says its own code by an
attribute ``exit_code``; a ``ValueError`` defined by one of our packages without one counts as 2. Any other
exception is a fault of ours and shows its traceback.
"""

from __future__ import annotations

import ast
import io
import os
import sys
from collections.abc import Sequence
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from importlib.util import find_spec
from pathlib import Path

GROUP = "gunzi.commands"
USAGE, INTERRUPTED, CLOSED_PIPE = 2, 130, 141

_EXTRA_OF_MODULE = {"torch": "train", "tensorboard": "train"}


def commands() -> dict[str, EntryPoint]:
    """The installed commands by name."""
    return {point.name: point for point in sorted(entry_points(group=GROUP), key=lambda point: point.name)}


def summary(point: EntryPoint) -> str:
    """The first line of a command's module docstring, read without running the module (which may load torch)."""
    try:
        spec = find_spec(point.module)
        if spec is None or spec.origin is None:
            return "(not installed)"
        doc = ast.get_docstring(ast.parse(Path(spec.origin).read_text(encoding="utf-8")))
    except (ImportError, OSError, SyntaxError):
        return "(not installed)"
    return (doc or "").partition("\n")[0]


def usage() -> str:
    """The list of commands, as ``gunzi --help`` prints it."""
    found = commands()
    width = max((len(name) for name in found), default=0)
    lines = [f"  {name:<{width}}  {summary(point)}" for name, point in found.items()]
    return "\n".join(
        [
            "gunzi: environments, bots and training for Da Gunzi, a trick-taking partnership card game",
            "",
            "usage: gunzi COMMAND [OPTIONS]      gunzi COMMAND --help      gunzi --version",
            "",
            *lines,
            "",
            "example: gunzi demo",
        ]
    )


def exit_code(error: BaseException) -> int | None:
    """The exit code of a typed error; None for an exception that is nobody's message to the user."""
    code = getattr(error, "exit_code", None)
    if isinstance(code, int):
        return code
    ours = type(error).__module__.partition(".")[0].startswith("gunzi_")
    if ours and isinstance(error, ValueError):
        return USAGE
    if isinstance(error, ModuleNotFoundError) and error.name in _EXTRA_OF_MODULE:
        return USAGE
    return None


def message(error: BaseException) -> str:
    """One line for the user."""
    if isinstance(error, ModuleNotFoundError) and error.name in _EXTRA_OF_MODULE:
        extra = _EXTRA_OF_MODULE[error.name]
        return f"this needs {error.name}, which is not installed: pip install 'gunzi[{extra}]'"
    return " ".join(str(error).split()) or type(error).__name__


def run(name: str, point: EntryPoint, argv: list[str]) -> int:
    """Run one command; typed errors become one line on stderr and their code."""
    try:
        code = point.load()(argv)
        sys.stdout.flush()
        return int(code or 0)
    except KeyboardInterrupt:
        print(f"gunzi {name}: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # What is still buffered would raise once more when the interpreter closes: send it nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED_PIPE
    except Exception as error:
        code = exit_code(error)
        if code is None:
            raise
        print(f"gunzi {name}: {message(error)}", file=sys.stderr)
        return code


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the console script; ``argv`` without the program's name."""
    args = list(sys.argv[1:] if argv is None else argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that cannot show a suit's sign shows a question mark instead of a traceback.
        sys.stdout.reconfigure(errors="replace")
    if not args or args[0] in ("-h", "--help", "help"):
        print(usage())
        return 0
    if args[0] == "--version":
        try:
            print(f"gunzi {version('gunzi')}")
        except PackageNotFoundError:
            print("gunzi (not installed)")
        return 0
    found = commands()
    if args[0] not in found:
        print(f"gunzi: unknown command {args[0]!r}; commands: {', '.join(found)}", file=sys.stderr)
        return USAGE
    return run(args[0], found[args[0]], args[1:])


if __name__ == "__main__":
    sys.exit(main())
