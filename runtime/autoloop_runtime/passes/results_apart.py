"""Results that are arrays of their own stay such, in a graph whose arrays are objects that others may change.

NumPy's arrays are copied where two results, or a result and an argument, turn out to be one. Arrays of other libraries
are given as a kernel has made them: so what makes them is neither left out, ``x * 1``, nor done once for two.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.aliasing import is_fresh
from ..analysis.inside import nodes_inside
from ..ir.graph import PARAMETER, Graph
from ..ir.structured import COND, WHILE
from ..ir.tensor import Tensor


def keep_results_apart(graph: Graph) -> None:
    """Let passes leave what makes new arrays that a result is, or is a view of, or holds.

    A promise of the shape that it has anyway does that: what has one is left as it is.
    """
    sources = dict(_parameters(graph))
    todo, seen = list(graph.outputs), set[Tensor]()
    while todo:
        tensor = todo.pop()
        node = tensor.node
        if tensor in seen or node is None:
            continue
        seen.add(tensor)
        if node.op is PARAMETER:
            todo += sources.get(tensor, ())
        elif node.op is WHILE:
            todo += [node.inputs[tensor.index], node.attrs["body"].outputs[tensor.index]]
        elif node.op is COND:
            todo += [node.attrs[branch].outputs[tensor.index] for branch in ("then", "else")]
        else:
            if not is_fresh(tensor):
                todo += node.inputs
            if tensor.dtype.kind != "O" and tensor.declared is None:
                tensor.declared = tensor.shape


def _parameters(graph: Graph) -> Iterator[tuple[Tensor, list[Tensor]]]:
    """Yield the parameters of graphs inside, and what each may be."""
    for node in nodes_inside(graph):
        if node.op is WHILE:
            body = node.attrs["body"]
            for k, parameter in enumerate(body.inputs):
                yield parameter, [node.inputs[k], *body.outputs[k : k + 1]]
        elif node.op is COND:
            for branch in ("then", "else"):
                yield from ((one, [outer]) for one, outer in zip(node.attrs[branch].inputs, node.inputs[1:]))
