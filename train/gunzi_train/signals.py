"""Ctrl-C and SIGTERM from the first moment on. No torch: its import is where an exception would get lost."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

from gunzi_train.errors import Interrupted


class Stop:
    """Notes the first SIGINT or SIGTERM in ``code``; the second ends the process at once.

    A note instead of an exception: imports run C code and callbacks that swallow a KeyboardInterrupt.
    """

    def __init__(self) -> None:
        self.code = 0
        self.abort: Callable[[], None] | None = None
        """What ends the other processes; without it the second signal raises KeyboardInterrupt."""
        self._before = {number: signal.signal(number, self._note) for number in (signal.SIGINT, signal.SIGTERM)}

    def take_back(self) -> None:
        """Note the signals again after a library has put a handler of its own in place."""
        for number in self._before:
            signal.signal(number, self._note)

    def _note(self, number: int, frame: Any) -> None:
        if not self.code:
            self.code = 128 + number
        elif self.abort is None:
            raise KeyboardInterrupt
        else:
            self.abort()
            os._exit(128 + number)

    def check(self) -> None:
        """Raise :class:`~gunzi_train.errors.Interrupted` if a signal came; for the time before the first update."""
        if self.code:
            raise Interrupted(self.code)

    def close(self) -> None:
        """Give the signals back."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
