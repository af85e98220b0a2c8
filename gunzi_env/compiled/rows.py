"""Where the fields of the tables lie, as constants of the kernels."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from gunzi_env.compiled.jit import inlined
from gunzi_env.tables import Tables

Decks = tuple[int, ...]
"""0, 1, ... for each deck: numba compiles anew for each length, and so knows how often a loop over the planes runs."""

Rows: Any = namedtuple("Rows", [field.name for field in Tables.columns])  # type: ignore[misc]


def _rows(decks: int) -> Any:
    return Rows(*(first for _, first, _ in Tables.schema_of(decks).places.values()))


_OF_THREE, _OF_FOUR = _rows(3), _rows(4)


@inlined
def rows(decks: Decks) -> Any:
    """The first row of each field in the buffer of its dtype (see :mod:`gunzi_env.packed`); planes begin at 0."""
    return _OF_FOUR if len(decks) == 4 else _OF_THREE
