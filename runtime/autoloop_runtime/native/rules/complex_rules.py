"""Complex numbers, made of their parts; what is computed with them are templates."""

from __future__ import annotations

from collections.abc import Sequence

from ...analysis.part_updates import updated_part
from ...ir.graph import Node
from ...ops.complex_numbers import COMPLEX, IMAG, REAL, SET_IMAG, SET_REAL
from ..ir.elements import HALF
from ..writer.context import Context
from ..writer.memory import put
from ..writer.nests import apply
from ..writer.node_writer import array_of
from ..writer.registry import rule
from ..writer.values import Array, Expr, Scalar, Value, buffers, leaves, resolve
from .indexing_rules import fitted, writable
from .pointwise import made


@rule(COMPLEX, cheap=True, complexes=True)
def _complex(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    if ctx.type_of(node.inputs[0]) is HALF:
        ctx.refuse(node, "of half precision it has no machine code")
    return [made(ctx, node, COMPLEX, ctx.type_of(node.outputs[0]), values)]


@rule(SET_REAL, SET_IMAG, complexes=True)
def _set_part(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    x, value = values[0], resolve(values[1])
    t = ctx.type_of(node.outputs[0])
    if ctx.shape_of(node.outputs[0]) == ():
        kept, at = (IMAG, 1) if node.op is SET_REAL else (REAL, 0)
        parts = [ctx.scalar(value)]
        parts.insert(at, apply(ctx, kept, t.part, [t], [ctx.scalar(x)]))
        return [Scalar(apply(ctx, COMPLEX, t, [t.part] * 2, parts), t)]
    update = _updates(ctx, node, value, resolve(x))
    if isinstance(value, Expr) and not update and {*buffers(resolve(x))} & {*buffers(value)}:
        value = array_of(ctx, value)
    out = writable(ctx, node, x, [] if update else [value])
    strides = tuple([2 * step for step in out.strides])
    pointer = out.pointer
    if node.op is SET_IMAG:
        pointer = ctx.writer.let(f"getelementptr {t.part.memory}, ptr {pointer}, i64 1")
    put(ctx, fitted(value, out.shape), Array(pointer, t.part, out.shape, strides, out.buffer, out.owned))
    return [out]


def _updates(ctx: Context, node: Node, value: Value, x: Value) -> bool:
    """Return whether ``value`` is yet to be computed, and of the array ``x`` only from what its elements replace."""
    if updated_part(ctx.block.plan.uses, node) is None or not isinstance(value, Expr) or not isinstance(x, Array):
        return False
    return all(leaf is x or x.buffer not in buffers(leaf) for leaf in leaves(value))
