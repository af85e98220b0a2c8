"""The run folder: who may use it, what lies in it, and how a run is saved there and found again.

::

    runs/x/config.json                    every setting, the rules, the precision
    runs/x/metrics.jsonl                  one row an update, one a match against a rule bot
    runs/x/tensorboard/                   the same for TensorBoard
    runs/x/untrained.safetensors          the run before its first update
    runs/x/checkpoints/update-*.safetensors
    runs/x/best.safetensors               the run when it was strongest against the first reference bot
    runs/x/records/update-*.txt           hands of the network against itself, for gunzi replay
    runs/x/curve.png                      strength, speed and losses over hands
    runs/x/workers/N.log                  what process N said
    runs/x/lock                           held while a training runs here
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors.numpy

from gunzi_agents import checkpoint
from gunzi_train import config as configuration
from gunzi_train.config import ConfigError
from gunzi_train.errors import RunFolderError, SaveError
from gunzi_train.plan import CONFIG, Plan

try:
    import fcntl
except ImportError:  # no flock on this system: two trainings in one folder go unnoticed
    fcntl = None  # type: ignore[assignment]

METRICS, LOCK, TENSORBOARD, LOGS = "metrics.jsonl", "lock", "tensorboard", "workers"
BEST, RECORDS, CURVE = "best" + checkpoint.SUFFIX, "records", "curve.png"
OURS = (CONFIG, METRICS, TENSORBOARD, LOGS, checkpoint.FOLDER, checkpoint.UNTRAINED, BEST, RECORDS, CURVE)
_RECORD = re.compile(r"update-(\d+)\.txt")
_WRITTEN = {
    TENSORBOARD: re.compile(r"events\.out\.tfevents\."),
    LOGS: re.compile(r"\d+\.log$|meeting-\d+$"),
    checkpoint.FOLDER: re.compile(r"update-\d+\.safetensors$|\.saving-"),
    RECORDS: re.compile(_RECORD.pattern + r"$|\.saving-"),
}
"""The files that training writes into its folders; others there are left alone."""


LOCK_TRIES = 5
"""Within a fifth of a second."""


class RunLock:
    """Held by the training that uses the folder; the system lets go of it however the process ends."""

    def __init__(self, folder: Path) -> None:
        try:
            self._file = open(folder / LOCK, "a+", encoding="utf-8")  # noqa: SIM115  it stays open as long as the run
        except OSError as error:
            raise RunFolderError(f"{folder}: cannot be written to ({error.strerror})") from None
        if fcntl is not None and not self._taken():
            self._file.seek(0)
            owner = self._file.read(20).strip() or "unknown"
            self._file.close()
            raise RunFolderError(
                f"{folder}: another training (process {owner}) runs here; give this one its own folder (--run NAME)"
            )
        try:
            self._file.truncate(0)
            self._file.write(str(os.getpid()))
            self._file.flush()
        except OSError as error:
            with contextlib.suppress(OSError):  # it tries once more to write
                self._file.close()
            raise SaveError(f"{folder}: cannot be written to ({error.strerror})") from None

    def _taken(self) -> bool:
        for attempt in range(LOCK_TRIES):  # whoever asks in_use() has it for a moment
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                time.sleep(0.05 * (attempt + 1 < LOCK_TRIES))
            else:
                return True
        return False

    def release(self) -> None:
        """Let go."""
        self._file.close()


def in_use(folder: Path) -> bool:
    """Is a training running here?"""
    if fcntl is None:
        return False
    try:
        with open(folder / LOCK, encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # nobody ever trained here, or it is not ours to see
        return False
    return False


def stored(folder: Path) -> dict[str, Any]:
    """What config.json holds of a run, see :meth:`Plan.to_json`.

    Raises:
        RunFolderError: the folder holds no run.
    """
    try:
        values = json.loads((folder / CONFIG).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        values = None
    if not isinstance(values, dict) or not {"config", "rules", "rules_name", "rules_digest"} <= set(values):
        raise RunFolderError(f"{folder}: holds no run: there is no {CONFIG} of a training")
    return values


def check(folder: Path, *, overwrite: bool) -> None:
    """Refuse a folder that a new run must not use: it holds a run, or files under our names that no run of ours wrote.

    A run without a checkpoint counts as none: it cannot be gone on with.
    """
    try:
        held = checkpoint.listing(folder)
        foreign = _foreign(folder, held)
    except OSError as error:
        raise RunFolderError(f"{folder}: cannot be read ({error.strerror})") from None
    if foreign:
        raise RunFolderError(
            f"{folder}: holds {foreign}, which no training wrote; nothing was removed: take another --run or --out"
        )
    if held and not overwrite:
        raise RunFolderError(
            f"{folder}: holds a run already; go on with --resume {folder}, or take another --run, or --overwrite it"
        )


def prepare(folder: Path, *, overwrite: bool) -> RunLock:
    """Make the folder of a new run and lock it; an older run there is refused, or removed with ``overwrite``."""
    check(folder, overwrite=overwrite)  # before anything is written
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunFolderError(f"{folder}: cannot be made ({error.strerror})") from None
    lock = RunLock(folder)
    try:
        check(folder, overwrite=overwrite)
        _remove(folder)
        (folder / checkpoint.FOLDER).mkdir(exist_ok=True)
    except OSError as error:
        lock.release()
        raise RunFolderError(f"{folder}: cannot be cleared ({error.strerror})") from None
    except RunFolderError:
        lock.release()
        raise
    return lock


def clear(folder: Path, later: list[Path]) -> None:
    """Make a run's folder ready to go on: without the checkpoints that are about to be written again."""
    for path in later:
        try:
            path.unlink()
        except OSError as error:
            raise RunFolderError(f"{path}: cannot be removed ({error.strerror})") from None
    try:
        (folder / checkpoint.FOLDER).mkdir(exist_ok=True)
    except OSError as error:
        raise RunFolderError(f"{folder}: cannot be written to ({error.strerror})") from None


def discard(folder: Path) -> None:
    """Take back what :func:`prepare` made, if no checkpoint was written since; to be called under the lock."""
    if checkpoint.listing(folder):
        return
    with contextlib.suppress(OSError):  # what stays is no checkpoint, so the next run may use the folder
        _remove(folder)
        (folder / LOCK).unlink(missing_ok=True)
        folder.rmdir()


def _foreign(folder: Path, held: list[Path]) -> str:
    """A file under one of our names in a folder that is not recognisably a run; "" where there is none."""
    if os.path.lexists(folder / CONFIG):
        try:
            stored(folder)
        except RunFolderError:
            return CONFIG
        return ""
    if held or (folder / checkpoint.UNTRAINED).is_file():
        return ""
    for name in OURS:
        path = folder / name
        if os.path.lexists(path) and (path.is_symlink() or not path.is_dir() or any(path.iterdir())):
            return name
    return ""


def _remove(folder: Path) -> None:
    """Remove a run's files, and the folders that are empty then; of a link the link, not what it points to."""
    checkpoint.sweep(folder)
    for name in OURS:
        path = folder / name
        if name not in _WRITTEN or path.is_symlink() or not path.is_dir():
            path.unlink(missing_ok=True)
        else:
            for entry in path.iterdir():
                if _WRITTEN[name].match(entry.name) and not entry.is_dir():
                    entry.unlink()
            if not any(path.iterdir()):
                path.rmdir()


def write_text(path: Path, text: str) -> None:
    """Write a small file of text whole or not at all."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a small file whole or not at all."""
    try:
        checkpoint.write_whole(path, content)
    except OSError as error:
        raise SaveError(f"{path}: cannot be written ({error.strerror})") from None


def save(
    path: Path,
    plan: Plan,
    network: dict[str, Any],
    counters: dict[str, Any],
    shared: dict[str, npt.NDArray[Any]],
    own: list[dict[str, npt.NDArray[Any]]],
    opponent: str = "",
    match: dict[str, Any] | None = None,
) -> None:
    """Write a checkpoint with everything a resumed run needs.

    ``own``: what each process has for itself, by rank; ``opponent``: the identity of the agent trained against;
    ``match``: the match that makes it the best so far.
    """
    blobs = {
        f"process.{rank}": np.frombuffer(safetensors.numpy.save(arrays), np.uint8) for rank, arrays in enumerate(own)
    }
    meta = checkpoint.describe(plan.rules) | {
        "network": network,
        "config": configuration.as_dict(plan.config),
        "bf16": plan.bf16,
        "counters": counters,
        "opponent": opponent,
    }
    if match is not None:
        meta["match"] = match
    try:
        checkpoint.write(path, shared | blobs, meta)
    except OSError as error:
        raise SaveError(
            f"{path}: the checkpoint could not be written ({error.strerror}); older ones are untouched"
        ) from None


def prune(folder: Path, keep: int) -> None:
    """Remove all numbered checkpoints but the newest ``keep``."""
    for path in checkpoint.listing(folder)[keep:]:
        path.unlink(missing_ok=True)


def best_levels(folder: Path) -> float | None:
    """The mean of levels that the best so far is kept for; None where none is kept.

    The file itself says it, so that file and figure cannot disagree however a run was cut off. It may be of a later
    update than the checkpoint that the run goes on from, which comes to the same weights again.

    Raises:
        CheckpointError: the file is damaged, or none that training wrote.
    """
    path = folder / BEST
    if not path.exists():
        return None
    try:
        return float(checkpoint.read(path).meta["match"]["levels"]["mean"])
    except (KeyError, TypeError) as error:
        raise checkpoint.CheckpointError(path, f"says of no match that it is the best so far for ({error})") from None


def keep_record(folder: Path, update: int, text: str, keep: int) -> None:
    """Write the record of hands played after an update, and remove all but the newest ``keep`` of these.

    Those of later updates go too: they are of a training that was cut off and has gone on from an earlier checkpoint.
    """
    records = folder / RECORDS
    try:
        records.mkdir(exist_ok=True)
    except OSError as error:
        raise SaveError(f"{records}: cannot be made ({error.strerror})") from None
    write_text(records / f"update-{update:06d}.txt", text)
    found = {int(match[1]): path for path in records.iterdir() if (match := _RECORD.fullmatch(path.name))}
    kept = sorted((number for number in found if number <= update), reverse=True)[:keep]
    for number in found.keys() - set(kept):
        found[number].unlink(missing_ok=True)


def own_state(found: checkpoint.Checkpoint, rank: int) -> dict[str, npt.NDArray[Any]]:
    """What process ``rank`` had for itself in a checkpoint."""
    blob = found.tensors.get(f"process.{rank}")
    if blob is None:
        raise checkpoint.CheckpointError(found.path, f"holds no state of process {rank}")
    return safetensors.numpy.load(blob.tobytes())


def require_opponent(found: checkpoint.Checkpoint, identity: str) -> None:
    """Refuse a checkpoint whose opponent was another then: training against it would not be against one frozen bot."""
    if found.meta.get("opponent", "") != identity:
        raise checkpoint.CheckpointError(
            found.path, f"agent {plan_of(found).config.against!r} is not what it was when it was trained against"
        )


def plan_of(found: checkpoint.Checkpoint) -> Plan:
    """The plan stored in a checkpoint; :class:`~gunzi_agents.checkpoint.CheckpointError` where it holds none."""
    rules = found.rules
    checkpoint.require(found, rules)
    try:
        made = configuration.from_dict(found.meta["config"], str(found.path))
        return Plan(made, rules, bool(found.meta["bf16"]), str(found.path))
    except (KeyError, TypeError, ConfigError) as error:
        raise checkpoint.CheckpointError(found.path, f"holds no usable configuration ({error})") from None


def cut_metrics(path: Path, update: int) -> None:
    """Drop the rows after ``update``: a resumed run writes them again. A row that was cut off by a kill goes too."""
    if not path.exists():
        return
    kept = []
    for line in path.read_text("utf-8", "replace").splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict) and row.get("update", 0) <= update:
            kept.append(line)
    write_text(path, "".join(line + "\n" for line in kept))
