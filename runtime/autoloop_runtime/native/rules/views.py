"""Nodes whose value is memory that is there already, looked at in another way; and what is counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.dataclass import replace
from ...ir.graph import Node
from ...ops.array import EXPAND, FLIP, RESHAPE, ROLL, SQUEEZE, TRANSPOSE
from ...ops.creation import LINSPACE, RANGE
from ...ops.identities import COPIED, ENSURE_SHAPE
from ..ir.elements import DOUBLE, LType, literal
from ..ir.moving import Extent, is_moving
from ..writer.context import Context
from ..writer.memory import is_one_value, loaded, put, reverse, seen, shifted, splat
from ..writer.moving_slices import int_of
from ..writer.nests import store
from ..writer.node_writer import array_of
from ..writer.refusals_in_runs import TOO_MANY
from ..writer.registry import rule
from ..writer.values import Array, Count, Scalar, Shape, Splat, Value, dense, is_dense, resolve, size_of


def _rest() -> str:
    """Return how -1 compares to numbers that tell the rest of a shape: some versions of NumPy take any below 0."""
    try:
        np.zeros(1).reshape(-2)
    except Exception:
        return "eq"
    return "sle"


_REST = _rest()


@rule(COPIED, complexes=True)
def _copied(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    value = resolve(values[0])
    if isinstance(value, (Scalar, Splat)):
        return [value]
    out = ctx.result(node.outputs[0], ctx.type_of(node.outputs[0]), ctx.shape_of(node.outputs[0]))
    store(ctx, value, out)
    return [out]


def told_extent(ctx: Context, told: Value, axis: int) -> str:
    """Return an extent that the vector tells which an operation is given beside its operand."""
    vector = array_of(ctx, told)
    return int_of(ctx, loaded(ctx, shifted(ctx, vector, axis * vector.strides[0], (), ())))


def check_told(ctx: Context, node: Node, values: Sequence[Value], shape: Shape, of_rest: bool = False) -> None:
    """Check that a vector tells the extents that follow from the operand where nothing else has told them.

    Parameters
    ----------
    of_rest : bool
        Whether what tells the rest of a shape is no other extent.
    """
    asked = node.attrs.get("known")
    for axis, n in enumerate(shape) if len(values) > 1 else ():
        if isinstance(n, Extent) or (asked is not None and asked[axis] is not None):
            continue
        let, told = ctx.writer.let, told_extent(ctx, values[1], axis)
        fits = let(f"icmp eq i64 {told}, {int(n)}")
        if of_rest:
            fits = let(f"or i1 {fits}, {let(f'icmp {_REST} i64 {told}, -1')}")
        ctx.check(fits, node, [values[0], array_of(ctx, values[1])])


# -- axes ---------------------------------------------------------------------------------------------------


@rule(TRANSPOSE, view=True, complexes=True)
def _transpose(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    if is_one_value(values[0]):
        return [splat(ctx, node, values[0])]
    x = array_of(ctx, values[0])
    axes = node.attrs["axes"]
    order = tuple(reversed(range(len(x.shape)))) if axes is None else axes
    return [replace(x, shape=tuple([x.shape[a] for a in order]), strides=tuple([x.strides[a] for a in order]))]


@rule(EXPAND, SQUEEZE, RESHAPE, view=True, complexes=True)
def _reshape(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    shape = ctx.shape_of(node.outputs[0])
    if node.op is RESHAPE:
        check_told(ctx, node, values, shape, of_rest=True)
        _check_line(ctx, node, values, shape)
    if is_one_value(values[0]):
        return [splat(ctx, node, values[0])]
    x = array_of(ctx, values[0])
    strides = _restrided(x, shape)
    if strides is None and is_moving(shape):
        ctx.refuse(node, "the shape of its operand depends on values")
    if strides is None:
        copy = ctx.temporary(x.t, x.shape)
        store(ctx, x, copy)
        x, strides = copy, dense(shape)
    return [seen(ctx, replace(x, shape=shape, strides=strides))]


def _check_line(ctx: Context, node: Node, values: Sequence[Value], shape: Shape) -> None:
    """Check that a line has as many elements as asked for where the run decides how many it has."""
    full, let = ctx.shape_of(node.inputs[0]), ctx.writer.let
    if len(full) != 1 or len(shape) != 1 or not isinstance(full[0], Extent):
        return
    has = ctx.extent(full[0])
    if len(values) == 1:
        if not isinstance(shape[0], Extent):
            ctx.check(let(f"icmp eq i64 {has}, {int(shape[0])}"), node, values)
        return
    told = told_extent(ctx, values[1], 0)
    fits = let(f"or i1 {let(f'icmp eq i64 {told}, {has}')}, {let(f'icmp {_REST} i64 {told}, -1')}")
    ctx.check(fits, node, [values[0], array_of(ctx, values[1])])


def _restrided(x: Array, shape: Shape) -> Shape | None:
    """Return the strides with which ``x`` has another shape, ``None`` if no strides do that."""
    if len(x.shape) == len(shape) == 1:
        return (0,) if shape[0] == 1 else x.strides
    if is_dense(x):
        return dense(shape)
    # as long as only axes of extent 1 come and go, the others keep their strides
    if [n for n in x.shape if n != 1] != [n for n in shape if n != 1]:
        return None
    rest = iter([s for n, s in zip(x.shape, x.strides) if n != 1])
    return tuple([0 if n == 1 else next(rest) for n in shape])


@rule(FLIP, view=True, complexes=True)
def _flip(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    if is_one_value(values[0]):
        return [splat(ctx, node, values[0])]
    x = array_of(ctx, values[0])
    axes = range(len(x.shape)) if node.attrs["axis"] is None else node.attrs["axis"]
    if 0 in x.shape:
        return [x]
    for axis in axes:
        x = reverse(ctx, x, axis)
    return [x]


@rule(ENSURE_SHAPE, view=True, complexes=True)
def _ensure_shape(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    return values


_CLOSE = "the numbers it starts and ends with are too close for a step between them"

# -- counted ------------------------------------------------------------------------------------------------


@rule(RANGE, view=True)
def _range(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    t, shape = ctx.type_of(node.outputs[0]), ctx.shape_of(node.outputs[0])
    start, step = (ctx.types.constants[i] for i in node.inputs[::2])
    if isinstance(shape[0], Extent) and not ctx.has_extent(shape[0]):
        limit = int_of(ctx, values[1])
        extent = ctx.writer.let(f"call i64 @llvm.smax.i64(i64 {limit}, i64 0)")
        fits = ctx.writer.let(f"icmp ule i64 {extent}, {int(shape[0])}")
        ctx.check(fits, node, values, refuses=TOO_MANY.format(int(shape[0])))
        ctx.block.extents[shape[0]] = extent
    # floats are counted in double precision
    as_text = literal if t.kind != "f" else _as_double
    return [Count(as_text(start, t), as_text(step, t), t, shape, (1,))]


def _as_double(value: Any, t: LType) -> str:
    return literal(value, DOUBLE)


@rule(LINSPACE)
def _linspace(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    constants, num = ctx.types.constants, node.attrs["num"]
    t, let = ctx.type_of(node.outputs[0]), ctx.writer.let
    if all(t in constants for t in node.inputs):
        return [ctx.constant(node.op.kernel(*[constants[t] for t in node.inputs], **node.attrs))]
    if t is not DOUBLE or num < 2:
        ctx.refuse(
            node, f"of {t.name}, or less than two numbers, its ends must be known while the function is compiled"
        )
    start, stop = map(ctx.scalar, values)
    delta = let(f"fsub double {stop}, {start}")
    step = let(f"fdiv double {delta}, {literal(float(num - 1), t)}")
    # a step that is too small for a number NumPy takes apart
    there = let(f"fcmp une double {step}, {literal(0.0, t)}")
    ctx.check(let(f"or i1 {there}, {let(f'fcmp oeq double {delta}, {literal(0.0, t)}')}"), node, values, refuses=_CLOSE)
    out = ctx.result(node.outputs[0], t, (num,))
    store(ctx, Count(start, step, t, (num,), (1,)), out)
    put(ctx, Scalar(stop, t), shifted(ctx, out, num - 1, (), ()))
    return [out]


@rule(ROLL, complexes=True)
def _roll(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    shift, axis, tensor = ctx.types.constants.get(node.inputs[1]), node.attrs["axis"], node.outputs[0]
    if shift is None:
        ctx.refuse(node, "only a roll by fixed numbers has machine code")
        return []
    if not ctx.shape_of(tensor):
        return [values[0]]
    x, out = array_of(ctx, values[0]), ctx.result(tensor, ctx.type_of(tensor), ctx.shape_of(tensor))
    whole = out
    if axis is None:
        if not is_dense(x):
            made = ctx.temporary(x.t, x.shape)
            store(ctx, x, made)
            x = made
        count = size_of(x.shape)
        x, out = (replace(a, shape=(count,), strides=(1,)) for a in (x, out))
        axis = 0
    turns: dict[int, int] = {}
    for s, a in zip(*np.broadcast_arrays(np.ravel(shift), np.ravel(axis))):
        at, extent = int(a) % len(x.shape), x.shape[int(a)]
        turns[at] = (turns.get(at, 0) + int(s)) % extent if extent else 0
    _turned(ctx, x, out, list(turns.items()))
    return [whole]


def _turned(ctx: Context, x: Array, out: Array, turns: Sequence[tuple[int, int]]) -> None:
    """Copy ``x``, turned along each axis by so many places: both parts of one axis, each turned along the rest."""
    if not turns:
        put(ctx, x, out)
        return
    (axis, turn), *rest = turns
    extent = x.shape[axis]
    for source, target, count in ((0, turn, extent - turn), (extent - turn, 0, turn)):
        if count:
            shape = (*x.shape[:axis], count, *x.shape[axis + 1 :])
            part = shifted(ctx, x, source * x.strides[axis], shape, x.strides)
            _turned(ctx, part, shifted(ctx, out, target * out.strides[axis], shape, out.strides), rest)
