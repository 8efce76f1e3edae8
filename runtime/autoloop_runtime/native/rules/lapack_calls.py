"""Factors of large matrices and systems of equations by LAPACK, in pieces between which the user may stop them.

It counts columns first: a matrix is copied column after column, and as doubles, as NumPy does, so that pivots and
roundings are NumPy's. A matrix that is its own transpose is left as it lies.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...ops.operands import CAST
from ..ir.elements import DOUBLE, INT32, LType
from ..kernels.ll_files import code
from ..writer.context import Context
from ..writer.fortran_calls import call_fortran, has_fortran
from ..writer.interrupts import FLOATS, ask, in_pieces
from ..writer.memory import loaded, shifted
from ..writer.nests import store
from ..writer.values import Array, Expr

#: the least rows of a piece of a factorisation
LEAST = 128


def convert(ctx: Context, x: Array, into: Array) -> None:
    """Write the elements of ``x``, which broadcasts, to ``into``, whose type may be another."""
    store(ctx, x if x.t is into.t else Expr(CAST, (x,), into.t, into.shape), into)


def columns_first(ctx: Context, rows: int, columns: int, t: LType = DOUBLE) -> Array:
    """Return memory for a matrix, column after column."""
    made = ctx.temporary(t, (columns, rows))
    return Array(made.pointer, t, (rows, columns), (1, rows), made.buffer, owned=True)


def factored(ctx: Context, x: Array, t: LType = DOUBLE) -> tuple[Array, Array, str] | None:
    """Return the factors of a matrix as ``t``, column after column, the exchanges of its rows, and 0 if it is not
    singular; ``None`` without LAPACK."""
    n = x.shape[0]
    if not has_fortran(ctx, "getrf", t):
        return None
    a, order = columns_first(ctx, n, n, t), ctx.temporary(INT32, (n,))
    convert(ctx, x, a)
    found = ctx.temporary(INT32, ())
    failed = "0"
    for start, count in _blocks(n, n**3 // 3):
        end, rest = start + count, n - start - count
        exchanges = _at(ctx, order, start)
        panel = _at(ctx, a, start * (n + 1))
        call_fortran(ctx, "getrf", t, (n - start, count, panel, n, exchanges, found.pointer))
        failed = ctx.writer.let(f"or i32 {failed}, {loaded(ctx, found).text}")
        if count == n:
            break
        _add(ctx, exchanges, count, start)
        for first, columns in ((0, start), (end, rest)):
            if columns:
                place = _at(ctx, a, first * n)
                call_fortran(ctx, "laswp", t, (columns, place, n, start + 1, end, order.pointer, 1))
        if rest:
            right, below = _at(ctx, a, end * n + start), _at(ctx, a, start * n + end)
            call_fortran(ctx, "trsm", t, ("L", "L", "N", "U", count, rest, 1.0, panel, n, right, n))

            def lessen(first: str, columns: int, below: str = below, start: int = start, end: int = end) -> None:
                column = ctx.writer.let(f"mul nsw i64 {first}, {n}")
                above, into = (ctx.writer.let(f"getelementptr {t.name}, ptr {_at(ctx, a, end * n + row)}, i64 {column}")
                               for row in (start, end))  # fmt: skip
                sizes = (n - end, columns, end - start)
                call_fortran(ctx, "gemm", t, ("N", "N", *sizes, -1.0, below, n, above, n, 1.0, into, n))

            in_pieces(ctx, rest, max(1, FLOATS // (rest * count)), lessen)
            ask(ctx)
    return a, order, failed


def _at(ctx: Context, array: Array, offset: int) -> str:
    return ctx.writer.let(f"getelementptr {array.t.name}, ptr {array.pointer}, i64 {offset}")


def _add(ctx: Context, order: str, count: int, start: int) -> None:
    """Count rows from the matrix's first, which were counted from that of a piece."""
    if start:
        with ctx.writer.loop(count) as loop:
            place = ctx.writer.let(f"getelementptr i32, ptr {order}, i64 {loop.index}")
            row = ctx.writer.let(f"load i32, ptr {place}")
            ctx.writer.do(f"store i32 {ctx.writer.let(f'add i32 {row}, {start}')}, ptr {place}")


def _blocks(n: int, work: int) -> Iterator[tuple[int, int]]:
    """Give (first row, number of rows) of the pieces in which ``n`` rows are factored, all at once if that is short."""
    size = n if work <= FLOATS else min(n, max(LEAST, FLOATS // n**2))
    for start in range(0, n, size):
        yield start, min(size, n - start)


def order_sign(ctx: Context, order: Array, failed: str) -> str:
    """Return the sign of the order of the rows, 0 of a singular matrix."""
    ctx.module.define("order_sign", lambda: code("order_sign"))
    sign = ctx.writer.let(f"call i32 @order_sign(ptr {order.pointer}, i64 {order.shape[0]})")
    fine = ctx.writer.let(f"icmp eq i32 {failed}, 0")
    return ctx.writer.let(f"select i1 {fine}, i32 {sign}, i32 0")


def solve_in_place(ctx: Context, factors: Array, order: Array, x: Array) -> None:
    """Write the solutions over the right sides ``x``, which lie column after column."""
    t, (n, columns) = factors.t, x.shape
    found = ctx.temporary(INT32, ())

    def write(first: str, count: int) -> None:
        part = shifted(ctx, x, ctx.writer.let(f"mul nsw i64 {first}, {n}"), (n, count), x.strides)
        given = ("N", n, count, factors.pointer, n, order.pointer, part.pointer, n, found.pointer)
        call_fortran(ctx, "getrs", t, given)

    in_pieces(ctx, columns, max(1, FLOATS // n**2), write)


def cholesky(ctx: Context, x: Array) -> str | None:
    """Write the lower factor of ``x`` over it, row after row; gives 0 if there is one. ``None`` without LAPACK.

    What is the lower half by rows is the upper one by columns, and a factor of the one is the other's.
    """
    t, n = x.t, x.shape[0]
    if not has_fortran(ctx, "potrf", t):
        return None
    found = ctx.temporary(INT32, ())
    failed = "0"
    for start, count in _blocks(n, n**3 // 6):
        end, rest = start + count, n - start - count
        block = _at(ctx, x, start * (n + 1))
        call_fortran(ctx, "potrf", t, ("U", count, block, n, found.pointer))
        failed = ctx.writer.let(f"or i32 {failed}, {loaded(ctx, found).text}")
        if rest:
            right = _at(ctx, x, end * n + start)
            call_fortran(ctx, "trsm", t, ("L", "U", "T", "N", count, rest, 1.0, block, n, right, n))
            behind = _at(ctx, x, end * (n + 1))
            call_fortran(ctx, "syrk", t, ("U", "T", rest, count, -1.0, right, n, 1.0, behind, n))
            ask(ctx)
    ctx.module.define("clear_above", lambda: code("clear_above"))
    ctx.writer.do(f"call void @clear_above(ptr {x.pointer}, i64 {n})")
    return failed
