"""Blocks of deals as tasks: what a tournament is made of, and who plays them, here or in other processes.

A block's games are a function of (two agents, rules, seed, deals), so that it does not matter who plays it, or when.
The processes are our own and not a ``concurrent.futures`` pool, because that cannot say which process was lost, to
what, or what it was playing, and leaves its workers behind when the command itself is killed.
"""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any, Literal, NamedTuple, NoReturn, Protocol

import numpy as np
import numpy.typing as npt

from gunzi_agents import registry
from gunzi_agents.base import Agent
from gunzi_agents.playing import identity
from gunzi_env import cli
from gunzi_env.rules import Rules
from gunzi_env.vector.processes import Failure, WorkerLost, how_ended, spawn
from gunzi_eval.matches import duplicate

Games = npt.NDArray[np.int16]
"""Packed results of a block: hands as :meth:`gunzi_eval.matches.hands.Hands.pack` gives them; matches as their shares
in quarters, ``[1, 1, matches]``."""

_QUARTERS = 4
"""A match's share is a number of quarters: two tables, each won, lost or, without an end, half."""


class Task(NamedTuple):
    """A block of deals, or of whole matches, between two agents."""

    a: str
    b: str
    kind: Literal["hands", "matches"]
    first: int
    number: int

    def __str__(self) -> str:
        what = "deals" if self.kind == "hands" else self.kind
        return f"{self.a} - {self.b} {what} {self.first}..{self.first + self.number - 1}"


class Fault(ValueError):
    """What went wrong in another process, in its own words and with its own exit code."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class OtherAgent(ValueError):
    """A name that has come to mean another agent since the tournament began."""

    exit_code = 3


def shares(games: Games) -> npt.NDArray[np.float64]:
    """The share of its two tables that the first agent won, of each match: float64[matches]."""
    return games[0, 0] / _QUARTERS


@dataclass(frozen=True)
class Setting:
    """All that a process needs to play any block."""

    rules: Rules
    seed: int
    rotations: int = 1
    make: Callable[[str, Rules], Agent] = registry.make
    """Importable by name, for the other processes."""
    identities: dict[str, str] = field(default_factory=dict)
    """By agent: what :func:`identity` must give."""


class Player:
    """Plays blocks in this process; agents are made when they are first met."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self._agents: dict[tuple[str, int], Agent] = {}

    def agent(self, name: str, side: int = 0) -> Agent:
        """The agent of a name; each side has its own, for agents may remember what they have seen."""
        if (name, side) not in self._agents:
            made = self.setting.make(name, self.setting.rules)
            if self.setting.identities.get(name, identity(made)) != identity(made):
                raise OtherAgent(f"agent {name!r} is not what it was when the tournament began")
            self._agents[name, side] = made
        return self._agents[name, side]

    def play(self, task: Task) -> Games:
        """The games of one block."""
        setting = self.setting
        agents = (self.agent(task.a), self.agent(task.b, 1))
        numbers = np.arange(task.first, task.first + task.number, dtype=np.uint64)
        if task.kind == "hands":
            return duplicate.hands_of_block(agents, setting.rules, numbers, setting.seed, setting.rotations).pack()
        won = duplicate.matches_of_block(agents, setting.rules, numbers, setting.seed)
        return (won * _QUARTERS).astype(np.int16)[None, None]


class Players(Protocol):
    """Those who play: give them tasks while there is a place, then wait for what is finished."""

    def free(self) -> bool:
        """Is there a place?"""
        ...

    def start(self, task: Task) -> None:
        """Begin a block."""
        ...

    def wait(self) -> list[tuple[Task, Games]]:
        """Some finished blocks, at least one.

        Raises:
            WorkerLost: a process ended; blocks that were finished before have been handed over.
        """
        ...

    def close(self) -> None:
        """End."""
        ...


class Alone:
    """This process plays, one block after the other."""

    def __init__(self, player: Player) -> None:
        self._player = player
        self._task: Task | None = None

    def free(self) -> bool:
        """See :class:`Players`."""
        return self._task is None

    def start(self, task: Task) -> None:
        """See :class:`Players`."""
        self._task = task

    def wait(self) -> list[tuple[Task, Games]]:
        """See :class:`Players`; the block is played now."""
        assert self._task is not None, "there is nothing to wait for"
        task, self._task = self._task, None
        return [(task, self._player.play(task))]

    def close(self) -> None:
        """See :class:`Players`."""


class Pool:
    """Other processes play, as many blocks at a time as there are processes."""

    def __init__(self, setting: Setting, workers: int) -> None:
        self._processes: dict[Connection, Any] = {}
        self._tasks: dict[Connection, Task] = {}
        self._failure: Failure | None = None
        try:
            for number in range(1, workers + 1):
                process, connection = spawn(_work, (setting,), f"worker {number} of {workers}")
                self._processes[connection] = process
        except BaseException:
            self.close()
            raise

    @property
    def pids(self) -> list[int]:
        """The processes' numbers."""
        return [process.pid for process in self._processes.values()]

    def free(self) -> bool:
        """See :class:`Players`."""
        return len(self._tasks) < len(self._processes)

    def start(self, task: Task) -> None:
        """See :class:`Players`."""
        connection = next(found for found in self._processes if found not in self._tasks)
        self._tasks[connection] = task
        with contextlib.suppress(OSError):  # it is gone, which wait() will say
            connection.send(task)

    def wait(self) -> list[tuple[Task, Games]]:
        """See :class:`Players`."""
        finished: list[tuple[Task, Games]] = []
        while not finished:
            if self._failure is not None:
                _raise(self._failure)
            lost = None
            for connection in wait(list(self._tasks)):
                assert isinstance(connection, Connection)
                try:
                    answer = connection.recv()
                except (EOFError, OSError):
                    lost = connection
                    continue
                if isinstance(answer, Failure):
                    self._failure = answer
                else:
                    finished.append((self._tasks.pop(connection), answer))
            if lost is not None and not finished:
                raise self._lost(lost)
        return finished

    def _lost(self, connection: Connection) -> WorkerLost:
        process = self._processes[connection]
        playing = ", ".join(map(str, self._tasks.values()))
        return WorkerLost(f"{process.name} was lost ({how_ended(process, 5)}); being played: {playing}")

    def close(self) -> None:
        """End the processes; what they are playing is given up."""
        for connection, process in self._processes.items():
            connection.close()
            process.kill()
        for process in self._processes.values():
            process.join()


def _raise(failure: Failure) -> NoReturn:
    """Raise a worker's exception here: :class:`Fault`, or :class:`WorkerLost` after showing a defect's traceback."""
    if failure.exit_code is None:
        print(failure.traceback.rstrip(), file=sys.stderr, flush=True)
        raise WorkerLost(f"a worker failed: {failure.message}")
    raise Fault(failure.message, failure.exit_code)


def _work(connection: Connection, setting: Setting) -> None:
    """Play the blocks sent over the connection until it is closed."""
    player = Player(setting)
    with contextlib.suppress(EOFError, OSError):
        while True:
            task = connection.recv()
            try:
                answer: Any = player.play(task)
            except Exception as error:
                trace = f"{task}:\n{traceback.format_exc()}"
                answer = Failure(cli.message(error), trace, cli.exit_code(error))
            connection.send(answer)
