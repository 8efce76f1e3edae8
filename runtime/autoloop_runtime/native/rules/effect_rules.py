"""Operations that may end the function: assertions and errors the user raises."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.graph import Node
from ...ops.effects import ASSERT, RAISE
from ...ops.reductions import ALL
from ..writer.context import Context
from ..writer.nests import store
from ..writer.node_writer import array_of
from ..writer.registry import rule
from ..writer.values import Array, Scalar, Splat, Value, fills, resolve
from .reduction_rules import reduce


def _whole(ctx: Context, value: Value) -> Value:
    """Return ``value`` as it can be shown when the operation fails."""
    value = resolve(value)
    if isinstance(value, Scalar):
        return value
    array = array_of(ctx, value)
    if fills(array):
        return array
    copy: Array = ctx.temporary(array.t, array.shape)
    store(ctx, array, copy)
    return copy


@rule(ASSERT, complexes=True)
def _assert(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    condition = resolve(values[0])
    if isinstance(condition, (Scalar, Splat)):
        passed = condition.text
    elif 0 in condition.shape:  # type: ignore[union-attr]
        return []
    else:
        passed = reduce(ctx, ALL, condition, tuple(range(len(condition.shape))), None)  # type: ignore[union-attr]
    ctx.check(passed, node, [_whole(ctx, v) for v in values])
    return []


@rule(RAISE, complexes=True)
def _raise(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    ctx.check("false", node, [_whole(ctx, v) for v in values])
    return []
