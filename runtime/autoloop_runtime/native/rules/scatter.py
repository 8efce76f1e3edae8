"""Adding to parts of arrays, and reading and writing at points: what repeats adds up, in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...base.dataclass import replace
from ...collections.accumulators import ACCUMULATE_AT
from ...ir.graph import Node
from ...ops.arithmetic import ADD
from ...ops.broadcasting import SUM_TO
from ...ops.gathering import GATHER_ND, SCATTER, SCATTER_UPDATE
from ...ops.indexing import ADD_AT, INDEX_ADD
from ...ops.reducing import SUM
from ..ir.elements import literal
from ..writer.context import Context
from ..writer.memory import loaded, put, seen, shifted
from ..writer.nests import Nest, apply, store, store_all
from ..writer.node_writer import array_of, flush
from ..writer.registry import rule
from ..writer.values import Array, Expr, Scalar, Splat, Value, dense, resolve
from .changed_parts import is_basic
from .element_index import index_of
from .filling_rules import tell_extents
from .index_arrays import Points
from .indexed_parts import Basic
from .indexing_rules import each_index, fitting, only_rows, writable
from .reduction_rules import reduce


def add_to(ctx: Context, place: Array, value: Value) -> None:
    """Write ``place += value``."""
    if place.shape == ():
        total = apply(ctx, ADD, place.t, [place.t] * 2, [loaded(ctx, place).text, ctx.scalar(value)])
        put(ctx, Scalar(total, place.t), place)
    elif 0 not in place.shape:
        store_all(ctx, place.shape, [Expr(ADD, (place, value), place.t, place.shape)], [place])


def _add_at(ctx: Context, node: Node, out: Array, values: Sequence[Value]) -> None:
    """Add ``values[1]`` to ``out`` at the index of ``node``, whose tensors are the rest of ``values``."""
    value = resolve(values[1])
    operands = [out, *values[1:]]
    if is_basic(ctx, node, 2):
        part = Basic(ctx, node, 2, operands, out).part()
        add_to(ctx, part, fitting(ctx, node, operands, value, part.shape))
        return
    axis = only_rows(ctx, node, 2)
    if axis is None:
        points = Points(ctx, node, 2, operands, out)
        rows = _whole(ctx, fitting(ctx, node, operands, value, points.shape), points.shape, out)
        points.each(rows, lambda place, row: add_to(ctx, place, seen(ctx, row)), is_update=node.op is ADD_AT)
        return
    indices = array_of(ctx, values[-1])
    shape = (*out.shape[:axis], *indices.shape, *out.shape[axis + 1 :])
    rows = _whole(ctx, fitting(ctx, node, operands, value, shape), shape, out)

    def add(at: str, row: Array) -> None:
        offset = ctx.writer.let(f"mul nsw i64 {at}, {ctx.step(out.strides[axis])}")
        place = shifted(ctx, out, offset, row.shape, out.strides[:axis] + out.strides[axis + 1 :])
        add_to(ctx, place, seen(ctx, row))

    each_index(ctx, node, indices, out.shape[axis], operands, rows, axis, add, is_update=node.op is ADD_AT)


def _whole(ctx: Context, value: Value, shape: tuple[int, ...], like: Array) -> Array:
    """Return ``value`` in memory, broadcast to ``shape``."""
    if isinstance(value, Array) and value.shape == shape:
        return value
    made: Array = ctx.temporary(like.t, shape)
    store(ctx, value, made)
    return made


@rule(INDEX_ADD, complexes=True)
def _index_add(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    tell_extents(ctx, node, values, values[0], ctx.shape_of(node.outputs[0]))
    out = _zeros(ctx, node)
    _add_at(ctx, node, out, values)
    return [out]


@rule(ADD_AT, ACCUMULATE_AT, complexes=True)
def _accumulate_at(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    out = writable(ctx, node, values[0], values[1:])
    _add_at(ctx, node, out, values)
    return [out]


def _zeros(ctx: Context, node: Node) -> Array:
    tensor = node.outputs[0]
    t, shape = ctx.type_of(tensor), ctx.shape_of(tensor)
    out = ctx.result(tensor, t, shape)
    store(ctx, Splat(literal(0, t), t, shape), out)
    return out


# -- points -------------------------------------------------------------------------------------------------


def _each_point(
    ctx: Context, node: Node, indices: Array, target: Array, rows: Array, operands: Sequence[Value],
    write: Callable[[Array, Array], None],
) -> None:  # fmt: skip
    """Write something for each point: given the place in ``target`` and the row of ``rows`` that belongs to it."""
    flush(ctx)
    lead, depth = indices.shape[:-1], indices.shape[-1]
    if 0 in lead:
        return
    starts = replace(indices, shape=lead, strides=indices.strides[:-1])
    places = replace(rows, shape=lead, strides=rows.strides[: len(lead)])
    nest = Nest(ctx, lead, [starts, places])
    with nest.loops(sequential=True):
        start = replace(indices, pointer=nest.address(starts), shape=(), strides=())
        offset = "0"
        for k in range(depth):
            index = loaded(ctx, shifted(ctx, start, k * indices.strides[-1], (), ()))
            at = index_of(ctx, node, index, target.shape[k], operands)
            step = ctx.writer.let(f"mul nsw i64 {at}, {ctx.step(target.strides[k])}")
            offset = ctx.writer.let(f"add nsw i64 {offset}, {step}")
        row = replace(
            rows, pointer=nest.address(places), shape=rows.shape[len(lead) :], strides=rows.strides[len(lead) :]
        )
        write(shifted(ctx, target, offset, target.shape[depth:], target.strides[depth:]), row)


@rule(GATHER_ND, complexes=True)
def _gather_nd(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    x, indices = array_of(ctx, values[0]), array_of(ctx, values[1])
    tensor = node.outputs[0]
    shape = ctx.shape_of(tensor)
    out = ctx.result(tensor, x.t, shape)
    _each_point(ctx, node, indices, x, out, [x, indices], lambda place, row: put(ctx, seen(ctx, place), row))
    return [seen(ctx, out)]


@rule(SCATTER, complexes=True)
def _scatter(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    indices, out = array_of(ctx, values[0]), _zeros(ctx, node)
    rows = _rows_of(ctx, indices, values[1], out)
    operands = [indices, rows, *values[2:]]
    _each_point(ctx, node, indices, out, rows, operands, lambda place, row: add_to(ctx, place, seen(ctx, row)))
    return [out]


@rule(SCATTER_UPDATE, complexes=True)
def _scatter_update(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    out, indices = writable(ctx, node, values[0], values[1:]), array_of(ctx, values[1])
    rows = _rows_of(ctx, indices, values[2], out)
    operands = [out, indices, rows]
    _each_point(ctx, node, indices, out, rows, operands, lambda place, row: put(ctx, seen(ctx, row), place))
    return [out]


def _rows_of(ctx: Context, indices: Array, updates: Value, out: Array) -> Array:
    shape = (*indices.shape[:-1], *out.shape[indices.shape[-1] :])
    updates = resolve(updates)
    if isinstance(updates, Scalar):
        updates = Splat(updates.text, updates.t, shape)
    return _whole(ctx, updates, shape, out)


# -- sums ---------------------------------------------------------------------------------------------------


@rule(SUM_TO)
def _sum_to(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    tensor, value = node.outputs[0], resolve(values[0])
    shape, full = ctx.shape_of(tensor), ctx.shape_of(node.inputs[0])
    if shape == full:
        return [value]
    extra = len(full) - len(shape)
    axes = [*range(extra), *[extra + k for k, n in enumerate(shape) if n == 1 and full[extra + k] != 1]]
    t = ctx.type_of(tensor)
    if len(axes) == len(full) and 0 not in full:
        text = reduce(ctx, SUM, value, axes, None)
        return [Splat(text, t, shape) if shape else Scalar(text, t)]
    out = ctx.result(tensor, t, shape)
    if 0 in full:
        store(ctx, Splat(literal(0, t), t, shape), out)
    else:
        kept = tuple([1 if k in axes else n for k, n in enumerate(full)])
        reduce(ctx, SUM, value, axes, replace(out, shape=kept, strides=dense(kept)))
    return [seen(ctx, out)]
