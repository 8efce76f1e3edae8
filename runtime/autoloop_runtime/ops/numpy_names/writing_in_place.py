"""NumPy's functions that change the array they are given: arrays of the user's; tensors do not change."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ...base import dtypes
from ...base.stand_ins import UnknownWhileTracing, cast_refused
from ...ir.array_attributes import is_there
from ...ir.array_references import References
from ...ir.array_storage import array_written
from ...ir.numpy_arguments import full_name
from ...ir.overlapping_copies import check_apart, check_assigned
from ...ir.plain_values import BUFFERS
from ...ir.tensor import Tensor
from ..array import ravel, reshape
from ..broadcasting import broadcast_to
from ..indexing import getitem, set_item
from ..operands import as_dtype, weak_type
from ..placing import placed
from ..selection import where as choose
from ..shape_queries import shape_of
from .counterparts import as_operand, counterpart, refused


def _writes(theirs: Any, array: Any, instead: str) -> NoReturn:
    if isinstance(array, np.ndarray):
        array_written(array)
    raise TypeError(
        f"{full_name(theirs)} changes the array it is given, and tensors do not change where they are: write {instead}"
        " [AL009]"
    )


def _known_size(theirs: Any, x: Tensor, what: str) -> int:
    if not x.shape.is_fully_defined():
        raise UnknownWhileTracing(f"{full_name(theirs)} needs a known shape of {what}, got {x.shape}")
    return x.size


def _repeated(theirs: Any, values: Any, dtype: Any, count: int) -> Any:
    """Return as many of ``values``, from the start again and again, cast as an assignment casts."""
    flat = ravel(as_operand(values, dtype))  # numbers of Python's have to fit
    size = _known_size(theirs, flat, "the values")
    if size == count:
        return flat
    return getitem(flat, np.arange(count) % size) if size else flat


@counterpart(np.put)
def put(a: Any, ind: Any, v: Any, mode: Any = "raise") -> None:
    """Do ``np.put``."""
    if not isinstance(a, References):
        _writes(np.put, a, "a = a.ravel(); a[ind] = v")
    places = ravel(as_operand(ind))
    held = a.current()
    if mode != "raise":
        size = _known_size(np.put, held, "the array")
        places = _moved_inside(places, size, mode)
    values = _repeated(np.put, v, a.dtype, _known_size(np.put, places, "the indices"))
    a.check_writeable()
    if places.size and held.shape.num_elements() == 0:
        raise IndexError("cannot replace elements of an empty array")
    if places.size and values.shape.num_elements() != 0:
        a.overwrite(reshape(set_item(ravel(held), places, values), shape_of(held)))


def _moved_inside(places: Tensor, size: int, mode: Any) -> Tensor:
    if mode == "wrap":
        return as_operand(places % size)
    if mode != "clip":
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    return choose(places < 0, 0, choose(places >= size, size - 1, places))


def _refuse_unsafe(values: Any, given: Tensor, dtype: Any) -> None:
    """Raise where NumPy does not cast: an array, other than a scalar or list, is cast where nothing can be lost."""
    if not isinstance(values, (np.ndarray, np.generic, Tensor, *BUFFERS)) or np.can_cast(given.dtype, dtype, "safe"):
        return
    refusal = cast_refused(given.dtype, dtype, "safe")
    if given.shape.rank != 0 or not _is_scalar(values):
        raise refusal
    if given.dtype.kind == "c" and dtype.kind != "c":  # which NumPy casts, with a warning
        raise UnknownWhileTracing(str(refusal))


def _is_scalar(value: Any) -> bool:
    """Return whether a value without axes is a scalar of NumPy's, no array."""
    if isinstance(value, References):
        return value.is_scalar and not value.storage.is_without_axes
    return isinstance(value, (np.generic, Tensor))


def _flags(theirs: Any, mask: Any, held: Tensor) -> Tensor:
    """Return a mask, which has as many elements as the array, in the form of that."""
    flags = as_dtype(as_operand(mask), dtypes.bool_)
    own, wanted = flags.shape.num_elements(), held.shape.num_elements()
    if own is not None and wanted is not None and own != wanted:
        raise ValueError(f"{theirs.__name__}: mask and data must be the same size")
    return flags if flags.shape.is_fully_defined() and flags.shape == held.shape else reshape(flags, shape_of(held))


@counterpart(np.place)
def place(arr: Any, mask: Any, vals: Any) -> None:
    """Do ``np.place``."""
    if not isinstance(arr, References):
        _writes(np.place, arr, "arr[mask] = vals")
    held = arr.current()
    _refuse_unsafe(vals, as_operand(vals), arr.dtype)
    given = ravel(as_operand(vals, arr.dtype))
    count = _known_size(np.place, given, "the values")
    flags = _flags(np.place, mask, held)
    if not count:
        raise UnknownWhileTracing("np.place of no values is an error where an element of the mask is true")
    if count == 1:
        arr.absorb(choose(flags, given[0], held))
        return
    check_apart(arr, vals)
    arr.absorb(placed(held, given, flags))


@counterpart(np.putmask)
def putmask(a: Any, /, mask: Any, values: Any) -> None:
    """Do ``np.putmask``."""
    if not isinstance(a, References):
        _writes(np.putmask, a, "a = numpy.where(mask, values, a)")
    held = a.current()
    _refuse_unsafe(values, as_operand(values), a.dtype)
    flags, given = _flags(np.putmask, mask, held), ravel(as_operand(values, a.dtype))
    size = _known_size(np.putmask, held, "the array")
    if given.shape.num_elements() == 0:
        a.check_writeable()
        return
    if given.shape.num_elements() == 1:
        every = given[0]
    else:
        every = reshape(_repeated(np.putmask, given, a.dtype, size), shape_of(held))
    a.absorb(choose(flags, every, held))


@counterpart(np.copyto)
def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """Do ``np.copyto``."""
    if not isinstance(dst, References):
        _writes(np.copyto, dst, "dst[...] = src, or dst = numpy.where(where, src, dst)")
    if getattr(dst, "is_scalar", False):
        raise TypeError("copyto() argument 1 must be a numpy.ndarray")
    mask = as_operand(where)
    if not np.can_cast(mask.dtype, bool):
        raise cast_refused(mask.dtype, np.dtype(bool), "safe")
    given = as_operand(src)
    number = weak_type(src)
    weak = number is not None and np.result_type(dst.dtype, number(0)) == dst.dtype
    if not weak and not np.can_cast(given.dtype, dst.dtype, casting):
        raise cast_refused(given.dtype, dst.dtype, casting)
    given = as_operand(src, dst.dtype) if number is not None else as_dtype(given, dst.dtype)
    if isinstance(src, References) and is_there(src, dst):  # which NumPy sees before anything else
        return
    dst.check_writeable()
    check_assigned(dst, Ellipsis, src)
    if where is True:
        dst.assign(Ellipsis, given)
        return
    held = dst.current()
    new = broadcast_to(as_dtype(given, dst.dtype), shape_of(held))
    dst.absorb(choose(mask, new, held))


@counterpart(np.put_along_axis)
def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    """Do ``np.put_along_axis``."""
    if not isinstance(arr, References):
        _writes(
            np.put_along_axis, arr, "arr[numpy.arange(len(arr))[:, None], indices] = values, an index for each axis"
        )
    places = as_operand(indices)
    if axis is None:
        if len(places.shape) != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        flat: Any = arr
        flat = flat.reshape(-1)
        flat[places] = values
        return
    rank = len(arr.shape)
    axis = axis + rank if axis < 0 else axis
    if len(places.shape) != rank:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    if not places.shape.is_fully_defined() or not arr.shape.is_fully_defined():
        refused(np.put_along_axis, "indices", "its shape must be known")
    extents = arr.shape.as_tuple()
    index = tuple([
        places if k == axis else np.arange(n).reshape([-1 if j == k else 1 for j in range(rank)])
        for k, n in enumerate(extents)
    ])  # fmt: skip
    arr[index] = values


@counterpart(np.fill_diagonal)
def fill_diagonal(a: Any, val: Any, wrap: Any = False) -> None:
    """Do ``np.fill_diagonal``."""
    if not isinstance(a, References):
        _writes(np.fill_diagonal, a, "a[numpy.arange(n), numpy.arange(n)] = val")
    held = a.current()
    rank = len(held.shape)
    if rank < 2:
        raise ValueError("array must be at least 2-d")
    size = _known_size(np.fill_diagonal, held, "the array")
    dims = held.shape.as_tuple()
    if rank == 2:
        step, end = dims[1] + 1, size if wrap else min(size, dims[1] * dims[1])
    else:
        if len(set(dims)) > 1:
            raise ValueError("All dimensions of input must be of equal length")
        step, end = 1 + int(np.cumprod(dims[:-1]).sum()), size
    places = np.arange(0, end, step)
    values = _repeated(np.fill_diagonal, val, a.dtype, len(places))
    a.check_writeable()
    check_apart(a, val)
    if len(places):
        a.overwrite(reshape(set_item(ravel(held), places, values), shape_of(held)))
