"""Differences between neighbours, and what integrates them: made of slices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.shapes import TensorShape
from ...base.stand_ins import UnknownWhileTracing
from ...ir.number_operators import number_type
from ...ir.tensor import Tensor
from .. import arithmetic, array, broadcasting, joining, logic, running_sums, selection
from ..operands import as_dtype, is_tensor
from ..shape_queries import dim
from .axes_of_numpy import axes_in, axis_in, part, rank_of, spread_along
from .checked_operands import long_enough
from .counterparts import NO_VALUE, as_operand, as_operands, counterpart, known, refused
from .data_checks import equal_extents


def _neighbours(x: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """Return all elements along an axis but the last, and all but the first."""
    return part(x, axis, None, -1), part(x, axis, 1, None)


@counterpart(np.diff)
def diff(a: Any, n: Any = 1, axis: Any = -1, prepend: Any = NO_VALUE, append: Any = NO_VALUE) -> Any:
    """Return ``np.diff``."""
    n = known(np.diff, n=n)
    if n == 0:
        return as_operand(a)
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    x = as_operand(a)
    if rank_of(np.diff, x) == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    along = axis_in(np.diff, x, axis)
    more = [as_operand(end) if end is not NO_VALUE else None for end in (prepend, append)]
    if any(one is not None for one in more):
        parts = as_operands(*[one for one in (more[0], x, more[1]) if one is not None])
        rest = [1 if b == along else dim(x, b) for b in range(len(x.shape))]
        x = joining.concat([broadcasting.broadcast_to(p, rest) if p.shape.rank == 0 else p for p in parts], along)
    for _ in range(n):
        before, after = _neighbours(x, along)
        x = logic.not_equal(after, before) if x.dtype.kind == "b" else after - before
    return x


@counterpart(np.ediff1d)
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Return ``np.ediff1d``."""
    x = array.ravel(as_operand(ary))
    parts = [part(x, 0, 1) - part(x, 0, None, -1)]
    for name, given in (("to_begin", to_begin), ("to_end", to_end)):
        if given is None:
            continue
        end = as_operand(given)
        if not np.can_cast(end.dtype, x.dtype, casting="same_kind"):
            raise TypeError(f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule.")
        made = as_dtype(array.ravel(end), x.dtype)
        parts = [made, *parts] if name == "to_begin" else [*parts, made]
    return joining.concat(parts, 0) if len(parts) > 1 else parts[0]


@counterpart(np.trapezoid)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    """Return ``np.trapezoid``."""
    values = as_operand(y)
    along = axis_in(np.trapezoid, values, axis)
    steps: Any = dx
    if x is not None:
        points = as_operand(x)
        if rank_of(np.trapezoid, points) == 1:
            steps = spread_along(diff(points), along, len(values.shape))
        else:
            steps = diff(points, axis=axis)
    before, after = _neighbours(values, along)
    made: Any = _times(steps, after + before)
    return np.sum(made / 2.0, axis=along)


def _times(a: Any, b: Any) -> Any:
    first, second = as_operands(a, b)
    return first * second


def _spacings(f: Tensor, axes: tuple[int, ...], given: tuple[Any, ...]) -> tuple[Tensor, list[Any]]:
    """Return the array, checked to have as many elements as there are points, and the distances between them along
    each axis: one number, or a vector of them."""
    if not given:
        return f, [1.0] * len(axes)
    given = tuple(as_operand(one) if type(one) in (list, tuple) and any(map(is_tensor, one)) else one for one in given)
    if len(given) == 1 and np.ndim(given[0]) == 0:
        return f, list(given) * len(axes)
    if len(given) != len(axes):
        raise TypeError("invalid number of arguments")
    made = []
    for one, axis in zip(given, axes):
        if np.ndim(one) == 0:
            made.append(one)
            continue
        points = as_operand(one)
        if points.shape.rank != 1:
            raise ValueError("distances must be either scalars or 1d")
        message = "when 1d, distances must match the length of the corresponding dimension"
        f = equal_extents(f, dim(points, 0), dim(f, axis), ValueError, message)
        points = as_dtype(points, np.dtype(float)) if points.dtype.kind in "iu" else points
        value = None if is_tensor(one) else points.constant_value()
        gaps = None if value is None else np.diff(value)
        made.append(gaps[0] if gaps is not None and (gaps == gaps[0]).all() else diff(points))
    return f, made


def _weights_between(before: Any, after: Any) -> tuple[Any, Any, Any]:
    """Return what three neighbours count for the slope at the middle one."""
    return (
        -after / (before * (before + after)), (after - before) / (before * after), before / (after * (before + after)),
    )  # fmt: skip


def _weights_at(edge: Any, next_to_it: Any) -> tuple[Any, Any, Any]:
    """Return what three neighbours count for the slope at the first of them."""
    both = edge + next_to_it
    return -(edge + both) / (edge * both), both / (edge * next_to_it), -edge / (next_to_it * both)


def _slopes(f: Tensor, axis: int, spacing: Any, edge_order: int) -> list[Any]:
    """Return the slopes at the first place along an axis, between the ends, and at the last."""
    uniform = np.ndim(spacing) == 0

    def at(place: int) -> Any:
        return part(f, axis, place, place + 1 if place != -1 else None)

    before, middle, after = part(f, axis, None, -2), part(f, axis, 1, -1), part(f, axis, 2)
    if uniform:
        inner = (after - before) / (2.0 * spacing)
    else:
        a, b, c = [spread_along(w, axis, len(f.shape)) for w in _weights_between(spacing[:-1], spacing[1:])]
        inner = a * before + b * middle + c * after
    if edge_order == 1:
        first, last = (spacing, spacing) if uniform else (spacing[0], spacing[-1])
        return [(at(1) - at(0)) / first, inner, (at(-1) - at(-2)) / last]
    if uniform:
        left = (-1.5 / spacing, 2.0 / spacing, -0.5 / spacing)
        right = (1.5 / spacing, -2.0 / spacing, 0.5 / spacing)
    else:
        left = _weights_at(spacing[0], spacing[1])
        right = tuple([-w for w in _weights_at(spacing[-1], spacing[-2])])
    return [
        left[0] * at(0) + left[1] * at(1) + left[2] * at(2), inner,
        right[2] * at(-3) + right[1] * at(-2) + right[0] * at(-1),
    ]  # fmt: skip


_TOO_SMALL = (
    "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are required."
)


@counterpart(np.gradient)
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: Any = 1) -> Any:
    """Return ``np.gradient``."""
    values = as_operand(f)
    axes = axes_in(np.gradient, values, axis)
    values, spacings = _spacings(values, axes, varargs)
    edge_order = known(np.gradient, edge_order=edge_order)
    if edge_order < 1:
        refused(np.gradient, "edge_order")
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    kind = values.dtype if values.dtype.kind in "fc" else np.dtype(float)
    if values.dtype.kind in "iu":
        values = as_dtype(values, kind)
    made = []
    for along, spacing in zip(axes, spacings):
        values = long_enough(values, along, edge_order + 1, _TOO_SMALL)
        parts = _slopes(values, along, spacing, edge_order)
        made.append(joining.concat([as_dtype(p, kind) for p in parts], along))
    return made[0] if len(made) == 1 else tuple(made)


def _stay_as_they_are(steps: Any, given: Any) -> None:
    """Refuse what the steps between phases would be broadcast to, where NumPy writes them into what they are."""
    shape = TensorShape([]) if given is None else as_operand(given).shape
    if shape.rank == 0:
        return
    if not (shape.is_fully_defined() and steps.shape.is_fully_defined()):
        raise UnknownWhileTracing("numpy.unwrap takes one number as period and as discont where extents are not known")
    if np.broadcast_shapes(shape.as_tuple(), steps.shape.as_tuple()) != steps.shape.as_tuple():
        raise UnknownWhileTracing("numpy.unwrap takes no period or discont with more elements than the steps")


@counterpart(np.unwrap)
def unwrap(p: Any, discont: Any = None, axis: Any = -1, *, period: Any = 6.283185307179586) -> Any:
    """Return ``np.unwrap``."""
    phase = as_operand(p)
    along = axis_in(np.unwrap, phase, axis)
    turn, steps = as_operands(period, diff(phase, axis=along))
    for given in (period, discont):
        _stay_as_they_are(steps, given)
    kind = steps.dtype
    if kind.kind in "iu":
        half, odd = turn // 2, turn % 2
        if kind.kind == "u" and number_type(period) is int:
            half = -as_operand(-(period // 2), kind)  # a negative one does not fit
        ambiguous = logic.equal(odd, 0)
    else:
        half, ambiguous = turn / 2, as_operand(True)
    least = as_operand(discont, None) if discont is not None else turn / 2
    wrapped = (steps + half) % turn - half
    at_edge = logic.equal(wrapped, -half) & (steps > 0) & ambiguous
    wrapped = selection.where(at_edge, half, wrapped)
    small = arithmetic.abs(as_dtype(steps, np.result_type(kind, least.dtype))) < as_dtype(
        least, np.result_type(kind, least.dtype)
    )
    correction = selection.where(small, as_operand(0, kind), wrapped - steps)
    phase = as_dtype(phase, kind)
    moved: Any = part(phase, along, 1) + running_sums.cumsum(correction, along)  # small ints have wide sums
    return joining.concat([part(phase, along, 0, 1), as_dtype(moved, kind)], along)
