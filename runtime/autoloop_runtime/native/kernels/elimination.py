"""Factors of small matrices, and systems of equations from them, as functions in LLVM IR.

Matrices are of doubles, square, without gaps, row after row. Elimination is by rows, so that the innermost loops are
over memory.

They stay beside LAPACK because it takes longer to begin: for systems of n equations on one thread against OpenBLAS
0.3.30 (AVX-512), as fast for n = 4, 1.2 to 1.3 times as fast for n = 16 and 32, as fast for 64, and slower from 96 on
(``python tests/benchmarks/own_parts.py factors``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..ir.writer import Writer


@contextmanager
def _span(w: Writer, start: str, stop: str) -> Iterator[str]:
    """Write the body of a loop from ``start`` up to ``stop``, which may be no rounds at all."""
    head, body, done = w.label("head"), w.label("body"), w.label("done")
    before = w.block
    w.jump(head)
    w.start(head)
    index = w.phi("i64")
    index.add(start, before)
    w.branch(w.let(f"icmp slt i64 {index.name}, {stop}"), body, done)
    w.start(body)
    yield index.name
    index.add(w.let(f"add nsw i64 {index.name}, 1"), w.block)
    w.jump(head)
    w.start(done)


class _Matrix:
    """Elements of a matrix in memory."""

    def __init__(self, w: Writer, pointer: str, columns: str) -> None:
        self.w, self.pointer, self.columns = w, pointer, columns

    def at(self, i: str, j: str) -> str:
        row = self.w.let(f"mul nsw i64 {i}, {self.columns}")
        place = self.w.let(f"add nsw i64 {row}, {j}")
        return self.w.let(f"getelementptr double, ptr {self.pointer}, i64 {place}")

    def get(self, i: str, j: str) -> str:
        return self.w.let(f"load double, ptr {self.at(i, j)}")

    def put(self, i: str, j: str, value: str) -> None:
        self.w.do(f"store double {value}, ptr {self.at(i, j)}")

    def lessen(self, i: str, j: str, x: str, y: str) -> None:
        """Write ``[i, j] -= x * y``."""
        product = self.w.let(f"fmul double {x}, {y}")
        self.put(i, j, self.w.let(f"fsub double {self.get(i, j)}, {product}"))


def _function(head: str, write: Callable[[Writer], None]) -> str:
    writer = Writer()
    write(writer)
    return f"define internal {head} nounwind {{\nentry:\n{writer.render()}\n}}"


def lu() -> str:
    """Return ``lu(a, p, n)``: the factors in the place of ``a``, its rows in the order ``p``; gives 1, -1,
    0 if singular."""

    def write(w: Writer) -> None:
        a = _Matrix(w, "%a", "%n")
        sign, best, where = (w.let(f"alloca {name}") for name in ("i32", "double", "i64"))
        w.do(f"store i32 1, ptr {sign}")
        with _span(w, "0", "%n") as k:
            w.do(f"store i64 {k}, ptr {w.let(f'getelementptr i64, ptr %p, i64 {k}')}")
        with _span(w, "0", "%n") as k:
            following = w.let(f"add nsw i64 {k}, 1")
            w.do(f"store i64 {k}, ptr {where}")
            w.do(f"store double {_size(w, a.get(k, k))}, ptr {best}")
            with _span(w, following, "%n") as i:
                x, most, row = _size(w, a.get(i, k)), w.let(f"load double, ptr {best}"), w.let(f"load i64, ptr {where}")
                more = w.let(f"fcmp ogt double {x}, {most}")
                w.do(f"store double {w.let(f'select i1 {more}, double {x}, double {most}')}, ptr {best}")
                w.do(f"store i64 {w.let(f'select i1 {more}, i64 {i}, i64 {row}')}, ptr {where}")
            row = w.let(f"load i64, ptr {where}")
            moved = w.let(f"icmp ne i64 {row}, {k}")
            with _span(w, "0", w.let(f"select i1 {moved}, i64 %n, i64 0")) as j:
                x, y = a.get(k, j), a.get(row, j)
                a.put(k, j, y)
                a.put(row, j, x)
            places = [w.let(f"getelementptr i64, ptr %p, i64 {n}") for n in (k, row)]
            held = [w.let(f"load i64, ptr {place}") for place in places]
            for place, value in zip(places, reversed(held)):
                w.do(f"store i64 {value}, ptr {place}")
            pivot = a.get(k, k)
            zero = w.let(f"fcmp oeq double {pivot}, 0.0")
            before = w.let(f"load i32, ptr {sign}")
            turned = w.let(f"select i1 {moved}, i32 {w.let(f'sub i32 0, {before}')}, i32 {before}")
            w.do(f"store i32 {w.let(f'select i1 {zero}, i32 0, i32 {turned}')}, ptr {sign}")
            with _span(w, following, w.let(f"select i1 {zero}, i64 0, i64 %n")) as i:
                factor = w.let(f"fdiv double {a.get(i, k)}, {pivot}")
                a.put(i, k, factor)
                with _span(w, following, "%n") as j:
                    a.lessen(i, j, factor, a.get(k, j))
        w.do(f"ret i32 {w.let(f'load i32, ptr {sign}')}")

    return _function("i32 @lu(ptr noalias %a, ptr noalias %p, i64 %n)", write)


def _size(w: Writer, x: str) -> str:
    return w.let(f"call double @llvm.fabs.f64(double {x})")


def substitute() -> str:
    """Return ``substitute(a, p, b, x, n, m)``: ``x`` with ``a @ x == b`` from the factors of ``a``,
    for ``m`` columns."""

    def write(w: Writer) -> None:
        a, b, x = _Matrix(w, "%a", "%n"), _Matrix(w, "%b", "%m"), _Matrix(w, "%x", "%m")
        with _span(w, "0", "%n") as i:
            row = w.let(f"load i64, ptr {w.let(f'getelementptr i64, ptr %p, i64 {i}')}")
            with _span(w, "0", "%m") as j:
                x.put(i, j, b.get(row, j))
            with _span(w, "0", i) as k:
                factor = a.get(i, k)
                with _span(w, "0", "%m") as j:
                    x.lessen(i, j, factor, x.get(k, j))
        with _span(w, "0", "%n") as n:
            i = w.let(f"sub nsw i64 {w.let('sub nsw i64 %n, 1')}, {n}")
            with _span(w, w.let(f"add nsw i64 {i}, 1"), "%n") as k:
                factor = a.get(i, k)
                with _span(w, "0", "%m") as j:
                    x.lessen(i, j, factor, x.get(k, j))
            pivot = a.get(i, i)
            with _span(w, "0", "%m") as j:
                x.put(i, j, w.let(f"fdiv double {x.get(i, j)}, {pivot}"))
        w.do("ret void")

    parameters = "ptr noalias %a, ptr noalias %p, ptr noalias %b, ptr noalias %x, i64 %n, i64 %m"
    return _function(f"void @substitute({parameters})", write)


def cholesky() -> str:
    """Return ``cholesky(a, n)``: the factor of the lower half of ``a`` in its place, zeros above;
    gives 1 if there is none."""

    def write(w: Writer) -> None:
        a = _Matrix(w, "%a", "%n")
        failed = w.let("alloca i32")
        w.do(f"store i32 0, ptr {failed}")
        with _span(w, "0", "%n") as i:
            with _span(w, "0", i) as j:
                with _span(w, "0", j) as k:
                    a.lessen(i, j, a.get(i, k), a.get(j, k))
                a.put(i, j, w.let(f"fdiv double {a.get(i, j)}, {a.get(j, j)}"))
            with _span(w, "0", i) as k:
                x = a.get(i, k)
                a.lessen(i, i, x, x)
            rest = a.get(i, i)
            # what is no number goes through, as in LAPACK
            positive = w.let(f"fcmp ugt double {rest}, 0.0")
            before = w.let(f"load i32, ptr {failed}")
            w.do(f"store i32 {w.let(f'select i1 {positive}, i32 {before}, i32 1')}, ptr {failed}")
            a.put(i, i, w.let(f"call double @llvm.sqrt.f64(double {rest})"))
            with _span(w, w.let(f"add nsw i64 {i}, 1"), "%n") as j:
                a.put(i, j, "0.0")
        w.do(f"ret i32 {w.let(f'load i32, ptr {failed}')}")

    return _function("i32 @cholesky(ptr noalias %a, i64 %n)", write)
