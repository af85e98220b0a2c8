"""What a run keeps besides its checkpoints: the best so far, hands, the curve. None of it changes the run."""

from __future__ import annotations

import builtins
import os
import signal
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from gunzi_agents import checkpoint, neural
from gunzi_agents.networks import to_arrays
from gunzi_env import record
from gunzi_env.rules import Rules
from gunzi_eval.commands import replay
from gunzi_train import folder
from gunzi_train.commands import train
from gunzi_train.logs import curve
from gunzi_train.logs.metrics import Metrics
from gunzi_train.run import evaluate, samples, session
from gunzi_train.seeds import derived_seed
from tests.support import tiny_runs


def _levels(patch: pytest.MonkeyPatch, values: list[float]) -> list[dict[str, Any]]:
    """Let the matches end so, one after the other; what is returned fills with the weights that played them."""
    played: list[dict[str, Any]] = []

    def match(agent: Any, *args: object, **options: object) -> Any:
        played.append(to_arrays(agent.net))
        return tiny_runs.found(values[len(played) - 1])

    patch.setattr(evaluate, "match", match)
    return played


def _update(path: Path) -> int:
    return int(checkpoint.read(path).meta["counters"]["updates"])


def test_the_best_is_what_gained_most_levels_and_outlives_the_checkpoints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = _levels(monkeypatch, [-1.0, 0.5, 0.25, 0.5])
    more = tiny_runs.match_after_every_update(monkeypatch)
    assert tiny_runs.train(tmp_path / "run", schedule__updates=4, save__keep=1, **more) == 0
    best = checkpoint.read(tmp_path / "run" / folder.BEST)
    assert len(played) == 4 and best.meta["counters"]["updates"] == 2, "of equal ones the first"
    assert best.meta["match"]["levels"] == {"mean": 0.5, "low": -0.5, "high": 1.5}
    assert best.meta["match"]["opponent"] == "uniform" and best.meta["match"]["deals"] == 2
    assert all(np.array_equal(best.tensors[name], weight) for name, weight in played[1].items())
    assert not any(np.array_equal(best.tensors[name], weight) for name, weight in played[3].items())
    assert [_update(path) for path in checkpoint.listing(tmp_path / "run")] == [4]
    assert neural.load(tmp_path / "run" / folder.BEST, Rules())


def test_a_resumed_run_compares_with_the_best_so_far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = tmp_path / "run"
    played = _levels(monkeypatch, [0.1, 0.5, 0.3, 0.4, 0.6, 0.2])
    more, match, kept = tiny_runs.match_after_every_update(monkeypatch), evaluate.match, []

    def watched(*args: Any, **options: Any) -> Any:
        if len(played) == 1:
            os.kill(os.getpid(), signal.SIGINT)  # taken note of after update 3
        kept.append(_update(run / folder.BEST) if played else 0)
        return match(*args, **options)

    monkeypatch.setattr(evaluate, "match", watched)
    assert tiny_runs.train(run, schedule__updates=5, **more) == 130
    assert [_update(path) for path in checkpoint.listing(run)] == [3] and _update(run / folder.BEST) == 2
    assert train.main(["--resume", str(run)]) == 0
    assert kept == [0, 1, 2, 2, 2] and _update(run / folder.BEST) == 5
    assert checkpoint.listing(run)[0].name == checkpoint.file_name(5)


def test_a_damaged_best_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    _levels(monkeypatch, [0.5, 0.4, 0.1])
    more = tiny_runs.match_after_every_update(monkeypatch)
    save = session.Session._save

    def stopping(going: session.Session, path: Path, *args: Any) -> None:
        save(going, path, *args)
        if path.name == folder.BEST and going.counters.updates == 1:
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(session.Session, "_save", stopping)
    assert tiny_runs.train(run, schedule__updates=3, **more) == 143
    (run / folder.BEST).write_bytes((run / folder.BEST).read_bytes()[:-1])
    assert train.main(["--resume", str(run)]) == 0
    assert f"passed over {run / folder.BEST}: is damaged" in capsys.readouterr().out
    assert folder.best_levels(run) == 0.1


def test_sampled_hands_can_be_replayed_and_old_ones_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    _levels(monkeypatch, [0.0] * 4)
    more = tiny_runs.match_after_every_update(monkeypatch)
    assert tiny_runs.train(run, schedule__updates=3, save__records=2, save__keep=2, **more) == 0
    kept = sorted(path.name for path in (run / folder.RECORDS).iterdir())
    assert kept == ["update-000002.txt", "update-000003.txt"]
    game = record.parse((run / folder.RECORDS / kept[-1]).read_text("utf-8"))
    assert game.players == ("update 3",) * 4 and len(game.hands) == 2 and all(hand.result for hand in game.hands)
    assert game.hands[0].deck != game.hands[1].deck
    capsys.readouterr()
    assert replay.main([str(run / folder.RECORDS / kept[-1])]) == 0
    assert "hand 1" in capsys.readouterr().out

    agent = neural.load(run, Rules())  # what was played last, once more
    agent.name = "update 3"
    seed = derived_seed(1, "records", 3)
    assert samples.play(agent, Rules(), hands=2, seed=seed) == record.write(game)


def test_records_of_a_training_that_was_cut_off_go(tmp_path: Path) -> None:
    for update in (1, 2, 8, 9, 3):
        folder.keep_record(tmp_path, update, "x\n", 3)
    (tmp_path / folder.RECORDS / "notes.txt").touch()
    folder.keep_record(tmp_path, 4, "x\n", 3)
    kept = ["notes.txt", *(f"update-{update:06d}.txt" for update in (2, 3, 4))]
    assert sorted(path.name for path in (tmp_path / folder.RECORDS).iterdir()) == kept


def test_tensorboard_gets_the_hands_as_they_stand(tmp_path: Path) -> None:
    class Board:
        texts: ClassVar[list[tuple[object, ...]]] = []

        def add_text(self, *args: object) -> None:
            self.texts.append(args)

    metrics = Metrics(tmp_path, tensorboard=False)
    metrics.write_record("nobody looks\n", 1)
    metrics._board = Board()
    metrics.write_record("hand 0\n0 S9 S9\n", 7)
    assert Board.texts == [("records", "    hand 0\n    0 S9 S9\n", 7)], "indented, which is code in Markdown"


def test_nothing_that_is_told_changes_what_is_learned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert tiny_runs.train(tmp_path / "quiet", save__records=0) == 0
    more = tiny_runs.match_after_every_update(monkeypatch)
    assert tiny_runs.train(tmp_path / "told", save__curve_seconds="1e-9", **more) == 0
    quiet, told = (checkpoint.load(tmp_path / name)[0] for name in ("quiet", "told"))
    assert (tmp_path / "told" / folder.CURVE).exists() and not (tmp_path / "quiet" / folder.CURVE).exists()
    assert all(told.tensors[name].tobytes() == quiet.tensors[name].tobytes() for name in quiet.tensors)
    assert set(told.tensors) == set(quiet.tensors)


def test_overwrite_removes_what_was_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = tmp_path / "run"
    _levels(monkeypatch, [0.0] * 3)
    more = tiny_runs.match_after_every_update(monkeypatch)
    assert tiny_runs.train(run, save__curve_seconds="1e-9", **more) == 0
    assert {folder.BEST, folder.RECORDS, folder.CURVE} <= {path.name for path in run.iterdir()}
    for stale in (run / ".saving-1-curve.png", run / folder.RECORDS / ".saving-1-update-000001.txt"):
        stale.touch()
    folder.prepare(run, overwrite=True).release()
    assert {path.name for path in run.iterdir()} == {folder.LOCK, checkpoint.FOLDER}


# The curve ----------------------------------------------------------------------------------------


def test_a_curve_is_drawn_at_matches_and_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _levels(monkeypatch, [0.0] * 9)
    more, drawn, draw = tiny_runs.match_after_every_update(monkeypatch), [], curve.Curve.draw
    monkeypatch.setattr(curve.Curve, "draw", lambda self: drawn.append(1) or draw(self))
    for seconds, times in (("1e6", 1), ("1e-9", 4), ("0", 0)):
        drawn.clear()
        run = tmp_path / f"every {seconds}"
        assert tiny_runs.train(run, save__curve_seconds=seconds, save__records=0, **more) == 0
        assert len(drawn) == times and (run / folder.CURVE).exists() == bool(times)
        _levels(monkeypatch, [0.0] * 9)
    content = (tmp_path / "every 1e6" / folder.CURVE).read_bytes()
    assert content.startswith(b"\x89PNG") and len(content) > 10_000


def test_a_run_without_matplotlib_says_so_once_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    imported = builtins.__import__

    def without(name: str, *args: Any) -> Any:
        if name.partition(".")[0] == "matplotlib":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return imported(name, *args)

    monkeypatch.setattr(builtins, "__import__", without)
    _levels(monkeypatch, [0.0] * 3)
    more = tiny_runs.match_after_every_update(monkeypatch)
    assert tiny_runs.train(tmp_path / "run", save__curve_seconds="1e-9", save__records=0, **more) == 0
    assert capsys.readouterr().out.count("matplotlib is not installed: no curve.png is drawn") == 1
    assert not (tmp_path / "run" / folder.CURVE).exists()


def test_a_drawing_that_fails_is_no_reason_to_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(history: object) -> bytes:
        raise RuntimeError("no ink")

    monkeypatch.setattr(curve, "png", broken)
    assert tiny_runs.train(tmp_path / "run", save__curve_seconds=1) == 0
    assert "no curve.png is drawn any more (RuntimeError: no ink)" in capsys.readouterr().out


def test_a_signal_is_not_kept_waiting_for_the_first_curve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw: list[int] = []
    monkeypatch.setattr(curve.Curve, "draw", lambda self: draw.append(1) or "")
    for seconds, times in (("1e6", 0), ("1e-9", 3)):
        played = _levels(monkeypatch, [0.0] * 9)
        more, match = tiny_runs.match_after_every_update(monkeypatch), evaluate.match

        def stopping(*args: Any, played: list[Any] = played, match: Any = match, **options: Any) -> Any:
            if not played:
                os.kill(os.getpid(), signal.SIGINT)  # taken note of after update 2
            return match(*args, **options)

        monkeypatch.setattr(evaluate, "match", stopping)
        assert tiny_runs.train(tmp_path / seconds, save__curve_seconds=seconds, save__records=0, **more) == 130
        assert len(draw) == times
