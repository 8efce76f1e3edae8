"""Stacks of saved values: memory that grows while a loop runs, for the loop of its gradient to read.

A stack is the address of some words: its elements, how many there are, how many there is room for, the stack that was
made before it, by which all are found and given back at the end, the interval between checkpoints (``kept``), whether
it outlives the iteration that ends, and whether ``swapped`` knows of it (1) and has its elements (2). The empty stack
is a null address. Pushing at the end of a stack writes in place; older versions do not look behind their own end.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from ...graph import Graph, Node
from . import swapped
from .blocks import rule
from .casts import cast
from .context import Context
from .elements import BOOL, INT64, POINTER
from .facts import Pile, Rows
from .nests import store
from .owned import as_owned, copied, is_alone
from .rows import copied as duplicate
from .swapped import GROW, RELEASE, STAYS
from .values import Array, Buffer, Grown, Nothing, Owned, Scalar, Splat, Value, dense, resolve, size_of
from .values import Rows as Table
from .views import loaded, put

#: elements that a new stack has room for
FIRST = 16
#: words of a stack
HEAD = 7

_ROOM = f"""
; a stack with exactly %position elements, those of %stack, and room for one more; null if there is no memory
define internal ptr @{{name}}_with_room(ptr %list, ptr %stack, i64 %position, i64 %size) noinline nounwind {{
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
{{SWAP}}  %moved = call ptr @realloc(ptr %old, i64 %bytes)
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
  %made = call ptr @stack_made(ptr %list, i64 {8 * HEAD}, i64 %space, i64 %first)
  %bad = icmp eq ptr %made, null
  br i1 %bad, label %fail, label %fill
fill:
  %data = load ptr, ptr %made
  %made_length = getelementptr i64, ptr %made, i64 1
  store i64 %position, ptr %made_length
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

define internal ptr @{{name}}_at(ptr %list, ptr %stack, i64 %position, i64 %size) alwaysinline nounwind {{
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
  %other = call ptr @{{name}}_with_room(ptr %list, ptr %stack, i64 %position, i64 %size)
  br label %done
done:
  %result = phi ptr [ %stack, %look ], [ %other, %slow ]
  ret ptr %result
}}"""

#: where a stack that may leave memory becomes larger
_SWAP = f"""  %used = mul i64 %position, %size
  %many = icmp uge i64 %bytes, {{SMALLEST}}
  br i1 %many, label %ask, label %stay
ask:
  %answer = call i64 @{GROW}(ptr %stack, ptr %old, i64 %used, i64 %bytes)
  %swapped_at = getelementptr i64, ptr %stack, i64 6
  %before = load i64, ptr %swapped_at
  switch i64 %answer, label %move [ i64 0, label %fail i64 {STAYS}, label %count ]
move:
  %was = icmp eq i64 %before, 2
  br i1 %was, label %set, label %leave
leave:
  call void @free(ptr %old)
  br label %set
set:
  %mapped = inttoptr i64 %answer to ptr
  store ptr %mapped, ptr %stack
  store i64 %more, ptr %room_at
  store i64 2, ptr %swapped_at
  ret ptr %stack
count:
  store i64 1, ptr %swapped_at
  br label %stay
stay:
"""

_FUNCTIONS = """
declare ptr @malloc(i64)
declare ptr @realloc(ptr, i64)
declare void @free(ptr)

{HUGE_PAGES}

; a new stack of so many bytes with %space bytes for %room elements; null if there is no memory
define internal ptr @stack_made(ptr %list, i64 %words, i64 %space, i64 %room) noinline nounwind {
entry:
  %made = call ptr @malloc(i64 %words)
  %data = call ptr @malloc(i64 %space)
  %a = icmp eq ptr %made, null
  %b = icmp eq ptr %data, null
  %bad = or i1 %a, %b
  br i1 %bad, label %fail, label %fill
fill:
  store ptr %data, ptr %made
  %length_at = getelementptr i64, ptr %made, i64 1
  store i64 0, ptr %length_at
  %room_at = getelementptr i64, ptr %made, i64 2
  store i64 %room, ptr %room_at
  %next_at = getelementptr i64, ptr %made, i64 3
  %before = load ptr, ptr %list
  store ptr %before, ptr %next_at
  store ptr %made, ptr %list
  %interval_at = getelementptr i64, ptr %made, i64 4
  store i64 1, ptr %interval_at
  %keep_at = getelementptr i64, ptr %made, i64 5
  store i64 0, ptr %keep_at
  %swapped_at = getelementptr i64, ptr %made, i64 6
  store i64 0, ptr %swapped_at
  ret ptr %made
fail:
  call void @free(ptr %made)
  call void @free(ptr %data)
  ret ptr null
}

{ROOM}

; those that were made after %last, but for those whose word 5 says that they are kept
define internal void @free_stacks(ptr %list, ptr %last) noinline nounwind {
entry:
  br label %loop
loop:
  %link = phi ptr [ %list, %entry ], [ %link, %words ], [ %next_at, %kept ]
  %stack = load ptr, ptr %link
  %end = icmp eq ptr %stack, %last
  br i1 %end, label %done, label %one
one:
  %next_at = getelementptr i64, ptr %stack, i64 3
  %keep_at = getelementptr i64, ptr %stack, i64 5
  %keep = load i64, ptr %keep_at
  %is_kept = icmp ne i64 %keep, 0
  br i1 %is_kept, label %kept, label %gone
kept:
  br label %loop
gone:
  %next = load ptr, ptr %next_at
  store ptr %next, ptr %link
{RELEASE}  %data = load ptr, ptr %stack
  call void @free(ptr %data)
  br label %words
words:
  call void @free(ptr %stack)
  br label %loop
done:
  ret void
}

define internal void @keep_stack(ptr %stack, i64 %keep) alwaysinline nounwind {
entry:
  %none = icmp eq ptr %stack, null
  br i1 %none, label %done, label %mark
mark:
  %keep_at = getelementptr i64, ptr %stack, i64 5
  store i64 %keep, ptr %keep_at
  br label %done
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


#: giving back a stack that may have left memory
_RELEASE = f"""  %swapped_at = getelementptr i64, ptr %stack, i64 6
  %swapped = load i64, ptr %swapped_at
  %known = icmp ne i64 %swapped, 0
  br i1 %known, label %tell, label %own
tell:
  call void @{RELEASE}(ptr %stack)
  %away = icmp eq i64 %swapped, 2
  br i1 %away, label %words, label %own
own:
"""


def _functions(swaps: bool) -> str:
    pages = _HUGE_PAGES if sys.platform == "linux" else _NO_HUGE_PAGES
    room = _ROOM.replace("{name}", "stack").replace("{SWAP}", "")
    if swaps:
        smallest = _SWAP.replace("{SMALLEST}", str(swapped.SMALLEST))
        room += "\n\n" + _ROOM.replace("{name}", "swap").replace("{SWAP}", smallest)
        room = f"declare i64 @{GROW}(ptr, ptr, i64, i64)\ndeclare void @{RELEASE}(ptr)\n\n{room}"
    release = _RELEASE if swaps else ""
    return _FUNCTIONS.replace("{HUGE_PAGES}", pages).replace("{ROOM}", room).replace("{RELEASE}", release)


def define_stacks(ctx: Context) -> None:
    """Let the module have what stacks need."""
    swaps = ctx.types.swaps()
    if swaps:
        ctx.libraries.addresses.update(swapped.addresses())
    ctx.module.define("stacks", lambda: _functions(swaps))


def uses_stacks(ctx: Context) -> bool:
    """True if the function makes stacks, so that they must be given back."""
    return ctx.module.has("stacks")


@rule("EmptyStack", "NoCheckpoints")
def _empty(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    return [Scalar("null", POINTER)]


def element_size(pile: Pile) -> int:
    """Bytes of an element."""
    element = pile.root().element
    if pile.root().counted:
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


def element_at(ctx: Context, pointer: str, pile: Pile) -> Value:
    """The element at an address; of a TensorArray that grows, where its stack and its length are."""
    element = pile.root().element
    if isinstance(element, Rows):
        return _record(ctx, pointer, element.root(), element_size(pile))
    t, shape = (ctx.element_type(element[0]), element[1]) if isinstance(element, tuple) else (POINTER, ())
    if pile.root().counted:
        return Grown(pointer, ctx.writer.let(f"getelementptr i64, ptr {pointer}, i64 1"))
    return Array(pointer, t, shape, dense(shape), Buffer(pointer, element_size(pile)))


def _record(ctx: Context, pointer: str, rows: Rows, size: int) -> Table:
    """A TensorArray at an address: its elements, then its flags."""
    assert rows.dtype is not None and rows.size is not None
    buffer, parts, offset = Buffer(pointer, size), [], 0
    shape = (rows.size, *(rows.shape() or ()))
    for t, extents in ((ctx.element_type(rows.dtype), shape), (BOOL, shape[:1]), (BOOL, shape[:1])):
        at = ctx.writer.let(f"getelementptr i8, ptr {pointer}, i64 {offset}") if offset else pointer
        parts.append(Array(at, t, extents, dense(extents), buffer))
        offset += size_of(extents) * t.size
    return Table(parts[0], parts[1], parts[2] if rows.clear else None)


def place_in(ctx: Context, stack: str, position: str, pile: Pile) -> Value:
    """The element at ``position``, in the memory of the stack."""
    writer = ctx.writer
    data = writer.let(f"load ptr, ptr {stack}")
    offset = writer.let(f"mul nsw i64 {position}, {element_size(pile)}")
    return element_at(ctx, writer.let(f"getelementptr i8, ptr {data}, i64 {offset}"), pile)


def put_element(ctx: Context, node: Node, pile: Pile, value: Value, place: Value) -> None:
    """Write ``value`` at the place of an element of ``pile``."""
    inner = pile.root().element
    if isinstance(inner, Pile) and inner.is_owned:
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


def index_of(ctx: Context, value: Value) -> str:
    index = resolve(value)
    assert isinstance(index, Scalar)
    return cast(ctx.writer, ctx.module, index.text, index.t, INT64)


@rule("StackPush", "SwapPush")
def _push(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    stack, _ = push(ctx, node, ctx.scalar(values[0]), index_of(ctx, values[1]), values[2])
    return [Scalar(stack, POINTER)]


def push(ctx: Context, node: Node, stack: str, position: str, value: Value) -> tuple[str, str]:
    """Put ``value`` at the end of a stack with ``position`` elements; gives the stack after that and its length."""
    writer, pile = ctx.writer, ctx.types.piles[node.outputs[0]]
    define_stacks(ctx)
    arguments = f"ptr %stacks, ptr {stack}, i64 {position}, i64 {element_size(pile)}"
    swaps = pile.root().swaps
    stack = writer.let(f"call ptr @{'swap' if swaps else 'stack'}_at({arguments})")
    ctx.check(writer.let(f"icmp ne ptr {stack}, null"), node, [], out_of_memory=not swaps)
    put_element(ctx, node, pile, value, place_in(ctx, stack, position, pile))
    length = writer.let(f"add nsw i64 {position}, 1")
    writer.do(f"store i64 {length}, ptr {writer.let(f'getelementptr i64, ptr {stack}, i64 1')}")
    return stack, length


@rule("StackRead")
def _read(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    return [read(ctx, node, ctx.scalar(values[0]), index_of(ctx, values[1]))]


def read(ctx: Context, node: Node, stack: str, position: str) -> Value:
    """The element at ``position`` of the stack that ``node`` reads."""
    pile = ctx.types.piles[node.inputs[0]].root()
    return looked_at(ctx, node, pile, place_in(ctx, stack, position, pile))


def looked_at(ctx: Context, node: Node, pile: Pile, place: Value) -> Value:
    """The value of the element of ``pile`` at ``place``, for as long as it is needed."""
    changes = grows_here(ctx, node.graph, pile)
    if isinstance(place, Table):
        return duplicate(ctx, place, ctx.temporary(place.items.t, place.items.shape)) if changes else place
    if isinstance(place, Grown):
        return Grown(ctx.writer.let(f"load ptr, ptr {place.stack}"), ctx.writer.let(f"load i64, ptr {place.length}"))
    assert isinstance(place, Array)
    if not place.shape:
        found = loaded(ctx, place)
        inner = pile.root().element
        return Owned(found.text, place.buffer) if isinstance(inner, Pile) and inner.is_owned else found
    if changes:
        # pushing may move what is looked at
        copy: Array = ctx.temporary(place.t, place.shape)
        store(ctx, place, copy)
        return copy
    return place


def grows_here(ctx: Context, graph: Graph, pile: Pile) -> bool:
    """True if ``pile`` is added to in ``graph`` or inside it."""
    return any(other.root() is pile.root() and _is_inside(pushing, graph) for pushing, other in ctx.types.pushed)


def _is_inside(inner: Graph | None, graph: Graph) -> bool:
    while inner is not None and inner is not graph:
        inner = inner.parent
    return inner is graph


def leaves_rubbish(ctx: Context, body: Graph) -> bool:
    """True if an iteration of the loop with ``body`` makes stacks, and what the next one sees of them is plain.

    What is inside other stacks is not found when the others are given back.
    """
    passed_on = [ctx.types.piles[t].root() for t in body.outputs if t in ctx.types.piles]
    plain = not any(isinstance(pile.element, Pile) for pile in passed_on)
    return plain and any(_is_inside(pushing, body) for pushing, _ in ctx.types.pushed)


def give_back(ctx: Context, last: str, passed_on: Sequence[str]) -> None:
    """Free the stacks that were made after ``last``, but those at the addresses ``passed_on``."""
    writer = ctx.writer
    for pointer in passed_on:
        writer.do(f"call void @keep_stack(ptr {pointer}, i64 1)")
    writer.do(f"call void @free_stacks(ptr %stacks, ptr {last})")
    for pointer in passed_on:
        writer.do(f"call void @keep_stack(ptr {pointer}, i64 0)")
