"""Products, and what is solved and factorised, over arrays that are computed later."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ops.contractions import EINSUM
from ..ops.linalg import CHOLESKY, DET, DOT, INV, MATMUL, SOLVE, SQUARES
from ..ops.numpy_names.decompositions import qr_reduced
from .chunk_kernels import ChunkKernel, as_dask, blockwise, dask_array, only, whole_along
from .foreign_rows import Call, computed


def _product(a: Any, b: Any) -> Any:
    """Return the product of two chunks, with an axis for the part of the sum that it is."""
    return np.matmul(a, b)[np.newaxis]


def _whole_product(a: Any, b: Any) -> Any:
    """Return the product of two chunks that are not cut where they are summed over."""
    return np.matmul(only(a), only(b))


def _aligned(a: Any, b: Any) -> tuple[Any, Any]:
    """Return two arrays that are cut alike where they are summed over: the larger one stays as it is."""
    left, right = a.chunks[-1], b.chunks[0]
    if left == right or left != left or right != right:
        return a, b
    return (a, b.rechunk({0: left})) if a.nbytes >= b.nbytes else (a.rechunk({a.ndim - 1: right}), b)


@computed(MATMUL, DOT, when="later")
def _matmul(call: Call, a: Any, b: Any) -> Any:
    a, b = as_dask(a), as_dask(b)
    own = call.dtypes[0]
    if a.ndim > 2 or b.ndim > 2 or own.kind == "b":
        return dask_array().matmul(a, b)
    # the larger one stays as it is cut along the axis that is summed over
    if a.nbytes >= b.nbytes:
        b = b if b.chunks[0] == a.chunks[-1] else b.rechunk({0: a.chunks[-1]})
    else:
        a = a if a.chunks[-1] == b.chunks[0] else a.rechunk({a.ndim - 1: b.chunks[0]})
    # the axis that is summed over is 0, rows 1 and columns 2
    left, right = (1, 0) if a.ndim == 2 else (0,), (0, 2) if b.ndim == 2 else (0,)
    out = (*left[:-1], *right[1:])
    a, b = _aligned(a, b)
    if a.numblocks[-1] == 1 == b.numblocks[0]:
        return blockwise(call, _whole_product, out, a, left, b, right, dtype=own)
    parts = blockwise(call, _product, (0, *out), a, left, b, right, dtype=own, adjust_chunks={0: 1})
    return dask_array().sum(parts, axis=0, dtype=own)


@computed(SQUARES, when="later")
def _squares(call: Call, x: Any) -> Any:
    line = as_dask(x).ravel()
    if line.dtype.kind != "c":
        return _matmul(call, line, line)
    real, imag = line.real, line.imag
    return _matmul(call, real, real) + _matmul(call, imag, imag)


@computed(EINSUM, when="later")
def _einsum(call: Call, *xs: Any, equation: str) -> Any:
    made = dask_array().einsum(equation, *map(as_dask, xs), dtype=call.dtypes[0])
    return made if made.dtype == call.dtypes[0] else made.astype(call.dtypes[0])


@computed(INV, DET, CHOLESKY, when="later")
def _of_matrix(call: Call, x: Any) -> Any:
    x = whole_along(x, (-1, -2))
    own = tuple(range(x.ndim))
    out = own[:-2] if call.op is DET else own
    return blockwise(call, ChunkKernel(call.op, {}), out, x, own, dtype=call.dtypes[0], concatenate=True)


@computed(SOLVE, when="later")
def _solve(call: Call, a: Any, b: Any) -> Any:
    a = whole_along(as_dask(a), (-1, -2))
    b = as_dask(b)
    if b.ndim not in (1, a.ndim) or (b.ndim == 1 and a.ndim != 2):
        raise call.refused("of stacks that broadcast")
    b = whole_along(b, (0,) if b.ndim == 1 else (-2,))
    batch = tuple(range(a.ndim - 2))
    rows, columns = a.ndim, a.ndim + 1
    right, out = ((rows,), (columns,)) if b.ndim == 1 else ((*batch, rows, -1), (*batch, columns, -1))
    kernel = ChunkKernel(call.op, {})
    return blockwise(
        call, kernel, out, a, (*batch, columns, rows), b, right, dtype=call.dtypes[0], concatenate=True
    )  # fmt: skip


@computed(qr_reduced.op, when="later")
def _qr(call: Call, x: Any) -> Any:
    return dask_array().linalg.qr(x)
