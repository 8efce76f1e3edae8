"""Element by element operations on large arrays that generated code computes together, block by block.

One operation after the other goes through memory once for each, on one thread. A *chain* is computed block by block:
what lies between its operations stays in the cache, and several threads take blocks (``blocks.in_blocks``).
"""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.cost import DIVIDED, estimate, is_divisible
from ..base.dataclass import dataclass, field
from ..base.shapes import TensorShape
from ..ir.graph import CONST, PARAMETER, Graph, Node
from ..ir.tensor import Tensor
from ..ops.indexing import SET_ITEM

#: arrays with fewer elements are not divided
MIN_ELEMENTS = DIVIDED
#: nor is work that takes fewer nanoseconds
MIN_COST = 300_000.0


@dataclass(eq=False)
class Chain:
    """Nodes of one graph whose results all have one shape, in order.

    Attributes
    ----------
    nodes : list of Node
        They are computed where the last of them stands.
    arrays, scalars : list of Tensor
        What they read from outside.
    results : list of Tensor
        What others read of them.
    """

    nodes: list[Node] = field(default_factory=list)
    arrays: list[Tensor] = field(default_factory=list)
    scalars: list[Tensor] = field(default_factory=list)
    results: list[Tensor] = field(default_factory=list)


def find_chains(graph: Graph) -> dict[Node, Chain]:
    """Return the chain of each node that is in one, in ``graph`` and the graphs inside it."""
    found: dict[Node, Chain] = {}
    pending = [graph]
    while pending:
        current = pending.pop()
        for nodes in _runs(current):
            if sum(map(estimate, nodes)) >= MIN_COST:
                chain = _chain(current, nodes)
                found.update(dict.fromkeys(nodes, chain))
        pending += [sub for node in current.nodes for sub in node.subgraphs]
    return found


def _divides(node: Node) -> bool:
    return is_divisible(node, MIN_ELEMENTS)


def _runs(graph: Graph) -> Iterator[list[Node]]:
    """Yield nodes that can be computed together where the last of them stands: nothing in between reads them.

    Nor does anything in between write to an array that they read; in large arrays only what is ``Op.into``, and
    element assignments, ever write.
    """
    run: list[Node] = []
    made: set[Tensor] = set()
    shape: TensorShape | None = None
    for node in graph.nodes:
        if node.op in (PARAMETER, CONST):
            continue
        if _divides(node) and (shape is None or node.outputs[0].shape == shape):
            shape = node.outputs[0].shape
            run.append(node)
            made.add(node.outputs[0])
            continue
        reads = any(t in made for t in (*node.inputs, *node.control_inputs))
        writes = (node.op.into is not None and node.outputs[0].shape.rank != 0) or node.op is SET_ITEM
        if reads or writes or node.op.effect or node.op.stateful or node.subgraphs:
            if run:
                yield run
            run, made, shape = (
                ([node], {node.outputs[0]}, node.outputs[0].shape) if _divides(node) else ([], set(), None)
            )
    if run:
        yield run


def _chain(graph: Graph, nodes: list[Node]) -> Chain:
    members = set(nodes)
    outside = {t for n in graph.nodes if n not in members for t in (*n.inputs, *n.control_inputs)}
    outside.update(graph.outputs)
    read = dict.fromkeys(t for node in nodes for t in node.inputs if t.op not in members)
    results = [node.outputs[0] for node in nodes if node.outputs[0] in outside]
    return Chain(nodes, [t for t in read if t.shape.rank != 0], [t for t in read if t.shape.rank == 0], results)
