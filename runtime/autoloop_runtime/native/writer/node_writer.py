"""Writing the nodes of a graph one after another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...ir.graph import CONST, PARAMETER, Graph, Node
from ...ir.tensor import Tensor
from ..ir.elements import TYPES, literal
from ..ir.moving import is_moving
from .context import Block, Context, Target
from .marked_lines import Marks
from .nests import same_place, store_all
from .registry import called_entry, entry_of, growing_rule_of
from .storage_plan import make_plan
from .values import Array, Buffer, Expr, Pending, Scalar, Shape, Splat, Value, dense, depth_of, resolve
from .watching import mark, tally

#: so many element-wise operations on top of each other are one loop; more would only take longer to write
DEEPEST = 48


def open_block(
    ctx: Context, graph: Graph, values: Sequence[Value], targets: Mapping[Tensor, Target] | None = None
) -> Block:
    """Start writing ``graph`` with ``values`` for its inputs; the caller pops the block when it is done with it."""
    plan = make_plan(graph, ctx.types)
    left = {t: plan.uses.count(t) for t in plan.uses}
    block = Block(graph, plan, dict(zip(graph.inputs, values)), left, dict(targets or {}))
    ctx.blocks.append(block)
    return block


def write_nodes(ctx: Context) -> None:
    """Write the nodes of the current block that are needed; what is pending is stored at the end."""
    block = ctx.block
    tally(ctx, block.graph)
    for node in block.graph.nodes:
        if node in block.plan.needed and node.op is not CONST and node.op is not PARAMETER:
            write_node(ctx, node)
    flush(ctx)


def value_of(ctx: Context, tensor: Tensor) -> Value:
    """Return the value of ``tensor`` in the current block."""
    known = ctx.block.values.get(tensor)
    if known is None:
        known = ctx.block.values[tensor] = _constant(ctx, ctx.types.constants[tensor])
    return known


def write_node(ctx: Context, node: Node) -> None:
    """Write one node."""
    marks: Marks | None = ctx.writer.marks
    if marks is None:
        _write_node(ctx, node)
        return
    outer, mark = ctx.writer.mark, marks.of(node)
    ctx.writer.mark = mark
    _write_node(ctx, node)
    for tensor in node.outputs:
        marks.note(ctx.block.values.get(tensor), mark)
    ctx.writer.mark = outer


def _write_node(ctx: Context, node: Node) -> None:
    block, entry = ctx.block, entry_of(node.op) or called_entry()
    if not entry.complexes and any(t.dtype.kind == "c" for t in (*node.inputs, *node.outputs)):
        ctx.refuse(node, "of complex numbers it has no machine code")
    values = [value_of(ctx, t) for t in node.inputs]
    if not entry.pointwise and (not entry.view or any(isinstance(v, Pending) for v in values)):
        flush(ctx)
        values = [value_of(ctx, t) for t in node.inputs]
    for tensor in node.inputs:
        block.left[tensor] -= 1
    if not entry.pointwise or node.outputs[0].shape.rank == 0:
        mark(ctx, node)
    with ctx.holding(values):
        if entry.pointwise and any(is_moving(ctx.types.shapes.get(t, ())) for t in node.inputs):
            agree(ctx, node, values, values, ctx.shape_of(node.outputs[0]))
        write = (growing_rule_of(node.op) if _grows(ctx, node) else None) or entry.write
        results = list(write(ctx, node, values))
        if entry.pointwise and depth_of(results[0]) > DEEPEST and isinstance(results[0], Expr):
            results = [array_of(ctx, results[0], node.outputs[0])]
    if node.subgraphs:
        block.marked = None
    if node.op.effect:
        results.append(Scalar("true", TYPES[np.dtype(bool)]))
    for tensor, value in zip(node.outputs, results):
        if isinstance(value, Pending):
            block.pending.append(value)
        block.values[tensor] = value
    if any(depth_of(p) > DEEPEST for p in block.pending[-1:]):
        flush(ctx)


def agree(ctx: Context, node: Node, values: Sequence[Value], operands: Sequence[Value], shape: Shape) -> None:
    """Check that ``operands`` broadcast to ``shape`` where the run decides extents: that these are the same.

    NumPy also takes one of 1 for any; that the strides of an array are known beforehand is what then does not hold.
    """
    for value in map(resolve, operands):
        own = value.shape  # type: ignore[union-attr]
        for n, wanted in zip(reversed(own), reversed(shape)):
            if n == wanted or n == 1:
                continue
            if not is_moving((n, wanted)):  # it never fits, which is an error once it is come to
                ctx.check("false", node, values)
                continue
            same = ctx.writer.let(f"icmp eq i64 {ctx.extent(n)}, {ctx.extent(wanted)}")
            ctx.check(same, node, values, refuses="an axis whose extent depends on values is broadcast, for it is 1")


def _grows(ctx: Context, node: Node) -> bool:
    """Return whether the collection that ``node`` works on grows."""
    return any(t in ctx.types.stacks for t in (*node.inputs[:1], *node.outputs))


# -- storing ----------------------------------------------------------------------------------------------


def flush(ctx: Context) -> None:
    """Store all that is pending: one nest for each shape."""
    pending = ctx.block.pending
    while pending:
        shape = pending[0].shape
        group = [p for p in pending if p.shape == shape]
        pending[:] = [p for p in pending if p.shape != shape]
        outer = ctx.writer.mark
        if ctx.writer.marks is not None:
            ctx.writer.mark = ctx.writer.marks.of(group[-1].tensor.op)
        _store_group(ctx, shape, group)
        ctx.writer.mark = outer


def _store_group(ctx: Context, shape: Shape, group: list[Pending]) -> None:
    values = ctx.block.values
    for p in group:
        # while memory is looked for, what is in the group counts as stored
        p.array = Array("", p.t, shape, dense(shape), Buffer("", 0))
    free = same_place(ctx, [p.expr for p in group], shape)
    with ctx.holding([p.expr for p in group]):
        arrays = []
        for p in group:
            made = ctx.result(p.tensor, p.t, shape, [a for a in free if a.t.size == p.t.size], [p.expr])
            free = [a for a in free if a.buffer is not made.buffer]
            arrays.append(made)
        for p in group:
            p.array = None
        mark(ctx, group[-1].tensor.op)
        store_all(ctx, shape, group, arrays)
    for p, array in zip(group, arrays):
        p.array = array
        if values.get(p.tensor) is p:
            values[p.tensor] = array


def array_of(ctx: Context, value: Value, tensor: Tensor | None = None, is_any: bool = False) -> Array:
    """Return ``value`` in memory; ``tensor`` says for whom, if it may be put where that is wanted.

    *Is any* order of its elements in memory right?
    """
    if isinstance(value, Pending):
        flush(ctx)
        assert value.array is not None
        return value.array
    if isinstance(value, Array):
        return value
    assert not isinstance(value, (Scalar,)), value
    made = ctx.result(tensor, value.t, value.shape, (), [value] if is_any else None)  # type: ignore[union-attr]
    store_all(ctx, made.shape, [value], [made])
    return made


# -- constants --------------------------------------------------------------------------------------------


def _constant(ctx: Context, value: object) -> Value:
    array = np.asarray(value)
    t = TYPES[array.dtype]
    if array.ndim == 0:
        return Scalar(literal(array[()], t), t)
    first = array.reshape(-1)[:1]
    if array.size and first.tobytes() * array.size == array.tobytes():
        return Splat(literal(first[0], t), t, array.shape)
    return ctx.constant(array)
