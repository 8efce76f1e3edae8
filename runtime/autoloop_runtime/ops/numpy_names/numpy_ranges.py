"""NumPy's evenly and geometrically spaced numbers, of ends that may be arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.dtypes import of_numbers
from ...ir.tensor import Tensor
from .. import creation
from ..array import moveaxis
from ..broadcasting import broadcast_static, unbroadcast
from ..operands import as_dtype
from ..powers import pow as power
from ..reducing import sum as total
from .counterparts import as_operand, as_operands, counterpart, known, unsupported
from .library_rows import library

_FLOAT = np.dtype(np.float64)


def _spread(start: Tensor, stop: Tensor, num: int, endpoint: bool, axis: int, **_: Any) -> Any:
    ends = list(broadcast_static("linspace", start, stop).known)
    ends.insert(axis if axis >= 0 else len(ends) + 1 + axis, num)
    return ends


def _shares(g: Tensor, attrs: Any) -> tuple[Tensor, Tensor]:
    """Return the gradient of the points with their axis at the end, and how far each is from the start."""
    weight = np.linspace(0.0, 1.0, attrs["num"], attrs["endpoint"]).astype(g.dtype)
    return moveaxis(g, attrs["axis"], -1), as_operand(weight)


def _even_slopes(g: Tensor, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    g, weight = _shares(g, attrs)
    parts = (total(g * (1 - weight), -1), total(g * weight, -1))
    return [unbroadcast(part, x) for part, x in zip(parts, inputs)]


def _geometric_slopes(g: Tensor, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    g, weight = _shares(g * outputs[0], attrs)
    parts = (total(g * (1 - weight), -1), total(g * weight, -1))
    return [unbroadcast(part / x, x) for part, x in zip(parts, inputs)]


_even = library("linspace_between", np.linspace, _spread, _even_slopes)
_geometric = library("geomspace", np.geomspace, _spread, _geometric_slopes)


def _ends(start: Any, stop: Any) -> tuple[Tensor, Tensor, np.dtype[Any]]:
    """Return the ends as NumPy computes with them, and the dtype of what lies between."""
    first, last = as_operands(start, stop)
    found = first.dtype if first.dtype.kind in "fc" else _FLOAT
    return as_dtype(first, found), as_dtype(last, found), found


def _number(theirs: Any, num: Any) -> int:
    num = known(theirs, num=num)
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    return int(num)


@counterpart(np.linspace)
def linspace(
    start: Any, stop: Any, num: Any = 50, endpoint: Any = True, retstep: Any = False, dtype: Any = None, axis: Any = 0,
    *, device: Any = None,
) -> Any:  # fmt: skip
    """Return ``np.linspace``."""
    num, axis = _number(np.linspace, num), known(np.linspace, axis=axis)
    if device not in (None, "cpu"):
        unsupported(np.linspace, device=device)
    first, last, found = _ends(start, stop)
    wanted = found if dtype is None else of_numbers(dtype)
    first, last = as_dtype(first, found), as_dtype(last, found)
    plain = (
        endpoint and wanted == found and axis == 0 and first.shape.rank == last.shape.rank == 0 and found.kind == "f"
    )
    made: Any
    if plain:
        made = creation.linspace(first, last, num)
    else:
        made = _even(first, last, num=num, endpoint=bool(endpoint), axis=axis, dtype=wanted)
    if not retstep:
        return made
    steps = num - 1 if endpoint else num
    return made, (last - first) / steps if steps > 0 else (last - first) * np.asarray(np.nan, found)[()]


@counterpart(np.logspace)
def logspace(
    start: Any, stop: Any, num: Any = 50, endpoint: Any = True, base: Any = 10.0, dtype: Any = None, axis: Any = 0
) -> Any:
    """Return ``np.logspace``."""
    if as_operand(base).shape.rank != 0:
        raise TypeError("numpy.logspace: the argument 'base' must be a number where tensors take part")
    made = linspace(start, stop, num, endpoint, False, None, axis)
    raised = power(base if isinstance(base, (int, float, complex)) else as_operand(base), made)
    return raised if dtype is None else as_dtype(raised, of_numbers(dtype))


@counterpart(np.geomspace)
def geomspace(start: Any, stop: Any, num: Any = 50, endpoint: Any = True, dtype: Any = None, axis: Any = 0) -> Any:
    """Return ``np.geomspace``."""
    num, axis = _number(np.geomspace, num), known(np.geomspace, axis=axis)
    first, last, found = _ends(start, stop)
    found = np.result_type(found, _FLOAT)
    wanted = found if dtype is None else of_numbers(dtype)
    first, last = as_dtype(first, found), as_dtype(last, found)
    return _geometric(first, last, num=num, endpoint=bool(endpoint), axis=axis, dtype=wanted)
