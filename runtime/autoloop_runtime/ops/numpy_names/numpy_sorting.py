"""NumPy's sorting: every kind of sort gives the same, for equal elements keep their order in all of ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir.tensor import Tensor
from ...ir.traits import NO_GRADIENT
from .. import sorting
from ..array import ravel
from ..gathering import take_along_axis
from ..operands import as_dtype
from .counterparts import as_operand, counterpart, known, unsupported
from .library_rows import library
from .numpy_reductions import numpy_axes

_KINDS = (None, "quicksort", "mergesort", "heapsort", "stable", "q", "m", "h", "s")


def _sorted_slopes(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    back = sorting.argsort(_order(inputs[0], **attrs), attrs["axis"])
    return [take_along_axis(g, back, attrs["axis"])]


_sorted = library("sort_complex", lambda x, axis: np.sort(x, axis, "stable"), "same", _sorted_slopes)
_order = library("argsort_complex", lambda x, axis: np.argsort(x, axis, "stable"), "same", NO_GRADIENT)


def _asked(theirs: Any, a: Any, axis: Any, kind: Any, order: Any, stable: Any) -> tuple[Tensor, int]:
    unsupported(theirs, instead="arrays with fields are not taken", order=order)
    if kind not in _KINDS:
        raise ValueError(f"{theirs.__name__}: sort kind must be one of 'quick', 'heap', or 'stable' (got {kind!r})")
    if kind is not None and stable is not None:
        raise ValueError("`kind` and keyword parameters can't be provided at the same time. Use only one of them.")
    x = as_operand(a)
    if known(theirs, axis=axis) is None:
        return ravel(x), 0
    return x, (numpy_axes(theirs, axis, x) or (0,))[0]


@counterpart(np.sort)
def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Tensor:
    """Return ``np.sort``."""
    x, place = _asked(np.sort, a, axis, kind, order, stable)
    made: Tensor = _sorted(x, axis=place) if x.dtype.kind == "c" else sorting.sort(x, place)
    return made


@counterpart(np.argsort)
def argsort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Tensor:
    """Return ``np.argsort``."""
    x, place = _asked(np.argsort, a, axis, kind, order, stable)
    made: Tensor = _order(x, axis=place) if x.dtype.kind == "c" else sorting.argsort(x, place)
    return made


@counterpart(np.sort_complex)
def sort_complex(a: Any) -> Tensor:
    """Return ``np.sort_complex``."""
    x = as_operand(a)
    if x.dtype.kind != "c":
        x = as_dtype(x, np.dtype(np.complex64 if x.dtype.kind in "iu" and x.dtype.itemsize <= 2 else np.complex128))
    made: Tensor = _sorted(x, axis=len(x.shape) - 1)
    return made
