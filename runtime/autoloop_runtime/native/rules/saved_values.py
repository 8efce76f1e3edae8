"""Stacks of saved values: memory that grows while a loop runs, for the loop of its gradient to read.

``stack_code`` says what a stack is in memory. Pushing at the end of one writes in place; older versions do not look
behind their own end.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...collections import checkpoint_store as checkpoint_ops
from ...collections import saved_stacks as saved_ops
from ...ir.graph import Graph, Node
from ..ir.casts import cast
from ..ir.elements import BOOL, INT64, POINTER
from ..kernels import swap_file as swapped
from ..kernels.ll_files import code
from ..kernels.stack_code import FIRST, HEAD, functions
from ..typing.facts import Rows, StackType
from ..writer.context import Context
from ..writer.copy_on_write import as_owned, copied, copied_rows, is_alone
from ..writer.memory import loaded, put
from ..writer.nests import store
from ..writer.registry import rule
from ..writer.values import Array, Buffer, Grown, Nothing, Owned, Scalar, Splat, Value, dense, resolve, size_of
from ..writer.values import Rows as Table

#: bytes of a line of the caches, and of elements that are asked for before they are read: more than the processor
#: fetches by itself, and not more than the caches hold beside what else is in use
LINE, AHEAD = 64, range(1024, (64 << 10) + 1)


def define_stacks(ctx: Context) -> None:
    """Let the module have what stacks need."""
    swaps = ctx.types.swaps()
    if swaps:
        ctx.libraries.addresses.update(swapped.addresses())
        ctx.module.define("python_objects", lambda: code("python_objects"))
    ctx.module.define("stacks", lambda: functions(swaps))


def define_lists(ctx: Context) -> None:
    """Let the module have what lists need that change, or are made of arrays."""
    define_stacks(ctx)
    ctx.module.define("lists", lambda: code("lists", FIRST=FIRST, HEAD_BYTES=8 * HEAD))


@rule(saved_ops.EMPTY, checkpoint_ops.EMPTY)
def _empty(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    return [Scalar("null", POINTER)]


def element_size(stack_type: StackType) -> int:
    """Return bytes of an element."""
    element = stack_type.root().element
    if stack_type.root().counted:
        return 16
    if isinstance(element, Rows):
        rows = element.root()
        flags = (2 if rows.clear else 1) * (rows.size or 0)
        return -(-(_items_size(rows) + flags) // 8) * 8 or 8
    if isinstance(element, tuple):
        dtype, shape = element
        return max(1, size_of(shape) * np.dtype(dtype).itemsize)
    return 8


def _items_size(rows: Rows) -> int:
    return (rows.size or 0) * size_of(rows.shape() or ()) * np.dtype(rows.dtype).itemsize


def element_at(ctx: Context, pointer: str, stack_type: StackType) -> Value:
    """Return the element at an address; of a TensorArray that grows, where its stack and its length are."""
    element = stack_type.root().element
    if isinstance(element, Rows):
        return _record(ctx, pointer, element.root(), element_size(stack_type))
    t, shape = (ctx.element_type(element[0]), element[1]) if isinstance(element, tuple) else (POINTER, ())
    if stack_type.root().counted:
        return Grown(pointer, ctx.writer.let(f"getelementptr i64, ptr {pointer}, i64 1"))
    return Array(pointer, t, shape, dense(shape), Buffer(pointer, element_size(stack_type)))


def _record(ctx: Context, pointer: str, rows: Rows, size: int) -> Table:
    """Return a TensorArray at an address: its elements, then its flags."""
    assert rows.dtype is not None and rows.size is not None
    buffer, parts, offset = Buffer(pointer, size), [], 0
    shape = (rows.size, *(rows.shape() or ()))
    for t, extents in ((ctx.element_type(rows.dtype), shape), (BOOL, shape[:1]), (BOOL, shape[:1])):
        at = ctx.writer.let(f"getelementptr i8, ptr {pointer}, i64 {offset}") if offset else pointer
        parts.append(Array(at, t, extents, dense(extents), buffer))
        offset += size_of(extents) * t.size
    return Table(parts[0], parts[1], parts[2] if rows.clear else None)


def place_in(ctx: Context, stack: str, position: str, stack_type: StackType) -> Value:
    """Return the element at ``position``, in the memory of the stack."""
    writer = ctx.writer
    data = writer.let(f"load ptr, ptr {stack}")
    offset = writer.let(f"mul nsw i64 {position}, {element_size(stack_type)}")
    return element_at(ctx, writer.let(f"getelementptr i8, ptr {data}, i64 {offset}"), stack_type)


def put_element(ctx: Context, node: Node, stack_type: StackType, value: Value, place: Value) -> None:
    """Write ``value`` at the place of an element of ``stack``."""
    inner = stack_type.root().element
    if isinstance(inner, StackType) and inner.is_owned:
        mine = as_owned(value)
        if not is_alone(ctx, mine):
            mine = copied(ctx, node, inner, mine.pointer)
        value = Scalar(mine.pointer, POINTER)
    if isinstance(place, Grown):
        assert isinstance(value, Grown)
        ctx.writer.do(f"store ptr {value.stack}, ptr {place.stack}")
        ctx.writer.do(f"store i64 {value.length}, ptr {place.length}")
    elif isinstance(place, Table):
        sources = [Splat("false", BOOL, place.written.shape)] * 2
        targets = [place.written, place.read]
        if not isinstance(value, Nothing):
            assert isinstance(value, Table)
            sources, targets = [value.items, value.written, value.read], [place.items, *targets]  # type: ignore[list-item]
        for source, target in zip(sources, targets):
            if target is not None:
                store(ctx, source, target)
    else:
        assert isinstance(place, Array)
        put(ctx, value, place)


def with_memory(ctx: Context, node: Node, call: str, out_of_memory: bool = True) -> str:
    """Return the address that ``call`` gives; null ends the function, for want of memory unless said otherwise."""
    pointer = ctx.writer.let(call)
    ctx.check(ctx.writer.let(f"icmp ne ptr {pointer}, null"), node, [], out_of_memory=out_of_memory)
    return pointer


def index_of(ctx: Context, value: Value) -> str:
    index = resolve(value)
    assert isinstance(index, Scalar)
    return cast(ctx.writer, ctx.module, index.text, index.t, INT64)


@rule(saved_ops.PUSH, saved_ops.SWAP_PUSH, complexes=True)
def _push(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    stack, _ = push(ctx, node, ctx.scalar(values[0]), index_of(ctx, values[1]), values[2])
    return [Scalar(stack, POINTER)]


def push(ctx: Context, node: Node, stack: str, position: str, value: Value) -> tuple[str, str]:
    """Put ``value`` at the end of a stack with ``position`` elements; gives the stack after that and its length."""
    writer, stack_type = ctx.writer, ctx.types.stacks[node.outputs[0]]
    define_stacks(ctx)
    arguments = f"ptr %stacks, ptr {stack}, i64 {position}, i64 {element_size(stack_type)}"
    swaps = stack_type.root().swaps
    stack = with_memory(ctx, node, f"call ptr @{'swap' if swaps else 'stack'}_at({arguments})", not swaps)
    put_element(ctx, node, stack_type, value, place_in(ctx, stack, position, stack_type))
    length = writer.let(f"add nsw i64 {position}, 1")
    writer.do(f"store i64 {length}, ptr {writer.let(f'getelementptr i64, ptr {stack}, i64 1')}")
    return stack, length


@rule(saved_ops.READ, complexes=True)
def _read(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    return [read(ctx, node, ctx.scalar(values[0]), index_of(ctx, values[1]))]


def read(ctx: Context, node: Node, stack: str, position: str) -> Value:
    """Return the element at ``position`` of the stack that ``node`` reads."""
    stack_type = ctx.types.stacks[node.inputs[0]].root()
    place = place_in(ctx, stack, position, stack_type)
    if node.op is saved_ops.READ and isinstance(place, Array) and element_size(stack_type) in AHEAD:
        _fetch_before(ctx, place, element_size(stack_type))
    return looked_at(ctx, node, stack_type, place)


def _fetch_before(ctx: Context, place: Array, size: int) -> None:
    """Ask for the element before that at ``place``: a stack is read down, and the processor only sees what goes up.

    Of the first element that is no memory of ours, which does no harm: nothing is read.
    """
    writer = ctx.writer
    with writer.loop(-(-size // LINE)) as loop:
        offset = writer.let(f"mul nuw nsw i64 {loop.index}, {LINE}")
        offset = writer.let(f"sub nsw i64 {offset}, {size}")
        line = writer.let(f"getelementptr i8, ptr {place.pointer}, i64 {offset}")
        writer.do(f"call void @llvm.prefetch.p0(ptr {line}, i32 0, i32 2, i32 1)")


def looked_at(ctx: Context, node: Node, stack_type: StackType, place: Value) -> Value:
    """Return the value of the element of ``stack`` at ``place``, for as long as it is needed."""
    changes = grows_here(ctx, node.graph, stack_type)
    if isinstance(place, Table):
        return copied_rows(ctx, place, ctx.temporary(place.items.t, place.items.shape)) if changes else place
    if isinstance(place, Grown):
        return Grown(ctx.writer.let(f"load ptr, ptr {place.stack}"), ctx.writer.let(f"load i64, ptr {place.length}"))
    assert isinstance(place, Array)
    if not place.shape:
        found = loaded(ctx, place)
        inner = stack_type.root().element
        return Owned(found.text, place.buffer) if isinstance(inner, StackType) and inner.is_owned else found
    if changes:
        # pushing may move what is looked at
        copy: Array = ctx.temporary(place.t, place.shape)
        store(ctx, place, copy)
        return copy
    return place


def grows_here(ctx: Context, graph: Graph, stack_type: StackType) -> bool:
    """Return whether ``stack`` is added to in ``graph`` or inside it."""
    return any(other.root() is stack_type.root() for other in ctx.types.pushed_inside(graph))
