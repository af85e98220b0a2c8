"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

TEMPORARY = ".saving-"
"""Prefix of the names of unfinished files; :func:`sweep` removes those that a killed process left."""


def temporary_name(target: Path) -> Path:
    """Name the file in which the new content of ``target`` is collected before it is renamed."""
    return target.with_name(f"{TEMPORARY}{os.getpid()}-{target.name}")


def write_whole(target: Path, data: bytes | str) -> None:
    """Write a file atomically: ``target`` holds the old content or the new one, even after a power cut.

    The data goes to a temporary file beside it, which is synced and renamed. Text is stored as UTF-8.

    Raises:
        OSError: e.g. a full disk or a read-only folder; no temporary file is left and an older file is unchanged.
    """
    temporary = temporary_name(target)
    try:
        with open(temporary, "wb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):  # the first error counts
            temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Make a rename durable; skipped where a folder cannot be opened (Windows, or no permission to read it)."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sweep(folder: str | Path) -> list[Path]:
    """Remove the temporary files of killed processes from a folder and return their paths."""
    stale = sorted(Path(folder).glob(f"{TEMPORARY}*"))
    for path in stale:
        path.unlink(missing_ok=True)
    return stale
