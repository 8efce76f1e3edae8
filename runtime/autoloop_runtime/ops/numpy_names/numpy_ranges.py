"""NumPy's evenly and geometrically spaced numbers, of ends that may be arrays."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.dtypes import of_numbers
from ...base.stand_ins import UnknownWhileTracing
from ...ir.convert import convert_to_tensor
from ...ir.tensor import Tensor
from .. import creation
from ..array import moveaxis
from ..broadcasting import broadcast_static, unbroadcast
from ..operands import as_dtype, is_tensor, weak_type
from ..powers import pow as power
from ..reducing import sum as total
from .counterparts import as_operand, counterpart, known, refused, unsupported
from .library_rows import library

_FLOAT = np.dtype(np.float64)


def _spread(start: Tensor, stop: Tensor, num: int | None, endpoint: bool, axis: int, **_: Any) -> Any:
    ends = list(broadcast_static("linspace", start, stop).known)
    ends.insert(axis if axis >= 0 else len(ends) + 1 + axis, num)
    return ends


def _shares(g: Tensor, attrs: Any, weight: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return the gradient of the points with their axis at the end, and how far each is from the start."""
    if weight is None:
        weight = as_operand(np.linspace(0.0, 1.0, attrs["num"], attrs["endpoint"]).astype(g.dtype))
    return moveaxis(g, attrs["axis"], -1), weight


def _even_slopes(
    g: Tensor, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any, weight: Tensor | None = None
) -> Any:
    g, weight = _shares(g, attrs, weight)
    parts = (total(g * (1 - weight), -1), total(g * weight, -1))
    return [unbroadcast(part, x) for part, x in zip(parts, inputs)]


def _geometric_slopes(
    g: Tensor, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any, weight: Tensor | None = None
) -> Any:
    g, weight = _shares(g * outputs[0], attrs, weight)
    parts = (total(g * (1 - weight), -1), total(g * weight, -1))
    return [unbroadcast(part / x, x) for part, x in zip(parts, inputs)]


_even = library("linspace_between", np.linspace, _spread, _even_slopes)
_geometric = library("geomspace", np.geomspace, _spread, _geometric_slopes)


def _counted(name: str, theirs: Any, slopes: Any) -> Any:
    """Declare the row of as many points as only the run knows."""

    def spread(start: Tensor, stop: Tensor, num: Tensor, endpoint: bool, axis: int, **_: Any) -> Any:
        return _spread(start, stop, None, endpoint, axis)

    def kernel(start: Any, stop: Any, num: Any, **attrs: Any) -> Any:
        return theirs(start, stop, int(num), **attrs)

    def vjp(g: Tensor, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
        weight = _even_of(0.0, 1.0, inputs[2], endpoint=attrs["endpoint"], axis=0, dtype=g.dtype)
        return [*slopes(g, outputs, inputs[:2], attrs, weight), None]

    return library(name, kernel, spread, vjp)


_even_of = _counted("linspace_counted", np.linspace, _even_slopes)
_geometric_of = _counted("geomspace_counted", np.geomspace, _geometric_slopes)


def _ends(start: Any, stop: Any) -> tuple[Tensor, Tensor, np.dtype[Any]]:
    """Return the ends as NumPy computes with them, and the dtype of what lies between."""
    first, last = as_operand(start), as_operand(stop)
    weak = zip((start, stop), (first, last))  # a Python int need not fit the integers that it meets: both are floats
    found = np.result_type(*[x.dtype if (kind := weak_type(one)) is None else kind(0) for one, x in weak])
    found = found if found.kind in "fc" else _FLOAT
    return as_dtype(first, found), as_dtype(last, found), found


def _number(theirs: Any, num: Any) -> int | Tensor:
    """Return how many points there are to be: a tensor of what only the run knows."""
    if is_tensor(num):
        count = convert_to_tensor(num)
        if count.shape.rank == 0 and count.dtype.kind in "iu" and count.constant_value() is None:
            return count
    points: int = operator.index(known(theirs, num=num))
    if points < 0:
        raise ValueError(f"Number of samples, {points}, must be non-negative.")
    return points


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
    if isinstance(num, Tensor):
        if retstep:  # which is a number of Python's if there are not two points
            refused(np.linspace, "retstep", "compute the step: (stop - start) / (num - 1)")
        return _even_of(first, last, num, endpoint=bool(endpoint), axis=axis, dtype=wanted)
    if plain:
        made = creation.linspace(first, last, num)
    else:
        made = _even(first, last, num=num, endpoint=bool(endpoint), axis=axis, dtype=wanted)
    if not retstep:
        return made
    steps = num - 1 if endpoint else num
    return made, (last - first) / steps if steps > 0 else np.nan


@counterpart(np.logspace)
def logspace(
    start: Any, stop: Any, num: Any = 50, endpoint: Any = True, base: Any = 10.0, dtype: Any = None, axis: Any = 0
) -> Any:
    """Return ``np.logspace``."""
    if as_operand(base).shape.rank != 0:
        raise UnknownWhileTracing("numpy.logspace: the argument 'base' must be a number where tensors take part")
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
    if isinstance(num, Tensor):
        return _geometric_of(first, last, num, endpoint=bool(endpoint), axis=axis, dtype=wanted)
    return _geometric(first, last, num=num, endpoint=bool(endpoint), axis=axis, dtype=wanted)
