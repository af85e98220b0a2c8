"""The file of a tournament: finished blocks are appended as they arrive, so no block is played twice.

Each line is JSON with a checksum. The first line identifies the games (rules, start states, seed, rotations). The
others are, in order of arrival, agents with their identities and blocks with their games as base64 of deflated int16. A
file of other games is refused with the difference. A truncated last line is removed, and its block is played again.
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
from gunzi_eval.matches.workers import Games, MatchBlock, TournamentSpec

FORMAT = 1
_BEGINS = b'{"tournament": '


class GamesFileError(ValueError):
    """A file with other games, or without any; the message names the file and the difference."""

    exit_code = 3


class GamesFile:
    """The finished blocks of tournaments with one spec; agents and deals can be added later."""

    def __init__(self, path: Path, spec: TournamentSpec, sizes: dict[str, int]) -> None:
        """Open or create a file.

        Args:
            path: The file.
            spec: Rules, seed and rotations of the games.
            sizes: Deals per block that each agent asks for, by name.

        Raises:
            UsageError: another tournament writes to the file, or it cannot be written.
            GamesFileError: the file is damaged, or contains games of other rules, another seed or other agents.
        """
        self.path = path
        self.games: dict[MatchBlock, Games] = {}
        self._agents: dict[str, tuple[str, int]] = {}
        try:
            self._file = open(path, "a+b")  # noqa: SIM115  open for the whole tournament
        except OSError as error:
            raise UsageError(f"--save {path}: {error.strerror}") from None
        try:
            self._lock()
            self._read(_header(spec))
            for name, size in sizes.items():
                self._meet(name, spec.identities.get(name, ""), size)
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
                    raise GamesFileError(f"{self.path}: not a tournament file")
                self._file.truncate(whole)  # the writer was killed in the middle of a line
                break
            whole += len(line)
            entry = self._entry(line, number)
            if number == 1:
                self._compare(entry, header)
            elif "agent" in entry:
                self._agents[entry["agent"]] = entry["identity"], entry["block"]
            else:
                self.games[MatchBlock(*entry["task"])] = _unpacked(entry)
        if not whole:
            self._append(header)

    def _entry(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            entry = json.loads(line)
            if entry.pop("check") == _checksum(entry):
                return dict(entry)
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
            pass
        what = "not a tournament file" if number == 1 else f"line {number} is damaged"
        raise GamesFileError(f"{self.path}: {what}")

    def _compare(self, found: dict[str, Any], header: dict[str, Any]) -> None:
        for key, mine in header.items():
            if found.get(key) != mine:
                raise GamesFileError(f"{self.path}: contains games of {key} {found.get(key)}, not {mine}")

    def _meet(self, name: str, identity: str, size: int) -> None:
        known = self._agents.get(name)
        if known is None:
            self._agents[name] = identity, size
            self._append({"agent": name, "identity": identity, "block": size})
        elif known[0] != identity:
            was, now = (text[:16] or "none" for text in (known[0], identity))
            raise GamesFileError(f"{self.path}: contains games of another agent {name!r}, identity {was} not {now}")
        elif known[1] != size:
            raise GamesFileError(f"{self.path}: contains games of {name!r} in blocks of {known[1]} deals, not {size}")

    def add(self, block: MatchBlock, games: Games) -> None:
        """Store a finished block durably."""
        self.games[block] = games
        data = base64.b64encode(zlib.compress(games.astype("<i2").tobytes())).decode()
        self._append({"task": list(block), "shape": list(games.shape), "games": data})

    def _append(self, entry: dict[str, Any]) -> None:
        line = json.dumps(entry | {"check": _checksum(entry)}) + "\n"
        try:
            self._file.write(line.encode())
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise UsageError(f"cannot write {self.path}: {error.strerror or error}") from None

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _header(spec: TournamentSpec) -> dict[str, Any]:
    """Return the first line: what all games of a file have in common."""
    return {
        "tournament": FORMAT,
        "rules": spec.rules.digest,
        "starts": starts.VERSION,
        "seed": spec.seed,
        "rotations": spec.rotations,
    }


def _checksum(entry: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(entry, sort_keys=True).encode()).hexdigest()[:16]


def _unpacked(entry: dict[str, Any]) -> Games:
    raw = zlib.decompress(base64.b64decode(entry["games"]))
    return np.frombuffer(raw, "<i2").astype(np.int16).reshape(entry["shape"])
