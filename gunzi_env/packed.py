"""Records of many named fields kept in a few buffers, one a dtype, field after field.

A buffer is ``[rows, N]``: one row of it is one number (or word) of all N records, contiguous in memory. So a field
can be worked on in one stride, and a copy or a selection of records is one call a buffer. The fields are views with
their axes in the order that their :class:`Field` says, cut when they are first asked for.
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
    """Of one record, as it lies in memory."""
    order: tuple[int, ...] | None = None
    """The axes of the field's array, by their place in memory, the records being last there; first if None."""

    @property
    def rows(self) -> int:
        """How many rows of a buffer it fills."""
        return math.prod(self.shape)

    @property
    def axes(self) -> tuple[int, ...]:
        """``order``, written out."""
        last = len(self.shape)
        return (last, *range(last)) if self.order is None else self.order


class Schema:
    """Where each field lies: its buffer, its first row there, and its axis of records."""

    def __init__(self, fields: Iterable[Field]) -> None:
        self.fields = {field.name: field for field in fields}
        self.rows: dict[type[np.generic], int] = {}
        """How many rows the buffer of each dtype has."""
        self.places: dict[str, tuple[int, int, int]] = {}
        """Of each field: which buffer, and from which row to which."""
        for field in self.fields.values():
            start = self.rows.get(field.dtype, 0)
            self.rows[field.dtype] = start + field.rows
            self.places[field.name] = (list(self.rows).index(field.dtype), start, start + field.rows)
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
        buffer, start, end = schema.places[name]
        if field.shape:
            view = self.buffers[buffer][start:end].reshape(*field.shape, self.num).transpose(field.axes)
        else:
            view = self.buffers[buffer][start]
        self.__dict__[name] = view
        return view

    def rows_of(self, name: str, last: str | None = None) -> Array:
        """A field as it lies in memory, ``[rows, N]``; up to and with the field ``last`` of the same dtype."""
        rows = self._cut.get((name, last))
        if rows is None:
            buffer, start, _ = self.schema.places[name]
            _, _, end = self.schema.places[last or name]
            rows = self._cut[name, last] = self.buffers[buffer][start:end]
        return rows

    def fill(self, schema: Schema, num: int, buffers: Iterable[Array] | None = None) -> None:
        """Take over some buffers, or begin with zeros."""
        self.schema, self.num = schema, num
        self._cut: dict[tuple[str, str | None], Array] = {}
        made = (np.zeros((schema.rows[dtype], num), dtype) for dtype in schema.dtypes)
        self.buffers = tuple(made if buffers is None else buffers)

    def fields(self) -> Iterator[tuple[str, Array, int]]:
        """Every field with its name and the axis of the records."""
        for field in self.schema.fields.values():
            yield field.name, getattr(self, field.name), field.axes.index(len(field.shape))
