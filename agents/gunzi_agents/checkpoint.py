"""Checkpoint files: write, read and verify trained weights. No torch, and nothing is ever unpickled.

A checkpoint is one safetensors file, so any safetensors tool opens it. Its tensors are the weights (``net.*``) and,
from training, the state that a resumed run needs. Its ``__metadata__`` holds two texts::

    gunzi    JSON: format, rules, rules_digest, observation, network, config, counters, ...
    sha256   of the content, see :func:`content_digest`

The digest reveals a flipped bit, which neither torch nor safetensors would notice. Files are written atomically
(:func:`gunzi_env.files.write_whole`).

The checkpoints in a *run folder*::

    runs/x/untrained.safetensors                      the weights before the first update
    runs/x/checkpoints/update-000120.safetensors      the last few
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors.numpy
from safetensors import SafetensorError

from gunzi_env import observe
from gunzi_env.actions import space
from gunzi_env.files import write_whole
from gunzi_env.rules import Rules, RulesError

FORMAT = 1
SUFFIX = ".safetensors"
FOLDER = "checkpoints"
UNTRAINED = "untrained" + SUFFIX
_NAME = re.compile(r"update-(\d+)\.safetensors")
_MAX_BYTES = 4 << 30


class CheckpointError(ValueError):
    """An unusable checkpoint; the message is one line with the file and the reason."""

    exit_code = 3

    def __init__(self, path: str | Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = Path(path)
        self.reason = reason


@dataclass(frozen=True)
class Checkpoint:
    """The verified content of a file: ``meta`` (plain JSON types), ``tensors`` by name, and their ``digest``."""

    path: Path
    meta: dict[str, Any]
    tensors: dict[str, npt.NDArray[Any]]
    digest: str

    @property
    def rules(self) -> Rules:
        """The rules that the weights were trained for."""
        try:
            rules = Rules.from_dict(self.meta["rules"])
        except (KeyError, TypeError, RulesError) as error:
            raise CheckpointError(self.path, f"holds no usable rules ({error})") from None
        if rules.digest != self.meta.get("rules_digest"):
            raise CheckpointError(self.path, "its rules and their digest disagree: another version wrote it")
        return rules


def observation_version(rules: Rules) -> str:
    """Name a network's input and output: version, width and layout of the encoding, and number of actions."""
    layout = hashlib.sha256(json.dumps([list(entry) for entry in observe.spec(rules)]).encode()).hexdigest()[:8]
    return f"v{observe.VERSION}-{observe.size(rules)}-{layout}-{space(rules).n}"


def describe(rules: Rules) -> dict[str, Any]:
    """Return the part of ``meta`` that says which rules and which observation the weights fit."""
    return {
        "format": FORMAT,
        "rules": rules.as_dict(),
        "rules_digest": rules.digest,
        "observation": observation_version(rules),
    }


def require(found: Checkpoint, rules: Rules, *, same_rules: bool = True) -> None:
    """Refuse a checkpoint that was made for other rules, or for another version of the observation.

    With ``same_rules=False`` only the decks and the observation must agree, because they fix the network's shape.

    Raises:
        CheckpointError: they differ; the message names both values.
    """
    theirs = found.rules
    if theirs.decks != rules.decks:
        raise CheckpointError(found.path, f"made for {theirs.decks} decks, not for {rules.decks}")
    if same_rules and theirs.digest != rules.digest:
        mine, other = rules.as_dict(), theirs.as_dict()
        differ = [f"{key} {other[key]} not {mine[key]}" for key in mine if mine[key] != other[key]]
        raise CheckpointError(found.path, f"made for other rules, {theirs.name} not {rules.name}: {'; '.join(differ)}")
    if found.meta.get("observation") != observation_version(rules):
        was, now = found.meta.get("observation"), observation_version(rules)
        raise CheckpointError(found.path, f"made for observation {was}, this version has {now}")


def to_bytes(tensors: dict[str, npt.NDArray[Any]], meta: dict[str, Any]) -> bytes:
    """Encode a checkpoint. ``meta`` must be plain JSON without NaN."""
    text = json.dumps(meta, allow_nan=False, sort_keys=True)
    arrays = {name: np.asarray(tensor, order="C") for name, tensor in tensors.items()}
    return safetensors.numpy.save(arrays, metadata={"gunzi": text, "sha256": content_digest(arrays, text)})


def content_digest(tensors: dict[str, npt.NDArray[Any]], text: str) -> str:
    """Compute the SHA-256 of a checkpoint's content: its JSON text and every tensor with name, dtype and shape."""
    digest = hashlib.sha256(text.encode())
    for name, array in sorted(tensors.items()):
        digest.update(json.dumps([name, array.dtype.name, array.shape]).encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _is_older_digest(raw: bytes, digest: str) -> bool:
    """Verify a file of an older version, whose digest is that of the whole file with the digest itself as zeros."""
    return hashlib.sha256(raw.replace(digest.encode(), b"0" * 64, 1)).hexdigest() == digest


def write(path: str | Path, tensors: dict[str, npt.NDArray[Any]], meta: dict[str, Any]) -> None:
    """Write a checkpoint with :func:`gunzi_env.files.write_whole`.

    Raises:
        OSError: it cannot be written; an older file is unchanged.
    """
    write_whole(Path(path), to_bytes(tensors, meta))


def read(path: str | Path) -> Checkpoint:
    """Read and verify one checkpoint file.

    Raises:
        CheckpointError: missing, unreadable, truncated, changed, not a checkpoint, or of a later format.
    """
    path = Path(path)
    raw = _bytes(path)
    texts = _texts(raw)
    if texts is None:
        raise CheckpointError(path, "is not a checkpoint of this project, or its header is damaged")
    text, digest = texts
    try:
        tensors = safetensors.numpy.load(raw)
        verified = digest == content_digest(tensors, text) or _is_older_digest(raw, digest)
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(path, f"is damaged: it cannot be decoded ({error})") from None
    if not verified:
        raise CheckpointError(path, "is damaged: its contents do not match their checksum")
    try:
        meta = json.loads(text, parse_constant=_no_constant, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise CheckpointError(path, f"cannot be decoded ({type(error).__name__}: {error})") from None
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        theirs = meta.get("format") if isinstance(meta, dict) else None
        raise CheckpointError(path, f"has format {theirs}, this version reads {FORMAT}")
    return Checkpoint(path, meta, tensors, digest)


def _bytes(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise CheckpointError(path, "is a folder without checkpoints")
        if path.stat().st_size > _MAX_BYTES:
            raise CheckpointError(path, "is too large for a checkpoint")
        return path.read_bytes()
    except CheckpointError:
        raise
    except (OSError, ValueError) as error:
        raise CheckpointError(path, f"cannot be read ({getattr(error, 'strerror', None) or error})") from None


def _texts(raw: bytes) -> tuple[str, str] | None:
    """Read the JSON text and the digest from a safetensors header; None where they are missing."""
    try:
        header = json.loads(raw[8 : 8 + int.from_bytes(raw[:8], "little")])
        text, digest = (header["__metadata__"][key] for key in ("gunzi", "sha256"))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return (text, digest) if isinstance(text, str) and isinstance(digest, str) else None


def listing(run: str | Path) -> list[Path]:
    """List the numbered checkpoints of a run folder (or of its ``checkpoints`` folder), newest first."""
    folder = Path(run)
    if (folder / FOLDER).is_dir():
        folder = folder / FOLDER
    found = [(int(match[1]), path) for path in folder.glob(f"*{SUFFIX}") if (match := _NAME.fullmatch(path.name))]
    return [path for _, path in sorted(found, reverse=True)]


def load(path: str | Path) -> tuple[Checkpoint, list[CheckpointError]]:
    """Read a checkpoint file, or the newest usable one of a run folder.

    Returns:
        The checkpoint, and the errors of the newer ones in the folder, which were passed over.

    Raises:
        CheckpointError: there is no usable one.
    """
    path = Path(path)
    if not path.is_dir():
        return read(path), []
    damaged: list[CheckpointError] = []
    for candidate in listing(path):
        try:
            return read(candidate), damaged
        except CheckpointError as error:
            damaged.append(error)
    if damaged:
        raise CheckpointError(path, f"none of its {len(damaged)} checkpoints is usable; the newest {damaged[0].reason}")
    raise CheckpointError(path, "holds no checkpoint")


def file_name(update: int) -> str:
    """Name the checkpoint that is written after ``update`` updates.

    >>> file_name(120)
    'update-000120.safetensors'
    """
    return f"update-{update:06d}{SUFFIX}"


def _no_constant(text: str) -> float:
    raise ValueError(f"{text} is not a number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is out of range")
    return number
