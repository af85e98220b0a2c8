"""The Ray cluster of a run, found or started, and the learners other than the first.

The command itself is learner 0, the only one that writes files and prints; it sends the others the files that they
read. Code is found by import: every machine needs the same version of gunzi installed.

Ray's processes unpickle each other's messages, so anyone with access to the ports of a cluster can run code on its
machines: join only clusters that you trust, and keep their ports within a trusted network. Checkpoints are never
unpickled.
"""

from __future__ import annotations

import dataclasses
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ray
import torch.distributed as dist
from ray.exceptions import RayActorError, RayError, RayTaskError

from gunzi_agents import checkpoint
from gunzi_train.config import RayConfig
from gunzi_train.errors import ClusterError, Interrupted, TrainingError
from gunzi_train.group import Group, import_path, meet
from gunzi_train.plan import Plan
from gunzi_train.rollout.ray_actors import COLOURS, TRIES, Actors
from gunzi_train.run import session
from gunzi_train.signals import SignalGuard

KNOCK_SECONDS, ANSWER_SECONDS = 5.0, 30.0
"""Timeouts of a connection to the port of a machine, and of the health check of Ray behind it."""


@contextmanager
def joined(settings: RayConfig, stop: SignalGuard) -> Iterator[None]:
    """Join or start a cluster; a started one ends with the context, a joined one stays.

    Raises:
        ClusterError: the cluster cannot be reached, or has too few CPUs.
        Interrupted: after a signal.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    needed = settings.actors + settings.learners - 1
    if ray.is_initialized():  # by the caller, who also leaves it
        _require(needed)
        yield
        return
    address = _address(settings.address)
    stop.check()
    try:
        _init(address, needed, stop)
        stop.check()
        held = _require(needed)
        print(f"Ray: {'started here' if address == 'local' else 'joined'}, {held} CPUs", flush=True)
        yield
    finally:
        ray.shutdown()
        stop.take_back()


def _init(address: str, needed: int, stop: SignalGuard) -> None:
    options: dict[str, Any] = {"address": address, "log_to_driver": False, "logging_level": "ERROR"}
    before = os.environ.get("PYTHONPATH")
    if address == "local":
        # As many CPUs as are needed, even if there are fewer, as with --processes; the actors share the import path.
        options |= {"num_cpus": max(needed, os.cpu_count() or 1), "include_dashboard": False}
        os.environ["PYTHONPATH"] = import_path()
    try:
        ray.init(**options)
    except SystemExit as error:  # Ray turns a SIGTERM into this
        raise Interrupted(143) from error
    except Exception as error:  # of many types: different versions, no node on this machine, ...
        raise ClusterError(f"Ray at {address}: {' '.join(str(error).split())[:300]}") from None
    finally:
        stop.take_back()
        if before is not None:
            os.environ["PYTHONPATH"] = before
        else:
            os.environ.pop("PYTHONPATH", None)


def _address(given: str) -> str:
    """Find the address for Ray, which would itself wait for minutes without an answer."""
    if given == "local":
        return given
    named = os.environ.get("RAY_ADDRESS", "") if given == "auto" else given
    host, _, port = named.rpartition(":")
    if host and port.isdecimal():
        try:
            socket.create_connection((host, int(port)), KNOCK_SECONDS).close()
        except (OSError, OverflowError) as error:
            raise ClusterError(f"no Ray cluster at {named} ({error})") from None
    command = [sys.executable, "-m", "ray.scripts.scripts", "health-check", *(["--address", named] if named else [])]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=ANSWER_SECONDS)
        words = answer.stderr.strip().splitlines()[-1:] if answer.returncode else []
    except subprocess.TimeoutExpired:
        words = [f"no answer in {ANSWER_SECONDS:g} seconds"]
    if words and named:
        raise ClusterError(f"no Ray cluster at {named} ({words[0]})")
    return "local" if words else named or "auto"


def _require(needed: int) -> int:
    """Count the CPUs of the cluster; refuse too few."""
    held = int(ray.cluster_resources().get("CPU", 0))
    if held < needed:
        raise ClusterError(
            f"the Ray cluster has {held} CPUs; ray.actors and ray.learners need {needed}, one for each but learner 0"
        )
    return held


# --- the other learners -------------------------------------------------------------------------------


class OtherLearner:
    """A learner other than the first, in a process of its own; created by Ray."""

    def run(
        self, plan: Plan, files: dict[str, bytes], rank: int, port: tuple[str, int], alone: bool
    ) -> tuple[int, str]:
        """Train; returns the exit code, and the reason if it is not 0."""
        world = plan.config.learners
        with tempfile.TemporaryDirectory(prefix="gunzi-") as name:
            plan = _with_files(plan, files, Path(name))
            source = Actors(plan, rank)
            try:
                group = Group(rank, world)
                meet(group, lambda: dist.TCPStore(*port, world, False), _limit(plan), loopback=alone)
                return session.run(Path(name), plan, group, source=source), ""
            except TrainingError as error:
                return error.exit_code, f"learner {rank}: {error}"
            finally:
                source.close()


_RemoteLearner: Any = ray.remote(num_cpus=1, max_restarts=0, scheduling_strategy="SPREAD")(OtherLearner)


class RemoteWorker:
    """A :class:`~gunzi_train.group.WorkerHandle` of a learner that Ray started."""

    where = "Ray's logs"

    def __init__(self, cards: int, *what: Any) -> None:
        self._actor: Any = _RemoteLearner.options(num_gpus=cards).remote()
        self._running = self._actor.run.remote(*what)

    def _end(self) -> tuple[int, str] | None:
        if not self.wait(0):
            return None
        try:
            code, words = ray.get(self._running)
            return int(code), str(words)
        except RayTaskError as error:
            return 1, COLOURS.sub("", str(error))
        except RayActorError as error:
            return -9, str(error)
        except RayError as error:
            return 1, str(error)

    def poll(self) -> int | None:
        end = self._end()
        return None if end is None else end[0]

    def wait(self, seconds: float) -> bool:
        return bool(ray.wait([self._running], timeout=seconds)[0])

    def kill(self) -> None:
        ray.kill(self._actor)

    def said(self) -> str:
        end = self._end()
        return "" if end is None else end[1]


def start(plan: Plan) -> Group:
    """Start and connect the other learners; called by learner 0 within a cluster."""
    world = plan.config.learners
    if world == 1:
        return Group()
    host = ray.util.get_node_ip_address()
    alone = {node["NodeManagerAddress"] for node in ray.nodes() if node["Alive"]} == {host}
    store = dist.TCPStore(host, 0, world, True, wait_for_workers=False)
    files = ray.put(_files(plan))
    # Ray hides GPUs from a learner unless they are requested.
    cards = int(plan.config.device != "cpu" and ray.cluster_resources().get("GPU", 0) >= world)
    workers = [RemoteWorker(cards, plan, files, rank, (host, store.port), alone) for rank in range(1, world)]
    group = Group(0, world, workers)
    try:
        meet(group, lambda: store, _limit(plan), loopback=alone)
    except BaseException:
        group.abort()
        raise
    return group


def _limit(plan: Plan) -> float:
    """Compute the timeout between learners, one of which may wait until actors are replaced."""
    return (TRIES + 1) * plan.config.timeout_seconds


def _files(plan: Plan) -> dict[str, bytes]:
    """Read the checkpoints that a learner needs at its start."""
    files = {}
    if plan.resume:
        files["resume"] = Path(plan.resume).read_bytes()
    elif plan.config.start:
        files["start"] = checkpoint.load(plan.config.start)[0].path.read_bytes()
    return files


def _with_files(plan: Plan, files: dict[str, bytes], folder: Path) -> Plan:
    """Store the checkpoints of a plan in a folder of this machine; returns the plan with their new paths."""
    for name, data in files.items():
        path = folder / f"{name}.safetensors"
        path.write_bytes(data)
        if name == "resume":
            plan = dataclasses.replace(plan, resume=str(path))
        else:
            plan = dataclasses.replace(plan, config=dataclasses.replace(plan.config, start=str(path)))
    return plan
