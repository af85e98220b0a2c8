"""The ``gunzi`` command: dispatches to subcommands found by entry point and converts errors to exit codes.

A command is registered under the entry-point group ``gunzi.commands`` as ``name = "module:function"``; the function
takes ``argv: list[str]`` and returns an exit code. The environment therefore does not import training or evaluation.

Exit codes: 0 done; 2 usage or configuration; 3 an unusable checkpoint or record; 4 a worker was lost; 5 non-finite
numbers; 130 after Ctrl-C; 141 when the reader of the output has closed the pipe (2 when the disk is full). An exception
declares its code by the attribute ``exit_code``; without it, a ``ValueError`` class of one of our packages counts as 2.
Any other exception is a defect and shows its traceback.
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
    """Return the first line of a command's module docstring, without importing the module (which may load torch)."""
    try:
        spec = find_spec(point.module)
        if spec is None or spec.origin is None:
            return "(not installed)"
        doc = ast.get_docstring(ast.parse(Path(spec.origin).read_text(encoding="utf-8")))
    except (ImportError, OSError, SyntaxError):
        return "(not installed)"
    return (doc or "").partition("\n")[0]


def usage() -> str:
    """Return the text of ``gunzi --help``."""
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
    """Return the exit code of an error that is reported in one line; None for a defect."""
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
    """Return the text of an error in one line."""
    if isinstance(error, ModuleNotFoundError) and error.name in _EXTRA_OF_MODULE:
        extra = _EXTRA_OF_MODULE[error.name]
        return f"this needs {error.name}, which is not installed: pip install 'gunzi[{extra}]'"
    return " ".join(str(error).split()) or type(error).__name__


def run(name: str, point: EntryPoint, argv: list[str]) -> int:
    """Run one command and return its exit code; errors with an exit code are printed to stderr in one line."""
    return guarded(f"gunzi {name}", lambda: point.load()(argv))


def guarded(name: str, work: Callable[[], int]) -> int:
    """Run ``work``, flush the output and return the exit code; error messages begin with ``name``."""
    try:
        code = _typed(name, work)
        sys.stdout.flush()
    except BrokenPipeError:
        code = CLOSED_PIPE
    except OSError as error:
        if error.errno not in _FULL or _can_write():  # the error belongs to another file
            raise
        with contextlib.suppress(OSError):
            print(f"{name}: cannot write the output: {error.strerror or error}", file=sys.stderr)
        code = USAGE
    else:
        return code
    for stream in (sys.stdout, sys.stderr):
        # Discard buffered output, which would raise again at the end of the interpreter.
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
    """Run ``work`` and return its exit code; errors with an exit code are printed in one line."""
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
    """Run the console script; ``argv`` excludes the program's name."""
    args = list(sys.argv[1:] if argv is None else argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that cannot encode the suit symbols shows question marks instead of failing.
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
