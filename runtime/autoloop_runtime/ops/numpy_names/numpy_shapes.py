"""NumPy's functions that give the same elements in another shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.stand_ins import UnknownWhileTracing
from ...ir.tensor import Tensor
from ...ir.tracers import ArrayTracer
from .. import array as arrays
from .. import composed, diagonals, joining, shape_queries
from ..broadcasting import broadcast_static, broadcast_to
from ..extents import product
from ..operands import is_tensor
from ..shape_queries import dim, shape_of
from .counterparts import as_operand, counterpart, known, refused, unsupported
from .numpy_reductions import numpy_axes, numpy_axis
from .numpy_reductions import sum as total

_OTHER_ORDER = "what lies where in memory is not known here: write 'C' or 'F'"


def _order(theirs: Any, order: Any) -> bool:
    """Return whether the first index changes fastest."""
    if order in ("K", "A"):
        refused(theirs, "order", _OTHER_ORDER)
    if order not in (None, "C", "F"):
        raise ValueError(f"{theirs.__name__}: order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    return bool(order == "F")


@counterpart(np.reshape)
def reshape(a: Any, /, shape: Any, order: Any = "C", *, copy: Any = None) -> Tensor:
    """Return ``np.reshape``."""
    if copy is not None and not copy:
        refused(np.reshape, "copy", "leave it out: whether memory is shared is not known before the run")
    x = as_operand(a)
    if not _order(np.reshape, order):
        return arrays.reshape(x, shape)
    backwards = list(shape)[::-1] if isinstance(shape, (list, tuple)) else known(np.reshape, shape=shape)
    return arrays.transpose(arrays.reshape(arrays.transpose(x), backwards))


@counterpart(np.ravel)
def ravel(a: Any, order: Any = "C") -> Tensor:
    """Return ``np.ravel``."""
    x = as_operand(a)
    return arrays.ravel(arrays.transpose(x) if _order(np.ravel, order) else x)


@counterpart(np.rollaxis)
def rollaxis(a: Any, axis: Any, start: Any = 0) -> Tensor:
    """Return ``np.rollaxis``."""
    x = as_operand(a)
    axis, start = known(np.rollaxis, axis=axis, start=start)
    rank = len(x.shape)
    axis = np.lib.array_utils.normalize_axis_index(axis, rank)
    start = start + rank if start < 0 else start
    if not 0 <= start < rank + 1:
        raise np.exceptions.AxisError(f"'start' arg requires {-rank} <= start < {rank + 1}, but {start} was passed in")
    return arrays.moveaxis(x, axis, start - 1 if axis < start else start)


@counterpart(np.broadcast_arrays)
def broadcast_arrays(*args: Any, subok: Any = False) -> Any:
    """Return ``np.broadcast_arrays``."""
    parts = [as_operand(one) for one in args]
    unsupported(np.broadcast_arrays, subok=subok)
    static = broadcast_static("broadcast_arrays", *parts)
    if not static.is_fully_defined():
        raise UnknownWhileTracing(
            "numpy.broadcast_arrays: the shapes of the arrays must be known; use numpy.broadcast_to"
        )
    return tuple([broadcast_to(part, static.as_tuple()) for part in parts])


@counterpart(np.meshgrid)
def meshgrid(*xi: Any, copy: Any = True, sparse: Any = False, indexing: Any = "xy") -> Any:
    """Return ``np.meshgrid``."""
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    vectors = [arrays.ravel(as_operand(one)) for one in xi]
    if not sparse:
        return tuple(composed.meshgrid(*vectors, indexing=indexing))
    order = list(range(len(vectors)))
    if indexing == "xy" and len(vectors) > 1:
        order[:2] = [1, 0]
    return tuple(
        [
            arrays.reshape(one, [-1 if k == place else 1 for k in range(len(order))])
            for place, one in zip(order, vectors)
        ]
    )


@counterpart(getattr(np, "unstack", None))
def unstack(x: Any, /, *, axis: Any = 0) -> Any:
    """Return ``np.unstack``."""
    x = as_operand(x)
    place = numpy_axis(np.unstack, axis, x)
    return tuple(joining.unstack(x, axis=place))


@counterpart(np.squeeze)
def squeeze(a: Any, axis: Any = None) -> Tensor:
    """Return ``np.squeeze``."""
    x = as_operand(a)
    return arrays.squeeze(x, None if axis is None else numpy_axes(np.squeeze, axis, x))


@counterpart(np.shape)
def shape(a: Any) -> Any:
    """Return ``np.shape``: Python ints where they are known."""
    x = as_operand(a)
    if x.shape.rank is None and isinstance(a, ArrayTracer):
        raise UnknownWhileTracing("np.shape: how many axes the array has, only the run knows")
    found = shape_of(x)
    return found if is_tensor(found) else tuple(found)


@counterpart(np.ndim)
def ndim(a: Any) -> int:
    """Return ``np.ndim``."""
    return as_operand(a).ndim


@counterpart(np.size)
def size(a: Any, axis: Any = None) -> Any:
    """Return ``np.size``: a Python int where it is known."""
    x = as_operand(a)
    if axis is None and not x.shape.is_fully_defined():
        return shape_queries.size(x)
    axes = range(len(x.shape)) if axis is None else numpy_axes(np.size, axis, x) or ()
    extents = [dim(x, place) for place in axes]
    if not any(map(is_tensor, extents)):
        return product(extents)
    total: Any = 1
    for extent in extents:
        total = total * extent
    return total


def _diagonal(theirs: Any, a: Any, offset: Any, axis1: Any, axis2: Any) -> Tensor:
    x = as_operand(a)
    offset, axis1, axis2 = known(theirs, offset=offset, axis1=axis1, axis2=axis2)
    if len(x.shape) < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    first, second = (np.lib.array_utils.normalize_axis_index(place, len(x.shape)) for place in (axis1, axis2))
    if first == second:
        raise ValueError("axis1 and axis2 cannot be the same")
    if (first, second) != (len(x.shape) - 2, len(x.shape) - 1):
        x = arrays.moveaxis(x, (first, second), (-2, -1))
    return diagonals.diagonal(x, offset)


@counterpart(np.diagonal)
def diagonal(a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Tensor:
    """Return ``np.diagonal``."""
    return _diagonal(np.diagonal, a, offset, axis1, axis2)


@counterpart(np.trace)
def trace(
    a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None, out: Any = None
) -> Tensor:  # fmt: skip
    """Return ``np.trace``."""
    unsupported(np.trace, out=out)
    return total(_diagonal(np.trace, a, offset, axis1, axis2), -1, dtype)
