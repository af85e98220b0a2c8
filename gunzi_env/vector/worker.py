"""A worker process that steps one shard of the tables, and its handle in the parent.

Arrays travel through shared memory (:mod:`gunzi_env.vector.shared_memory`); only small messages use the pipe. A waiting
process spins on a shared counter briefly before blocking, because waking up is slow. A worker ends when its pipe is
closed or its parent has ended.
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
from gunzi_env.vector.episodes import Settings, TableShard
from gunzi_env.vector.processes import Failure, WorkerLost, how_ended, spawn
from gunzi_env.vector.shared_memory import SharedBuffers
from gunzi_env.views import View

START_LIMIT_S = 120.0
ANSWER_LIMIT_S = 50.0
"""Seconds that a worker may still take once the parent has finished its own shard; then it counts as lost."""
CLOSE_LIMIT_S = 2.0
SPIN_S = 0.0003
"""Seconds that a process spins before it blocks."""
_SPINS_PER_CLOCK = 64
"""Reads of the counter per look at the clock."""


class ShardServer:
    """Steps the shard of one process and writes its slices of the shared buffers."""

    def __init__(self, settings: Settings, buffers: SharedBuffers, tables: slice) -> None:
        self.buffers, self._tables = buffers, tables
        self.shard = TableShard(settings, tables.stop - tables.start, tables.start)
        self._step_result = buffers.step_result.each(lambda array: array[tables])
        self._parts: dict[int, tuple[View, Flags]] = {}

    # The public methods are the requests of the protocol, sent by name.

    def reset(self, table_ids: Words) -> None:
        """Deal every table anew."""
        self.shard.reset(table_ids)
        self._publish_state()

    def step(self, block: int) -> None:
        """Apply the chosen actions, then :meth:`show`."""
        self.shard.advance(self.buffers.chosen[self._tables], self._step_result)
        self._publish_state()
        self.show(block)

    def show(self, block: int) -> None:
        """Write the View and the legal actions into an observation block."""
        t = self.shard.tables
        if block not in self._parts:
            self._parts[block] = self.buffers.block(block).part(self._tables)
        view, mask = self._parts[block]
        observe.view(t, out=view)
        t.actions.unpack(t.legal, mask)

    def privileged(self) -> None:
        """Write the privileged observation."""
        observe.privileged(self.shard.tables, out=self.buffers.privileged[self._tables])

    def save(self) -> bytes:
        """Return the state of the shard."""
        return self.shard.save()

    def load(self, state: bytes) -> None:
        """Continue from a saved state."""
        self.shard.load(Tables.load(self.buffers.rules, state))
        self._publish_state()

    def illegal(self, n: int, action: int) -> IllegalAction:
        """See :meth:`gunzi_env.vector.episodes.TableShard.illegal`."""
        return self.shard.illegal(n, action)

    def _publish_state(self) -> None:
        """Write legal actions, phases and seats to move into the buffers."""
        t, mine = self.shard.tables, self._tables
        self.buffers.legal[:, mine] = t.rows_of("legal")
        self.buffers.phase[mine], self.buffers.seat[mine] = t.phase, t.seat


def _spin(counter: memoryview, number: int) -> bool:
    """Spin up to SPIN_S; return whether the counter has reached ``number``, that is, a message is in the pipe."""
    end = time.perf_counter() + SPIN_S
    while time.perf_counter() < end:
        for _ in range(_SPINS_PER_CLOCK):
            if counter[0] == number:
                return True
    return False


def _counter(row: npt.NDArray[np.int64]) -> memoryview:
    """Return a row as a memoryview, whose first element is faster to access than the array's."""
    return row.data


# The worker's side --------------------------------------------------------------------------------------


def _serve(line: Connection, memory: Any, settings: Settings, num: int, processes: int, rank: int, own: slice) -> None:
    """Answer requests as process number ``rank`` until the pipe is closed; the tables ``own`` are its shard."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    buffers = SharedBuffers(settings.rules, num, processes, np.frombuffer(memory, np.uint8))
    asked, answered = _counter(buffers.asked[rank]), _counter(buffers.answered[rank])
    try:
        server = ShardServer(settings, buffers, own)
        line.send(None)
        number = 0
        while True:
            number += 1
            _spin(asked, number)
            request, arguments = line.recv()
            answer = getattr(server, request)(*arguments)
            line.send(answer)
            answered[0] = number
    except (EOFError, ConnectionError):  # the parent has closed the pipe
        return
    except Exception as error:
        line.send(Failure(traceback.format_exception_only(error)[-1].strip(), traceback.format_exc()))


def _end_with_parent() -> None:
    """End this process as soon as its parent has ended for any reason."""
    parent = parent_process()
    while parent is not None and os.getppid() == parent.pid and not connection.wait([parent.sentinel], 1.0):
        pass
    os._exit(0)


# The parent's side --------------------------------------------------------------------------------------


class Worker:
    """Handle of the worker process number ``rank`` (from 1) in its parent."""

    def __init__(self, settings: Settings, buffers: SharedBuffers, memory: Any, rank: int, own: slice) -> None:
        """Start the process for the tables ``own`` without waiting; ``memory`` is the buffers' memory as a RawArray."""
        processes = len(buffers.asked)
        self.name = f"worker {rank} of {processes - 1} (tables {own.start}..{own.stop - 1})"
        self._asked, self._answered, self._number = _counter(buffers.asked[rank]), _counter(buffers.answered[rank]), 0
        self._late = False
        arguments = (memory, settings, buffers.num, processes, rank, own)
        self.process, self._line = spawn(_serve, arguments, f"gunzi-worker-{rank}")

    def wait_started(self) -> None:
        """Wait until the process has started."""
        try:
            self._receive(START_LIMIT_S, "its start")
        except WorkerLost as lost:
            lost.add_note("A script that starts workers must do so under: if __name__ == '__main__':")
            raise

    def send(self, request: str, arguments: tuple[Any, ...], doing: str) -> None:
        """Send a request of :class:`ShardServer`; ``doing`` names it in the message of :class:`WorkerLost`."""
        self._number += 1
        try:
            self._line.send((request, arguments))
        except OSError:
            raise self._lost(doing) from None
        self._asked[0] = self._number

    def answer(self, doing: str) -> Any:
        """Receive the answer to the last request."""
        there = _spin(self._answered, self._number)
        return self._receive(0 if there else ANSWER_LIMIT_S, doing)

    @contextmanager
    def kill_if_late(self) -> Generator[None]:
        """Kill the worker if the block takes too long: sending more than the pipe holds waits for the reader."""
        timer = threading.Timer(ANSWER_LIMIT_S, self._kill_late)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def close_pipe(self) -> None:
        """Close the pipe; the worker ends after its current request."""
        self._line.close()

    def end(self, until: float) -> None:
        """Wait for the process to end; kill it at the time ``until`` (``time.monotonic``)."""
        self.process.join(max(until - time.monotonic(), 0))
        if self.process.is_alive():
            self.process.kill()
            self.process.join()

    def _receive(self, limit: float, doing: str) -> Any:
        """Receive a message within ``limit`` seconds; 0 if it has certainly arrived."""
        try:
            if limit and not self._line.poll(limit):
                self._kill_late()
            answer = self._line.recv()
        except (EOFError, OSError):
            raise self._lost(doing) from None
        if isinstance(answer, Failure):
            lost = WorkerLost(f"{self.name} failed in {doing}: {answer.message}")
            lost.add_note(answer.traceback)
            raise lost
        return answer

    def _kill_late(self) -> None:
        self._late = True
        self.process.kill()

    def _lost(self, doing: str) -> WorkerLost:
        ending = how_ended(self.process, CLOSE_LIMIT_S)
        how = "gave no answer in time" if self._late else f"was lost ({ending})"
        return WorkerLost(f"{self.name} {how} in {doing}")
