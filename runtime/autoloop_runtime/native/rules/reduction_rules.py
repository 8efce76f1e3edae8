"""Reductions over axes, running sums, and what is made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...base.dataclass import replace
from ...ir.graph import Node
from ...ir.op import Op
from ...ops.arithmetic import ADD, DIVIDE
from ...ops.bounds import MAXIMUM, MINIMUM
from ...ops.complex_numbers import COMPLEX, IMAG, REAL
from ...ops.logic import EQUAL, ISNAN
from ...ops.operands import CAST
from ...ops.reducing import SUM
from ...ops.reductions import ALL, ANY, ARGMAX, ARGMIN, MAX, MEAN, MIN, PROD
from ..ir.casts import cast
from ..ir.elements import BOOL, DOUBLE, FLOAT, HALF, INT64, LType, literal
from ..ir.moving import Extent, is_moving
from ..writer.context import Context
from ..writer.memory import seen
from ..writer.memory_order import memory_order
from ..writer.nests import Nest, accumulate, accumulate_all, apply, over_kept, store_all
from ..writer.node_writer import array_of
from ..writer.outlining import element_cost, outlined, piece_of, registers_of, share
from ..writer.registry import rule
from ..writer.values import Array, Count, Expr, Scalar, Shape, Splat, Value, dense, resolve, size_of
from .bounded_sums import check_bounded

#: how many floats are added up before their sum is added to the total in double precision
CHUNK = 2048

#: nanoseconds of adding an element, or comparing it, beside those of having it
_FOLDING = 0.05

#: what NumPy's sums begin with, which says what a sum of nothing but -0.0 is
_ZERO = float(np.add.reduce(np.full(2, -0.0)))
#: up to as many floats NumPy compares one after the other on every machine that has its vectors; of more its result is
#: any of the equal ones, 0.0 or -0.0
IN_ORDER = 8

#: op -> kind of type -> (identity, instruction); floats may be added in any order, within a few ulp
_FOLDS: dict[Op, dict[str, tuple[Any, str]]] = {
    SUM: {"iu": (0, "add $t $x, $y"), "f": (_ZERO, "fadd reassoc $t $x, $y")},
    PROD: {"iu": (1, "mul $t $x, $y"), "f": (1.0, "fmul reassoc $t $x, $y")},
    MAX: {
        "b": (False, "or $t $x, $y"),
        "i": ("min", "call $t @llvm.smax.$s($t $x, $t $y)"),
        "u": ("min", "call $t @llvm.umax.$s($t $x, $t $y)"),
        "f": (-np.inf, ""),
    },
    MIN: {
        "b": (True, "and $t $x, $y"),
        "i": ("max", "call $t @llvm.smin.$s($t $x, $t $y)"),
        "u": ("max", "call $t @llvm.umin.$s($t $x, $t $y)"),
        "f": (np.inf, ""),
    },
    ANY: {"b": (False, "or $t $x, $y")},
    ALL: {"b": (True, "and $t $x, $y")},
}
#: positions are counted in half the bits where that is enough
_UNSIGNED = LType("i32", "i32", 4, "u", "i32")
#: what a reduction of no elements gives
_OF_NOTHING = {SUM: 0, PROD: 1, ANY: False, ALL: True}
#: the element-wise op that an extreme of floats folds with, which says which of two equal zeros is taken, and LLVM's
_EXTREMES = {MAX: (MAXIMUM, "maxnum"), MIN: (MINIMUM, "minnum")}


def _fold(op: Op, t: LType) -> tuple[str, Callable[[Context, str, str], str]]:
    """Return the identity of a reduction, and what writes one step of it."""
    identity, text = next(v for kinds, v in _FOLDS[op].items() if t.kind in kinds)
    if isinstance(identity, str):
        info = np.iinfo(f"{t.kind}{t.size}")
        identity = info.min if identity == "min" else info.max
    if not text:  # in order
        return literal(identity, t), lambda ctx, a, b: ctx.arithmetic.apply(ctx.writer, _EXTREMES[op][0], t, [a, b])
    text = text.replace("$t", t.name).replace("$s", t.suffix)
    return literal(identity, t), lambda ctx, a, b: ctx.writer.let(text.replace("$x", a).replace("$y", b))


def _kept(shape: Shape, axes: Sequence[int]) -> Shape:
    return tuple([1 if a in axes else n for a, n in enumerate(shape)])


def reduce(ctx: Context, op: Op, value: Value, axes: Sequence[int], out: Array | None) -> str:
    """Reduce ``value`` over ``axes`` into ``out``, which has them as 1s; without ``out`` over all, as a register."""
    operands = [value] if out is None else [value, out]
    if out is not None and ctx.outlines is not False and _shared(ctx, op, value, axes, out):
        return ""
    if not ctx.outlines:
        return _reduce(ctx, op, value, axes, out)
    result = resolve(value).t.name if out is None else "void"  # type: ignore[union-attr]
    return outlined(ctx, registers_of(ctx, operands), result, lambda: _reduce(ctx, op, value, axes, out))


def _shared(ctx: Context, op: Op, value: Value, axes: Sequence[int], out: Array) -> bool:
    """Let threads share the rows that ``value`` is reduced to, each of which one of them reduces in its order; false if
    it does not pay."""
    if not _is_contiguous(value, axes):
        return False
    nest, _ = _rows(ctx, value, axes, out)
    if not nest.extents or nest.reduces[0] or is_moving(nest.extents):
        return False
    pieces = piece_of(ctx, nest.extents, element_cost([value]) + _FOLDING)
    if pieces is None:
        return False

    def write(first: str, count: str) -> None:
        _reduce_rows(ctx, op, value, axes, out, (first, count))

    share(ctx, registers_of(ctx, [value, out]), nest.extents[0], *pieces, write)
    return True


def _is_contiguous(value: Value, axes: Sequence[int]) -> bool:
    """Return whether the axis with the smallest steps is reduced."""
    shape = resolve(value).shape  # type: ignore[union-attr]
    wide = [a for a in _in_order(value) if shape[a] != 1]
    return not wide or wide[-1] in axes


def _rows(
    ctx: Context, value: Value, axes: Sequence[int], out: Array, window: tuple[str, str] | None = None
) -> tuple[Nest, Array]:  # fmt: skip
    """Return loops over what is kept, then over ``axes``; and where the results are put in them."""
    shape = resolve(value).shape  # type: ignore[union-attr]
    spread = replace(out, strides=tuple([0 if a in axes else s for a, s in enumerate(out.strides)]), shape=shape)
    kept = [a for a in _in_order(value) if a not in axes]
    order = kept + [a for a in _in_order(value) if a in axes]
    return Nest(ctx, shape, [value, spread], axes, order, window), spread


def _in_order(value: Value) -> list[int]:
    """Return the axes of ``value`` as they lie in memory."""
    shape = resolve(value).shape  # type: ignore[union-attr]
    return memory_order([value], shape) or list(range(len(shape)))


def _reduce_rows(
    ctx: Context, op: Op, value: Value, axes: Sequence[int], out: Array, window: tuple[str, str] | None = None
) -> None:  # fmt: skip
    value = resolve(value)
    nest, spread = _rows(ctx, value, axes, out, window)
    over_kept(nest, lambda: nest.store(spread, _total(ctx, op, value.t, nest, value)))  # type: ignore[union-attr]


def _reduce(ctx: Context, op: Op, value: Value, axes: Sequence[int], out: Array | None) -> str:
    value = resolve(value)
    shape, t = value.shape, value.t  # type: ignore[union-attr]
    if out is None:
        nest = Nest(ctx, shape, [value], axes, _in_order(value))
        return _total(ctx, op, t, nest, value)
    if not _is_contiguous(value, axes):
        spread = replace(out, strides=tuple([0 if a in axes else s for a, s in enumerate(out.strides)]), shape=shape)
        _by_rows(ctx, op, t, value, axes, out, spread)
        return ""
    _reduce_rows(ctx, op, value, axes, out)
    return ""


def _by_rows(
    ctx: Context, op: Op, t: LType, value: Value, axes: Sequence[int], out: Array, spread: Array
) -> None:  # fmt: skip
    """Row after row into memory: the axis that is contiguous is kept, so each row is one SIMD loop."""
    identity, step = _fold(op, t)
    if op is SUM and t.kind == "f":
        identity = _zero(ctx, t, [value.shape[a] for a in axes])  # type: ignore[union-attr]
    store_all(ctx, out.shape, [Scalar(identity, t)], [out])
    order = [a for a in _in_order(value) if a in axes] + [a for a in _in_order(value) if a not in axes]
    nest = Nest(ctx, spread.shape, [value, spread], axes, order)

    def level() -> None:
        depth = nest.depth
        if depth == len(nest.extents):
            text = nest.element(value)
            nest.store(spread, step(ctx, nest.load(spread), text))
            return
        with nest.level(sequential=nest.reduces[depth]):
            level()

    level()


def _total(ctx: Context, op: Op, t: LType, nest: Nest, value: Value) -> str:
    """Return the reduction over all loops that are not open yet."""
    if op is SUM and t.kind == "f":
        return _float_sum(ctx, t, nest, value)
    extreme = t.kind == "f" and op in _EXTREMES
    rest = nest.extents[nest.depth :]

    def in_order() -> str:
        identity, step = _fold(op, t)
        return accumulate(nest, t, identity, lambda total, nest: step(ctx, total, nest.element(value)))

    if extreme and (t is HALF or size_of(tuple(rest)) <= IN_ORDER):
        return in_order()
    if extreme and is_moving(rest):
        few = ctx.writer.let(f"icmp ule i64 {ctx.count(rest)}, {IN_ORDER}")
        return ctx.writer.either(few, t.name, in_order, lambda: _float_extreme(ctx, op, t, nest, value, t))
    narrow, t = t, FLOAT if t is HALF else t
    if extreme:
        return cast(ctx.writer, ctx.module, _float_extreme(ctx, op, t, nest, value, narrow), t, narrow)
    identity, step = _fold(op, t)

    def combine(total: str, nest: Nest) -> str:
        return step(ctx, total, cast(ctx.writer, ctx.module, nest.element(value), narrow, t))

    return cast(ctx.writer, ctx.module, accumulate(nest, t, identity, combine), t, narrow)


def _float_extreme(ctx: Context, op: Op, t: LType, nest: Nest, value: Value, narrow: LType) -> str:
    """Return the extreme of numbers in one instruction per vector, and beside it whether there was a nan.

    With a nan the former is undefined (``nnan``), and then not looked at.
    """
    writer, identity, extreme = ctx.writer, _fold(op, t)[0], _EXTREMES[op][1]

    def step(totals: list[str], nest: Nest) -> list[str]:
        x = cast(writer, ctx.module, nest.element(value), narrow, t)
        best = writer.let(f"call nnan nsz {t.name} @llvm.{extreme}.{t.suffix}({t.name} {totals[0]}, {t.name} {x})")
        return [best, writer.let(f"or i1 {totals[1]}, {writer.let(f'fcmp uno {t.name} {x}, {x}')}")]

    best, nan = accumulate_all(nest, [(t, identity), (BOOL, "false")], step)
    return writer.let(f"select i1 {nan}, {t.name} {literal(np.nan, t)}, {t.name} {best}")


def _zero(ctx: Context, t: LType, extents: Sequence[int]) -> str:
    """Return what a sum of so many floats begins with: of none it is 0.0."""
    start = literal(_ZERO, t)
    for extent in extents:
        if isinstance(extent, Extent):
            none = ctx.writer.let(f"icmp eq i64 {ctx.extent(extent)}, 0")
            start = ctx.writer.let(f"select i1 {none}, {t.name} {literal(0.0, t)}, {t.name} {start}")
    return start


def _float_sum(ctx: Context, t: LType, nest: Nest, value: Value) -> str:
    """Return sums of ``CHUNK`` elements, added up in double precision: as precise as NumPy's pairwise sums."""
    writer, module = ctx.writer, ctx.module
    part = FLOAT if t is HALF else t
    identity, step = _fold(SUM, part)

    def combine(total: str, nest: Nest) -> str:
        return step(ctx, total, cast(writer, module, nest.element(value), t, part))

    remaining = nest.extents[nest.depth :]
    if size_of(tuple(remaining)) <= CHUNK:
        start = _zero(ctx, part, remaining)
        return cast(writer, module, accumulate(nest, part, start, combine), part, t)
    start = _zero(ctx, DOUBLE, remaining)
    nest.split(CHUNK)

    def chunk(total: str, nest: Nest) -> str:
        partial = accumulate(nest, part, identity, combine)
        return writer.let(f"fadd double {total}, {cast(writer, module, partial, part, DOUBLE)}")

    total = _outer(nest, start, chunk, len(nest.extents) - 1)
    return cast(writer, module, total, DOUBLE, t)


def _outer(nest: Nest, start: str, step: Callable[[str, Nest], str], until: int) -> str:
    """Do as ``accumulate`` does, for doubles, up to the loop ``until``."""
    if nest.depth == until:
        return step(start, nest)
    with nest.level() as loop:
        phi = loop.carry(nest.writer, "double", start)
        behind = loop.carried(nest.writer, phi, _outer(nest, phi.name, step, until))
    return behind


# -- nodes --------------------------------------------------------------------------------------------------


def axes_of(node: Node, rank: int) -> tuple[int, ...]:
    axis = node.attrs["axis"]
    return tuple(range(rank)) if axis is None else tuple([a % rank for a in axis])


def _reduced(ctx: Context, op: Op, value: Value, axes: Sequence[int], node: Node | None, shape: Shape) -> Value:
    """Return ``value`` reduced, as the output of ``node`` of the given shape; without it, in memory of its own."""
    value = resolve(value)
    if isinstance(value, Scalar):
        return _from_zero(ctx, value) if op is SUM else value
    t, full = value.t, value.shape  # type: ignore[union-attr]
    if len(axes) == len(full):
        text = literal(_OF_NOTHING[op], t) if 0 in full else reduce(ctx, op, value, axes, None)
        return Scalar(text, t) if shape == () else Splat(text, t, shape)
    out = ctx.result(None if node is None else node.outputs[0], t, shape)
    if 0 in shape:
        return out
    kept = replace(out, shape=_kept(full, axes), strides=dense(_kept(full, axes)))
    if 0 in full:
        store_all(ctx, kept.shape, [Scalar(literal(_OF_NOTHING[op], t), t)], [kept])
    else:
        reduce(ctx, op, value, axes, kept)
    return out


def _from_zero(ctx: Context, value: Scalar) -> Scalar:
    """Return the sum of one value: sums begin with 0, so that of -0.0 is 0.0."""
    if value.t.kind not in "fc":
        return value
    return Scalar(apply(ctx, ADD, value.t, [value.t] * 2, [value.text, literal(0, value.t)]), value.t)


def _complex_sum(ctx: Context, node: Node, value: Value, axes: Sequence[int]) -> Value:
    """Return the sum of complex numbers: those of their parts, one after the other."""
    value, shape = resolve(value), ctx.shape_of(node.outputs[0])
    if isinstance(value, Scalar):
        return _from_zero(ctx, value)
    t, full = value.t, value.shape  # type: ignore[union-attr]
    sums = [_reduced(ctx, SUM, Expr(part, (value,), t.part, full), axes, None, shape) for part in (REAL, IMAG)]
    if shape == ():
        return Scalar(apply(ctx, COMPLEX, t, [t.part], [ctx.scalar(s) for s in sums]), t)
    out = ctx.result(node.outputs[0], t, shape)
    store_all(ctx, shape, [Expr(COMPLEX, tuple(sums), t, shape)], [out])
    return out


@rule(SUM, PROD, MAX, MIN, ANY, ALL, reduces=True, complexes=True)
def _reduction(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    axes = axes_of(node, len(ctx.shape_of(node.inputs[0])))
    if node.inputs[0].dtype.kind == "c":
        if node.op is not SUM:
            ctx.refuse(node, "of complex numbers it has no machine code")
        return [_complex_sum(ctx, node, values[0], axes)]
    if node.op is SUM:
        check_bounded(ctx, node, values)
    if node.op in _EXTREMES:
        if 0 in [ctx.shape_of(node.inputs[0])[a] for a in axes]:
            return [_of_nothing(ctx, node, values, ctx.shape_of(node.outputs[0]))]
        _check_some(ctx, node, values, axes)
    return [_reduced(ctx, node.op, values[0], axes, node, ctx.shape_of(node.outputs[0]))]


def _check_some(ctx: Context, node: Node, values: list[Value], axes: Sequence[int]) -> None:
    """Check that there are elements to take the extreme of where the run decides how many there are."""
    full = ctx.shape_of(node.inputs[0])
    for n in [full[a] for a in axes if isinstance(full[a], Extent)]:
        some = ctx.writer.let(f"icmp ne i64 {ctx.extent(n)}, 0")
        ctx.check(some, node, values, refuses="" if len(full) == 1 else f"the {node.op.name} of no elements")


def reduced_over(ctx: Context, op: Op, value: Value, axes: Sequence[int]) -> Array:
    """Return ``value`` reduced over ``axes``, which stay as 1s, in memory of its own."""
    value = resolve(value)
    out = ctx.temporary(value.t, _kept(value.shape, axes))  # type: ignore[union-attr]
    if 0 in value.shape:  # type: ignore[union-attr]
        store_all(ctx, out.shape, [Scalar(literal(_OF_NOTHING.get(op, -np.inf), out.t), out.t)], [out])
    elif len(axes) == len(value.shape):  # type: ignore[union-attr]
        text = reduce(ctx, op, value, axes, None)
        store_all(ctx, out.shape, [Scalar(text, out.t)], [out])
    else:
        reduce(ctx, op, value, axes, out)
    return out


@rule(MEAN, reduces=True, complexes=True)
def _mean(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    check_bounded(ctx, node, values)
    value, shape = resolve(values[0]), ctx.shape_of(node.outputs[0])
    full = ctx.shape_of(node.inputs[0])
    axes, t = axes_of(node, len(full)), ctx.type_of(node.outputs[0])
    size = ctx.count([full[a] for a in axes])

    def count_as(t: LType) -> str:
        return cast(ctx.writer, ctx.module, size, INT64, t) if size.startswith("%") else literal(int(size), t)

    if t is HALF and full:
        # as the kernel: half precision is added up and divided in single
        total_of = reduced_over(ctx, SUM, Expr(CAST, (value,), FLOAT, full), axes)
        ratio = Expr(DIVIDE, (total_of, Scalar(count_as(FLOAT), FLOAT)), FLOAT, total_of.shape)
        out = ctx.result(node.outputs[0], t, shape)
        kept = replace(out, shape=total_of.shape, strides=dense(total_of.shape))
        store_all(ctx, kept.shape, [Expr(CAST, (ratio,), t, kept.shape)], [kept])
        return [seen(ctx, out)]
    count = count_as(t)
    whole = _complex_sum(ctx, node, value, axes) if t.kind == "c" else _reduced(ctx, SUM, value, axes, node, shape)
    total = resolve(whole)
    if isinstance(total, (Scalar, Splat)):
        text = apply(ctx, DIVIDE, t, [t, t], [total.text, count])
        return [replace(total, text=text)]
    assert isinstance(total, Array)
    store_all(ctx, shape, [Expr(DIVIDE, (total, Scalar(count, t)), t, shape)], [total])
    return [total]


@rule(ARGMAX, ARGMIN)
def _position(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    value = values[0] if isinstance(resolve(values[0]), (Scalar, Splat)) else array_of(ctx, values[0])
    full, shape = ctx.shape_of(node.inputs[0]), ctx.shape_of(node.outputs[0])
    axis = node.attrs["axis"]
    axes = axes_of(node, len(full)) if axis is not None and len(axis) == 1 else tuple(range(len(full)))
    if isinstance(value, Scalar):
        return [Scalar("0", INT64)]
    if 0 in [full[a] for a in axes]:
        return [_of_nothing(ctx, node, values, shape)]
    _check_some(ctx, node, values, axes)
    strides = tuple([0 if a not in axes else s for a, s in enumerate(dense(_only(full, axes)))])
    place = Count("0", "1", _UNSIGNED if size_of(full) < 2**32 - 1 else INT64, full, strides)
    if len(axes) == len(full):
        text = _first_extreme(ctx, node, Nest(ctx, full, [value, place], axes), value, place)
        return [Scalar(text, INT64) if shape == () else Splat(text, INT64, shape)]
    out = ctx.result(node.outputs[0], INT64, shape)
    kept = dense(_kept(full, axes))
    spread = replace(out, shape=full, strides=tuple([0 if a in axes else s for a, s in enumerate(kept)]))
    if 0 in shape:
        return [out]
    order = [a for a in range(len(full)) if a not in axes] + list(axes)
    nest = Nest(ctx, full, [value, spread, place], axes, order)

    over_kept(nest, lambda: nest.store(spread, _first_extreme(ctx, node, nest, value, place)))
    return [out]


def _of_nothing(ctx: Context, node: Node, values: Sequence[Value], shape: Shape) -> Value:
    """Return what stands for the extreme of no elements, which is an error once it is come to."""
    ctx.check("false", node, values)
    t = ctx.type_of(node.outputs[0])
    return Scalar(literal(0, t), t) if shape == () else Splat(literal(0, t), t, shape)


def _only(shape: Shape, axes: Sequence[int]) -> Shape:
    return tuple([n if a in axes else 1 for a, n in enumerate(shape)])


def _first_extreme(ctx: Context, node: Node, nest: Nest, value: Value, place: Value) -> str:
    """Return where the first largest (or smallest) element is, or the first nan: found in two SIMD passes."""
    t, writer = value.t, ctx.writer  # type: ignore[union-attr]
    smallest = node.op is ARGMIN
    fold = MIN if smallest else MAX
    best = _total(ctx, fold, t, nest, value)
    index = place.t  # type: ignore[union-attr]

    def first(found: str, nest: Nest) -> str:
        x, n = nest.element(value), nest.element(place)
        hit = apply(ctx, EQUAL, BOOL, [t, t], [x, best])
        if t.kind == "f":
            hit = writer.let(f"or i1 {hit}, {apply(ctx, ISNAN, BOOL, [t], [x])}")
        n = writer.let(f"select i1 {hit}, {index.name} {n}, {index.name} -1")
        return writer.let(f"call {index.name} @llvm.umin.{index.suffix}({index.name} {found}, {index.name} {n})")

    return cast(writer, ctx.module, accumulate(nest, index, "-1", first), index, INT64)
