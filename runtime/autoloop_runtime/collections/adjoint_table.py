"""Gradients of indexed collections: a table from position to the gradient of the element there.

The collections are the runtime's own (stacks of saved values) and the user's (TensorArrays). A missing entry is a
zero that has no memory. A table never changes for those who hold it; adding to the newest version is nevertheless
done in place, and an old version is reached from the newer one by undoing: the persistent arrays of H. G. Baker,
"Shallow binding makes functional arrays fast", ACM SIGPLAN Notices 26(8), 1991.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import ops
from ..base import dtypes
from ..base.dtypes import DType
from ..base.forks import Kind
from ..base.shapes import SCALAR, TensorShape
from ..ir.apply import apply
from ..ir.op import Op, register, ruled_in
from ..ir.tensor import Tensor
from ..ir.traits import BOOKKEEPING, NO_GRADIENT, OPAQUE

_KIND = Kind("AdjointTable", "a version is complete before another refers to it; one that was being made is nobody's")
_write = _KIND.lock()  # held while a newer version of any table is made


class AdjointTable:
    """One version of a table.

    Attributes
    ----------
    table : dict or None
        The entries, if this is the newest version.
    undo : tuple or None
        ``(position, entry here, newer version)`` otherwise. It is set before ``table`` is cleared, and ``table`` is
        cleared before the dict changes, so that a reader who still finds ``table`` after reading read the right entry.
    """

    __slots__ = ("table", "undo")
    dtype = dtypes.variant
    shape = ()

    def __init__(self, table: dict[int, Any]) -> None:
        self.table: dict[int, Any] | None = table
        self.undo: tuple[int, Any, AdjointTable] | None = None

    def get(self, position: int) -> Any:
        """Return the entry at ``position``, ``None`` for zero."""
        version = self
        while True:
            table = version.table
            if table is not None:
                found = table.get(position)
                if version.table is table:
                    return found
            assert version.undo is not None
            changed, old, newer = version.undo
            if changed == position:
                return old
            version = newer

    def entries(self) -> dict[int, Any]:
        """Return all entries, in a dict of the caller's own."""
        with _write:
            return self._copied()

    def _copied(self) -> dict[int, Any]:
        changes = []
        version = self
        while version.table is None:
            assert version.undo is not None
            changes.append(version.undo)
            version = version.undo[2]
        table = dict(version.table)
        for position, old, _ in reversed(changes):
            table[position] = old
        return {k: v for k, v in table.items() if v is not None}

    def add(self, position: int, value: Any) -> AdjointTable:
        """Return the version with ``value`` added at ``position``; with ``None`` there is zero."""
        with _write:
            table = self.table
            if table is None:
                table = self._copied()
                newer = AdjointTable(table)
                old = table.get(position)
            else:
                newer = AdjointTable(table)
                old = table.get(position)
                self.undo = (position, old, newer)
                self.table = None
            table[position] = None if value is None else _sum(old, value)
            return newer

    def without(self, position: int) -> AdjointTable:
        """Return the version with zero at ``position``."""
        return self if self.get(position) is None else self.add(position, None)

    def opened(self, position: int) -> AdjointTable:
        """Return a table with zero at ``position``, all that is there or behind it one further behind."""
        return AdjointTable({k + (k >= position): v for k, v in self.entries().items()})

    def closed(self, position: int) -> AdjointTable:
        """Return a table without what is at ``position``, all that is behind it one further in front."""
        return AdjointTable({k - (k > position): v for k, v in self.entries().items() if k != position})


class EmptyAdjointTable(AdjointTable):
    """The table without entries; immutable."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__({})

    def add(self, position: int, value: Any) -> AdjointTable:
        """Return a new table with one entry."""
        return AdjointTable({position: value})


_EMPTY = EmptyAdjointTable()


def _sum(old: Any, value: Any) -> Any:
    if old is None:
        return value
    if isinstance(value, AdjointTable):  # a collection of collections
        table = old._copied()
        for position, part in value._copied().items():
            table[position] = _sum(table.get(position), part)
        return AdjointTable(table)
    return old + value


def _merge(a: AdjointTable, b: AdjointTable) -> AdjointTable:
    for position, value in b.entries().items():
        a = a.add(position, value)
    return a


def _get(table: AdjointTable, position: Any, dims: Any = None, *, dtype: DType, shape: TensorShape) -> Any:
    found = table.get(int(position))
    if found is not None:
        return found
    return _zeros(dims, dtype, shape)


def _zeros(dims: Any, dtype: DType, shape: TensorShape) -> Any:
    if dtype == dtypes.variant:
        return _EMPTY
    return np.zeros(shape.as_tuple() if dims is None else tuple(dims.tolist()), dtype)[()]


def _rows(table: AdjointTable, dims: Any = None, *, dtype: DType, shape: TensorShape) -> Any:
    out = _zeros(dims, dtype, shape)
    for position, value in table.entries().items():
        out[position] = value
    return out


def _from_rows(rows: Any) -> AdjointTable:
    return AdjointTable(dict(enumerate(rows)))


def _variant(*_: Tensor, **__: Any) -> Any:
    return dtypes.variant, SCALAR


def _element(*_: Tensor, dtype: DType, shape: TensorShape) -> Any:
    return dtype, shape


def _add_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    return [g, None, element(g, inputs[1], inputs[2])]


def _get_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    return [single(inputs[1], g), *[None] * (len(inputs) - 1)]


def _rows_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    return [from_rows(g), *[None] * (len(inputs) - 1)]


EMPTY = register(Op("EmptyAdjoints", _variant, lambda: _EMPTY, NO_GRADIENT, traits=BOOKKEEPING))
ADD = register(Op("AddAdjoint", _variant, lambda table, i, x: table.add(int(i), x), _add_vjp, traits=BOOKKEEPING))
GET = register(Op("GetAdjoint", _element, _get, _get_vjp, traits=BOOKKEEPING.but(rematerialise=True)))
WITHOUT = register(
    Op("WithoutAdjoint", _variant, lambda table, i: table.without(int(i)), lambda g, outputs, inputs, attrs:
       [without(g, inputs[1]), None], traits=OPAQUE)
)  # fmt: skip
OPENED = register(
    Op("OpenAdjoints", _variant, lambda table, i: table.opened(int(i)), lambda g, outputs, inputs, attrs:
       [closed(g, inputs[1]), None], traits=OPAQUE)
)  # fmt: skip
CLOSED = register(
    Op("CloseAdjoints", _variant, lambda table, i: table.closed(int(i)), lambda g, outputs, inputs, attrs:
       [opened(g, inputs[1]), None], traits=OPAQUE)
)  # fmt: skip
MERGE = register(Op("MergeAdjoints", _variant, _merge, lambda g, outputs, inputs, attrs: [g, g], traits=BOOKKEEPING))
ROWS = register(Op("StackAdjoints", _element, _rows, _rows_vjp, traits=BOOKKEEPING))
FROM_ROWS = register(
    Op(
        "UnstackAdjoints",
        _variant,
        _from_rows,
        lambda g, outputs, inputs, attrs: [stacked(g, inputs[0])],
        traits=BOOKKEEPING,
    )
)


def empty() -> Tensor:
    """Return the gradient of a collection that nobody read."""
    made: Tensor = apply(EMPTY, [])
    return made


def single(position: Tensor, value: Tensor) -> Tensor:
    """Return the gradient of a collection of which one element was read."""
    made: Tensor = apply(ADD, [empty(), position, value])
    return made


def without(table: Tensor, position: Tensor) -> Tensor:
    """Return the table with zero at ``position``."""
    made: Tensor = apply(WITHOUT, [table, position])
    return made


def opened(table: Tensor, position: Tensor) -> Tensor:
    """Return the table with zero at ``position``, what is there or behind it one further behind."""
    made: Tensor = apply(OPENED, [table, position])
    return made


def closed(table: Tensor, position: Tensor) -> Tensor:
    """Return the table without what is at ``position``, what is behind it one further in front."""
    made: Tensor = apply(CLOSED, [table, position])
    return made


def merge(a: Tensor, b: Tensor) -> Tensor:
    """Return the sum of two tables."""
    made: Tensor
    if b.node is not None and b.node.op is ADD and _is_empty(b.node.inputs[0]):
        made = apply(ADD, [a, *b.node.inputs[1:]])
    elif _is_empty(a):
        made = b
    else:
        made = apply(MERGE, [a, b])
    return made


def _is_empty(table: Tensor) -> bool:
    return table.node is not None and table.node.op is EMPTY


def element(table: Tensor, position: Tensor, like: Tensor) -> Tensor:
    """Return the gradient of the element at ``position``, which has the shape and dtype of ``like``."""
    made: Tensor = apply(GET, [table, position, *_extents(like)], {"dtype": like.dtype, "shape": like.shape})
    return made


def stacked(table: Tensor, like: Tensor) -> Tensor:
    """Return all gradients as the rows of one tensor, which has the shape and dtype of ``like``."""
    made: Tensor = apply(ROWS, [table, *_extents(like)], {"dtype": like.dtype, "shape": like.shape})
    return made


def from_rows(rows: Tensor) -> Tensor:
    """Return the table whose entries are the rows of a tensor."""
    made: Tensor = apply(FROM_ROWS, [rows])
    return made


def _extents(like: Tensor) -> list[Tensor]:
    return [] if like.shape.is_fully_defined() else [ops.shape(like)]


ruled_in("adjoint_rules", EMPTY, FROM_ROWS, ADD, GET, WITHOUT, MERGE, ROWS)
ruled_in("growing_table", OPENED, CLOSED)
ruled_in("growing_table", FROM_ROWS, ADD, GET, WITHOUT, MERGE, ROWS, growing=True)
