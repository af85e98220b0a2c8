"""Training on a Ray cluster of two nodes on this machine: actors that play elsewhere, and what becomes of them."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from gunzi_agents import checkpoint
from gunzi_env.chapters.deal import deal_key
from gunzi_env.rules import Rules
from gunzi_train import folder
from gunzi_train.algorithms.ppo import PPO
from gunzi_train.commands import train
from gunzi_train.config import (
    CollectConfig,
    Config,
    EvaluateConfig,
    NetConfig,
    PPOConfig,
    RayConfig,
    SaveConfig,
    ScheduleConfig,
)
from gunzi_train.device import settle_torch
from gunzi_train.errors import NonFinite, WorkerLost
from gunzi_train.group import Group, import_path
from gunzi_train.plan import Plan
from gunzi_train.rollout.collector import make_collector
from gunzi_train.run import session

ray = pytest.importorskip("ray", reason="Ray is not installed: it has no wheel for every Python and system")
from ray.cluster_utils import Cluster  # noqa: E402

from gunzi_train.launch import ray_cluster  # noqa: E402
from gunzi_train.rollout import ray_actors  # noqa: E402
from tests.support import tiny_runs  # noqa: E402

SMALL = Config(
    net=NetConfig(width=16, depth=1, critic="privileged"),
    collect=CollectConfig(tables=16, steps=24),
    ppo=PPOConfig(minibatch=64),
    schedule=ScheduleConfig(updates=5),
    evaluate=EvaluateConfig(every_seconds=0.0, opponents=()),
    save=SaveConfig(every_seconds=1e6, tensorboard=False),
    precision="fp32",
    timeout_seconds=20.0,
)
ARGV = tiny_runs.argv(net__width=16, collect__tables=16, collect__steps=24, ppo__minibatch=64, timeout_seconds=20)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Two nodes with three CPUs each, joined by this process."""
    threads = torch.get_num_threads()
    settle_torch()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", import_path())
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        for name in ("RAY_enable_worker_prestart", "RAY_prestart_worker_first_driver"):
            patch.setenv(name, "0")  # no processes that wait for work which never comes
        nodes = Cluster()
        for _ in range(2):
            nodes.add_node(num_cpus=3, object_store_memory=200 << 20, include_dashboard=False)
        ray.init(nodes.address, log_to_driver=False, logging_level="ERROR")
        yield nodes.address
        ray.shutdown()
        nodes.shutdown()
    torch.set_num_threads(threads)
    torch.set_flush_denormal(False)


def _plan(*, timeout: float = 20.0, **settings: Any) -> Plan:
    config = dataclasses.replace(SMALL, ray=RayConfig("auto", **settings), timeout_seconds=timeout)
    return Plan(config, Rules(), False)


def _learner(source: ray_actors.Actors) -> PPO:
    return PPO(source.plan, Group(), source)


@pytest.fixture
def make(address: str) -> Iterator[Callable[[Plan], ray_actors.Actors]]:
    """Makes actors, which end with the test."""
    sources = []

    def made(plan: Plan) -> ray_actors.Actors:
        sources.append(ray_actors.Actors(plan))
        return sources[-1]

    yield made
    for source in sources:
        source.close()


@pytest.fixture(scope="module")
def pair(address: str) -> Iterator[ray_actors.Actors]:
    """Two actors that have started; a start takes seconds."""
    source = ray_actors.Actors(_plan())
    _learner(source).update(0.0)
    yield source
    source.close()


def _pid(place: ray_actors.ActorSlot) -> int:
    return ray.get(place.actor.__ray_call__.remote(lambda actor: os.getpid()))


def _gone(pid: int) -> bool:
    """Whether a process ends within ten seconds."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("opponent", ["", "uniform"])
def test_an_actor_of_no_age_teaches_what_playing_here_does(make: Any, opponent: str) -> None:
    """Ray changes where rollouts come from and nothing else: the weights are the same bit for bit."""
    plan = _plan(actors=1, stale=0)
    plan = dataclasses.replace(plan, config=dataclasses.replace(plan.config, opponent=opponent))
    source = make(plan)
    learner, tables = _learner(source), make_collector(plan.config, plan.rules, "actor", 0, 0)
    local = PPO(plan, Group(), tables)
    for _ in range(3):
        there, here = learner.update(0.0), local.update(0.0)
        assert there == here
    assert learner.optimiser.weights.numpy().tobytes() == local.optimiser.weights.numpy().tobytes()
    assert learner.counters == local.counters
    assert source.figures() == {"replaced": 0, "dropped": 0, "lag": 0.0}


def test_actors_have_no_deal_in_common() -> None:
    """The first deals of four actors, by the key that everything dealt follows from."""
    config = dataclasses.replace(SMALL, collect=CollectConfig(tables=64, steps=1))
    keys = []
    for number in range(4):
        tables = make_collector(config, Rules(), "actor", 0, number).env.tables
        keys.append(deal_key(tables, np.arange(64)))
    assert len(np.unique(np.concatenate(keys))) == 4 * 64


def test_old_rollouts_are_dropped(pair: ray_actors.Actors) -> None:
    learner, dropped = _learner(pair), pair.dropped
    learner.update(0.0)
    assert pair.dropped == dropped
    pair.version += 2  # as if two versions had passed: those under way will be three behind
    learner.update(0.0)
    assert pair.dropped > dropped
    assert pair.lag == 0.0, "what was taken was played by the newest weights"
    for _ in range(20):  # one of the two may take long, while the other plays for both
        if pair.dropped == dropped + 2:
            break
        learner.update(0.0)
    learner.update(0.0)
    assert pair.dropped == dropped + 2
    assert 0.0 < pair.lag <= 2.0


def test_what_ends_a_run_here_ends_it_there(pair: ray_actors.Actors, monkeypatch: pytest.MonkeyPatch) -> None:
    """NaN in an actor is no fault of the actor, and no other one would do better."""
    before, replaced = ray_actors.to_arrays, pair.replaced
    huge = lambda net: {name: array * np.float32(1e30) for name, array in before(net).items()}  # noqa: E731
    monkeypatch.setattr(ray_actors, "to_arrays", huge)
    with pytest.raises(NonFinite, match="while playing"):
        for _ in range(3):  # what is under way was asked for with good weights
            _learner(pair).update(0.0)
    assert pair.replaced == replaced
    for place in pair.slots:  # the run would be over: forget what is still under way
        place.rollout = None


def test_a_killed_actor_is_replaced_with_new_deals(pair: ray_actors.Actors, tmp_path: Path, capsys: Any) -> None:
    pids = [_pid(place) for place in pair.slots]
    collect, begun, made, replaced = pair.collect, pair.version, pair.made, pair.replaced

    def collect_and_kill(*what: Any) -> Any:
        found = collect(*what)
        if pair.version == begun + 2:
            os.kill(pids[0], signal.SIGKILL)  # it was asked a moment ago, and plays
        return found

    pair.collect = collect_and_kill  # type: ignore[method-assign]
    (tmp_path / checkpoint.FOLDER).mkdir()
    try:
        assert session.run(tmp_path, pair.plan, Group(), source=pair) == 0
    finally:
        pair.collect = collect  # type: ignore[method-assign]
    assert "an actor died: replaced, with new deals" in capsys.readouterr().out
    rows = [json.loads(line) for line in (tmp_path / folder.METRICS).read_text("utf-8").splitlines()]
    assert [row["ray"]["replaced"] - replaced for row in rows] == [0, 0, 1, 1, 1]
    assert all(0 <= row["ray"]["lag"] <= 2 for row in rows)
    assert pair.made == made + 1, "the new one has a number, and so deals, of its own"
    assert rows[-1]["decisions"] == 5 * pair.plan.config.decisions == 5 * 2 * 16 * 24
    assert _gone(pids[0])


def test_a_frozen_actor_is_replaced(pair: ray_actors.Actors, monkeypatch: pytest.MonkeyPatch) -> None:
    learner, said = _learner(pair), []
    monkeypatch.setattr(pair, "say", said.append)
    learner.update(0.0)
    pid = _pid(pair.slots[0])
    monkeypatch.setattr(pair, "plan", _plan(timeout=3.0))
    replaced = pair.replaced
    os.kill(pid, signal.SIGSTOP)
    deadline = time.monotonic() + 30
    while pair.replaced == replaced:
        learner.update(0.0)
        assert time.monotonic() < deadline
    assert any("an actor did not answer for 3 seconds: replaced" in text for text in said)
    assert _gone(pid), "the frozen actor is left behind"


def test_actors_without_a_cpu_are_waited_for_while_others_play(
    pair: ray_actors.Actors, make: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    room = int(ray.cluster_resources()["CPU"] - len(pair.slots))
    guests = [ray.remote(num_cpus=1)(dict).remote() for _ in range(room - 1)]
    ray.get([guest.__ray_ready__.remote() for guest in guests])
    source = make(_plan(timeout=60.0))
    for _ in range(2):
        _learner(source).update(0.0)
    assert sum(place.ready is not None for place in source.slots) == 1
    monkeypatch.setattr(ray_actors, "START_PATIENCE", 2)
    plan = _plan(actors=1, timeout=1.0)
    with pytest.raises(WorkerLost, match="1 of 1 actors have not started: they wait for a free CPU"):
        _learner(make(plan)).update(0.0)

    monkeypatch.setattr(ray_actors, "START_PATIENCE", 1000)
    monkeypatch.setattr(ray_actors, "STOP_SECONDS", 1.0)
    (tmp_path / checkpoint.FOLDER).mkdir()
    stop: Any = SimpleNamespace(code=143, abort=None)
    assert session.run(tmp_path, plan, Group(), stop=stop, source=make(plan)) == 143
    assert checkpoint.load(tmp_path)[0].meta["counters"]["updates"] == 0


def test_actors_that_raise_end_the_run_with_their_traceback(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(ray_actors, "to_arrays", lambda net: {"net.value.bias": np.zeros(1, np.float32)})
    run = tmp_path / "run"
    assert train.main([*ARGV, "--out", str(run), "--ray", address, "--ray.actors", "1", "--schedule.updates", "5"]) == 4
    out, err = capsys.readouterr()
    assert out.count("an actor raised an exception: replaced") == 2
    assert "--- an actor said ---" in err and "actors.py" in err and "ValueError: weights do not fit the network" in err
    assert "\x1b" not in err
    assert err.splitlines()[-1].startswith("gunzi train: 3 actors in a row were lost without a rollout")


def test_a_run_of_two_learners_goes_on(address: str, tmp_path: Path, capsys: Any) -> None:
    run = tmp_path / "run"
    settings = [*ARGV, "--ray", address, "--ray.learners", "2", "--schedule.updates", "3", "--minutes", "0.001"]
    assert train.main([*settings, "--out", str(run)]) == 0
    assert f"Ray ({address}) with 2 actors and 2 learners" in capsys.readouterr().out
    found = checkpoint.load(run)[0]
    assert {"process.0", "process.1"} <= set(found.tensors)
    assert found.meta["counters"]["updates"] == 1
    assert train.main(["--resume", str(run), "--ray", "auto", "--minutes", "10"]) == 0
    assert "on new tables" in capsys.readouterr().out
    found = checkpoint.load(run)[0]
    assert found.meta["counters"] | {"updates": 3, "decisions": 3 * 2 * 16 * 24} == found.meta["counters"]
    for rank in (0, 1):
        assert folder.own_state(found, rank)["actors"].tolist() == [2], "resumed with an actor of another number"


def test_what_cannot_be_is_refused_before_anything_is_written(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    run = tmp_path / "run"
    start = [*ARGV, "--out", str(run), "--schedule.updates", "1"]
    refused = {
        ("--ray", "nonsense"): "ray.address is 'nonsense'; allowed: auto, local, HOST:PORT",
        ("--ray", address, "--ray.actors", "3", "--ray.learners", "2"): "must be a multiple of ray.learners (2)",
        ("--ray", address, "--ray.actors", "50"): "has 6 CPUs; ray.actors and ray.learners need 50",
    }
    for words, reason in refused.items():
        assert train.main([*start, *words]) == 2
        err = capsys.readouterr().err
        assert reason in err and err.count("\n") == 1
    monkeypatch.setattr(ray_cluster.ray, "is_initialized", lambda: False)
    assert train.main([*start, "--ray", "127.0.0.1:1"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("gunzi train: no Ray cluster at 127.0.0.1:1 (") and err.count("\n") == 1
    assert not run.exists()

    assert train.main(start) == 0
    capsys.readouterr()
    assert train.main(["--resume", str(run), "--ray", address]) == 2
    assert "was trained without --ray" in capsys.readouterr().err
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert train.main([*start, "--overwrite", "--ray", "auto"]) == 2
    assert capsys.readouterr().err == "gunzi train: --ray needs Ray: pip install gunzi[distributed]\n"
    assert checkpoint.listing(run), "the run that was there is untouched"


def _command(*argv: str) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": import_path(), "PYTHONUNBUFFERED": "1"}
    code = "import sys; from gunzi_train.commands.train import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, *argv]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    )


def _of_session(leader: int) -> list[int]:
    """The processes that a session leader has started, whoever their parents are now."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text("utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == leader and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("own", [True, False], ids=["own cluster", "joined cluster"])
def test_a_signal_saves_and_leaves_nothing_behind(address: str, tmp_path: Path, own: bool) -> None:
    """Ctrl-C, which a terminal sends to all of the command's processes, and SIGTERM."""
    run = tmp_path / "run"
    cpus = ray.available_resources()["CPU"]
    where = ["--ray", "local" if own else address, "--ray.actors", "1"]
    process = _command(*ARGV, "--out", str(run), "--schedule.updates", "100000", *where)
    deadline, log = time.monotonic() + 240, run / folder.METRICS
    while process.poll() is None and not (log.exists() and log.read_text("utf-8").count("\n") >= 2):
        assert time.monotonic() < deadline, "no two updates"
        time.sleep(0.1)
    if own:
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.terminate()
    out, err = process.communicate(timeout=60)
    assert process.returncode == (130 if own else 143), err
    assert f"--resume {run}" in out
    assert checkpoint.load(run)[0].meta["counters"]["updates"] >= 2
    assert all(_gone(pid) for pid in _of_session(process.pid))
    assert ray.cluster_resources()["CPU"] == 6, "the joined cluster is still there"
    while time.monotonic() < deadline and ray.available_resources()["CPU"] < cpus:
        time.sleep(0.1)
    assert ray.available_resources()["CPU"] >= cpus, "its actors are gone"  # more, if another test's went late
