"""The file format of trained weights: read, write, verify. No torch, and nothing is ever unpickled.

A checkpoint is one safetensors file. Its tensors are the weights (``net.*``) and, for training, whatever a resumed run
needs; its ``__metadata__`` holds two texts::

    gunzi    JSON: format, rules, rules_digest, observation, network, config, counters, ...
    sha256   of the whole file, with these 64 digits themselves replaced by zeros

so that a flipped bit anywhere is noticed (neither torch nor safetensors would), while any safetensors tool opens it.
Writing goes to a temporary name that is flushed, synced and renamed: whoever reads sees the old file or the new one.

A *run folder* is what training leaves::

    runs/x/untrained.safetensors                      the weights before the first update
    runs/x/checkpoints/update-000120.safetensors      the last few
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors.numpy
from safetensors import SafetensorError

from gunzi_env import observe
from gunzi_env.actions import space
from gunzi_env.rules import Rules, RulesError

FORMAT = 1
SUFFIX = ".safetensors"
FOLDER = "checkpoints"
UNTRAINED = "untrained" + SUFFIX
TEMPORARY = ".saving-"
"""Begins the names of files that are being written; what a killed process leaves of them is swept."""
_BLANK = "0" * 64
_DIGEST = re.compile(rb'"sha256":"([0-9a-f]{64})"')
_NAME = re.compile(r"update-(\d+)\.safetensors")
_MAX_BYTES = 4 << 30


class CheckpointError(ValueError):
    """A checkpoint that cannot be used: one line naming the file and the reason."""

    exit_code = 3

    def __init__(self, path: str | Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = Path(path)
        self.reason = reason


@dataclass(frozen=True)
class Checkpoint:
    """What a file holds, verified: ``meta`` (plain JSON types), ``tensors`` by name, and the ``digest`` of it all."""

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
    """Names what a network sees and answers: version, width and layout of the encoding, and number of actions."""
    layout = hashlib.sha256(json.dumps([list(entry) for entry in observe.spec(rules)]).encode()).hexdigest()[:8]
    return f"v{observe.VERSION}-{observe.size(rules)}-{layout}-{space(rules).n}"


def describe(rules: Rules) -> dict[str, Any]:
    """The part of ``meta`` that says what the weights are for."""
    return {
        "format": FORMAT,
        "rules": rules.as_dict(),
        "rules_digest": rules.digest,
        "observation": observation_version(rules),
    }


def require(found: Checkpoint, rules: Rules, *, same_rules: bool = True) -> None:
    """Refuse a checkpoint that was made for other rules, or for another version of the observation.

    With ``same_rules`` False only what the network's shape hangs on has to agree: the decks and the observation.

    Raises:
        CheckpointError: with both sides in the message.
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
    """The bytes of a checkpoint. ``meta`` must be plain JSON without NaN."""
    text = json.dumps(meta, allow_nan=False, sort_keys=True)
    arrays = {name: np.asarray(tensor, order="C") for name, tensor in tensors.items()}
    raw = _ordered(safetensors.numpy.save(arrays, metadata={"gunzi": text, "sha256": _BLANK}))
    start = _digest_span(raw)
    if start is None or raw[start : start + 64] != _BLANK.encode():
        raise AssertionError("safetensors wrote its header in an unforeseen form")
    return raw[:start] + hashlib.sha256(raw).hexdigest().encode() + raw[start + 64 :]


def _ordered(raw: bytes) -> bytes:
    """The same file with its metadata sorted: safetensors writes it in any order; equal states shall be equal files."""
    end = 8 + struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8:end])
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + raw[end:]


def write(path: str | Path, tensors: dict[str, npt.NDArray[Any]], meta: dict[str, Any]) -> None:
    """Write a checkpoint; as :func:`write_whole`."""
    write_whole(Path(path), to_bytes(tensors, meta))


def write_whole(target: Path, raw: bytes) -> None:
    """Write so that ``target`` holds the old file or the new one at every moment, power cuts included.

    Raises:
        OSError: the disk is full or the folder read-only; nothing is left behind and an older file is untouched.
    """
    temporary = temporary_name(target)
    try:
        with open(temporary, "wb") as file:
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def temporary_name(target: Path) -> Path:
    """Where a file is written before it is renamed to ``target``."""
    return target.with_name(f"{TEMPORARY}{os.getpid()}-{target.name}")


def sweep(folder: str | Path) -> list[Path]:
    """Remove what killed writers left; returns the removed files."""
    stale = sorted(Path(folder).glob(f"{TEMPORARY}*"))
    for path in stale:
        path.unlink(missing_ok=True)
    return stale


def read(path: str | Path) -> Checkpoint:
    """Read and verify one checkpoint file.

    Raises:
        CheckpointError: missing, unreadable, truncated, changed, not a checkpoint, or of a later format.
    """
    path = Path(path)
    try:
        if path.is_dir():
            raise CheckpointError(path, "is a folder without checkpoints")
        if path.stat().st_size > _MAX_BYTES:
            raise CheckpointError(path, "is too large for a checkpoint")
        raw = path.read_bytes()
    except (OSError, ValueError) as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(path, f"cannot be read ({getattr(error, 'strerror', None) or error})") from None
    start = _digest_span(raw)
    if start is None:
        raise CheckpointError(path, "is not a checkpoint of this project, or it is truncated")
    blank = raw[:start] + _BLANK.encode() + raw[start + 64 :]
    if hashlib.sha256(blank).hexdigest().encode() != raw[start : start + 64]:
        raise CheckpointError(path, "is damaged: its contents do not match their checksum")
    try:
        header = json.loads(raw[8 : 8 + struct.unpack("<Q", raw[:8])[0]])
        meta = json.loads(header["__metadata__"]["gunzi"], parse_constant=_no_constant, parse_float=_finite)
        tensors = safetensors.numpy.load(blank)
    except (SafetensorError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise CheckpointError(path, f"cannot be decoded ({type(error).__name__}: {error})") from None
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        theirs = meta.get("format") if isinstance(meta, dict) else None
        raise CheckpointError(path, f"has format {theirs}, this version reads {FORMAT}")
    return Checkpoint(path, meta, tensors, raw[start : start + 64].decode())


def listing(run: str | Path) -> list[Path]:
    """The numbered checkpoints of a run folder (or of its ``checkpoints`` folder), newest first."""
    folder = Path(run)
    if (folder / FOLDER).is_dir():
        folder = folder / FOLDER
    found = [(int(match[1]), path) for path in folder.glob(f"*{SUFFIX}") if (match := _NAME.fullmatch(path.name))]
    return [path for _, path in sorted(found, reverse=True)]


def load(path: str | Path) -> tuple[Checkpoint, list[CheckpointError]]:
    """A checkpoint file, or the newest usable one of a run folder; with it, why newer ones were passed over.

    Raises:
        CheckpointError: there is none.
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
    """The name of the checkpoint after ``update`` updates.

    >>> file_name(120)
    'update-000120.safetensors'
    """
    return f"update-{update:06d}{SUFFIX}"


def _digest_span(raw: bytes) -> int | None:
    """Where the 64 digits stand; None where the file has no such header."""
    if len(raw) < 8:
        return None
    length = struct.unpack("<Q", raw[:8])[0]
    if length > len(raw) - 8:
        return None
    match = _DIGEST.search(raw, 8, 8 + length)
    return match.start(1) if match else None


def _no_constant(text: str) -> float:
    raise ValueError(f"{text} is not a number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is out of range")
    return number
