"""Indices and rows written with brackets: ``np.ix_``, ``np.r_``, ``np.c_``, ``np.mgrid``, ``np.ogrid``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import dtypes
from ...base.stand_ins import UnknownWhileTracing
from ...ir.tensor import Tensor
from .. import array, joining, selection
from ..operands import as_dtype, is_tensor
from .axes_of_numpy import rank_of
from .checked_operands import checked
from .counterparts import as_operand, as_operands, counterpart
from .joined_arrays import at_least
from .numpy_creation import arange
from .numpy_ranges import linspace
from .numpy_shapes import meshgrid


def _open(vectors: Any) -> tuple[Tensor, ...]:
    """Return each vector along an axis of its own."""
    return tuple([array.reshape(x, [-1 if a == k else 1 for a in range(len(vectors))]) for k, x in enumerate(vectors)])


@counterpart(np.ix_)
def ix_(*args: Any) -> Any:
    """Return ``np.ix_``."""
    made = []
    for one in args:
        x = as_operand(one)
        if rank_of(np.ix_, x) != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if x.dtype.kind == "b":
            x = selection.argwhere(x)[:, 0]
        if x.shape[0] == 0 and isinstance(one, (list, tuple)):  # an array of none keeps its dtype
            x = as_dtype(x, dtypes.int64)
        made.append(x)
    return _open(made)


def _stepped(one: slice) -> Tensor:
    """Return the numbers that a slice names; an imaginary step says how many there are."""
    start, step = 0 if one.start is None else one.start, 1 if one.step is None else one.step
    made: Any
    if isinstance(step, (complex, np.complexfloating)):
        made = linspace(as_operand(start), as_operand(one.stop), int(abs(complex(step))))
    else:
        made = arange(as_operand(start), as_operand(one.stop), as_operand(step))
    return as_operand(made)


def _turned(x: Tensor, ndmin: int, trans1d: int) -> Tensor:
    """Return an array with axes of extent 1 added, its own where ``trans1d`` has them begin."""
    rank = rank_of(np.ix_, x)
    more = ndmin - rank
    if more <= 0:
        return x
    made = at_least(x, ndmin)
    first = trans1d if trans1d >= 0 else trans1d + more + 1
    axes = list(range(ndmin))
    return made if trans1d == -1 else array.transpose(made, axes[:first] + axes[more:] + axes[first:more])


_ROWS: Any = type(np.r_).__getitem__
_GRID: Any = type(np.mgrid).__getitem__


@counterpart(_ROWS)
def rows(self: Any, key: Any) -> Any:
    """Return ``np.r_[key]`` or ``np.c_[key]``."""
    if isinstance(key, str):
        raise UnknownWhileTracing("numpy.r_ of a text takes no staged variables; use numpy.block")
    axis, ndmin, trans1d = self.axis, self.ndmin, self.trans1d
    parts: list[Any] = []
    for place, item in enumerate(key if isinstance(key, tuple) else (key,)):
        if isinstance(item, str):
            if place or item in ("r", "c"):
                raise UnknownWhileTracing(
                    f"numpy.r_ does not take the text {item!r} where tensors take part; use numpy.block"
                )
            axis, ndmin, trans1d = [*map(int, item.split(",")), ndmin, trans1d][:3] if "," in item else \
                (int(item), ndmin, trans1d)  # fmt: skip
            continue
        parts.append(_stepped(item) if isinstance(item, slice) else item)
    made = [_turned(x, ndmin, trans1d) for x in as_operands(*parts)]
    return joining.concat(made, axis)


def _check_forwards(vector: Any, start: Any, stop: Any, step: Any) -> None:
    if np.ceil((stop - start) / step) < 0:
        raise ValueError("negative dimensions are not allowed")


def _forwards(vector: Any, ends: slice) -> Any:
    """Return the points of an axis of a dense grid, which has an extent that must not be negative."""
    start, stop, step = 0 if ends.start is None else ends.start, ends.stop, 1 if ends.step is None else ends.step
    if isinstance(step, complex):  # so many points
        return vector
    if not any(map(is_tensor, (start, stop, step))):
        _check_forwards(vector, start, stop, step)
        return vector
    return checked(vector, *map(as_operand, (start, stop, step)), check=_check_forwards)


@counterpart(_GRID)
def grid(self: Any, key: Any) -> Any:
    """Return ``np.mgrid[key]`` or ``np.ogrid[key]``."""
    if isinstance(key, slice):
        return _stepped(key)
    vectors: Any = as_operands(*[_stepped(one) for one in key])
    if self.sparse:
        return _open(vectors)
    vectors = [_forwards(vector, one) for vector, one in zip(vectors, key)]
    return joining.stack(list(meshgrid(*vectors, indexing="ij")))
