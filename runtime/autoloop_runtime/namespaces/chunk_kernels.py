"""Ops over arrays of ``dask.array``: which of its functions build their graph, and NumPy's kernels on its chunks.

Nothing here computes. What is built has a dtype, the shape where that is known, and a name of its own: to find equal
names by the contents, as ``dask`` does otherwise, takes longer than all the rest.
"""

from __future__ import annotations

import functools
import importlib
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base.dtypes import DType
from ..ir.op import Op
from ..saving.op_table import op_named
from .foreign_rows import Call, by_chunks


class ChunkKernel:
    """NumPy's kernel of an op, as it is sent to those who compute chunks.

    Parameters
    ----------
    op : Op
        Of the table: another process finds it by its name.
    attrs : mapping
    """

    __slots__ = ("_attrs", "_kernel", "_op")

    def __init__(self, op: Op, attrs: Any) -> None:
        self._op, self._attrs = op, dict(attrs)
        self._kernel: Callable[..., Any] = functools.partial(op.kernel, **attrs) if attrs else op.kernel

    def __call__(self, *chunks: Any) -> Any:
        # an operand without axes is a chunk without axes: to NumPy's kernels it is a scalar
        return self._kernel(
            *[chunk[()] if isinstance(chunk, np.ndarray) and not chunk.ndim else chunk for chunk in chunks]
        )

    @property
    def __name__(self) -> str:
        return self._op.name

    def __dask_tokenize__(self) -> Any:
        return ("autoloop", self._op.name, repr(sorted(self._attrs.items())))

    def __reduce__(self) -> Any:
        return _found, (self._op.name, self._attrs)


@functools.lru_cache(maxsize=1)
def dask_array() -> Any:
    """Return ``dask.array``, which is there: somebody has one of its arrays."""
    return importlib.import_module("dask.array")


def _found(name: str, attrs: Any) -> ChunkKernel:
    op = op_named(name)
    assert op is not None
    return ChunkKernel(op, attrs)


def fresh_name(what: str) -> str:
    """Return a name that no other array has."""
    return f"{what}-{uuid.uuid4().hex}"


def meta_of(rank: int, dtype: DType) -> Any:
    """Return an array of no elements, as ``dask`` keeps one of each array of its own."""
    return np.empty((0,) * rank, dtype)


def blockwise(
    call: Call, kernel: Callable[..., Any], out: Sequence[int], *pairs: Any, dtype: DType, **more: Any
) -> Any:
    """Return what a kernel gives of chunks that lie beside each other; see ``dask.array.blockwise``."""
    return dask_array().blockwise(
        kernel, tuple(out), *pairs, name=fresh_name(call.op.name), dtype=dtype, meta=meta_of(len(out), dtype), **more
    )


def only(chunk: Any) -> Any:
    """Return the one chunk along axes that a result has not: ``dask`` hands it over in a list for each of them.

    It would put lists together to one array, which copies the chunk.
    """
    while isinstance(chunk, list):
        (chunk,) = chunk
    return chunk


def as_dask(value: Any, chunks: Any = -1) -> Any:
    """Return an array of NumPy's as one of ``dask``."""
    da = dask_array()
    if isinstance(value, da.Array):
        return value
    return da.from_array(
        np.asarray(value), chunks=chunks, name=fresh_name("array"), meta=meta_of(np.ndim(value), value.dtype)
    )


def elementwise(call: Call, kernel: Callable[..., Any], values: Sequence[Any], dtype: DType) -> Any:
    """Return what a kernel gives of elements that lie beside each other, of operands that broadcast."""
    # says what does not fit, as Dask's own functions do, in NumPy's words
    rank = len(dask_array().core.broadcast_shapes(*[value.shape for value in values]))
    pairs: list[Any] = []
    for value in values:
        if isinstance(value, (np.ndarray, np.generic)) and not np.ndim(value):
            pairs += [np.asarray(value)[()], None]
        else:
            array = as_dask(value)
            pairs += [array, tuple(range(array.ndim))[::-1]]
    return blockwise(call, kernel, range(rank)[::-1], *pairs, dtype=dtype)


@by_chunks
def chunkwise(call: Call, *values: Any, **attrs: Any) -> Any:
    """Compute an element-wise op by NumPy's kernel, chunk by chunk."""
    return elementwise(call, ChunkKernel(call.op, attrs), values, call.dtypes[0])


def reshaped(x: Any, shape: tuple[int, ...]) -> Any:
    """Return an array in another shape."""
    da = dask_array()
    try:
        return da.reshape(x, shape)
    except NotImplementedError:  # where axes are neither joined nor split: they are joined first
        return da.reshape(da.reshape(x, (-1,)), shape)


def whole_along(x: Any, axes: Sequence[int]) -> Any:
    """Return an array each chunk of which has the whole of some axes."""
    axes = [a % x.ndim for a in axes] if x.ndim else []
    return x.rechunk(dict.fromkeys(axes, -1)) if any(x.numblocks[a] > 1 for a in axes) else x


def along(call: Call, axes: Sequence[int], *values: Any, dtype: DType, **attrs: Any) -> Any:
    """Compute an op by NumPy's kernel on chunks that have the whole of some axes; all operands have the shape of the
    result."""
    first = next(value for value in values if call.namespace.holds(value))
    arrays = [whole_along(as_dask(value, first.chunks), axes) for value in values]
    own = tuple(range(first.ndim))
    return blockwise(call, ChunkKernel(call.op, attrs), own, *[one for x in arrays for one in (x, own)], dtype=dtype)
