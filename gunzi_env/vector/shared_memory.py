"""The shared-memory arrays of an environment with several processes.

Every process maps the same arrays onto the same memory and writes the columns, or rows, of its own tables. Results are
returned as views into this memory (zero copy); a block is reused only after the caller has released every array in it
(:class:`BlockPool`).
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
from gunzi_env.vector.episodes import Make, Result, StepResult
from gunzi_env.views import View

BLOCKS = 4
"""Observation blocks. A typical loop holds one while the next is written. The last block is never lent: a caller that
holds all the others receives copies of it."""
_SPARE = BLOCKS - 1
_ALIGNMENT = 64
"""Bytes: no two arrays share a cache line."""

Bytes = npt.NDArray[np.uint8]


class Arena:
    """Allocates arrays one after the other from ``memory``; without memory, makes separate arrays and counts bytes."""

    def __init__(self, memory: Bytes | None = None, start: int = 0) -> None:
        self.memory, self.used = memory, start

    def __call__(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        size = math.prod(shape) * np.dtype(dtype).itemsize
        start, self.used = self.used, self.used + -(-size // _ALIGNMENT) * _ALIGNMENT
        if self.memory is None:
            return np.empty(shape, dtype)
        return self.memory[start : start + size].view(dtype).reshape(shape)


class ObservationBlock:
    """The View and the legal actions ``bool[N, A]`` of N tables."""

    def __init__(self, rules: Rules, num: int, make: Make) -> None:
        kind = views.View.schema_of(rules.decks)
        self.view = View.over(rules, [make((kind.rows[dtype], num), dtype) for dtype in kind.dtypes])
        self.mask: Flags = make((num, actions.space(rules).n), np.bool_)

    def part(self, tables: slice) -> tuple[View, Flags]:
        """Return writable slices of the View and the mask for some tables."""
        columns = [buffer[:, tables] for buffer in self.view.buffers]
        return View.over(self.view.rules, columns), self.mask[tables]


class SharedBuffers:
    """All arrays of N tables, allocated from ``memory``; without memory, only their total ``size`` in bytes is used."""

    def __init__(self, rules: Rules, num: int, processes: int, memory: Bytes | None = None) -> None:
        self.rules, self.num, self._memory = rules, num, memory
        arena = Arena(memory)
        self.asked: npt.NDArray[np.int64] = arena((processes, _ALIGNMENT // 8), np.int64)
        """Column 0: requests sent to each process."""
        self.answered: npt.NDArray[np.int64] = arena((processes, _ALIGNMENT // 8), np.int64)
        """Column 0: requests answered by each process."""
        self.chosen: Index = arena((num,), np.intp)
        """The actions of the current step."""
        self.legal: Words = arena((rules.decks + 1, num), U64)
        """The legal actions as words; ``legal.T`` has the layout of ``Tables.legal``."""
        self.phase: Int8 = arena((num,), np.int8)
        self.seat: Int8 = arena((num,), np.int8)
        self.step_result = StepResult.made(num, arena)
        # Always allocated: the result is read for all tables when a hand has ended in any process.
        self.step_result.result = Result.made(num, arena)
        self.privileged: Bytes = arena((num, observe.privileged_size(rules)), np.uint8)
        self._first_block = arena.used
        counter = Arena()
        ObservationBlock(rules, num, counter)
        self._block_size = counter.used
        self.size = self._first_block + BLOCKS * self._block_size

    def block(self, number: int, memory: Bytes | None = None) -> ObservationBlock:
        """Return a block, mapped onto ``memory``: another array over the same bytes, by default the buffers' own."""
        base = self._memory if memory is None else memory
        return ObservationBlock(self.rules, self.num, Arena(base, self._first_block + number * self._block_size))


class BlockPool:
    """Lends observation blocks; a block is free again once its borrower holds no array of it."""

    def __init__(self, buffers: SharedBuffers, memory: Callable[[], Bytes]) -> None:
        """``memory()`` returns a new array over all bytes of the buffers."""
        self._buffers, self._memory = buffers, memory
        # Every slice keeps its base array alive, so the weak reference dies with the borrower's last slice.
        self._lent: list[weakref.ref[Bytes] | None] = [None] * _SPARE

    def free(self) -> int:
        """Return the number of a free block."""
        for number, lent in enumerate(self._lent):
            if lent is None or lent() is None:
                return number
        return _SPARE

    def lend(self, number: int) -> tuple[View, Flags]:
        """Return the View and the legal actions of a free block, and mark the block as lent; the spare is copied."""
        memory = self._memory()
        block = self._buffers.block(number, memory)
        if number == _SPARE:
            view = block.view.replace()
            return view, block.mask.copy()
        self._lent[number] = weakref.ref(memory)
        return block.view, block.mask
