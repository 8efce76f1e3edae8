"""How many elements there are where the run decides it; elsewhere that is known beforehand."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.graph import Node
from ...ops.shape_queries import SHAPE, SIZE
from ..ir.casts import cast
from ..ir.elements import INT64, LType
from ..writer.context import Context
from ..writer.memory import put, shifted
from ..writer.registry import rule
from ..writer.values import Scalar, Value


def _number(ctx: Context, text: str, t: LType) -> Scalar:
    return Scalar(cast(ctx.writer, ctx.module, text, INT64, t), t)


@rule(SIZE, partly=True, complexes=True)
def _size(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    return [_number(ctx, ctx.count(ctx.shape_of(node.inputs[0])), ctx.type_of(node.outputs[0]))]


@rule(SHAPE, partly=True, complexes=True)
def _shape(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    full, t = ctx.shape_of(node.inputs[0]), ctx.type_of(node.outputs[0])
    out = ctx.result(node.outputs[0], t, (len(full),))
    for axis, n in enumerate(full):
        put(ctx, _number(ctx, ctx.extent(n), t), shifted(ctx, out, axis, (), ()))
    return [out]
