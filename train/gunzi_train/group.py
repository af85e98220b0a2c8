"""The processes of a run as one of them sees it: collective operations over gloo, and what became of the others.

Nothing is pickled between processes: only tensors travel, on one machine over the loopback device.
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
"""A process may take so long to its first word, however little it may take later: torch is slow to import."""


class Child(Protocol):
    """Another process of the run, as the one that started it sees it."""

    where: str
    """Where to read more of what it said."""

    def poll(self) -> int | None:
        """Its exit code; None while it runs."""

    def wait(self, seconds: float) -> bool:
        """Whether it ends within this time."""

    def kill(self) -> None:
        """End it if it has not ended, without waiting for the end."""

    def said(self) -> str:
        """The end of what it said."""


class Group:
    """The processes of a run as one of them sees it. Without others every call returns what it was given."""

    def __init__(self, rank: int = 0, world: int = 1, children: Sequence[Child] = ()) -> None:
        self.rank, self.world = rank, world
        self._children = children

    def mean_(self, tensor: Tensor) -> None:
        """Average a float tensor over the processes, in place."""
        if self.world > 1:
            here = tensor.cpu()  # gloo sums on the processor; a tensor that lies there is not copied
            self._call(lambda: dist.all_reduce(here))
            tensor.copy_(here.div_(self.world))

    def share_(self, tensor: Tensor) -> None:
        """Give a tensor everywhere the values that it has in process 0, in place."""
        if self.world > 1:
            here = tensor.cpu()
            self._call(lambda: dist.broadcast(here, 0))
            tensor.copy_(here)

    def sum(self, array: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The sum over the processes of a small float64 array."""
        if self.world == 1:
            return array
        tensor = torch.from_numpy(array.copy())
        self._call(lambda: dist.all_reduce(tensor))
        return tensor.numpy()

    def tell(self, array: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """What process 0 has in a small float64 array, everywhere."""
        if self.world == 1:
            return array
        tensor = torch.from_numpy(array.copy())
        self._call(lambda: dist.broadcast(tensor, 0))
        return tensor.numpy()

    def gather(self, arrays: dict[str, npt.NDArray[Any]]) -> list[dict[str, npt.NDArray[Any]]]:
        """At process 0 the arrays of all processes by rank; elsewhere an empty list."""
        if self.world == 1:
            return [arrays]
        mine = torch.frombuffer(bytearray(safetensors.numpy.save(arrays)), dtype=torch.uint8)
        sizes = np.zeros(self.world)
        sizes[self.rank] = len(mine)
        sizes = self.sum(sizes)
        if self.rank:
            self._call(lambda: dist.send(mine, 0))
            return []
        found = [arrays]
        for rank in range(1, self.world):
            theirs = torch.empty(int(sizes[rank]), dtype=torch.uint8)
            self._call(lambda theirs=theirs, rank=rank: dist.recv(theirs, rank))  # type: ignore[misc]
            found.append(safetensors.numpy.load(theirs.numpy().tobytes()))
        return found

    def close(self) -> None:
        """Leave; process 0 waits for the others, and ends those that do not go."""
        if self.world > 1 and dist.is_initialized():
            dist.destroy_process_group()
        for child in self._children:
            if not child.wait(END_SECONDS):
                child.kill()
                child.wait(END_SECONDS)

    def abort(self, *, wait: bool = True) -> None:
        """End the other processes at once."""
        for child in self._children:
            child.kill()
        for child in self._children if wait else ():
            child.wait(END_SECONDS)

    def _call(self, exchange: Callable[[], Any]) -> None:
        try:
            exchange()
        except RuntimeError as error:  # gloo: the other side closed, or did not answer in time
            raise self.lost(str(error)) from None

    def lost(self, reason: str) -> TrainingError:
        """The error to end with: what the lost process said, with its own traceback."""
        deadline = time.monotonic() + 5.0
        while self._children and time.monotonic() < deadline and all(child.poll() is None for child in self._children):
            time.sleep(0.05)
        ended = [(rank, code) for rank, child in enumerate(self._children, 1) if (code := child.poll()) is not None]
        said = {rank: self._children[rank - 1].said().strip() for rank, _ in ended}
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
        # One that has lost the others is not the cause, if there is another.
        rank, code = min(ended, key=lambda end: end[1] == WorkerLost.exit_code)
        silent = [rank for rank, child in enumerate(self._children, 1) if child.poll() is None]
        if code == WorkerLost.exit_code and silent:
            return WorkerLost(f"process {silent[0]} of {self.world} did not answer; {short}")
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        if code == WorkerLost.exit_code:
            how += f"; {short}"
        return WorkerLost(f"process {rank} of {self.world} was lost ({how}); see {self._children[rank - 1].where}")


def import_path() -> str:
    """PYTHONPATH with which another process on this machine imports what this one does."""
    return os.pathsep.join(entry for entry in sys.path if entry)


def meet(group: Group, make_store: Callable[[], dist.Store], timeout: float, *, loopback: bool = True) -> None:
    """Connect the processes of a run, all of which call this.

    Args:
        group: of this process.
        make_store: gives what they find each other by.
        timeout: seconds that an exchange may take.
        loopback: whether all are on this machine.
    """

    def exchange() -> None:
        names = {name for _, name in socket.if_nameindex()} if hasattr(socket, "if_nameindex") else set()
        for device in ("lo", "lo0"):
            if loopback and device in names:
                # Without it gloo looks up the host's name, which fails where there is no network.
                os.environ["GLOO_SOCKET_IFNAME"] = device
        store, world = make_store(), group.world
        store.set(f"process {group.rank}", "is here")
        store.wait([f"process {other}" for other in range(world)], timedelta(seconds=max(timeout, START_SECONDS)))
        limit = timedelta(seconds=timeout)
        dist.init_process_group("gloo", store=store, rank=group.rank, world_size=world, timeout=limit)
        dist.all_reduce(torch.zeros(1))  # connects the pairs now

    group._call(exchange)
