"""What holds values of a run: TensorArrays, lists, stacks of saved values, tables of gradients, sums that grow.

Their kernels keep what they are given; here is where they would make an array of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..base.dtypes import DType, variant
from ..base.shapes import TensorShape
from ..collections import accumulators, adjoint_table, checkpoint_store, saved_stacks, tensor_array_vjps
from ..collections import tensor_array_ops as arrays
from ..collections.accumulators import Accumulator
from ..collections.adjoint_table import AdjointTable
from ..collections.versioned_array import ArrayValue
from ..ops.index import Index
from .array_namespace import Namespace
from .eager_scatters import add_at
from .eager_shapes import part
from .foreign_arrays import ForeignArray, Seen
from .foreign_rows import Call, computed

_KEPT: Mapping[str, Any] = {"when": "both", "always": True, "raw": True}

#: what keeps a value that it is given, for whoever reads it
KEEPING = frozenset(
    {
        arrays.WRITE, arrays.REPLACE, arrays.INSERT, arrays.UNSTACK, arrays.SCATTER, arrays.SPLIT, saved_stacks.PUSH,
        saved_stacks.SWAP_PUSH, checkpoint_store.ADD, adjoint_table.ADD, adjoint_table.FROM_ROWS,
        tensor_array_vjps.SCATTER, tensor_array_vjps.SPLIT,
    }
)  # fmt: skip


def may_hold(namespace: Namespace, value: Any) -> bool:
    """Return whether a value of a run is an array of a library, or may hold some."""
    if namespace.holds(value):
        return True
    if isinstance(value, ArrayValue):
        return isinstance(value, ForeignArray)
    if isinstance(value, Accumulator):
        return namespace.holds(value.array)
    if isinstance(value, saved_stacks.Stack):
        return any(may_hold(namespace, one) for one in value)
    # what is left is saved for a gradient, in whatever form
    return getattr(value, "dtype", None) is variant and not isinstance(value, saved_stacks.EmptyStack)


# -- TensorArrays and lists ---------------------------------------------------------------------------------


def _held(call: Call, array: ArrayValue, item: Any) -> ArrayValue:
    """Return an array that can hold ``item``."""
    namespace = call.namespace
    return ForeignArray.over(array, namespace, Seen(namespace, item).shape) if namespace.holds(item) else array


@computed(arrays.NEW, arrays.SIZE, tensor_array_vjps.LENGTHS, gives_numpys=True, **_KEPT)
def _new(call: Call, value: Any, **attrs: Any) -> Any:
    return call.op.kernel(value if isinstance(value, ArrayValue) else call.numpys(value), **attrs)


@computed(arrays.WRITE, arrays.REPLACE, arrays.INSERT, **_KEPT)
def _write(call: Call, array: ArrayValue, index: Any, item: Any) -> Any:
    return call.op.kernel(_held(call, array, item), call.numpys(index), item)


@computed(
    arrays.READ, arrays.READ_ONCE, arrays.READ_LISTED, arrays.DROP, arrays.REMOVE, arrays.GATHER, saved_stacks.PEEK,
    **_KEPT,
)  # fmt: skip
def _read(call: Call, array: ArrayValue, index: Any, **attrs: Any) -> Any:
    return call.op.kernel(array, call.numpys(index), **attrs)


@computed(arrays.STACK, **_KEPT)
def _stack(call: Call, array: ArrayValue, **attrs: Any) -> Any:
    return call.op.kernel(array, **attrs)


def _rows(call: Call, rows: Any) -> list[Any]:
    return [part(rows, 0, k) for k in range(rows.shape[0])]


@computed(arrays.UNSTACK, **_KEPT)
def _unstack(call: Call, array: ArrayValue, rows: Any) -> Any:
    if not call.namespace.holds(rows):
        return call.op.kernel(array, rows)
    return ForeignArray.over(array, call.namespace, tuple(rows.shape)[1:]).unstack(rows)


@computed(arrays.SCATTER, **_KEPT)
def _scatter(call: Call, array: ArrayValue, indices: Any, rows: Any) -> Any:
    places = call.numpys(indices).tolist()
    if not call.namespace.holds(rows):
        return array.write_all(places, rows)
    held = ForeignArray.over(array, call.namespace, tuple(rows.shape)[1:])
    return held.write_all(places, _rows(call, rows))


@computed(arrays.CONCAT, **_KEPT)
def _concat(call: Call, array: ArrayValue, dtype: DType, shape: TensorShape) -> Any:
    if not isinstance(array, ForeignArray):
        return call.op.kernel(array, dtype, shape)
    items = array.items(shape)
    if any(not item.shape for item in items):
        raise ValueError("TensorArray.concat: the elements are scalars; use stack [AL302]")
    if not items:
        return call.zeros((0, *array.extents(shape, 1)), dtype)
    return call.xp.concat(items, axis=0)


def _cut(rows: Any, lengths: Sequence[int]) -> list[Any]:
    """Return consecutive pieces of rows."""
    ends = np.cumsum(lengths).tolist()
    return [part(rows, 0, slice(end - length, end)) for length, end in zip(lengths, ends)]


@computed(arrays.SPLIT, **_KEPT)
def _split(call: Call, array: ArrayValue, value: Any, lengths: Any) -> Any:
    lengths = call.numpys(lengths)
    if not call.namespace.holds(value):
        return call.op.kernel(array, value, lengths)
    if lengths.sum() != value.shape[0]:
        raise ValueError(
            f"TensorArray.split: lengths {lengths.tolist()} do not add up to {value.shape[0]} rows [AL303]"
        )
    return ForeignArray.over(array, call.namespace, None).write_all(range(len(lengths)), _cut(value, lengths.tolist()))


# -- stacks and checkpoints ---------------------------------------------------------------------------------


@computed(saved_stacks.PUSH, saved_stacks.SWAP_PUSH, **_KEPT)
def _push(call: Call, stack: Any, position: Any, value: Any) -> Any:
    # a file takes NumPy's arrays only: what another library made stays in memory
    return saved_stacks.PUSH.kernel(stack, call.numpys(position), value)


@computed(
    saved_stacks.READ, checkpoint_store.ADD, checkpoint_store.GET, checkpoint_store.REWIND, checkpoint_store.INTERVAL,
    checkpoint_store.LATEST, **_KEPT,
)  # fmt: skip
def _kept(call: Call, store: Any, *values: Any, **attrs: Any) -> Any:
    return call.op.kernel(store, *[call.numpys(one) for one in values[:1]], *values[1:], **attrs)


# -- tables of gradients ------------------------------------------------------------------------------------


@computed(adjoint_table.ADD, **_KEPT)
def _add(call: Call, table: AdjointTable, position: Any, value: Any) -> Any:
    return _added(call, table, int(call.numpys(position)), value)


def _added(call: Call, table: AdjointTable, place: int, value: Any) -> AdjointTable:
    """Return a table with a value added to what is there: of the library, if either is of it."""
    old, namespace = table.get(place), call.namespace
    if old is None or isinstance(value, AdjointTable) or namespace.holds(old) == namespace.holds(value):
        return table.add(place, value)
    # both are of the library then
    return table.without(place).add(place, namespace.of(old)).add(place, namespace.of(value))


@computed(adjoint_table.WITHOUT, adjoint_table.OPENED, adjoint_table.CLOSED, **_KEPT)
def _moved(call: Call, table: AdjointTable, position: Any) -> Any:
    return call.op.kernel(table, call.numpys(position))


@computed(adjoint_table.MERGE, **_KEPT)
def _merged(call: Call, a: AdjointTable, b: AdjointTable) -> Any:
    for place, value in b.entries().items():
        a = _added(call, a, place, value)
    return a


def _shape(call: Call, dims: Any, shape: TensorShape) -> tuple[int, ...]:
    return shape.as_tuple() if dims is None else tuple(call.numpys(dims).tolist())


@computed(adjoint_table.GET, **_KEPT)
def _got(
    call: Call, table: AdjointTable, position: Any, dims: Any = None, *, dtype: DType, shape: TensorShape
) -> Any:  # fmt: skip
    found = table.get(int(call.numpys(position)))
    if found is None and dtype != variant:
        return call.zeros(_shape(call, dims, shape), dtype)
    return call.op.kernel(table, call.numpys(position), dims, dtype=dtype, shape=shape) if found is None else found


def _joined(call: Call, found: Sequence[Any], shape: tuple[int, ...], dtype: DType) -> Any:
    """Return rows, of which some are missing, as one array of a shape."""
    if not found:
        return call.zeros(shape, dtype)
    rows = [call.zeros(shape[1:], dtype) if one is None else call.namespace.of(one) for one in found]
    return call.xp.stack(rows, axis=0)


@computed(adjoint_table.ROWS, **_KEPT)
def _stacked(call: Call, table: AdjointTable, dims: Any = None, *, dtype: DType, shape: TensorShape) -> Any:
    wanted, entries = _shape(call, dims, shape), table.entries()
    return _joined(call, [entries.get(k) for k in range(wanted[0])], wanted, dtype)


@computed(adjoint_table.FROM_ROWS, **_KEPT)
def _from_rows(call: Call, rows: Any) -> Any:
    return AdjointTable(dict(enumerate(_rows(call, rows))))


@computed(tensor_array_vjps.GATHER, **_KEPT)
def _gathered(call: Call, table: AdjointTable, indices: Any, dims: Any, dtype: DType, shape: TensorShape) -> Any:
    wanted = tuple(call.numpys(dims).tolist())
    return _joined(call, [table.get(k) for k in call.numpys(indices).tolist()], wanted, dtype)


@computed(tensor_array_vjps.SCATTER, **_KEPT)
def _scattered(call: Call, indices: Any, rows: Any) -> Any:
    table = AdjointTable({})
    for index, row in zip(call.numpys(indices).tolist(), _rows(call, rows)):
        table = table.add(index, row)
    return table


@computed(tensor_array_vjps.JOIN, **_KEPT)
def _in_a_row(call: Call, table: AdjointTable, lengths: Any, dims: Any, dtype: DType, shape: TensorShape) -> Any:
    wanted = tuple(call.numpys(dims).tolist())
    counts = call.numpys(lengths).tolist()
    found = [table.get(k) for k in range(len(counts))]
    parts = [
        call.zeros((n, *wanted[1:]), dtype) if one is None else call.namespace.of(one) for one, n in zip(found, counts)
    ]
    return call.xp.concat(parts, axis=0) if parts else call.zeros(wanted, dtype)


@computed(tensor_array_vjps.SPLIT, **_KEPT)
def _taken_apart(call: Call, rows: Any, lengths: Any) -> Any:
    return AdjointTable(dict(enumerate(_cut(rows, call.numpys(lengths).tolist()))))


# -- sums that grow -----------------------------------------------------------------------------------------


def finished(total: Any) -> Any:
    """Return a sum as an array: nobody else has it."""
    return total.consumed()[()] if type(total) is Accumulator else total


@computed(accumulators.ACCUMULATE, **_KEPT)
def _accumulate(call: Call, total: Any, value: Any, state: Any = None) -> Any:
    total, namespace = finished(total), call.namespace
    if not (namespace.holds(total) or namespace.holds(value)):
        return call.op.kernel(total, value)
    if namespace.is_lazy:
        return total + value
    return call.xp.add(namespace.of(total), namespace.of(value))


@computed(accumulators.ACCUMULATE_AT, always=True, raw=True)
def _accumulate_at(call: Call, total: Any, value: Any, *inputs: Any, index: Index, state: Any = None) -> Any:
    total, namespace = finished(total), call.namespace
    if not any(namespace.holds(one) for one in (total, value, *inputs)):
        return call.op.kernel(total, value, *inputs, index=index)
    return add_at(call, total, value, *inputs, index=index)


@computed(accumulators.SETTLE, **_KEPT)
def _settle(call: Call, total: Any) -> Any:
    return finished(total)
