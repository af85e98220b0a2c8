"""Ctrl-C and SIGTERM from the first moment on. No torch: its import is where an exception would get lost."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Callable
from typing import Any

from gunzi_train.errors import Interrupted


class Stop:
    """Notes the first SIGINT or SIGTERM in ``code``; the second ends the process at once.

    A note instead of an exception: imports run C code and callbacks that swallow a KeyboardInterrupt. Python calls a
    handler only between its own instructions, which may be long in coming while torch waits for another process; so a
    thread counts the signals as they arrive, and it is this thread that ends the process.
    """

    def __init__(self) -> None:
        self.code = 0
        self.abort: Callable[[], None] | None = None
        """Kills the other processes and waits for nothing; without it the second signal raises KeyboardInterrupt."""
        self._before = {number: signal.signal(number, self._note) for number in (signal.SIGINT, signal.SIGTERM)}
        self._arrived, self._arriving = socket.socketpair()
        self._arriving.setblocking(False)
        self._told_before = signal.set_wakeup_fd(self._arriving.fileno(), warn_on_full_buffer=False)
        threading.Thread(target=self._count, name="signals", daemon=True).start()

    def take_back(self) -> None:
        """Note the signals again after a library has put a handler of its own in place."""
        for number in self._before:
            signal.signal(number, self._note)
        signal.set_wakeup_fd(self._arriving.fileno(), warn_on_full_buffer=False)

    def _note(self, number: int, frame: Any) -> None:
        if not self.code:
            self.code = 128 + number
        elif self.abort is None:
            raise KeyboardInterrupt

    def _count(self) -> None:
        seen = 0
        while numbers := self._arrived.recv(64):
            for number in numbers:
                seen += number in self._before
                if seen > 1 and self.abort is not None:
                    self.abort()
                    os._exit(128 + number)
        self._arrived.close()

    def check(self) -> None:
        """Raise :class:`~gunzi_train.errors.Interrupted` if a signal came; for the time before the first update."""
        if self.code:
            raise Interrupted(self.code)

    def close(self) -> None:
        """Give the signals back."""
        signal.set_wakeup_fd(self._told_before)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._arriving.close()
