"""Systems of equations, inverses, determinants and Cholesky factors: large ones by LAPACK, small ones without;
and sums of squares.

All but these is computed in double precision, as NumPy does, whatever the operands are of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...base.dataclass import replace
from ...ir.graph import Node
from ...ops.arithmetic import MULTIPLY
from ...ops.linalg import CHOLESKY, DET, INV, SOLVE, SQUARES
from ...ops.reducing import SUM
from ..ir.casts import cast
from ..ir.elements import COMPLEX128, DOUBLE, HALF, INT64, TYPES, literal
from ..kernels import elimination
from ..kernels.ll_files import code
from ..writer.context import Context
from ..writer.interrupts import INTEGERS, Fuel
from ..writer.memory import put, seen
from ..writer.nests import Nest, store
from ..writer.node_writer import array_of
from ..writer.registry import UNDECIDED, rule
from ..writer.values import Array, Expr, Scalar, Shape, Splat, Value, resolve, size_of
from . import lapack_calls as lapack
from .reduction_rules import reduce

#: From so many rows on LAPACK is called: for factors of a general matrix, for solutions for about as many right sides,
#: and for a Cholesky factor. Time of ours over LAPACK's on one thread (OpenBLAS 0.3.30, AVX-512; for the first
#: ``tests/benchmarks/own_parts.py factors``): one right side, n = 32: 0.8; 64: 0.9; 96: 1.2; 128: 1.2; 512: 2.0;
#: n right sides, 128: 0.7; 256: 1.0; 512: 1.2; 1024: 2.1; Cholesky, 16: 1.0; 32: 1.3; 64: 1.8; 128: 2.8; 512: 9.
LARGE, LARGE_WITH_MANY, LARGE_CHOLESKY = 96, 384, 32


def _operand(ctx: Context, node: Node, value: Value) -> Array:
    if TYPES[node.outputs[0].dtype] is HALF:
        ctx.refuse(node, "of half precision it has no machine code, nor has NumPy any")
    return array_of(ctx, value)


def _each(
    ctx: Context, arrays: Sequence[Array], ranks: Sequence[int], work: int, write: Callable[[list[Array]], None]
) -> None:
    """Write something for each element of the leading axes, those before the last ``ranks``; they broadcast.

    ``work`` are the multiplications for one of them.
    """
    starts = []
    for x, rank in zip(arrays, ranks):
        lead = len(x.shape) - rank
        starts.append(replace(x, shape=x.shape[:lead], strides=x.strides[:lead]))
    batch = max([s.shape for s in starts], key=len)
    nest = Nest(ctx, batch, starts)
    fuel = Fuel(ctx, INTEGERS) if batch and work * size_of(batch) > INTEGERS else None
    with nest.loops(sequential=True):
        write([
            replace(x, pointer=nest.address(s), shape=x.shape[len(s.shape) :], strides=x.strides[len(s.shape) :])
            for x, s in zip(arrays, starts)
        ])  # fmt: skip
        if fuel is not None:
            fuel.spend(work)


def _factored(ctx: Context, x: Array) -> tuple[Array, Array, str]:
    """Return the factors of a small matrix, the order of its rows, and the sign of that order, 0 if it is singular."""
    n = x.shape[0]
    factors, order = ctx.temporary(DOUBLE, x.shape), ctx.temporary(INT64, (n,))
    lapack.convert(ctx, x, factors)
    ctx.module.define("lu", elimination.lu)
    call = f"call i32 @lu(ptr {factors.pointer}, ptr {order.pointer}, i64 {n})"
    return factors, order, ctx.writer.let(call)


def _solved(ctx: Context, node: Node, values: Sequence[Value], a: Array, b: Array | None, out: Array) -> None:
    """Write ``out`` with ``a @ out == b``; ``None`` is the identity."""
    n, t = a.shape[0], COMPLEX128 if out.t.kind == "c" else DOUBLE
    if len(out.shape) == 1:
        out = replace(out, shape=(n, 1), strides=(out.strides[0], n))
        b = None if b is None else replace(b, shape=(n, 1), strides=(b.strides[0], n))
    is_large = t is COMPLEX128 or n >= (LARGE if 4 * out.shape[1] < n else LARGE_WITH_MANY)
    large = lapack.factored(ctx, a, t) if is_large else None
    if large is not None:
        factors, order, failed = large
        ctx.check(ctx.writer.let(f"icmp eq i32 {failed}, 0"), node, values)
        x = out if out.strides == (1, n) and out.t is t else lapack.columns_first(ctx, n, out.shape[1], t)
        _put_right_side(ctx, b, x)
        lapack.solve_in_place(ctx, factors, order, x)
    elif t is COMPLEX128:
        ctx.refuse(node, "of complex numbers it has no machine code without SciPy's LAPACK")
        return
    else:
        factors, order, sign = _factored(ctx, a)
        ctx.check(ctx.writer.let(f"icmp ne i32 {sign}, 0"), node, values)
        x = _substituted(ctx, factors, order, b, out.shape)
    lapack.convert(ctx, x, out)


def _substituted(ctx: Context, factors: Array, order: Array, b: Array | None, shape: Shape) -> Array:
    right, x = ctx.temporary(DOUBLE, shape), ctx.temporary(DOUBLE, shape)
    _put_right_side(ctx, b, right)
    ctx.module.define("substitute", elimination.substitute)
    pointers = ", ".join(f"ptr {p.pointer}" for p in (factors, order, right, x))
    ctx.writer.do(f"call void @substitute({pointers}, i64 {shape[0]}, i64 {shape[1]})")
    return x


def _put_right_side(ctx: Context, b: Array | None, x: Array) -> None:
    """Write ``b``, or the identity, to ``x``."""
    if b is not None:
        lapack.convert(ctx, b, x)
        return
    n = x.shape[0]
    store(ctx, Splat(literal(0, x.t), x.t, x.shape), x)
    store(ctx, Splat(literal(1, x.t), x.t, (n,)), replace(x, shape=(n,), strides=(n + 1,)))


def _factor_time(node: Node, shapes: list[Shape], rate: float) -> float:
    return rate * size_of(shapes[0]) * shapes[0][-1] + rate * size_of(shapes[-1]) * shapes[0][-1]


@rule(SOLVE, time=_factor_time, refuses=UNDECIDED, complexes=True)
def _solve(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    a, b = _operand(ctx, node, values[0]), _operand(ctx, node, values[1])
    out = ctx.result(node.outputs[0], ctx.type_of(node.outputs[0]), ctx.shape_of(node.outputs[0]))
    if 0 not in out.shape:
        n, rank = a.shape[-1], min(len(b.shape), 2)
        work = n * n * (n // 3 + (b.shape[-1] if rank == 2 else 1))
        _each(ctx, [a, b, out], [2, rank, rank], work, lambda parts: _solved(ctx, node, [a, b], *parts))
    return [out]


@rule(INV, time=_factor_time, refuses=UNDECIDED, complexes=True)
def _inverse(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    a = _operand(ctx, node, values[0])
    out = ctx.result(node.outputs[0], a.t, a.shape)
    if 0 not in a.shape:
        work = a.shape[-1] ** 3
        _each(ctx, [a, out], [2, 2], work, lambda parts: _solved(ctx, node, [a], parts[0], None, parts[1]))
    return [out]


@rule(DET, time=_factor_time)
def _determinant(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    tensor = node.outputs[0]
    a, t, shape = _operand(ctx, node, values[0]), ctx.type_of(tensor), ctx.shape_of(tensor)
    n = a.shape[-1]
    if n == 0:
        return [Splat(literal(1, t), t, shape) if shape else Scalar(literal(1, t), t)]
    out = ctx.result(tensor, t, shape) if shape else ctx.temporary(t, ())
    ctx.module.define("determinant", lambda: code("determinant"))

    def product(parts: list[Array]) -> None:
        large = lapack.factored(ctx, parts[0]) if n >= LARGE else None
        if large is not None:
            factors, order, failed = large
            sign = lapack.order_sign(ctx, order, failed)
        else:
            factors, _, sign = _factored(ctx, parts[0])
        found = ctx.writer.let(f"call double @determinant(ptr {factors.pointer}, i32 {sign}, i64 {n})")
        put(ctx, Scalar(cast(ctx.writer, ctx.module, found, DOUBLE, t), t), parts[1])

    if 0 not in shape:
        _each(ctx, [a, out], [2, 0], n**3 // 3, product)
    return [seen(ctx, out)]


@rule(CHOLESKY, time=_factor_time, refuses=UNDECIDED)
def _cholesky_of(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    a = _operand(ctx, node, values[0])
    t, n = a.t, a.shape[-1]
    out = ctx.result(node.outputs[0], t, a.shape)

    def factor(parts: list[Array]) -> None:
        x, into = parts
        made = into if t is DOUBLE else ctx.temporary(DOUBLE, (n, n))
        lapack.convert(ctx, x, made)
        failed = lapack.cholesky(ctx, made) if n >= LARGE_CHOLESKY else None
        if failed is None:
            ctx.module.define("cholesky", elimination.cholesky)
            failed = ctx.writer.let(f"call i32 @cholesky(ptr {made.pointer}, i64 {n})")
        ctx.check(ctx.writer.let(f"icmp eq i32 {failed}, 0"), node, [a])
        if made is not into:
            lapack.convert(ctx, made, into)

    if 0 not in a.shape:
        _each(ctx, [a, out], [2, 2], n**3 // 6, factor)
    return [out]


@rule(SQUARES, complexes=True)
def _squares(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    x, shape = array_of(ctx, resolve(values[0])), ctx.shape_of(node.inputs[0])
    if node.inputs[0].dtype.kind == "c":  # the parts are the numbers along one more axis
        shape, strides = (*shape, 2), (*[2 * step for step in x.strides], 1)
        x = Array(x.pointer, x.t.part, shape, strides, x.buffer, x.owned)
    if 0 in shape:
        return [Scalar(literal(0, x.t), x.t)]
    return [Scalar(reduce(ctx, SUM, Expr(MULTIPLY, (x, x), x.t, shape), tuple(range(len(shape))), None), x.t)]
