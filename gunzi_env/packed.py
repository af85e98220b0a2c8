"""Records of many named fields kept in a few buffers, one a dtype, field after field.

A buffer is ``[rows, N]``: one row of it is one number (or word) of all N records, contiguous in memory. So a field
can be worked on in one stride, and a copy or a selection of records is one call a buffer. The fields are views with
the axis of the records where their :class:`Field` puts it, cut when they are first asked for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class Field(NamedTuple):
    """One field of a record."""

    name: str
    dtype: type[np.generic]
    shape: tuple[int, ...] = ()
    """Of one record."""
    axis: int = 0
    """Where the axis of the records stands among the others."""


class Schema:
    """Where each field lies: its buffer, its first row there, and its axis of records."""

    def __init__(self, fields: Iterable[Field]) -> None:
        self.fields = {field.name: field for field in fields}
        self.first: dict[str, int] = {}
        """The first row of each field in the buffer of its dtype."""
        self.rows: dict[type[np.generic], int] = {}
        """How many rows the buffer of each dtype has."""
        for field in self.fields.values():
            self.first[field.name] = self.rows.get(field.dtype, 0)
            self.rows[field.dtype] = self.first[field.name] + math.prod(field.shape)
        self.dtypes = tuple(self.rows)


class Packed:
    """N records of one schema."""

    schema: Schema
    num: int
    buffers: tuple[Array, ...]  # [rows, N] each, in the order of schema.dtypes

    def __getattr__(self, name: str) -> Any:
        """Cut a field out of its buffer, once."""
        schema: Schema | None = self.__dict__.get("schema")
        field = schema.fields.get(name) if schema is not None else None
        if schema is None or field is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        buffer = self.buffers[schema.dtypes.index(field.dtype)]
        first = schema.first[name]
        if not field.shape:
            view = buffer[first]
        else:
            rows = buffer[first : first + math.prod(field.shape)].reshape(*field.shape, self.num)
            view = np.moveaxis(rows, -1, field.axis)
        self.__dict__[name] = view
        return view

    def buffer(self, dtype: type[np.generic]) -> Array:
        """The buffer of one dtype, ``[rows, N]``."""
        return self.buffers[self.schema.dtypes.index(dtype)]

    def fill(self, schema: Schema, num: int, buffers: Iterable[Array] | None = None) -> None:
        """Take over some buffers, or begin with zeros."""
        self.schema, self.num = schema, num
        made = (np.zeros((schema.rows[dtype], num), dtype) for dtype in schema.dtypes)
        self.buffers = tuple(made if buffers is None else buffers)

    def fields(self) -> Iterator[tuple[str, Array, int]]:
        """Every field with its name and the axis of the records."""
        for field in self.schema.fields.values():
            yield field.name, getattr(self, field.name), field.axis
