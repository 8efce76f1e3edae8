"""Arrays of one value, and values that are repeated along axes."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.graph import Node
from ...ops.broadcasting import BROADCAST_TO
from ...ops.filled import FILL
from ..ir.moving import Extent
from ..writer.context import Context
from ..writer.node_writer import array_of
from ..writer.registry import rule
from ..writer.values import Pending, Scalar, Shape, Splat, Value, resolve
from .pointwise import made
from .views import check_told, told_extent


def _know_extents(ctx: Context, node: Node, values: list[Value], shape: Shape) -> None:
    """Compute the extents that a vector tells and nothing before it knew."""
    check_told(ctx, node, values, shape)
    for axis, n in enumerate(shape):
        if isinstance(n, Extent) and not ctx.has_extent(n):
            text = told_extent(ctx, values, axis)
            ctx.check(ctx.writer.let(f"icmp ule i64 {text}, {int(n)}"), node, [values[0], array_of(ctx, values[1])])
            ctx.block.extents[n] = text


@rule(FILL, pointwise=True, cheap=True, complexes=True)
@rule(BROADCAST_TO, pointwise=True, complexes=True)
def _fill(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    tensor, value = node.outputs[0], resolve(values[0])
    shape, t = ctx.shape_of(tensor), ctx.type_of(tensor)
    _know_extents(ctx, node, values, shape)
    if not isinstance(value, (Scalar, Splat)):
        return [made(ctx, node, BROADCAST_TO, t, [value])]
    if shape == ():
        return [Scalar(value.text, t)]
    splat = Splat(value.text, t, shape)
    return [Pending(tensor, splat, t, shape) if tensor in ctx.block.plan.stored else splat]
