"""Reductions of exponentials, made of others."""

from __future__ import annotations

from collections.abc import Sequence

from ...base.dataclass import replace
from ...ir.graph import Node
from ...ops.arithmetic import ADD, DIVIDE, SUBTRACT
from ...ops.logic import ISFINITE
from ...ops.powers import EXP, LOG
from ...ops.reducing import SUM
from ...ops.reductions import LOG_SOFTMAX, LOGSUMEXP, MAX, SOFTMAX
from ...ops.selection import WHERE
from ..ir.elements import BOOL, literal
from ..writer.context import Context
from ..writer.memory import seen
from ..writer.nests import store_all
from ..writer.node_writer import array_of
from ..writer.registry import rule
from ..writer.values import Expr, Scalar, Value, dense, resolve
from .reduction_rules import axes_of, reduced_over


@rule(SOFTMAX, LOG_SOFTMAX)
def _softmax(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    tensor, x = node.outputs[0], array_of(ctx, values[0])
    t, shape = x.t, x.shape
    out = ctx.result(tensor, t, shape)
    if 0 in shape:
        return [out]
    axes = [node.attrs["axis"] % len(shape)]
    shifted = Expr(SUBTRACT, (x, reduced_over(ctx, MAX, x, axes)), t, shape)
    if node.op is SOFTMAX:
        store_all(ctx, shape, [Expr(EXP, (shifted,), t, shape)], [out])
        last: Value = Expr(DIVIDE, (out, reduced_over(ctx, SUM, out, axes)), t, shape)
    else:
        store_all(ctx, shape, [shifted], [out])
        total = reduced_over(ctx, SUM, Expr(EXP, (out,), t, shape), axes)
        last = Expr(SUBTRACT, (out, Expr(LOG, (total,), t, total.shape)), t, shape)
    store_all(ctx, shape, [last], [out])
    return [out]


@rule(LOGSUMEXP)
def _logsumexp(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    tensor, x = node.outputs[0], resolve(values[0])
    full, t = ctx.shape_of(node.inputs[0]), ctx.type_of(tensor)
    axes = axes_of(node, len(full))
    if 0 in full or isinstance(x, Scalar):
        ctx.refuse(node, "of no axes or no elements it has no machine code")
    top = reduced_over(ctx, MAX, x, axes)
    finite = Expr(ISFINITE, (top,), BOOL, top.shape)
    safe = Expr(WHERE, (finite, top, Scalar(literal(0, t), t)), t, top.shape)
    powers = Expr(EXP, (Expr(SUBTRACT, (x, safe), t, full),), t, full)
    total = reduced_over(ctx, SUM, powers, axes)
    out = ctx.result(tensor, t, ctx.shape_of(tensor))
    kept = replace(out, shape=top.shape, strides=dense(top.shape))
    store_all(ctx, top.shape, [Expr(ADD, (Expr(LOG, (total,), t, top.shape), safe), t, top.shape)], [kept])
    return [seen(ctx, out)]
