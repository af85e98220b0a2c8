"""What the processes of an environment have in common: arrays in memory that they share.

Each process cuts the same arrays out of the same memory and writes the columns, or rows, of its own tables. What a
caller is given lies there too, so that nothing is copied for him: his arrays are a block that is his alone until he has
dropped the last of them (:class:`Lender`).
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gunzi_env import actions, observe, views
from gunzi_env.planes import U64, Words
from gunzi_env.rules import Rules
from gunzi_env.tables import Flags, Index, Int8
from gunzi_env.vector.episodes import Make, Outcome, Result
from gunzi_env.views import View

BLOCKS = 4
"""Blocks for what is seen; a loop holds one of them while the next is written. The last is never lent: a caller who
keeps all the others gets copies of it."""
_SPARE = BLOCKS - 1
_ALIGNED = 64
"""Bytes; no two arrays share a line of the processor's cache."""

Bytes = npt.NDArray[np.uint8]


class Cutter:
    """Cuts arrays out of memory, one after the other; without memory it makes them of its own and counts the bytes."""

    def __init__(self, memory: Bytes | None = None, start: int = 0) -> None:
        self.memory, self.used = memory, start

    def __call__(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        size = math.prod(shape) * np.dtype(dtype).itemsize
        start, self.used = self.used, self.used + -(-size // _ALIGNED) * _ALIGNED
        if self.memory is None:
            return np.empty(shape, dtype)
        return self.memory[start : start + size].view(dtype).reshape(shape)


class Seen:
    """A block: the View and the legal actions ``bool[N, A]`` of N tables."""

    def __init__(self, rules: Rules, num: int, make: Make) -> None:
        kind = views.View.schema_of(rules.decks)
        self.view = View.over(rules, [make((kind.rows[dtype], num), dtype) for dtype in kind.dtypes])
        self.mask: Flags = make((num, actions.space(rules).n), np.bool_)

    def part(self, tables: slice) -> tuple[View, Flags]:
        """Those of some tables, to be written."""
        columns = [buffer[:, tables] for buffer in self.view.buffers]
        return View.over(self.view.rules, columns), self.mask[tables]


class Board:
    """The arrays of N tables in memory that is given, or only the bytes that they need (``board.size``)."""

    def __init__(self, rules: Rules, num: int, processes: int, memory: Bytes | None = None) -> None:
        self.rules, self.num, self._memory = rules, num, memory
        cut = Cutter(memory)
        self.asked: npt.NDArray[np.int64] = cut((processes, _ALIGNED // 8), np.int64)
        """Column 0: how many requests a process was sent."""
        self.answered: npt.NDArray[np.int64] = cut((processes, _ALIGNED // 8), np.int64)
        """Column 0: how many it has answered."""
        self.chosen: Index = cut((num,), np.intp)
        """The actions to be carried out."""
        self.legal: Words = cut((rules.decks + 1, num), U64)
        """The legal actions as words; ``legal.T`` is as ``Tables.legal``."""
        self.phase: Int8 = cut((num,), np.int8)
        self.seat: Int8 = cut((num,), np.int8)
        self.outcome = Outcome.made(num, cut)
        # Another process may have hands that ended: then the whole result counts.
        self.outcome.result = Result.made(num, cut)
        self.privileged: Bytes = cut((num, observe.privileged_size(rules)), np.uint8)
        self._first_block = cut.used
        counter = Cutter()
        Seen(rules, num, counter)
        self._block_size = counter.used
        self.size = self._first_block + BLOCKS * self._block_size

    def block(self, number: int, memory: Bytes | None = None) -> Seen:
        """One of the blocks, in the board's memory or in another array over the same."""
        base = self._memory if memory is None else memory
        return Seen(self.rules, self.num, Cutter(base, self._first_block + number * self._block_size))


class Lender:
    """Lends blocks in turn; each is free again when no array of it is left with its borrower."""

    def __init__(self, board: Board, memory: Callable[[], Bytes]) -> None:
        """``memory()`` gives a new array over all of the board's memory."""
        self._board, self._memory = board, memory
        # All that is cut from an array keeps it alive: it dies with the last part that the borrower holds.
        self._lent: list[weakref.ref[Bytes] | None] = [None] * _SPARE

    def free(self) -> int:
        """The number of a block that nobody holds."""
        for number, lent in enumerate(self._lent):
            if lent is None or lent() is None:
                return number
        return _SPARE

    def lend(self, number: int) -> tuple[View, Flags]:
        """View and legal actions of a block that was free; from now on they are the borrower's."""
        memory = self._memory()
        seen = self._board.block(number, memory)
        if number == _SPARE:
            view = seen.view.replace()
            return view, seen.mask.copy()
        self._lent[number] = weakref.ref(memory)
        return seen.view, seen.mask
