"""Systems of equations, inverses, determinants and Cholesky factors of small matrices, without LAPACK.

Matrices are square, without gaps, row after row. Elimination is by rows, so that the innermost loops are over memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from ...base.dataclass import replace
from ...ir.graph import Node
from ...ops.linalg import CHOLESKY, DET, INV, SOLVE
from ..ir.elements import INT64, LType, literal
from ..ir.writer import Writer
from ..writer.context import Context
from ..writer.memory import loaded, put, seen
from ..writer.nests import Nest, store
from ..writer.node_writer import array_of
from ..writer.registry import rule
from ..writer.values import Array, Scalar, Shape, Splat, Value, size_of


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

    def __init__(self, w: Writer, t: LType, pointer: str, columns: str) -> None:
        self.w, self.t, self.pointer, self.columns = w, t, pointer, columns

    def at(self, i: str, j: str) -> str:
        row = self.w.let(f"mul nsw i64 {i}, {self.columns}")
        place = self.w.let(f"add nsw i64 {row}, {j}")
        return self.w.let(f"getelementptr {self.t.name}, ptr {self.pointer}, i64 {place}")

    def get(self, i: str, j: str) -> str:
        return self.w.let(f"load {self.t.name}, ptr {self.at(i, j)}")

    def put(self, i: str, j: str, value: str) -> None:
        self.w.do(f"store {self.t.name} {value}, ptr {self.at(i, j)}")

    def lessen(self, i: str, j: str, x: str, y: str) -> None:
        """Write ``[i, j] -= x * y``."""
        product = self.w.let(f"fmul {self.t.name} {x}, {y}")
        self.put(i, j, self.w.let(f"fsub {self.t.name} {self.get(i, j)}, {product}"))


def _function(head: str, write: Callable[[Writer], None]) -> str:
    writer = Writer()
    write(writer)
    return f"define internal {head} nounwind {{\nentry:\n{writer.render()}\n}}"


def _lu(t: LType) -> str:
    """Return ``lu(a, p, n)``: the factors in the place of ``a``, its rows in the order ``p``; gives 1, -1,
    0 if singular."""
    f = t.name

    def write(w: Writer) -> None:
        a = _Matrix(w, t, "%a", "%n")
        sign, best, where = (w.let(f"alloca {name}") for name in ("i32", f, "i64"))
        w.do(f"store i32 1, ptr {sign}")
        with _span(w, "0", "%n") as k:
            w.do(f"store i64 {k}, ptr {w.let(f'getelementptr i64, ptr %p, i64 {k}')}")
        with _span(w, "0", "%n") as k:
            following = w.let(f"add nsw i64 {k}, 1")
            w.do(f"store i64 {k}, ptr {where}")
            w.do(f"store {f} {_size(w, t, a.get(k, k))}, ptr {best}")
            with _span(w, following, "%n") as i:
                x, most, row = _size(w, t, a.get(i, k)), w.let(f"load {f}, ptr {best}"), w.let(f"load i64, ptr {where}")
                more = w.let(f"fcmp ogt {f} {x}, {most}")
                w.do(f"store {f} {w.let(f'select i1 {more}, {f} {x}, {f} {most}')}, ptr {best}")
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
            zero = w.let(f"fcmp oeq {f} {pivot}, 0.0")
            before = w.let(f"load i32, ptr {sign}")
            turned = w.let(f"select i1 {moved}, i32 {w.let(f'sub i32 0, {before}')}, i32 {before}")
            w.do(f"store i32 {w.let(f'select i1 {zero}, i32 0, i32 {turned}')}, ptr {sign}")
            with _span(w, following, w.let(f"select i1 {zero}, i64 0, i64 %n")) as i:
                factor = w.let(f"fdiv {f} {a.get(i, k)}, {pivot}")
                a.put(i, k, factor)
                with _span(w, following, "%n") as j:
                    a.lessen(i, j, factor, a.get(k, j))
        w.do(f"ret i32 {w.let(f'load i32, ptr {sign}')}")

    return _function(f"i32 @lu.{f}(ptr noalias %a, ptr noalias %p, i64 %n)", write)


def _size(w: Writer, t: LType, x: str) -> str:
    return w.let(f"call {t.name} @llvm.fabs.{t.suffix}({t.name} {x})")


def _substitute(t: LType) -> str:
    """Return ``substitute(a, p, b, x, n, m)``: ``x`` with ``a @ x == b`` from the factors of ``a``,
    for ``m`` columns."""
    f = t.name

    def write(w: Writer) -> None:
        a, b, x = _Matrix(w, t, "%a", "%n"), _Matrix(w, t, "%b", "%m"), _Matrix(w, t, "%x", "%m")
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
                x.put(i, j, w.let(f"fdiv {f} {x.get(i, j)}, {pivot}"))
        w.do("ret void")

    parameters = "ptr noalias %a, ptr noalias %p, ptr noalias %b, ptr noalias %x, i64 %n, i64 %m"
    return _function(f"void @substitute.{f}({parameters})", write)


def _cholesky(t: LType) -> str:
    """Return ``cholesky(a, n)``: the factor of the lower half of ``a`` in its place, zeros above;
    gives 0 if there is none."""
    f = t.name

    def write(w: Writer) -> None:
        a = _Matrix(w, t, "%a", "%n")
        good = w.let("alloca i32")
        w.do(f"store i32 1, ptr {good}")
        with _span(w, "0", "%n") as i:
            with _span(w, "0", i) as j:
                with _span(w, "0", j) as k:
                    a.lessen(i, j, a.get(i, k), a.get(j, k))
                a.put(i, j, w.let(f"fdiv {f} {a.get(i, j)}, {a.get(j, j)}"))
            with _span(w, "0", i) as k:
                x = a.get(i, k)
                a.lessen(i, i, x, x)
            rest = a.get(i, i)
            positive = w.let(f"fcmp ogt {f} {rest}, 0.0")
            before = w.let(f"load i32, ptr {good}")
            w.do(f"store i32 {w.let(f'select i1 {positive}, i32 {before}, i32 0')}, ptr {good}")
            a.put(i, i, w.let(f"call {f} @llvm.sqrt.{t.suffix}({f} {rest})"))
            with _span(w, w.let(f"add nsw i64 {i}, 1"), "%n") as j:
                a.put(i, j, literal(0, t))
        w.do(f"ret i32 {w.let(f'load i32, ptr {good}')}")

    return _function(f"i32 @cholesky.{f}(ptr noalias %a, i64 %n)", write)


# -- nodes --------------------------------------------------------------------------------------------------


def _each(ctx: Context, arrays: Sequence[Array], ranks: Sequence[int], write: Callable[[list[Array]], None]) -> None:
    """Write something for each element of the leading axes, those before the last ``ranks``; they broadcast."""
    starts = []
    for x, rank in zip(arrays, ranks):
        lead = len(x.shape) - rank
        starts.append(replace(x, shape=x.shape[:lead], strides=x.strides[:lead]))
    nest = Nest(ctx, max([s.shape for s in starts], key=len), starts)
    with nest.loops(sequential=True):
        write([
            replace(x, pointer=nest.address(s), shape=x.shape[len(s.shape) :], strides=x.strides[len(s.shape) :])
            for x, s in zip(arrays, starts)
        ])  # fmt: skip


def _factored(ctx: Context, x: Array) -> tuple[Array, Array, str]:
    """Return the factors of a matrix, the order of its rows, and the sign of that order."""
    t, n = x.t, x.shape[0]
    factors, order = ctx.temporary(t, x.shape), ctx.temporary(INT64, (n,))
    store(ctx, x, factors)
    ctx.module.define(f"lu.{t.name}", lambda: _lu(t))
    call = f"call i32 @lu.{t.name}(ptr {factors.pointer}, ptr {order.pointer}, i64 {n})"
    return factors, order, ctx.writer.let(call)


def _solved(ctx: Context, node: Node, values: Sequence[Value], a: Array, b: Array, out: Array) -> None:
    t, n = a.t, a.shape[0]
    factors, order, sign = _factored(ctx, a)
    ctx.check(ctx.writer.let(f"icmp ne i32 {sign}, 0"), node, values)
    right, x = ctx.temporary(t, b.shape), ctx.temporary(t, b.shape)
    store(ctx, b, right)
    ctx.module.define(f"substitute.{t.name}", lambda: _substitute(t))
    pointers = ", ".join(f"ptr {p.pointer}" for p in (factors, order, right, x))
    columns = b.shape[1] if len(b.shape) == 2 else 1
    ctx.writer.do(f"call void @substitute.{t.name}({pointers}, i64 {n}, i64 {columns})")
    store(ctx, x, out)


def _factor_time(node: Node, shapes: list[Shape], rate: float) -> float:
    return rate * size_of(shapes[0]) * shapes[0][-1] + rate * size_of(shapes[-1]) * shapes[0][-1]


@rule(SOLVE, time=_factor_time, undecided=True)
def _solve(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    a, b = array_of(ctx, values[0]), array_of(ctx, values[1])
    out = ctx.result(node.outputs[0], a.t, ctx.shape_of(node.outputs[0]))
    if 0 not in out.shape:
        rank = min(len(b.shape), 2)
        _each(ctx, [a, b, out], [2, rank, rank], lambda parts: _solved(ctx, node, [a, b], *parts))
    return [out]


@rule(INV, time=_factor_time, undecided=True)
def _inverse(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    a = array_of(ctx, values[0])
    out = ctx.result(node.outputs[0], a.t, a.shape)
    if 0 not in a.shape:
        one = ctx.constant(np.eye(a.shape[-1], dtype=node.inputs[0].dtype))
        _each(ctx, [a, out], [2, 2], lambda parts: _solved(ctx, node, [a], parts[0], one, parts[1]))
    return [out]


@rule(DET, time=_factor_time)
def _determinant(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    a, t, shape = array_of(ctx, values[0]), ctx.type_of(node.outputs[0]), ctx.shape_of(node.outputs[0])
    if 0 in a.shape[-2:]:
        return [Splat(literal(1, t), t, shape) if shape else Scalar(literal(1, t), t)]
    out = ctx.result(node.outputs[0], t, shape) if shape else ctx.temporary(t, ())
    if 0 not in shape:

        def product(parts: list[Array]) -> None:
            factors, _, sign = _factored(ctx, parts[0])
            total = ctx.writer.let(f"sitofp i32 {sign} to {t.name}")
            for k in range(a.shape[-1]):
                place = ctx.writer.let(f"getelementptr {t.name}, ptr {factors.pointer}, i64 {k * (a.shape[-1] + 1)}")
                entry = loaded(ctx, replace(factors, pointer=place, shape=(), strides=()))
                total = ctx.writer.let(f"fmul {t.name} {total}, {entry.text}")
            put(ctx, Scalar(total, t), parts[1])

        _each(ctx, [a, out], [2, 0], product)
    return [seen(ctx, out)]


@rule(CHOLESKY, time=_factor_time, undecided=True)
def _cholesky_of(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    a = array_of(ctx, values[0])
    t, n = a.t, a.shape[-1]
    out = ctx.result(node.outputs[0], t, a.shape)
    if 0 in a.shape:
        return [out]
    ctx.module.define(f"cholesky.{t.name}", lambda: _cholesky(t))

    def factor(parts: list[Array]) -> None:
        made = ctx.temporary(t, (n, n))
        store(ctx, parts[0], made)
        good = ctx.writer.let(f"call i32 @cholesky.{t.name}(ptr {made.pointer}, i64 {n})")
        ctx.check(ctx.writer.let(f"icmp ne i32 {good}, 0"), node, [a])
        store(ctx, made, parts[1])

    _each(ctx, [a, out], [2, 2], factor)
    return [out]
