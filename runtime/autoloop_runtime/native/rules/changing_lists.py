"""Lists whose elements are taken off or replaced: ``Owned`` stacks, changed in place by whoever holds them alone."""

from __future__ import annotations

from collections.abc import Sequence

from ...collections import tensor_array_ops as array_ops
from ...ir.graph import Node
from ..typing.facts import StackType
from ..writer.context import Context
from ..writer.copy_on_write import COPIES, as_grown, changeable, held
from ..writer.registry import rule
from ..writer.values import Owned, Value
from .saved_values import define_lists, element_size, index_of, place_in, put_element, read, with_memory


def _copy(ctx: Context, stack_type: StackType, pointer: str) -> str:
    define_lists(ctx)
    return ctx.writer.let(f"call ptr @list_copy(ptr %stacks, ptr {pointer}, i64 {element_size(stack_type)})")


COPIES["list"] = _copy


def _changeable(ctx: Context, node: Node, values: Sequence[Value]) -> tuple[Owned, str]:
    """Return the list, to be changed by ``node``, and the index, which is one of an element."""
    position, seen = index_of(ctx, values[1]), as_grown(ctx, values[0])
    ctx.check(ctx.writer.let(f"icmp ult i64 {position}, {seen.length}"), node, [seen, *values[1:]])
    return changeable(ctx, node, node.outputs[0], values[0]), position


@rule(array_ops.READ_LISTED, complexes=True)
def _read(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    position, seen = index_of(ctx, values[1]), as_grown(ctx, values[0])
    ctx.check(ctx.writer.let(f"icmp ult i64 {position}, {seen.length}"), node, [seen, *values[1:]])
    return [read(ctx, node, seen.stack, position)]


@rule(array_ops.REPLACE, complexes=True)
def _replace(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    mine, position = _changeable(ctx, node, values)
    stack_type = ctx.types.stacks[node.outputs[0]]
    put_element(ctx, node, stack_type, values[2], place_in(ctx, mine.pointer, position, stack_type))
    return [held(mine.pointer)]


@rule(array_ops.INSERT, complexes=True)
def _insert(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    position, seen = index_of(ctx, values[1]), as_grown(ctx, values[0])
    ctx.check(ctx.writer.let(f"icmp ule i64 {position}, {seen.length}"), node, [seen, *values[1:]])
    mine, stack_type = changeable(ctx, node, node.outputs[0], values[0]), ctx.types.stacks[node.outputs[0]]
    size = element_size(stack_type)
    define_lists(ctx)
    call = f"call ptr @stack_at(ptr %stacks, ptr {mine.pointer}, i64 {seen.length}, i64 {size})"
    pointer = with_memory(ctx, node, call)
    ctx.writer.do(f"call void @list_open(ptr {pointer}, i64 {position}, i64 {seen.length}, i64 {size})")
    put_element(ctx, node, stack_type, values[2], place_in(ctx, pointer, position, stack_type))
    return [held(pointer)]


@rule(array_ops.DROP, complexes=True)
def _drop(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    mine, position = _changeable(ctx, node, values)
    ctx.writer.do(f"store i64 {position}, ptr {ctx.writer.let(f'getelementptr i64, ptr {mine.pointer}, i64 1')}")
    return [held(mine.pointer)]


@rule(array_ops.REMOVE, complexes=True)
def _remove(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    mine, position = _changeable(ctx, node, values)
    size = element_size(ctx.types.stacks[node.outputs[0]])
    define_lists(ctx)
    ctx.writer.do(f"call void @list_remove(ptr {mine.pointer}, i64 {position}, i64 {size})")
    return [held(mine.pointer)]
