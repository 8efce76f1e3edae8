"""NumPy's running sums and products: small integers add up in 64 bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.dtypes import of_numbers
from ...ir.tensor import Tensor
from .. import running_sums
from ..array import ravel
from ..filled import full
from ..joining import concat
from ..operands import as_dtype
from ..shape_queries import dim
from .counterparts import as_operand, counterpart, known, unsupported
from .numpy_reductions import numpy_axis, wide


def _along(theirs: Any, ours: Any, a: Any, axis: Any, dtype: Any, out: Any) -> Tensor:
    unsupported(theirs, out=out)
    x = as_operand(a)
    x = as_dtype(x, wide(x.dtype) if dtype is None else of_numbers(dtype))
    if known(theirs, axis=axis) is None:
        x, axis = ravel(x), 0
    place = numpy_axis(theirs, axis, x)
    return as_dtype(ours(ravel(x) if x.shape.rank == 0 else x, place), x.dtype)


@counterpart(np.cumsum)
def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Tensor:
    """Return ``np.cumsum``."""
    return _along(np.cumsum, running_sums.cumsum, a, axis, dtype, out)


@counterpart(np.cumprod)
def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Tensor:
    """Return ``np.cumprod``."""
    return _along(np.cumprod, running_sums.cumprod, a, axis, dtype, out)


def _from_the_start(
    theirs: Any, ours: Any, first: Any, x: Any, axis: Any, dtype: Any, out: Any, initial: Any
) -> Tensor:
    x = as_operand(x)
    if axis is None and x.shape.rank == 0:
        x = ravel(x)
    if axis is None:
        if x.ndim != 1:
            raise ValueError(
                f"{theirs.__name__}: For arrays which have more than one dimension ``axis`` argument is required."
            )
        axis = 0
    made = _along(theirs, ours, x, axis, dtype, out)
    if not initial:
        return made
    place = numpy_axis(theirs, axis, x)
    extents = [1 if k == place else dim(made, k) for k in range(len(made.shape))]
    begin = full(extents, first, made.dtype)
    return concat([begin, made], place)


@counterpart(getattr(np, "cumulative_sum", None))
def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: Any = False
) -> Tensor:
    """Return ``np.cumulative_sum``."""
    return _from_the_start(np.cumulative_sum, running_sums.cumsum, 0, x, axis, dtype, out, include_initial)


@counterpart(getattr(np, "cumulative_prod", None))
def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: Any = False
) -> Tensor:
    """Return ``np.cumulative_prod``."""
    return _from_the_start(np.cumulative_prod, running_sums.cumprod, 1, x, axis, dtype, out, include_initial)
