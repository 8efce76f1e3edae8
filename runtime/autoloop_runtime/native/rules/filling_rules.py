"""Arrays of one value, and values that are repeated along axes."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.graph import Node
from ...ops.broadcasting import BROADCAST_TO
from ...ops.filled import FILL
from ..ir.moving import Extent
from ..writer.context import Context
from ..writer.node_writer import array_of
from ..writer.refusals_in_runs import TOO_MANY
from ..writer.registry import rule
from ..writer.values import Pending, Scalar, Shape, Splat, Value, resolve
from .pointwise import made
from .views import check_told, told_extent


def know_extents(ctx: Context, node: Node, values: list[Value], shape: Shape) -> None:
    """Compute the extents that a vector, the second operand, tells and nothing before it knew."""
    check_told(ctx, node, values, shape)
    if len(values) > 1:
        tell_extents(ctx, node, values, values[1], shape)


def tell_extents(ctx: Context, node: Node, values: list[Value], told: Value, shape: Shape) -> None:
    """Compute the extents that the vector ``told`` tells and nothing before it knew."""
    for axis, n in enumerate(shape):
        if isinstance(n, Extent) and not ctx.has_extent(n):
            text = told_extent(ctx, told, axis)
            fits, most = ctx.writer.let(f"icmp ule i64 {text}, {int(n)}"), int(n)
            ctx.check(fits, node, [array_of(ctx, v) if v is told else v for v in values], refuses=TOO_MANY.format(most))
            ctx.block.extents[n] = text


@rule(FILL, pointwise=True, cheap=True, complexes=True)
@rule(BROADCAST_TO, pointwise=True, complexes=True)
def _fill(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    tensor, value = node.outputs[0], resolve(values[0])
    shape, t = ctx.shape_of(tensor), ctx.type_of(tensor)
    know_extents(ctx, node, values, shape)
    if not isinstance(value, (Scalar, Splat)):
        return [made(ctx, node, BROADCAST_TO, t, [value])]
    if shape == ():
        return [Scalar(value.text, t)]
    splat = Splat(value.text, t, shape)
    return [Pending(tensor, splat, t, shape) if tensor in ctx.block.plan.stored else splat]
