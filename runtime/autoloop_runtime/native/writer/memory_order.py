"""The order in which the axes of arrays lie in memory: the one with the largest steps first."""

from __future__ import annotations

from collections.abc import Iterable

from ..ir.moving import is_moving
from .values import Array, Lying, Shape, Value, dense, leaves


def memory_order(values: Iterable[Value], shape: Shape) -> list[int] | None:
    """Return the axes of ``shape`` in the order in which the arrays lie that are read or written without being
    broadcast; None if that is the order of the axes, or they lie otherwise each."""
    if len(shape) < 2 or 0 in shape or is_moving(shape):
        return None
    orders = [_order_of(leaf) for value in values for leaf in leaves(value) if _is_whole(leaf, shape)]
    return orders[0] if orders and all(order == orders[0] for order in orders) else None


def _is_whole(leaf: Value, shape: Shape) -> bool:
    return isinstance(leaf, Array) and leaf.shape == shape and all(s or n == 1 for s, n in zip(leaf.strides, shape))


def _order_of(array: Value) -> list[int] | None:
    assert isinstance(array, Array)
    wide = [axis for axis, n in enumerate(array.shape) if n != 1]
    order = sorted(wide, key=lambda axis: -abs(array.strides[axis]))
    return None if order == wide else order + [axis for axis, n in enumerate(array.shape) if n == 1]


def lying_in(order: list[int] | None, shape: Shape) -> Lying | None:
    """Return how an array without gaps lies in that order of its axes."""
    if order is None:
        return None
    steps = dict(zip(order, dense(tuple([shape[axis] for axis in order]))))
    return shape, tuple([steps[axis] for axis in range(len(shape))])
