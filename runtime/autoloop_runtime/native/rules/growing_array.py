"""TensorArrays that grow: stacks that things are appended to."""

from __future__ import annotations

from collections.abc import Sequence

from ...collections import saved_stacks as saved_ops
from ...collections import tensor_array_ops as array_ops
from ...ir.graph import Node
from ..ir.casts import cast
from ..ir.elements import INT32, INT64, LType
from ..ir.moving import Extent
from ..writer.context import Context
from ..writer.copy_on_write import as_grown, changeable, cleared, held, new_like
from ..writer.memory import seen
from ..writer.nests import store
from ..writer.node_writer import array_of
from ..writer.refusals_in_runs import TOO_MANY
from ..writer.registry import growing_rule, rule
from ..writer.values import Array, Buffer, Grown, Scalar, Shape, Value, dense, size_of
from .saved_values import define_lists, element_size, index_of, place_in, push, read, with_memory


@rule(array_ops.NEW, complexes=True)
def _new(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    if ctx.types.is_owned(node.outputs[0]):
        return [held("null")]
    if node.outputs[0] in ctx.types.stacks:
        return [Grown("null", "0")]
    return [cleared(ctx, new_like(ctx, node.outputs[0]))]


@growing_rule(array_ops.WRITE)
def _write(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    array, position = as_grown(ctx, values[0]), index_of(ctx, values[1])
    ctx.check(ctx.writer.let(f"icmp eq i64 {position}, {array.length}"), node, [array, *values[1:]])
    if not ctx.types.is_owned(node.outputs[0]):
        return [Grown(*push(ctx, node, array.stack, position, values[2]))]
    mine = changeable(ctx, node, node.outputs[0], values[0])
    return [held(push(ctx, node, mine.pointer, position, values[2])[0])]


@growing_rule(array_ops.UNSTACK)
def _unstack(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    rows, stack_type = array_of(ctx, values[1]), ctx.types.stacks[node.outputs[0]]
    if 0 in rows.shape[:1]:
        return [values[0]]
    define_lists(ctx)
    length = ctx.extent(rows.shape[0])
    call = f"call ptr @list_of_rows(ptr %stacks, i64 {length}, i64 {element_size(stack_type)})"
    pointer = with_memory(ctx, node, call)
    if 0 not in rows.shape:
        data = ctx.writer.let(f"load ptr, ptr {pointer}")
        buffer = Buffer(data, size_of(rows.shape) * rows.t.size)
        store(ctx, rows, Array(data, rows.t, rows.shape, dense(rows.shape), buffer))
    return [held(pointer) if stack_type.is_owned else Grown(pointer, length)]


@rule(array_ops.SIZE)
def _size(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    array = as_grown(ctx, values[0])
    return [Scalar(cast(ctx.writer, ctx.module, array.length, INT64, INT32), INT32)]


@growing_rule(array_ops.READ, saved_ops.PEEK)
def _read(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    array, position = as_grown(ctx, values[0]), index_of(ctx, values[1])
    ctx.check(ctx.writer.let(f"icmp ult i64 {position}, {array.length}"), node, [array, *values[1:]])
    return [read(ctx, node, array.stack, position)]


@growing_rule(array_ops.STACK)
def _stack(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    tensor = node.outputs[0]
    if tensor in ctx.types.returned:
        return [values[0]]
    array, values = as_grown(ctx, values[0]), [as_grown(ctx, values[0])]
    t, shape = ctx.type_of(tensor), ctx.shape_of(tensor)
    if isinstance(shape[0], Extent):
        return [_stacked(ctx, node, array, t, shape)]
    out: Array = ctx.result(tensor, t, shape)
    if 0 not in shape:
        # the number of elements was found beforehand; that it is right is made sure of
        ctx.check(ctx.writer.let(f"icmp eq i64 {array.length}, {shape[0]}"), node, values)
        first = place_in(ctx, array.stack, "0", ctx.types.stacks[node.inputs[0]])
        assert isinstance(first, Array)
        whole = Array(first.pointer, t, shape, dense(shape), first.buffer)
        store(ctx, whole, out)
    return [seen(ctx, out)]


def _stacked(ctx: Context, node: Node, array: Grown, t: LType, shape: Shape) -> Value:
    """Return the elements, as many as there are, as the rows of an array."""
    out: Array = ctx.result(node.outputs[0], t, shape)
    extent = shape[0]
    assert isinstance(extent, Extent)
    fits = ctx.writer.let(f"icmp ule i64 {array.length}, {int(extent)}")
    ctx.check(fits, node, [array], refuses=TOO_MANY.format(int(extent)))
    ctx.block.extents[extent] = array.length
    if 0 not in shape:
        with ctx.writer.unless_null(array.stack, "there", "stacked"):
            first = place_in(ctx, array.stack, "0", ctx.types.stacks[node.inputs[0]])
            assert isinstance(first, Array)
            store(ctx, Array(first.pointer, t, shape, dense(shape), first.buffer), out)
    return out
