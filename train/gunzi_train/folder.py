"""The run folder: its files, its lock, and how a run is saved and loaded.

::

    runs/x/config.json                    every setting, the rules, the precision
    runs/x/metrics.jsonl                  one row per update, and one per evaluation match
    runs/x/tensorboard/                   the same for TensorBoard
    runs/x/untrained.safetensors          the run before its first update
    runs/x/checkpoints/update-*.safetensors
    runs/x/best.safetensors               the checkpoint with the highest level gain against the first reference bot
    runs/x/records/update-*.txt           self-play hands of the network, for gunzi replay
    runs/x/curve.png                      strength, speed and losses against hands played
    runs/x/workers/N.log                  output of process N
    runs/x/lock                           locked while a training runs here; holds its process id
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors.numpy
from filelock import FileLock, Timeout, lock_descriptor

from gunzi_agents import checkpoint
from gunzi_env.files import TEMPORARY, sweep, write_whole
from gunzi_train import config as configuration
from gunzi_train.config import ConfigError
from gunzi_train.errors import RunFolderError, SaveError
from gunzi_train.plan import CONFIG, Plan

METRICS, LOCK, TENSORBOARD, LOGS = "metrics.jsonl", "lock", "tensorboard", "workers"
BEST, RECORDS, CURVE = "best" + checkpoint.SUFFIX, "records", "curve.png"
OURS = (CONFIG, METRICS, TENSORBOARD, LOGS, checkpoint.FOLDER, checkpoint.UNTRAINED, BEST, RECORDS, CURVE)
_RECORD = re.compile(r"update-(\d+)\.txt")
_WRITTEN = {
    TENSORBOARD: re.compile(r"events\.out\.tfevents\."),
    LOGS: re.compile(r"\d+\.log$|meeting-\d+$"),
    checkpoint.FOLDER: re.compile(r"update-\d+\.safetensors$|" + re.escape(TEMPORARY)),
    RECORDS: re.compile(_RECORD.pattern + "$|" + re.escape(TEMPORARY)),
}
"""The files that training writes into its folders. Other files there are never removed."""

LOCK_SECONDS = 0.2
"""How long a training waits for the lock, which :func:`in_use` takes for an instant."""


class RunLock:
    """Lock on a run folder, held by the training that uses it; a process that ends in any way releases it.

    The lock file holds the process id of the training, for the message to a second one.

    Raises:
        RunFolderError: another training holds the lock, or the lock file cannot be opened.
        SaveError: the process id cannot be written, e.g. on a full disk.
    """

    def __init__(self, folder: Path) -> None:
        def sign(descriptor: int) -> None:
            try:
                os.ftruncate(descriptor, 0)
                os.write(descriptor, str(os.getpid()).encode())
            except OSError as error:
                raise SaveError(f"{folder}: cannot be written to ({error.strerror})") from None

        path = folder / LOCK
        self._lock = FileLock(path, LOCK_SECONDS, fallback_to_soft=False, preserve_lock_file=True, on_acquired=sign)
        try:
            self._lock.acquire()
        except Timeout:
            raise RunFolderError(
                f"{folder}: in use by another training (process {_owner(path)}); "
                "give this one its own folder (--run NAME)"
            ) from None
        except OSError as error:
            raise RunFolderError(f"{folder}: cannot be written to ({error.strerror})") from None

    def release(self) -> None:
        """Release the lock; the file stays."""
        self._lock.release()


def _owner(lock: Path) -> str:
    """Read the process id in a lock file."""
    try:
        return lock.read_text("utf-8")[:20].strip() or "unknown"
    except (OSError, ValueError):
        return "unknown"


def in_use(folder: Path) -> bool:
    """Return whether a training runs in a folder; False also where the lock file may not be opened."""
    path = folder / LOCK
    try:  # NFS locks only files that are open for writing; other users' files can be locked for reading alone
        with open(path, "r+b" if os.access(path, os.W_OK) else "rb") as file:
            return not lock_descriptor(file.fileno(), blocking=False)
    except OSError:
        return False


def stored(folder: Path) -> dict[str, Any]:
    """Read config.json of a run as JSON types, see :meth:`Plan.to_json`.

    Raises:
        RunFolderError: the folder contains no run.
    """
    try:
        values = json.loads((folder / CONFIG).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        values = None
    if not isinstance(values, dict) or not {"config", "rules", "rules_name", "rules_digest"} <= set(values):
        raise RunFolderError(f"{folder}: contains no run (no {CONFIG} of a training)")
    return values


def check(folder: Path, *, overwrite: bool) -> None:
    """Refuse a folder for a new run if it contains a run, or files of the same names that no training wrote.

    A run without a checkpoint does not count, because it cannot be resumed.

    Raises:
        RunFolderError: such a folder, or one that cannot be read.
    """
    try:
        held = checkpoint.listing(folder)
        foreign = _foreign(folder, held)
    except OSError as error:
        raise RunFolderError(f"{folder}: cannot be read ({error.strerror})") from None
    if foreign:
        raise RunFolderError(
            f"{folder}: contains {foreign}, which no training wrote; nothing was removed; choose another --run or --out"
        )
    if held and not overwrite:
        raise RunFolderError(
            f"{folder}: already contains a run; resume it (--resume {folder}), choose another --run, or --overwrite it"
        )


def prepare(folder: Path, *, overwrite: bool) -> RunLock:
    """Create and lock the folder of a new run; an older run there is refused, or removed with ``overwrite``.

    Raises:
        RunFolderError: see :func:`check` and :class:`RunLock`; or the folder cannot be created or cleared.
    """
    check(folder, overwrite=overwrite)  # before anything is written
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunFolderError(f"{folder}: cannot be created ({error.strerror})") from None
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
    """Prepare the folder of a resumed run: remove the ``later`` checkpoints, which the run writes again."""
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
    """Undo :func:`prepare` unless a checkpoint was written since. The caller holds the lock."""
    if checkpoint.listing(folder):
        return
    with contextlib.suppress(OSError):  # without a checkpoint the next run may use the folder
        _remove(folder)
        (folder / LOCK).unlink(missing_ok=True)
        folder.rmdir()


def _foreign(folder: Path, held: list[Path]) -> str:
    """Find a file with the name of a run's file in a folder that contains no run; "" if there is none."""
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
    """Remove a run's files and the folders that are then empty. Links are removed, their targets are not."""
    sweep(folder)
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


def write(path: Path, data: bytes | str) -> None:
    """Write a file of the run with :func:`gunzi_env.files.write_whole`.

    Raises:
        SaveError: it cannot be written; an older file is unchanged.
    """
    try:
        write_whole(path, data)
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
    """Write a checkpoint with everything that a resumed run needs.

    Args:
        path: of the file.
        plan: the settings and rules of the run.
        network: the sizes of the network, as plain JSON types.
        counters: updates, hands, decisions, ... as plain JSON types.
        shared: the state that all processes share, by name.
        own: the state of each single process, by rank.
        opponent: identity of the agent that is trained against.
        match: result of the match that makes this the best checkpoint so far.

    Raises:
        SaveError: it cannot be written; older checkpoints are unchanged.
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
            f"{path}: the checkpoint could not be written ({error.strerror}); older ones are unchanged"
        ) from None


def prune(folder: Path, keep: int) -> None:
    """Remove all numbered checkpoints except the newest ``keep``."""
    for path in checkpoint.listing(folder)[keep:]:
        path.unlink(missing_ok=True)


def best_levels(folder: Path) -> float | None:
    """Return the mean levels per hand of the best checkpoint so far; None without one.

    The figure is read from the checkpoint itself, so the two agree even after a kill. The checkpoint may be newer than
    the one that a run is resumed from; the resumed run reaches the same weights again.

    Raises:
        CheckpointError: the file is damaged, or training did not write it.
    """
    path = folder / BEST
    if not path.exists():
        return None
    try:
        return float(checkpoint.read(path).meta["match"]["levels"]["mean"])
    except (KeyError, TypeError) as error:
        raise checkpoint.CheckpointError(path, f"stores no match result ({error})") from None


def keep_record(folder: Path, update: int, text: str, keep: int) -> None:
    """Write the record of hands played after an update, and remove all except the newest ``keep`` records.

    Records of later updates are removed as well. They come from a run that was killed and resumed from an earlier
    checkpoint.

    Raises:
        SaveError: the record cannot be written.
    """
    records = folder / RECORDS
    try:
        records.mkdir(exist_ok=True)
    except OSError as error:
        raise SaveError(f"{records}: cannot be created ({error.strerror})") from None
    write(records / f"update-{update:06d}.txt", text)
    found = {int(match[1]): path for path in records.iterdir() if (match := _RECORD.fullmatch(path.name))}
    kept = sorted((number for number in found if number <= update), reverse=True)[:keep]
    for number in found.keys() - set(kept):
        found[number].unlink(missing_ok=True)


def own_state(found: checkpoint.Checkpoint, rank: int) -> dict[str, npt.NDArray[Any]]:
    """Load the state of process ``rank`` from a checkpoint; ``CheckpointError`` if there is none."""
    blob = found.tensors.get(f"process.{rank}")
    if blob is None:
        raise checkpoint.CheckpointError(found.path, f"contains no state of process {rank}")
    return safetensors.numpy.load(blob.tobytes())


def require_opponent(found: checkpoint.Checkpoint, identity: str) -> None:
    """Refuse to resume against a changed bot, because training needs one frozen opponent.

    Raises:
        CheckpointError: the opponent of the checkpoint had another ``identity``.
    """
    if found.meta.get("opponent", "") != identity:
        raise checkpoint.CheckpointError(
            found.path, f"the opponent {plan_of(found).config.against!r} has changed since"
        )


def plan_of(found: checkpoint.Checkpoint) -> Plan:
    """Read the plan stored in a checkpoint; :class:`~gunzi_agents.checkpoint.CheckpointError` if there is none."""
    rules = found.rules
    checkpoint.require(found, rules)
    try:
        made = configuration.from_dict(found.meta["config"], str(found.path))
        return Plan(made, rules, bool(found.meta["bf16"]), str(found.path))
    except (KeyError, TypeError, ConfigError) as error:
        raise checkpoint.CheckpointError(found.path, f"contains no usable configuration ({error})") from None


def cut_metrics(path: Path, update: int) -> None:
    """Remove the rows after ``update``, which a resumed run writes again, and a row that a kill left incomplete.

    Raises:
        SaveError: the file cannot be written.
    """
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
    write(path, "".join(line + "\n" for line in kept))
