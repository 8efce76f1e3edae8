"""TensorArrays of fixed size: their elements one after another in memory, written where they are."""

from __future__ import annotations

from collections.abc import Sequence

from ...collections import saved_stacks as saved_ops
from ...collections import tensor_array_ops as array_ops
from ...ir.graph import Node
from ...ops.reductions import ANY
from ..ir.casts import cast
from ..ir.elements import BOOL, INT64
from ..writer.context import Context
from ..writer.copy_on_write import cleared, copied_rows, new_like
from ..writer.memory import put, seen, shifted
from ..writer.nests import Nest, store
from ..writer.node_writer import array_of, flush
from ..writer.registry import rule
from ..writer.values import Array, Nothing, Rows, Scalar, Splat, Value, resolve, size_of
from .reduction_rules import reduce


def changeable(ctx: Context, node: Node, value: Value, others: Sequence[Value]) -> Rows:
    """Return the array, to be written to: itself if nobody holds this version of it, a copy otherwise."""
    if isinstance(value, Nothing):
        return cleared(ctx, new_like(ctx, node.outputs[0]))
    assert isinstance(value, Rows)
    flags = [value.written] if value.read is None else [value.written, value.read]
    if ctx.is_free(value.items) and all(ctx.is_free(f) for f in flags):
        return value
    items = ctx.result(node.outputs[0], value.items.t, value.items.shape)
    return copied_rows(ctx, value, items)


def flag_at(ctx: Context, flags: Array, at: str) -> tuple[str, str]:
    """Return the flag at an index: its address and its value."""
    address = ctx.writer.let(f"getelementptr i8, ptr {flags.pointer}, i64 {at}")
    raw = ctx.writer.let(f"load i8, ptr {address}")
    return address, ctx.writer.let(f"trunc i8 {raw} to i1")


def position(ctx: Context, node: Node, value: Value, size: int, values: Sequence[Value]) -> str:
    """Return an index, checked; a negative one is an error."""
    index = resolve(value)
    assert isinstance(index, Scalar)
    at = cast(ctx.writer, ctx.module, index.text, index.t, INT64)
    ctx.check(ctx.writer.let(f"icmp ult i64 {at}, {size}"), node, values)
    return at


def row_at(ctx: Context, items: Array, at: str) -> Array:
    offset = ctx.writer.let(f"mul nsw i64 {at}, {ctx.step(items.strides[0])}")
    return shifted(ctx, items, offset, items.shape[1:], items.strides[1:])


@rule(array_ops.WRITE, complexes=True, refuses="an element is written behind the end of a TensorArray that grows")
def _write(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    rows = changeable(ctx, node, values[0], values[1:])
    values = [rows, *values[1:]]
    _write_one(ctx, node, rows, values[1], values[2], values)
    return [rows]


def _write_one(
    ctx: Context, node: Node, rows: Rows, index: Value, item: Value, values: Sequence[Value]
) -> None:  # fmt: skip
    at = position(ctx, node, index, rows.items.shape[0], values)
    address, written = flag_at(ctx, rows.written, at)
    ctx.check(ctx.writer.let(f"xor i1 {written}, true"), node, values)
    ctx.writer.do(f"store i8 1, ptr {address}")
    put(ctx, item, row_at(ctx, rows.items, at))


@rule(saved_ops.PEEK, complexes=True)
def _peek(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    rows = values[0]
    assert isinstance(rows, Rows)
    at = position(ctx, node, values[1], rows.items.shape[0], values)
    zero_unless(ctx, flag_at(ctx, rows.written, at)[1], row_at(ctx, rows.items, at))
    return [seen(ctx, row_at(ctx, rows.items, at))]


@rule(array_ops.READ, array_ops.READ_ONCE, complexes=True)
def _read(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    rows = values[0]
    assert isinstance(rows, Rows)
    at = position(ctx, node, values[1], rows.items.shape[0], values)
    _, written = flag_at(ctx, rows.written, at)
    if not _zeros_known(ctx, node):
        ctx.check(written, node, values)
    if rows.read is not None:
        address, before = flag_at(ctx, rows.read, at)
        ctx.check(ctx.writer.let(f"xor i1 {before}, true"), node, values)
        ctx.writer.do(f"store i8 1, ptr {address}")
    zero_unless(ctx, written, row_at(ctx, rows.items, at))
    return [seen(ctx, row_at(ctx, rows.items, at))]


def _zeros_known(ctx: Context, node: Node) -> bool:
    """Return whether elements that were not written are zeros, because the graph says what shape they have."""
    return bool(node.attrs["shape"].is_fully_defined()) or ctx.types.array(node.inputs[0]).declared


def zero_unless(ctx: Context, written: str, row: Array) -> None:
    """Make the memory of an element that was not written zeros."""
    writer = ctx.writer
    blank, done = writer.label("blank"), writer.label("there")
    writer.branch(written, done, blank)
    writer.start(blank)
    size = size_of(row.shape) * row.t.size
    writer.do(f"call void @llvm.memset.p0.i64(ptr {row.pointer}, i8 0, i64 {size}, i1 false)")
    writer.jump(done)
    writer.start(done)


@rule(array_ops.STACK, complexes=True)
def _stack(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    rows = values[0]
    assert isinstance(rows, Rows)
    if rows.items.shape[0]:
        if not _zeros_known(ctx, node):
            # a shape that nobody declared is known from what was written
            ctx.check(reduce(ctx, ANY, rows.written, (0,), None), node, values)
        if rows.read is not None:
            used = reduce(ctx, ANY, rows.read, (0,), None)
            ctx.check(ctx.writer.let(f"xor i1 {used}, true"), node, values)
            store(ctx, Splat("true", BOOL, rows.read.shape), rows.read)
        nest = Nest(ctx, rows.written.shape, [rows.written])
        with nest.each() as k:
            zero_unless(ctx, nest.element(rows.written), row_at(ctx, rows.items, k))
    return [rows.items]


@rule(array_ops.UNSTACK, complexes=True)
def _unstack(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    rows = changeable(ctx, node, values[0], values[1:])
    if rows.items.shape[0]:
        used = reduce(ctx, ANY, rows.written, (0,), None)
        ctx.check(ctx.writer.let(f"xor i1 {used}, true"), node, [rows, *values[1:]])
        store(ctx, Splat("true", BOOL, rows.written.shape), rows.written)
        put(ctx, values[1], rows.items)
    return [rows]


@rule(array_ops.GATHER, complexes=True)
def _gather(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    flush(ctx)
    rows, indices = values[0], array_of(ctx, values[1])
    assert isinstance(rows, Rows)
    if rows.read is not None or not _zeros_known(ctx, node):
        ctx.refuse(node, "of elements that may be read once only, or have no declared shape, it has no machine code")
    tensor = node.outputs[0]
    out = ctx.result(tensor, rows.items.t, ctx.shape_of(tensor))
    if 0 in out.shape:
        return [out]
    nest = Nest(ctx, indices.shape, [indices])
    with nest.each() as k:
        index = Scalar(nest.element(indices), indices.t)
        at = position(ctx, node, index, rows.items.shape[0], values)
        zero_unless(ctx, flag_at(ctx, rows.written, at)[1], row_at(ctx, rows.items, at))
        put(ctx, seen(ctx, row_at(ctx, rows.items, at)), row_at(ctx, out, k))
    return [out]


@rule(array_ops.SCATTER, complexes=True)
def _scatter(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    flush(ctx)
    rows = changeable(ctx, node, values[0], values[1:])
    indices, items = array_of(ctx, values[1]), array_of(ctx, values[2])
    if indices.shape[0]:
        nest = Nest(ctx, indices.shape, [indices])
        with nest.each() as k:
            index = Scalar(nest.element(indices), indices.t)
            row = seen(ctx, row_at(ctx, items, k))
            _write_one(ctx, node, rows, index, row, [rows, indices, items])
    return [rows]
