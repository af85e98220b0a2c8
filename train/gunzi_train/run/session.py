"""One training from start to stop, in each of its processes.

After every update process 0 decides on the next actions (stop, save, play matches, the length of the schedule), and all
processes do them together. Only process 0 writes files and prints.
"""

from __future__ import annotations

import contextlib
import math
import time
import traceback
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gunzi_agents import checkpoint
from gunzi_agents.base import Agent
from gunzi_agents.networks import describe
from gunzi_eval.stats.intervals import Interval
from gunzi_train import folder
from gunzi_train.algorithms.base import Counters, make
from gunzi_train.device import settle_torch
from gunzi_train.errors import FaultElsewhere, Interrupted, WorkerLost
from gunzi_train.group import Group
from gunzi_train.logs.curve import Curve
from gunzi_train.logs.metrics import Metrics
from gunzi_train.logs.progress import Progress, Status, sentence
from gunzi_train.plan import Plan
from gunzi_train.rollout.collector import Source
from gunzi_train.run import evaluate, samples
from gunzi_train.seeds import derived_seed
from gunzi_train.signals import SignalGuard

FIRST_MATCH = 5.0
"""Seconds until the first match."""
GO_ON, DONE = 0, 1


class Session:
    """The loop of one process; see :func:`run`."""

    def __init__(
        self, run_folder: Path, plan: Plan, group: Group, started_at: float, source: Source | None = None
    ) -> None:
        self.folder, self.plan, self.group, self.started_at = run_folder, plan, group, started_at
        self.config = plan.config
        self.algorithm = make(plan, group, source)
        self.total = plan.config.schedule.updates  # updates; 0 until the speed is known
        self.seconds = 0.0  # of earlier sessions
        self.measured: dict[str, dict[str, Interval]] = {}
        self.measured_at = 0  # hands
        self.best: float | None = None  # levels against the first opponent; known to process 0
        self.figures: dict[str, float] = {}  # of the last update, those that are shown
        self.speed = {"hands_per_s": 0.0, "decisions_per_s": 0.0}
        self.progress: Progress | None = None
        self.metrics: Metrics | None = None
        self.curve = Curve(run_folder, self.algorithm.figures)
        self.loop_started_at = self.last_saved = self.last_match = self.last_curve = time.monotonic()
        self.match_seconds = 0.0  # duration of the last match
        self.matches_seconds = 0.0  # duration of all matches of this session
        self.first_update = self.first_hand = self.first_decision = 0  # of this session
        self.finished = False
        if plan.resume:
            self._resume()
        elif plan.config.start:
            self._start()

    @property
    def counters(self) -> Counters:
        """Progress of the run."""
        return self.algorithm.counters

    # --- the loop ---------------------------------------------------------------------------------

    def loop(self, stop: SignalGuard | None) -> int:
        """Update until the end or a signal; returns the exit code."""
        self.loop_started_at = self.last_saved = self.last_curve = time.monotonic()
        self.last_match = self.loop_started_at - self.config.evaluate.every_seconds + FIRST_MATCH
        self.first_update = self.counters.updates
        self.first_hand, self.first_decision = self.counters.hands, self.counters.decisions
        code = GO_ON
        if not self.plan.resume:
            self._save(self.folder / checkpoint.UNTRAINED)
        while not code:
            if not self.total or self.counters.updates < self.total:  # otherwise a signal came in the last match
                try:
                    figures = self.algorithm.update(self._done())
                except Interrupted as error:  # while waiting for actors
                    return self._give_up(error)
                self._record(figures, self._source_figures())
            code, save, play, self.total = (int(x) for x in self.group.broadcast(self._decide(stop)))
            if play:
                code = self._match(stop) or code
            self.finished = code == DONE
            if save or code:
                self._save_update()
        if code == DONE or self.last_curve > self.loop_started_at:
            self._draw()  # after a signal only if it is quick, with matplotlib loaded
        if self.progress is not None:  # once more, with the last match in it
            self.progress.show(self._status(time.monotonic(), done=code == DONE), force=True)
        return 0 if code == DONE else code

    def _done(self) -> float:
        """Compute the completed share of the schedule; 0 while its length is unknown."""
        return min(1.0, self.counters.updates / self.total) if self.total else 0.0

    def _give_up(self, error: Interrupted) -> int:
        """Save the state before an interrupted update; returns the exit code."""
        if self.group.world > 1:
            raise error  # the other processes wait elsewhere and cannot send their part of a checkpoint
        self._save_update()
        return error.exit_code

    def _decide(self, stop: SignalGuard | None) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Decide [exit code or DONE, save, match, length of the schedule]; the decision of process 0 counts."""
        now, updates = time.monotonic(), self.counters.updates
        total = self.total or self._schedule(now)
        code = GO_ON
        if stop is not None and stop.code:
            code = stop.code
        elif (total and updates >= total) or (self.config.minutes and now - self.started_at >= self._limit(now)):
            code = DONE
        every = self.config.evaluate.every_seconds
        play = bool(every) and (now - self.last_match >= every or code == DONE)
        save = now - self.last_saved >= self.config.save.every_seconds
        return np.array([code, save, play, total], np.float64)

    def _limit(self, now: float) -> float:
        """Compute the seconds of playing and learning: minutes, minus one more update and the last match."""
        rate = (now - self.loop_started_at) / max(1, self.counters.updates - self.first_update)
        return 60 * self.config.minutes - rate - self.match_seconds

    def _schedule(self, now: float) -> int:
        """Compute the length of the schedule from the speed so far; 0 until enough was measured."""
        spent, updates = now - self.loop_started_at - self.matches_seconds, self.counters.updates - self.first_update
        if spent < self.config.schedule.probe_seconds or updates < 3:
            return 0
        left = max(0.0, 60 * self.config.minutes - (now - self.started_at))
        every = self.config.evaluate.every_seconds
        matches = self.match_seconds * (1 + left // every) if every else 0.0
        # A reserve for checkpoints, and for a machine that gets busier.
        return self.counters.updates + max(1, math.floor(0.97 * (left - matches) * updates / spent))

    # --- log and progress -------------------------------------------------------------------------

    def _source_figures(self) -> dict[str, float]:
        """Add up the figures of the sources of all processes."""
        own = self.algorithm.source.figures()
        return dict(zip(own, self.group.sum(np.array(list(own.values()))).tolist())) if own else {}

    def _record(self, figures: dict[str, float], source_figures: dict[str, float]) -> None:
        """Write the row of an update, and show the status."""
        if self.metrics is None or self.progress is None:
            return
        now, counters = time.monotonic(), self.counters
        spent = max(1e-6, now - self.loop_started_at)
        speed = {
            "seconds": self.seconds + spent,
            "hands_per_s": (counters.hands - self.first_hand) / spent,
            "decisions_per_s": (counters.decisions - self.first_decision) / spent,
        }
        row: dict[str, Any] = {"update": counters.updates, "hands": counters.hands, "decisions": counters.decisions}
        row |= {"train": figures, "speed": speed}
        self.metrics.write(row | ({"ray": source_figures} if source_figures else {}), counters.updates)
        self.speed = speed
        self.figures = {name: figures[name] for name in self.algorithm.figures if name in figures}
        self.progress.show(self._status(now))

    def _status(self, now: float, *, done: bool = False) -> Status:
        minutes, updates = 60 * self.config.minutes, self.counters.updates
        ends = [minutes - (now - self.started_at)] if minutes else []
        if self.total:
            rate = (now - self.loop_started_at) / max(1, updates - self.first_update)
            ends.append(rate * max(0, self.total - updates))
        return Status(
            update=updates,
            total=self.total,
            hands=self.counters.hands,
            gone=now - self.started_at,
            left=max(0.0, min(ends)) if ends and not done else 0.0,
            hands_per_s=self.speed["hands_per_s"],
            decisions_per_s=self.speed["decisions_per_s"],
            learning=self.figures,
            matches=self.measured,
            matches_at=self.measured_at,
        )

    def _match(self, stop: SignalGuard | None) -> int:
        """Play a match against each reference opponent; returns the exit code of a signal, else 0."""
        start = time.monotonic()
        self.measured_at = self.counters.hands
        for number, opponent in enumerate(self.config.evaluate.opponents):
            try:
                with self._agent("trained") as agent:
                    found = evaluate.match(
                        agent,
                        opponent,
                        self.plan.rules,
                        seed=derived_seed(self.config.seed, "evaluate"),
                        deals=self.config.evaluate.deals,
                        group=self.group,
                        signalled=lambda: stop.code if stop is not None else 0,
                    )
            except Interrupted as error:
                return error.exit_code
            except evaluate.FAULTS:
                self._save_update()
                raise
            except FaultElsewhere as error:
                self._save_update()
                raise error if self.group.rank else self.group.lost(str(error)) from None
            if self.metrics is not None and self.progress is not None:
                counters = self.counters
                row = evaluate.row(opponent, self.config.evaluate.deals, found)
                self.metrics.write(
                    {"update": counters.updates, "hands": counters.hands, "match": row}, counters.updates, opponent
                )
                self.progress.say(f"      {counters.hands:,} hands: against {opponent} {sentence(found)}")
            self.measured[opponent] = found
            if number == 0:
                self._keep_best()
        self._sample()
        self.last_match = time.monotonic()
        self.match_seconds = self.last_match - start
        self.matches_seconds += self.match_seconds
        if self.last_match - self.last_curve >= self.config.save.curve_seconds:
            self._draw()
        return 0

    @contextlib.contextmanager
    def _agent(self, name: str) -> Iterator[Agent]:
        """Lend the agent of the present weights; afterwards the network is in training mode again."""
        try:
            yield self.algorithm.agent(name)
        finally:
            self.algorithm.net.train()

    def _sample(self) -> None:
        """Record hands of self-play with the present weights."""
        hands, updates = self.config.save.records, self.counters.updates
        if self.metrics is None or not hands:
            return
        seed = derived_seed(self.config.seed, "records", updates)
        with self._agent(f"update {updates}") as agent:
            text = samples.play(agent, self.plan.rules, hands=hands, seed=seed)
        folder.keep_record(self.folder, updates, text, self.config.save.keep)
        self.metrics.write_record(text, updates)

    def _draw(self) -> None:
        if self.progress is None or not self.config.save.curve_seconds:
            return
        if failed := self.curve.draw():
            self.progress.say(failed)
        self.last_curve = time.monotonic()

    # --- saving -----------------------------------------------------------------------------------

    def _keep_best(self) -> None:
        """Keep a copy of the checkpoint with the most levels against the first opponent.

        Means are compared, not lower bounds: all matches of a run have the same deals, so their luck is equal in all
        means. The best of many means is biased upwards; the arena measures it on other deals.
        """
        opponent, found = next(iter(self.measured.items()))
        levels = found["levels"].mean
        better = self.best is None or levels > self.best
        if self.group.broadcast(np.array([float(better)]))[0]:
            self.best = levels
            self._save(self.folder / folder.BEST, evaluate.row(opponent, self.config.evaluate.deals, found))

    def _save_update(self) -> None:
        """Save the checkpoint of the present update, from which a run resumes."""
        self._save(self.folder / checkpoint.FOLDER / checkpoint.file_name(self.counters.updates))

    def _save(self, path: Path, match: dict[str, Any] | None = None) -> None:
        own, now = self.group.gather(self.algorithm.own_state()), time.monotonic()
        if match is None:  # a run does not resume from the best checkpoint by itself
            self.last_saved = now
        if self.group.rank:
            return
        if self.metrics is not None:
            self.metrics.sync()  # the rows of a checkpoint are on the disk before it
        counters = self.counters.as_dict() | {
            "total": self.total,
            "seconds": self.seconds + now - self.loop_started_at,
            "finished": self.finished,
        }
        shared, identity = self.algorithm.shared_state(), self.algorithm.source.opponent_identity
        folder.save(path, self.plan, describe(self.algorithm.net), counters, shared, own, identity, match)
        folder.prune(self.folder, self.config.save.keep)

    def _start(self) -> None:
        found, _ = checkpoint.load(self.config.start)
        checkpoint.require(found, self.plan.rules)
        try:
            self.algorithm.start_from(found.tensors)
        except ValueError as error:
            raise checkpoint.CheckpointError(found.path, f"cannot be started from ({error})") from None

    def _resume(self) -> None:
        found = checkpoint.read(self.plan.resume)
        folder.require_opponent(found, self.algorithm.source.opponent_identity)
        counters = found.meta["counters"]
        try:
            self.algorithm.restore(found.tensors, folder.own_state(found, self.group.rank), counters)
            self.total, self.seconds = int(counters["total"]), float(counters["seconds"])
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, checkpoint.CheckpointError):
                raise
            raise checkpoint.CheckpointError(found.path, f"cannot be resumed ({error})") from None
        if not self.group.rank:
            try:
                self.best = folder.best_levels(self.folder)
            except checkpoint.CheckpointError as error:
                print(f"passed over {error}", flush=True)


def run(
    run_folder: Path,
    plan: Plan,
    group: Group,
    *,
    started_at: float | None = None,
    stop: SignalGuard | None = None,
    source: Source | None = None,
) -> int:
    """Train as one process of ``group``; returns the exit code.

    Args:
        run_folder: made and locked by process 0.
        plan: equal in all processes.
        group: the processes.
        started_at: start of the command by ``time.monotonic``; minutes count from there.
        stop: signals to process 0, which passes them on.
        source: source of the rollouts; None for tables in this process.

    Raises:
        TrainingError: a typed error of :mod:`gunzi_train.errors`.
    """
    if stop is not None:
        stop.abort = partial(group.abort, wait=False)
    settle_torch()
    started_at = time.monotonic() if started_at is None else started_at
    if group.rank:
        code = Session(run_folder, plan, group, started_at, source).loop(None)
        group.close()
        return code
    try:
        return _lead(Session(run_folder, plan, group, started_at, source), stop)
    except BaseException as error:
        group.abort()
        if hasattr(error, "exit_code") or not isinstance(error, Exception):
            raise
        traceback.print_exc()
        raise WorkerLost(f"process 0 raised {type(error).__name__}: {error}") from None


def _lead(session: Session, stop: SignalGuard | None) -> int:
    """Run process 0, the only one that writes and prints."""
    folder.cut_metrics(session.folder / folder.METRICS, session.counters.updates)
    purge = session.counters.updates + 1 if session.plan.resume else None  # first row to write again
    with contextlib.ExitStack() as closing:
        session.metrics = Metrics(session.folder, tensorboard=session.config.save.tensorboard, purge=purge)
        closing.callback(session.metrics.close)
        session.progress = Progress()
        closing.callback(session.progress.close)
        session.algorithm.source.attach(session.progress.say, stop)
        code = session.loop(stop)
        session.group.close()
        return code
