"""The few primitives that sparse tensors need beside the dense ones: checks, order, and the matrix product."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import ops
from ...base import dtypes
from ...base.dtypes import DType
from ...base.shapes import SCALAR, Dim, TensorShape
from ...ir.apply import apply
from ...ir.op import numpys_alone
from ...ir.tensor import Tensor
from ...ir.traits import NO_GRADIENT, OPAQUE
from ...ops.define import primitive


def check_parts(indices: Any, values: Any, dense_shape: Any) -> None:
    """Raise ``ValueError``/``IndexError`` unless the arrays are the parts of one sparse tensor."""
    if indices.shape != (len(values), len(dense_shape)):
        raise ValueError(
            f"SparseTensor: {len(values)} values in a tensor of rank {len(dense_shape)} need indices of shape "
            f"({len(values)}, {len(dense_shape)}), got {indices.shape} [AL311]"
        )
    if (dense_shape < 0).any():
        raise ValueError(f"SparseTensor: dense_shape {dense_shape.tolist()} has a negative extent [AL311]")
    wrong = ((indices < 0) | (indices >= dense_shape)).any(axis=1)
    if wrong.any():
        place = int(np.argmax(wrong))
        raise IndexError(
            f"SparseTensor: the index {indices[place].tolist()} of entry {place} is out of range for dense_shape "
            f"{dense_shape.tolist()} [AL311]"
        )


def _check_kernel(indices: Any, values: Any, dense_shape: Any) -> Any:
    check_parts(indices, values, dense_shape)
    return indices


def _order_kernel(indices: Any) -> Any:
    return np.lexsort(indices.T[::-1])


def _distinct_kernel(indices: Any) -> Any:
    order = _order_kernel(indices)
    ordered = indices[order]
    fresh = np.ones(len(ordered), np.bool_)
    fresh[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    place = np.empty(len(ordered), np.int64)
    place[order] = np.cumsum(fresh) - 1
    return ordered[fresh], place


def _agree_kernel(a: Any, b: Any) -> Any:
    if a.shape != b.shape or (a != b).any():
        raise ValueError(f"sparse tensors of shapes {a.tolist()} and {b.tolist()} do not fit each other [AL312]")
    return a


def _row_kernel(index: Any, dense_shape: Any) -> Any:
    count = int(dense_shape[0])
    if not -count <= index < count:
        raise IndexError(f"row {int(index)} is out of range for a SparseTensor of {count} rows [AL312]")
    return np.int64(index % count)


def _matmul_kernel(indices: Any, values: Any, dense_shape: Any, dense: Any, **_: Any) -> Any:
    if len(dense) != dense_shape[1]:
        raise ValueError(
            f"a SparseTensor of shape {dense_shape.tolist()} cannot be multiplied with a matrix of shape {dense.shape}"
            " [AL312]"
        )
    out = np.zeros((int(dense_shape[0]), dense.shape[1]), dense.dtype)
    rows = indices[:, 0]
    if not len(rows):
        return out
    if (rows[1:] < rows[:-1]).any():
        order = np.argsort(rows, kind="stable")
        indices, values, rows = indices[order], values[order], rows[order]
    terms = values[:, None] * dense[indices[:, 1]]
    starts = np.flatnonzero(np.concatenate([[True], rows[1:] != rows[:-1]]))
    out[rows[starts]] = np.add.reduceat(terms, starts, axis=0)
    return out


def _matmul_infer(indices: Tensor, values: Tensor, dense_shape: Tensor, dense: Tensor, rows: Dim) -> Any:
    if values.dtype != dense.dtype:
        raise TypeError(
            f"sparse.matmul: the SparseTensor has dtype {values.dtype}, the matrix {dense.dtype}; use "
            f"cast(x, {values.dtype}) [AL312]"
        )
    return dense.dtype, TensorShape([rows, dense.shape.known[1] if dense.shape.rank is not None else None])


def _matmul_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    indices, values, dense_shape, dense = inputs
    rows, columns = indices[:, 0], indices[:, 1]
    for_values = ops.sum(ops.multiply(ops.gather(g, rows), ops.conj(ops.gather(dense, columns))), 1)
    known = dense.shape.known[0] if dense.shape.rank is not None else None
    swapped = ops.gather(indices, [1, 0], axis=1)
    for_dense = apply(MATMUL, [swapped, ops.conj(values), ops.gather(dense_shape, [1, 0]), g], {"rows": known})
    return [None, for_values, None, for_dense]


def _entries(count: Dim, rank: Dim) -> tuple[DType, TensorShape]:
    return dtypes.int64, TensorShape([count, rank])


def _rank_of(indices: Tensor) -> Dim:
    return indices.shape.known[1] if indices.shape.rank is not None else None


#: the indices themselves, once they were found to be in range
CHECK = primitive("sparse_check", lambda i, v, d: (i.dtype, i.shape), _check_kernel, NO_GRADIENT, traits=OPAQUE)
#: the order in which the entries are sorted row by row
ORDER = primitive(
    "sparse_order", lambda i: (dtypes.int64, TensorShape(i.shape[:1])), _order_kernel, NO_GRADIENT, traits=OPAQUE
)
#: the different indices in order, and for each entry where its index is among them
DISTINCT = primitive(
    "sparse_distinct",
    lambda i: [_entries(None, _rank_of(i)), (dtypes.int64, TensorShape(i.shape[:1]))],
    _distinct_kernel, NO_GRADIENT, several=True,
    traits=OPAQUE,
)  # fmt: skip
#: the first dense shape, once it was found to equal the second
AGREE = primitive(
    "sparse_agree", lambda a, b: (a.dtype, a.shape.merge_with(b.shape)), _agree_kernel, NO_GRADIENT, traits=OPAQUE
)
#: the index of a row, counted from the first
ROW = primitive("sparse_row", lambda i, d: (dtypes.int64, SCALAR), _row_kernel, NO_GRADIENT, traits=OPAQUE)
MATMUL = primitive("sparse_matmul", _matmul_infer, _matmul_kernel, _matmul_vjp, traits=OPAQUE)


numpys_alone("the parts of a SparseTensor are NumPy's", CHECK, ORDER, DISTINCT, AGREE, ROW, MATMUL)
