"""NumPy's sorting, by NumPy's own code: where equal elements are put depends on the kind of sort."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir.apply import apply
from ...ir.tensor import Tensor
from ...ir.traits import NO_GRADIENT
from .. import sorting
from ..array import ravel
from ..direct_calls import calls
from ..gathering import take_along_axis
from ..operands import as_dtype
from .counterparts import as_operand, counterpart, known, unsupported
from .library_rows import library
from .numpy_reductions import numpy_axis

#: NumPy's words for the kinds of sort -> those that its code tells apart
_KINDS: dict[Any, str | None] = {
    **dict.fromkeys((None, "quicksort", "q")), **dict.fromkeys(("heapsort", "h"), "heapsort"),
    **dict.fromkeys(("stable", "s", "mergesort", "m"), "stable"),
}  # fmt: skip
_UPWARDS = {"descending": False}


def _sorted_slopes(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    back = sorting.argsort(_order(inputs[0], **{**attrs, "kind": "stable"}), attrs["axis"])
    return [take_along_axis(g, back, attrs["axis"])]


_sorted = library("sort_complex", np.sort, "same", _sorted_slopes, code_of=calls("np.sort", "axis", "kind"))
_order = library("argsort_complex", np.argsort, "same", NO_GRADIENT, code_of=calls("np.argsort", "axis", "kind"))


def _asked(theirs: Any, a: Any, axis: Any, kind: Any, order: Any, stable: Any) -> tuple[Tensor, dict[str, Any]]:
    unsupported(theirs, instead="arrays with fields are not taken", order=order)
    if kind not in _KINDS:
        raise ValueError(f"{theirs.__name__}: sort kind must be one of 'quick', 'heap', or 'stable' (got {kind!r})")
    if kind is not None and stable is not None:
        raise ValueError("`kind` and keyword parameters can't be provided at the same time. Use only one of them.")
    x = as_operand(a)
    one_element = theirs is np.argsort and x.shape.rank == 0  # which NumPy takes for a vector of one
    attrs = {"kind": "stable" if stable else _KINDS[kind]}
    if known(theirs, axis=axis) is None:
        return ravel(x), {"axis": 0, **attrs}
    x = ravel(x) if one_element else x
    return x, {"axis": numpy_axis(theirs, axis, x), **attrs}


@counterpart(np.sort)
def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Tensor:
    """Return ``np.sort``."""
    x, attrs = _asked(np.sort, a, axis, kind, order, stable)
    made: Tensor = _sorted(x, **attrs) if x.dtype.kind == "c" else apply(sorting.SORT, [x], attrs | _UPWARDS)
    return made


@counterpart(np.argsort)
def argsort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Tensor:
    """Return ``np.argsort``."""
    x, attrs = _asked(np.argsort, a, axis, kind, order, stable)
    made: Tensor = _order(x, **attrs) if x.dtype.kind == "c" else apply(sorting.ARGSORT, [x], attrs | _UPWARDS)
    return made


@counterpart(np.sort_complex)
def sort_complex(a: Any) -> Tensor:
    """Return ``np.sort_complex``."""
    x = as_operand(a)
    if x.dtype.kind != "c":
        narrow = x.dtype.kind in "iu" and x.dtype.itemsize <= 2
        x = as_dtype(x, np.dtype(np.complex64) if narrow else np.result_type(x.dtype, np.complex128))
    made: Tensor = _sorted(x, axis=len(x.shape) - 1, kind=None)
    return made


@counterpart(np.searchsorted)
def searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Tensor:
    """Return ``np.searchsorted``, where numbers of Python's are not weak."""
    return sorting.searchsorted(as_operand(a), as_operand(v), side, sorter=sorter)
