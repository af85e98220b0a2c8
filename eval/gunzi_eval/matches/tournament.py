"""Tournaments: pairs of agents, the blocks that each pair has to play, and when a pair has played enough.

Results are ordered by block number, and the next block never depends on which process finished first. The outcome is
therefore the same for any number of workers and after any number of interruptions.
"""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gunzi_agents.base import Agent
from gunzi_agents.playing import identity
from gunzi_env.cli.options import UsageError
from gunzi_env.rules import Rules
from gunzi_env.vector.processes import WorkerLost
from gunzi_eval.matches import duplicate
from gunzi_eval.matches.figures import Pair, Shares
from gunzi_eval.matches.games_file import GamesFile
from gunzi_eval.matches.hands import HandResults
from gunzi_eval.matches.workers import (
    BlockPlayer,
    Executor,
    Games,
    MatchBlock,
    ProcessExecutor,
    SerialExecutor,
    TournamentSpec,
    shares,
)
from gunzi_eval.stats.intervals import Method, mean_interval, student_interval

MAX_DEALS_PER_PAIR = 10_000_000
"""Largest number of deals, and of matches, per pair."""
FIRST_LOOK = 128
"""Fewest deals before the stopping rule applies: the spread of a few deals is not reliable."""


@dataclass(frozen=True)
class Plan:
    """Number of deals and matches per pair, stopping rule, and interval method."""

    deals: int
    matches: int = 0
    until: float | None = None
    """Stop a pair once the half-width of its interval of levels is at most this; ``deals`` is the maximum."""
    method: Method = student_interval


def looks(blocks: int, size: int) -> list[int]:
    """Numbers of blocks after which the stopping rule is applied: doubling from ``FIRST_LOOK`` deals, and at the end.

    Checking often and stopping at the first narrow interval favours samples whose spread happens to be small (it does
    not favour a side). The rule is therefore applied at a few fixed points only. In the worst case, where a check stops
    with probability 1/2, simulated intervals covered the true mean in 94.7 % of cases; they are not corrected.

    >>> looks(20, 64), looks(3, 256), looks(1, 8)
    ([2, 4, 8, 16, 20], [1, 2, 3], [1])
    """
    found = []
    number = -(-FIRST_LOOK // size)
    while number < blocks:
        found.append(number)
        number *= 2
    return [*found, blocks]


class Pairing:
    """The finished and the remaining blocks of one pair."""

    def __init__(self, names: tuple[str, str], size: int, plan: Plan) -> None:
        """Divide the plan into blocks of ``size`` deals."""
        self.names = names
        self._plan = plan
        self._hands = [
            MatchBlock(*names, "hands", first, min(size, plan.deals - first)) for first in range(0, plan.deals, size)
        ]
        self._matches = [
            MatchBlock(*names, "matches", first, min(size, plan.matches - first))
            for first in range(0, plan.matches, size)
        ]
        self._games: dict[MatchBlock, Games] = {}
        self._looks = looks(len(self._hands), size) if plan.until is not None else [len(self._hands)]
        self._asked: list[MatchBlock] = []
        self._missing = 0

    def more(self) -> list[MatchBlock]:
        """Return the blocks to play next; none while results are missing, or if the pair has played enough."""
        if self._missing or not self._looks or (self._asked and self._narrow()):
            return []
        begun = len(self._asked)
        self._asked = self._hands[: self._looks.pop(0)]
        new = self._asked[begun:] if begun else [*self._asked, *self._matches]
        self._missing = len(new)
        return new

    def _narrow(self) -> bool:
        if self._plan.until is None:
            return False
        found = mean_interval(self.hands().metrics().levels, self._plan.method)
        return found.low is not None and found.high is not None and (found.high - found.low) / 2 <= self._plan.until

    def add(self, block: MatchBlock, games: Games) -> None:
        """Add the result of a block that :meth:`more` returned."""
        self._games[block] = games
        self._missing -= 1

    @property
    def left(self) -> int:
        """Upper bound on the deals still to be played."""
        if self._asked and not self._missing and (not self._looks or self._narrow()):
            return 0
        return sum(block.number for block in (*self._hands, *self._matches) if block not in self._games)

    def hands(self) -> HandResults:
        """Return all hands, in the order of the deals."""
        return HandResults.joined([HandResults.unpack(self._games[block]) for block in self._asked])

    def matches(self) -> Shares | None:
        """Return the share of each match, or None if no matches are played."""
        if not self._matches:
            return None
        return np.concatenate([shares(self._games[block]) for block in self._matches])

    def result(self) -> Pair:
        """Reduce the games to means with intervals."""
        return Pair.of(self.names, self.hands(), self.matches(), self._plan.method)


def play(
    pairings: Sequence[Pairing],
    executor: Executor,
    known: dict[MatchBlock, Games] | None = None,
    keep: Callable[[MatchBlock, Games], None] = lambda block, games: None,
) -> None:
    """Play all pairings to the end.

    Args:
        pairings: The pairings, of different pairs.
        executor: Plays the blocks.
        known: Results of blocks that are not played again.
        keep: Called with each block that was played.

    Raises:
        WorkerLost: a process was lost; ``keep`` has been called with all finished blocks.
        AgentFault: an agent crashed or played an illegal action.
    """
    known = known or {}
    by_name = {pairing.names: pairing for pairing in pairings}
    waiting: deque[MatchBlock] = deque()
    playing = 0

    def ask(pairing: Pairing) -> None:
        while blocks := pairing.more():
            missing = [block for block in blocks if block not in known]
            for block in blocks:
                if block in known:
                    pairing.add(block, known[block])
            if missing:
                waiting.extend(missing)
                break

    for pairing in pairings:
        ask(pairing)
    while waiting or playing:
        while waiting and executor.free():
            executor.start(waiting.popleft())
            playing += 1
        for block, games in executor.wait():
            playing -= 1
            pairing = by_name[block.a, block.b]
            pairing.add(block, games)
            keep(block, games)
            ask(pairing)


def run(
    pairs: Sequence[tuple[str, str]],
    spec: TournamentSpec,
    plan: Plan,
    workers: int = 1,
    save: Path | None = None,
    progress: Callable[[int, int], None] = lambda done, left: None,
) -> dict[tuple[str, str], Pairing]:
    """Play a tournament and return the finished pairing of each pair.

    Args:
        pairs: Pairs of agent specs.
        spec: Rules, seed and rotations; receives the identities of the agents.
        plan: What each pair plays.
        workers: Number of processes; the results do not depend on it.
        save: File that stores each finished block, and from which an interrupted tournament resumes.
        progress: Called after each block with the deals played in this run and an upper bound on those left.

    Raises:
        WorkerLost: a process was lost; the message names the file with the finished blocks, a new file if ``save`` is
            None.
        GamesFileError: the file is damaged or contains other games.
        UsageError: the file cannot be written.
        AgentFault: an agent crashed or played an illegal action.
    """
    player = BlockPlayer(spec)
    agents = {name: player.agent(name) for pair in pairs for name in pair}
    spec.identities.update((name, identity(agent)) for name, agent in agents.items())
    sizes = {name: duplicate.block_size(agent) for name, agent in agents.items()}
    pairings = {(a, b): Pairing((a, b), min(sizes[a], sizes[b]), plan) for a, b in pairs}
    file = GamesFile(save, spec, sizes) if save is not None else None
    played: dict[MatchBlock, Games] = {}
    done = 0

    def keep(block: MatchBlock, games: Games) -> None:
        nonlocal done
        if file is not None:
            file.add(block, games)
        else:
            played[block] = games
        done += block.number
        progress(done, sum(pairing.left for pairing in pairings.values()))

    with contextlib.closing(file) if file else contextlib.nullcontext():
        executor = SerialExecutor(player) if workers == 1 else ProcessExecutor(spec, workers)
        try:
            play(list(pairings.values()), executor, file.games if file else {}, keep)
        except WorkerLost as lost:
            raise WorkerLost(f"{lost}; {_kept(file, played, spec, sizes)}") from None
        finally:
            executor.close()
    return pairings


def _kept(file: GamesFile | None, played: dict[MatchBlock, Games], spec: TournamentSpec, sizes: dict[str, int]) -> str:
    """Save the finished blocks of a tournament that cannot continue, and say where they are."""
    if file is None:
        if not played:
            return "no block was finished before"
        path = Path(f"arena-{time.strftime('%Y%m%d-%H%M%S')}.jsonl")
        try:
            with contextlib.closing(GamesFile(path, spec, sizes)) as file:
                for block, games in played.items():
                    file.add(block, games)
        except UsageError as error:
            return f"the finished blocks could not be saved: {error}"
    return f"{len(file.games)} finished blocks are saved: resume with --save {file.path}"


def measure(
    names: tuple[str, str],
    agents: tuple[Agent, Agent],
    rules: Rules,
    deals: int,
    seed: int,
    matches: int = 0,
    progress: duplicate.Progress = lambda done: None,
) -> Pair:
    """Play one pair in this process and reduce its deals to means with intervals.

    Raises:
        AgentFault: an agent crashed or played an illegal action.
    """
    hands = duplicate.play_hands(agents, rules, deals, seed, progress)
    won = duplicate.play_matches(agents, rules, matches, seed, progress) if matches else None
    return Pair.of(names, hands, won)
