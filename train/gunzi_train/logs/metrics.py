"""The log of a run: rows in metrics.jsonl, and the same for TensorBoard."""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from gunzi_train.errors import SaveError
from gunzi_train.folder import METRICS, TENSORBOARD


class Metrics:
    """Appends rows to metrics.jsonl and optionally to TensorBoard."""

    def __init__(self, folder: Path, *, tensorboard: bool, purge: int | None = None) -> None:
        self._folder = folder
        self._board: Any = None
        with self._writing():
            self._file: TextIO = open(folder / METRICS, "a", encoding="utf-8")  # noqa: SIM115  open during the whole run
            if tensorboard:
                try:
                    from torch.utils.tensorboard import SummaryWriter
                except ImportError:
                    print("tensorboard is not installed: only metrics.jsonl is written", flush=True)
                else:
                    self._board = SummaryWriter(str(folder / TENSORBOARD), purge_step=purge, flush_secs=20)

    def write(self, row: dict[str, Any], step: int, prefix: str = "") -> None:
        """Write a row; every number in it becomes a TensorBoard curve under ``prefix``."""
        with self._writing():
            self._file.write(json.dumps(_rounded(row), allow_nan=False) + "\n")
            self._file.flush()
            if self._board is not None:
                for name, value in _numbers(row, prefix):
                    self._board.add_scalar(name, value, step)

    def write_record(self, text: str, step: int) -> None:
        """Write a record of hands, for TensorBoard only."""
        if self._board is not None:
            with self._writing():
                self._board.add_text("records", "".join(f"    {line}\n" for line in text.splitlines()), step)

    def sync(self) -> None:
        """Sync the rows so far to the disk."""
        with self._writing():
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Flush and close everything."""
        with self._writing():
            self._file.close()
            if self._board is not None:
                self._board.close()

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """Convert errors. TensorBoard writes in a thread, so a later call raises its errors."""
        try:
            yield
        except OSError as error:
            raise SaveError(f"{self._folder}: the log cannot be written ({error.strerror or error})") from None


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(part) for key, part in value.items()}
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    return value


def _numbers(row: dict[str, Any], prefix: str) -> list[tuple[str, float]]:
    found = []
    for key, value in row.items():
        name = f"{prefix}/{key}" if prefix else key
        if isinstance(value, dict):
            found += _numbers(value, name)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found.append((name, float(value)))
    return found
