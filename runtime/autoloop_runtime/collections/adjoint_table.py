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
from ..ir.op import Op, register
from ..ir.tensor import Tensor
from ..ir.traits import BOOKKEEPING, NO_GRADIENT, OPAQUE

_KIND = Kind("slots", "a version is complete before another one refers to it; one that was being made is nobody's")
_write = _KIND.lock()  # held while a newer version of any table is made


class Slots:
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
        self.undo: tuple[int, Any, Slots] | None = None

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

    def add(self, position: int, value: Any) -> Slots:
        """Return the version with ``value`` added at ``position``; with ``None`` there is zero."""
        with _write:
            table = self.table
            if table is None:
                table = self._copied()
                newer = Slots(table)
                old = table.get(position)
            else:
                newer = Slots(table)
                old = table.get(position)
                self.undo = (position, old, newer)
                self.table = None
            table[position] = None if value is None else _sum(old, value)
            return newer

    def without(self, position: int) -> Slots:
        """Return the version with zero at ``position``."""
        return self if self.get(position) is None else self.add(position, None)


class EmptySlots(Slots):
    """The table without entries; immutable."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__({})

    def add(self, position: int, value: Any) -> Slots:
        """Return a new table with one entry."""
        return Slots({position: value})


_EMPTY = EmptySlots()


def _sum(old: Any, value: Any) -> Any:
    if old is None:
        return value
    if isinstance(value, Slots):  # a collection of collections
        table = old._copied()
        for position, part in value._copied().items():
            table[position] = _sum(table.get(position), part)
        return Slots(table)
    return old + value


def _merge(a: Slots, b: Slots) -> Slots:
    for position, value in b.entries().items():
        a = a.add(position, value)
    return a


def _get(slots: Slots, position: Any, dims: Any = None, *, dtype: DType, shape: TensorShape) -> Any:
    found = slots.get(int(position))
    if found is not None:
        return found
    return _zeros(dims, dtype, shape)


def _zeros(dims: Any, dtype: DType, shape: TensorShape) -> Any:
    if dtype == dtypes.variant:
        return _EMPTY
    return np.zeros(shape.as_tuple() if dims is None else tuple(dims.tolist()), dtype)[()]


def _rows(slots: Slots, dims: Any = None, *, dtype: DType, shape: TensorShape) -> Any:
    out = _zeros(dims, dtype, shape)
    for position, value in slots.entries().items():
        out[position] = value
    return out


def _from_rows(rows: Any) -> Slots:
    return Slots(dict(enumerate(rows)))


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


EMPTY = register(Op("EmptySlots", _variant, lambda: _EMPTY, NO_GRADIENT, traits=BOOKKEEPING))
ADD = register(Op("AddToSlot", _variant, lambda slots, i, x: slots.add(int(i), x), _add_vjp, traits=BOOKKEEPING))
GET = register(Op("GetSlot", _element, _get, _get_vjp, traits=BOOKKEEPING.but(rematerialise=True)))
WITHOUT = register(
    Op("WithoutSlot", _variant, lambda slots, i: slots.without(int(i)), lambda g, outputs, inputs, attrs:
       [without(g, inputs[1]), None], traits=OPAQUE)
)  # fmt: skip
MERGE = register(Op("MergeSlots", _variant, _merge, lambda g, outputs, inputs, attrs: [g, g], traits=BOOKKEEPING))
ROWS = register(Op("StackSlots", _element, _rows, _rows_vjp, traits=BOOKKEEPING))
FROM_ROWS = register(
    Op(
        "UnstackSlots",
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


def without(slots: Tensor, position: Tensor) -> Tensor:
    """Return the table with zero at ``position``."""
    made: Tensor = apply(WITHOUT, [slots, position])
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


def _is_empty(slots: Tensor) -> bool:
    return slots.node is not None and slots.node.op is EMPTY


def element(slots: Tensor, position: Tensor, like: Tensor) -> Tensor:
    """Return the gradient of the element at ``position``, which has the shape and dtype of ``like``."""
    made: Tensor = apply(GET, [slots, position, *_extents(like)], {"dtype": like.dtype, "shape": like.shape})
    return made


def stacked(slots: Tensor, like: Tensor) -> Tensor:
    """Return all gradients as the rows of one tensor, which has the shape and dtype of ``like``."""
    made: Tensor = apply(ROWS, [slots, *_extents(like)], {"dtype": like.dtype, "shape": like.shape})
    return made


def from_rows(rows: Tensor) -> Tensor:
    """Return the table whose entries are the rows of a tensor."""
    made: Tensor = apply(FROM_ROWS, [rows])
    return made


def _extents(like: Tensor) -> list[Tensor]:
    return [] if like.shape.is_fully_defined() else [ops.shape(like)]
