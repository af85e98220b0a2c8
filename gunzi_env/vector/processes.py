"""Child processes that talk to their parent over a pipe: start them, report their exceptions, say how they ended."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any


class WorkerLost(RuntimeError):
    """A worker process ended, raised or stopped answering."""

    exit_code = 4


@dataclass(frozen=True)
class Failure:
    """An exception in a worker process, as sent to its parent."""

    message: str
    traceback: str
    exit_code: int | None = None
    """The exit code of an error to report in one line; None for a defect, whose traceback is shown."""


def spawn(work: Callable[..., None], arguments: tuple[Any, ...], name: str) -> tuple[SpawnProcess, Connection]:
    """Start ``work(pipe, *arguments)`` in a new process; return the process and the parent's end of its pipe.

    The process is a daemon and ignores SIGINT: Ctrl-C reaches every process of a terminal, and the parent decides when
    its workers end. ``work`` and ``arguments`` must be picklable.
    """
    context = get_context("spawn")  # a fork would copy the locks and threads of libraries in an arbitrary state
    ours, theirs = context.Pipe()
    process = context.Process(target=_run, args=(work, theirs, *arguments), name=name, daemon=True)
    process.start()
    theirs.close()  # an open copy here would hide that the worker's end was closed
    return process, ours


def how_ended(process: SpawnProcess, seconds: float) -> str:
    """Wait up to ``seconds`` for a lost process to end and return its signal or exit code in words."""
    process.join(seconds)
    code = process.exitcode
    if code is None:
        return "its pipe was closed"
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def _run(work: Callable[..., None], pipe: Connection, *arguments: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    work(pipe, *arguments)
