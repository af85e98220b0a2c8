"""The tables of an environment over several processes: the same games for any number of processes.

The calling process steps the first share of the tables, workers (:mod:`gunzi_env.vector.worker`) step the others. When
a worker ends, raises or freezes, the others are ended too and :class:`gunzi_env.vector.WorkerLost` is raised. No worker
outlives its environment.
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
from gunzi_env.vector.episodes import Outcome, Settings, numbered
from gunzi_env.vector.shared_memory import Board, Bytes, Lender
from gunzi_env.vector.worker import CLOSE_LIMIT_S, Member, Worker
from gunzi_env.views import View


def shares(num: int, processes: int) -> list[slice]:
    """Which of ``num`` tables each process has, their sizes no more than one apart; ``ValueError`` if one has none.

    >>> shares(7, 2)
    [slice(0, 3, None), slice(3, 7, None)]
    """
    check_count("number of tables", num)
    check_count("num_workers", processes)
    if processes > num:
        raise ValueError(f"num_workers is {processes}: it must be within 1..{num}, the number of tables")
    bounds = [num * rank // processes for rank in range(processes + 1)]
    return [slice(*ends) for ends in pairwise(bounds)]


class Pool:
    """Tables over several processes, this one included: the methods of :class:`gunzi_env.vector.episodes.Share`."""

    def __init__(self, settings: Settings, parts: list[slice]) -> None:
        """``parts``: see :func:`shares`; two at least."""
        self._settings, self._parts, num = settings, parts, parts[-1].stop
        self._space = actions.space(settings.rules)
        # Anonymous memory: there is no name that could be left behind.
        memory = RawArray("B", Board(settings.rules, num, len(parts)).size)
        self._board = Board(settings.rules, num, len(parts), np.frombuffer(memory, np.uint8))
        self._lender = Lender(self._board, lambda: np.frombuffer(memory, np.uint8))
        self._member = Member(settings, self._board, parts[0])
        self._steps = 0
        self._workers: list[Worker] = []
        self.close = weakref.finalize(self, _end, self._workers, os.getpid())
        """End the workers; nothing can be asked of them any more."""
        # At exit too, and before multiprocessing waits there for its children: a frozen one would not end.
        atexit.register(self.close)
        try:
            for rank, part in enumerate(parts[1:], start=1):
                self._workers.append(Worker(settings, self._board, memory, rank, part))
            for worker in self._workers:
                worker.meet()
        except BaseException:
            self.close()
            raise

    @property
    def pids(self) -> tuple[int, ...]:
        """The process ids of the workers."""
        return tuple(worker.process.pid or 0 for worker in self._workers)

    def reset(self, table_ids: Words | None = None) -> None:
        """Deal every table anew."""
        ids = numbered(self._board.num, table_ids)
        self._steps = 0
        self._all("reset", [(ids[part],) for part in self._parts])

    def step(self, chosen: npt.ArrayLike) -> tuple[Outcome, tuple[View, Flags]]:
        """One action a table, and what is seen then; :class:`IllegalAction`, nothing changed, if any is illegal."""
        self._check_open()
        board = self._board
        board.chosen[:] = engine.checked_by(self._space, board.legal.T, board.phase, chosen, self._illegal)
        self._steps += 1
        block = self._lender.free()
        self._all("step", [(block,)] * len(self._parts))
        return board.outcome.each(np.ndarray.copy), self._lender.lend(block)

    def observe(self) -> tuple[View, Flags]:
        """The View of the seats to move and their legal actions ``bool[N, A]``."""
        block = self._lender.free()
        self._all("show", [(block,)] * len(self._parts))
        return self._lender.lend(block)

    def legal_words(self) -> Words:
        """The legal actions as words ``uint64[N, D + 1]``."""
        return self._board.legal.T.copy()

    def privileged(self) -> Bytes:
        """See :func:`gunzi_env.observe.privileged`."""
        self._all("privileged", [()] * len(self._parts))
        return self._board.privileged.copy()

    def seats(self) -> Int8:
        """The seats to move, ``int8[N]``."""
        return self._board.seat.copy()

    def save(self) -> bytes:
        """The state of all tables, the same bytes as of one share."""
        tables = Tables(self._settings.rules, self._board.num)
        for part, state in zip(self._parts, self._all("save", [()] * len(self._parts), large=True), strict=True):
            tables.assign(np.arange(part.start, part.stop), Tables.load(tables.rules, state))
        return tables.save()

    def load(self, tables: Tables) -> None:
        """Go on from these tables."""
        states = [tables.select(np.arange(part.start, part.stop)).save() for part in self._parts]
        self._all("load", [(state,) for state in states], large=True)

    def _illegal(self, n: int, action: int) -> IllegalAction:
        rank = next(rank for rank, part in enumerate(self._parts) if n < part.stop)
        refused: IllegalAction = self._ask(rank, "illegal", (n - self._parts[rank].start, action))
        return refused

    def _ask(self, rank: int, request: str, arguments: tuple[Any, ...]) -> Any:
        """Ask one process for something."""
        if not rank:
            return getattr(self._member, request)(*arguments)
        try:
            worker = self._workers[rank - 1]
            worker.send(request, arguments, self._doing(request))
            return worker.answer(self._doing(request))
        except BaseException:
            self.close()
            raise

    def _all(self, request: str, arguments: Sequence[tuple[Any, ...]], *, large: bool = False) -> list[Any]:
        """Ask every process for the same; ``large`` if a message may be more than a pipe holds."""
        self._check_open()
        doing = self._doing(request)
        try:
            with ExitStack() as patience:
                for worker, theirs in zip(self._workers, arguments[1:], strict=True):
                    if large:
                        patience.enter_context(worker.patience())
                    worker.send(request, theirs, doing)
                mine = getattr(self._member, request)(*arguments[0])
                return [mine, *(worker.answer(doing) for worker in self._workers)]
        except BaseException:
            # Some tables have gone on and others have not; an answer on its way would be taken for the next one's.
            self.close()
            raise

    def _doing(self, request: str) -> str:
        return f"{request!r}, step {self._steps} of seed {self._settings.seed}"

    def _check_open(self) -> None:
        if not self.close.alive:
            raise ValueError("this environment is closed: make another, and go on from get_state() if you kept it")

    def __reduce__(self) -> NoReturn:
        raise TypeError("an environment with workers cannot be copied: use get_state() and set_state()")


def _end(workers: list[Worker], owner: int) -> None:
    """End the workers, by force if they do not go; a fork of their parent leaves them alone."""
    if os.getpid() != owner:
        return
    for worker in workers:
        worker.hang_up()
    until = time.monotonic() + CLOSE_LIMIT_S
    for worker in workers:
        worker.end(until)
