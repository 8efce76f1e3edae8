"""Variables: read once before the function runs, kept in registers and memory, and assigned once after it.

That is what reading and assigning in program order comes to as long as assignments stand outside loops and branches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...collections.variables import ASSIGN, ASSIGN_ADD, ASSIGN_SUB, READ, Variable
from ...ir.graph import Graph, Node
from ...ops.arithmetic import ADD, SUBTRACT
from ..writer.context import Context
from ..writer.nests import apply, store_all
from ..writer.node_writer import array_of
from ..writer.registry import rule
from ..writer.values import Array, Expr, Scalar, Value, borrowed, resolve

_UPDATES = {ASSIGN_ADD: ADD, ASSIGN_SUB: SUBTRACT}


def variables_of(graph: Graph) -> tuple[list[Variable], list[Variable]]:
    """Return the variables whose value the function must be given, and those it assigns, in the order they are met."""
    needed: dict[Variable, None] = {}
    assigned: dict[Variable, None] = {}
    for node in _in_order(graph):
        variable: Any = node.attrs.get("variable")
        if (node.op is READ or node.op in _UPDATES) and variable not in assigned:
            needed[variable] = None
        if node.op is ASSIGN or node.op in _UPDATES:
            assigned[variable] = None
    return list(needed), list(assigned)


def _in_order(graph: Graph) -> Iterator[Node]:
    for node in graph.nodes:
        for inner in node.subgraphs:
            yield from _in_order(inner)
        yield node


@rule(READ, complexes=True)
def _read(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    return [ctx.variables[node.attrs["variable"]]]


@rule(ASSIGN, ASSIGN_ADD, ASSIGN_SUB)
def _assign(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    if node.graph.parent is not None:
        ctx.refuse(node, "a variable is assigned in a loop or branch")
    variable, value = node.attrs["variable"], resolve(values[0])
    shape = ctx.shape_of(node.outputs[0])
    if node.op in _UPDATES:
        before, t = ctx.variables[variable], ctx.type_of(node.outputs[0])
        if shape == ():
            text = apply(ctx, _UPDATES[node.op], t, [t, t], [ctx.scalar(before), ctx.scalar(value)])
            value = Scalar(text, t)
        else:
            made: Array = ctx.temporary(t, shape)
            store_all(ctx, shape, [Expr(_UPDATES[node.op], (before, value), t, shape)], [made])
            value = made
    ctx.variables[variable] = value if shape == () else borrowed(array_of(ctx, value))
    return [ctx.variables[variable]]
