"""Axes as NumPy reads and refuses them, and several of them made one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from ...ir.tensor import Tensor
from ..array import needed_rank, ravel, reshape, squeeze, transpose
from ..shape_queries import dim
from .counterparts import known


def rank_of(theirs: Any, x: Tensor) -> int:
    """Return the rank of an operand, which must be known while the graph is built."""
    return needed_rank(x, f"numpy.{theirs.__name__}")


def axes_in(theirs: Any, x: Tensor, axis: Any) -> tuple[int, ...]:
    """Return the axes that an argument ``axis`` means, none of them negative; None is all of them.

    Raises
    ------
    numpy.exceptions.AxisError
        If one is out of range.
    """
    rank = rank_of(theirs, x)
    return tuple(range(rank)) if axis is None else tuple(normalize_axis_tuple(known(theirs, axis=axis), rank))


def axis_in(theirs: Any, x: Tensor, axis: Any) -> int:
    """Return the one axis that an argument means, not negative."""
    return int(normalize_axis_index(known(theirs, axis=axis), rank_of(theirs, x)))


def flat_or_along(theirs: Any, x: Tensor, axis: Any) -> tuple[Tensor, int]:
    """Return an operand and the axis along which it is read: the flattened one where that is None."""
    return (ravel(x), 0) if axis is None else (x, axis_in(theirs, x, axis))


def part(x: Tensor, axis: int, start: Any = None, stop: Any = None, step: Any = None) -> Tensor:
    """Return a slice along an axis."""
    return x[(slice(None),) * axis + (slice(start, stop, step),)]


def spread_along(vector: Tensor, axis: int, rank: int) -> Tensor:
    """Return a vector along one axis of ``rank``, the others of extent 1."""
    form = [1] * rank
    form[axis] = -1
    return reshape(vector, form)


def together(x: Tensor, axes: Sequence[int]) -> Tensor:
    """Return ``x`` with some axes put together as the last one."""
    rank = needed_rank(x, "numpy")
    if tuple(axes) == (rank - 1,):
        return x
    if len(axes) == rank:
        return ravel(x)
    kept = [a for a in range(rank) if a not in axes]
    return reshape(transpose(x, [*kept, *axes]), [*[dim(x, a) for a in kept], -1])


def apart(made: Tensor, x: Tensor, axes: Sequence[int]) -> Tensor:
    """Return ``made`` of the form that ``together(x, axes)`` has in the form that ``x`` has."""
    rank = needed_rank(x, "numpy")
    if tuple(axes) == (rank - 1,):
        return made
    order = list(range(rank)) if len(axes) == rank else [a for a in range(rank) if a not in axes] + list(axes)
    moved = reshape(made, [dim(x, a) for a in order])
    return transpose(moved, np.argsort(order).tolist()) if order != sorted(order) else moved


def without_ones(g: Tensor, axes: Sequence[int], keepdims: bool) -> Tensor:
    """Return what was reduced with the axes of extent 1 left out that it was given in their places."""
    return squeeze(g, tuple(axes)) if keepdims and axes else g
