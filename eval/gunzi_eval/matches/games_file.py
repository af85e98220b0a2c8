"""The file of a tournament (``gunzi arena --save``): every finished block of deals, so that none is played twice.

Each line is JSON with a checksum. The first line holds what all games share: rules, start states, seed and rotations.
The other lines hold, in the order of their completion, the agents with their identities and the blocks with their
games as base64 of deflated int16. A file of another setting is refused. An incomplete last line is removed, and its
block is played again.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from filelock import lock_descriptor

from gunzi_env.cli.options import UsageError
from gunzi_env.published import starts
from gunzi_eval.matches.workers import Games, Setting, Task

FORMAT = 1
_BEGINS = b'{"tournament": '


class GamesFileError(ValueError):
    """A file that holds other games, or none; the message names the file and what differs."""

    exit_code = 3


class GamesFile:
    """The finished blocks of tournaments of one setting; also for more agents or more deals later on."""

    def __init__(self, path: Path, setting: Setting, sizes: dict[str, int]) -> None:
        """Open or begin a file for these agents, ``sizes[name]`` being the deals a block that each asks for.

        Raises:
            UsageError: another tournament writes there, or it cannot be written.
            GamesFileError: it is damaged, or holds games of other rules, seed or agents.
        """
        self.path = path
        self.games: dict[Task, Games] = {}
        self._agents: dict[str, tuple[str, int]] = {}
        try:
            self._file = open(path, "a+b")  # noqa: SIM115  it stays open as long as the tournament
        except OSError as error:
            raise UsageError(f"--save {path}: {error.strerror}") from None
        try:
            self._lock()
            self._read(_header(setting))
            for name, size in sizes.items():
                self._meet(name, setting.identities.get(name, ""), size)
        except BaseException:
            self._file.close()
            raise

    def _lock(self) -> None:
        """Lock the file itself; the operating system releases the lock when the file is closed or the process ends."""
        try:
            locked = lock_descriptor(self._file.fileno(), blocking=False)
        except OSError as error:
            raise UsageError(f"--save {self.path}: cannot be locked ({error.strerror})") from None
        if not locked:
            raise UsageError(f"--save {self.path}: another tournament is writing there")

    def _read(self, header: dict[str, Any]) -> None:
        self._file.seek(0)
        whole = 0
        for number, line in enumerate(self._file, start=1):
            if not line.endswith(b"\n"):
                if number == 1 and not _BEGINS.startswith(line[: len(_BEGINS)]):
                    raise GamesFileError(f"{self.path}: is no file of a tournament")
                self._file.truncate(whole)  # the writer was killed in the middle of it
                break
            whole += len(line)
            entry = self._entry(line, number)
            if number == 1:
                self._compare(entry, header)
            elif "agent" in entry:
                self._agents[entry["agent"]] = entry["identity"], entry["block"]
            else:
                self.games[Task(*entry["task"])] = _unpacked(entry)
        if not whole:
            self._append(header)

    def _entry(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            entry = json.loads(line)
            if entry.pop("check") == _checksum(entry):
                return dict(entry)
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
            pass
        what = "is no file of a tournament" if number == 1 else f"line {number} is damaged"
        raise GamesFileError(f"{self.path}: {what}")

    def _compare(self, found: dict[str, Any], header: dict[str, Any]) -> None:
        for key, mine in header.items():
            if found.get(key) != mine:
                raise GamesFileError(f"{self.path}: holds games of {key} {found.get(key)}, not {mine}")

    def _meet(self, name: str, identity: str, size: int) -> None:
        known = self._agents.get(name)
        if known is None:
            self._agents[name] = identity, size
            self._append({"agent": name, "identity": identity, "block": size})
        elif known[0] != identity:
            was, now = (text[:16] or "none" for text in (known[0], identity))
            raise GamesFileError(f"{self.path}: holds games of another agent {name!r}, identity {was} not {now}")
        elif known[1] != size:
            raise GamesFileError(f"{self.path}: holds games of {name!r} in blocks of {known[1]} deals, not {size}")

    def add(self, task: Task, games: Games) -> None:
        """Keep a finished block; it is on the disk when this returns."""
        self.games[task] = games
        data = base64.b64encode(zlib.compress(games.astype("<i2").tobytes())).decode()
        self._append({"task": list(task), "shape": list(games.shape), "games": data})

    def _append(self, entry: dict[str, Any]) -> None:
        line = json.dumps(entry | {"check": _checksum(entry)}) + "\n"
        try:
            self._file.write(line.encode())
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise UsageError(f"cannot write {self.path}: {error.strerror or error}") from None

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


def _header(setting: Setting) -> dict[str, Any]:
    """What all games of a file have in common."""
    return {
        "tournament": FORMAT,
        "rules": setting.rules.digest,
        "starts": starts.VERSION,
        "seed": setting.seed,
        "rotations": setting.rotations,
    }


def _checksum(entry: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(entry, sort_keys=True).encode()).hexdigest()[:16]


def _unpacked(entry: dict[str, Any]) -> Games:
    raw = zlib.decompress(base64.b64decode(entry["games"]))
    return np.frombuffer(raw, "<i2").astype(np.int16).reshape(entry["shape"])
