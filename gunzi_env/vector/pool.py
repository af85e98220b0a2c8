"""The tables of an environment, distributed over several processes; the games do not depend on their number.

The calling process steps the first shard, workers (:mod:`gunzi_env.vector.worker`) step the others. If a worker ends,
raises or freezes, all workers are ended and :class:`gunzi_env.vector.WorkerLost` is raised. No worker outlives its
environment.
"""

from __future__ import annotations

import atexit
import os
import time
import weakref
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import pairwise
from multiprocessing.sharedctypes import RawArray
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from gunzi_env import actions, engine
from gunzi_env.engine import IllegalAction
from gunzi_env.planes import Words
from gunzi_env.tables import Flags, Int8, Tables, check_count
from gunzi_env.vector.episodes import Settings, StepResult, numbered
from gunzi_env.vector.shared_memory import BlockPool, Bytes, SharedBuffers
from gunzi_env.vector.worker import CLOSE_LIMIT_S, ShardServer, Worker
from gunzi_env.views import View


def partition(num: int, processes: int) -> list[slice]:
    """Split ``num`` tables into slices whose sizes differ by at most one; ``ValueError`` if a slice would be empty.

    >>> partition(7, 2)
    [slice(0, 3, None), slice(3, 7, None)]
    """
    check_count("number of tables", num)
    check_count("num_workers", processes)
    if processes > num:
        raise ValueError(f"num_workers is {processes}: it must be within 1..{num}, the number of tables")
    bounds = [num * rank // processes for rank in range(processes + 1)]
    return [slice(*ends) for ends in pairwise(bounds)]


class Pool:
    """Tables in several processes, this one included, with the methods of
    :class:`gunzi_env.vector.episodes.TableShard`."""

    def __init__(self, settings: Settings, parts: list[slice]) -> None:
        """``parts``: slices of the tables from :func:`partition`, at least two."""
        self._settings, self._parts, num = settings, parts, parts[-1].stop
        self._space = actions.space(settings.rules)
        # Anonymous memory: it has no name that could be left behind in /dev/shm.
        memory = RawArray("B", SharedBuffers(settings.rules, num, len(parts)).size)
        self._buffers = SharedBuffers(settings.rules, num, len(parts), np.frombuffer(memory, np.uint8))
        self._blocks = BlockPool(self._buffers, lambda: np.frombuffer(memory, np.uint8))
        self._server = ShardServer(settings, self._buffers, parts[0])
        self._steps = 0
        self._workers: list[Worker] = []
        self.close = weakref.finalize(self, _end, self._workers, os.getpid())
        """End the workers. The pool cannot be used afterwards."""
        # Also at exit, before multiprocessing joins its children there: a frozen one would block it.
        atexit.register(self.close)
        try:
            for rank, part in enumerate(parts[1:], start=1):
                self._workers.append(Worker(settings, self._buffers, memory, rank, part))
            for worker in self._workers:
                worker.wait_started()
        except BaseException:
            self.close()
            raise

    @property
    def pids(self) -> tuple[int, ...]:
        """The process ids of the workers."""
        return tuple(worker.process.pid or 0 for worker in self._workers)

    def reset(self, table_ids: Words | None = None) -> None:
        """Deal every table anew; see :meth:`gunzi_env.vector.episodes.TableShard.reset`."""
        ids = numbered(self._buffers.num, table_ids)
        self._steps = 0
        self._all("reset", [(ids[part],) for part in self._parts])

    def step(self, chosen: npt.ArrayLike) -> tuple[StepResult, tuple[View, Flags]]:
        """Apply one action per table; see :meth:`gunzi_env.vector.episodes.TableShard.step`."""
        self._check_open()
        buffers = self._buffers
        buffers.chosen[:] = engine.checked_by(self._space, buffers.legal.T, buffers.phase, chosen, self._illegal)
        self._steps += 1
        block = self._blocks.free()
        self._all("step", [(block,)] * len(self._parts))
        return buffers.step_result.each(np.ndarray.copy), self._blocks.lend(block)

    def observe(self) -> tuple[View, Flags]:
        """Return the View of the seats to move and their legal actions ``bool[N, A]``."""
        block = self._blocks.free()
        self._all("show", [(block,)] * len(self._parts))
        return self._blocks.lend(block)

    def legal_words(self) -> Words:
        """Return the legal actions as words ``uint64[N, D + 1]``."""
        return self._buffers.legal.T.copy()

    def privileged(self) -> Bytes:
        """See :func:`gunzi_env.observe.privileged`."""
        self._all("privileged", [()] * len(self._parts))
        return self._buffers.privileged.copy()

    def seats(self) -> Int8:
        """Return the seats to move, ``int8[N]``."""
        return self._buffers.seat.copy()

    def save(self) -> bytes:
        """Return the state of all tables, byte for byte that of a single shard."""
        tables = Tables(self._settings.rules, self._buffers.num)
        for part, state in zip(self._parts, self._all("save", [()] * len(self._parts), large=True), strict=True):
            tables.assign(np.arange(part.start, part.stop), Tables.load(tables.rules, state))
        return tables.save()

    def load(self, tables: Tables) -> None:
        """Continue from these tables."""
        states = [tables.select(np.arange(part.start, part.stop)).save() for part in self._parts]
        self._all("load", [(state,) for state in states], large=True)

    def _illegal(self, n: int, action: int) -> IllegalAction:
        rank = next(rank for rank, part in enumerate(self._parts) if n < part.stop)
        refused: IllegalAction = self._ask(rank, "illegal", (n - self._parts[rank].start, action))
        return refused

    def _ask(self, rank: int, request: str, arguments: tuple[Any, ...]) -> Any:
        """Send a request to one process and return its answer."""
        if not rank:
            return getattr(self._server, request)(*arguments)
        try:
            worker = self._workers[rank - 1]
            worker.send(request, arguments, self._doing(request))
            return worker.answer(self._doing(request))
        except BaseException:
            self.close()
            raise

    def _all(self, request: str, arguments: Sequence[tuple[Any, ...]], *, large: bool = False) -> list[Any]:
        """Send a request to every process and return the answers; ``large`` if a message may overfill the pipe."""
        self._check_open()
        doing = self._doing(request)
        try:
            with ExitStack() as timers:
                for worker, theirs in zip(self._workers, arguments[1:], strict=True):
                    if large:
                        timers.enter_context(worker.kill_if_late())
                    worker.send(request, theirs, doing)
                mine = getattr(self._server, request)(*arguments[0])
                return [mine, *(worker.answer(doing) for worker in self._workers)]
        except BaseException:
            # The shards are out of step, and a pending answer would be taken for that of the next request.
            self.close()
            raise

    def _doing(self, request: str) -> str:
        return f"{request!r}, step {self._steps} of seed {self._settings.seed}"

    def _check_open(self) -> None:
        if not self.close.alive:
            raise ValueError(
                "this environment is closed: make a new one, and restore a saved state with set_state()"
            )

    def __reduce__(self) -> NoReturn:
        raise TypeError("an environment with workers cannot be copied: use get_state() and set_state()")


def _end(workers: list[Worker], owner: int) -> None:
    """End the workers, by force after CLOSE_LIMIT_S; a forked copy of the parent does nothing."""
    if os.getpid() != owner:
        return
    for worker in workers:
        worker.close_pipe()
    until = time.monotonic() + CLOSE_LIMIT_S
    for worker in workers:
        worker.end(until)
