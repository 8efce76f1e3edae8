"""Arrays made of pieces, cut into pieces, and repeated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...base.dataclass import replace
from ...ir.graph import Node
from ...ops.joining import CONCAT, SPLIT, STACK, UNSTACK
from ...ops.repeating import PAD, REPEAT, TILE
from ..ir.moving import Extent, is_moving
from ..writer.context import Context
from ..writer.memory import is_one_value, put, seen, shifted, splat
from ..writer.nests import store
from ..writer.node_writer import agree, array_of
from ..writer.registry import rule
from ..writer.values import Array, Splat, Value, size_of


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


@rule(CONCAT, complexes=True)
def _concat(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    tensor, let = node.outputs[0], ctx.writer.let
    out = ctx.result(tensor, ctx.type_of(tensor), ctx.shape_of(tensor))
    axis = node.attrs["axis"] % len(out.shape)
    rest = out.shape[:axis] + out.shape[axis + 1 :]
    start: int | str = 0
    for value, source in zip(values, node.inputs):
        shape = ctx.shape_of(source)
        n, step = shape[axis], out.strides[axis]
        own = shape[:axis] + shape[axis + 1 :]
        if is_moving((*rest, *own)):
            agree(ctx, node, values, [Splat("0", out.t, own)], rest)
        at = start * step if isinstance(start, int) else let(f"mul nsw i64 {start}, {ctx.step(step)}")
        put(ctx, value, shifted(ctx, out, at, (*rest[:axis], n, *rest[axis:]), out.strides))
        if isinstance(start, int) and not isinstance(n, Extent):
            start += n
        else:
            start = let(f"add nsw i64 {start}, {ctx.extent(n)}")
    total = out.shape[axis]
    if isinstance(total, Extent) and not ctx.has_extent(total):
        ctx.block.extents[total] = str(start)
    return [out]


@rule(STACK, complexes=True)
def _stack(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    tensor = node.outputs[0]
    out = ctx.result(tensor, ctx.type_of(tensor), ctx.shape_of(tensor))
    axis = node.attrs["axis"] % len(out.shape)
    strides, rest = (given[:axis] + given[axis + 1 :] for given in (out.strides, out.shape))
    for k, (value, source) in enumerate(zip(values, node.inputs)):
        if is_moving((*rest, *ctx.shape_of(source))):
            agree(ctx, node, values, [Splat("0", out.t, ctx.shape_of(source))], rest)
        put(ctx, value, shifted(ctx, out, k * out.strides[axis], rest, strides))
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
        return []
    if min(known, default=0) < 0:  # it would write outside of the result
        ctx.refuse(node, "it fails, as a padding is negative")
        return []
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
    times = np.asarray(times)
    if times.dtype.kind not in "biu" or times.ndim > 1 or np.any(times < 0):
        ctx.refuse(node, "it fails, or how often to repeat is no integer")
    if times.size != 1 and times.size != ctx.shape_of(node.inputs[0])[axis]:
        ctx.refuse(node, "it fails, or how many elements there are depends on values")
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
