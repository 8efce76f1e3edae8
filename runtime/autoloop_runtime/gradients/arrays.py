"""Gradient rules of TensorArrays.

The gradient of an array's flow is a table of slots (``slots``). Since an index is written once, the gradient of a
written value is the slot at its index, and that of the array before is the same table: what was read there before it
was written came from nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..array_values import ArrayValue
from ..graph import apply
from ..registry import OPS, Op, register
from ..shapes import TensorShape
from ..tensor import Tensor
from . import slots


def _peek(array: ArrayValue, index: Any, dtype: Any, shape: TensorShape) -> Any:
    with array._buffer.lock:
        return array._get(int(index), shape)


def _lengths(array: ArrayValue) -> Any:
    with array._buffer.lock:
        return np.array([len(array._get(i, TensorShape(None))) for i in range(array.size)], np.int64)


#: reading what the forward pass has read before, which does not count as a second read
PEEK = register(
    Op("PeekArray", lambda *_, dtype, shape: (dtype, shape), _peek, lambda g, outputs, inputs, attrs: _read(g, inputs))
)
LENGTHS = register(
    Op("ArrayLengths", lambda flow: (dtypes.int64, TensorShape([None])), _lengths, doc="of elements to be joined")
)


def _write(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    _, index, item = inputs
    return [g, None, slots.element(g, index, item)]


def _read(g: Tensor, inputs: Sequence[Tensor]) -> Any:
    return [slots.single(inputs[1], g), None]


def _unstack(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    return [g, slots.stacked(g, inputs[1])]


def _gather(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    return [slots.scattered(inputs[1], g), None]


def _scatter(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    _, indices, rows = inputs
    return [g, None, slots.gathered(g, indices, rows)]


def _concat(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    return [slots.split(g, apply(LENGTHS, [inputs[0]]))]


def _split(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    _, rows, lengths = inputs
    return [g, slots.joined(g, lengths, rows), None]


RULES: dict[Op, Callable[..., Any]] = {
    OPS["tensor_array_write"]: _write,
    OPS["tensor_array_read"]: lambda g, outputs, inputs, attrs: _read(g, inputs),
    OPS["tensor_array_stack"]: lambda g, outputs, inputs, attrs: [slots.from_rows(g)],
    OPS["tensor_array_unstack"]: _unstack,
    OPS["tensor_array_gather"]: _gather,
    OPS["tensor_array_scatter"]: _scatter,
    OPS["tensor_array_concat"]: _concat,
    OPS["tensor_array_split"]: _split,
}
