"""NumPy's functions that change the array they are given: refused, with what to write instead."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ...ir.numpy_arguments import full_name
from .counterparts import counterpart


def _writes(theirs: Any, instead: str) -> NoReturn:
    raise TypeError(
        f"{full_name(theirs)} changes the array it is given, and tensors do not change where they are: write {instead}"
    )


@counterpart(np.put)
def put(a: Any, ind: Any, v: Any, mode: Any = "raise") -> Any:
    """Refuse ``np.put``."""
    _writes(np.put, "a = a.ravel(); a[ind] = v")


@counterpart(np.place)
def place(arr: Any, mask: Any, vals: Any) -> Any:
    """Refuse ``np.place``."""
    _writes(np.place, "arr[mask] = vals")


@counterpart(np.putmask)
def putmask(a: Any, /, mask: Any, values: Any) -> Any:
    """Refuse ``np.putmask``."""
    _writes(np.putmask, "a = numpy.where(mask, values, a)")


@counterpart(np.copyto)
def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> Any:
    """Refuse ``np.copyto``."""
    _writes(np.copyto, "dst[...] = src, or dst = numpy.where(where, src, dst)")


@counterpart(np.put_along_axis)
def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> Any:
    """Refuse ``np.put_along_axis``."""
    _writes(np.put_along_axis, "arr[numpy.arange(len(arr))[:, None], indices] = values, an index for each axis")


@counterpart(np.fill_diagonal)
def fill_diagonal(a: Any, val: Any, wrap: Any = False) -> Any:
    """Refuse ``np.fill_diagonal``."""
    _writes(np.fill_diagonal, "a[numpy.arange(n), numpy.arange(n)] = val")
