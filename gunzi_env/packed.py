"""Records of many named fields, stored in a few buffers: one buffer a dtype, field after field.

A buffer is ``[rows, N]``: a row holds one number (or word) of all N records, contiguous in memory. So an operation
on a field is one pass over contiguous memory, and copying or selecting records is one call a buffer.

A subclass of :class:`Packed` declares each field once, by :func:`column`; the order of the declarations is the order
in memory. An attribute of an instance is then the field's array, of the class the :class:`Column`::

    class Tables(Packed):
        score: Int16 = column(np.int16, reset=0)
        levels: Int8 = column(np.int8, shape=(2,))
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

Extent = int | Callable[[int], int]
"""A length, or a function from the size of the schema to the length."""


@dataclass(eq=False)
class Column:
    """One field as it is declared, see :func:`column`."""

    dtype: type[np.generic]
    shape: tuple[Extent, ...]
    axes: tuple[int, ...]
    reset: int | None
    seen: object = None
    """How a record made from records of another class shows the field; see :func:`runs`."""
    name: str = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, record: Packed | None, owner: type | None = None) -> Any:
        """Cut the field's array out of its buffer, once: the instance's attribute hides the column from then on."""
        return self if record is None else record.cut(self)


def column(
    dtype: type[np.generic],
    *,
    shape: tuple[Extent, ...] = (),
    axes: tuple[int, ...] | None = None,
    reset: int | None = None,
) -> Any:
    """Declare a field.

    Args:
        dtype: Of the array, and so the buffer that holds it.
        shape: Of one record, in the order in memory.
        axes: The axes of the array by their place in memory, where the records are last; the records first if None.
        reset: The value that :meth:`Packed.reset` writes; None leaves the field alone.
    """
    last = len(shape)
    return Column(dtype, shape, (last, *range(last)) if axes is None else axes, reset)


class Schema:
    """Where each field of a class lies in the buffers, for one ``size`` (what the shapes depend on)."""

    def __init__(self, columns: Iterable[Column], size: int) -> None:
        self.fields = {column.name: column for column in columns}
        self.shapes: dict[str, tuple[int, ...]] = {}
        """Of one record of each field, in the order in memory."""
        self.rows: dict[type[np.generic], int] = {}
        """How many rows the buffer of each dtype has."""
        self.places: dict[str, tuple[int, int, int]] = {}
        """The buffer of each field, its first row there and the row after its last."""
        self.resets: list[tuple[int, int, int, int]] = []
        """Runs of rows that are reset to one value: buffer, first row, row after the last, value."""
        for name, field in self.fields.items():
            self.shapes[name] = tuple(extent if isinstance(extent, int) else extent(size) for extent in field.shape)
            start = self.rows.get(field.dtype, 0)
            self.rows[field.dtype] = end = start + math.prod(self.shapes[name])
            self.places[name] = (list(self.rows).index(field.dtype), start, end)
        self.dtypes = tuple(self.rows)
        for name in sorted(self.places, key=self.places.__getitem__):
            self._add_reset(*self.places[name], self.fields[name].reset)

    def _add_reset(self, buffer: int, start: int, end: int, value: int | None) -> None:
        if value is None:
            return
        if self.resets and (self.resets[-1][0], *self.resets[-1][2:]) == (buffer, start, value):
            start = self.resets.pop()[1]
        self.resets.append((buffer, start, end, value))


class Packed:
    """N records of the fields that the class declares."""

    columns: ClassVar[tuple[Column, ...]] = ()

    schema: Schema
    num: int
    buffers: tuple[Array, ...]  # [rows, N] each, in the order of schema.dtypes

    def __init_subclass__(cls) -> None:
        cls.columns = (*cls.columns, *(value for value in vars(cls).values() if isinstance(value, Column)))

    @classmethod
    @cache
    def schema_of(cls, size: int) -> Schema:
        """The schema of this class for a size."""
        return Schema(cls.columns, size)

    def fill(self, size: int, num: int, buffers: Iterable[Array] | None = None) -> None:
        """Take over some buffers as ``num`` records, or make them of zeros."""
        self.schema = schema = self.schema_of(size)
        self.num = num
        self._rows: dict[tuple[str, str | None], Array] = {}
        made = (np.zeros((schema.rows[dtype], num), dtype) for dtype in schema.dtypes)
        self.buffers = tuple(made if buffers is None else buffers)

    def cut(self, field: Column) -> Array:
        """The array of a field, a view of its buffer; kept as the attribute of its name."""
        buffer, start, end = self.schema.places[field.name]
        if field.shape:
            view = self.buffers[buffer][start:end].reshape(*self.schema.shapes[field.name], self.num)
            view = view.transpose(field.axes)
        else:
            view = self.buffers[buffer][start]
        self.__dict__[field.name] = view
        return view

    def rows_of(self, name: str, last: str | None = None) -> Array:
        """A field as it lies in memory, ``[rows, N]``; up to and with the field ``last`` of the same dtype."""
        rows = self._rows.get((name, last))
        if rows is None:
            buffer, start, _ = self.schema.places[name]
            _, _, end = self.schema.places[last or name]
            rows = self._rows[name, last] = self.buffers[buffer][start:end]
        return rows

    def reset(self, records: npt.NDArray[np.intp]) -> None:
        """Write the ``reset`` values of the columns into some records."""
        for buffer, start, end, value in self.schema.resets:
            self.buffers[buffer][start:end, records] = value

    def arrays(self) -> Iterator[tuple[str, Array, int]]:
        """Every field: its name, its array, and the axis of the records."""
        for name, field in self.schema.fields.items():
            yield name, getattr(self, name), field.axes.index(len(field.shape))


def runs(source: type[Packed], target: type[Packed], seen: Collection[object]) -> tuple[tuple[str, str], ...]:
    """The columns of ``target`` that are ``seen`` in one of these ways, in runs that one call can copy.

    A run is (name of the first field, name of the last): fields of one dtype that lie side by side in both classes.
    """
    before_there, before = _neighbours(source), _neighbours(target)
    found: dict[str, str] = {}  # the first field of each run by its last
    for name in (field.name for field in target.columns if field.seen in seen):
        joins = before[name] in found and before[name] == before_there[name]
        found[name] = found.pop(before[name]) if joins else name
    return tuple((first, last) for last, first in found.items())


def _neighbours(kind: type[Packed]) -> dict[str, str]:
    """The field that lies before each field in its buffer, "" for none."""
    last: dict[type[np.generic], str] = {}
    found = {}
    for field in kind.columns:
        found[field.name] = last.get(field.dtype, "")
        last[field.dtype] = field.name
    return found
