"""One training from start to stop, as each of its processes lives through it.

After every update process 0 says what comes next (stop, save, play against the rule bots, the length of the schedule),
and all do it together. Process 0 alone writes files and prints.
"""

from __future__ import annotations

import contextlib
import math
import time
import traceback
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gunzi_agents import checkpoint
from gunzi_eval.stats.intervals import Interval
from gunzi_train import folder
from gunzi_train.algorithms.ppo import Learner
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

if TYPE_CHECKING:
    from gunzi_train.rollout.ray_actors import Actors

FIRST_MATCH = 5.0
"""Seconds until the first match against the rule bots."""
GO_ON, DONE = 0, 1


class Session:
    """The loop of one process; :func:`run` is its whole life."""

    def __init__(self, run_folder: Path, plan: Plan, group: Group, began: float, source: Source | None = None) -> None:
        self.folder, self.plan, self.group, self.began = run_folder, plan, group, began
        self.config = plan.config
        self.learner = Learner(plan.config, plan.rules, group, bf16=plan.bf16, collector=source)
        self.total = plan.config.schedule.updates  # 0 until the speed is known
        self.seconds = 0.0  # of earlier sessions
        self.measured: dict[str, dict[str, Interval]] = {}
        self.measured_at = 0  # hands
        self.best: float | None = None  # levels against the first opponent; known to process 0
        self.figures: dict[str, float] = {}  # of the last update
        self.speed = {"hands_per_s": 0.0, "decisions_per_s": 0.0}
        self.progress: Progress | None = None
        self.metrics: Metrics | None = None
        self.curve = Curve(run_folder)
        self.loop_began = self.last_saved = self.last_match = self.last_curve = time.monotonic()
        self.match_seconds = 0.0  # what the last match took
        self.matches_seconds = 0.0  # what all of this session took
        self.first_update = self.first_hand = self.first_decision = 0  # of this session
        self.finished = False
        if plan.resume:
            self._resume()
        elif plan.config.start:
            self._start()

    # --- the loop ---------------------------------------------------------------------------------

    def loop(self, stop: SignalGuard | None) -> int:
        """Update until told to stop; returns the exit code."""
        self.loop_began = self.last_saved = self.last_curve = time.monotonic()
        self.last_match = self.loop_began - self.config.evaluate.every_seconds + FIRST_MATCH
        self.first_update = self.learner.updates
        self.first_hand, self.first_decision = self.learner.hands, self.learner.decisions
        code = GO_ON
        if not self.plan.resume:
            self._save(self.folder / checkpoint.UNTRAINED)
        while not code:
            if not self.total or self.learner.updates < self.total:  # else a signal came in the last match
                try:
                    figures = self.learner.update(self.total)
                except Interrupted as error:  # while it waited for actors
                    return self._give_up(error)
                self._note(figures, self.learner.source_figures())
            code, save, play, self.total = (int(x) for x in self.group.tell(self._decide(stop)))
            if play:
                code = self._match(stop) or code
            self.finished = code == DONE
            if save or code:
                self._save_update()
        if code == DONE or self.last_curve > self.loop_began:
            self._draw()  # after a signal only if that is quick: matplotlib is loaded then
        if self.progress is not None:  # once more, with the last match in it
            self.progress.show(self._status(time.monotonic(), done=code == DONE), force=True)
        return 0 if code == DONE else code

    def _give_up(self, error: Interrupted) -> int:
        """Save the run as it was before an update that was interrupted; returns the exit code."""
        if self.group.world > 1:
            raise error  # the others wait elsewhere and do not give what belongs into a checkpoint
        self._save_update()
        return error.exit_code

    def _decide(self, stop: SignalGuard | None) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Process 0: [exit code or DONE, save, match, length of the schedule]; what others put here is overwritten."""
        now, updates = time.monotonic(), self.learner.updates
        total = self.total or self._schedule(now)
        code = GO_ON
        if stop is not None and stop.code:
            code = stop.code
        elif (total and updates >= total) or (self.config.minutes and now - self.began >= self._limit(now)):
            code = DONE
        every = self.config.evaluate.every_seconds
        play = bool(every) and (now - self.last_match >= every or code == DONE)
        save = now - self.last_saved >= self.config.save.every_seconds
        return np.array([code, save, play, total], np.float64)

    def _limit(self, now: float) -> float:
        """Seconds of playing and learning: minutes, less what one more update and the last match will take."""
        rate = (now - self.loop_began) / max(1, self.learner.updates - self.first_update)
        return 60 * self.config.minutes - rate - self.match_seconds

    def _schedule(self, now: float) -> int:
        """The length of the schedule from the speed so far, once enough was seen; 0 before."""
        spent, updates = now - self.loop_began - self.matches_seconds, self.learner.updates - self.first_update
        if spent < self.config.schedule.probe_seconds or updates < 3:
            return 0
        left = max(0.0, 60 * self.config.minutes - (now - self.began))
        every = self.config.evaluate.every_seconds
        matches = self.match_seconds * (1 + left // every) if every else 0.0
        # A little is kept for checkpoints, and in case the machine gets busier.
        return self.learner.updates + max(1, math.floor(0.97 * (left - matches) * updates / spent))

    # --- telling ----------------------------------------------------------------------------------

    def _note(self, figures: dict[str, float], elsewhere: dict[str, float]) -> None:
        if self.metrics is None or self.progress is None:
            return
        now, learner = time.monotonic(), self.learner
        spent = max(1e-6, now - self.loop_began)
        speed = {
            "seconds": self.seconds + spent,
            "hands_per_s": (learner.hands - self.first_hand) / spent,
            "decisions_per_s": (learner.decisions - self.first_decision) / spent,
        }
        counters = {"update": learner.updates, "hands": learner.hands, "decisions": learner.decisions}
        row = counters | {"train": figures, "speed": speed}
        self.metrics.write(row | ({"ray": elsewhere} if elsewhere else {}), learner.updates)
        self.speed, self.figures = speed, figures
        self.progress.show(self._status(now))

    def _status(self, now: float, *, done: bool = False) -> Status:
        minutes, updates = 60 * self.config.minutes, self.learner.updates
        ends = [minutes - (now - self.began)] if minutes else []
        if self.total:
            rate = (now - self.loop_began) / max(1, updates - self.first_update)
            ends.append(rate * max(0, self.total - updates))
        return Status(
            update=updates,
            total=self.total,
            hands=self.learner.hands,
            gone=now - self.began,
            left=max(0.0, min(ends)) if ends and not done else 0.0,
            hands_per_s=self.speed["hands_per_s"],
            decisions_per_s=self.speed["decisions_per_s"],
            learning=self.figures,
            matches=self.measured,
            matches_at=self.measured_at,
        )

    def _match(self, stop: SignalGuard | None) -> int:
        """Play against all opponents; the exit code if a signal ended that, else 0."""
        start = time.monotonic()
        self.measured_at = self.learner.hands
        for number, opponent in enumerate(self.config.evaluate.opponents):
            try:
                found = evaluate.match(
                    self.learner.net,
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
                learner = self.learner
                row = evaluate.row(opponent, self.config.evaluate.deals, found)
                self.metrics.write(
                    {"update": learner.updates, "hands": learner.hands, "match": row}, learner.updates, opponent
                )
                self.progress.say(f"      {learner.hands:,} hands: against {opponent} {sentence(found)}")
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

    def _sample(self) -> None:
        """Write down hands of the present network."""
        hands, learner = self.config.save.records, self.learner
        if self.metrics is None or not hands:
            return
        seed = derived_seed(self.config.seed, "records", learner.updates)
        text = samples.play(learner.net, self.plan.rules, f"update {learner.updates}", hands=hands, seed=seed)
        folder.keep_record(self.folder, learner.updates, text, self.config.save.keep)
        self.metrics.write_record(text, learner.updates)

    def _draw(self) -> None:
        if self.progress is None or not self.config.save.curve_seconds:
            return
        if failed := self.curve.draw():
            self.progress.say(failed)
        self.last_curve = time.monotonic()

    # --- saving -----------------------------------------------------------------------------------

    def _keep_best(self) -> None:
        """Keep a copy of what has gained the most levels against the first opponent so far.

        Means are compared and not lower bounds: every match of a run is of the same deals, so that their luck is in
        all means alike. The best of many means flatters its owner; the arena's other deals say what it is worth.
        """
        opponent, found = next(iter(self.measured.items()))
        levels = found["levels"].mean
        better = self.best is None or levels > self.best
        if self.group.tell(np.array([float(better)]))[0]:
            self.best = levels
            self._save(self.folder / folder.BEST, evaluate.row(opponent, self.config.evaluate.deals, found))

    def _save_update(self) -> None:
        """The checkpoint of the present update, which a run goes on from."""
        self._save(self.folder / checkpoint.FOLDER / checkpoint.file_name(self.learner.updates))

    def _save(self, path: Path, match: dict[str, Any] | None = None) -> None:
        own, now = self.group.gather(self.learner.own_state()), time.monotonic()
        if match is None:  # the best so far is no checkpoint that a run goes on from by itself
            self.last_saved = now
        if self.group.rank:
            return
        if self.metrics is not None:
            self.metrics.sync()  # a checkpoint does not outlive the rows that led to it
        counters = self.learner.counters() | {
            "total": self.total,
            "seconds": self.seconds + now - self.loop_began,
            "finished": self.finished,
        }
        network = vars(self.learner.net.shape).copy()
        shared, identity = self.learner.shared_state(), self.learner.collector.opponent_identity
        folder.save(path, self.plan, network, counters, shared, own, identity, match)
        folder.prune(self.folder, self.config.save.keep)

    def _start(self) -> None:
        found, _ = checkpoint.load(self.config.start)
        checkpoint.require(found, self.plan.rules)
        try:
            self.learner.start_from(found.tensors)
        except ValueError as error:
            raise checkpoint.CheckpointError(found.path, f"cannot be started from ({error})") from None
        # Another training may have saved there in between.
        self.group.share_(self.learner.weights.data)

    def _resume(self) -> None:
        found = checkpoint.read(self.plan.resume)
        folder.require_opponent(found, self.learner.collector.opponent_identity)
        counters = found.meta["counters"]
        try:
            self.learner.restore(found.tensors, folder.own_state(found, self.group.rank), counters)
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
    began: float | None = None,
    stop: SignalGuard | None = None,
    source: Actors | None = None,
) -> int:
    """Train as one process of ``group``; returns the exit code. Typed errors (errors.py) are passed on.

    Args:
        run_folder: made and locked by process 0.
        plan: the same everywhere.
        group: the processes.
        began: when the command started, by ``time.monotonic``; minutes count from there.
        stop: for process 0, which tells the others: the signals so far and to come.
        source: the actors that play for this process; None where it plays itself.
    """
    if stop is not None:
        stop.abort = partial(group.abort, wait=False)
    settle_torch()
    began = time.monotonic() if began is None else began
    if group.rank:
        code = Session(run_folder, plan, group, began, source).loop(None)
        group.close()
        return code
    try:
        return _lead(Session(run_folder, plan, group, began, source), stop, source)
    except BaseException as error:
        group.abort()
        if hasattr(error, "exit_code") or not isinstance(error, Exception):
            raise
        traceback.print_exc()
        raise WorkerLost(f"process 0 raised {type(error).__name__}: {error}") from None


def _lead(session: Session, stop: SignalGuard | None, source: Actors | None) -> int:
    """What process 0 does: it alone writes and prints."""
    folder.cut_metrics(session.folder / folder.METRICS, session.learner.updates)
    purge = session.learner.updates + 1 if session.plan.resume else None  # the first row that is written again
    with contextlib.ExitStack() as closing:
        session.metrics = Metrics(session.folder, tensorboard=session.config.save.tensorboard, purge=purge)
        closing.callback(session.metrics.close)
        session.progress = Progress()
        closing.callback(session.progress.close)
        if source is not None:
            source.say, source.stop = session.progress.say, stop
        code = session.loop(stop)
        session.group.close()
        return code
