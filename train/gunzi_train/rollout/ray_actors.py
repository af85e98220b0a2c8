"""Rollouts from Ray actors, on this machine or others: the learner learns while they play.

Every actor is an ordinary :class:`~gunzi_train.rollout.collector.Collector` with deals and draws of its own, asked for
one rollout at a time. The weights go out once a version, a version an update. An update takes the rollouts that come
first, as many as there are actors; what was played by weights more than ``ray.stale`` versions old is dropped. The
values are the present network's; of the policy the learner corrects the age (ppo.py).

An actor that dies, raises or does not answer is replaced by one with deals that no other had. One that waits for a
free CPU, because its machine was lost, is waited for as long as others play.
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

from gunzi_agents import registry
from gunzi_agents.networks import ActorCritic, from_arrays, to_arrays
from gunzi_agents.playing import identity
from gunzi_train.device import bf16_is_faster, settle_torch
from gunzi_train.errors import Interrupted, OpponentFault, TrainingError, WorkerLost
from gunzi_train.plan import Plan
from gunzi_train.rollout.collector import HandStats, Rollout, shape_of
from gunzi_train.rollout.opponents import Against, make_collector
from gunzi_train.signals import SignalGuard

TRIES = 3
"""So many actors in one place lost one after the other, without a rollout between, end the run."""
LOOK_SECONDS = 1.0
"""How often those that play are looked after while nothing comes."""
STOP_SECONDS = 5.0
"""So long after a signal something may still come; then the update is given up."""
START_PATIENCE = 10
"""Actors may take so many times ``timeout_seconds`` to start: on a new machine the game is compiled first."""
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class Actor:
    """Plays in a process of its own; made by Ray."""

    def __init__(self, plan: Plan, identity: str, stream: tuple[int, int]) -> None:
        settle_torch()
        self.net = ActorCritic(shape_of(plan.config, plan.rules))
        # Not the learner's precision: that is of another processor, or of a graphics card.
        self.bf16 = bf16_is_faster(self.net.device) if plan.config.precision == "auto" else plan.bf16
        self.collector = make_collector(plan.config, plan.rules, "actor", *stream)
        if self.collector.opponent_identity != identity:
            raise OpponentFault(f"agent {plan.config.opponent!r} is another one on the machine of an actor")

    def ready(self) -> None:
        """Answers once the tables are there."""

    def play(self, weights: dict[str, npt.NDArray[Any]]) -> tuple[dict[str, Any], npt.NDArray[np.float64]]:
        """A rollout, packed, and its hands' sums."""
        from_arrays(self.net, weights)
        try:
            rollout, hands = self.collector.collect(self.net, self.bf16)
        except Exception as error:
            error.add_note(self.collector.where())
            raise
        return rollout.packed(), hands.vector()


_RemoteActor: Any = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0, scheduling_strategy="SPREAD")(Actor)


@dataclass
class Place:
    """What the learner knows of one actor; one that replaces it takes its place."""

    actor: Any
    ready: Any = None  # an answer to wait for; None once it came
    rollout: Any = None  # the rollout it is asked for; None where it is asked for nothing
    version: int = 0  # of the weights that play it
    since: float = 0.0  # when it was asked, or ready if that was later
    lost: int = 0  # actors lost in this place since the last rollout


class Actors:
    """The rollouts of one learner's share of the actors, see :class:`~gunzi_train.rollout.collector.Source`."""

    def __init__(self, plan: Plan, rank: int = 0) -> None:
        config, shape = plan.config, shape_of(plan.config, plan.rules)
        self.plan, self.rank = plan, rank
        self.share = Against.share if config.opponent else 1.0
        opponent = registry.make(config.opponent, plan.rules) if config.opponent else None
        self.opponent_identity = identity(opponent) if opponent is not None else ""
        self.say: Callable[[str], None] = lambda text: print(text, file=sys.stderr, flush=True)
        self.stop: SignalGuard | None = None
        self.rollouts = config.ray.actors // config.ray.learners
        tables = self.rollouts * config.collect.tables
        self.data = Rollout.empty(config.collect.steps, tables, shape.inputs, shape.hidden, shape.actions)
        self.places: list[Place] = []
        self.made = 0  # actors so far: the next one's number, and by it its deals
        self.version = self.replaced = self.dropped = 0
        self.lag = 0.0  # mean age in versions of the rollouts that were taken last
        self._weights: Any = None
        self._heard = 0.0  # when anything last happened
        self._warned = False

    # --- what a learner asks for ------------------------------------------------------------------

    def collect(self, net: ActorCritic, bf16: bool) -> tuple[Rollout, HandStats]:
        """The first rollouts that come and are not too old; then all actors are asked again, and play meanwhile.

        ``bf16`` is the learner's precision; each actor plays in its own.

        Raises:
            Interrupted: a signal came, and no actor answers.
            TrainingError: an actor met what would end a run without Ray too.
            WorkerLost: actors are lost again and again, or none answers.
        """
        self.version += 1
        self._weights = ray.put(to_arrays(net))
        self._heard = time.monotonic()
        while len(self.places) < self.rollouts:
            self.places.append(self._started(Place(None)))
        taken: list[tuple[int, int, Any]] = []
        while len(taken) < self.rollouts:
            self._ask(self.rollouts - len(taken))
            for index in self._answers():
                place = self.places[index]
                packed, lag = self._fetch(place), self.version - place.version
                if packed is not None and lag > self.plan.config.ray.stale:
                    self.dropped += 1
                elif packed is not None:
                    taken.append((index, lag, packed))
        self._ask(0)
        self.lag = sum(lag for _, lag, _ in taken) / len(taken)
        return self._together([packed for _, _, packed in sorted(taken, key=lambda item: item[0])])

    def where(self) -> str:
        """What is waited for; an actor that fails says for itself how far it was."""
        return f"version {self.version} of the weights, played by {len(self.places)} actors"

    @property
    def aged(self) -> bool:
        """See :class:`~gunzi_train.rollout.collector.Source`."""
        return self.lag > 0

    def figures(self) -> dict[str, float]:
        """``replaced`` actors and ``dropped`` rollouts since the start of the command, and the ``lag`` of the last."""
        return {"replaced": self.replaced, "dropped": self.dropped, "lag": self.lag / self.plan.config.learners}

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """How many actors there were: those to come have other deals. The tables stay where they are."""
        return {"actors": np.array([self.made])}

    def restore(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Go on with new actors, and so with new tables."""
        if "actors" not in state:
            raise ValueError("it was written without Ray")
        self.made = int(state["actors"][0])

    def close(self) -> None:
        """End the actors."""
        for place in self.places:
            ray.kill(place.actor)
        self.places.clear()

    # --- asking and waiting -----------------------------------------------------------------------

    def _ask(self, missing: int) -> None:
        """Ask those who have nothing to do; where no rollout may be old, only for as many as are ``missing``."""
        busy = sum(place.rollout is not None for place in self.places)
        for place in self.places:
            if place.rollout is None and (self.plan.config.ray.stale or busy < missing):
                busy += 1
                place.rollout, place.version = place.actor.play.remote(self._weights), self.version
                place.since = time.monotonic()

    def _answers(self) -> list[int]:
        """The places whose rollout, or failure, has come; maybe none. Those that should have answered are replaced."""
        waiting = {place.rollout: index for index, place in enumerate(self.places) if place.rollout is not None}
        readies = {place.ready: place for place in self.places if place.ready is not None}
        refs = [*waiting, *readies]
        found, _ = ray.wait(refs, num_returns=1, timeout=LOOK_SECONDS)
        if found:
            found, _ = ray.wait(refs, num_returns=len(refs), timeout=0)
            self._heard = time.monotonic()
        for ref in found:
            if ref in readies:  # if it failed, so does what it was asked for
                readies[ref].ready, readies[ref].since = None, time.monotonic()
        answers = [waiting[ref] for ref in found if ref in waiting]
        self._look([place for index, place in enumerate(self.places) if index not in answers])
        return answers

    def _look(self, silent: list[Place]) -> None:
        """Replace those of the ``silent`` that are frozen, and give up where nothing comes from anybody."""
        now, limit = time.monotonic(), self.plan.config.timeout_seconds
        for place in silent:
            if place.rollout is not None and place.ready is None and now - place.since > limit:
                self._replace(place, f"did not answer for {limit:g} seconds")
        if self.stop is not None and self.stop.code and now - self._heard > STOP_SECONDS:
            raise Interrupted(self.stop.code, "while no actor answered")
        waiting = sum(place.ready is not None for place in self.places)
        what = f"{waiting} of {len(self.places)} actors have not started: they wait for a free CPU, or compile the game"
        if now - self._heard > START_PATIENCE * limit:
            raise WorkerLost(f"no actor was heard of for {START_PATIENCE * limit:g} seconds; {what}")
        if now - self._heard > limit and not self._warned:
            self._warned = True
            self.say(f"      {what}")

    def _fetch(self, place: Place) -> Any:
        """The packed rollout and its hands; None where the actor was lost and replaced."""
        ref, place.rollout = place.rollout, None
        try:
            found = ray.get(ref)
        except RayTaskError as error:
            if isinstance(error.cause, TrainingError):
                raise error.cause from None
            self._replace(place, "raised an exception", str(error))
        except RayActorError as error:
            self._replace(place, "died", str(error))
        except RayError as error:  # a machine was lost, and the rollout with it
            self._replace(place, "lost its rollout", str(error))
        else:
            place.lost = 0
            return found
        return None

    def _replace(self, place: Place, how: str, words: str = "") -> None:
        place.lost += 1
        self._heard = time.monotonic()
        if words and place.lost >= TRIES:
            print(f"--- an actor said ---\n{COLOURS.sub('', words).rstrip()}\n---", file=sys.stderr, flush=True)
        if place.lost >= TRIES:
            raise WorkerLost(f"{TRIES} actors in a row were lost without a rollout; the last one {how}")
        ray.kill(place.actor)
        self._started(place)
        self.replaced += 1
        self.say(f"      an actor {how}: replaced, with new deals")

    def _started(self, place: Place) -> Place:
        """Put a new actor in the place."""
        stream = (self.rank, self.made)
        self.made += 1
        place.actor = _RemoteActor.remote(self.plan, self.opponent_identity, stream)
        place.ready, place.rollout = place.actor.ready.remote(), None
        return place

    def _together(self, rollouts: list[Any]) -> tuple[Rollout, HandStats]:
        tables, sums = self.plan.config.collect.tables, np.zeros(len(HandStats.NAMES))
        for number, (packed, hands) in enumerate(rollouts):
            self.data.unpack(slice(number * tables, (number + 1) * tables), packed)
            sums += hands
        return self.data, HandStats(int(sums[0]), *sums[1:].tolist())
