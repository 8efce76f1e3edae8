"""Elements at indices along one axis: read, and added up."""

from __future__ import annotations

from collections.abc import Sequence

from ...base.dataclass import replace
from ...ir.graph import Node
from ...ops.arithmetic import ADD
from ...ops.gathering import GATHER, PUT_ALONG, TAKE_ALONG
from ..ir.elements import literal
from ..writer.context import Context
from ..writer.memory import loaded, put, seen, shifted
from ..writer.nests import Nest, apply, store
from ..writer.node_writer import array_of
from ..writer.registry import rule
from ..writer.values import Array, Scalar, Splat, Value, resolve
from .element_index import index_of
from .indexing_rules import fitted, gathered


@rule(GATHER, complexes=True)
def _gather(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    axis = node.attrs["axis"] % len(ctx.shape_of(node.inputs[0]))
    indices = resolve(values[1])
    if isinstance(indices, Scalar):
        x = array_of(ctx, values[0])
        at = index_of(ctx, node, indices, x.shape[axis], [x, indices])
        offset = ctx.writer.let(f"mul nsw i64 {at}, {ctx.step(x.strides[axis])}")
        strides = x.strides[:axis] + x.strides[axis + 1 :]
        return [seen(ctx, shifted(ctx, x, offset, ctx.shape_of(node.outputs[0]), strides))]
    return [gathered(ctx, node, values, axis)]


@rule(TAKE_ALONG, complexes=True)
def _take_along(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    x, indices = array_of(ctx, values[0]), array_of(ctx, values[1])
    axis = node.attrs["axis"] % len(x.shape)
    out = ctx.result(node.outputs[0], x.t, indices.shape)
    if 0 in out.shape:
        return [out]
    if any(a != axis and n != m for a, (n, m) in enumerate(zip(x.shape, indices.shape))):
        ctx.refuse(node, f"shapes {x.shape} and {indices.shape} differ beside the axis")
    base = replace(x, shape=indices.shape, strides=tuple([0 if a == axis else s for a, s in enumerate(x.strides)]))
    nest = Nest(ctx, indices.shape, [indices, base, out])
    with nest.loops(sequential=True):
        at = index_of(ctx, node, Scalar(nest.element(indices), indices.t), x.shape[axis], [x, indices])
        offset = ctx.writer.let(f"mul nsw i64 {at}, {ctx.step(x.strides[axis])}")
        start = Array(nest.address(base), x.t, (), (), x.buffer)
        nest.store(out, loaded(ctx, shifted(ctx, start, offset, (), ())).text)
    return [out]


@rule(PUT_ALONG, complexes=True)
def _put_along(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    indices, tensor, axis = array_of(ctx, values[1]), node.outputs[0], node.attrs["axis"]
    t, shape = ctx.type_of(tensor), ctx.shape_of(tensor)
    out = ctx.result(tensor, t, shape)
    store(ctx, Splat(literal(0, t), t, shape), out)
    if 0 in indices.shape:
        return [out]
    added = fitted(values[2], indices.shape)
    base = replace(out, shape=indices.shape, strides=tuple([0 if a == axis else s for a, s in enumerate(out.strides)]))
    nest = Nest(ctx, indices.shape, [indices, base, added])
    with nest.loops(sequential=True):
        at = index_of(ctx, node, Scalar(nest.element(indices), indices.t), shape[axis], [values[0], indices, added])
        offset = ctx.writer.let(f"mul nsw i64 {at}, {ctx.step(out.strides[axis])}")
        place = shifted(ctx, Array(nest.address(base), t, (), (), out.buffer), offset, (), ())
        total = apply(ctx, ADD, t, [t, t], [loaded(ctx, place).text, nest.element(added)])
        put(ctx, Scalar(total, t), place)
    return [out]
