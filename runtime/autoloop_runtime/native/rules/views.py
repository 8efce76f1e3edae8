"""Nodes whose value is memory that is there already, looked at in another way; and what is joined from pieces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.dataclass import replace
from ...ir.graph import Node
from ...ops.array import EXPAND, FLIP, RESHAPE, ROLL, SQUEEZE, TRANSPOSE
from ...ops.creation import LINSPACE, RANGE
from ...ops.custom_gradient import CUSTOM
from ...ops.diagonals import DIAGONAL, EMBED
from ...ops.identities import COPIED, ENSURE_SHAPE
from ...ops.joining import CONCAT, SPLIT, STACK, UNSTACK
from ...ops.repeating import PAD, REPEAT, TILE
from ..ir.elements import DOUBLE, LType, literal
from ..writer.context import Context
from ..writer.memory import put, seen, shifted
from ..writer.nests import store
from ..writer.node_writer import array_of
from ..writer.registry import rule
from ..writer.values import Array, Count, Scalar, Shape, Splat, Value, dense, is_dense, resolve, size_of


def is_one_value(value: Value) -> bool:
    """Return whether all elements are known to be equal, so that only the shape matters."""
    return isinstance(resolve(value), (Scalar, Splat))


def splat(ctx: Context, node: Node, value: Value, index: int = 0) -> Value:
    value = resolve(value)
    assert isinstance(value, (Scalar, Splat))
    shape = ctx.shape_of(node.outputs[index])
    return Splat(value.text, value.t, shape) if shape else Scalar(value.text, value.t)


@rule(COPIED)
def _copied(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    value = resolve(values[0])
    if isinstance(value, (Scalar, Splat)):
        return [value]
    out = ctx.result(node.outputs[0], ctx.type_of(node.outputs[0]), ctx.shape_of(node.outputs[0]))
    store(ctx, value, out)
    return [out]


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
    if is_one_value(values[0]):
        return [splat(ctx, node, values[0])]
    x = array_of(ctx, values[0])
    strides = _restrided(x, shape)
    if strides is None:
        copy = ctx.temporary(x.t, x.shape)
        store(ctx, x, copy)
        x, strides = copy, dense(shape)
    return [seen(ctx, replace(x, shape=shape, strides=strides))]


def _restrided(x: Array, shape: Shape) -> Shape | None:
    """Return the strides with which ``x`` has another shape, ``None`` if no strides do that."""
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
    offset = sum((x.shape[a] - 1) * x.strides[a] for a in axes)
    strides = tuple([-s if a in axes else s for a, s in enumerate(x.strides)])
    return [shifted(ctx, x, offset, x.shape, strides)]


@rule(DIAGONAL, view=True, complexes=True)
def _diagonal(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    if is_one_value(values[0]):
        return [splat(ctx, node, values[0])]
    x, k = array_of(ctx, values[0]), node.attrs["k"]
    rows, columns = x.strides[-2:]
    offset = max(-k, 0) * rows + max(k, 0) * columns
    return [shifted(ctx, x, offset, ctx.shape_of(node.outputs[0]), (*x.strides[:-2], rows + columns))]


@rule(CUSTOM, complexes=True)
def _custom_gradient(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    return values[len(values) - node.attrs["count"] :]


@rule(EMBED, complexes=True)
def _embed_diagonal(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    tensor, k = node.outputs[0], node.attrs["k"]
    out = ctx.result(tensor, ctx.type_of(tensor), ctx.shape_of(tensor))
    store(ctx, Splat(literal(0, out.t), out.t, out.shape), out)
    rows, columns = out.strides[-2:]
    offset = max(-k, 0) * rows + max(k, 0) * columns
    put(ctx, values[0], shifted(ctx, out, offset, ctx.shape_of(node.inputs[0]), (*out.strides[:-2], rows + columns)))
    return [out]


@rule(ENSURE_SHAPE, view=True, complexes=True)
def _ensure_shape(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    return values


@rule(UNSTACK, view=True, complexes=True)
def _unstack(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    return _pieces(ctx, node, values[0], [1] * len(node.outputs), drop=True)


@rule(SPLIT, view=True, complexes=True)
def _split(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    return _pieces(ctx, node, values[0], node.attrs["sizes"], drop=False)


def _pieces(ctx: Context, node: Node, value: Value, sizes: Sequence[int], drop: bool) -> list[Value]:
    if is_one_value(value):
        return [splat(ctx, node, value, k) for k in range(len(sizes))]
    x, out, start = array_of(ctx, value), [], 0
    axis = node.attrs["axis"] % len(x.shape)
    strides = x.strides[:axis] + x.strides[axis + 1 :] if drop else x.strides
    for k, size in enumerate(sizes):
        piece = shifted(ctx, x, start * x.strides[axis], ctx.shape_of(node.outputs[k]), strides)
        used = ctx.block.plan.uses.count(node.outputs[k])
        out.append(seen(ctx, piece) if used else piece)
        start += size
    return out


# -- counted ------------------------------------------------------------------------------------------------


@rule(RANGE, view=True)
def _range(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    t, shape = ctx.type_of(node.outputs[0]), ctx.shape_of(node.outputs[0])
    start, _, step = (ctx.types.constants[i] for i in node.inputs)
    # floats are counted in double precision
    as_text = literal if t.kind != "f" else _as_double
    return [Count(as_text(start, t), as_text(step, t), t, shape, (1,))]


def _as_double(value: Any, t: LType) -> str:
    return literal(value, DOUBLE)


@rule(LINSPACE)
def _linspace(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    constants = ctx.types.constants
    if any(t not in constants for t in node.inputs):
        ctx.refuse(node, "its ends are not known while the function is compiled")
    return [ctx.constant(node.op.kernel(*[constants[t] for t in node.inputs], **node.attrs))]


# -- joined -------------------------------------------------------------------------------------------------


@rule(CONCAT, complexes=True)
def _concat(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    tensor, start = node.outputs[0], 0
    out = ctx.result(tensor, ctx.type_of(tensor), ctx.shape_of(tensor))
    axis = node.attrs["axis"] % len(out.shape)
    for value, source in zip(values, node.inputs):
        shape = ctx.shape_of(source)
        put(ctx, value, shifted(ctx, out, start * out.strides[axis], shape, out.strides))
        start += shape[axis]
    return [out]


@rule(STACK, complexes=True)
def _stack(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    tensor = node.outputs[0]
    out = ctx.result(tensor, ctx.type_of(tensor), ctx.shape_of(tensor))
    axis = node.attrs["axis"] % len(out.shape)
    strides = out.strides[:axis] + out.strides[axis + 1 :]
    for k, (value, source) in enumerate(zip(values, node.inputs)):
        put(ctx, value, shifted(ctx, out, k * out.strides[axis], ctx.shape_of(source), strides))
    return [out]


@rule(PAD, complexes=True)
def _pad(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    tensor, known = node.outputs[0], node.attrs["known"]
    if known is None or None in known:
        known = (
            np.ravel(ctx.types.constants[node.inputs[2]]).tolist() if node.inputs[2] in ctx.types.constants else None
        )
    if known is None:
        ctx.refuse(node, "its paddings are not known while the function is compiled")
    out = ctx.result(tensor, ctx.type_of(tensor), ctx.shape_of(tensor))
    store(ctx, Splat(ctx.scalar(values[1]), out.t, out.shape), out)
    offset = sum(before * s for before, s in zip(known[::2], out.strides))
    put(ctx, values[0], shifted(ctx, out, offset, ctx.shape_of(node.inputs[0]), out.strides))
    return [out]


@rule(TILE, complexes=True)
def _tile(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    if is_one_value(values[0]):
        return [splat(ctx, node, values[0])]
    tensor = node.outputs[0]
    x, out = array_of(ctx, values[0]), ctx.result(tensor, ctx.type_of(tensor), ctx.shape_of(tensor))
    inner = (1,) * (len(out.shape) - len(x.shape)) + x.shape
    steps = (0,) * (len(out.shape) - len(x.shape)) + x.strides
    # each axis as two: which copy, and where in it
    pairs = [(m // n if n else 0, n) for m, n in zip(out.shape, inner)]
    shape = tuple([d for pair in pairs for d in pair])
    source = replace(x, shape=shape, strides=tuple([s for step in steps for s in (0, step)]))
    target = replace(out, shape=shape, strides=tuple([s for (_, n), o in zip(pairs, out.strides) for s in (n * o, o)]))
    if size_of(shape):
        store(ctx, source, target)
    return [out]


@rule(REPEAT, complexes=True)
def _repeat(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    times, axis, tensor = ctx.types.constants.get(node.inputs[1]), node.attrs["axis"], node.outputs[0]
    if times is None:
        ctx.refuse(node, "how often to repeat must be known")
        return []
    if is_one_value(values[0]):
        return [splat(ctx, node, values[0])]
    x, out = array_of(ctx, values[0]), ctx.result(tensor, ctx.type_of(tensor), ctx.shape_of(tensor))
    axis %= len(x.shape)
    step, rows = out.strides[axis], np.broadcast_to(np.ravel(times), x.shape[axis : axis + 1]).tolist()
    if len(set(rows)) == 1:
        # each row so often: one more axis, along which the rows stay the same
        x, out_axes = _with_axis(x, axis, 0, rows[0]), _with_axis(replace(out, shape=x.shape), axis, step, rows[0])
        strides = list(out_axes.strides)
        strides[axis] = step * rows[0]
        put(ctx, x, replace(out_axes, strides=tuple(strides)))
        return [out]
    done = 0
    for k, count in enumerate(rows):
        if count:
            shape = (*x.shape[:axis], count, *x.shape[axis + 1 :])
            still = (*x.strides[:axis], 0, *x.strides[axis + 1 :])
            row = shifted(ctx, x, k * x.strides[axis], shape, still)
            put(ctx, row, shifted(ctx, out, done * step, shape, out.strides))
            done += count
    return [out]


def _with_axis(x: Array, axis: int, stride: int, count: int) -> Array:
    """Return ``x`` with an axis of ``count`` places and the given stride behind ``axis``."""
    shape = (*x.shape[: axis + 1], count, *x.shape[axis + 1 :])
    return replace(x, shape=shape, strides=(*x.strides[: axis + 1], stride, *x.strides[axis + 1 :]))


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
