"""ndarray's methods that look at the bytes of elements: as another dtype, in reverse, in part."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ...base.dtypes import of_numbers
from ...ir.tensor import Tensor
from ...ir.traits import NO_RULE
from .counterparts import as_operand, counterpart, refused, unsupported
from .library_rows import library


def _extents(x: Tensor, to: np.dtype[Any]) -> Any:
    """Return the extents of ``x.view(to)``: the last axis has as many bytes as before."""
    old, new = x.dtype.itemsize, to.itemsize
    if old == new:
        return x.shape
    if x.shape.rank == 0:
        raise ValueError("Changing the dtype of a 0d array is only supported if the itemsize is unchanged")
    *others, last = x.shape.known
    if last is not None and last * old % new:
        raise ValueError(
            "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last axis "
            "of the array."
        )
    return [*others, None if last is None else last * old // new]


_view = library(
    "view", lambda x, to: np.ascontiguousarray(x).reshape(np.shape(x)).view(to), lambda x, to: _extents(x, to),
    NO_RULE, dtype=lambda x, to: to,
)  # fmt: skip
_byteswap = library("byteswap", lambda x: np.asarray(x).byteswap(), "same", NO_RULE, dtype=lambda x: x.dtype)
_getfield = library(
    "getfield", lambda x, to, offset: np.asarray(x).getfield(to, offset).copy(), "same", NO_RULE,
    dtype=lambda x, to, offset: to,
)  # fmt: skip


@counterpart(np.ndarray.view)
def view(self: Any, /, dtype: Any = None, type: Any = None) -> Tensor:
    """Return the bytes of an array as elements of another dtype."""
    x = as_operand(self)
    unsupported(np.ndarray.view, type=type)
    if isinstance(dtype, builtins.type) and issubclass(dtype, np.ndarray):
        refused(np.ndarray.view, "type")
    to = x.dtype if dtype is None else of_numbers(dtype)
    made: Tensor = x if to == x.dtype else _view(x, to=to)
    return made


@counterpart(np.ndarray.byteswap)
def byteswap(self: Any, /, inplace: Any = False) -> Tensor:
    """Return an array with the bytes of each element in reverse."""
    if inplace:
        refused(np.ndarray.byteswap, "inplace", "assign the result: x = x.byteswap()")
    made: Tensor = _byteswap(self)
    return made


@counterpart(np.ndarray.getfield)
def getfield(self: Any, /, dtype: Any, offset: Any = 0) -> Tensor:
    """Return a part of the bytes of each element as of another dtype."""
    x, to = as_operand(self), of_numbers(dtype)
    if not 0 <= offset <= x.dtype.itemsize - to.itemsize:
        raise ValueError(f"new type of size {to.itemsize} at offset {offset} is larger than {x.dtype.itemsize} bytes")
    made: Tensor = _getfield(x, to=to, offset=offset)
    return made
