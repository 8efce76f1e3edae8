"""Parts of a graph whose values are not kept for gradients: the way back computes them again.

A *region* is what computes some results from what was there before. It stands in its graph as all else does; a node
behind it, ``REGION``, takes what the region takes and its results, and hands these on. The gradient of that node is
the one of a copy of the region, made where the gradient is built, of values that wait for the gradients of the results.
So the values inside the region itself are asked for by nobody.

The region is what lies between the inputs of its node: copies of a graph need to know no more. What has an effect, and
so is done once, is none of it: its value is one of those that the region takes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from ..analysis.observable import effects
from ..base import dtypes
from ..ir.apply import apply_several
from ..ir.graph import CONST, PARAMETER, Graph, Node, current_graph
from ..ir.tensor import Tensor
from ..ops.remat_marks import HELD, REGION
from .activity import Marks, is_differentiable, reached
from .copying import copied_after
from .walk import Adjoints, Walk


def ended(graph: Graph, before: Collection[Node], results: Sequence[Tensor]) -> dict[Tensor, Tensor]:
    """Return, for those of ``results`` that were computed since ``before``, what is to be used in their place.

    Parameters
    ----------
    graph : Graph
        The one that grows.
    before : collection of Node
        Its nodes when the region began.
    results : sequence of Tensor
        Of this graph or others.
    """
    own = {t: None for t in results if t.graph is graph and is_differentiable(t) and t.dtype != dtypes.variant}
    inside = _between(list(own), lambda t: t.op in before)
    ys = [t for t in own if t.op in inside]
    if not ys:
        return {}
    copies = {*graph.constants.values(), *graph.captures.values()}  # somebody may want derivatives by these
    taken = {
        t: None for node in graph.nodes if node in inside for t in node.inputs
        if t.op not in inside and (t.op.op is not CONST or t in copies)
    }  # fmt: skip
    return dict(zip(ys, apply_several(REGION, [*taken, *ys], {"count": len(ys)})))


def _between(results: Sequence[Tensor], is_given: Callable[[Tensor], bool]) -> set[Node]:
    """Return the nodes that compute ``results`` from what is given, and from what is computed once."""
    found: set[Node] = set()
    todo = list(results)
    while todo:
        tensor = todo.pop()
        node = tensor.op
        if node in found or is_given(tensor) or _is_done_once(node):
            continue
        found.add(node)
        todo += node.inputs
    return found


def _is_done_once(node: Node) -> bool:
    return node.op in (CONST, PARAMETER) or node.op.effect or node.op.stateful or bool(node.control_inputs)


def _refuse_effects(nodes: Collection[Node]) -> None:
    """Raise ``ValueError`` if running loops and branches among ``nodes`` again would be noticed."""
    inner = next((found for node in nodes for graph in node.subgraphs[::-1] for found in effects(graph)), None)
    if inner is not None:
        where = f" at {inner.location[-1]}" if inner.location else ""
        raise ValueError(
            f"remat runs a loop or branch again, which has an effect: {inner.name!r} ({inner.op.name}){where}; move it "
            f"out of the loop or branch (read variables before it), or leave out remat [AL413]"
        )


def backward(node: Node, gradients: Sequence[Tensor | None], walk: Walk) -> None:
    """Compute the region again, and hand out the gradients of what it takes."""
    graph = current_graph()
    assert graph is not None
    count = len(node.inputs) - node.attrs["count"]
    taken, results = node.inputs[:count], node.inputs[count:]
    given = set(taken)
    inside = _between(results, given.__contains__)
    ordered = [one.now for one in results[0].op.graph.nodes if one.now in inside]
    _refuse_effects(ordered)
    seeds = [(y, graph.capture(g)) for y, g in zip(results, gradients) if g is not None]
    waits = [g for _, g in seeds if g.dtype != dtypes.variant]
    held = apply_several(HELD, [*[graph.capture(t) for t in taken], *waits], {"count": count}) if count else ()
    of = dict(zip(taken, held or ()))
    again = copied_after(ordered, graph, of)
    sources = [of[t] for t in taken if t in walk.reached]
    marks = Marks([graph], walk.marks.sources)
    inner = Walk(graph, reached(again, sources, marks), marks, Adjoints())
    for y, g in seeds:
        inner.add(of[y], g)
    inner.run(again)
    for tensor in taken:
        if tensor in of and (total := inner.adjoints.total(of[tensor])) is not None:
            walk.add(tensor, total)
