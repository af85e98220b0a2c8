"""What the commands share: arguments from a documented dataclass, typed usage errors, whole files or none."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from gunzi_env.rules import Rules, RulesError, load_rules

T = TypeVar("T")

MAX_SEED = 2**63 - 1


class UsageError(ValueError):
    """The command line asks for something that cannot be; the message names it and what is allowed."""

    exit_code = 2


def parse(config: type[T], argv: Sequence[str], command: str) -> T:
    """``config``, a dataclass whose docstrings are the help, filled from ``argv``; usage errors and ``--help`` exit."""
    import tyro

    return tyro.cli(config, args=list(argv), prog=f"gunzi {command}")


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
    if not os.access(folder, os.W_OK):
        raise UsageError(f"{option} {path}: the folder is not writable")


def write_whole(path: Path, text: str) -> None:
    """Write a file under a temporary name, make it durable, then rename it: nobody ever sees half of it."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        temporary.unlink(missing_ok=True)


def say_next(text: str) -> None:
    """Name the next useful command; on stderr, so that a command's output can be piped."""
    sys.stdout.flush()
    print(f"next: {text}", file=sys.stderr)
