"""The other processes of a run on this machine, each of which plays and learns.

Process 0 is the command itself. It starts the others as ``python -m gunzi_train.launch.processes FOLDER RANK ...``.
They read config.json in the run folder and write their output to ``workers/N.log`` there, which process 0 prints when a
process is lost. On several machines Ray starts them (:mod:`gunzi_train.launch.ray_cluster`).
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import torch.distributed as dist

from gunzi_train.errors import SaveError
from gunzi_train.group import LOGS, Group, WorkerHandle, import_path, meet
from gunzi_train.plan import CONFIG, Plan
from gunzi_train.run import session


class Subprocess:
    """A :class:`WorkerHandle` on this machine."""

    def __init__(self, command: list[str], environment: dict[str, str], log: Path) -> None:
        self._log, self.where = log, str(log.parent)
        with open(log, "wb") as file:
            # A session of its own: Ctrl-C in the terminal reaches only process 0, which saves and stops all.
            self._process = subprocess.Popen(command, stdout=file, stderr=file, env=environment, start_new_session=True)

    def poll(self) -> int | None:
        return self._process.poll()

    def wait(self, seconds: float) -> bool:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        return self._process.poll() is not None

    def kill(self) -> None:
        if self._process.poll() is None:
            self._process.kill()

    def said(self, limit: int = 20_000) -> str:
        try:
            return self._log.read_bytes()[-limit:].decode("utf-8", "replace")
        except OSError:
            return ""


def start(folder: Path, world: int, timeout: float) -> Group:
    """Start and connect the other processes of the run in ``folder``; called by process 0."""
    if world == 1:
        return Group()
    logs = folder / LOGS
    meeting = logs / f"meeting-{os.getpid()}"
    environment = os.environ | {"PYTHONPATH": import_path(), "PYTHONFAULTHANDLER": "1"}
    workers: list[WorkerHandle] = []
    group = Group(0, world, workers)
    try:
        logs.mkdir(exist_ok=True)
        meeting.unlink(missing_ok=True)
        for rank in range(1, world):
            module = [sys.executable, "-m", "gunzi_train.launch.processes"]
            command = [*module, str(folder), str(rank), str(world), str(meeting)]
            workers.append(Subprocess(command, environment, logs / f"{rank}.log"))
        meet(group, lambda: dist.FileStore(str(meeting), world), timeout)
    except OSError as error:
        group.abort()
        raise SaveError(f"{logs}: the other processes could not be started ({error.strerror})") from None
    except BaseException:
        group.abort()
        raise
    finally:
        with contextlib.suppress(OSError):
            meeting.unlink(missing_ok=True)
    return group


def worker(folder: str, rank: int, world: int, meeting: str) -> int:
    """Run a process other than the first; returns its exit code."""
    for number in (signal.SIGINT, signal.SIGTERM):  # process 0 saves and stops all; some senders signal every process
        signal.signal(number, signal.SIG_IGN)
    plan = Plan.from_json(json.loads((Path(folder) / CONFIG).read_text("utf-8")))
    try:
        group = Group(rank, world)
        meet(group, lambda: dist.FileStore(meeting, world), plan.config.timeout_seconds)
        return session.run(Path(folder), plan, group)
    except Exception as error:
        if not hasattr(error, "exit_code"):
            raise
        print(f"process {rank}: {' '.join(str(error).split())}", file=sys.stderr, flush=True)
        return int(error.exit_code)


if __name__ == "__main__":
    code = worker(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
    sys.stderr.flush()
    os._exit(code)  # a broken process group must not delay the exit
