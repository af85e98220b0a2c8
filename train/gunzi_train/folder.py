"""The run folder: who may use it, what lies in it, and how a run is saved there and found again.

::

    runs/x/config.json                    every setting, the rules, the precision
    runs/x/metrics.jsonl                  one row an update, one a match against a rule bot
    runs/x/tensorboard/                   the same for TensorBoard
    runs/x/untrained.safetensors          the run before its first update
    runs/x/checkpoints/update-*.safetensors
    runs/x/workers/N.log                  what process N said
    runs/x/lock                           held while a training runs here
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors.numpy

from gunzi_agents import checkpoint
from gunzi_env.rules import Rules
from gunzi_train import config as configuration
from gunzi_train.config import Config, ConfigError
from gunzi_train.errors import RunFolderError, SaveError

try:
    import fcntl
except ImportError:  # no flock on this system: two trainings in one folder go unnoticed
    fcntl = None  # type: ignore[assignment]

CONFIG, METRICS, LOCK, TENSORBOARD, LOGS = "config.json", "metrics.jsonl", "lock", "tensorboard", "workers"
OURS = (CONFIG, METRICS, TENSORBOARD, LOGS, checkpoint.FOLDER, checkpoint.UNTRAINED)


@dataclass(frozen=True)
class Plan:
    """What all processes of a run agree on before it starts; stored as config.json."""

    config: Config
    rules: Rules
    bf16: bool
    resume: str = ""
    """The checkpoint to go on from, "" for a new run."""

    def to_json(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "config": configuration.as_dict(self.config),
            "rules": self.rules.as_dict(),
            "rules_name": self.rules.name,
            "rules_digest": self.rules.digest,
            "bf16": self.bf16,
            "resume": self.resume,
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Plan:
        """The opposite of :meth:`to_json`."""
        made = configuration.from_dict(values["config"], CONFIG)
        return cls(made, Rules.from_dict(values["rules"]), bool(values["bf16"]), str(values["resume"]))


class RunLock:
    """Held by the training that uses the folder; the system lets go of it however the process ends."""

    def __init__(self, folder: Path) -> None:
        try:
            self._file = open(folder / LOCK, "a+", encoding="utf-8")  # noqa: SIM115  it stays open as long as the run
        except OSError as error:
            raise RunFolderError(f"{folder}: cannot be written to ({error.strerror})") from None
        if fcntl is not None:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                self._file.seek(0)
                owner = self._file.read(20).strip() or "unknown"
                self._file.close()
                raise RunFolderError(
                    f"{folder}: another training (process {owner}) runs here; give this one its own folder (--run NAME)"
                ) from None
        self._file.truncate(0)
        self._file.write(str(os.getpid()))
        self._file.flush()

    def release(self) -> None:
        """Let go."""
        self._file.close()


def prepare(folder: Path, *, overwrite: bool) -> RunLock:
    """Make the folder of a new run and lock it; an older run there is refused, or removed with ``overwrite``."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunFolderError(f"{folder}: cannot be made ({error.strerror})") from None
    lock = RunLock(folder)
    taken = [name for name in OURS if (folder / name).exists()]
    if taken and not overwrite:
        lock.release()
        raise RunFolderError(
            f"{folder}: holds a run already; go on with --resume {folder}, or take another --run, or --overwrite it"
        )
    for name in taken:
        path = folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    (folder / checkpoint.FOLDER).mkdir()
    return lock


def write_text(path: Path, text: str) -> None:
    """Write a small file whole or not at all."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(text, "utf-8")
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise SaveError(f"{path}: cannot be written ({error.strerror})") from None


def save(
    path: Path,
    plan: Plan,
    network: dict[str, Any],
    counters: dict[str, Any],
    shared: dict[str, npt.NDArray[Any]],
    own: list[dict[str, npt.NDArray[Any]]],
) -> None:
    """Write a checkpoint with everything a resumed run needs; ``own``: what each process has for itself, by rank."""
    blobs = {
        f"process.{rank}": np.frombuffer(safetensors.numpy.save(arrays), np.uint8) for rank, arrays in enumerate(own)
    }
    meta = checkpoint.describe(plan.rules) | {
        "network": network,
        "config": configuration.as_dict(plan.config),
        "bf16": plan.bf16,
        "counters": counters,
    }
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


def own_state(found: checkpoint.Checkpoint, rank: int) -> dict[str, npt.NDArray[Any]]:
    """What process ``rank`` had for itself in a checkpoint."""
    blob = found.tensors.get(f"process.{rank}")
    if blob is None:
        raise checkpoint.CheckpointError(found.path, f"holds no state of process {rank}")
    return safetensors.numpy.load(blob.tobytes())


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
