"""Training on the real environment: resumable to the bit, stoppable, and honest about what goes wrong."""

from __future__ import annotations

import dataclasses
import json
import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from gunzi_agents import checkpoint, neural, registry
from gunzi_agents.checkpoint import CheckpointError
from gunzi_env import engine, observe
from gunzi_env.chapters.deal import shuffle
from gunzi_env.rules import Rules
from gunzi_env.tables import Tables
from gunzi_env.vector import VectorEnv
from gunzi_train import folder
from gunzi_train.algorithms.ppo import PPO
from gunzi_train.commands import train
from gunzi_train.config import CollectConfig, Config, EvaluateConfig, NetConfig, PPOConfig, SaveConfig, ScheduleConfig
from gunzi_train.device import bf16_is_faster, settle_torch
from gunzi_train.errors import EmptyMask
from gunzi_train.group import Group
from gunzi_train.logs.progress import Progress
from gunzi_train.plan import Plan
from gunzi_train.run import evaluate, session
from tests.support import tiny_runs

UPDATES = 4
SMALL = Config(
    net=NetConfig(width=32, depth=2, critic="privileged"),
    collect=CollectConfig(tables=16, steps=48),
    ppo=PPOConfig(minibatch=128),
    schedule=ScheduleConfig(updates=UPDATES),
    evaluate=EvaluateConfig(every_seconds=0.0, opponents=()),
    save=SaveConfig(every_seconds=1e6, tensorboard=False),
    precision="fp32",
)
SETTINGS: dict[str, object] = {"net__width": 32, "net__depth": 2, "collect__tables": 16, "collect__steps": 48}
SETTINGS |= {"ppo__minibatch": 128, "schedule__updates": UPDATES}
ARGV = tiny_runs.argv(**SETTINGS)


@pytest.fixture(autouse=True, scope="module")
def _as_in_a_run():
    threads = torch.get_num_threads()
    settle_torch()
    yield
    torch.set_num_threads(threads)
    torch.set_flush_denormal(False)


class StopAt:
    """Stands in for a signal that arrives in a certain update."""

    def __init__(self, learner: PPO, update: int) -> None:
        self.learner, self.update = learner, update

    @property
    def code(self) -> int:
        return 130 if self.learner.counters.updates >= self.update else 0


def _train(run: Path, stop_at: int = 10**9, config: Config = SMALL) -> session.Session:
    run.mkdir(parents=True)
    (run / checkpoint.FOLDER).mkdir()
    going = session.Session(run, Plan(config, Rules(), False), Group(), time.monotonic())
    going.metrics = session.Metrics(run, tensorboard=False)
    going.progress = Progress()
    assert going.loop(StopAt(going.algorithm, stop_at)) == (130 if stop_at < UPDATES else 0)  # type: ignore[arg-type]
    going.metrics.close()
    return going


def _rows(run: Path) -> list[dict]:
    rows = [json.loads(line) for line in (run / folder.METRICS).read_text("utf-8").splitlines()]
    return [{key: value for key, value in row.items() if key != "speed"} for row in rows]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of four updates, uninterrupted."""
    run = tmp_path_factory.mktemp("whole") / "run"
    _train(run)
    return run


def _same(a: Path, b: Path) -> None:
    mine, other = checkpoint.read(a), checkpoint.read(b)
    assert set(mine.tensors) == set(other.tensors)
    for name, tensor in mine.tensors.items():
        # Not "assert a == b": pytest would write out the difference of megabytes of weights, for minutes.
        equal = tensor.tobytes() == other.tensors[name].tobytes()
        assert equal, name
    for key in ("updates", "hands", "decisions", "total"):
        assert mine.meta["counters"][key] == other.meta["counters"][key]


@pytest.mark.parametrize("stop_at", [1, 3])
def test_a_resumed_run_equals_an_uninterrupted_one(whole: Path, tmp_path: Path, stop_at: int) -> None:
    """Weights, optimiser, tables, generators, counters and log rows are equal bit for bit."""
    run = tmp_path / "空 run"
    _train(run, stop_at)
    assert [path.name for path in checkpoint.listing(run)] == [checkpoint.file_name(stop_at)]
    with open(run / folder.METRICS, "a", encoding="utf-8") as log:
        log.write('{"update": 99}\n{"upda')  # rows after the checkpoint, the last cut off by a kill
    assert train.main(["--resume", str(run)]) == 0
    _same(
        run / checkpoint.FOLDER / checkpoint.file_name(UPDATES),
        whole / checkpoint.FOLDER / checkpoint.file_name(UPDATES),
    )
    assert _rows(run) == _rows(whole)
    assert checkpoint.read(whole / checkpoint.FOLDER / checkpoint.file_name(UPDATES)).meta["counters"]["hands"] > 0


def test_the_test_above_would_notice_a_lost_generator(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    _train(run, 2)
    restored = folder.own_state
    other = torch.Generator().manual_seed(1).get_state().numpy()
    monkeypatch.setattr(folder, "own_state", lambda found, rank: restored(found, rank) | {"generator": other})
    assert train.main(["--resume", str(run)]) == 0
    with pytest.raises(AssertionError):
        _same(
            run / checkpoint.FOLDER / checkpoint.file_name(UPDATES),
            whole / checkpoint.FOLDER / checkpoint.file_name(UPDATES),
        )


def test_resume_passes_over_a_damaged_checkpoint_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    _train(run, 3)
    newest = run / checkpoint.FOLDER / checkpoint.file_name(3)
    (run / checkpoint.FOLDER / checkpoint.file_name(2)).write_bytes(newest.read_bytes())
    newest.write_bytes(newest.read_bytes()[:-40])
    assert train.main(["--resume", str(run), "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "passed over" in out and newest.name in out and "damaged" in out
    for path in checkpoint.listing(run):
        path.write_bytes(b"")
    assert train.main(["--resume", str(run)]) == 3
    assert "none of its 2 checkpoints is usable" in capsys.readouterr().err


def test_tensorboard_has_every_update_once_after_a_resume(tmp_path: Path) -> None:
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    run = tmp_path / "run"
    argv = tiny_runs.argv(tensorboard=True, **SETTINGS)
    assert train.main(["--out", str(run), *argv, "--minutes", "0.0001"]) == 0
    assert train.main(["--resume", str(run), "--minutes", "9"]) == 0
    found = events.EventAccumulator(str(run / folder.TENSORBOARD)).Reload().Scalars("train/entropy")
    assert [event.step for event in found] == list(range(1, UPDATES + 1))


def test_a_finished_run_has_nothing_to_go_on_with(whole: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train.main(["--resume", str(whole)]) == 0
    assert "finished" in capsys.readouterr().out


def test_a_folder_serves_one_run(whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path: path.read_bytes() for path in whole.rglob("*") if path.is_file() and path.name != folder.LOCK}
    assert train.main(["--out", str(whole), *ARGV]) == 2
    assert "already contains a run" in capsys.readouterr().err
    lock = folder.RunLock(whole)
    for argv in (["--out", str(whole), "--overwrite", *ARGV], ["--resume", str(whole)]):
        assert train.main(argv) == 2
        assert f"another training (process {os.getpid()})" in capsys.readouterr().err
    lock.release()
    assert before == {
        path: path.read_bytes() for path in whole.rglob("*") if path.is_file() and path.name != folder.LOCK
    }
    folder.RunLock(whole).release()


def test_a_look_at_a_folder_does_not_keep_a_training_out(tmp_path: Path) -> None:
    """``gunzi runs`` holds the lock for a moment, in which a training may begin."""
    fcntl = pytest.importorskip("fcntl")
    folder.RunLock(tmp_path).release()
    with open(tmp_path / folder.LOCK, encoding="utf-8") as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)
        release = threading.Timer(0.07, looking.close)
        release.start()
        folder.RunLock(tmp_path).release()
        release.join()


def test_the_command_trains_and_names_the_next_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    argv = [
        "--out",
        str(run),
        *ARGV,
        "--evaluate.every-seconds",
        "100",
        "--evaluate.deals",
        "4",
        "--evaluate.opponents",
        "uniform",
    ]
    assert train.main(argv) == 0
    out = capsys.readouterr().out
    assert out.startswith("gunzi train: ") and out.rstrip().endswith(f"next: gunzi arena {run} greedy")
    matches = [row["match"] for row in _rows(run) if "match" in row]
    assert matches[-1]["opponent"] == "uniform" and matches[-1]["deals"] == 4
    assert matches[-1]["points"]["low"] <= matches[-1]["points"]["mean"] <= matches[-1]["points"]["high"]
    assert (run / checkpoint.UNTRAINED).is_file()
    code = train.main(["--out", str(run), "--overwrite", *ARGV])
    assert code == 0, "an older run is replaced where that is asked for"


def test_agents_come_from_run_folders_and_files(whole: Path) -> None:
    rules = Rules()
    trained, untrained = registry.make(str(whole), rules), registry.make(str(whole / checkpoint.UNTRAINED), rules)
    tables = Tables(rules, 40)
    engine.reset(tables, 5)
    view, legal = observe.view(tables), engine.legal(tables)
    keys = np.zeros(40, np.uint64)
    actions = trained.act(view, legal, keys)
    assert actions.dtype == np.int32 and legal[np.arange(40), actions].all()
    assert isinstance(trained, neural.NeuralAgent) and isinstance(untrained, neural.NeuralAgent)
    seen = observe.encode(view)
    assert not np.array_equal(trained.logits(seen), untrained.logits(seen))
    for rows in (slice(0, 1), slice(7, 10)):
        assert np.allclose(trained.logits(seen[rows]), trained.logits(seen)[rows], atol=1e-5), "padding changes nothing"
        assert np.array_equal(trained.act(view.rows(np.arange(40)[rows]), legal[rows], keys[rows]), actions[rows])


def test_checkpoints_of_other_rules_are_refused(whole: Path) -> None:
    for name in ("dalian_dead", "four_deck"):
        with pytest.raises(CheckpointError, match=r"made for"):
            neural.load(whole, Rules.preset(name))
    assert neural.load(whole, Rules.preset("dalian_dead"), same_rules=False)
    with pytest.raises(CheckpointError, match="larger than its weights"):
        found = checkpoint.read(whole / checkpoint.UNTRAINED)
        found.meta["network"]["width"] = 8192
        neural.network(found, Rules())
    found = checkpoint.read(whole / checkpoint.UNTRAINED)
    found.tensors["net.policy.bias"][3] = np.nan
    with pytest.raises(CheckpointError, match=r"policy\.bias is not finite"):
        neural.network(found, Rules())


# Parts --------------------------------------------------------------------------------------------


def _learner(seed: int = 1) -> PPO:
    return PPO(Plan(dataclasses.replace(SMALL, seed=seed), Rules(), False), Group())


def test_an_empty_mask_is_refused_with_all_that_finds_it_again() -> None:
    learner = _learner()
    learner.update(0.0)
    collector = learner.source
    collector.mask[11] = False
    phase = collector.env.tables.phase[11]
    with pytest.raises(EmptyMask) as caught:
        learner.update(0.0)
    text = str(caught.value)
    assert engine.Phase(phase).name in text and f"seed {collector.seed}, table 11" in text
    assert f"seat {collector.env.seats[11]}" in text and f"ply {collector.plies[11]}" in text


def _deals(seed: int, rank: int) -> set[bytes]:
    """The first 1,000 deals of a process, each as the order of its cards."""
    collect = CollectConfig(tables=1, steps=8)
    config = dataclasses.replace(SMALL, seed=seed, collect=collect, ppo=PPOConfig(minibatch=8))
    process = PPO(Plan(config, Rules(), False), Group(rank)).source
    env = VectorEnv(1000, process.rules, seed=process.seed)
    env.reset()
    return {order.tobytes() for order in shuffle(env.tables, np.arange(1000))}


def test_the_first_1000_deals_of_four_processes_have_none_in_common() -> None:
    """Nor with those of another seed; those of the same are the same."""
    found = {(seed, rank): _deals(seed, rank) for seed in (1, 2) for rank in range(4)}
    assert all(len(deals) == 1000 for deals in found.values())
    assert len(set().union(*found.values())) == 8000
    assert _deals(1, 3) == found[1, 3]


def test_a_seed_fixes_a_run(whole: Path) -> None:
    """The first update of a run, once more and with another seed."""
    first, again, other = _rows(whole)[0], _learner(), _learner(seed=2)
    figures = again.update(0.0)
    assert first["train"] == {name: float(f"{value:.6g}") for name, value in figures.items()}
    assert other.update(0.0)["policy_loss"] != figures["policy_loss"]
    assert not torch.equal(other.optimiser.weights, again.optimiser.weights)


def test_tables_start_all_over_the_hand() -> None:
    tables = _learner().source.env.tables
    left = tables.held[tables.phase >= engine.Phase.LEAD]
    assert len(left) > 8 and left.min() < 10 and left.max() > 30


def test_rewards_are_the_hands_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """What team 0 is paid at a hand's end, against the environment's result and the table in R9."""
    learner = _learner()
    collector, env = learner.source, learner.source.env
    expected: dict[tuple[int, int], float] = {}
    paid = collector._pay

    def watch(t, done, stats):  # type: ignore[no-untyped-def]
        paid(t, done, stats)
        for n in np.flatnonzero(done):
            attackers = 1 - int(env.result.dealer[n]) % 2
            winners = attackers if env.result.score[n] >= 120 else 1 - attackers
            gain = np.clip(int(env.result.gain[n, 0]) - int(env.result.gain[n, 1]), -3, 3)
            expected[t, int(n)] = float(gain) + (0.5 if winners == 0 else -0.5)

    monkeypatch.setattr(collector, "_pay", watch)
    ended = 0
    for _ in range(6):
        expected.clear()
        rollout, stats = collector.collect(learner.net, False)
        assert stats.hands == len(expected) == rollout.done.sum()
        assert {place: float(rollout.levels[place]) for place in expected} == expected
        assert (rollout.levels[~rollout.done] == 0).all()
        ended += len(expected)
    assert ended > 20


def test_points_of_a_hand_add_up_to_its_score() -> None:
    env = VectorEnv(8, "dalian", seed=3)
    _, legal = env.reset()
    total, hands = np.zeros(8), 0
    rng = np.random.Generator(np.random.PCG64(0))
    for _ in range(400):
        _, legal, _, done = env.step((rng.random(legal.shape) * legal).argmax(axis=1))
        total += env.points
        for n in np.flatnonzero(done):
            sign = -1 if env.result.dealer[n] % 2 == 0 else 1
            assert total[n] == sign * env.result.score[n]
            total[n], hands = 0, hands + 1
    assert hands > 8


def test_matches_repeat() -> None:
    learner = _learner()
    first = evaluate.match(learner.agent("trained"), "uniform", Rules(), seed=4, deals=6, group=Group())
    again = evaluate.match(learner.agent("trained"), "uniform", Rules(), seed=4, deals=6, group=Group())
    assert first == again and set(first) == set(evaluate.FIGURES)
    assert all(interval.low <= interval.mean <= interval.high for interval in first.values())
    assert first["hands_won"].low >= 0 and first["hands_won"].high <= 1


def test_the_precision_probe_is_quick() -> None:
    start = time.perf_counter()
    assert bf16_is_faster(torch.device("cpu")) in (True, False)
    assert time.perf_counter() - start < 2.0


@pytest.mark.parametrize("lesson", ["the same weights", "older weights"])
def test_a_rollout_of_older_weights_is_learned_from_where_the_policy_is_now(lesson: str) -> None:
    """The step's bound is put around the present policy, and what it would play more often counts for more."""
    one_step = dataclasses.replace(SMALL, ppo=PPOConfig(minibatch=1 << 20, epochs=1))
    learners = [PPO(Plan(one_step, Rules(), False), Group()) for _ in range(2)]
    figures, weights = [], []
    for learner, aged in zip(learners, (False, True), strict=True):
        learner.update(0.0)
        collected = learner.source.collect(learner.net, False)
        learner.source.collect = lambda *_, collected=collected: collected  # type: ignore[method-assign]
        learner.source.is_stale = aged  # type: ignore[misc]
        if lesson == "older weights":
            with torch.no_grad():
                learner.optimiser.weights += 0.02 * torch.randn(
                    len(learner.optimiser.weights), generator=torch.Generator().manual_seed(5)
                )
        figures.append(learner.update(0.0))
        weights.append(learner.optimiser.weights.detach().numpy().copy())
    fresh, aged_too = figures
    assert abs(aged_too["kl"]) < 1e-6 and aged_too["clipped"] == 0
    if lesson == "the same weights":
        assert np.allclose(weights[0], weights[1], atol=1e-6)
        assert abs(fresh["kl"]) < 1e-6
    else:
        assert fresh["kl"] > 1e-3 and fresh["clipped"] > 0
        assert not np.allclose(weights[0], weights[1], atol=1e-6)
