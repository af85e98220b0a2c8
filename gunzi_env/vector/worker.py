"""A process that steps a share of the tables, and the handle by which it is asked.

Arrays travel through shared memory (:mod:`gunzi_env.vector.shared_memory`); only small messages use the pipe. A waiting
process spins on a shared counter briefly before blocking, because waking up is slow. A worker ends when its pipe is
closed and when its parent has ended.
"""

from __future__ import annotations

import os
import threading
import time
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from multiprocessing import connection, parent_process
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import numpy.typing as npt

from gunzi_env import observe
from gunzi_env.engine import IllegalAction
from gunzi_env.planes import Words
from gunzi_env.tables import Flags, Tables
from gunzi_env.vector.episodes import Settings, Share
from gunzi_env.vector.processes import Failure, WorkerLost, how_ended, spawn
from gunzi_env.vector.shared_memory import Board
from gunzi_env.views import View

START_LIMIT_S = 120.0
ANSWER_LIMIT_S = 50.0
"""After the calling process has done its own share of a request: a worker that takes longer is lost."""
CLOSE_LIMIT_S = 2.0
SPIN_S = 0.0003
"""How long a process looks for what it waits for before it sleeps."""
_BREATH = 64
"""Looks between two at the clock."""


class Member:
    """One process's part: its share, and the rows and columns of the board that belong to it."""

    def __init__(self, settings: Settings, board: Board, tables: slice) -> None:
        self.board, self._tables = board, tables
        self.share = Share(settings, tables.stop - tables.start, tables.start)
        self._outcome = board.outcome.each(lambda array: array[tables])
        self._blocks: dict[int, tuple[View, Flags]] = {}

    # Each of the following is a request, sent by its name.

    def reset(self, table_ids: Words) -> None:
        """Deal every table anew."""
        self.share.reset(table_ids)
        self._stand()

    def step(self, block: int) -> None:
        """Carry out the chosen actions, then :meth:`show`."""
        self.share.advance(self.board.chosen[self._tables], self._outcome)
        self._stand()
        self.show(block)

    def show(self, block: int) -> None:
        """Write View and legal actions into a block."""
        t = self.share.tables
        if block not in self._blocks:
            self._blocks[block] = self.board.block(block).part(self._tables)
        view, mask = self._blocks[block]
        observe.view(t, out=view)
        t.actions.unpack(t.legal, mask)

    def privileged(self) -> None:
        """Write the privileged view."""
        observe.privileged(self.share.tables, out=self.board.privileged[self._tables])

    def save(self) -> bytes:
        """The state of the share."""
        return self.share.save()

    def load(self, state: bytes) -> None:
        """Go on from a state."""
        self.share.load(Tables.load(self.board.rules, state))
        self._stand()

    def illegal(self, n: int, action: int) -> IllegalAction:
        """See :meth:`gunzi_env.vector.episodes.Share.illegal`."""
        return self.share.illegal(n, action)

    def _stand(self) -> None:
        """Write on the board where the tables stand."""
        t, mine = self.share.tables, self._tables
        self.board.legal[:, mine] = t.rows_of("legal")
        self.board.phase[mine], self.board.seat[mine] = t.phase, t.seat


def _spin(counter: memoryview, number: int) -> bool:
    """Look for a moment whether the counter has got there: then a message lies in the pipe."""
    end = time.perf_counter() + SPIN_S
    while time.perf_counter() < end:
        for _ in range(_BREATH):
            if counter[0] == number:
                return True
    return False


def _counter(row: npt.NDArray[np.int64]) -> memoryview:
    """A row as something whose first number is read and written quickly."""
    return row.data


# The worker's side --------------------------------------------------------------------------------------


def _serve(line: Connection, memory: Any, settings: Settings, num: int, processes: int, rank: int, own: slice) -> None:
    """The life of the process number ``rank``: answer one request after the other, until the pipe is closed."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    board = Board(settings.rules, num, processes, np.frombuffer(memory, np.uint8))
    asked, answered = _counter(board.asked[rank]), _counter(board.answered[rank])
    try:
        member = Member(settings, board, own)
        line.send(None)
        number = 0
        while True:
            number += 1
            _spin(asked, number)
            request, arguments = line.recv()
            answer = getattr(member, request)(*arguments)
            line.send(answer)
            answered[0] = number
    except (EOFError, ConnectionError):  # the parent has closed the pipe
        return
    except Exception as error:
        line.send(Failure(traceback.format_exception_only(error)[-1].strip(), traceback.format_exc()))


def _end_with_parent() -> None:
    """End this process when its parent has ended, however it did."""
    parent = parent_process()
    while parent is not None and os.getppid() == parent.pid and not connection.wait([parent.sentinel], 1.0):
        pass
    os._exit(0)


# The parent's side --------------------------------------------------------------------------------------


class Worker:
    """The process number ``rank``, from 1, seen from its parent."""

    def __init__(self, settings: Settings, board: Board, memory: Any, rank: int, own: slice) -> None:
        """Start it for the tables ``own`` and do not wait; ``memory`` is the board's, as multiprocessing passes it."""
        processes = len(board.asked)
        self.name = f"worker {rank} of {processes - 1} (tables {own.start}..{own.stop - 1})"
        self._asked, self._answered, self._number = _counter(board.asked[rank]), _counter(board.answered[rank]), 0
        self._late = False
        arguments = (memory, settings, board.num, processes, rank, own)
        self.process, self._line = spawn(_serve, arguments, f"gunzi-worker-{rank}")

    def meet(self) -> None:
        """Wait until it has started."""
        try:
            self._receive(START_LIMIT_S, "its start")
        except WorkerLost as lost:
            lost.add_note("A script that starts workers does so under: if __name__ == '__main__':")
            raise

    def send(self, request: str, arguments: tuple[Any, ...], doing: str) -> None:
        """Ask it for something, see :class:`Member`; ``doing`` is for the message if it is lost."""
        self._number += 1
        try:
            self._line.send((request, arguments))
        except OSError:
            raise self._lost(doing) from None
        self._asked[0] = self._number

    def answer(self, doing: str) -> Any:
        """Its answer to the request."""
        there = _spin(self._answered, self._number)
        return self._receive(0 if there else ANSWER_LIMIT_S, doing)

    @contextmanager
    def patience(self) -> Generator[None]:
        """Kill it when what is done here takes too long: a message too large for the pipe waits for its reader."""
        timer = threading.Timer(ANSWER_LIMIT_S, self._give_up)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def hang_up(self) -> None:
        """Close the pipe: it ends when it is done with what it does."""
        self._line.close()

    def end(self, until: float) -> None:
        """Wait for its end; from the time ``until`` on it is made to."""
        self.process.join(max(until - time.monotonic(), 0))
        if self.process.is_alive():
            self.process.kill()
            self.process.join()

    def _receive(self, limit: float, doing: str) -> Any:
        """The next message; ``limit`` seconds, or 0 when it is known to be there."""
        try:
            if limit and not self._line.poll(limit):
                self._give_up()
            answer = self._line.recv()
        except (EOFError, OSError):
            raise self._lost(doing) from None
        if isinstance(answer, Failure):
            lost = WorkerLost(f"{self.name} failed in {doing}: {answer.message}")
            lost.add_note(answer.traceback)
            raise lost
        return answer

    def _give_up(self) -> None:
        self._late = True
        self.process.kill()

    def _lost(self, doing: str) -> WorkerLost:
        ending = how_ended(self.process, CLOSE_LIMIT_S)
        how = "gave no answer in time" if self._late else f"was lost ({ending})"
        return WorkerLost(f"{self.name} {how} in {doing}")
