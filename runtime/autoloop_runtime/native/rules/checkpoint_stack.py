"""Checkpoints: stacks of which some elements are given up while a loop runs.

Which these are ``collections.checkpoint_store`` says.

A growing number of them (``Growing``) is a stack that only the loop that adds to it knows, and that is thinned out in
place. A limited number (``Limited``) is ``Owned``: the words of a stack, how many segments are planned (-1: it is not
known yet how far the loop will run), and four tables with room for all checkpoints: the segment of each, its level,
its place among the elements, and the planned segments. The places behind those in use are the free ones.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...collections import checkpoint_store as checkpoint_ops
from ...ir.graph import Node
from ..ir.elements import INT64, POINTER
from ..kernels.ll_files import code
from ..kernels.stack_code import HEAD
from ..typing.facts import StackType
from ..writer.context import Context
from ..writer.copy_on_write import COPIES, as_owned, changeable, held
from ..writer.registry import rule
from ..writer.values import Owned, Scalar, Value, registers, resolve
from .saved_values import define_stacks, element_at, element_size, index_of, push, put_element, read, with_memory


def _define(ctx: Context) -> None:
    define_stacks(ctx)
    ctx.module.define("checkpoints", lambda: code("growing_checkpoints"))
    words = {"HEAD": HEAD, "HEAD_AND_ONE": HEAD + 1, "HEAD_BYTES_AND_ONE": 8 * HEAD + 8}
    ctx.module.define("limited", lambda: code("limited_checkpoints", **words))


def _extents(stack_type: StackType) -> str:
    return f"i64 {stack_type.root().most}, i64 {element_size(stack_type)}"


def _copy(ctx: Context, stack_type: StackType, pointer: str) -> str:
    _define(ctx)
    return ctx.writer.let(f"call ptr @limited_copy(ptr %stacks, ptr {pointer}, {_extents(stack_type)})")


COPIES["checkpoints"] = _copy


@rule(checkpoint_ops.ADD)
def _add(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    _define(ctx)
    writer, n, stack_type = ctx.writer, index_of(ctx, values[1]), ctx.types.stacks[node.outputs[0]]
    if stack_type.is_owned:
        return [_add_limited(ctx, node, changeable(ctx, node, node.outputs[0], values[0]), n, values[2])]
    stack = ctx.scalar(values[0])
    stack, _ = push(ctx, node, stack, writer.let(f"call i64 @stack_word(ptr {stack}, i64 1, i64 0)"), values[2])
    writer.do(f"call void @thin_out(ptr {stack}, i64 {n}, i64 {element_size(stack_type)})")
    return [Scalar(stack, POINTER)]


def _add_limited(ctx: Context, node: Node, store: Owned, n: str, value: Value) -> Owned:
    writer, stack_type = ctx.writer, ctx.types.stacks[node.outputs[0]]
    pointer = with_memory(ctx, node, f"call ptr @limited_of(ptr %stacks, ptr {store.pointer}, {_extents(stack_type)})")
    place = writer.let(f"call ptr @limited_place(ptr {pointer}, i64 {n}, {_extents(stack_type)})")
    with writer.unless_null(place, "keep", "kept"):
        put_element(ctx, node, stack_type, value, element_at(ctx, place, stack_type))
    return held(pointer)


@rule(checkpoint_ops.INTERVAL)
def _interval(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    _define(ctx)
    pointer = registers(resolve(values[0]))[0][1]
    return [Scalar(ctx.writer.let(f"call i64 @stack_word(ptr {pointer}, i64 4, i64 1)"), INT64)]


@rule(checkpoint_ops.LATEST)
def _latest(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    _define(ctx)
    arguments = f"ptr {as_owned(values[0]).pointer}, i64 {index_of(ctx, values[1])}"
    return [Scalar(ctx.writer.let(f"call i64 @limited_latest({arguments})"), INT64)]


@rule(checkpoint_ops.REWIND)
def _rewind(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    _define(ctx)
    store, stack_type = changeable(ctx, node, node.outputs[0], values[0]), ctx.types.stacks[node.outputs[0]].root()
    arguments = f"ptr {store.pointer}, i64 {index_of(ctx, values[1])}, i64 {stack_type.most}"
    ctx.writer.do(f"call void @limited_rewind({arguments})")
    return [store]


@rule(checkpoint_ops.GET)
def _get(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    stack_type, position = ctx.types.stacks[node.inputs[0]].root(), index_of(ctx, values[1])
    pointer = registers(resolve(values[0]))[0][1]
    if stack_type.is_owned:
        _define(ctx)
        position = ctx.writer.let(f"call i64 @limited_at(ptr {pointer}, i64 {position}, i64 {stack_type.most})")
    return [read(ctx, node, pointer, position)]
