"""A full disk: the last good checkpoint stays whole, one line says what could not be written, the command exits 3."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gunzi_agents import checkpoint
from gunzi_env.files import TEMPORARY
from gunzi_train import folder
from gunzi_train.commands import train
from gunzi_train.errors import SaveError
from gunzi_train.logs import metrics as logs
from gunzi_train.logs.metrics import Metrics
from gunzi_train.plan import CONFIG
from tests.support import tiny_runs

ARGV = tiny_runs.argv(tensorboard=True, collect__steps=8)
QUIET = tiny_runs.argv(collect__steps=8)
FULL = Path("/dev/full")


pytestmark = pytest.mark.usefixtures("torch_as_before")


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """No file may grow beyond ``size`` bytes. (Python ignores the signal that comes with it.)"""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A run that was stopped after a few updates."""
    path = tmp_path / "run"
    assert train.main(["--out", str(path), *QUIET, "--schedule.updates", "9", "--minutes", "0.0001"]) == 0
    capsys.readouterr()
    return path


def _contents(run: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in run.rglob("*") if path.is_file() and path.name != folder.LOCK}


def test_no_room_for_a_checkpoint(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (kept,) = checkpoint.listing(run)
    before = kept.read_bytes()
    with largest_file(100_000):
        assert train.main(["--resume", str(run), "--minutes", "9"]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert checkpoint.file_name(9) in line and "File too large" in line and "older ones are unchanged" in line
    assert checkpoint.listing(run) == [kept] and kept.read_bytes() == before
    assert not list(run.rglob(f"{TEMPORARY}*"))
    assert train.main(["--resume", str(run), "--minutes", "9"]) == 0, "with room again it goes on"


def test_no_room_for_the_first_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for size, name in ((500, CONFIG), (100_000, checkpoint.UNTRAINED)):
        with largest_file(size):
            assert train.main(["--out", str(tmp_path / "run"), *QUIET, "--schedule.updates", "2"]) == 3
        (line,) = capsys.readouterr().err.splitlines()
        assert name in line and "File too large" in line


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
def test_no_room_for_a_row_of_the_log(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = _contents(run)
    monkeypatch.setattr(logs, "METRICS", str(FULL))
    assert train.main(["--resume", str(run), "--minutes", "9"]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert str(run) in line and "the log cannot be written (No space left on device)" in line
    after = _contents(run)
    assert {name: after[name] for name in before if name != CONFIG} == {
        name: before[name] for name in before if name != CONFIG
    }


def test_no_room_to_cut_the_log(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = run / folder.METRICS
    log.write_text(log.read_text("utf-8") * 1000, "utf-8")
    with largest_file(200_000):
        assert train.main(["--resume", str(run), "--minutes", "9"]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{log}: cannot be written" in line
    assert log.stat().st_size > 200_000 and not list(run.rglob(f"{TEMPORARY}*"))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # it writes in a thread
def test_no_room_for_tensorboard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told by a later row, or at the end, and never hangs."""
    pytest.importorskip("tensorboard")
    monkeypatch.setattr(logs, "METRICS", os.devnull)
    for rows in (0, 2000):
        metrics = Metrics(tmp_path / str(rows), tensorboard=True)
        with largest_file(20_000):
            with pytest.raises(SaveError, match="the log cannot be written") as caught:
                for update in range(max(rows, 1)):
                    metrics.write({f"figure {n}": 1.0 for n in range(1000)}, update)
                if not rows:
                    metrics.close()
            if rows:
                with pytest.raises(SaveError):
                    metrics.close()
        assert caught.value.exit_code == 3


ON_A_SMALL_DISK = """
set -e
disk=$1; copy=$2; shift 2
mkdir "$disk"
mount -t tmpfs -o size=2m none "$disk"
code=0
"$@" --out "$disk/run" || code=$?
cp -r "$disk/run" "$copy"
exit $code
"""


def _may_mount() -> bool:
    probe = ["unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=2m none /mnt"]
    return shutil.which("unshare") is not None and subprocess.run(probe, capture_output=True).returncode == 0


def test_a_disk_of_two_megabytes(tmp_path: Path) -> None:
    if not _may_mount():
        pytest.skip("no file system can be mounted here")
    code = "import sys; from gunzi_train.commands.train import main; sys.exit(main(sys.argv[1:]))"
    more = ["--schedule.updates", "100000", "--save.every-seconds", "0.1", "--save.keep", "1000"]
    command = ["unshare", "-m", "sh", "-c", ON_A_SMALL_DISK, "sh", str(tmp_path / "disk"), str(tmp_path / "copy")]
    command += [sys.executable, "-c", code, *ARGV, *more]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100)
    assert ended.returncode == 3, ended.stderr
    line = ended.stderr.splitlines()[-1]
    assert line.startswith("gunzi train: ") and "No space left on device" in line
    kept = checkpoint.listing(tmp_path / "copy")
    assert len(kept) > 3
    for path in kept:
        checkpoint.read(path)
