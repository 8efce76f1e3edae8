"""Arrays that are made of few numbers, diagonals, and order, over arrays that are computed later."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ops.array import RESHAPE
from ..ops.creation import LINSPACE, RANGE
from ..ops.diagonals import DIAGONAL, EMBED
from ..ops.filled import FILL
from ..ops.placing import PLACE
from ..ops.repeating import REPEAT
from ..ops.running_sums import CUMPROD, CUMSUM, SUM_BETWEEN
from ..ops.sorting import ARGSORT, BINCOUNT, SEARCHSORTED, SORT, UNIQUE
from .chunk_kernels import ChunkKernel, along, as_dask, blockwise, dask_array, reshaped
from .eager_shapes import exact_shape, extents, shape_of
from .foreign_rows import Call, absent_later, computed


@computed(RESHAPE, when="later", hosts=slice(1, None))
def _reshape(call: Call, x: Any, dims: Any = None, *, known: Any) -> Any:
    return reshaped(x, exact_shape(call, x, dims, known))


@computed(FILL, when="later", hosts=slice(1, None))
def _fill(call: Call, value: Any, dims: Any = None, *, known: Any, aligned: bool = False) -> Any:
    return dask_array().broadcast_to(value, extents(known, dims), chunks="auto")


absent_later("how many elements there are depends on numbers that are not computed yet", RANGE)
absent_later("dask.array has no function for it", PLACE)


@computed(LINSPACE, when="later")
def _linspace(call: Call, start: Any, stop: Any, num: int) -> Any:
    return blockwise(
        call, ChunkKernel(call.op, {"num": num}), (0,), as_dask(start), (), as_dask(stop), (), dtype=call.dtypes[0],
        new_axes={0: num},
    )  # fmt: skip


@computed(DIAGONAL, when="later")
def _diagonal(call: Call, x: Any, k: int) -> Any:
    return dask_array().diagonal(x, k, -2, -1)


@computed(EMBED, when="later", hosts=slice(1, None))
def _embed(call: Call, d: Any, dims: Any = None, *, known: Any, k: int) -> Any:
    shape = extents(known, dims)
    if d.ndim != 1 or shape != (d.shape[0] + abs(k),) * 2:
        raise call.refused("of other matrices than square ones")
    return dask_array().diag(d, k)


@computed(REPEAT, when="later", hosts=slice(1, 2))
def _repeat(call: Call, x: Any, repeats: Any, axis: int) -> Any:
    axis %= x.ndim
    return x[(*[slice(None)] * axis, np.repeat(np.arange(shape_of(call, x)[axis]), repeats))]


# -- order --------------------------------------------------------------------------------------------------


@computed(CUMSUM, CUMPROD, when="later")
def _running(call: Call, x: Any, axis: int, exclusive: bool, reverse: bool) -> Any:
    axis %= x.ndim
    if exclusive or reverse:
        return along(call, (axis,), x, dtype=call.dtypes[0], axis=axis, exclusive=exclusive, reverse=reverse)
    run = dask_array().cumsum if call.op is CUMSUM else dask_array().cumprod
    return run(x, axis=axis, dtype=call.dtypes[0])


@computed(SUM_BETWEEN, when="later")
def _between(call: Call, a: Any, b: Any, axis: int, reverse: bool) -> Any:
    return along(call, (axis,), a, b, dtype=call.dtypes[0], axis=axis, reverse=reverse)


@computed(SORT, ARGSORT, when="later")
def _sort(call: Call, x: Any, axis: int, descending: bool, kind: Any) -> Any:
    return along(call, (axis,), x, dtype=call.dtypes[0], axis=axis, descending=descending, kind=kind)


@computed(SEARCHSORTED, when="later")
def _search(call: Call, a: Any, v: Any, *sorter: Any, side: str) -> Any:
    a, v = as_dask(a).rechunk(-1), as_dask(v)
    own = tuple(range(1, v.ndim + 1))
    more = [one for array in sorter for one in (as_dask(array).rechunk(-1), (0,))]
    kernel = _Searched(side)
    return blockwise(call, kernel, own, a, (0,), v, own, *more, dtype=call.dtypes[0], concatenate=True)


class _Searched:
    """``np.searchsorted`` of one side, as it is sent."""

    __name__ = "searchsorted"

    def __init__(self, side: str) -> None:
        self.side: Any = side

    def __call__(self, a: Any, v: Any, *sorter: Any) -> Any:
        return np.asarray(np.searchsorted(a, v, self.side, *sorter))


@computed(UNIQUE, when="later")
def _unique(call: Call, x: Any) -> Any:
    return dask_array().unique(x)


@computed(BINCOUNT, when="later")
def _bincount(call: Call, x: Any, minlength: int) -> Any:
    made = dask_array().bincount(x, minlength=minlength)
    return made.astype(call.dtypes[0])
