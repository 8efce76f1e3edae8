"""TensorArrays that grow: stacks that things are appended to."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.graph import Node
from ..ir.casts import cast
from ..ir.elements import INT32, INT64
from ..writer.context import Context
from ..writer.memory import seen
from ..writer.nests import store
from ..writer.node_writer import Rule, rule
from ..writer.values import Array, Grown, Scalar, Value, dense
from .saved_values import index_of, place_in, push, read
from .tensor_array_rules import cleared, new_like


def _either(fixed: Rule, growing: Rule) -> Rule:
    """The rule of an op on TensorArrays of fixed size, or on those that grow."""

    def choose(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
        return (growing if isinstance(values[0], Grown) else fixed)(ctx, node, values)

    return choose


def extend(rules: dict[str, Rule]) -> None:
    """Let the rules of TensorArrays of fixed size know of those that grow."""
    for name, growing in _GROWING.items():
        rules[name] = _either(rules[name], growing) if name in rules else growing


@rule("tensor_array")
def _new(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    if node.outputs[0] in ctx.types.piles:
        return [Grown("null", "0")]
    return [cleared(ctx, new_like(ctx, node.outputs[0]))]


def _write(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    array = values[0]
    assert isinstance(array, Grown)
    position = index_of(ctx, values[1])
    ctx.check(ctx.writer.let(f"icmp eq i64 {position}, {array.length}"), node, values)
    return [Grown(*push(ctx, node, array.stack, position, values[2]))]


def _size(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    array = values[0]
    assert isinstance(array, Grown)
    return [Scalar(cast(ctx.writer, ctx.module, array.length, INT64, INT32), INT32)]


def _read(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    array = values[0]
    assert isinstance(array, Grown)
    position = index_of(ctx, values[1])
    ctx.check(ctx.writer.let(f"icmp ult i64 {position}, {array.length}"), node, values)
    return [read(ctx, node, array.stack, position)]


def _stack(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    array, tensor = values[0], node.outputs[0]
    assert isinstance(array, Grown)
    if tensor in ctx.types.returned:
        return [array]
    t, shape = ctx.type_of(tensor), ctx.shape_of(tensor)
    out: Array = ctx.result(tensor, t, shape)
    if 0 not in shape:
        # the number of elements was found beforehand; that it is right is made sure of
        ctx.check(ctx.writer.let(f"icmp eq i64 {array.length}, {shape[0]}"), node, values)
        first = place_in(ctx, array.stack, "0", ctx.types.piles[node.inputs[0]])
        assert isinstance(first, Array)
        whole = Array(first.pointer, t, shape, dense(shape), first.buffer)
        store(ctx, whole, out)
    return [seen(ctx, out)]


_GROWING: dict[str, Rule] = {
    "tensor_array_write": _write,
    "tensor_array_size": _size,
    "tensor_array_read": _read,
    "PeekArray": _read,
    "tensor_array_stack": _stack,
}
