"""Arrays of one value, and values that are repeated along axes."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.graph import Node
from ...ops.broadcasting import BROADCAST_TO
from ...ops.filled import FILL
from ..writer.context import Context
from ..writer.registry import rule
from ..writer.values import Pending, Scalar, Splat, Value, resolve
from .pointwise import made


@rule(FILL, pointwise=True, cheap=True, complexes=True)
@rule(BROADCAST_TO, pointwise=True, complexes=True)
def _fill(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    tensor, value = node.outputs[0], resolve(values[0])
    shape, t = ctx.shape_of(tensor), ctx.type_of(tensor)
    if not isinstance(value, (Scalar, Splat)):
        return [made(ctx, node, BROADCAST_TO, t, [value])]
    if shape == ():
        return [Scalar(value.text, t)]
    splat = Splat(value.text, t, shape)
    return [Pending(tensor, splat, t, shape) if tensor in ctx.block.plan.stored else splat]
