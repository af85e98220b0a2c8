"""Blocks of deals, the units of work of a tournament, and the executors that play them in this or in other processes.

The games of a block are a function of (two agents, rules, seed, deals), so it does not matter which process plays it or
when. The processes are not a ``concurrent.futures`` pool, because a pool cannot say which process was lost, why, and
what it was playing, and because it leaves its workers behind when the command itself is killed.
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
"""Packed results of a block: hands as packed by :meth:`gunzi_eval.matches.hands.HandResults.pack`; matches as their
shares in quarters, ``[1, 1, matches]``."""

MAX_WORKERS = 256

_QUARTERS = 4
"""The share of a match is a multiple of a quarter: two tables, each won, lost or, if it does not end, half."""


class MatchBlock(NamedTuple):
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
    """Error in another process, with its message and exit code."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class OtherAgent(ValueError):
    """The agent of a name has changed since the tournament began."""

    exit_code = 3


def shares(games: Games) -> npt.NDArray[np.float64]:
    """Unpack the share of its two tables that the first agent won in each match, ``float64[matches]``."""
    return games[0, 0] / _QUARTERS


@dataclass(frozen=True)
class TournamentSpec:
    """Everything that a process needs to play any block of a tournament."""

    rules: Rules
    seed: int
    rotations: int = 1
    make: Callable[[str, Rules], Agent] = registry.make
    """Builds an agent from its name; importable by name, for the other processes."""
    identities: dict[str, str] = field(default_factory=dict)
    """Expected :func:`gunzi_agents.playing.identity` of each agent, by name."""


class BlockPlayer:
    """Plays blocks in this process; agents are built when they are first needed."""

    def __init__(self, spec: TournamentSpec) -> None:
        self.spec = spec
        self._agents: dict[tuple[str, int], Agent] = {}

    def agent(self, name: str, side: int = 0) -> Agent:
        """Return the agent of a name; each side has its own instance, because agents may keep state.

        Raises:
            OtherAgent: its identity is not the expected one.
        """
        if (name, side) not in self._agents:
            made = self.spec.make(name, self.spec.rules)
            if self.spec.identities.get(name, identity(made)) != identity(made):
                raise OtherAgent(f"agent {name!r} is not what it was when the tournament began")
            self._agents[name, side] = made
        return self._agents[name, side]

    def play(self, block: MatchBlock) -> Games:
        """Play one block."""
        spec = self.spec
        agents = (self.agent(block.a), self.agent(block.b, 1))
        numbers = np.arange(block.first, block.first + block.number, dtype=np.uint64)
        if block.kind == "hands":
            return duplicate.hands_of_block(agents, spec.rules, numbers, spec.seed, spec.rotations).pack()
        won = duplicate.matches_of_block(agents, spec.rules, numbers, spec.seed)
        return (won * _QUARTERS).astype(np.int16)[None, None]


class Executor(Protocol):
    """Plays blocks: start blocks while there is capacity, then wait for results."""

    def free(self) -> bool:
        """Return whether another block can be started."""
        ...

    def start(self, block: MatchBlock) -> None:
        """Start a block."""
        ...

    def wait(self) -> list[tuple[MatchBlock, Games]]:
        """Return one or more finished blocks.

        Raises:
            WorkerLost: a process ended; all blocks finished before have been returned.
            Fault: a block raised a typed error in another process.
        """
        ...

    def close(self) -> None:
        """Release the processes."""
        ...


class SerialExecutor:
    """Plays one block after the other in this process."""

    def __init__(self, player: BlockPlayer) -> None:
        self._player = player
        self._block: MatchBlock | None = None

    def free(self) -> bool:
        """See :class:`Executor`."""
        return self._block is None

    def start(self, block: MatchBlock) -> None:
        """See :class:`Executor`."""
        self._block = block

    def wait(self) -> list[tuple[MatchBlock, Games]]:
        """See :class:`Executor`; plays the block."""
        assert self._block is not None, "no block was started"
        block, self._block = self._block, None
        return [(block, self._player.play(block))]

    def close(self) -> None:
        """See :class:`Executor`."""


class ProcessExecutor:
    """Plays blocks in other processes, one at a time in each."""

    def __init__(self, spec: TournamentSpec, workers: int) -> None:
        self._processes: dict[Connection, Any] = {}
        self._blocks: dict[Connection, MatchBlock] = {}
        self._failure: Failure | None = None
        try:
            for number in range(1, workers + 1):
                process, connection = spawn(_work, (spec,), f"worker {number} of {workers}")
                self._processes[connection] = process
        except BaseException:
            self.close()
            raise

    @property
    def pids(self) -> list[int]:
        """Process ids of the workers."""
        return [process.pid for process in self._processes.values()]

    def free(self) -> bool:
        """See :class:`Executor`."""
        return len(self._blocks) < len(self._processes)

    def start(self, block: MatchBlock) -> None:
        """See :class:`Executor`."""
        connection = next(found for found in self._processes if found not in self._blocks)
        self._blocks[connection] = block
        with contextlib.suppress(OSError):  # the process has ended; wait() reports it
            connection.send(block)

    def wait(self) -> list[tuple[MatchBlock, Games]]:
        """See :class:`Executor`."""
        finished: list[tuple[MatchBlock, Games]] = []
        while not finished:
            if self._failure is not None:
                _raise(self._failure)
            lost = None
            for connection in wait(list(self._blocks)):
                assert isinstance(connection, Connection)
                try:
                    answer = connection.recv()
                except (EOFError, OSError):
                    lost = connection
                    continue
                if isinstance(answer, Failure):
                    self._failure = answer
                else:
                    finished.append((self._blocks.pop(connection), answer))
            if lost is not None and not finished:
                raise self._lost(lost)
        return finished

    def _lost(self, connection: Connection) -> WorkerLost:
        process = self._processes[connection]
        playing = ", ".join(map(str, self._blocks.values()))
        return WorkerLost(f"{process.name} was lost ({how_ended(process, 5)}); being played: {playing}")

    def close(self) -> None:
        """Kill the processes; unfinished blocks are lost."""
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


def _work(connection: Connection, spec: TournamentSpec) -> None:
    """Play the blocks sent over the connection until it is closed."""
    player = BlockPlayer(spec)
    with contextlib.suppress(EOFError, OSError):
        while True:
            block = connection.recv()
            try:
                answer: Any = player.play(block)
            except Exception as error:
                trace = f"{block}:\n{traceback.format_exc()}"
                answer = Failure(cli.message(error), trace, cli.exit_code(error))
            connection.send(answer)
