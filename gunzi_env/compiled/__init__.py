"""Play and encoding compiled by numba, where that is installed (``pip install gunzi[fast]``).

The functions here replace those of the same names in :mod:`gunzi_env.chapters.tricks` and give bit-identical results.
Without numba, or with ``GUNZI_COMPILED=0`` in the environment, the originals run. The observation encoder has a
compiled twin as well, see :func:`gunzi_env.observe.encode_tables`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from gunzi_env.order import Layout
from gunzi_env.planes import Ints, Words
from gunzi_env.tables import Index, Tables

SWITCH = "GUNZI_COMPILED"


@cache
def available() -> bool:
    """Is numba installed, and not switched off?"""
    return os.environ.get(SWITCH, "1") != "0" and find_spec("numba") is not None


_DTYPES = (np.uint64, np.int8, np.int16, np.bool_)


def buffers(t: Tables) -> tuple[npt.NDArray[Any], ...]:
    """The buffers of words, octets, shorts and flags of some tables; kept with the tables."""
    kept: tuple[npt.NDArray[Any], ...] | None = t.scratch.get(buffers)
    if kept is None:
        kept = t.scratch[buffers] = tuple(t.buffers[t.schema.dtypes.index(dtype)] for dtype in _DTYPES)
    return kept


def depth(t: Tables) -> tuple[int, ...]:
    """The numbers of the planes of these tables, see ``Decks`` in :mod:`gunzi_env.compiled.rows`."""
    return tuple(range(t.rules.decks))


@cache
def order_tables(layout: Layout) -> tuple[Words, npt.NDArray[np.uint8]]:
    """``masks[level, 6]``: the led suits, fives, tens; ``cards[level, slot, 3]``: led suit, strength, points."""
    masks = np.concatenate([layout.suit_mask, layout.fives[:, None], layout.tens[:, None]], axis=1)
    return masks, np.stack([layout.suit_of_slot.astype(np.uint8), layout.strength, layout.points], axis=2)


@cache
def _kernels() -> Any:
    """The module that needs numba, imported on first use."""
    from gunzi_env.compiled import tricks

    return tricks


def lead_legal(t: Tables, g: Index) -> Words:
    """See :func:`gunzi_env.chapters.tricks.lead_legal`."""
    words, octets, _, _ = buffers(t)
    _kernels().lead_legal(words, octets, depth(t), g)
    return t.rows_of("legal").take(g, axis=1)


def follow_legal(t: Tables, g: Index) -> Words:
    """See :func:`gunzi_env.chapters.tricks.follow_legal`."""
    _kernels().follow_legal(*buffers(t), *order_tables(t.layout), depth(t), g, t.rules.follow == "dead")
    return t.rows_of("legal").take(g, axis=1)


def lead_apply(t: Tables, g: Index, action: Ints) -> Index:
    """See :func:`gunzi_env.chapters.tricks.lead_apply`."""
    return _play(_kernels().lead_apply, t, g, action)


def follow_apply(t: Tables, g: Index, action: Ints) -> Index:
    """See :func:`gunzi_env.chapters.tricks.follow_apply`."""
    return _play(_kernels().follow_apply, t, g, action)


def _play(kernel: Callable[..., int], t: Tables, g: Index, action: Ints) -> Index:
    over, play = np.empty(len(g), np.intp), np.empty(t.rules.decks, np.uint64)
    dead = t.rules.follow == "dead"
    return over[: kernel(*buffers(t), *order_tables(t.layout), g, action, dead, depth(t), play, over)]
