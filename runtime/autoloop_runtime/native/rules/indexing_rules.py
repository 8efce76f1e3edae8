"""Taking elements out of arrays and putting them in."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...analysis.aliasing import reads_part
from ...analysis.part_updates import is_whole, updated_part
from ...base.dataclass import replace
from ...ir.graph import Node
from ...ops.index import Input, Slice
from ...ops.indexing import GETITEM, SET_ITEM
from ...ops.placing import PLACE
from ...ops.selection import WHERE
from ..ir.moving import is_moving
from ..typing.disjoint_parts import are_apart
from ..typing.moving_extents import entries_of, mask_of, part_shape
from ..writer.context import Context
from ..writer.memory import is_one_value, move, put, seen, shifted, splat
from ..writer.nests import Nest, store, store_all
from ..writer.node_writer import agree, array_of, flush, value_of
from ..writer.registry import rule
from ..writer.storage_plan import is_view, overwrites
from ..writer.values import (
    Array,
    Count,
    Expr,
    Pending,
    Scalar,
    Shape,
    Value,
    buffers,
    leaves,
    resolve,
    size_of,
    with_leaves,
)
from .changed_parts import indices_of, is_basic, put_back_by
from .element_index import index_of
from .index_arrays import Points, at_points
from .indexed_parts import Basic
from .selecting_rules import as_many, assigned, selected

#: what is read elsewhere in an array is copied if it is so many times smaller than what is written
_SMALL = 8

# -- brackets ---------------------------------------------------------------------------------------------


def only_rows(ctx: Context, node: Node, first: int) -> int | None:
    """Return the axis that one integer array indexes while all others are whole, if that is the form of the index."""
    axis = None
    for k, entry in enumerate(entries_of(node, len(ctx.shape_of(node.inputs[0])))):
        if isinstance(entry, Input) and axis is None and node.inputs[first + entry.position].dtype.kind in "iu":
            axis = k
        elif entry != Slice(None, None, None):
            return None
    return axis


@rule(GETITEM, view=True, partly=True, complexes=True)
def _getitem(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    if is_basic(ctx, node, 1):
        if is_one_value(values[0]) and all(t in ctx.types.constants for t in node.inputs[1:]):
            return [splat(ctx, node, values[0])]
        values = [array_of(ctx, values[0]), *values[1:]]
        part = Basic(ctx, node, 1, values, values[0]).part()  # type: ignore[arg-type]
        if part.shape != ctx.shape_of(node.outputs[0]):
            ctx.refuse(node, "the extent of a slice depends on values")
        return [seen(ctx, part)]
    if mask_of(node, 1) is not None:
        return [selected(ctx, node, values)]
    axis = only_rows(ctx, node, 1)
    if axis is None:
        return [at_points(ctx, node, values)]
    return [gathered(ctx, node, values, axis)]


def gathered(ctx: Context, node: Node, values: list[Value], axis: int) -> Value:
    """Return rows of an array, one for each index."""
    flush(ctx)
    x, indices = array_of(ctx, values[0]), array_of(ctx, values[-1])
    out = ctx.result(node.outputs[0], x.t, ctx.shape_of(node.outputs[0]))
    operands = [x, *values[1:-1], indices]

    def copy(at: str, place: Array) -> None:
        offset = ctx.writer.let(f"mul nsw i64 {at}, {ctx.step(x.strides[axis])}")
        rest = x.strides[:axis] + x.strides[axis + 1 :]
        row = shifted(ctx, x, offset, x.shape[:axis] + x.shape[axis + 1 :], rest)
        put(ctx, seen(ctx, row), place)

    each_index(ctx, node, indices, x.shape[axis], operands, out, axis, copy)
    return out


def each_index(
    ctx: Context, node: Node, indices: Array, extent: int, operands: Sequence[Value], rows: Array, axis: int,
    write: Callable[[str, Array], None], is_update: bool = False,
) -> None:  # fmt: skip
    """Write something for each of ``indices``: given the index and the row of ``rows`` that belongs to it.

    Where that is an *update* of what somebody holds, and no loop's, all of them are checked before anything is changed.
    """
    if 0 in rows.shape:
        return
    if is_update and not ctx.loops:
        nest = Nest(ctx, indices.shape, [indices])
        with nest.loops(sequential=True):
            index_of(ctx, node, Scalar(nest.element(indices), indices.t), extent, operands)
    depth = len(indices.shape)
    where = rows.strides[axis : axis + depth]
    places = replace(rows, shape=indices.shape, strides=where)
    nest = Nest(ctx, indices.shape, [indices, places])
    with nest.loops(sequential=True):
        index = Scalar(nest.element(indices), indices.t)
        at = index_of(ctx, node, index, extent, operands)
        address = nest.address(places)
        shape = rows.shape[:axis] + rows.shape[axis + depth :]
        strides = rows.strides[:axis] + rows.strides[axis + depth :]
        write(at, Array(address, rows.t, shape, strides, rows.buffer, rows.owned))


# -- writing ----------------------------------------------------------------------------------------------


def writable(ctx: Context, node: Node, value: Value, others: Sequence[Value]) -> Array:
    """Return ``value`` as memory that may be changed: its own if nobody else needs it, a copy otherwise."""
    value = resolve(value)
    touched = {b for other in others for b in buffers(other)}
    if isinstance(value, Array) and ctx.is_free(value) and value.buffer not in touched:
        out = ctx.result(node.outputs[0], value.t, value.shape, [value], [value])
    else:
        out = ctx.result(node.outputs[0], value.t, value.shape, (), [value])  # type: ignore[union-attr]
    store(ctx, value, out)
    return out


@rule(SET_ITEM, partly=True, complexes=True)
def _set_item(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    x, value = values[0], resolve(values[1])
    inputs = indices_of(node, 2)
    if len(inputs) == 1 and inputs[0].dtype.kind == "b" and ctx.shape_of(inputs[0]) == ctx.shape_of(node.inputs[0]):
        return [_masked(ctx, node, values)]
    if is_basic(ctx, node, 2):
        if isinstance(resolve(x), Expr) and is_whole(node) and (all_ := _all_of_it(ctx, node, values)) is not None:
            return [all_]
        if node in ctx.block.put_back and {*buffers(value)} & {*buffers(resolve(x))}:  # it is there
            return [writable(ctx, node, x, [])]
        # the index is checked before anything is changed
        moving = is_moving((*value.shape, *ctx.shape_of(node.inputs[0]), *part_shape(node, 2, ctx.types)))  # type: ignore[union-attr]
        update = _updates(ctx, node, value, resolve(x))
        if not update and not moving and (harmless := _in_its_place(ctx, node, value, resolve(x))) is not None:
            value, update = harmless, True
        within = not moving and _is_part(ctx, value, resolve(x))
        value = values[1] = value if update or within else _apart(ctx, value, resolve(x), moving)
        others = values[1 + (update or within) :]
        back = None if within else put_back_by(ctx, node, x, others)
        if back is None:
            out = writable(ctx, node, x, others)
        else:
            ctx.block.put_back.add(back)
            out = x  # type: ignore[assignment]
        part = Basic(ctx, node, 2, [out, *values[1:]], out, value.shape).part()  # type: ignore[union-attr]
        if not part.shape and ctx.shape_of(node.inputs[1]) and node.inputs[0].dtype.kind != "b":
            ctx.refuse(node, "whether an array of one element may be assigned to one element depends on NumPy")
            return []
        if within:
            move(ctx, fitting(ctx, node, values, value, part.shape), part)  # type: ignore[arg-type]
        else:
            put(ctx, fitting(ctx, node, values, value, part.shape), part)
        return [seen(ctx, out)]
    axis = only_rows(ctx, node, 2)
    if axis is None:
        return [_put_at_points(ctx, node, values)]
    out = writable(ctx, node, x, values[2:])
    _scatter_rows(ctx, node, out, axis, values)
    return [out]


def _all_of_it(ctx: Context, node: Node, values: Sequence[Value]) -> Value | None:
    """Return what is assigned to all of what is not in memory, which it takes the place of; None if it has another
    form, or what it is read of may be written to before it is read."""
    form = ctx.type_of(node.outputs[0]), ctx.shape_of(node.outputs[0])
    value = resolve(values[1])
    if isinstance(value, Scalar) and value.t == form[0]:
        return splat(ctx, node, value)
    uses = ctx.block.plan.uses
    reader, _ = uses.only(node.outputs[0]) or (None, 0)
    if not isinstance(value, (Array, Expr)) or (value.t, value.shape) != form or is_moving(form[1]) or reader is None:
        return None
    between = list(uses.place)[uses.place[node] + 1 : uses.place[reader]]
    at_once = overwrites(reader) and not reader.subgraphs and all(map(is_view, between))
    return value if at_once else None


def _updates(ctx: Context, node: Node, value: Value, x: Value) -> bool:
    """Return whether ``value`` is yet to be computed, and of the array ``x`` only from what its elements replace."""
    found = updated_part(ctx.block.plan.uses, node)
    if found is None or not isinstance(value, Expr) or not isinstance(x, Array):
        return False
    made, k = found
    part = resolve(value_of(ctx, made.inputs[k]))
    return all(leaf is part or x.buffer not in buffers(leaf) for leaf in leaves(value))


def _in_its_place(ctx: Context, node: Node, value: Value, x: Value) -> Value | None:
    """Return ``value``, yet to be computed, so that each element may be put into its place in the array ``x`` once it
    is there: what it is computed of is read at that very place, or where nothing is written. What else of ``x`` is read
    is copied first if it is far less than what is written, as a row and a column are of a matrix; else None."""
    if not isinstance(value, Expr) or not isinstance(x, Array):
        return None
    harmless: list[Value] = [x] if is_whole(node) else []
    for reader in ctx.block.plan.uses.nodes(node.inputs[0]):
        if reader is None or reader.op is not GETITEM or reader.outputs[0] not in ctx.block.values:
            continue
        same = reads_part(reader, node) or (is_whole(reader) and is_whole(node))
        if is_basic(ctx, reader, 1) and (same or are_apart(reader, node, ctx.types)):
            harmless.append(resolve(ctx.block.values[reader.outputs[0]]))
    found = [leaf for leaf in leaves(value) if x.buffer in buffers(leaf)]
    others = [leaf for leaf in found if not any(leaf is part for part in harmless)]
    if any(not isinstance(leaf, Array) or _SMALL * size_of(leaf.shape) > size_of(value.shape) for leaf in others):
        return None
    copies = [ctx.temporary(leaf.t, leaf.shape) for leaf in others]  # type: ignore[union-attr]
    for leaf, copy in zip(others, copies):
        store(ctx, leaf, copy)
    return with_leaves(value, {id(leaf): copy for leaf, copy in zip(others, copies)}) if others else value


def _is_part(ctx: Context, value: Value, x: Value) -> bool:
    """Return whether ``value`` is a part of the array ``x``, which may be changed where it is."""
    if not isinstance(x, Array) or not isinstance(value, Array) or x.buffer not in buffers(value):
        return False
    return value.t == x.t and ctx.is_free(x) and size_of(value.shape) < size_of(x.shape)


def _apart(ctx: Context, value: Value, x: Value, moving: bool) -> Value:
    """Return what is assigned to a part of ``x`` in memory of its own, if it is computed from ``x``."""
    if not isinstance(x, Array) or x.buffer not in buffers(value):
        return value
    if isinstance(value, Expr):
        return array_of(ctx, value, is_any=True)
    if isinstance(value, Array) and moving:  # rather than all of the array
        made: Array = ctx.temporary(value.t, value.shape)
        store(ctx, value, made)
        return made
    return value


def _scatter_rows(ctx: Context, node: Node, out: Array, axis: int, values: Sequence[Value]) -> None:
    indices = array_of(ctx, values[-1])
    shape = out.shape[:axis] + indices.shape + out.shape[axis + 1 :]
    rows = _apart_rows(ctx, fitting(ctx, node, values, resolve(values[1]), shape), out, shape)

    def copy(at: str, row: Array) -> None:
        offset = ctx.writer.let(f"mul nsw i64 {at}, {ctx.step(out.strides[axis])}")
        place = shifted(ctx, out, offset, row.shape, out.strides[:axis] + out.strides[axis + 1 :])
        put(ctx, seen(ctx, row), place)

    each_index(ctx, node, indices, out.shape[axis], [out, *values[1:]], rows, axis, copy, is_update=True)


def _put_at_points(ctx: Context, node: Node, values: list[Value]) -> Value:
    out = writable(ctx, node, values[0], values[1:])
    points = Points(ctx, node, 2, [out, *values[1:]], out)
    rows = _apart_rows(ctx, fitting(ctx, node, values, resolve(values[1]), points.shape), out, points.shape)
    points.each(rows, lambda place, row: put(ctx, seen(ctx, row), place), is_update=True)
    return seen(ctx, out)


def _apart_rows(ctx: Context, source: Value, out: Array, shape: Shape) -> Array:
    """Return what is assigned, one row for each place: all of it is read before any of ``out`` is written."""
    if isinstance(source, Array) and source.shape == shape and source.t == out.t and out.buffer not in buffers(source):
        return source
    rows: Array = ctx.temporary(out.t, shape)
    store(ctx, source, rows)
    return rows


def fitting(ctx: Context, node: Node, operands: Sequence[Value], value: Value, shape: Shape) -> Value:
    """Return ``value`` to be assigned to a part of this shape, whose extents were perhaps not known to the trace."""
    extra = max(0, len(value.shape) - len(shape))  # type: ignore[union-attr]
    if any(n != 1 for n in value.shape[:extra] if not is_moving((n,))):  # type: ignore[union-attr]
        ctx.check("false", node, operands)
    if is_moving(value.shape[:extra]):  # type: ignore[union-attr]
        ctx.refuse(node, "what is assigned has more axes than its place, and their extents depend on values")
    value = fitted(value, shape)
    agree(ctx, node, operands, [value], shape)
    return value


def fitted(value: Value, shape: Shape) -> Value:
    """Return ``value`` without the leading axes of extent 1 that NumPy's assignment lets pass."""
    extra = max(0, len(value.shape) - len(shape))  # type: ignore[union-attr]
    if not extra or isinstance(value, Scalar):
        return value
    if isinstance(value, (Array, Count)):
        return replace(value, shape=value.shape[extra:], strides=value.strides[extra:])
    if isinstance(value, Pending):
        return fitted(value.expr, shape)
    if isinstance(value, Expr):  # what it is computed of has these axes, too
        value = with_leaves(value, {id(leaf): fitted(leaf, shape) for leaf in leaves(value)})
    return replace(value, shape=value.shape[extra:])  # type: ignore[union-attr]


def _masked(ctx: Context, node: Node, values: list[Value]) -> Value:
    x, value, mask = (resolve(v) for v in values)
    one = isinstance(value, Scalar) or (size_of(value.shape) == 1 and not is_moving(value.shape))  # type: ignore[union-attr]
    if len(value.shape) > 1 or not (one or ctx.shape_of(node.inputs[0])):  # type: ignore[union-attr]
        ctx.refuse(node, "what is assigned to what a mask selects has several axes")
    if not one:
        source = as_many(ctx, node, values)
        out = writable(ctx, node, x, [source, *values[1:]])
        assigned(ctx, source, mask, out)
        return out
    shape, t = ctx.shape_of(node.outputs[0]), ctx.type_of(node.outputs[0])
    reuse = [x] if isinstance(x, Array) and ctx.is_free(x) else []
    out = ctx.result(node.outputs[0], t, shape, reuse, [x])
    chosen = Expr(WHERE, (mask, fitted(value, ()), x), t, shape)
    store_all(ctx, shape, [chosen], [out])
    return seen(ctx, out)


@rule(PLACE, complexes=True)
def _place(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    flush(ctx)
    x, source, mask = (array_of(ctx, value) for value in values)
    if is_moving((*source.shape, *x.shape)):
        ctx.refuse(node, "how many values there are depends on values")
        return []
    if not set(buffers(x)).isdisjoint(buffers(source)):
        copy: Array = ctx.temporary(source.t, source.shape)
        store(ctx, source, copy)
        source = copy
    out = writable(ctx, node, x, [source, mask])
    assigned(ctx, source, mask, out, again=True)
    return [out]
