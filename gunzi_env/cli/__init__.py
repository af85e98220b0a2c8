"""The ``gunzi`` command: finds a subcommand by its entry point, runs it, and turns what goes wrong into an exit code.

A command is registered under the entry-point group ``gunzi.commands`` as ``name = "module:function"``; the function
takes ``argv: list[str]`` and returns an exit code. So the environment knows of training and evaluation no more than
their names.

Exit codes: 0 done; 2 usage or configuration; 3 an unusable checkpoint or record; 4 a worker was lost; 5 non-finite
numbers; 130 after Ctrl-C; 141 when whoever read the output went away (2 when its disk is full). An exception says its
own code by an attribute ``exit_code``; a ``ValueError`` defined by one of our packages without one counts as 2. Any
other exception is a fault of ours and shows its traceback.
"""

from __future__ import annotations

import ast
import contextlib
import errno
import io
import os
import sys
import tomllib
from collections.abc import Callable, Sequence
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from importlib.util import find_spec
from pathlib import Path

GROUP = "gunzi.commands"
USAGE, INTERRUPTED, CLOSED_PIPE = 2, 130, 141

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
_declared: list[EntryPoint] = []
_EXTRA_OF_MODULE = {"torch": "train", "tensorboard": "train"}


def commands() -> dict[str, EntryPoint]:
    """Return the commands by name: the installed ones, or those of the checkout that :func:`use_checkout` found."""
    found = entry_points(group=GROUP) or _declared
    return {point.name: point for point in sorted(found, key=lambda point: point.name)}


def use_checkout(root: Path) -> None:
    """Import the packages from a checkout, and find its commands if none are installed."""
    sys.path[:0] = [str(root), *(str(root / part) for part in ("agents", "train", "eval"))]
    declared = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"][GROUP]
    _declared[:] = [EntryPoint(name, value, GROUP) for name, value in declared.items()]


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
            "gunzi: environments, bots and training for the card game Da Gunzi",
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
    return guarded(f"gunzi {name}", lambda: point.load()(argv))


def guarded(name: str, work: Callable[[], int]) -> int:
    """Do some work and make sure that its output arrived; what goes wrong is one line that begins with ``name``."""
    try:
        code = _typed(name, work)
        sys.stdout.flush()
    except BrokenPipeError:
        code = CLOSED_PIPE
    except OSError as error:
        if error.errno not in _FULL or _can_write():  # then it was another file
            raise
        with contextlib.suppress(OSError):
            print(f"{name}: cannot write the output: {error.strerror or error}", file=sys.stderr)
        code = USAGE
    else:
        return code
    for stream in (sys.stdout, sys.stderr):
        # What is still buffered would raise once more when the interpreter closes: send it nowhere.
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return code


def _can_write() -> bool:
    try:
        print(flush=True)  # a failed write may leave nothing to flush
    except OSError:
        return False
    return True


def _typed(name: str, work: Callable[[], int]) -> int:
    """The exit code of ``work``; also where it raises a typed error, which is said in one line."""
    try:
        return int(work() or 0)
    except SystemExit as end:
        if not isinstance(end.code, int | None):
            raise
        return end.code or 0  # after --help, whose text may still be buffered
    except KeyboardInterrupt:
        print(f"{name}: interrupted", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        code = exit_code(error)
        if code is None:
            raise
        print(f"{name}: {message(error)}", file=sys.stderr)
        return code


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the console script; ``argv`` without the program's name."""
    args = list(sys.argv[1:] if argv is None else argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that cannot show a suit's sign shows a question mark instead of a traceback.
        sys.stdout.reconfigure(errors="replace")
    return guarded("gunzi", lambda: _dispatch(args))


def _dispatch(args: list[str]) -> int:
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
