"""Diagonals and triangles of matrices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...ir.graph import Node
from ...ops.diagonals import DIAGONAL, EMBED, TRIL, TRIU
from ...ops.selection import WHERE
from ..ir.elements import literal
from ..writer.context import Context
from ..writer.memory import is_one_value, put, shifted, splat
from ..writer.nests import store, store_all
from ..writer.node_writer import array_of
from ..writer.registry import rule
from ..writer.values import Expr, Scalar, Splat, Value


@rule(DIAGONAL, view=True, complexes=True)
def _diagonal(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    if is_one_value(values[0]):
        return [splat(ctx, node, values[0])]
    x, k = array_of(ctx, values[0]), node.attrs["k"]
    rows, columns = x.strides[-2:]
    offset = max(-k, 0) * rows + max(k, 0) * columns
    return [shifted(ctx, x, offset, ctx.shape_of(node.outputs[0]), (*x.strides[:-2], rows + columns))]


@rule(EMBED, complexes=True)
def _embed_diagonal(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    tensor, k = node.outputs[0], node.attrs["k"]
    out = ctx.result(tensor, ctx.type_of(tensor), ctx.shape_of(tensor))
    store(ctx, Splat(literal(0, out.t), out.t, out.shape), out)
    rows, columns = out.strides[-2:]
    offset = max(-k, 0) * rows + max(k, 0) * columns
    put(ctx, values[0], shifted(ctx, out, offset, ctx.shape_of(node.inputs[0]), (*out.strides[:-2], rows + columns)))
    return [out]


@rule(TRIL, TRIU, complexes=True)
def _triangle(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    tensor = node.outputs[0]
    shape, t = ctx.shape_of(tensor), ctx.type_of(tensor)
    rows, columns = shape[-2:]
    mask = np.tri(rows, columns, node.attrs["k"] - (node.op is TRIU), dtype=bool)
    keep, zero = ctx.constant(mask), Scalar(literal(0, t), t)
    args = (keep, values[0], zero) if node.op is TRIL else (keep, zero, values[0])
    out = ctx.result(tensor, t, shape)
    store_all(ctx, shape, [Expr(WHERE, args, t, shape)], [out])
    return [out]
