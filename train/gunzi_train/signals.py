"""Handling of Ctrl-C and SIGTERM from the start of a command on.

This module does not import torch, because an exception raised during that import would be lost.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Callable
from typing import Any

from gunzi_train.errors import Interrupted


class SignalGuard:
    """Signal handler: the first SIGINT or SIGTERM is stored in ``code``, the second ends the process at once.

    The first signal raises no exception, because imports run C code and callbacks that swallow a KeyboardInterrupt.
    Python runs a handler only between two of its own instructions, which can take long while torch waits for another
    process. Therefore a thread counts the signals as they arrive, and this thread ends the process.
    """

    def __init__(self) -> None:
        self.code = 0
        """Exit code of the first signal (128 + its number); 0 before."""
        self.abort: Callable[[], None] | None = None
        """Kills the other processes without waiting. While it is None, the second signal raises KeyboardInterrupt."""
        self._before = {number: signal.signal(number, self._handle) for number in (signal.SIGINT, signal.SIGTERM)}
        self._arrived, self._arriving = socket.socketpair()
        self._arriving.setblocking(False)
        self._wakeup_before = signal.set_wakeup_fd(self._arriving.fileno(), warn_on_full_buffer=False)
        threading.Thread(target=self._count, name="signals", daemon=True).start()

    def take_back(self) -> None:
        """Restore the handlers after a library has installed its own."""
        for number in self._before:
            signal.signal(number, self._handle)
        signal.set_wakeup_fd(self._arriving.fileno(), warn_on_full_buffer=False)

    def _handle(self, number: int, frame: Any) -> None:
        if not self.code:
            self.code = 128 + number
        elif self.abort is None:
            raise KeyboardInterrupt

    def _count(self) -> None:
        arrived = 0
        while numbers := self._arrived.recv(64):
            for number in numbers:
                arrived += number in self._before
                if arrived > 1 and self.abort is not None:
                    self.abort()
                    os._exit(128 + number)
        self._arrived.close()

    def check(self) -> None:
        """Raise :class:`~gunzi_train.errors.Interrupted` if a signal has arrived; for use before the first update."""
        if self.code:
            raise Interrupted(self.code)

    def close(self) -> None:
        """Restore the handlers that were installed before."""
        signal.set_wakeup_fd(self._wakeup_before)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._arriving.close()
