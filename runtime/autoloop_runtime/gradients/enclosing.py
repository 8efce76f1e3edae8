"""Which graphs a gradient goes through: the one it is asked in, and those whose tensors that one uses.

A loop's body, a branch or the function of a map uses tensors of the graphs around it. A backward graph, in which the
gradient function of a ``custom_gradient`` runs, also uses those of the graph that it is the counterpart of. A path may
lead from a tensor here through an operation there to a source anywhere among them; only the initial value of a loop
variable is no part of it, for in the body that variable is a value of its own.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..ir.graph import Graph
from ..ir.tensor import Tensor
from .copying import twin
from .rematerialize import BackwardGraph


def enclosing(graph: Graph) -> list[Graph]:
    """Return ``graph`` and all whose tensors may be used in it, each before those whose tensors it uses."""
    found: dict[Graph, None] = {}

    def visit(one: Graph | None) -> None:
        if one is not None and one not in found:
            visit(one.parent)
            if isinstance(one, BackwardGraph):
                visit(one.forward)
            found[one] = None

    visit(graph)
    return list(reversed(found))


def links(graph: Graph) -> list[tuple[Tensor, Tensor]]:
    """Return ``(tensor of another graph, what stands for it here)`` for all that ``graph`` uses."""
    asked = graph.asked() if isinstance(graph, BackwardGraph) else []
    known = {here for _, here in asked}
    return asked + [(outer, inner) for outer, inner in graph.captured_inputs() if inner not in known]


def within(graphs: Iterable[Graph], tensor: Tensor) -> Tensor | None:
    """Return ``tensor`` if it is a value or of one of ``graphs``, or its copy in one of them;
    ``None`` if it is foreign."""
    graphs = list(graphs)
    if tensor.graph is None or tensor.graph in graphs:
        return tensor
    copies = (twin(g.forward, tensor) for g in graphs if isinstance(g, BackwardGraph))
    return next((copy for copy in copies if copy is not None), None)
