"""Rollouts from Ray actors, on this machine or others, which play while the learner learns.

Every actor holds an ordinary :class:`~gunzi_train.rollout.collector.Collector` with deals and draws of its own, and
plays one rollout per request. The weights are sent once per update; each update makes a version. An update takes the
first rollouts that arrive, as many as there are actors; rollouts of weights more than ``ray.stale`` versions old are
dropped. Values come from the present network; the learner corrects for the age of the policy (ppo.py).

An actor that dies, raises or does not answer is replaced by one with new deals. If an actor waits for a free CPU,
because its machine was lost, the others play on.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import ray
from ray.exceptions import RayActorError, RayError, RayTaskError

from gunzi_agents.networks import Network, build, describe, from_arrays, to_arrays
from gunzi_train.device import bf16_is_faster, settle_torch
from gunzi_train.errors import Interrupted, OpponentFault, TrainingError, WorkerLost
from gunzi_train.plan import Plan
from gunzi_train.rollout.collector import HandStats, Rollout, make_collector, shape_of
from gunzi_train.rollout.opponents import make_opponents
from gunzi_train.signals import SignalGuard

TRIES = 3
"""Actors lost in a row in one slot, without a rollout in between, that end the run."""
LOOK_SECONDS = 1.0
"""Seconds between checks of the playing actors while no rollout arrives."""
STOP_SECONDS = 5.0
"""Seconds after a signal until the update is given up, unless something arrives."""
START_PATIENCE = 10
"""Multiple of ``timeout_seconds`` that actors may take to start: a new machine compiles the game first."""
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class Actor:
    """Plays in a process of its own; created by Ray."""

    def __init__(self, plan: Plan, network: dict[str, Any], identity: str, stream: tuple[int, int]) -> None:
        settle_torch()
        self.net = build(network)
        # Measured here: the learner's precision suits another CPU, or a GPU.
        self.bf16 = bf16_is_faster(self.net.device) if plan.config.precision == "auto" else plan.bf16
        self.collector = make_collector(plan.config, plan.rules, "actor", *stream)
        if self.collector.opponent_identity != identity:
            raise OpponentFault(f"agent {plan.config.against!r} is another one on the machine of an actor")

    def ready(self) -> None:
        """Answer once the tables are ready."""

    def play(self, weights: dict[str, npt.NDArray[Any]]) -> tuple[dict[str, Any], npt.NDArray[np.float64]]:
        """Play a rollout with the given weights; returns it packed, with the sums over its hands."""
        from_arrays(self.net, weights)
        try:
            rollout, hands = self.collector.collect(self.net, self.bf16)
        except Exception as error:
            error.add_note(self.collector.where())
            raise
        return rollout.packed(), hands.vector()


_RemoteActor: Any = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0, scheduling_strategy="SPREAD")(Actor)


@dataclass
class ActorSlot:
    """An actor and its present request; a replacement takes over the slot."""

    actor: Any
    ready: Any = None  # pending answer of ready(); None once it came
    rollout: Any = None  # pending rollout; None while idle
    version: int = 0  # of the weights that play it
    since: float = 0.0  # time of the request, or of the start if that was later
    lost: int = 0  # actors lost in this slot since the last rollout


class Actors:
    """The actors of one learner as a :class:`~gunzi_train.rollout.collector.Source`."""

    def __init__(self, plan: Plan, rank: int = 0) -> None:
        config, shape = plan.config, shape_of(plan.config, plan.rules)
        self.plan, self.rank = plan, rank
        opponents = make_opponents(config, plan.rules)
        self.share, self.opponent_identity = opponents.share, opponents.identity
        self.say: Callable[[str], None] = lambda text: print(text, file=sys.stderr, flush=True)
        self.stop: SignalGuard | None = None
        self.rollouts = config.ray.actors // config.ray.learners
        tables = self.rollouts * config.collect.tables
        self.data = Rollout.empty(config.collect.steps, tables, shape.inputs, shape.hidden, shape.actions)
        self.slots: list[ActorSlot] = []
        self.made = 0  # actors so far; the number of the next one selects its deals
        self.version = self.replaced = self.dropped = 0
        self.lag = 0.0  # mean age in versions of the rollouts of the last update
        self._network: dict[str, Any] = {}
        self._weights: Any = None
        self._heard = 0.0  # time of the last event
        self._warned = False

    # --- a source of rollouts ---------------------------------------------------------------------

    def attach(self, say: Callable[[str], None], stop: SignalGuard | None) -> None:
        """See :class:`~gunzi_train.rollout.collector.Source`; without it, lines go to stderr."""
        self.say, self.stop = say, stop

    def collect(self, net: Network, bf16: bool) -> tuple[Rollout, HandStats]:
        """Take the first rollouts that arrive and are not too old; the actors then play on in the background.

        ``bf16`` is the learner's precision; each actor has its own.

        Raises:
            Interrupted: after a signal, if no actor answers.
            TrainingError: an error of an actor that ends a run without Ray too.
            WorkerLost: actors are lost repeatedly, or none answers.
        """
        self.version += 1
        self._network, self._weights = describe(net), ray.put(to_arrays(net))
        self._heard = time.monotonic()
        while len(self.slots) < self.rollouts:
            self.slots.append(self._started(ActorSlot(None)))
        taken: list[tuple[int, int, Any]] = []
        while len(taken) < self.rollouts:
            self._ask(self.rollouts - len(taken))
            for index in self._answers():
                slot = self.slots[index]
                packed, lag = self._fetch(slot), self.version - slot.version
                if packed is not None and lag > self.plan.config.ray.stale:
                    self.dropped += 1
                elif packed is not None:
                    taken.append((index, lag, packed))
        self._ask(0)
        self.lag = sum(lag for _, lag, _ in taken) / len(taken)
        return self._together([packed for _, _, packed in sorted(taken, key=lambda item: item[0])])

    def where(self) -> str:
        """Describe the pending requests; a failing actor describes its own position."""
        return f"version {self.version} of the weights, played by {len(self.slots)} actors"

    @property
    def is_stale(self) -> bool:
        """See :class:`~gunzi_train.rollout.collector.Source`."""
        return self.lag > 0

    def figures(self) -> dict[str, float]:
        """Return ``replaced`` actors and ``dropped`` rollouts since the start, and the ``lag`` of the last update."""
        return {"replaced": self.replaced, "dropped": self.dropped, "lag": self.lag / self.plan.config.learners}

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return the number of actors so far, for new deals after a resume. Their tables are not saved."""
        return {"actors": np.array([self.made])}

    def restore(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Continue with new actors and new tables."""
        if "actors" not in state:
            raise ValueError("it was written without Ray")
        self.made = int(state["actors"][0])

    def close(self) -> None:
        """Kill the actors."""
        for slot in self.slots:
            ray.kill(slot.actor)
        self.slots.clear()

    # --- requests and answers ---------------------------------------------------------------------

    def _ask(self, missing: int) -> None:
        """Ask the idle actors; if no rollout may be old, only for the ``missing`` ones."""
        busy = sum(slot.rollout is not None for slot in self.slots)
        for slot in self.slots:
            if slot.rollout is None and (self.plan.config.ray.stale or busy < missing):
                busy += 1
                slot.rollout, slot.version = slot.actor.play.remote(self._weights), self.version
                slot.since = time.monotonic()

    def _answers(self) -> list[int]:
        """List the slots whose rollout or failure has arrived; frozen actors are replaced."""
        waiting = {slot.rollout: index for index, slot in enumerate(self.slots) if slot.rollout is not None}
        readies = {slot.ready: slot for slot in self.slots if slot.ready is not None}
        refs = [*waiting, *readies]
        found, _ = ray.wait(refs, num_returns=1, timeout=LOOK_SECONDS)
        if found:
            found, _ = ray.wait(refs, num_returns=len(refs), timeout=0)
            self._heard = time.monotonic()
        for ref in found:
            if ref in readies:  # after a failure its rollout fails too
                readies[ref].ready, readies[ref].since = None, time.monotonic()
        answers = [waiting[ref] for ref in found if ref in waiting]
        self._look([slot for index, slot in enumerate(self.slots) if index not in answers])
        return answers

    def _look(self, silent: list[ActorSlot]) -> None:
        """Replace frozen actors among the ``silent`` ones, and give up if no actor answers."""
        now, limit = time.monotonic(), self.plan.config.timeout_seconds
        for slot in silent:
            if slot.rollout is not None and slot.ready is None and now - slot.since > limit:
                self._replace(slot, f"did not answer for {limit:g} seconds")
        if self.stop is not None and self.stop.code and now - self._heard > STOP_SECONDS:
            raise Interrupted(self.stop.code, "while no actor answered")
        waiting = sum(slot.ready is not None for slot in self.slots)
        what = f"{waiting} of {len(self.slots)} actors have not started: they wait for a free CPU, or compile the game"
        if now - self._heard > START_PATIENCE * limit:
            raise WorkerLost(f"no actor answered for {START_PATIENCE * limit:g} seconds; {what}")
        if now - self._heard > limit and not self._warned:
            self._warned = True
            self.say(f"      {what}")

    def _fetch(self, slot: ActorSlot) -> Any:
        """Fetch the packed rollout and its sums; None if the actor was lost and replaced."""
        ref, slot.rollout = slot.rollout, None
        try:
            found = ray.get(ref)
        except RayTaskError as error:
            if isinstance(error.cause, TrainingError):
                raise error.cause from None
            self._replace(slot, "raised an exception", str(error))
        except RayActorError as error:
            self._replace(slot, "died", str(error))
        except RayError as error:  # a machine was lost with the rollout
            self._replace(slot, "lost its rollout", str(error))
        else:
            slot.lost = 0
            return found
        return None

    def _replace(self, slot: ActorSlot, how: str, words: str = "") -> None:
        slot.lost += 1
        self._heard = time.monotonic()
        if words and slot.lost >= TRIES:
            print(f"--- an actor said ---\n{COLOURS.sub('', words).rstrip()}\n---", file=sys.stderr, flush=True)
        if slot.lost >= TRIES:
            raise WorkerLost(f"{TRIES} actors in a row were lost without a rollout; the last one {how}")
        ray.kill(slot.actor)
        self._started(slot)
        self.replaced += 1
        self.say(f"      an actor {how}: replaced, with new deals")

    def _started(self, slot: ActorSlot) -> ActorSlot:
        """Start a new actor in a slot."""
        stream = (self.rank, self.made)
        self.made += 1
        slot.actor = _RemoteActor.remote(self.plan, self._network, self.opponent_identity, stream)
        slot.ready, slot.rollout = slot.actor.ready.remote(), None
        return slot

    def _together(self, rollouts: list[Any]) -> tuple[Rollout, HandStats]:
        tables, sums = self.plan.config.collect.tables, np.zeros(len(HandStats.NAMES))
        for number, (packed, hands) in enumerate(rollouts):
            self.data.unpack(slice(number * tables, (number + 1) * tables), packed)
            sums += hands
        return self.data, HandStats(int(sums[0]), *sums[1:].tolist())
