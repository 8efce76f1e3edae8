"""Order: sorting along an axis, nan last, and searching in what is sorted.

What need not be stable, or where equal elements are alike, is sorted where it is: lines of more than some elements by
NumPy's own function for memory of a dtype, where that uses the processor's vectors (``Libraries.vector_sort``), which
are 2 to 10 times as fast as ours for 1,000 numbers and more; others by a quicksort of ours. What must be stable is
merged, with memory for half of a line; NumPy's stable sorts have no vectors either, and the C library's calls a
function for each comparison and is not stable (``python tests/benchmarks/own_parts.py sorting``).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np

from ...base.dataclass import replace
from ...ir.graph import Node
from ...ops.sorting import ARGSORT, SEARCHSORTED, SORT
from ..ir.elements import INT64, LType
from ..ir.moving import Extent, is_moving
from ..ir.writer import filled
from ..kernels.ll_files import chosen, code, text_of
from ..kernels.quick_sort import quick_sorter
from ..typing.refusal import refuse
from ..writer.called import is_called
from ..writer.context import Context
from ..writer.interrupts import SEARCHES, STEPS, Fuel, end_unless_zero, in_pieces, part_of
from ..writer.memory import reverse, seen
from ..writer.nests import Nest, store
from ..writer.node_writer import array_of
from ..writer.registry import called_entry, rule
from ..writer.values import Array, Count, Scalar, Shape, Value, is_dense, resolve, size_of
from .indexing_rules import writable

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

#: names in the text above where it is short, and where it is long
_SHORT = {
    "run_over": "run_done", "cut": "step", "low": "low", "mid": "mid", "out": "low", "before": "pairs",
    "left_end": "mid", "right_end": "high", "merge_over": "rest",
}  # fmt: skip
_LONG = {
    "run_over": "tally", "cut": "cut", "low": "us", "mid": "vs", "out": "os", "before": "cut", "left_end": "u3",
    "right_end": "v3", "merge_over": "tally_merge",
}  # fmt: skip


def _less(ctx: Context, t: LType) -> None:
    body = next(text for kinds, text in _LESS.items() if t.kind in kinds)
    text = filled(_LESS_TEXT.replace("$body", body), {"t": t.memory})
    # signed and unsigned elements have one LLVM type
    ctx.module.define(f"less.{_name(t)}", lambda: text.replace(f"@less.{t.memory}", f"@less.{_name(t)}"))


def _name(t: LType) -> str:
    return f"{t.kind}{t.size}"


def _defined(ctx: Context, t: LType, symbol: str, text: str, **parts: object) -> None:
    """Add a function whose text speaks of ``less`` of elements of type ``t``."""
    _less(ctx, t)
    full = filled(text, {"t": t.memory, "size": t.size, **parts})
    ctx.module.define(symbol, lambda: full.replace(f"@less.{t.memory}", f"@less.{_name(t)}"))


def _sorter(ctx: Context, t: LType, positions: bool, is_long: bool) -> str:
    name = f"{_name(t)}{'_p' if positions else ''}{'_long' if is_long else ''}"
    marks = {"p": positions, "s": is_long, "m": not is_long}
    marks |= {f"p{mark}": positions and marks[mark] for mark in "sm"}
    names = {**(_LONG if is_long else _SHORT), "name": name}
    steps = {"most": STEPS, "half": max(1, STEPS // 2), "insertions": 2 * _RUN}
    _defined(ctx, t, f"sort.{name}", chosen(text_of("merge_sort"), marks), run=_RUN, **steps, **names)
    if is_long:
        ctx.module.define("asking_copy", lambda: code("asking_copy", most=STEPS))
    return f"sort.{name}"


def _merger(ctx: Context, t: LType, is_long: bool) -> str:
    """Return the stable sort of a line where it is."""
    name = f"{_name(t)}{'_long' if is_long else ''}"
    text = chosen(text_of("merge_in_place"), {"s": is_long, "m": not is_long})
    _defined(ctx, t, f"merge.{name}", text, run=_RUN, most=STEPS, insertions=2 * _RUN, name=name)
    if is_long:
        ctx.module.define("asking_copy", lambda: code("asking_copy", most=STEPS))
    return f"merge.{name}"


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
    if isinstance(values[0], Scalar):  # of which only the run knew that it has no axes
        refuse(node, "a value without axes is sorted, of which NumPy makes an array of one axis")
    if node.op is SORT and not node.attrs["descending"]:
        return [_sorted_in_place(ctx, node, values[0])]
    if is_called(node):
        return called_entry().write(ctx, node, values)
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
            last = ctx.writer.let(f"sub nsw i64 {ctx.extent(n)}, 1")
            x, count = reverse(ctx, x, axis), Count(last, "-1", INT64, (n,), (1,))
    keys, other = ctx.temporary(x.t, (n,)), ctx.temporary(x.t, (n,))
    places = [ctx.temporary(INT64, (n,)) for _ in range(2 * positions)]
    fuel = Fuel(ctx, STEPS) if _steps(size_of(x.shape), n) > STEPS else None
    name, asks = _sorter(ctx, x.t, positions, fuel is not None), "null" if fuel is None else fuel.pointer

    def lane(parts: list[Array]) -> None:
        move = store if fuel is None else _store_in_pieces
        move(ctx, parts[0], keys)
        if positions:
            move(ctx, count, places[0])
        rest = [p.pointer for p in places] or ["null", "null"]
        given = ", ".join(f"ptr {p}" for p in [keys.pointer, other.pointer, *rest])
        answer = ctx.writer.let(f"call i32 @{name}({given}, i64 {_length(ctx, n)}, ptr %thread, ptr {asks})")
        if fuel is not None:
            end_unless_zero(ctx, answer)
        move(ctx, places[0] if positions else keys, parts[1])

    _each_lane(ctx, [x, out], axis, lane)
    return [made]


def _sorted_in_place(ctx: Context, node: Node, value: Value) -> Value:
    """Sort along an axis without memory of its own, but for lines whose elements lie apart, of one of them, and for
    half of one where the order of equal elements is to stay."""
    out = writable(ctx, node, value, ())
    axis = node.attrs["axis"] % len(out.shape)
    n, is_next = out.shape[axis], out.strides[axis] == 1
    if size_of(out.shape) < 2:
        return out
    fuel = Fuel(ctx, STEPS) if _steps(size_of(out.shape), n) > STEPS else None
    # equal numbers are alike, but for zeros and nan
    merged = node.attrs["kind"] == "stable" and out.t.kind == "f"
    name = (_merger if merged else _quick_sorter)(ctx, out.t, fuel is not None)
    other = f"ptr {ctx.temporary(out.t, (max(1, n // 2),)).pointer}, " if merged else ""
    asks = "null" if fuel is None else fuel.pointer
    keys = None if is_next else ctx.temporary(out.t, (n,))
    move = store if fuel is None else _store_in_pieces

    def lane(parts: list[Array]) -> None:
        if keys is not None:
            move(ctx, parts[0], keys)
        given = f"ptr {(keys or parts[0]).pointer}, {other}i64 {_length(ctx, n)}, ptr %thread, ptr {asks}"
        answer = ctx.writer.let(f"call i32 @{name}({given})")
        if fuel is not None:
            end_unless_zero(ctx, answer)
        if keys is not None:
            move(ctx, keys, parts[0])

    _each_lane(ctx, [out], axis, lane)
    return out


def _quick_sorter(ctx: Context, t: LType, is_long: bool) -> str:
    return quick_sorter(ctx.module, t, STEPS, is_long, ctx.libraries.vector_sort(t))


def _length(ctx: Context, n: int) -> str:
    """Return how many elements of a line are sorted: at least one, for which there is memory if there can be any."""
    return ctx.writer.let(f"call i64 @llvm.umax.i64(i64 {ctx.extent(n)}, i64 1)") if isinstance(n, Extent) else str(n)


def _store_in_pieces(ctx: Context, line: Array | Count, into: Array) -> None:
    """Write a line of elements, and ask now and then whether the user wants to stop."""

    def write(first: str, count: int) -> None:
        if isinstance(line, Count):
            moved = ctx.writer.let(f"mul i64 {first}, {line.step}")
            start = ctx.writer.let(f"add i64 {line.start}, {moved}")
            part: Array | Count = replace(line, start=start, shape=(count,))
        else:
            part = part_of(ctx, line, 0, first, count)
        store(ctx, part, part_of(ctx, into, 0, first, count))

    if is_moving(into.shape):
        store(ctx, line, into)
    else:
        in_pieces(ctx, into.shape[0], STEPS, write)


def _steps(count: int, n: int) -> int:
    """Return how many steps it takes to find the places of ``count`` elements among ``n``."""
    return count * n.bit_length()


@functools.cache
def _halves() -> bool:
    """Return whether this NumPy searches as since 2.5: that shows in what is not sorted."""
    return bool(np.searchsorted([0, 2, 1], [1, 1], "right")[1] == 1)


def _searcher(ctx: Context, t: LType, side: str, by_order: bool) -> str:
    """Add the search among elements of type ``t``; return what its names end in."""
    name = f"{side}.{_name(t)}{'_by' if by_order else ''}"
    order = ("%y", "%x") if side == "left" else ("%x", "%y")
    text = chosen(text_of("halving_search") if _halves() else text_of("search"), {"o": by_order})
    parts = {"found": "ordered", "place": "%index"} if by_order else {"found": "look", "place": "%mid"}
    turned = "false" if side == "left" else "true"
    _defined(ctx, t, f"search_{name}", text, first=order[0], second=order[1], turned=turned, name=name, **parts)
    return name


@rule(SEARCHSORTED, time=_search_time)
def _searchsorted(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    a, x, order = array_of(ctx, values[0]), resolve(values[1]), None
    t, shape, writer = a.t, ctx.shape_of(node.outputs[0]), ctx.writer
    if len(values) > 2:
        order = array_of(ctx, values[2])
        if order.shape != a.shape:
            refuse(node, "the sorter has another number of elements than what it sorts")
        if is_moving(shape) or not size_of(shape):
            refuse(node, "a sorter is given where there may be no keys: whether it is looked at, NumPy's version says")
    name = _searcher(ctx, t, node.attrs["side"], order is not None)
    by = f"ptr {order.pointer}, i64 {ctx.step(order.strides[0])}" if order is not None else "ptr null, i64 0"
    among = f"ptr {a.pointer}, i64 {ctx.step(a.strides[0])}, i64 {a.shape[0]}, {by}"

    def check(passed: str) -> None:
        if order is not None:
            ctx.check(passed, node, values)

    if isinstance(x, Scalar):
        element = writer.let(f"zext i1 {x.text} to i8") if t.kind == "b" else x.text
        given = f"{among}, {t.memory} {element}, i64 0, i64 {a.shape[0]}"
        at = writer.let(f"call i64 @search_{name}({given})")
        check(writer.let(f"icmp sge i64 {at}, 0"))
        return [Scalar(at, INT64)]
    out = ctx.result(node.outputs[0], INT64, shape)
    keys = array_of(ctx, x)
    if not is_dense(keys):
        copy = ctx.temporary(t, shape)
        store(ctx, keys, copy)
        keys = copy

    def write(first: str, count: int) -> None:
        given = f"{among}, ptr {keys.pointer}, ptr {out.pointer}, i64 {first}, i64 {count}"
        check(writer.let(f"call i1 @search_all_{name}({given})"))

    in_pieces(ctx, size_of(shape), max(1, SEARCHES // max(1, _steps(1, a.shape[0]))), write)
    return [seen(ctx, out)]
