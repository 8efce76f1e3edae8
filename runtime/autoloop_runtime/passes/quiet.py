"""Graphs whose runs are only looked at: what has no result but an effect, as to print or to write a file, is not done.

Operations with a result are done, whatever else they do: to assign a variable, to ask a generator, ``py_function``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..analysis.inside import nodes_inside
from ..base.dataclass import replace
from ..ir.graph import Graph, Node
from ..ir.tensor import Tensor
from .rewrite import Copy


def quiet(graph: Graph, tensors: Sequence[Tensor] = ()) -> tuple[Graph, list[Tensor]]:
    """Return ``graph`` without such operations, and what stands for ``tensors`` of it; the same if it has none."""
    if not any(map(_is_heard, nodes_inside(graph))):
        return graph, list(tensors)
    copy = Copy(graph, _visit)
    for node in graph.nodes:
        _visit(copy, node)
    return copy.finish(), [copy.stands(t) for t in tensors]


def _is_heard(node: Node) -> bool:
    """Return whether a node does something, computes nothing, and the run goes on after it."""
    op = node.op
    return op.effect and op.several and len(node.outputs) == 1 and not (op.ends_run or op.graphs)


def _visit(copy: Copy, node: Node) -> None:
    if not _is_heard(node):
        copy.again(node)
        return
    op = replace(node.op, kernel=_nothing, code=None, code_of=None, callee=None, llvm=None)
    waits = [copy.stands(t) for t in node.control_inputs]
    copy.exchange(node, op, copy.inputs(node), node.attrs, node.location, waits)


def _nothing(*_: Any, **__: Any) -> tuple[()]:
    return ()
