"""Gradients of TensorArrays: what flows back into a flow is a adjoint table, one per element.

An element is written once, so the gradient of an array is, at every other index, the gradient of the array
before the write: ``write`` hands the table on as it is, in constant time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import ops
from ..base import dtypes
from ..base.shapes import SCALAR, TensorShape
from ..ir.apply import apply
from ..ir.op import ruled_in
from ..ir.tensor import Tensor
from ..ir.traits import NO_GRADIENT, OPAQUE
from ..ops.define import primitive
from . import adjoint_table
from .adjoint_table import AdjointTable


def _variant(*_: Tensor, **__: Any) -> Any:
    return dtypes.variant, SCALAR


def _like(*inputs: Tensor, dtype: Any, shape: TensorShape) -> Any:
    return dtype, shape


def _gather_kernel(table: AdjointTable, indices: Any, dims: Any, dtype: Any, shape: TensorShape) -> Any:
    out = np.zeros(tuple(dims.tolist()), dtype)
    for row, index in enumerate(indices.tolist()):
        found = table.get(index)
        if found is not None:
            out[row] = found
    return out


def _scatter_kernel(indices: Any, rows: Any) -> Any:
    table = AdjointTable({})
    for index, row in zip(indices.tolist(), rows):
        table = table.add(index, row)
    return table


def _join_kernel(table: AdjointTable, lengths: Any, dims: Any, dtype: Any, shape: TensorShape) -> Any:
    out = np.zeros(tuple(dims.tolist()), dtype)
    start = 0
    for index, length in enumerate(lengths.tolist()):
        found = table.get(index)
        if found is not None:
            out[start : start + length] = found
        start += length
    return out


def _split_kernel(rows: Any, lengths: Any) -> Any:
    return AdjointTable(dict(enumerate(np.split(rows, np.cumsum(lengths)[:-1]) if len(lengths) else [])))


GATHER = primitive(
    "gather_adjoints", _like, _gather_kernel,
    lambda g, outputs, inputs, attrs: [scatter_adjoints(inputs[1], g), None, None], traits=OPAQUE,
)  # fmt: skip
SCATTER = primitive(
    "scatter_adjoints", _variant, _scatter_kernel,
    lambda g, outputs, inputs, attrs: [None, gather_adjoints(g, inputs[0], inputs[1])], traits=OPAQUE,
)  # fmt: skip
JOIN = primitive(
    "join_adjoints", _like, _join_kernel,
    lambda g, outputs, inputs, attrs: [split_adjoints(g, inputs[1]), None, None], traits=OPAQUE,
)  # fmt: skip
SPLIT = primitive(
    "split_adjoints", _variant, _split_kernel,
    lambda g, outputs, inputs, attrs: [join_adjoints(g, inputs[1], inputs[0]), None], traits=OPAQUE,
)  # fmt: skip
LENGTHS = primitive(
    "tensor_array_lengths", lambda flow: (dtypes.int64, TensorShape([None])),
    lambda array: np.array(array.lengths(), np.int64), NO_GRADIENT, traits=OPAQUE,
)  # fmt: skip


def gather_adjoints(table: Tensor, indices: Tensor, like: Tensor) -> Tensor:
    """Return the gradients at ``indices`` as rows; ``like`` has their shape and dtype."""
    attrs = {"dtype": like.dtype, "shape": like.shape}
    made: Tensor = apply(GATHER, [table, indices, ops.shape(like)], attrs)
    return made


def scatter_adjoints(indices: Tensor, rows: Tensor) -> Tensor:
    """Return the table with ``rows`` added at ``indices``."""
    made: Tensor = apply(SCATTER, [indices, rows])
    return made


def join_adjoints(table: Tensor, lengths: Tensor, like: Tensor) -> Tensor:
    """Return the gradients one after another, each of its length; ``like`` has the shape and dtype of the result."""
    attrs = {"dtype": like.dtype, "shape": like.shape}
    made: Tensor = apply(JOIN, [table, lengths, ops.shape(like)], attrs)
    return made


def split_adjoints(rows: Tensor, lengths: Tensor) -> Tensor:
    """Return the table whose entries are consecutive pieces of ``rows``."""
    made: Tensor = apply(SPLIT, [rows, lengths])
    return made


# -- the rules of the primitives of TensorArray ---------------------------------------------------------------

_Tensors = Sequence[Tensor]


def write(g: Tensor, outputs: _Tensors, inputs: _Tensors, attrs: Any) -> Any:
    """Return the gradients of ``(array, index, item)``."""
    return [g, None, adjoint_table.element(g, inputs[1], inputs[2])]


def replace(g: Tensor, outputs: _Tensors, inputs: _Tensors, attrs: Any) -> Any:
    """Return the gradients of ``(array, index, item)``: what was there before has none."""
    _, index, item = inputs
    return [adjoint_table.without(g, index), None, adjoint_table.element(g, index, item)]


def insert(g: Tensor, outputs: _Tensors, inputs: _Tensors, attrs: Any) -> Any:
    """Return the gradients of ``(array, index, item)``."""
    _, index, item = inputs
    return [adjoint_table.closed(g, index), None, adjoint_table.element(g, index, item)]


def drop(g: Tensor, outputs: _Tensors, inputs: _Tensors, attrs: Any) -> Any:
    """Return the gradients of ``(array, index)``; the table may have an entry there, of what was written later."""
    return [adjoint_table.without(g, inputs[1]), None]


def remove(g: Tensor, outputs: _Tensors, inputs: _Tensors, attrs: Any) -> Any:
    """Return the gradients of ``(array, index)``."""
    return [adjoint_table.opened(g, inputs[1]), None]


def read(g: Tensor, outputs: _Tensors, inputs: _Tensors, attrs: Any) -> Any:
    """Return the gradients of ``(array, index)``."""
    return [adjoint_table.single(inputs[1], g), None]


def stack(g: Tensor, outputs: _Tensors, inputs: _Tensors, attrs: Any) -> Any:
    """Return the gradients of ``(array,)``."""
    return [adjoint_table.from_rows(g)]


def unstack(g: Tensor, outputs: _Tensors, inputs: _Tensors, attrs: Any) -> Any:
    """Return the gradients of ``(array, rows)``; the table may have entries behind the rows, written later."""
    rows = inputs[1]
    return [g, gather_adjoints(g, ops.range(ops.shape(rows)[0]), rows)]


def gather(g: Tensor, outputs: _Tensors, inputs: _Tensors, attrs: Any) -> Any:
    """Return the gradients of ``(array, indices)``."""
    return [scatter_adjoints(inputs[1], g), None]


def scatter(g: Tensor, outputs: _Tensors, inputs: _Tensors, attrs: Any) -> Any:
    """Return the gradients of ``(array, indices, rows)``."""
    return [g, None, gather_adjoints(g, inputs[1], inputs[2])]


def concat(g: Tensor, outputs: _Tensors, inputs: _Tensors, attrs: Any) -> Any:
    """Return the gradients of ``(array,)``."""
    return [split_adjoints(g, apply(LENGTHS, [inputs[0]]))]


def split(g: Tensor, outputs: _Tensors, inputs: _Tensors, attrs: Any) -> Any:
    """Return the gradients of ``(array, rows, lengths)``."""
    return [g, join_adjoints(g, inputs[2], inputs[1]), None]


ruled_in("adjoint_rules", GATHER, SCATTER)
ruled_in("growing_table", GATHER, SCATTER, growing=True)
