"""Collective operations between the processes of a run over gloo, and the reason why a process was lost.

Nothing is pickled between processes: only tensors are exchanged, on one machine over the loopback device.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import safetensors.numpy
import torch
import torch.distributed as dist
from torch import Tensor

from gunzi_train.errors import NonFinite, OpponentFault, SaveError, TrainingError, WorkerLost

LOGS = "workers"
END_SECONDS = 10.0
START_SECONDS = 60.0
"""Minimum timeout of the first contact: a process has to import torch before it answers."""


class WorkerHandle(Protocol):
    """A process of the run, held by the process that started it."""

    where: str
    """Place of its full output."""

    def poll(self) -> int | None:
        """Return its exit code; None while it runs."""

    def wait(self, seconds: float) -> bool:
        """Wait for its end; False after a timeout."""

    def kill(self) -> None:
        """Kill it if it still runs, without waiting."""

    def said(self) -> str:
        """Return the end of its output."""


class Group:
    """The processes of a run, seen from one of them. In a group of one, every call returns its argument.

    >>> Group().sum(np.array([1.0, 2.0]))
    array([1., 2.])
    """

    def __init__(self, rank: int = 0, world: int = 1, workers: Sequence[WorkerHandle] = ()) -> None:
        self.rank, self.world = rank, world
        self._workers = workers

    def all_reduce_mean_(self, tensor: Tensor) -> None:
        """Average a float tensor over the processes, in place."""
        if self.world > 1:
            here = tensor.cpu()  # gloo sums on the CPU; a CPU tensor is not copied
            self._call(lambda: dist.all_reduce(here))
            tensor.copy_(here.div_(self.world))

    def broadcast_(self, tensor: Tensor) -> None:
        """Copy the values of process 0 into the tensor of every process, in place."""
        if self.world > 1:
            here = tensor.cpu()
            self._call(lambda: dist.broadcast(here, 0))
            tensor.copy_(here)

    def sum(self, array: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Add up a small float64 array over the processes."""
        if self.world == 1:
            return array
        tensor = torch.from_numpy(array.copy())
        self._call(lambda: dist.all_reduce(tensor))
        return tensor.numpy()

    def broadcast(self, array: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the small float64 array of process 0 in every process."""
        if self.world == 1:
            return array
        tensor = torch.from_numpy(array.copy())
        self._call(lambda: dist.broadcast(tensor, 0))
        return tensor.numpy()

    def gather(self, arrays: dict[str, npt.NDArray[Any]]) -> list[dict[str, npt.NDArray[Any]]]:
        """Return the arrays of all processes by rank in process 0, an empty list elsewhere."""
        if self.world == 1:
            return [arrays]
        own = torch.frombuffer(bytearray(safetensors.numpy.save(arrays)), dtype=torch.uint8)
        sizes = np.zeros(self.world)
        sizes[self.rank] = len(own)
        sizes = self.sum(sizes)
        if self.rank:
            self._call(lambda: dist.send(own, 0))
            return []
        gathered = [arrays]
        for rank in range(1, self.world):
            data = torch.empty(int(sizes[rank]), dtype=torch.uint8)
            self._call(lambda data=data, rank=rank: dist.recv(data, rank))  # type: ignore[misc]
            gathered.append(safetensors.numpy.load(data.numpy().tobytes()))
        return gathered

    def close(self) -> None:
        """Leave the group; process 0 waits for the others and kills those that do not end."""
        if self.world > 1 and dist.is_initialized():
            dist.destroy_process_group()
        for worker in self._workers:
            if not worker.wait(END_SECONDS):
                worker.kill()
                worker.wait(END_SECONDS)

    def abort(self, *, wait: bool = True) -> None:
        """Kill the other processes."""
        for worker in self._workers:
            worker.kill()
        for worker in self._workers if wait else ():
            worker.wait(END_SECONDS)

    def _call(self, exchange: Callable[[], Any]) -> None:
        try:
            exchange()
        except RuntimeError as error:  # gloo: a peer closed the connection or timed out
            raise self.lost(str(error)) from None

    def lost(self, reason: str) -> TrainingError:
        """Find the lost process, print its output, and return the error to raise."""
        deadline = time.monotonic() + 5.0
        while self._workers and time.monotonic() < deadline and all(w.poll() is None for w in self._workers):
            time.sleep(0.05)
        ended = [(rank, code) for rank, worker in enumerate(self._workers, 1) if (code := worker.poll()) is not None]
        said = {rank: self._workers[rank - 1].said().strip() for rank, _ in ended}
        for rank, code in ended:
            for kind in (NonFinite, OpponentFault, SaveError):
                if code == kind.exit_code:
                    return kind(said[rank].splitlines()[-1] if said[rank] else f"in process {rank}")
        for rank, text in said.items():
            if text:
                print(f"--- process {rank} said ---\n{text}\n---", file=sys.stderr, flush=True)
        short = reason.strip().splitlines()[0][:160] if reason.strip() else "no answer"
        if not ended:
            return WorkerLost(f"process {self.rank} of {self.world} lost the others: {short}")
        # A process that lost the others is the cause only if no other process ended.
        rank, code = min(ended, key=lambda end: end[1] == WorkerLost.exit_code)
        silent = [rank for rank, worker in enumerate(self._workers, 1) if worker.poll() is None]
        if code == WorkerLost.exit_code and silent:
            return WorkerLost(f"process {silent[0]} of {self.world} did not answer; {short}")
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        if code == WorkerLost.exit_code:
            how += f"; {short}"
        return WorkerLost(f"process {rank} of {self.world} was lost ({how}); see {self._workers[rank - 1].where}")


def import_path() -> str:
    """Build a PYTHONPATH that gives another process on this machine the imports of this one."""
    return os.pathsep.join(entry for entry in sys.path if entry)


def meet(group: Group, make_store: Callable[[], dist.Store], timeout: float, *, loopback: bool = True) -> None:
    """Connect the processes of a run; every process calls this.

    Args:
        group: the group of this process.
        make_store: opens the store in which the processes find each other.
        timeout: seconds until an exchange fails.
        loopback: whether all processes run on this machine.
    """

    def exchange() -> None:
        names = {name for _, name in socket.if_nameindex()} if hasattr(socket, "if_nameindex") else set()
        for device in ("lo", "lo0"):
            if loopback and device in names:
                # Otherwise gloo resolves the host name, which fails without a network.
                os.environ["GLOO_SOCKET_IFNAME"] = device
        store, world = make_store(), group.world
        store.set(f"process {group.rank}", "is here")
        store.wait([f"process {other}" for other in range(world)], timedelta(seconds=max(timeout, START_SECONDS)))
        limit = timedelta(seconds=timeout)
        dist.init_process_group("gloo", store=store, rank=group.rank, world_size=world, timeout=limit)
        dist.all_reduce(torch.zeros(1))  # connects every pair now

    group._call(exchange)
