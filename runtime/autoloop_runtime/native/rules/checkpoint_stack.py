"""Checkpoints: stacks of which some elements are given up while a loop runs (``gradients.stores`` says which).

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
from ..kernels.stack_code import HEAD
from ..typing.facts import Pile
from ..writer.context import Context
from ..writer.copy_on_write import COPIES, as_owned, changeable, held
from ..writer.registry import rule
from ..writer.values import Owned, Scalar, Value, registers, resolve
from .saved_values import define_stacks, element_at, element_size, index_of, push, put_element, read

#: word 1 or 4 of a stack, and what an empty one has; whether the last of the checkpoints, of iteration %n, is kept
_GROWING = """
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

#: ``@limited_of``: the store, made if there is none. ``@limited_place``: where the state at the beginning of iteration
#: %n goes, null if it is not kept. ``@limited_latest``: the last segment up to %s that is kept. ``@limited_at``: where
#: the state of a segment is. ``@limited_rewind``: see ``Limited.rewound``; ``@stride``: see ``schedule``
_LIMITED = f"""
define internal ptr @limited_of(ptr %list, ptr %store, i64 %most, i64 %size) noinline nounwind {{
entry:
  %none = icmp eq ptr %store, null
  br i1 %none, label %make, label %there
there:
  ret ptr %store
make:
  %tables = mul i64 %most, 32
  %words = add i64 %tables, {8 * HEAD + 8}
  %space = mul i64 %most, %size
  %made = call ptr @stack_made(ptr %list, i64 %words, i64 %space, i64 %most)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %fail, label %fill
fill:
  %interval_at = getelementptr i64, ptr %made, i64 4
  store i64 %most, ptr %interval_at
  %planned_at = getelementptr i64, ptr %made, i64 {HEAD}
  store i64 -1, ptr %planned_at
  %twice = shl i64 %most, 1
  %first = add i64 %twice, {HEAD + 1}
  %places = getelementptr i64, ptr %made, i64 %first
  br label %loop
loop:
  %k = phi i64 [ 0, %fill ], [ %next, %loop ]
  %at = getelementptr i64, ptr %places, i64 %k
  store i64 %k, ptr %at
  %next = add i64 %k, 1
  %end = icmp eq i64 %next, %most
  br i1 %end, label %done, label %loop
done:
  ret ptr %made
fail:
  ret ptr null
}}

define internal ptr @limited_copy(ptr %list, ptr %store, i64 %most, i64 %size) noinline nounwind {{
entry:
  %none = icmp eq ptr %store, null
  br i1 %none, label %same, label %make
same:
  ret ptr %store
make:
  %made = call ptr @limited_of(ptr %list, ptr null, i64 %most, i64 %size)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %done, label %copy
copy:
  %length_at = getelementptr i64, ptr %store, i64 1
  %length = load i64, ptr %length_at
  %made_length = getelementptr i64, ptr %made, i64 1
  store i64 %length, ptr %made_length
  %from = getelementptr i64, ptr %store, i64 {HEAD}
  %to = getelementptr i64, ptr %made, i64 {HEAD}
  %tables = mul i64 %most, 32
  %words = add i64 %tables, 8
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %words, i1 false)
  %data = load ptr, ptr %store
  %made_data = load ptr, ptr %made
  %space = mul i64 %most, %size
  call void @llvm.memcpy.p0.p0.i64(ptr %made_data, ptr %data, i64 %space, i1 false)
  br label %done
done:
  ret ptr %made
}}

; the checkpoint with number %k makes room: the ones behind it move up, its place is the first free one
define internal void @limited_drop(ptr %segments, i64 %most, i64 %k, i64 %last) noinline nounwind {{
entry:
  %levels = getelementptr i64, ptr %segments, i64 %most
  %places = getelementptr i64, ptr %levels, i64 %most
  %place_at = getelementptr i64, ptr %places, i64 %k
  %place = load i64, ptr %place_at
  br label %loop
loop:
  %i = phi i64 [ %k, %entry ], [ %next, %move ]
  %end = icmp uge i64 %i, %last
  br i1 %end, label %done, label %move
move:
  %next = add i64 %i, 1
  %s_to = getelementptr i64, ptr %segments, i64 %i
  %s_from = getelementptr i64, ptr %segments, i64 %next
  %s = load i64, ptr %s_from
  store i64 %s, ptr %s_to
  %l_to = getelementptr i64, ptr %levels, i64 %i
  %l_from = getelementptr i64, ptr %levels, i64 %next
  %l = load i64, ptr %l_from
  store i64 %l, ptr %l_to
  %p_to = getelementptr i64, ptr %places, i64 %i
  %p_from = getelementptr i64, ptr %places, i64 %next
  %p = load i64, ptr %p_from
  store i64 %p, ptr %p_to
  br label %loop
done:
  %last_at = getelementptr i64, ptr %places, i64 %last
  store i64 %place, ptr %last_at
  ret void
}}

define internal ptr @limited_keep(ptr %store, i64 %segment, i64 %most, i64 %size) noinline nounwind {{
entry:
  %length_at = getelementptr i64, ptr %store, i64 1
  %length = load i64, ptr %length_at
  %planned_at = getelementptr i64, ptr %store, i64 {HEAD}
  %planned = load i64, ptr %planned_at
  %segments = getelementptr i64, ptr %store, i64 {HEAD + 1}
  %levels = getelementptr i64, ptr %segments, i64 %most
  %places = getelementptr i64, ptr %levels, i64 %most
  %plan = getelementptr i64, ptr %places, i64 %most
  %known = icmp sge i64 %planned, 0
  br i1 %known, label %find, label %full
find:
  %f = phi i64 [ 0, %entry ], [ %f_next, %other ]
  %f_end = icmp eq i64 %f, %planned
  br i1 %f_end, label %no, label %compare
compare:
  %f_at = getelementptr i64, ptr %plan, i64 %f
  %wanted = load i64, ptr %f_at
  %is = icmp eq i64 %wanted, %segment
  br i1 %is, label %add, label %other
other:
  %f_next = add i64 %f, 1
  br label %find
no:
  ret ptr null
full:
  %is_full = icmp eq i64 %length, %most
  br i1 %is_full, label %room, label %add
room:
  %last = sub i64 %length, 1
  %last_at = getelementptr i64, ptr %levels, i64 %last
  %last_level = load i64, ptr %last_at
  %before_last = sub i64 %length, 2
  br label %search
search:
  %k = phi i64 [ %before_last, %room ], [ %k_next, %higher ]
  %highest = phi i64 [ %last_level, %room ], [ %highest_next, %higher ]
  %k_end = icmp eq i64 %k, 0
  br i1 %k_end, label %raise, label %look
look:
  %k_at = getelementptr i64, ptr %levels, i64 %k
  %level = load i64, ptr %k_at
  %lower = icmp slt i64 %level, %highest
  br i1 %lower, label %leave, label %higher
higher:
  %highest_next = call i64 @llvm.smax.i64(i64 %highest, i64 %level)
  %k_next = sub i64 %k, 1
  br label %search
raise:
  %raised = add i64 %last_level, 1
  br label %leave
leave:
  %leaving = phi i64 [ %k, %look ], [ %last, %raise ]
  %new_level = phi i64 [ 0, %look ], [ %raised, %raise ]
  call void @limited_drop(ptr %segments, i64 %most, i64 %leaving, i64 %last)
  br label %add
add:
  %number = phi i64 [ %length, %compare ], [ %length, %full ], [ %last, %leave ]
  %its_level = phi i64 [ 0, %compare ], [ 0, %full ], [ %new_level, %leave ]
  %segment_at = getelementptr i64, ptr %segments, i64 %number
  store i64 %segment, ptr %segment_at
  %level_at = getelementptr i64, ptr %levels, i64 %number
  store i64 %its_level, ptr %level_at
  %more = add i64 %number, 1
  store i64 %more, ptr %length_at
  %place_at = getelementptr i64, ptr %places, i64 %number
  %place = load i64, ptr %place_at
  %data = load ptr, ptr %store
  %offset = mul i64 %place, %size
  %where = getelementptr i8, ptr %data, i64 %offset
  ret ptr %where
}}

define internal ptr @limited_place(ptr %store, i64 %n, i64 %most, i64 %size) alwaysinline nounwind {{
entry:
  %within = urem i64 %n, %most
  %begins = icmp eq i64 %within, 0
  br i1 %begins, label %keep, label %done
keep:
  %segment = udiv i64 %n, %most
  %found = call ptr @limited_keep(ptr %store, i64 %segment, i64 %most, i64 %size)
  br label %done
done:
  %where = phi ptr [ null, %entry ], [ %found, %keep ]
  ret ptr %where
}}

; the number of the last checkpoint that is not behind segment %s
define internal i64 @limited_number(ptr %store, i64 %s) noinline nounwind {{
entry:
  %length_at = getelementptr i64, ptr %store, i64 1
  %length = load i64, ptr %length_at
  %segments = getelementptr i64, ptr %store, i64 {HEAD + 1}
  br label %loop
loop:
  %k = phi i64 [ %length, %entry ], [ %number, %look ]
  %number = sub i64 %k, 1
  %end = icmp sle i64 %number, 0
  br i1 %end, label %done, label %look
look:
  %at = getelementptr i64, ptr %segments, i64 %number
  %segment = load i64, ptr %at
  %behind = icmp sgt i64 %segment, %s
  br i1 %behind, label %loop, label %done
done:
  ret i64 %number
}}

define internal i64 @limited_latest(ptr %store, i64 %s) noinline nounwind {{
entry:
  %number = call i64 @limited_number(ptr %store, i64 %s)
  %segments = getelementptr i64, ptr %store, i64 {HEAD + 1}
  %at = getelementptr i64, ptr %segments, i64 %number
  %segment = load i64, ptr %at
  ret i64 %segment
}}

define internal i64 @limited_at(ptr %store, i64 %s, i64 %most) noinline nounwind {{
entry:
  %number = call i64 @limited_number(ptr %store, i64 %s)
  %segments = getelementptr i64, ptr %store, i64 {HEAD + 1}
  %twice = shl i64 %most, 1
  %places = getelementptr i64, ptr %segments, i64 %twice
  %at = getelementptr i64, ptr %places, i64 %number
  %place = load i64, ptr %at
  ret i64 %place
}}

define internal i64 @stride(i64 %steps, i64 %slots) noinline nounwind {{
entry:
  %start = add i64 %slots, 1
  br label %loop
loop:
  %r = phi i64 [ 1, %entry ], [ %more, %up ]
  %c = phi i64 [ %start, %entry ], [ %larger, %up ]
  %c1 = phi i64 [ 1, %entry ], [ %c, %up ]
  %c2 = phi i64 [ 0, %entry ], [ %c1, %up ]
  %n = add i64 %slots, %r
  %enough = icmp sge i64 %c, %steps
  br i1 %enough, label %done, label %up
up:
  %more = add i64 %r, 1
  %n1 = add i64 %n, 1
  %product = mul i64 %c, %n1
  %larger = sdiv i64 %product, %more
  br label %loop
done:
  %part = mul i64 %c, %slots
  %fewer = sdiv i64 %part, %n
  %rest = sub i64 %steps, %fewer
  %least = call i64 @llvm.smax.i64(i64 %c2, i64 1)
  %result = call i64 @llvm.smax.i64(i64 %least, i64 %rest)
  ret i64 %result
}}

define internal void @limited_rewind(ptr %store, i64 %s, i64 %most) noinline nounwind {{
entry:
  %number = call i64 @limited_number(ptr %store, i64 %s)
  %count = add i64 %number, 1
  %length_at = getelementptr i64, ptr %store, i64 1
  store i64 %count, ptr %length_at
  %segments = getelementptr i64, ptr %store, i64 {HEAD + 1}
  %last_at = getelementptr i64, ptr %segments, i64 %number
  %last = load i64, ptr %last_at
  %thrice = mul i64 %most, 3
  %plan = getelementptr i64, ptr %segments, i64 %thrice
  %room = sub i64 %most, %count
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %k_next, %step ]
  %first = phi i64 [ %last, %entry ], [ %next, %step ]
  %free = sub i64 %room, %k
  %left = icmp sgt i64 %free, 0
  %before = icmp slt i64 %first, %s
  %goes_on = and i1 %left, %before
  br i1 %goes_on, label %step, label %done
step:
  %distance = sub i64 %s, %first
  %steps = add i64 %distance, 1
  %slots = add i64 %free, 1
  %stride = call i64 @stride(i64 %steps, i64 %slots)
  %next = add i64 %first, %stride
  %at = getelementptr i64, ptr %plan, i64 %k
  store i64 %next, ptr %at
  %k_next = add i64 %k, 1
  br label %loop
done:
  %planned_at = getelementptr i64, ptr %store, i64 {HEAD}
  store i64 %k, ptr %planned_at
  ret void
}}"""


def _define(ctx: Context) -> None:
    define_stacks(ctx)
    ctx.module.define("checkpoints", lambda: _GROWING)
    ctx.module.define("limited", lambda: _LIMITED)


def _extents(pile: Pile) -> str:
    return f"i64 {pile.root().most}, i64 {element_size(pile)}"


def _copy(ctx: Context, pile: Pile, pointer: str) -> str:
    _define(ctx)
    return ctx.writer.let(f"call ptr @limited_copy(ptr %stacks, ptr {pointer}, {_extents(pile)})")


COPIES["checkpoints"] = _copy


@rule(checkpoint_ops.ADD)
def _add(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    _define(ctx)
    writer, n, pile = ctx.writer, index_of(ctx, values[1]), ctx.types.piles[node.outputs[0]]
    if pile.is_owned:
        return [_add_limited(ctx, node, changeable(ctx, node, node.outputs[0], values[0]), n, values[2])]
    stack = ctx.scalar(values[0])
    stack, _ = push(ctx, node, stack, writer.let(f"call i64 @stack_word(ptr {stack}, i64 1, i64 0)"), values[2])
    writer.do(f"call void @thin_out(ptr {stack}, i64 {n}, i64 {element_size(pile)})")
    return [Scalar(stack, POINTER)]


def _add_limited(ctx: Context, node: Node, store: Owned, n: str, value: Value) -> Owned:
    writer, pile = ctx.writer, ctx.types.piles[node.outputs[0]]
    pointer = writer.let(f"call ptr @limited_of(ptr %stacks, ptr {store.pointer}, {_extents(pile)})")
    ctx.check(writer.let(f"icmp ne ptr {pointer}, null"), node, [], out_of_memory=True)
    place = writer.let(f"call ptr @limited_place(ptr {pointer}, i64 {n}, {_extents(pile)})")
    keep, done = writer.label("keep"), writer.label("kept")
    writer.branch(writer.let(f"icmp ne ptr {place}, null"), keep, done)
    writer.start(keep)
    put_element(ctx, node, pile, value, element_at(ctx, place, pile))
    writer.jump(done)
    writer.start(done)
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
    store, pile = changeable(ctx, node, node.outputs[0], values[0]), ctx.types.piles[node.outputs[0]].root()
    arguments = f"ptr {store.pointer}, i64 {index_of(ctx, values[1])}, i64 {pile.most}"
    ctx.writer.do(f"call void @limited_rewind({arguments})")
    return [store]


@rule(checkpoint_ops.GET)
def _get(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    pile, position = ctx.types.piles[node.inputs[0]].root(), index_of(ctx, values[1])
    pointer = registers(resolve(values[0]))[0][1]
    if pile.is_owned:
        _define(ctx)
        position = ctx.writer.let(f"call i64 @limited_at(ptr {pointer}, i64 {position}, i64 {pile.most})")
    return [read(ctx, node, pointer, position)]
