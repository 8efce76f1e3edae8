"""Long operations ask now and then whether the user wants to stop, as loops do (see ``cost``)."""

from __future__ import annotations

from collections.abc import Callable

from ...ir.graph import Node
from .context import Context
from .memory import shifted
from .values import Array

#: Steps between two questions: those of a sort (up to twice as many where a merge is cut), of searches (each somewhere
#: else in memory), and the multiplications of a product of floating-point numbers, whose pieces BLAS lays out anew, or
#: of integers. They take some 50 milliseconds, those of BLAS 100, and several times that on a slow or busy machine.
STEPS, SEARCHES, FLOATS, INTEGERS = 1 << 22, 1 << 21, 1 << 32, 1 << 27
#: where the first of the words that tell stands, from the report on; the others are before it
BEFORE_REPORT = -3
SPEND = "autoloop_spend"
_SPEND = """
define internal i32 @autoloop_spend(ptr %thread, ptr %fuel, i64 %work, i64 %most) nounwind {
  %left = load i64, ptr %fuel
  %rest = sub i64 %left, %work
  store i64 %rest, ptr %fuel
  %over = icmp slt i64 %rest, 0
  br i1 %over, label %ask, label %fine
ask:
  store i64 %most, ptr %fuel
  %answer = call i32 @autoloop_poll(ptr %thread)
  ret i32 %answer
fine:
  ret i32 0
}"""


def tell(ctx: Context, node: Node, count: str) -> None:
    """Tell whoever looks that so many iterations of an outermost loop are over: in a word before the report.

    Nobody in the function reads it, so only a volatile store stays where it is.
    """
    if node not in ctx.told:
        ctx.told.append(node)
    place = ctx.writer.let(f"getelementptr i64, ptr %report, i64 {BEFORE_REPORT - ctx.told.index(node)}")
    ctx.writer.do(f"store volatile i64 {count}, ptr {place}, align 8")


def ask(ctx: Context) -> None:
    """Ask, and end the function if the user wants to stop; who does so now and then can as well tell how far it is."""
    if ctx.loops:
        tell(ctx, *ctx.loops[0])
    end_unless_zero(ctx, ctx.writer.let("call i32 @autoloop_poll(ptr %thread)"))


def end_unless_zero(ctx: Context, answer: str) -> None:
    """End the function if ``answer`` says that Python's signal handlers raised."""
    writer = ctx.writer
    stop, go_on = writer.label("stop"), writer.label("on")
    writer.branch(writer.let(f"icmp eq i32 {answer}, 0"), go_on, stop)
    with writer.at(ctx.failures):
        writer.start(stop)
        writer.do("ret i32 -1")
    writer.start(go_on)


class Fuel:
    """Work that is left until the next question; a question is asked each ``most`` units of it."""

    def __init__(self, ctx: Context, most: int) -> None:
        self._ctx, self.most = ctx, most
        ctx.module.define(SPEND, lambda: _SPEND)
        with ctx.writer.at(ctx.entry):
            self.pointer = ctx.writer.let("alloca i64")
            ctx.writer.do(f"store i64 {most}, ptr {self.pointer}")

    def spend(self, work: int) -> None:
        """So much is done."""
        given = f"ptr %thread, ptr {self.pointer}, i64 {work}, i64 {self.most}"
        end_unless_zero(self._ctx, self._ctx.writer.let(f"call i32 @{SPEND}({given})"))


def in_pieces(ctx: Context, extent: int, piece: int, write: Callable[[str, int], None]) -> None:
    """Call ``write(first, count)`` for one piece of ``extent`` rounds after the other, with a question behind each."""
    whole, rest = divmod(extent, piece)
    if whole:
        with ctx.writer.loop(whole, ctx.module.loop_id()) as loop:
            write(ctx.writer.let(f"mul nuw nsw i64 {loop.index}, {piece}"), piece)
            ask(ctx)
    if rest:
        write(str(whole * piece), rest)


def part_of(ctx: Context, array: Array, axis: int, first: str, count: int) -> Array:
    """Return ``count`` rows of ``array`` along ``axis`` from ``first``."""
    offset = ctx.writer.let(f"mul nsw i64 {first}, {array.strides[axis]}")
    return shifted(ctx, array, offset, array.shape[:axis] + (count,) + array.shape[axis + 1 :], array.strides)
