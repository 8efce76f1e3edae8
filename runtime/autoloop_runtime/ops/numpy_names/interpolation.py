"""Interpolation between points, and sums of products of sequences that slide along each other."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.stand_ins import UnknownWhileTracing
from ...ir.tensor import Tensor
from .. import (
    arithmetic,
    bounds,
    complex_numbers,
    indexing,
    joining,
    logic,
    repeating,
    selection,
    shape_queries,
    sorting,
)
from ..array import ravel, reshape, reshape_like
from ..direct_calls import calls, inside
from ..operands import as_dtype, is_tensor
from ..reducing import sum as total
from ..shape_queries import dim
from .checked_operands import equally_long
from .counterparts import as_operand, cast_safely, counterpart, known
from .library_rows import library


def _interp_vjp(g: Tensor, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    x, xp, fp, *ends = inputs
    at, g = ravel(x), ravel(g)
    count = shape_queries.size(xp)
    low = bounds.maximum(
        bounds.minimum(sorting.searchsorted(xp, at, "right") - 1, as_dtype(count, np.dtype(np.int64)) - 2), 0
    )
    high = bounds.minimum(low + 1, as_dtype(count, np.dtype(np.int64)) - 1)
    left, gap = xp[low], xp[high] - xp[low]
    gap = selection.where(gap == 0, 1.0, gap)
    way = bounds.maximum(bounds.minimum((at - left) / gap, 1.0), 0.0)
    slope = (fp[high] - fp[low]) / gap
    before, after = at < xp[0], at > xp[-1]
    inside = logic.logical_not(logic.logical_or(before, after))
    to_x = g * complex_numbers.conj(slope) if slope.dtype.kind == "c" else g * slope
    to_x = selection.where(inside, as_dtype(complex_numbers.real(to_x), x.dtype), 0)
    to_fp = g
    to_ends: list[Any] = []
    for end, side in zip(attrs["ends"], (before, after)):
        if end:
            value = ends[len(to_ends)]
            to_ends.append(reshape_like(as_dtype(total(selection.where(side, g, 0)), value.dtype), value))
            to_fp = selection.where(side, 0, to_fp)
    form = shape_queries.shape(xp)

    def shared(one: Any) -> Any:
        first = indexing.index_add(form, low, one * (1 - way), static=xp.shape)
        return first + indexing.index_add(form, high, one * way, static=xp.shape)

    made = [shared(-to_x), shared(to_fp)]
    return [reshape_like(to_x, x), *[as_dtype(one, of.dtype) for one, of in zip(made, (xp, fp))], *to_ends]


def _interp_kernel(x: Any, xp: Any, fp: Any, *given: Any, ends: tuple[bool, bool]) -> Any:
    values = iter(given)
    left, right = [next(values) if end else None for end in ends]
    return np.interp(x, xp, fp, left, right)


_INTERP, _CORRELATE = inside("interp", "np.interp"), inside("correlate", "")


def _interp_code(node: Any) -> str:
    given = iter(("{3}", "{4}"))
    ends = [next(given) if end else "None" for end in node.attrs["ends"]]
    # what is left of NumPy's function looks for complex values, and at scalars
    plain = node.inputs[2].dtype == np.float64 and bool(node.inputs[0].shape.rank)
    function = _INTERP if plain else "np.interp"
    return f"{function}({', '.join(['{0}', '{1}', '{2}', *(ends if any(node.attrs['ends']) else ())])})"


def _convolve_code(node: Any) -> str | None:
    first, second = (x.shape.known[0] if x.shape.rank == 1 else None for x in node.inputs)
    if _CORRELATE and first is not None and second is not None and first >= second > 0:
        return f"{_CORRELATE}({{0}}, {{1}}[::-1], {node.attrs['mode']!r})"
    return calls("np.convolve", "mode")(node)


_interp = library("interp", _interp_kernel, "same", _interp_vjp, code_of=_interp_code)


@counterpart(np.interp)
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """Return ``np.interp``."""
    at, points, values = (as_operand(v) for v in (x, xp, fp))
    values = as_dtype(values, np.result_type(values.dtype, np.float64))
    if period is None:
        at, points = cast_safely(x, float), cast_safely(xp, float)
    if period is not None:
        left = right = None
        if not is_tensor(period) and period == 0:
            raise ValueError("period must be a non-zero value")
        if points.shape.rank != 1 or values.shape.rank != 1:
            raise ValueError("Data points must be 1-D sequences")
        points = equally_long(points, values, ValueError("fp and xp are not of the same length"))
        at, points = as_dtype(at, np.dtype(float)), as_dtype(points, np.dtype(float))
        turn = arithmetic.abs(as_operand(period, float))
        at, points = at % turn, points % turn
        order = sorting.argsort(points)
        points, values = points[order], values[order]
        points = joining.concat([points[-1:] - turn, points, points[:1] + turn], 0)
        values = joining.concat([values[-1:], values, values[:1]], 0)
    ends = [end for end in (left, right) if end is not None]
    if values.dtype.kind != "c" and any(as_operand(end).dtype.kind == "c" for end in ends):
        raise UnknownWhileTracing(
            "numpy.interp: beyond its ends is a complex number, what that means NumPy alone knows"
        )
    given = [as_operand(end, values.dtype) for end in ends]
    return _interp(at, points, values, *given, ends=(left is not None, right is not None))


def _least(a: Any, b: Any) -> Any:
    return builtins.min(a, b) if isinstance(a, int) and isinstance(b, int) else bounds.minimum(a, b)


def _most(a: Any, b: Any) -> Any:
    return builtins.max(a, b) if isinstance(a, int) and isinstance(b, int) else bounds.maximum(a, b)


def _shape(a: Tensor, v: Tensor, mode: str) -> Any:
    first, second = (x.shape.known[0] if x.shape.rank == 1 else None for x in (a, v))
    if first is None or second is None:
        return [None]
    larger, smaller = builtins.max(first, second), builtins.min(first, second)
    return [{"full": first + second - 1, "same": larger, "valid": larger - smaller + 1}[mode]]


def _all_places(g: Tensor, a: Tensor, v: Tensor, mode: str, swaps: bool) -> Tensor:
    """Return the gradient of the result of mode ``full``: zero where the mode gives nothing."""
    if mode == "full":
        return g
    first, second = dim(a, 0), dim(v, 0)
    shorter = _least(first, second)
    start = shorter - 1
    if mode == "same":
        start = (shorter - 1) // 2
        if swaps:  # of the longer one's end, where the second is that
            other = shorter // 2
            if isinstance(first, int) and isinstance(second, int):
                start = start if first >= second else other
            else:
                start = selection.where(first >= second, start, other)
    end = first + second - 1 - start - dim(g, 0)
    return repeating.pad(g, [[start, end]])


def _convolve_vjp(g: Tensor, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    a, v = inputs
    whole = _all_places(g, a, v, attrs["mode"], False)
    return [_correlate(whole, v, mode="valid"), _correlate(whole, a, mode="valid")]


def _correlate_vjp(g: Tensor, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    a, v = inputs
    whole = _all_places(g, a, v, attrs["mode"], True)
    return [_convolve(whole, v, mode="valid"), _correlate(a, whole, mode="valid")]


_convolve = library("convolve", lambda a, v, mode: np.convolve(a, v, mode), _shape, _convolve_vjp,
                    code_of=_convolve_code)  # fmt: skip
_correlate = library("correlate", lambda a, v, mode: np.correlate(a, v, mode), _shape, _correlate_vjp,
                     code_of=calls("np.correlate", "mode"))  # fmt: skip

#: by the number that says the same
_MODES = ("valid", "same", "full")


def _slid(theirs: Any, row: Any, a: Any, v: Any, mode: Any) -> Any:
    mode = known(theirs, mode=mode)
    theirs(np.ones(1), np.ones(1), mode)  # refuses what it does not take, which is not the same in all versions
    mode = next(m for m in _MODES if m[0] == mode[0].lower()) if isinstance(mode, str) else _MODES[mode]
    first, second = as_operand(a), as_operand(v)
    first, second = [as_dtype(x, np.result_type(first.dtype, second.dtype)) for x in (first, second)]
    if theirs is np.correlate and 0 in (first.shape.rank, second.shape.rank):
        raise ValueError("object of too small depth for desired array")
    if theirs is np.convolve:
        first, second = [reshape(x, [1]) if x.shape.rank == 0 else x for x in (first, second)]
        for x, name in ((first, "a"), (second, "v")):
            if x.shape.rank == 1 and x.shape.known[0] == 0:
                raise ValueError(f"{name} cannot be empty")
    return row(first, second, mode=mode)


@counterpart(np.convolve)
def convolve(a: Any, v: Any, mode: Any = "full") -> Any:
    """Return ``np.convolve``."""
    return _slid(np.convolve, _convolve, a, v, mode)


@counterpart(np.correlate)
def correlate(a: Any, v: Any, mode: Any = "valid") -> Any:
    """Return ``np.correlate``."""
    return _slid(np.correlate, _correlate, a, v, mode)
