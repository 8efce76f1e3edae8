"""Tables of gradients: for each element of a collection what was added to it so far, and whether anything was."""

from __future__ import annotations

from collections.abc import Sequence

from ...collections import adjoint_table as table_ops
from ...collections import tensor_array_vjps as array_vjp_ops
from ...ir.graph import Node
from ..ir.elements import BOOL
from ..writer.context import Context
from ..writer.copy_on_write import cleared, new_like
from ..writer.memory import put, seen
from ..writer.nests import Nest, store
from ..writer.node_writer import array_of
from ..writer.registry import rule
from ..writer.values import Array, Nothing, Rows, Scalar, Splat, Value, is_dense, size_of
from .scatter import add_to
from .tensor_array_rules import changeable, flag_at, position, row_at, zero_unless

#: why their checks may fail where the kernel raises nothing
_UNKNOWN = "how many elements the collection has is not known"


@rule(table_ops.EMPTY, refuses=_UNKNOWN)
def _empty(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    return [Nothing()]


@rule(table_ops.FROM_ROWS, refuses=_UNKNOWN)
def _from_rows(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    items = array_of(ctx, values[0])
    if not is_dense(items):
        dense_items: Array = ctx.temporary(items.t, items.shape)
        store(ctx, items, dense_items)
        items = dense_items
    written = ctx.temporary(BOOL, items.shape[:1])
    store(ctx, Splat("true", BOOL, written.shape), written)
    return [Rows(items, written, None)]


@rule(table_ops.ADD, refuses=_UNKNOWN)
def _add(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    rows = changeable(ctx, node, values[0], values[1:])
    at = position(ctx, node, values[1], rows.items.shape[0], [rows, *values[1:]])
    _add_row(ctx, rows, at, values[2])
    return [rows]


def _add_row(ctx: Context, rows: Rows, at: str, value: Value) -> None:
    address, written = flag_at(ctx, rows.written, at)
    row = row_at(ctx, rows.items, at)
    zero_unless(ctx, written, row)
    ctx.writer.do(f"store i8 1, ptr {address}")
    add_to(ctx, row, value)


@rule(table_ops.GET, refuses=_UNKNOWN)
def _get(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    table, tensor = values[0], node.outputs[0]
    t, shape = ctx.type_of(tensor), ctx.shape_of(tensor)
    if isinstance(table, Nothing):
        zero = "0.0" if t.kind == "f" else "0"
        return [Splat(zero, t, shape) if shape else Scalar(zero, t)]
    assert isinstance(table, Rows)
    at = position(ctx, node, values[1], table.items.shape[0], values)
    row = row_at(ctx, table.items, at)
    zero_unless(ctx, flag_at(ctx, table.written, at)[1], row)
    if shape and any(n.op in (table_ops.ADD, table_ops.MERGE) for n in node.graph.nodes):
        # what is looked at must not change when the table does
        copy: Array = ctx.temporary(t, shape)
        store(ctx, row, copy)
        return [copy]
    return [seen(ctx, row)]


@rule(table_ops.WITHOUT, refuses=_UNKNOWN)
def _without(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    rows = changeable(ctx, node, values[0], values[1:])
    at = position(ctx, node, values[1], rows.items.shape[0], [rows, *values[1:]])
    ctx.writer.do(f"store i8 0, ptr {flag_at(ctx, rows.written, at)[0]}")
    return [rows]


@rule(table_ops.MERGE, refuses=_UNKNOWN)
def _merge(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    if isinstance(values[0], Nothing) or isinstance(values[1], Nothing):
        return [values[1] if isinstance(values[0], Nothing) else values[0]]
    rows, other = changeable(ctx, node, values[0], values[1:]), values[1]
    assert isinstance(other, Rows)
    if not size_of(other.written.shape):
        return [rows]
    writer = ctx.writer
    nest = Nest(ctx, other.written.shape, [other.written])
    with nest.each() as k:
        there, skip = writer.label("there"), writer.label("skip")
        writer.branch(nest.element(other.written), there, skip)
        writer.start(there)
        _add_row(ctx, rows, k, seen(ctx, row_at(ctx, other.items, k)))
        writer.jump(skip)
        writer.start(skip)
    return [rows]


@rule(table_ops.ROWS, refuses=_UNKNOWN)
def _stacked(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    table, tensor = values[0], node.outputs[0]
    t, shape = ctx.type_of(tensor), ctx.shape_of(tensor)
    if isinstance(table, Nothing):
        return [Splat("0.0" if t.kind == "f" else "0", t, shape)]
    assert isinstance(table, Rows)
    if size_of(table.written.shape):
        nest = Nest(ctx, table.written.shape, [table.written])
        with nest.each() as k:
            zero_unless(ctx, nest.element(table.written), row_at(ctx, table.items, k))
    return [table.items]


@rule(array_vjp_ops.GATHER, refuses=_UNKNOWN)
def _gather(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    table, tensor = values[0], node.outputs[0]
    t, shape = ctx.type_of(tensor), ctx.shape_of(tensor)
    zeros = Splat("0.0" if t.kind == "f" else "0", t, shape)
    if isinstance(table, Nothing) or 0 in shape:
        return [zeros]
    assert isinstance(table, Rows)
    indices, out = array_of(ctx, values[1]), ctx.result(tensor, t, shape)
    nest = Nest(ctx, indices.shape, [indices])
    with nest.each() as k:
        at = position(ctx, node, Scalar(nest.element(indices), indices.t), table.items.shape[0], [table, indices])
        row = row_at(ctx, table.items, at)
        zero_unless(ctx, flag_at(ctx, table.written, at)[1], row)
        put(ctx, seen(ctx, row), row_at(ctx, out, k))
    return [out]


@rule(array_vjp_ops.SCATTER, refuses=_UNKNOWN)
def _scatter(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    indices, items = array_of(ctx, values[0]), array_of(ctx, values[1])
    rows = cleared(ctx, new_like(ctx, node.outputs[0]))
    if size_of(indices.shape):
        nest = Nest(ctx, indices.shape, [indices])
        with nest.each() as k:
            index = Scalar(nest.element(indices), indices.t)
            at = position(ctx, node, index, rows.items.shape[0], [indices, items])
            _add_row(ctx, rows, at, seen(ctx, row_at(ctx, items, k)))
    return [rows]
