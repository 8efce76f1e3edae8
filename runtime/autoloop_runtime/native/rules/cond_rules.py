"""Branches: scalars meet in a register, arrays in one buffer that both branches write to."""

from __future__ import annotations

from collections.abc import Sequence

from ...analysis.uses import place_of, readers
from ...ir.graph import PARAMETER, Graph, Node
from ...ir.structured import COND
from ...ir.tensor import Tensor
from ..writer.context import Context, Place, Target
from ..writer.copy_on_write import as_owned, copied, new_like
from ..writer.memory import move_all
from ..writer.node_writer import open_block, value_of, write_nodes
from ..writer.registry import rule
from ..writer.storage_plan import is_pointwise, overwrites, spread_targets
from ..writer.values import (
    Array,
    Buffer,
    Rows,
    Value,
    parts_of,
    registers,
    resolve,
    with_registers,
)


@rule(COND, complexes=True)
def _cond(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    writer, captured = ctx.writer, values[1:]
    held = len(ctx.held)
    meeting = _meeting_places(ctx, node, captured)
    del ctx.held[held:]  # the branches may write there
    then, other, join = writer.label("then"), writer.label("else"), writer.label("join")
    pinned = len(ctx.pinned)
    ctx.pinned.extend(b for place in meeting if place is not None for a in parts_of(place) for b in a.buffer.all())
    writer.branch(ctx.scalar(values[0]), then, other)
    found = []
    for label, key in ((then, "then"), (other, "else")):
        writer.start(label)
        scalars = _branch(ctx, node, node.attrs[key], captured, meeting)
        found.append((writer.block, scalars))
        writer.jump(join)
    writer.start(join)
    del ctx.pinned[pinned:]
    return [_met(ctx, k, place, found) for k, place in enumerate(meeting)]


def _met(ctx: Context, k: int, place: Value | None, found: Sequence[tuple[str, dict[int, Value]]]) -> Value:
    """Return result ``k`` after the branches: in its place, or in registers that depend on which branch was taken."""
    if place is not None:
        return place
    sides = [(block, values[k]) for block, values in found]
    phis = []
    for position, (type_name, _) in enumerate(registers(sides[0][1])):
        phi = ctx.writer.phi(type_name)
        for block, value in sides:
            phi.add(registers(value)[position][1], block)
        phis.append(phi.name)
    return with_registers(sides[0][1], phis)


def _meeting_places(ctx: Context, node: Node, captured: Sequence[Value]) -> list[Value | None]:
    """Return for each array that is a result, the memory where it will be; ``None`` for scalars."""
    out: list[Value | None] = []
    taken: set[Buffer] = set()
    branches = (node.attrs["then"], node.attrs["else"])
    for k, tensor in enumerate(node.outputs):
        if tensor in ctx.types.shapes and ctx.shape_of(tensor) == ():
            out.append(None)
            continue
        origins = [_origin(g, g.outputs[k]) for g in branches]
        place = _in_place(ctx, [*origins, *_computed_from(ctx, branches, k, origins)], captured, tensor, taken)
        if place is None and tensor in ctx.types.rows:
            place = new_like(ctx, tensor)
        elif place is None:
            place = ctx.result(tensor, ctx.type_of(tensor), ctx.shape_of(tensor))
        taken.update(a.buffer for a in parts_of(place))
        out.append(place)
    return out


def _in_place(
    ctx: Context, origins: Sequence[int | None], captured: Sequence[Value], tensor: Tensor, taken: set[Buffer]
) -> Value | None:  # fmt: skip
    """Return a captured value that a branch hands on or writes over, if nobody else needs it."""
    for origin in origins:
        value = resolve(captured[origin]) if origin is not None else None
        if not isinstance(value, (Array, Rows)):
            continue
        if isinstance(value, Array) and value.shape != ctx.shape_of(tensor):
            continue
        if all(ctx.is_free(a) and a.buffer not in taken for a in parts_of(value)):
            return value
    return None


def _origin(graph: Graph, tensor: Tensor) -> int | None:
    """Return which input of ``graph`` becomes ``tensor`` by being handed on or written over."""
    node = tensor.op
    if node.op is PARAMETER:
        return place_of(graph.inputs, tensor)
    if overwrites(node):
        return _origin(graph, node.inputs[tensor.index])
    if node.op is COND:
        for inner in (node.attrs["then"], node.attrs["else"]):
            position = _origin(inner, inner.outputs[tensor.index])
            found = None if position is None else _origin(graph, node.inputs[1 + position])
            if found is not None:
                return found
    return None


def _computed_from(ctx: Context, branches: Sequence[Graph], k: int, origins: Sequence[int | None]) -> list[int]:
    """Return which inputs result ``k`` may be put over where a branch computes it of them element by element: those of
    its form that each branch looks at in that way only, or hands on."""
    form = [(g.outputs[k].dtype, ctx.types.shapes.get(g.outputs[k])) for g in branches]
    if form[0] != form[1] or not any(is_pointwise(g.outputs[k].op) for g in branches):
        return []
    found = []
    for position, inputs in enumerate(zip(*[g.inputs for g in branches])):
        if (inputs[0].dtype, ctx.types.shapes.get(inputs[0])) == form[0] and all(
            origin == position or _is_read_once_over(ctx, graph, tensor)
            for graph, origin, tensor in zip(branches, origins, inputs)
        ):
            found.append(position)
    return found


def _is_read_once_over(ctx: Context, graph: Graph, tensor: Tensor) -> bool:
    """Return whether what reads ``tensor`` in ``graph`` computes, of each of its elements, one of an array alike."""
    shape = ctx.shape_of(tensor)
    for node, index in readers(graph).of(tensor):
        if node is not None and node.op is COND and index > 0:
            if not all(_is_read_once_over(ctx, g, g.inputs[index - 1]) for g in node.subgraphs):
                return False
        elif node is None or not is_pointwise(node) or ctx.types.shapes.get(node.outputs[0]) != shape:
            return False
    return True


def _branch(
    ctx: Context, node: Node, graph: Graph, captured: Sequence[Value], meeting: Sequence[Value | None]
) -> dict[int, Value]:  # fmt: skip
    """Write one branch; gives its results that are in registers."""
    block = open_block(ctx, graph, captured)
    targets: dict[Tensor, Target] = {}
    for tensor, place in zip(graph.outputs, meeting):
        if place is not None:
            targets[tensor] = Place(parts_of(place)[0].buffer)
    block.targets = spread_targets(graph, targets, block.plan.uses)
    write_nodes(ctx)
    results = [resolve(value_of(ctx, t)) for t in graph.outputs]
    _own(ctx, node, results)
    with ctx.holding(results):
        move_all(ctx, [(v, p) for v, p in zip(results, meeting) if p is not None])
    ctx.blocks.pop()
    return {k: v for k, (v, p) in enumerate(zip(results, meeting)) if p is None}


def _own(ctx: Context, node: Node, results: list[Value]) -> None:
    """Make the collections among the results of a branch its own: nobody else holds them when it ends."""
    block = ctx.blocks.pop()
    needed = ctx.referenced()
    ctx.blocks.append(block)
    for k, tensor in enumerate(node.outputs):
        if ctx.types.is_owned(tensor):
            value = as_owned(results[k])
            if not value.owned or value.buffer in needed:
                value = copied(ctx, node, ctx.types.stacks[tensor], value.pointer)
            needed.add(value.buffer)
            results[k] = value
