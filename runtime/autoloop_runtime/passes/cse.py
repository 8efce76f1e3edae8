"""Computing once what is computed twice in the same graph from the same inputs."""

from __future__ import annotations

from collections.abc import Hashable

from ..analysis.observable import is_pure
from ..analysis.same_steps import frozen
from ..ir.graph import CONST, Graph, Node
from .rewrite import Copy, rewrite


def eliminate_common(graph: Graph) -> Graph:
    """Return ``graph`` with nodes of the same op, inputs and attributes merged into the first of them."""
    tables: dict[Graph, dict[Hashable, Node]] = {}

    def visit(copy: Copy, node: Node) -> None:
        key = _key(copy, node)
        if key is None:
            copy.keep(node)
            return
        table = tables.setdefault(copy.graph, {})
        known = table.get(key)
        if known is None:
            table[key] = copy.keep(node)
        else:
            copy.replace(node, known.outputs)

    return rewrite(graph, visit)


def _key(copy: Copy, node: Node) -> Hashable:
    """Return what makes two nodes equal; ``None`` for a node that is not to be merged."""
    if not is_pure(node):
        return None
    if node.op is CONST:
        return frozen(node.attrs["value"])
    key = (node.op, *map(id, copy.inputs(node)))
    if not node.attrs:
        return key
    try:
        key += tuple([(name, frozen(value)) for name, value in sorted(node.attrs.items())])
        hash(key)
    except TypeError:
        return None
    return key
