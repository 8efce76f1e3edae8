"""The primitives of TensorArrays; the value of a flow is a ``versioned_array.ArrayValue``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import dtypes
from ..base.dtypes import DType
from ..base.shapes import SCALAR, UNKNOWN, TensorShape
from ..ir.op import ruled_in
from ..ir.tensor import Tensor
from ..ir.traits import NO_GRADIENT, OPAQUE
from ..ops.define import primitive
from . import tensor_array_vjps as rules
from .array_buffer import ArraySpec
from .versioned_array import ArrayValue


def _flow(*_: Tensor, **__: Any) -> Any:
    return dtypes.variant, SCALAR


def _element(*_: Tensor, dtype: DType, shape: TensorShape, words: str = "") -> Any:
    return dtype, shape


def _rows(flow: Tensor, *_: Tensor, dtype: DType, shape: TensorShape, count: int | None) -> Any:
    return dtype, TensorShape([count]) + shape


def _new_kernel(size: Any, spec: ArraySpec) -> Any:
    return ArrayValue.empty(spec, int(size))


def _split_kernel(array: ArrayValue, value: Any, lengths: Any) -> Any:
    if lengths.sum() != len(value):
        raise ValueError(f"TensorArray.split: lengths {lengths.tolist()} do not add up to {len(value)} rows [AL303]")
    pieces = np.split(value, np.cumsum(lengths)[:-1]) if len(lengths) else []
    return array.write_all(range(len(lengths)), pieces)


def _concat_kernel(array: ArrayValue, dtype: DType, shape: TensorShape) -> Any:
    items = array.items(shape)
    if any(item.ndim == 0 for item in items):
        raise ValueError("TensorArray.concat: the elements are scalars; use stack [AL302]")
    return np.concatenate(items) if items else np.zeros((0, *array.extents(shape, 1)), dtype)


def _tail(shape: TensorShape) -> Sequence[int | None]:
    return shape.known[1:] if shape.rank else ()


NEW = primitive("tensor_array", _flow, _new_kernel, NO_GRADIENT, traits=OPAQUE)
WRITE = primitive(
    "tensor_array_write", _flow, lambda array, index, item: array.write(int(index), item), rules.write,
    positions=slice(1, 2), traits=OPAQUE.but(overwrites=True),
)  # fmt: skip


def _read_kernel(array: ArrayValue, index: Any, dtype: DType, shape: TensorShape) -> Any:
    return array.read(int(index), shape)


READ = primitive(
    "tensor_array_read", _element, _read_kernel, rules.read,
    positions=slice(1, 2), traits=OPAQUE.but(rematerialise=True, raises=IndexError),
)  # fmt: skip
#: with ``clear_after_read``: two reads of one index are an error, so they must not be merged
READ_ONCE = primitive("tensor_array_read_once", _element, _read_kernel, rules.read, effect=True, traits=OPAQUE)
STACK = primitive(
    "tensor_array_stack", _rows, lambda array, dtype, shape, count: array.stack(shape), rules.stack,
    traits=OPAQUE.but(overwrites=True),
)  # fmt: skip
UNSTACK = primitive(
    "tensor_array_unstack", _flow, lambda array, rows: array.unstack(rows), rules.unstack,
    traits=OPAQUE.but(overwrites=True),
)  # fmt: skip
GATHER = primitive(
    "tensor_array_gather", _rows,
    lambda array, indices, dtype, shape, count: array.gather(indices, shape), rules.gather, traits=OPAQUE,
)  # fmt: skip


def _within(array: ArrayValue, index: Any, words: str) -> int:
    """Return an index into a list; outside of that ``words`` are what Python says."""
    if not 0 <= index < array.size:
        raise IndexError(_EMPTY if words.startswith("pop") and not array.size else words)
    return int(index)


_EMPTY = "pop from empty list"
#: of lists: an element is read, with the words of the error; put in the place of another one; put before the one at an
#: index, or at the end; the last one, whose index is given, is taken off; any other one is, and those behind it move up
READ_LISTED = primitive(
    "tensor_array_read_listed", _element,
    lambda array, index, words, dtype, shape: array.read(_within(array, index, words), shape), rules.read,
    positions=slice(1, 2), traits=OPAQUE.but(raises=IndexError),
)  # fmt: skip
REPLACE = primitive(
    "tensor_array_replace", _flow,
    lambda array, index, item: array.replaced(_within(array, index, "list assignment index out of range"), item),
    rules.replace, positions=slice(1, 2), traits=OPAQUE.but(raises=IndexError),
)  # fmt: skip
INSERT = primitive(
    "tensor_array_insert", _flow, lambda array, index, item: array.inserted(int(index), item), rules.insert,
    positions=slice(1, 2), traits=OPAQUE,
)  # fmt: skip
DROP = primitive(
    "tensor_array_drop", _flow, lambda array, index, words: array.dropped(_within(array, index, words)), rules.drop,
    positions=slice(1, 2), traits=OPAQUE.but(raises=IndexError),
)  # fmt: skip
REMOVE = primitive(
    "tensor_array_remove", _flow, lambda array, index, words: array.removed(_within(array, index, words)),
    rules.remove, positions=slice(1, 2), traits=OPAQUE.but(raises=IndexError),
)  # fmt: skip
SCATTER = primitive(
    "tensor_array_scatter",
    _flow,
    lambda array, indices, rows: array.write_all(indices.tolist(), rows),
    rules.scatter,
    traits=OPAQUE.but(overwrites=True),
)
CONCAT = primitive(
    "tensor_array_concat",
    lambda flow, dtype, shape: (dtype, TensorShape([None, *_tail(shape)]) if shape.rank else UNKNOWN),
    _concat_kernel,
    rules.concat,
    traits=OPAQUE,
)
SPLIT = primitive("tensor_array_split", _flow, _split_kernel, rules.split, traits=OPAQUE)
SIZE = primitive(
    "tensor_array_size",
    lambda flow: (dtypes.int32, SCALAR),
    lambda array: np.int32(array.size),
    NO_GRADIENT,
    traits=OPAQUE,
)


ruled_in("growing_array", NEW, SIZE)
ruled_in("tensor_array_rules", WRITE, READ, READ_ONCE, STACK, UNSTACK, GATHER, SCATTER)
ruled_in("growing_array", WRITE, READ, STACK, UNSTACK, growing=True)
ruled_in("changing_lists", READ_LISTED, REPLACE, INSERT, DROP, REMOVE)
