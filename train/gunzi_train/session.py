"""One training from start to stop, as each of its processes lives through it.

After every update process 0 says what comes next (stop, save, play against the rule bots, the length of the schedule),
and all do it together. Process 0 alone writes files and prints.
"""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from gunzi_agents import checkpoint
from gunzi_eval.intervals import Interval, figure
from gunzi_train import evaluate, folder
from gunzi_train.distributed import Group
from gunzi_train.folder import Plan
from gunzi_train.logs import Metrics, Progress, clock
from gunzi_train.ppo import Learner, derived_seed
from gunzi_train.signals import Stop

FIRST_MATCH = 5.0
"""Seconds until the first match against the rule bots."""
GO_ON, DONE = 0, 1


class Session:
    """The loop of one process; :func:`run` is its whole life."""

    def __init__(self, run_folder: Path, plan: Plan, group: Group, began: float) -> None:
        self.folder, self.plan, self.group, self.began = run_folder, plan, group, began
        self.config = plan.config
        self.learner = Learner(plan.config, plan.rules, group, bf16=plan.bf16)
        self.total = plan.config.schedule.updates  # 0 until the speed is known
        self.seconds = 0.0  # of earlier sessions
        self.measured: dict[str, dict[str, Interval]] = {}
        self.speed = {"hands_per_s": 0.0, "decisions_per_s": 0.0}
        self.progress: Progress | None = None
        self.metrics: Metrics | None = None
        self.loop_began = self.last_saved = self.last_match = time.monotonic()
        self.match_seconds = 0.0  # what the last match took
        self.first_update = 0
        if plan.resume:
            self._resume()
        elif plan.config.start:
            self._start()

    # --- the loop ---------------------------------------------------------------------------------

    def loop(self, stop: Stop | None) -> int:
        """Update until told to stop; returns the exit code."""
        self.loop_began = self.last_saved = time.monotonic()
        self.last_match = self.loop_began - self.config.evaluate.every_seconds + FIRST_MATCH
        self.first_update = self.learner.updates
        code = GO_ON
        if not self.plan.resume:
            self._save(self.folder / checkpoint.UNTRAINED)
        while not code:
            figures = self.learner.update(self.total)
            self._note(figures)
            code, save, play, self.total = (int(x) for x in self.group.tell(self._decide(stop)))
            if play:
                self._match()
            if save or code:
                self._save(self.folder / checkpoint.FOLDER / checkpoint.file_name(self.learner.updates))
        if self.progress is not None:
            text, share = self._line(time.monotonic(), self.speed)  # once more, with the last match in it
            self.progress.show(1.0 if code == DONE else share, text, force=True)
        return 0 if code == DONE else code

    def _decide(self, stop: Stop | None) -> np.ndarray[Any, np.dtype[np.float64]]:
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
        spent, updates = now - self.loop_began - self.match_seconds, self.learner.updates - self.first_update
        if spent < self.config.schedule.probe_seconds or updates < 3:
            return 0
        left = max(0.0, 60 * self.config.minutes - (now - self.began))
        every = self.config.evaluate.every_seconds
        matches = self.match_seconds * (1 + left // every) if every else 0.0
        # A little is kept for checkpoints, and in case the machine gets busier.
        return self.learner.updates + max(1, math.floor(0.97 * (left - matches) * updates / spent))

    # --- telling ----------------------------------------------------------------------------------

    def _note(self, figures: dict[str, float]) -> None:
        if self.metrics is None or self.progress is None:
            return
        now, learner = time.monotonic(), self.learner
        spent = max(1e-6, now - self.loop_began)
        share = (learner.updates - self.first_update) / max(1, learner.updates)
        speed = {
            "seconds": self.seconds + spent,
            "hands_per_s": learner.hands * share / spent,
            "decisions_per_s": learner.decisions * share / spent,
        }
        counters = {"update": learner.updates, "hands": learner.hands, "decisions": learner.decisions}
        self.metrics.write(counters | {"train": figures, "speed": speed}, learner.updates)
        self.speed = speed
        text, done = self._line(now, speed)
        self.progress.show(done, text)

    def _line(self, now: float, speed: dict[str, float]) -> tuple[str, float]:
        minutes, updates = 60 * self.config.minutes, self.learner.updates
        ends = [minutes - (now - self.began)] if minutes else []
        if self.total:
            rate = (now - self.loop_began) / max(1, updates - self.first_update)
            ends.append(rate * max(0, self.total - updates))
        left = max(0.0, min(ends)) if ends else 0.0
        parts = [
            f"{clock(now - self.began)} gone, {clock(left)} left",
            f"{self.learner.hands:,} hands, {speed['hands_per_s']:,.0f} hands/s, "
            f"{speed['decisions_per_s']:,.0f} decisions/s",
        ]
        if self.measured:
            opponent = next(iter(self.measured))
            parts.append(f"against {opponent}: {_sentence(self.measured[opponent])}")
        spent = now - self.began
        return "; ".join(parts), spent / max(1e-6, spent + left)

    def _match(self) -> None:
        start = time.monotonic()
        for opponent in self.config.evaluate.opponents:
            found = evaluate.match(
                self.learner.net,
                opponent,
                self.plan.rules,
                seed=derived_seed(self.config.seed, "evaluate"),
                deals=self.config.evaluate.deals,
                group=self.group,
            )
            if self.metrics is not None and self.progress is not None:
                learner = self.learner
                row = evaluate.row(opponent, self.config.evaluate.deals, found)
                self.metrics.write(
                    {"update": learner.updates, "hands": learner.hands, "match": row}, learner.updates, opponent
                )
                self.progress.say(f"      {learner.hands:,} hands: against {opponent} {_sentence(found)}")
            self.measured[opponent] = found
        self.last_match = time.monotonic()
        self.match_seconds = self.last_match - start

    # --- saving -----------------------------------------------------------------------------------

    def _save(self, path: Path) -> None:
        own = self.group.gather(self.learner.own_state())
        self.last_saved = time.monotonic()
        if self.group.rank:
            return
        counters = self.learner.counters() | {
            "total": self.total,
            "seconds": self.seconds + self.last_saved - self.loop_began,
        }
        network = vars(self.learner.net.shape).copy()
        opponent = self.learner.opponent_identity
        folder.save(path, self.plan, network, counters, self.learner.shared_state(), own, opponent)
        folder.prune(self.folder, self.config.save.keep)

    def _start(self) -> None:
        found, _ = checkpoint.load(self.config.start)
        checkpoint.require(found, self.plan.rules)
        try:
            self.learner.start_from(found.tensors)
        except ValueError as error:
            raise checkpoint.CheckpointError(found.path, f"cannot be started from ({error})") from None

    def _resume(self) -> None:
        found = checkpoint.read(self.plan.resume)
        folder.require_opponent(found, self.learner.opponent_identity)
        counters = found.meta["counters"]
        try:
            self.learner.restore(found.tensors, folder.own_state(found, self.group.rank), counters)
            self.total, self.seconds = int(counters["total"]), float(counters["seconds"])
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, checkpoint.CheckpointError):
                raise
            raise checkpoint.CheckpointError(found.path, f"cannot be resumed ({error})") from None


def _sentence(found: dict[str, Interval]) -> str:
    levels, points, won = (found[name] for name in evaluate.FIGURES)
    return f"{figure(levels, 2)} levels, {figure(points, 0)} points, {100 * won.mean:.0f} % of hands"


def settle_torch() -> None:
    """The switches of the process that results and speed hang on."""
    # Parallel by processes: threads that wait for each other lose 5 to 20 times on a busy machine.
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)


def run(run_folder: Path, plan: Plan, group: Group, *, began: float | None = None, stop: Stop | None = None) -> int:
    """Train as one process of ``group``; returns the exit code. Typed errors (errors.py) are passed on.

    Args:
        run_folder: made and locked by process 0.
        plan: the same everywhere.
        group: the processes.
        began: when the command started, by ``time.monotonic``; minutes count from there.
        stop: for process 0, which tells the others: the signals so far and to come.
    """
    if stop is not None:
        stop.abort = group.abort
    settle_torch()
    session = Session(run_folder, plan, group, time.monotonic() if began is None else began)
    if group.rank:
        code = session.loop(None)
        group.close()
        return code
    folder.cut_metrics(run_folder / folder.METRICS, session.learner.updates)
    purge = session.learner.updates if plan.resume else None
    session.metrics = Metrics(run_folder, tensorboard=plan.config.save.tensorboard, purge=purge)
    session.progress = Progress()
    try:
        code = session.loop(stop)
        group.close()
        return code
    except BaseException:
        group.abort()
        raise
    finally:
        session.metrics.close()
        session.progress.close()
