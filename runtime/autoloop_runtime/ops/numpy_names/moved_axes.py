"""The same elements in another order or more often: axes moved, turned and cut to what is not zero."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from ...base import dtypes
from ...base.shapes import TensorShape
from ...base.stand_ins import UnknownWhileTracing
from ...ir.tensor import Tensor
from ...ir.traits import NO_GRADIENT
from .. import array, creation, filled, gathering, indexing, logic, selection, shape_queries
from ..extents import extents, product
from ..operands import weak_type
from ..shape_queries import dim
from .axes_of_numpy import axes_in, rank_of
from .counterparts import as_operand, counterpart, known, unsupported
from .library_rows import LIBRARY, library


@counterpart(np.rot90)
def rot90(m: Any, k: Any = 1, axes: Any = (0, 1)) -> Any:
    """Return ``np.rot90``."""
    x = as_operand(m)
    rank = rank_of(np.rot90, x)
    axes = tuple(known(np.rot90, axes=axes))
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    if axes[0] == axes[1] or abs(axes[0] - axes[1]) == rank:
        raise ValueError("Axes must be different.")
    if not all(-rank <= a < rank for a in axes):
        raise ValueError(f"Axes={axes} out of range for array of ndim={rank}.")
    turns = known(np.rot90, k=k) % 4
    first, second = [a % rank for a in axes]
    if turns in (0, 2):
        return array.flip(x, (first, second)) if turns else x
    if turns == 1:
        return array.swapaxes(array.flip(x, second), first, second)
    return array.flip(array.swapaxes(x, first, second), second)


@counterpart(np.fliplr)
def fliplr(m: Any) -> Any:
    """Return ``np.fliplr``."""
    x = as_operand(m)
    if rank_of(np.fliplr, x) < 2:
        raise ValueError("Input must be >= 2-d.")
    return array.flip(x, 1)


@counterpart(np.flipud)
def flipud(m: Any) -> Any:
    """Return ``np.flipud``."""
    x = as_operand(m)
    if rank_of(np.flipud, x) < 1:
        raise ValueError("Input must be >= 1-d.")
    return array.flip(x, 0)


_NEGATIVE = "all elements of `new_shape` must be non-negative"


def _checked_count(shape: Any) -> Any:
    if np.any(shape < 0):
        raise ValueError(_NEGATIVE)
    return np.prod(shape, dtype=np.int64)


_count_of = library(
    "count_of_resized", _checked_count, lambda shape: [], NO_GRADIENT, dtype=lambda shape: dtypes.int64,
    traits=LIBRARY.but(raises=ValueError),
)  # fmt: skip


@counterpart(np.resize)
def resize(a: Any, new_shape: Any) -> Any:
    """Return ``np.resize``."""
    x = array.ravel(as_operand(a))
    wanted = extents(new_shape, "numpy.resize")
    if wanted.known is not None and any(d is not None and d < 0 for d in wanted.known):
        raise ValueError(_NEGATIVE)
    count = None if wanted.known is None else product(wanted.known)
    have = dim(x, 0)
    if have == 0:
        return filled.zeros(new_shape, x.dtype)
    if count is not None and isinstance(have, int):
        return array.reshape(gathering.gather(x, np.arange(count) % have), new_shape)
    number = count if count is not None else _count_of(wanted.inputs[0])
    return array.reshape(gathering.gather(x, creation.range(number) % have), new_shape)


def _ends_of_nonzero(x: Any) -> Any:
    """Return the first and the last place, along each axis, at which something is not zero, and what follows."""
    places = np.argwhere(x)
    if not len(places):
        return np.zeros((2, x.ndim), np.int64)
    return np.stack([places.min(axis=0), places.max(axis=0) + 1])


_nonzero_ends = library(
    "ends_of_nonzero", _ends_of_nonzero, lambda x: TensorShape([2, x.shape.rank]), NO_GRADIENT,
    dtype=lambda x: dtypes.int64,
)  # fmt: skip


@counterpart(np.trim_zeros)
def trim_zeros(filt: Any, trim: Any = "fb", axis: Any = None) -> Any:
    """Return ``np.trim_zeros``."""
    if isinstance(filt, list | tuple):
        raise UnknownWhileTracing(
            "np.trim_zeros of a list or tuple gives one, of a length that here only the run knows: make an array of it "
            "before, np.trim_zeros(np.array(v))"
        )
    if weak_type(filt) is not None:
        raise UnknownWhileTracing("what np.trim_zeros makes of a number of Python's depends on the version of NumPy")
    x = as_operand(filt)
    trim = known(np.trim_zeros, trim=trim).lower()
    if trim not in ("fb", "bf", "f", "b"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    axes = axes_in(np.trim_zeros, x, axis)
    if not axes:
        return x
    ends = _nonzero_ends(x)
    nothing = logic.equal(ends[1, 0], 0)
    cuts: list[Any] = [slice(None)] * len(x.shape)
    for a in axes:
        start = ends[0, a] if "f" in trim else 0
        stop = ends[1, a] if "b" in trim else selection.where(nothing, 0, dim(x, a))
        cuts[a] = slice(start, stop)
    made = x[tuple(cuts)]
    return made


def _windows_shape(x: Tensor, size: int, axis: int) -> Any:
    known_extents = list(x.shape.known)
    extent = known_extents[axis]
    if extent is not None and extent < size:
        raise ValueError("window shape cannot be larger than input array shape")
    known_extents[axis] = None if extent is None else extent - size + 1
    return [*known_extents, size]


def _windows_vjp(g: Tensor, outputs: Any, inputs: Any, attrs: Any) -> Any:
    x, axis, size = inputs[0], attrs["axis"], attrs["size"]
    starts = array.expand_dims(creation.range(dim(x, axis) - size + 1), 1)
    places = starts + np.arange(size)
    g = array.moveaxis(g, -1, axis + 1)
    return [indexing.index_add(shape_queries.shape(x), (slice(None),) * axis + (places,), g, static=x.shape)]


_windows = library(
    "sliding_windows",
    lambda x, size, axis: np.lib.stride_tricks.sliding_window_view(x, size, axis), _windows_shape, _windows_vjp,
    dtype=lambda x, size, axis: x.dtype, traits=LIBRARY,
)  # fmt: skip


@counterpart(np.lib.stride_tricks.sliding_window_view)
def sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: Any = False, writeable: Any = False
) -> Any:
    """Return ``np.lib.stride_tricks.sliding_window_view``."""
    theirs = np.lib.stride_tricks.sliding_window_view
    unsupported(theirs, subok=subok, writeable=writeable)
    view = as_operand(x)
    sizes = known(theirs, window_shape=window_shape)
    sizes = tuple(sizes) if np.iterable(sizes) else (sizes,)
    if min(sizes, default=0) < 0:
        raise ValueError("`window_shape` cannot contain negative values")
    rank = rank_of(theirs, view)
    if axis is None:
        axes: Any = tuple(range(rank))
        if len(sizes) != rank:
            raise ValueError(
                f"Since axis is None, must provide window_shape for all dimensions of `x`; got {len(sizes)} "
                f"window_shape elements and `x.ndim` is {rank}."
            )
    else:
        axes = known(theirs, axis=axis)
        axes = tuple([normalize_axis_index(a, rank) for a in (axes if np.iterable(axes) else (axes,))])
        if len(sizes) != len(axes):
            raise ValueError(
                f"Must provide matching length window_shape and axis; got {len(sizes)} window_shape elements and "
                f"{len(axes)} axes elements."
            )
    for along, size in zip(axes, sizes):
        view = _windows(view, size=int(size), axis=along)
    return view
