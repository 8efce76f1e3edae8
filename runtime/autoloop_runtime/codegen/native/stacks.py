"""Stacks of saved values: memory that grows while a loop runs, for the loop of its gradient to read.

A stack is the address of five words: its elements, how many there are, how many there is room for, the stack
that was made before it, by which all are found and given back at the end, and the interval between checkpoints. The
empty stack is a null address. Pushing at the end of a stack writes in place; older versions do not look behind their
own end.

Checkpoints (``gradients.stores.Growing``) are a stack that only the loop that adds to it knows, and that is thinned out
in place.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from ...graph import Graph, Node
from .blocks import rule
from .casts import cast
from .context import Context
from .elements import INT64, POINTER
from .facts import Pile
from .nests import store
from .values import Array, Buffer, Scalar, Value, dense, resolve, size_of
from .views import loaded, put

#: elements that a new stack has room for
FIRST = 16

_FUNCTIONS = f"""
declare ptr @malloc(i64)
declare ptr @realloc(ptr, i64)
declare void @free(ptr)

{{HUGE_PAGES}}

; a stack with exactly %position elements, those of %stack, and room for one more; null if there is no memory
define internal ptr @stack_with_room(ptr %list, ptr %stack, i64 %position, i64 %size) noinline nounwind {{
entry:
  %none = icmp eq ptr %stack, null
  br i1 %none, label %make, label %look
look:
  %length_at = getelementptr i64, ptr %stack, i64 1
  %length = load i64, ptr %length_at
  %at_end = icmp eq i64 %length, %position
  br i1 %at_end, label %grow, label %make
grow:
  %room_at = getelementptr i64, ptr %stack, i64 2
  %room = load i64, ptr %room_at
  %more = shl i64 %room, 1
  %bytes = mul i64 %more, %size
  %old = load ptr, ptr %stack
  %moved = call ptr @realloc(ptr %old, i64 %bytes)
  %failed = icmp eq ptr %moved, null
  br i1 %failed, label %fail, label %grown
grown:
  call void @huge_pages(ptr %moved, i64 %bytes)
  store ptr %moved, ptr %stack
  store i64 %more, ptr %room_at
  ret ptr %stack
make:
  %twice = shl i64 %position, 1
  %first = call i64 @llvm.umax.i64(i64 %twice, i64 {FIRST})
  %space = mul i64 %first, %size
  %made = call ptr @malloc(i64 40)
  %data = call ptr @malloc(i64 %space)
  %a = icmp eq ptr %made, null
  %b = icmp eq ptr %data, null
  %bad = or i1 %a, %b
  br i1 %bad, label %fail, label %fill
fill:
  store ptr %data, ptr %made
  %made_length = getelementptr i64, ptr %made, i64 1
  store i64 %position, ptr %made_length
  %made_room = getelementptr i64, ptr %made, i64 2
  store i64 %first, ptr %made_room
  %made_next = getelementptr i64, ptr %made, i64 3
  %before = load ptr, ptr %list
  store ptr %before, ptr %made_next
  store ptr %made, ptr %list
  %made_interval = getelementptr i64, ptr %made, i64 4
  store i64 1, ptr %made_interval
  %copies = icmp ne i64 %position, 0
  br i1 %copies, label %copy, label %done
copy:
  %from = load ptr, ptr %stack
  %amount = mul i64 %position, %size
  call void @llvm.memcpy.p0.p0.i64(ptr %data, ptr %from, i64 %amount, i1 false)
  br label %done
done:
  ret ptr %made
fail:
  ret ptr null
}}

define internal ptr @stack_at(ptr %list, ptr %stack, i64 %position, i64 %size) alwaysinline nounwind {{
entry:
  %none = icmp eq ptr %stack, null
  br i1 %none, label %slow, label %look
look:
  %length_at = getelementptr i64, ptr %stack, i64 1
  %length = load i64, ptr %length_at
  %room_at = getelementptr i64, ptr %stack, i64 2
  %room = load i64, ptr %room_at
  %at_end = icmp eq i64 %length, %position
  %fits = icmp ult i64 %position, %room
  %fast = and i1 %at_end, %fits
  br i1 %fast, label %done, label %slow
slow:
  %other = call ptr @stack_with_room(ptr %list, ptr %stack, i64 %position, i64 %size)
  br label %done
done:
  %result = phi ptr [ %stack, %look ], [ %other, %slow ]
  ret ptr %result
}}

; those that were made after %last
define internal void @free_stacks(ptr %list, ptr %last) noinline nounwind {{
entry:
  %first = load ptr, ptr %list
  br label %loop
loop:
  %stack = phi ptr [ %first, %entry ], [ %next, %one ]
  %end = icmp eq ptr %stack, %last
  br i1 %end, label %done, label %one
one:
  %next_at = getelementptr i64, ptr %stack, i64 3
  %next = load ptr, ptr %next_at
  %data = load ptr, ptr %stack
  call void @free(ptr %data)
  call void @free(ptr %stack)
  br label %loop
done:
  store ptr %last, ptr %list
  ret void
}}"""


#: word 1 or 4 of a stack, and what an empty one has; whether the last of the checkpoints, of iteration %n, is kept
_CHECKPOINTS = """
define internal i64 @stack_word(ptr %stack, i64 %word, i64 %empty) alwaysinline nounwind {
entry:
  %none = icmp eq ptr %stack, null
  br i1 %none, label %done, label %look
look:
  %at = getelementptr i64, ptr %stack, i64 %word
  %found = load i64, ptr %at
  br label %done
done:
  %result = phi i64 [ %empty, %entry ], [ %found, %look ]
  ret i64 %result
}

define internal void @thin_out(ptr %stack, i64 %n, i64 %size) noinline nounwind {
entry:
  %length_at = getelementptr i64, ptr %stack, i64 1
  %length = load i64, ptr %length_at
  %interval_at = getelementptr i64, ptr %stack, i64 4
  %interval = load i64, ptr %interval_at
  %within = urem i64 %n, %interval
  %between = icmp ne i64 %within, 0
  br i1 %between, label %drop, label %keep
drop:
  %before = sub i64 %length, 1
  store i64 %before, ptr %length_at
  ret void
keep:
  %twice = shl i64 %interval, 1
  %many = icmp ugt i64 %length, %twice
  br i1 %many, label %halve, label %done
halve:
  %data = load ptr, ptr %stack
  %more = add i64 %length, 1
  %half = lshr i64 %more, 1
  store i64 %half, ptr %length_at
  store i64 %twice, ptr %interval_at
  br label %loop
loop:
  %k = phi i64 [ 1, %halve ], [ %next, %move ]
  %end = icmp uge i64 %k, %half
  br i1 %end, label %done, label %move
move:
  %to_at = mul i64 %k, %size
  %from_at = shl i64 %to_at, 1
  %to = getelementptr i8, ptr %data, i64 %to_at
  %from = getelementptr i8, ptr %data, i64 %from_at
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %size, i1 false)
  %next = add i64 %k, 1
  br label %loop
done:
  ret void
}"""


#: asks for large pages, each of which costs one page fault instead of five hundred; for all of the mapping, because one
#: of two minds could not grow without being copied
_HUGE_PAGES = """
declare i32 @madvise(ptr, i64, i32)
define internal void @huge_pages(ptr %data, i64 %bytes) noinline nounwind {
entry:
  %many = icmp uge i64 %bytes, 4194304
  br i1 %many, label %ask, label %done
ask:
  %start = ptrtoint ptr %data to i64
  %page = and i64 %start, -4096
  %before = sub i64 %start, %page
  %length = add i64 %bytes, %before
  %from = inttoptr i64 %page to ptr
  %ignored = call i32 @madvise(ptr %from, i64 %length, i32 14)
  br label %done
done:
  ret void
}"""
_NO_HUGE_PAGES = """
define internal void @huge_pages(ptr %data, i64 %bytes) alwaysinline {
  ret void
}"""


def _functions() -> str:
    pages = _HUGE_PAGES if sys.platform == "linux" else _NO_HUGE_PAGES
    return _FUNCTIONS.replace("{HUGE_PAGES}", pages)


def uses_stacks(ctx: Context) -> bool:
    """True if the function makes stacks, so that they must be given back."""
    return ctx.module.has("stacks")


@rule("EmptyStack", "NoCheckpoints")
def _empty(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    return [Scalar("null", POINTER)]


def _size(pile: Pile) -> int:
    element = pile.root().element
    if isinstance(element, tuple):
        dtype, shape = element
        return max(1, size_of(shape) * np.dtype(dtype).itemsize)
    return 8


def place_in(ctx: Context, stack: str, position: str, pile: Pile) -> Array:
    """The element at ``position``, in the memory of the stack."""
    writer, element = ctx.writer, pile.root().element
    data = writer.let(f"load ptr, ptr {stack}")
    offset = writer.let(f"mul nsw i64 {position}, {_size(pile)}")
    pointer = writer.let(f"getelementptr i8, ptr {data}, i64 {offset}")
    t, shape = (ctx.element_type(element[0]), element[1]) if isinstance(element, tuple) else (POINTER, ())
    return Array(pointer, t, shape, dense(shape), Buffer(pointer, _size(pile)))


def index_of(ctx: Context, value: Value) -> str:
    index = resolve(value)
    assert isinstance(index, Scalar)
    return cast(ctx.writer, ctx.module, index.text, index.t, INT64)


@rule("StackPush")
def _push(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    stack, _ = push(ctx, node, ctx.scalar(values[0]), index_of(ctx, values[1]), values[2])
    return [Scalar(stack, POINTER)]


def push(ctx: Context, node: Node, stack: str, position: str, value: Value) -> tuple[str, str]:
    """Put ``value`` at the end of a stack with ``position`` elements; gives the stack after that and its length."""
    writer, pile = ctx.writer, ctx.types.piles[node.outputs[0]]
    ctx.module.define("stacks", _functions)
    arguments = f"ptr %stacks, ptr {stack}, i64 {position}, i64 {_size(pile)}"
    stack = writer.let(f"call ptr @stack_at({arguments})")
    ctx.check(writer.let(f"icmp ne ptr {stack}, null"), node, [], out_of_memory=True)
    put(ctx, value, place_in(ctx, stack, position, pile))
    length = writer.let(f"add nsw i64 {position}, 1")
    writer.do(f"store i64 {length}, ptr {writer.let(f'getelementptr i64, ptr {stack}, i64 1')}")
    return stack, length


@rule("AddCheckpoint")
def _add(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    writer, stack, n = ctx.writer, ctx.scalar(values[0]), index_of(ctx, values[1])
    ctx.module.define("checkpoints", lambda: _CHECKPOINTS)
    stack, _ = push(ctx, node, stack, writer.let(f"call i64 @stack_word(ptr {stack}, i64 1, i64 0)"), values[2])
    size = _size(ctx.types.piles[node.outputs[0]])
    writer.do(f"call void @thin_out(ptr {stack}, i64 {n}, i64 {size})")
    return [Scalar(stack, POINTER)]


@rule("Interval")
def _interval(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    ctx.module.define("checkpoints", lambda: _CHECKPOINTS)
    stack = ctx.scalar(values[0])
    return [Scalar(ctx.writer.let(f"call i64 @stack_word(ptr {stack}, i64 4, i64 1)"), INT64)]


@rule("StackRead", "GetCheckpoint")
def _read(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    return [read(ctx, node, ctx.scalar(values[0]), index_of(ctx, values[1]))]


def read(ctx: Context, node: Node, stack: str, position: str) -> Value:
    """The element at ``position`` of the stack that ``node`` reads."""
    pile = ctx.types.piles[node.inputs[0]]
    place = place_in(ctx, stack, position, pile)
    if not place.shape:
        return loaded(ctx, place)
    if _grows_here(ctx, node.graph, pile):
        # pushing may move what is looked at
        copy: Array = ctx.temporary(place.t, place.shape)
        store(ctx, place, copy)
        return copy
    return place


def _grows_here(ctx: Context, graph: Graph, pile: Pile) -> bool:
    """True if something is pushed on ``pile`` in ``graph`` or inside it."""
    return any(other.root() is pile.root() and _is_inside(pushing, graph) for pushing, other in ctx.types.pushed)


def _is_inside(inner: Graph | None, graph: Graph) -> bool:
    while inner is not None and inner is not graph:
        inner = inner.parent
    return inner is graph


def leaves_rubbish(ctx: Context, body: Graph) -> bool:
    """True if an iteration of the loop with ``body`` makes stacks, and none that the next one sees."""
    passed_on = any(t in ctx.types.piles for t in body.outputs)
    return not passed_on and any(_is_inside(pushing, body) for pushing, _ in ctx.types.pushed)
