"""Moving what is the same in every iteration out of loops.

What moves is computed once before the loop, also when the loop then runs no iteration. So only nodes move that
cannot fail (``analysis.failure.can_fail``), have no effect, and cost at most ``MAX_COST`` when it was in vain; those of
the condition, which is always asked at least once, may cost anything.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..analysis.cost import estimate
from ..analysis.failure import can_fail
from ..analysis.inside import loops_inside
from ..analysis.needed import needed_nodes
from ..analysis.observable import is_pure
from ..analysis.uses import readers
from ..ir.graph import CONST, PARAMETER, Graph, Node
from ..ir.structured import WHILE
from ..ir.tensor import Tensor
from .rewrite import Copy, detached, rewrite

#: nanoseconds
MAX_COST = 1e5


def hoist_invariants(graph: Graph) -> Graph:
    """Return ``graph`` with the invariant nodes of each While in front of it, inner loops first."""
    if not loops_inside(graph):
        return graph
    return rewrite(graph, _visit)


def hoisted(graph: Graph, fetches: Sequence[Tensor], feeds: Sequence[Tensor]) -> tuple[Graph, Sequence[Tensor]]:
    """Return a graph with the part of ``graph`` that ``fetches`` and ``feeds`` need, with invariant nodes in front of
    loops, and what stands there for ``fetches`` and ``feeds``, one after the other; ``graph`` itself, and these, if
    nothing moves.

    Any other node stays as it is: a session may feed each tensor.
    """
    ends = [*fetches, *feeds]
    if not loops_inside(graph):
        return graph, ends
    needed = needed_nodes(ends)
    copy = Copy(graph, _visit)
    for node in graph.nodes:
        if node in needed:
            _visit(copy, node)
    if not copy.of:
        return graph, ends
    copy.graph.outputs = list(map(copy.stands, ends))
    made = detached(copy.graph)
    return made, made.outputs


def _visit(copy: Copy, node: Node) -> None:
    if node.op is not WHILE:
        copy.keep(node)
        return
    inputs = copy.inputs(node)
    subs = [rewrite(node.attrs[key], _visit, copy.graph) for key in ("cond", "body")]
    n = node.attrs["n_vars"]
    moved = [_move(copy, sub, n, inputs, limit) for sub, limit in zip(subs, (None, MAX_COST))]
    made = list(dict.fromkeys(outer for table in moved for outer in table.values()))
    if made:
        subs = [_with_captures(sub, table, made, copy.graph) for sub, table in zip(subs, moved)]
    attrs = {**node.attrs, "cond": subs[0], "body": subs[1]}
    copy.keep(node, [*inputs, *made], attrs)


def _move(copy: Copy, graph: Graph, n_vars: int, inputs: Sequence[Tensor], limit: float | None) -> dict[Tensor, Tensor]:
    """Copy the invariant nodes of ``graph`` into the graph around the loop.

    Returns
    -------
    dict
        Tensor of ``graph`` that stays in use there -> the tensor outside that it now is.
    """
    outer: dict[Tensor, Tensor] = dict(zip(graph.inputs[n_vars:], inputs[n_vars:]))
    moved: set[Node] = set()
    for node in graph.nodes:
        if not _can_move(node, outer, limit):
            continue
        args = [outer[t] if t in outer else copy.again(t.op).outputs[0] for t in node.inputs]
        made = copy.keep(node, args)
        outer.update(zip(node.outputs, made.outputs))
        moved.add(node)
    reading = readers(graph)
    made_outside = [t for node in graph.nodes if node in moved for t in node.outputs]
    return {t: outer[t] for t in made_outside if not moved.issuperset(reading.nodes(t))}


def _can_move(node: Node, outer: dict[Tensor, Tensor], limit: float | None) -> bool:
    if node.op in (CONST, PARAMETER) or not is_pure(node) or can_fail(node):
        return False
    if not all(t in outer or t.op.op is CONST for t in node.inputs):
        return False
    # what only takes constants was left to be computed here because its result is large
    return limit is None or estimate(node) <= limit


def _with_captures(graph: Graph, moved: dict[Tensor, Tensor], made: Sequence[Tensor], parent: Graph) -> Graph:
    """Return ``graph`` with one more parameter per tensor of ``made``, and those in place of the moved tensors."""
    copy = Copy(graph, Copy.keep, parent)
    parameters = {t: copy.graph.parameter(t.dtype, t.shape, "invariant") for t in made}
    gone = {t.op for t in moved}
    copy.of.update((inner, parameters[outer]) for inner, outer in moved.items())
    for node in graph.nodes:
        if node not in gone:
            copy.keep(node)
    finished = copy.finish()
    finished.inputs += parameters.values()
    return finished
