"""Sums and products that run along an axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir.graph import Node
from ...ops.arithmetic import ADD, MULTIPLY
from ...ops.running_sums import CUMPROD, CUMSUM, SUM_BETWEEN
from ..ir.elements import literal
from ..writer.context import Context
from ..writer.memory import reverse
from ..writer.nests import Nest, accumulate, apply, over_kept
from ..writer.node_writer import array_of
from ..writer.registry import rule
from ..writer.values import Array, Value, resolve


@rule(CUMSUM, CUMPROD, complexes=True)
def _running(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    exclusive, op = node.attrs["exclusive"], ADD if node.op is CUMSUM else MULTIPLY
    t = ctx.type_of(node.outputs[0])

    def step(total: str, nest: Nest, sources: Sequence[Value], target: Array) -> str:
        following = apply(ctx, op, t, [t, t], [total, nest.element(sources[0])])
        nest.store(target, total if exclusive else following)
        return following

    if t.kind == "c" and op is MULTIPLY:
        ctx.refuse(node, "of complex numbers it has no machine code")
    # what stands before the first element is seen only if it is left out
    start: complex = 1 if op is MULTIPLY else 0.0 if exclusive else complex(-0.0, -0.0) if t.kind == "c" else -0.0
    return _along(ctx, node, values, int(start.real) if t.kind in "biu" else start, step)


@rule(SUM_BETWEEN)
def _between(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    t = ctx.type_of(node.outputs[0])

    def step(total: str, nest: Nest, sources: Sequence[Value], target: Array) -> str:
        nest.store(target, total)
        grown = apply(ctx, MULTIPLY, t, [t, t], [nest.element(sources[0]), total])
        return apply(ctx, ADD, t, [t, t], [grown, nest.element(sources[1])])

    return _along(ctx, node, values, 0, step)


def _along(
    ctx: Context,
    node: Node,
    values: list[Value],
    start: complex,
    step: Callable[[str, Nest, Sequence[Value], Array], str],
) -> Sequence[Value]:
    """Return a number that goes along an axis: ``step(number, nest, sources, target)`` stores, and gives the next."""
    tensor = node.outputs[0]
    t, shape = ctx.type_of(tensor), ctx.shape_of(tensor)
    sources: list[Value] = [resolve(value) for value in values]
    # each element is read before the number that belongs to it is stored
    over = [x for x in sources[:1] if len(sources) == 1 and isinstance(x, Array) and x.t == t and ctx.is_free(x)]
    out = ctx.result(tensor, t, shape, over)
    if 0 in shape:
        return [out]
    axis = node.attrs["axis"] % len(shape)
    target = out
    if node.attrs["reverse"]:
        sources = [reverse(ctx, array_of(ctx, value), axis) for value in sources]
        target = reverse(ctx, out, axis)
    order = [a for a in range(len(shape)) if a != axis] + [axis]
    nest = Nest(ctx, shape, [*sources, target], [axis], order)

    def along(number: str, nest: Nest) -> str:
        return step(number, nest, sources, target)

    over_kept(nest, lambda: accumulate(nest, t, literal(start, t), along, True))
    return [out]
