"""What a run tells: rows in metrics.jsonl, TensorBoard, and one line of progress."""

from __future__ import annotations

import json
import math
import sys
import time
from pathlib import Path
from typing import Any, TextIO

from gunzi_train.errors import SaveError
from gunzi_train.folder import METRICS, TENSORBOARD

PLAIN_SECONDS = 10.0
"""Between lines where the output is no terminal."""


class Metrics:
    """Appends rows to metrics.jsonl and, where wanted, to TensorBoard."""

    def __init__(self, folder: Path, *, tensorboard: bool, purge: int | None = None) -> None:
        self._path = folder / METRICS
        self._file: TextIO = open(self._path, "a", encoding="utf-8")  # noqa: SIM115  open as long as the run
        self._board: Any = None
        if tensorboard:
            try:
                from torch.utils.tensorboard import SummaryWriter
            except ImportError:
                print("tensorboard is not installed: only metrics.jsonl is written", flush=True)
            else:
                self._board = SummaryWriter(str(folder / TENSORBOARD), purge_step=purge, flush_secs=20)

    def write(self, row: dict[str, Any], step: int, prefix: str = "") -> None:
        """One row; every number in it becomes a curve under ``prefix``."""
        try:
            self._file.write(json.dumps(_rounded(row), allow_nan=False) + "\n")
            self._file.flush()
        except OSError as error:
            raise SaveError(f"{self._path}: cannot be written ({error.strerror})") from None
        if self._board is not None:
            for name, value in _numbers(row, prefix):
                self._board.add_scalar(name, value, step)

    def close(self) -> None:
        """Flush everything."""
        self._file.close()
        if self._board is not None:
            self._board.close()


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


class Progress:
    """One line that is rewritten on a terminal, and a line now and then elsewhere."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        self._bar: Any = None
        self._task: Any = None
        self._last = -math.inf
        if self._stream.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn
            from rich.progress import Progress as RichProgress

            columns = (
                BarColumn(bar_width=20),
                TextColumn("{task.percentage:3.0f} %  {task.description}", markup=False),
            )
            self._bar = RichProgress(*columns, console=Console(file=self._stream), refresh_per_second=4)
            self._task = self._bar.add_task("", total=1.0)
            self._bar.start()

    def say(self, text: str) -> None:
        """A whole line that stays."""
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False)
        else:
            print(text, file=self._stream, flush=True)

    def show(self, share: float, text: str, *, force: bool = False) -> None:
        """How far the run is, 0 to 1, and how it is doing."""
        if self._bar is not None:
            self._bar.update(self._task, completed=min(1.0, share), description=text)
            return
        now = time.monotonic()
        if force or now - self._last >= PLAIN_SECONDS:
            self._last = now
            self.say(f"{100 * min(1.0, share):3.0f} %  {text}")

    def close(self) -> None:
        """Leave the line as it stands."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def clock(seconds: float) -> str:
    """Minutes and seconds.

    >>> clock(187), clock(7261)
    ('3:07', '2:01:01')
    """
    whole = max(0, round(seconds))
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60}:{rest % 60:02d}"
