"""Arrays put together and taken apart: appended, inserted, deleted, stacked, in blocks, split."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ...base import dtypes
from ...base.dtypes import of_numbers
from ...base.stand_ins import cast_refused
from ...ir.convert import as_constant
from ...ir.tensor import Tensor
from ...ir.traits import NO_GRADIENT
from .. import array, bounds, broadcasting, gathering, joining, reducing
from ..operands import as_dtype, is_tensor
from ..shape_queries import dim
from .axes_of_numpy import axis_in, flat_or_along, part, rank_of
from .counterparts import as_operand, counterpart, known
from .data_checks import equal_extents
from .library_rows import Library, library
from .numpys_warnings import warn_as_numpy


def _listed(values: Any) -> list[Tensor]:
    """Return the arrays of a sequence, or the rows of one."""
    if is_tensor(values):
        return list(joining.unstack(values))
    return [as_operand(value) for value in values]


def _joined(parts: Sequence[Tensor], axis: int, dtype: Any = None, casting: Any = "same_kind") -> Tensor:
    """Return arrays joined in their common dtype, or another that they may be cast to."""
    if not parts:
        raise ValueError("need at least one array to concatenate")
    wanted = np.result_type(*[p.dtype for p in parts]) if dtype is None else of_numbers(dtype)
    for p in parts:
        if not np.can_cast(p.dtype, wanted, casting):
            raise cast_refused(np.dtype(p.dtype), wanted, casting)
    return joining.concat([as_dtype(p, wanted) for p in parts], axis)


def at_least(x: Tensor, rank: int) -> Tensor:
    """Return an array with axes of extent 1 in front until it has so many."""
    missing = rank - rank_of(np.atleast_1d, x)
    return array.expand_dims(x, tuple(range(missing))) if missing > 0 else x


def _at_least_three(x: Tensor) -> Tensor:
    rank = rank_of(np.atleast_3d, x)
    if rank == 1:
        return array.expand_dims(x, (0, 2))
    return array.expand_dims(x, 2) if rank == 2 else at_least(x, 3)


def _each(arys: Sequence[Any], made: Callable[[Tensor], Tensor]) -> Any:
    found = [made(as_operand(x)) for x in arys]
    return found[0] if len(found) == 1 else tuple(found)


@counterpart(np.atleast_1d)
def atleast_1d(*arys: Any) -> Any:
    """Return ``np.atleast_1d``."""
    return _each(arys, lambda x: at_least(x, 1))


@counterpart(np.atleast_2d)
def atleast_2d(*arys: Any) -> Any:
    """Return ``np.atleast_2d``."""
    return _each(arys, lambda x: at_least(x, 2))


@counterpart(np.atleast_3d)
def atleast_3d(*arys: Any) -> Any:
    """Return ``np.atleast_3d``."""
    return _each(arys, _at_least_three)


@counterpart(np.vstack)
def vstack(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> Any:
    """Return ``np.vstack``."""
    return _joined([at_least(x, 2) for x in _listed(tup)], 0, dtype, casting)


@counterpart(getattr(np, "row_stack", None))
def row_stack(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> Any:
    """Return ``np.row_stack``, which NumPy advises against."""
    warn_as_numpy(np.row_stack, ([0],))
    return vstack(tup, dtype=dtype, casting=casting)


@counterpart(np.hstack)
def hstack(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> Any:
    """Return ``np.hstack``."""
    parts = [at_least(x, 1) for x in _listed(tup)]
    return _joined(parts, 0 if parts and rank_of(np.hstack, parts[0]) == 1 else 1, dtype, casting)


@counterpart(np.dstack)
def dstack(tup: Any) -> Any:
    """Return ``np.dstack``."""
    return _joined([_at_least_three(x) for x in _listed(tup)], 2)


@counterpart(np.column_stack)
def column_stack(tup: Any) -> Any:
    """Return ``np.column_stack``."""
    parts = _listed(tup)
    return _joined([x if rank_of(np.column_stack, x) > 1 else array.reshape(x, [-1, 1]) for x in parts], 1)


def _depth_of(arrays: Any, place: str = "arrays") -> int:
    """Return how deep lists are nested, the same everywhere."""
    if isinstance(arrays, tuple):
        raise TypeError(
            f"{place} is a tuple. Only lists can be used to arrange blocks, and np.block does not allow implicit "
            f"conversion from tuple to ndarray."
        )
    if not isinstance(arrays, list):
        return 0
    if not arrays:
        raise ValueError(f"List at {place} cannot be empty")
    found = [_depth_of(one, f"{place}[{i}]") for i, one in enumerate(arrays)]
    if len(set(found)) > 1:
        raise ValueError(
            f"List depths are mismatched. First element was at depth {found[0] + 1}, but there is an element at depth "
            f"{next(d for d in found if d != found[0]) + 1} ({place})"
        )
    return 1 + found[0]


@counterpart(np.block)
def block(arrays: Any) -> Any:
    """Return ``np.block``."""
    depth = _depth_of(arrays)

    def leaves(value: Any) -> list[Tensor]:
        return [leaf for one in value for leaf in leaves(one)] if isinstance(value, list) else [as_operand(value)]

    every = leaves(arrays)
    rank = max([depth, *[rank_of(np.block, x) for x in every]])
    common = np.result_type(*[x.dtype for x in every])

    def put_together(value: Any, level: int) -> Tensor:
        if not isinstance(value, list):
            return at_least(as_dtype(as_operand(value), common), rank)
        return _joined([put_together(one, level + 1) for one in value], rank - (depth - level))

    return put_together(arrays, 0)


@counterpart(np.append)
def append(arr: Any, values: Any, axis: Any = None) -> Any:
    """Return ``np.append``."""
    first, second = as_operand(arr), as_operand(values)
    if axis is None:
        return _joined([array.ravel(first), array.ravel(second)], 0)
    along = axis_in(np.append, first, axis)
    if rank_of(np.append, second) != len(first.shape):
        raise ValueError(
            f"all the input array dimensions except for the concatenation axis must match exactly, but the array at "
            f"index 0 has {len(first.shape)} dimension(s) and the array at index 1 has {len(second.shape)} dimension(s)"
        )
    return _joined([first, second], along)


def _named(where: Sequence[Any], cut: Any) -> Any:
    return where[0] if where else slice(*cut)


#: for each element of the result its place in the array, which has so many along the axis
_places_left = library(
    "places_left", lambda n, *where, cut: np.delete(np.arange(n), _named(where, cut)), lambda *_, **__: [None],
    NO_GRADIENT,
    dtype=lambda *_, **__: dtypes.int64,
)  # fmt: skip
#: the same, where those of the new elements follow those of the array
_places_filled = library(
    "places_filled",
    lambda n, count, *where, cut: np.insert(np.arange(n), _named(where, cut), n + np.arange(count)),
    lambda *_, **__: [None],
    NO_GRADIENT, dtype=lambda *_, **__: dtypes.int64,
)  # fmt: skip


def _places(theirs: Any, row: Library, numbers: Sequence[Any], where: Any) -> Any:
    """Return the result of one of the rows above: now, if all is known."""
    cut = None
    given: list[Any] = []
    if isinstance(where, slice):
        start, stop, step = known(theirs, obj=(where.start, where.stop, where.step))
        cut = (start, stop, step)
    else:
        given = [_as_places(where)]
    values = [x.constant_value() for x in given]
    if all(v is not None for v in values) and all(isinstance(n, int) for n in numbers):
        return as_constant(row.op.kernel(*numbers, *values, cut=cut))
    return row(*[as_operand(n, np.int64) for n in numbers], *given, cut=cut)


def _as_places(where: Any) -> Tensor:
    """Return an index as a tensor; an empty list names nothing."""
    made = as_operand(where)
    return as_dtype(made, dtypes.int64) if isinstance(where, (list, tuple)) and made.shape[:1] == (0,) else made


@counterpart(np.delete)
def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    """Return ``np.delete``."""
    x, along = flat_or_along(np.delete, as_operand(arr), axis)
    return gathering.gather(x, _places(np.delete, _places_left, [dim(x, along)], obj), along)


@counterpart(np.insert)
def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """Return ``np.insert``."""
    x, along = flat_or_along(np.insert, as_operand(arr), axis)
    where: Any = obj if isinstance(obj, slice) else _as_places(obj)
    is_one = not isinstance(where, slice) and where.shape.num_elements() == 1 and where.dtype.kind != "b"
    count = None if is_one else _count(where, dim(x, along))
    try:
        new = _put_in(x, along, values, count, is_one and where.shape.rank == 0)
    except (TypeError, ValueError, OverflowError):  # NumPy looks for the places first
        _places(np.insert, _places_filled, [dim(x, along), 1 if count is None else count], obj)
        raise
    source = _places(np.insert, _places_filled, [dim(x, along), dim(new, along)], obj)
    return gathering.gather(joining.concat([x, new], along), source, along)


def _put_in(x: Tensor, along: int, values: Any, count: Any, is_number: bool) -> Tensor:
    """Return what ``np.insert`` puts in, as many along the axis as there are places, or values at the only one."""
    rank = rank_of(np.insert, x)
    new = at_least(as_operand(values, x.dtype), rank)
    new = array.moveaxis(new, 0, along) if is_number else new
    count = dim(new, along) if count is None else count
    made: Tensor = broadcasting.broadcast_to(new, [count if a == along else dim(x, a) for a in range(rank)])
    return made


def _count(where: Any, extent: Any) -> Any:
    """Return how many places an argument names."""
    if isinstance(where, slice):
        if not isinstance(extent, int):
            raise ValueError("insert: a slice needs an extent that is known; declare it with set_shape [AL211]")
        return len(range(*where.indices(extent)))
    if where.dtype.kind == "b":
        value = where.constant_value()
        return reducing.sum(as_dtype(where, np.dtype(np.int64))) if value is None else int(value.sum())
    return dim(where, 0)


_UNEVEN = "array split does not result in an equal division"


def _cuts(theirs: Any, where: Any, extent: Any, even: bool) -> list[Any]:
    """Return where the parts of an array begin and end along an axis."""
    if not isinstance(where, (list, tuple, np.ndarray)) and not (is_tensor(where) and as_operand(where).shape.rank):
        count = int(known(theirs, indices_or_sections=where))
        if count <= 0:
            raise ValueError("number sections must be larger than 0.")
        if even:
            extent = equal_extents(extent, extent % count, 0, ValueError, _UNEVEN)
        each, more = extent // count, extent % count
        if not isinstance(extent, int):
            return [k * each + bounds.minimum(more, k) for k in range(count + 1)]
        return [0, *np.cumsum(more * [each + 1] + (count - more) * [each]).tolist()]
    given = where if isinstance(where, (list, tuple)) else known(theirs, indices_or_sections=where).tolist()
    return [0, *given, extent]


def _split(theirs: Any, ary: Any, where: Any, axis: Any, even: bool) -> Any:
    x = as_operand(ary)
    along = axis_in(theirs, x, axis)
    extent = len(ary) if isinstance(ary, (list, tuple)) else dim(x, along)  # of which NumPy does not ask for its shape
    ends = _cuts(theirs, where, extent, even)
    return [part(x, along, start, stop) for start, stop in pairwise(ends)]


@counterpart(np.array_split)
def array_split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> Any:
    """Return ``np.array_split``."""
    return _split(np.array_split, ary, indices_or_sections, axis, False)


@counterpart(np.split)
def split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> Any:
    """Return ``np.split``."""
    return _split(np.split, ary, indices_or_sections, axis, True)


def _split_of(theirs: Any, ary: Any, where: Any, least: int, axis: int) -> Any:
    x = as_operand(ary)
    rank = rank_of(theirs, x)
    if rank < least:
        raise ValueError(f"{theirs.__name__} only works on arrays of {least} or more dimensions")
    return _split(theirs, x, where, 0 if rank == 1 else axis, True)


@counterpart(np.hsplit)
def hsplit(ary: Any, indices_or_sections: Any) -> Any:
    """Return ``np.hsplit``."""
    return _split_of(np.hsplit, ary, indices_or_sections, 1, 1)


@counterpart(np.vsplit)
def vsplit(ary: Any, indices_or_sections: Any) -> Any:
    """Return ``np.vsplit``."""
    return _split_of(np.vsplit, ary, indices_or_sections, 2, 0)


@counterpart(np.dsplit)
def dsplit(ary: Any, indices_or_sections: Any) -> Any:
    """Return ``np.dsplit``."""
    return _split_of(np.dsplit, ary, indices_or_sections, 3, 2)
