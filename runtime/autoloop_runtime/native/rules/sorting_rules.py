"""Order: sorting along an axis, stable and with nan last, and searching in what is sorted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from string import Template

from ...base.dataclass import replace
from ...ir.graph import Node
from ...ops.sorting import ARGSORT, SEARCHSORTED, SORT
from ..ir.elements import INT64, LType
from ..writer.context import Context
from ..writer.interrupts import SEARCHES, STEPS, Fuel, end_unless_zero, in_pieces, part_of
from ..writer.memory import reverse, seen
from ..writer.nests import Nest, store
from ..writer.node_writer import array_of
from ..writer.registry import rule
from ..writer.values import Array, Count, Scalar, Shape, Splat, Value, resolve, size_of

#: nanoseconds per step of a sort, and per step of a search
_SORTED, _SEARCHED = 4.0, 20.0
#: ``less(x, y)`` of elements as they are in memory; nan is larger than all else
_LESS = {
    "i": "  %r = icmp slt $t %x, %y",
    "ub": "  %r = icmp ult $t %x, %y",
    "f": """  %less = fcmp olt $t %x, %y
  %last = fcmp uno $t %y, %y
  %number = fcmp ord $t %x, %x
  %first = and i1 %last, %number
  %r = or i1 %less, %first""",
}
_LESS_TEXT = """
define internal i1 @less.$t($t %x, $t %y) alwaysinline nounwind willreturn memory(none) {
$body
  ret i1 %r
}"""

#: runs of this many elements are sorted by insertion, then merged two by two
_RUN = 8
#: sorts ``n`` keys; where positions are wanted they move along (lines that start with "p"); a long sort asks now and
#: then whether the user wants to stop it (lines that start with "s"), also in the middle of a merge
_SORT = """
define internal i32 @sort.$name(
  ptr noalias %k, ptr noalias %k2, ptr noalias %p, ptr noalias %p2, i64 %n, ptr %thread, ptr %fuel
) nounwind {
entry:
  br label %runs
runs:
  %start = phi i64 [ 0, %entry ], [ %run_end, %run_done ]
  %to = add i64 %start, $run
  %run_end = call i64 @llvm.umin.i64(i64 %to, i64 %n)
  %second = add i64 %start, 1
  br label %insert
insert:
  %i = phi i64 [ %second, %runs ], [ %i1, %placed ]
  %run_over = icmp uge i64 %i, %run_end
  br i1 %run_over, label %$run_over, label %take
take:
  %ki = getelementptr $t, ptr %k, i64 %i
  %x = load $t, ptr %ki
p  %pi = getelementptr i64, ptr %p, i64 %i
p  %xp = load i64, ptr %pi
  br label %sift
sift:
  %j = phi i64 [ %i, %take ], [ %j0, %shift ]
  %front = icmp eq i64 %j, %start
  br i1 %front, label %placed, label %look
look:
  %j0 = sub i64 %j, 1
  %kj0 = getelementptr $t, ptr %k, i64 %j0
  %y = load $t, ptr %kj0
  %before = call i1 @less.$t($t %x, $t %y)
  br i1 %before, label %shift, label %placed
shift:
  %kj = getelementptr $t, ptr %k, i64 %j
  store $t %y, ptr %kj
p  %pj0 = getelementptr i64, ptr %p, i64 %j0
p  %yp = load i64, ptr %pj0
p  %pj = getelementptr i64, ptr %p, i64 %j
p  store i64 %yp, ptr %pj
  br label %sift
placed:
  %kp = getelementptr $t, ptr %k, i64 %j
  store $t %x, ptr %kp
p  %pp = getelementptr i64, ptr %p, i64 %j
p  store i64 %xp, ptr %pp
  %i1 = add i64 %i, 1
  br label %insert
s tally:
s  %told = call i32 @autoloop_spend(ptr %thread, ptr %fuel, i64 $insertions, i64 $most)
s  %unwanted = icmp ne i32 %told, 0
s  br i1 %unwanted, label %stopped, label %run_done
run_done:
  %more_runs = icmp ult i64 %run_end, %n
  br i1 %more_runs, label %runs, label %widths
widths:
  %width = phi i64 [ $run, %run_done ], [ %width2, %pass_done ]
  %a = phi ptr [ %k, %run_done ], [ %b, %pass_done ]
  %b = phi ptr [ %k2, %run_done ], [ %a, %pass_done ]
p  %q = phi ptr [ %p, %run_done ], [ %r, %pass_done ]
p  %r = phi ptr [ %p2, %run_done ], [ %q, %pass_done ]
  %merging = icmp ult i64 %width, %n
  br i1 %merging, label %pairs, label %finish
pairs:
  %low = phi i64 [ 0, %widths ], [ %high, %merged ]
  %m0 = add i64 %low, %width
  %mid = call i64 @llvm.umin.i64(i64 %m0, i64 %n)
  %h0 = add i64 %mid, %width
  %high = call i64 @llvm.umin.i64(i64 %h0, i64 %n)
  br label %$cut
s cut:
s  %us = phi i64 [ %low, %pairs ], [ %u, %asked ]
s  %vs = phi i64 [ %mid, %pairs ], [ %v, %asked ]
s  %os = phi i64 [ %low, %pairs ], [ %o, %asked ]
s  %u2 = add i64 %us, $most
s  %v2 = add i64 %vs, $most
s  %u3 = call i64 @llvm.umin.i64(i64 %u2, i64 %mid)
s  %v3 = call i64 @llvm.umin.i64(i64 %v2, i64 %high)
s  br label %step
step:
  %u = phi i64 [ %$low, %$before ], [ %u1, %both ]
  %v = phi i64 [ %$mid, %$before ], [ %v1, %both ]
  %o = phi i64 [ %$out, %$before ], [ %o1, %both ]
  %left_some = icmp ult i64 %u, %$left_end
  %right_some = icmp ult i64 %v, %$right_end
  %two = and i1 %left_some, %right_some
  br i1 %two, label %both, label %$merge_over
both:
  %au = getelementptr $t, ptr %a, i64 %u
  %av = getelementptr $t, ptr %a, i64 %v
  %xu = load $t, ptr %au
  %xv = load $t, ptr %av
  %right = call i1 @less.$t($t %xv, $t %xu)
  %chosen = select i1 %right, $t %xv, $t %xu
  %bo = getelementptr $t, ptr %b, i64 %o
  store $t %chosen, ptr %bo
p  %from = select i1 %right, i64 %v, i64 %u
p  %qf = getelementptr i64, ptr %q, i64 %from
p  %xq = load i64, ptr %qf
p  %ro = getelementptr i64, ptr %r, i64 %o
p  store i64 %xq, ptr %ro
  %right_n = zext i1 %right to i64
  %left_n = xor i64 %right_n, 1
  %u1 = add i64 %u, %left_n
  %v1 = add i64 %v, %right_n
  %o1 = add i64 %o, 1
  br label %step
s tally_merge:
s  %merged_here = sub i64 %o, %os
s  %said = call i32 @autoloop_spend(ptr %thread, ptr %fuel, i64 %merged_here, i64 $most)
s  %no_more = icmp ne i32 %said, 0
s  br i1 %no_more, label %stopped, label %asked
s asked:
s  %left_more = icmp ult i64 %u, %mid
s  %right_more = icmp ult i64 %v, %high
s  %two_more = and i1 %left_more, %right_more
s  br i1 %two_more, label %cut, label %rest
rest:
  %left_last = icmp ult i64 %u, %mid
  %tail = select i1 %left_last, i64 %u, i64 %v
  %tail_end = select i1 %left_last, i64 %mid, i64 %high
  %count = sub i64 %tail_end, %tail
  %bytes = mul i64 %count, $size
  %at = getelementptr $t, ptr %a, i64 %tail
  %bt = getelementptr $t, ptr %b, i64 %o
  call void @llvm.memcpy.p0.p0.i64(ptr %bt, ptr %at, i64 %bytes, i1 false)
p  %words = mul i64 %count, 8
p  %qt = getelementptr i64, ptr %q, i64 %tail
p  %rt = getelementptr i64, ptr %r, i64 %o
p  call void @llvm.memcpy.p0.p0.i64(ptr %rt, ptr %qt, i64 %words, i1 false)
  br label %merged
merged:
  %more = icmp ult i64 %high, %n
  br i1 %more, label %pairs, label %pass_done
pass_done:
  %width2 = mul i64 %width, 2
  br label %widths
finish:
  %home = icmp eq ptr %a, %k
  br i1 %home, label %end, label %move
move:
  %all = mul i64 %n, $size
  call void @llvm.memcpy.p0.p0.i64(ptr %k, ptr %a, i64 %all, i1 false)
p  %places = mul i64 %n, 8
p  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 %places, i1 false)
  br label %end
end:
  ret i32 0
s stopped:
s  ret i32 1
}"""
#: names in the text above where it is short, and where it is long
_SHORT = {
    "run_over": "run_done", "cut": "step", "low": "low", "mid": "mid", "out": "low", "before": "pairs",
    "left_end": "mid", "right_end": "high", "merge_over": "rest",
}  # fmt: skip
_LONG = {
    "run_over": "tally", "cut": "cut", "low": "us", "mid": "vs", "out": "os", "before": "cut", "left_end": "u3",
    "right_end": "v3", "merge_over": "tally_merge",
}  # fmt: skip

#: the first place before (after) the elements that are equal
_SEARCH = """
define internal i64 @search_$side.$t(ptr %a, i64 %stride, i64 %n, $t %x) nounwind {
entry:
  br label %test
test:
  %low = phi i64 [ 0, %entry ], [ %low1, %look ]
  %high = phi i64 [ %n, %entry ], [ %high1, %look ]
  %some = icmp ult i64 %low, %high
  br i1 %some, label %look, label %end
look:
  %sum = add i64 %low, %high
  %mid = lshr i64 %sum, 1
  %offset = mul i64 %mid, %stride
  %place = getelementptr $t, ptr %a, i64 %offset
  %y = load $t, ptr %place
  %go = call i1 @less.$t($t $first, $t $second)
  %right = xor i1 %go, $turned
  %after = add i64 %mid, 1
  %low1 = select i1 %right, i64 %after, i64 %low
  %high1 = select i1 %right, i64 %high, i64 %mid
  br label %test
end:
  ret i64 %low
}"""


def _less(ctx: Context, t: LType) -> None:
    body = next(text for kinds, text in _LESS.items() if t.kind in kinds)
    text = Template(Template(_LESS_TEXT).safe_substitute(body=body)).substitute(t=t.memory)
    # signed and unsigned elements have one LLVM type
    ctx.module.define(f"less.{_name(t)}", lambda: text.replace(f"@less.{t.memory}", f"@less.{_name(t)}"))


def _name(t: LType) -> str:
    return f"{t.kind}{t.size}"


def _defined(ctx: Context, t: LType, symbol: str, text: str, **parts: object) -> None:
    """Add a function whose text speaks of ``less`` of elements of type ``t``."""
    _less(ctx, t)
    full = Template(text).substitute(t=t.memory, size=t.size, **parts)
    ctx.module.define(symbol, lambda: full.replace(f"@less.{t.memory}", f"@less.{_name(t)}"))


def _sorter(ctx: Context, t: LType, positions: bool, is_long: bool) -> str:
    name = f"{_name(t)}{'_p' if positions else ''}{'_long' if is_long else ''}"
    lines = []
    for line in _SORT.splitlines():
        mark, _, text = line.partition(" ")
        wanted = {"p": positions, "s": is_long}.get(mark)
        if wanted is None or wanted:
            lines.append(line if wanted is None else text)
    names = {**(_LONG if is_long else _SHORT), "name": name}
    _defined(ctx, t, f"sort.{name}", "\n".join(lines), run=_RUN, most=STEPS, insertions=2 * _RUN, **names)
    return f"sort.{name}"


def _each_lane(ctx: Context, arrays: Sequence[Array], axis: int, write: Callable[[list[Array]], None]) -> None:
    """Write something for each line of elements along ``axis`` of ``arrays``, which have one shape."""

    def rest(extents: Shape) -> Shape:
        return extents[:axis] + extents[axis + 1 :]

    starts = [replace(x, shape=rest(x.shape), strides=rest(x.strides)) for x in arrays]
    nest = Nest(ctx, starts[0].shape, starts)
    with nest.loops(sequential=True):
        write([
            replace(x, pointer=nest.address(s), shape=(x.shape[axis],), strides=(x.strides[axis],))
            for x, s in zip(arrays, starts)
        ])  # fmt: skip


def _sort_time(node: Node, shapes: list[Shape], rate: float) -> float:
    shape = shapes[0]
    return _SORTED * size_of(shape) * shape[node.attrs["axis"]].bit_length() if shape else 0.0


def _search_time(node: Node, shapes: list[Shape], rate: float) -> float:
    return _SEARCHED * size_of(shapes[1]) * shapes[0][-1].bit_length()


@rule(SORT, ARGSORT, time=_sort_time)
def _sort(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    x, tensor = array_of(ctx, values[0]), node.outputs[0]
    axis = node.attrs["axis"] % len(x.shape)
    n, positions = x.shape[axis], node.op is ARGSORT
    made = ctx.result(tensor, INT64 if positions else x.t, x.shape)
    if 0 in x.shape:
        return [made]
    out, ascending = made, not node.attrs["descending"]
    count = Count("0", "1", INT64, (n,), (1,))
    if not ascending:
        # backwards from the last, so that equal elements keep their order
        out = reverse(ctx, out, axis)
        if positions:
            x, count = reverse(ctx, x, axis), Count(str(n - 1), "-1", INT64, (n,), (1,))
    keys, spare = ctx.temporary(x.t, (n,)), ctx.temporary(x.t, (n,))
    places = [ctx.temporary(INT64, (n,)) for _ in range(2 * positions)]
    fuel = Fuel(ctx, STEPS) if _steps(size_of(x.shape), n) > STEPS else None
    name, asks = _sorter(ctx, x.t, positions, fuel is not None), "null" if fuel is None else fuel.pointer

    def lane(parts: list[Array]) -> None:
        store(ctx, parts[0], keys)
        if positions:
            store(ctx, count, places[0])
        rest = [p.pointer for p in places] or ["null", "null"]
        given = ", ".join(f"ptr {p}" for p in [keys.pointer, spare.pointer, *rest])
        answer = ctx.writer.let(f"call i32 @{name}({given}, i64 {n}, ptr %thread, ptr {asks})")
        if fuel is not None:
            end_unless_zero(ctx, answer)
        store(ctx, places[0] if positions else keys, parts[1])

    _each_lane(ctx, [x, out], axis, lane)
    return [made]


def _steps(count: int, n: int) -> int:
    """How many steps it takes to find the places of ``count`` elements among ``n``."""
    return count * n.bit_length()


@rule(SEARCHSORTED, time=_search_time)
def _searchsorted(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    a, x, left = array_of(ctx, values[0]), resolve(values[1]), node.attrs["side"] == "left"
    t, shape = a.t, ctx.shape_of(node.outputs[0])
    side = "left" if left else "right"
    name = f"search_{side}.{_name(t)}"
    order = ("%y", "%x") if left else ("%x", "%y")
    text = _SEARCH.replace("@search_$side.$t", f"@{name}")
    _defined(ctx, t, name, text, side=side, first=order[0], second=order[1], turned="false" if left else "true")

    def found(element: str) -> str:
        writer = ctx.writer
        if t.kind == "b":
            element = writer.let(f"zext i1 {element} to i8")
        given = f"ptr {a.pointer}, i64 {a.strides[0]}, i64 {a.shape[0]}, {t.memory} {element}"
        return writer.let(f"call i64 @{name}({given})")

    if isinstance(x, (Scalar, Splat)):
        text = found(x.text)
        return [Splat(text, INT64, shape) if shape else Scalar(text, INT64)]
    out = ctx.result(node.outputs[0], INT64, shape)

    def search(x: Value, out: Array) -> None:
        nest = Nest(ctx, out.shape, [x, out])
        with nest.loops():
            nest.store(out, found(nest.element(x)))

    if _steps(size_of(shape), a.shape[0]) > SEARCHES:
        whole, axis = array_of(ctx, x), max(range(len(shape)), key=lambda k: shape[k])
        piece = max(1, SEARCHES // _steps(size_of(shape) // shape[axis], a.shape[0]))

        def write(first: str, count: int) -> None:
            search(part_of(ctx, whole, axis, first, count), part_of(ctx, out, axis, first, count))

        in_pieces(ctx, shape[axis], piece, write)
    elif size_of(shape):
        search(x, out)
    return [seen(ctx, out)]
