"""The same elements in other shapes, arrays made of extents, and arrays put together and taken apart."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from autoloop_runtime.ir.graph import Node
from autoloop_runtime.ops.array import EXPAND, FLIP, RESHAPE, ROLL, SQUEEZE, TRANSPOSE
from autoloop_runtime.ops.broadcasting import BROADCAST_TO, SUM_TO
from autoloop_runtime.ops.creation import LINSPACE, RANGE
from autoloop_runtime.ops.custom_gradient import CUSTOM
from autoloop_runtime.ops.diagonals import DIAGONAL, EMBED, TRIL, TRIU
from autoloop_runtime.ops.filled import FILL
from autoloop_runtime.ops.joining import CONCAT, SPLIT, STACK, UNSTACK
from autoloop_runtime.ops.remat_marks import HELD, REGION
from autoloop_runtime.ops.repeating import PAD, REPEAT, TILE
from autoloop_runtime.ops.shape_queries import RANK, SHAPE, SIZE

from . import onnx_formulas as formulas
from .onnx_refusals import refuse
from .onnx_values import BOOL, INT64, Value, computed
from .onnx_writer import Writer, rule

_END = 2**62


def rank_of(node: Node, position: int = 0) -> int:
    """Return the rank of an input, which must be known."""
    rank = node.inputs[position].shape.rank
    if rank is None:
        refuse(node, "the rank of its operand is not known: declare it with set_shape")
    return rank


def dims_of(writer: Writer, node: Node, given: tuple[Value, ...]) -> Value:
    """Return the extents that a node is given, as a vector: known ones, or an input that holds them all."""
    return given[0].to(INT64) if given else writer.ints(node.attrs["known"])


@rule(SHAPE)
def _shape(writer: Writer, node: Node, x: Value) -> Value:
    return x.shape().to(node.outputs[0].dtype)


@rule(SIZE)
def _size(writer: Writer, node: Node, x: Value) -> Value:
    return x.size().to(node.outputs[0].dtype)


@rule(RANK)
def _rank(writer: Writer, node: Node, x: Value) -> Value:
    return writer("Size", x.shape(), dtype=INT64).to(node.outputs[0].dtype)


@rule(RESHAPE)
def _reshape(writer: Writer, node: Node, x: Value, *dims: Value) -> Value:
    return x.reshape_to(dims[0].to(INT64)) if dims else x.reshape(*node.attrs["known"])


@rule(EXPAND)
def _expand_dims(writer: Writer, node: Node, x: Value) -> Value:
    return x.unsqueeze(*node.attrs["axis"])


@rule(SQUEEZE)
def _squeeze(writer: Writer, node: Node, x: Value) -> Value:
    axis, shape = node.attrs["axis"], node.inputs[0].shape
    if axis is not None:
        return x.squeeze(*axis)
    if shape.rank is not None and None not in shape.known:
        return x.squeeze(*[k for k, n in enumerate(shape.known) if n == 1])
    return writer("Squeeze", x)


@rule(TRANSPOSE)
def _transpose(writer: Writer, node: Node, x: Value) -> Value:
    axes = node.attrs["axes"]
    return x.transpose(range(rank_of(node))[::-1] if axes is None else axes)


@rule(FLIP)
def _flip(writer: Writer, node: Node, x: Value) -> Value:
    axes = list(range(rank_of(node)) if node.attrs["axis"] is None else node.attrs["axis"])
    return x.slice([-1] * len(axes), [-_END] * len(axes), axes, [-1] * len(axes)) if axes else x


@rule(ROLL)
def _roll(writer: Writer, node: Node, x: Value, shift: Value) -> Value:
    axis, rank = node.attrs["axis"], rank_of(node)
    dims = x.shape()
    if axis is None:
        x, axis = x.reshape(-1), 0
        shift = shift.to(INT64).reshape(-1).sum([0], True)
    axes = list(axis) if isinstance(axis, (tuple, list)) else [axis]
    shifts = shift.to(INT64).reshape(-1).expand(writer.ints([len(axes)]))
    for k, one in enumerate(axes):
        count = x.extent(one).unsqueeze(0)
        by = formulas.modulo(shifts.gather(writer.ints([k])), count)
        where = writer.ints([one])
        tail = x.slice(count - by, writer.ints([_END]), where, writer.ints([1]))
        x = writer.concat([tail, x.slice(writer.ints([0]), count - by, where, writer.ints([1]))], one)
    return x.reshape_to(dims) if node.attrs["axis"] is None and rank != 1 else x


@rule(BROADCAST_TO)
def _broadcast_to(writer: Writer, node: Node, x: Value, *dims: Value) -> Value:
    return x.expand(dims_of(writer, node, dims))


@rule(SUM_TO)
def _sum_to(writer: Writer, node: Node, x: Value, like: Value) -> Value:
    """Write a sum over the axes that were broadcast, which only the run tells."""
    rank, wanted = rank_of(node), node.outputs[0].shape.rank
    if wanted is None:
        refuse(node, "the rank of its result is not known: declare it with set_shape")
    dims = like.to(INT64)
    x = x.sum(list(range(rank - wanted))) if rank > wanted else x
    if wanted == 0:
        return x
    axes = writer("NonZero", dims.equals(1) & ~x.shape().equals(1), dtype=INT64).reshape(-1)
    wide = x.to(computed(x.dtype))
    return writer("ReduceSum", wide, axes, keepdims=1, noop_with_empty_axes=1).to(x.dtype)


# -- made of extents ----------------------------------------------------------------------------------------------


@rule(FILL)
def _fill(writer: Writer, node: Node, value: Value, *dims: Value) -> Value:
    return value.expand(dims_of(writer, node, dims))


@rule(RANGE)
def _range(writer: Writer, node: Node, start: Value, limit: Value, delta: Value) -> Value:
    dtype = start.dtype
    wide = np.float64 if dtype.kind == "f" else INT64
    return writer("Range", start.to(wide), limit.to(wide), delta.to(wide)).to(dtype)


@rule(LINSPACE)
def _linspace(writer: Writer, node: Node, start: Value, stop: Value) -> Value:
    count, dtype = node.attrs["num"], start.dtype
    wide = computed(dtype)
    first, last = start.to(wide), stop.to(wide)
    if count < 2:
        return first.expand(writer.ints([count])).to(dtype)
    steps = writer.const(np.arange(count - 1).astype(wide))
    made = steps * ((last - first) / (count - 1)) + first
    return writer.concat([made, last.unsqueeze(0)]).to(dtype)


# -- together and apart -------------------------------------------------------------------------------------------


@rule(CONCAT)
def _concat(writer: Writer, node: Node, *parts: Value) -> Value:
    return writer.concat(parts, node.attrs["axis"])


@rule(STACK)
def _stack(writer: Writer, node: Node, *parts: Value) -> Value:
    axis = node.attrs["axis"]
    return writer.concat([one.unsqueeze(axis) for one in parts], axis)


@rule(UNSTACK)
def _unstack(writer: Writer, node: Node, x: Value) -> list[Value]:
    axis = node.attrs["axis"]
    return [x.gather(writer.const(np.int64(k)), axis) for k in range(node.attrs["num"])]


@rule(SPLIT)
def _split(writer: Writer, node: Node, x: Value) -> list[Value]:
    sizes, axis = node.attrs["sizes"], node.attrs["axis"]
    ends = np.cumsum([0, *sizes]).tolist()
    return [x.slice([a], [b], [axis]) for a, b in pairwise(ends)]


@rule(TILE)
def _tile(writer: Writer, node: Node, x: Value, *counts: Value) -> Value:
    rank, known = rank_of(node), node.attrs["known"]
    if known is None:
        refuse(node, "it is not known along how many axes it repeats")
    repeats = dims_of(writer, node, counts)
    if len(known) > rank:
        x = x.unsqueeze(*range(len(known) - rank))
    elif len(known) < rank:
        repeats = writer.concat([writer.ints([1] * (rank - len(known))), repeats])
    return x if not max(rank, len(known)) else writer("Tile", x, repeats)


@rule(REPEAT)
def _repeat(writer: Writer, node: Node, x: Value, repeats: Value) -> Value:
    axis = node.attrs["axis"]
    extent = x.extent(axis)
    counts = repeats.to(INT64).reshape(-1).expand(extent.unsqueeze(0))
    ends = writer("CumSum", counts, writer.const(np.int64(0)))
    places = writer.count_to(counts.sum([0])).unsqueeze(-1)
    return x.gather((ends <= places).to(INT64).sum([-1]), axis)


@rule(PAD)
def _pad(writer: Writer, node: Node, x: Value, value: Value, *pads: Value) -> Value:
    known = node.attrs["known"]
    if pads:
        widths = pads[0].to(INT64).reshape(-1, 2).transpose([1, 0]).reshape(-1)
    else:
        widths = writer.ints([*known[::2], *known[1::2]])
    if not rank_of(node):
        return x
    wide = INT64 if x.dtype.kind in "biu" else computed(x.dtype)
    return writer("Pad", x.to(wide), widths, value.to(wide)).to(x.dtype)


# -- diagonals ------------------------------------------------------------------------------------------------------


def _triangle(upper: int) -> Any:
    def write(writer: Writer, node: Node, x: Value) -> Value:
        wide = INT64 if x.dtype.kind in "biu" else computed(x.dtype)
        return writer("Trilu", x.to(wide), writer.const(np.int64(node.attrs["k"])), upper=upper).to(x.dtype)

    return write


rule(TRIL)(_triangle(0))
rule(TRIU)(_triangle(1))


@rule(DIAGONAL)
def _diagonal(writer: Writer, node: Node, x: Value) -> Value:
    k, rank = node.attrs["k"], rank_of(node)
    rows, columns = x.extent(rank - 2), x.extent(rank - 1)
    count = writer("Min", rows - max(-k, 0), columns - max(k, 0), dtype=INT64)
    count = writer("Max", count, writer.const(np.int64(0)))
    places = writer.count_to(count) * (columns + 1) + (columns * max(-k, 0) + max(k, 0))
    dims = writer.concat([x.shape().slice([0], [rank - 2], [0]), writer.ints([-1])])
    flat = writer("Reshape", x, dims) if rank > 2 else x.reshape(-1)
    return flat.gather(places, rank - 2)


@rule(EMBED)
def _embed(writer: Writer, node: Node, d: Value, *dims: Value) -> Value:
    k, rank = node.attrs["k"], rank_of(node)
    extents = dims_of(writer, node, dims)
    rows, columns = [writer.count_to(extents.gather(writer.const(np.int64(axis)))) for axis in (-2, -1)]
    on = (columns - rows.unsqueeze(1)).equals(k)
    last = d.extent(rank - 1) - 1
    places = writer("Min", writer("Max", rows - max(-k, 0), writer.const(np.int64(0))), last)
    zero = writer.const(d.dtype.type(0))
    if d.dtype == BOOL:
        return on & d.gather(places, rank - 1).unsqueeze(-1)
    return on.where(d.gather(places, rank - 1).unsqueeze(-1), zero)


@rule(CUSTOM, REGION)
def _custom(writer: Writer, node: Node, *operands: Value) -> list[Value]:
    return list(operands[len(operands) - node.attrs["count"] :])


@rule(HELD)
def _held(writer: Writer, node: Node, *operands: Value) -> list[Value]:
    return list(operands[: node.attrs["count"]])
