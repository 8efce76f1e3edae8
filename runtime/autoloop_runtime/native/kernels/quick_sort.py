"""A sort that needs no memory, where nobody can tell equal elements apart: an argument is sorted where it is."""

from __future__ import annotations

from ..ir.elements import LType
from ..ir.writer import Module, filled
from .ll_files import chosen, text_of

#: lines of at most so many elements are sorted faster here than by a call of NumPy's vectors
_FEW = 64
#: pieces of at most so many elements are sorted by insertion
_RUN = 12
#: quicksort gives up after so many times as many divisions as there are halvings
_DEEPEST = 2
#: steps that an element takes on its way through a heap
_LEVELS = 32
#: kinds of elements -> comparisons: of what stands before a pivot, and of what stands before it or is equal
_ORDERS = {"i": ("icmp slt", "icmp sle"), "ub": ("icmp ult", "icmp ule"), "f": ("fcmp olt", "fcmp ole")}
#: nan comes last
_ENTRY = """
define internal i32 @sort_here.$name(ptr %v, i64 %n, ptr %thread, ptr %fuel) nounwind {
v  %many = sub i64 %n, $few1
v  %at_once = icmp ult i64 %many, $span
v  br i1 %at_once, label %by_vectors, label %here
v by_vectors:
v  %by = call i32 @$vectors(ptr %v, i64 %n, ptr null)
vs  %asked = call i32 @autoloop_spend(ptr %thread, ptr %fuel, i64 %n, i64 $most)
vs  ret i32 %asked
vm  ret i32 0
v here:
f  %numbers = call i64 @numbers.$name(ptr %v, i64 %n, $t 0.0, ptr %thread, ptr %fuel)
fs  %stopped = icmp slt i64 %numbers, 0
fs  br i1 %stopped, label %stop, label %go_on
fs go_on:
n  %numbers = add i64 %n, 0
  %zeros = call i64 @llvm.ctlz.i64(i64 %n, i1 false)
  %halvings = sub i64 64, %zeros
  %deepest = mul i64 %halvings, $deepest
  %answer = call i32 @quick_sort.$name(ptr %v, i64 %numbers, i64 %deepest, ptr %thread, ptr %fuel)
  ret i32 %answer
fs stop:
fs  ret i32 1
}"""


def quick_sorter(module: Module, t: LType, most: int, is_long: bool, vectors: str | None) -> str:
    """Return the function that sorts elements of type ``t``; a long sort has a question every ``most`` steps.

    ``vectors`` is a function of NumPy's that sorts them by vectors.
    """
    name, floats = f"{t.kind}{t.size}{'_long' if is_long else ''}", t.kind == "f"
    marks = {"s": is_long, "m": not is_long, "f": floats, "fs": floats and is_long, "n": not floats}
    by = vectors is not None
    marks |= {"v": by, "vs": by and is_long, "vm": by and not is_long}
    if vectors is not None:
        module.declare(f"i32 @{vectors}(ptr, i64, ptr)")
    below, up_to = next(orders for kinds, orders in _ORDERS.items() if t.kind in kinds)
    words = {"t": t.memory, "name": name, "align": t.align, "most": most, "run": _RUN, "levels": _LEVELS}
    words |= {"deepest": _DEEPEST, "few1": _FEW + 1, "span": max(0, most - _FEW), "vectors": vectors or ""}

    def define(symbol: str, text: str, **more: str) -> None:
        module.define(f"{symbol}.{name}", lambda: filled(chosen(text, marks), words | more))

    parts = {"below": below, "up_to": up_to} | ({"numbers": "fcmp ord"} if floats else {})
    for part, order in parts.items():
        define(part, text_of("partition"), part=part, order=order)
    define("quick_sort", text_of("quick_sort"), below=below)
    define("sort_here", _ENTRY)
    return f"sort_here.{name}"
