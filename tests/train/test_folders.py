"""What a training may touch in a folder: nothing that is not its own, and nothing before it is sure to start."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from gunzi_agents import checkpoint
from gunzi_env.rules import Rules
from gunzi_train import folder
from gunzi_train.commands import train
from gunzi_train.config import Config
from gunzi_train.errors import RunFolderError
from gunzi_train.launch import processes, training
from gunzi_train.plan import CONFIG, Plan
from tests.support import ROOT, tiny_runs

PLAN = json.dumps(Plan(Config(), Rules(), False).to_json())
SMALL = tiny_runs.argv(collect__steps=4, ppo__minibatch=8, save__every_seconds=0.1, save__keep=9)


def _tree(root: Path) -> dict[str, bytes | None]:
    return {str(p.relative_to(root)): p.read_bytes() if p.is_file() else None for p in sorted(root.rglob("*"))}


def _refused(argv: list[str], capsys: pytest.CaptureFixture[str], code: int = 2) -> str:
    assert train.main(argv) == code
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and error.startswith("gunzi train: ")
    return error


def test_going_on_from_an_older_checkpoint_needs_overwrite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    assert train.main(["--out", str(run), *SMALL]) == 0
    kept = checkpoint.listing(run)
    assert checkpoint.read(kept[0]).meta["counters"]["updates"] == 3
    (run / folder.LOCK).unlink()
    before = _tree(run)
    many = "1 later checkpoint" if len(kept) == 1 else f"{len(kept)} later checkpoints"
    for more in ([], ["--dry-run"]):
        error = _refused(["--resume", str(run / checkpoint.UNTRAINED), *more], capsys)
        assert many in error and "--overwrite" in error
        assert _tree(run) == before
    (run / checkpoint.FOLDER / ".saving-1-x").touch()
    before = _tree(run)
    assert train.main(["--resume", str(run), "--dry-run"]) == 0
    assert train.main(["--resume", str(run / checkpoint.UNTRAINED), "--overwrite", "--dry-run"]) == 0
    assert _tree(run) == before, "a dry run wrote"
    assert train.main(["--resume", str(run / checkpoint.UNTRAINED), "--overwrite"]) == 0
    assert checkpoint.read(checkpoint.listing(run)[0]).meta["counters"]["updates"] == 3


@pytest.mark.parametrize("name", ["config.json", "metrics.jsonl", "checkpoints/mine.txt", "workers/1.log"])
@pytest.mark.parametrize("more", [[], ["--overwrite"]])
def test_files_of_others_are_left_alone(
    name: str, more: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text('{"rules": 3}', "utf-8")
    before = _tree(tmp_path)
    error = _refused(["--out", str(tmp_path), *more, *SMALL], capsys)
    assert "no training wrote" in error and "--resume" not in error
    assert _tree(tmp_path) == before


def test_overwrite_removes_a_run_but_no_other_file_and_no_link_target(tmp_path: Path) -> None:
    run, elsewhere = tmp_path / "run", tmp_path / "elsewhere"
    for part in (run, elsewhere, run / folder.LOGS):
        part.mkdir()
    (elsewhere / checkpoint.file_name(4)).write_bytes(b"x")
    (run / checkpoint.FOLDER).symlink_to(elsewhere)
    (run / CONFIG).write_text(PLAN, "utf-8")
    (run / folder.LOGS / "1.log").touch()
    (run / folder.LOGS / "notes.txt").touch()
    folder.prepare(run, overwrite=True).release()
    assert (elsewhere / checkpoint.file_name(4)).exists()
    assert not (run / checkpoint.FOLDER).is_symlink() and (run / checkpoint.FOLDER).is_dir()
    assert [path.name for path in (run / folder.LOGS).iterdir()] == ["notes.txt"]
    assert not (run / CONFIG).exists()


def test_a_second_lock_is_refused_by_the_process_id_of_the_first(tmp_path: Path) -> None:
    lock = folder.RunLock(tmp_path)
    for _ in range(2):  # a refused one must not change the file
        assert folder.in_use(tmp_path)
        with pytest.raises(RunFolderError, match=rf"another training \(process {os.getpid()}\)"):
            folder.RunLock(tmp_path)
    lock.release()
    assert not folder.in_use(tmp_path) and not folder.in_use(tmp_path / "none")
    folder.RunLock(tmp_path).release()


def test_a_killed_process_holds_no_lock(tmp_path: Path) -> None:
    code = "import sys, time; from pathlib import Path; from gunzi_train import folder\n"
    code += "lock = folder.RunLock(Path(sys.argv[1])); print(1, flush=True); time.sleep(60)"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"1\n"
        assert folder.in_use(tmp_path)
        with pytest.raises(RunFolderError, match=f"process {process.pid}"):
            folder.RunLock(tmp_path)
        process.kill()
    assert not folder.in_use(tmp_path)
    folder.RunLock(tmp_path).release()


def test_looking_at_a_folder_keeps_no_training_out(tmp_path: Path) -> None:
    folder.RunLock(tmp_path).release()
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            folder.in_use(tmp_path)
            time.sleep(0.001)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        for _ in range(50):
            folder.RunLock(tmp_path).release()
    finally:
        done.set()
        thread.join()


def test_a_start_that_failed_can_be_repeated(tmp_path: Path) -> None:
    run = tmp_path / "run"
    folder.prepare(run, overwrite=False).release()  # ended before config.json
    folder.prepare(run, overwrite=False).release()
    (run / CONFIG).write_text(PLAN, "utf-8")
    (run / checkpoint.UNTRAINED).touch()
    (run / folder.METRICS).touch()
    assert train.main(["--resume", "auto", "--out", str(run), *SMALL]) == 0
    assert checkpoint.listing(run)


def test_unknown_opponents_are_found_before_anything_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["--out", str(tmp_path / "run"), *SMALL, "--evaluate.every-seconds", "9", "--evaluate.opponents", "nope"]
    for more in ([], ["--dry-run"]):
        assert "'nope'" in _refused([*argv, *more], capsys)
    assert not list(tmp_path.iterdir())


def test_resuming_what_is_no_run_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.safetensors").write_bytes(b"nothing")
    for given in (tmp_path, tmp_path / "x.safetensors"):
        _refused(["--resume", str(given)], capsys, 3)
    assert [path.name for path in tmp_path.iterdir()] == ["x.safetensors"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_at_the_start_is_not_lost(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the import of torch, and once the folder is there."""
    handler = signal.getsignal(number)
    for where, name in ((training, "_bf16"), (folder, "write")):
        with monkeypatch.context() as patch:

            def interrupted(*args: object) -> bool:
                os.kill(os.getpid(), number)
                return False

            patch.setattr(where, name, interrupted)
            patch.setattr(processes, "start", lambda *args: pytest.fail("it went on"))
            assert "interrupted" in _refused(["--out", str(tmp_path / "run"), *SMALL], capsys, 128 + number)
        assert not list(tmp_path.iterdir())
    assert signal.getsignal(number) is handler


def test_module_and_command_answer_alike() -> None:
    for argv, code in ((["--rules", "nope", "--minutes", "1"], 2), (["--resume", "nowhere"], 3)):
        command = [sys.executable, "-m", "train", *argv]
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert ended.returncode == code
        assert ended.stderr.startswith("gunzi train: ") and ended.stderr.count("\n") == 1
