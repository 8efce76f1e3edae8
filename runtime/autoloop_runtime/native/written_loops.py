"""Nodes, counted loops among them, that passes write in place of other loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ir.graph import Graph, Node
from ..ir.op import Op
from ..ir.structured import WHILE
from ..ir.tensor import Tensor

#: the dtype of what is counted
COUNTED = np.dtype(np.int64)
#: the dtype of what conditions give
BOOL = np.dtype(bool)


def node_in(graph: Graph, like: Node, op: Op, inputs: Sequence[Tensor], spec: Any, **attrs: Any) -> Tensor:
    """Put a node into ``graph``, named and placed like another; gives its output, of dtype and shape ``spec``."""
    made = Node(graph, op, tuple(inputs), attrs, [spec], name_in(graph, like), like.location)
    graph.nodes.append(made)
    return made.outputs[0]


def name_in(graph: Graph, like: Node) -> str:
    """Return a new name in ``graph`` for what is like another node."""
    return graph.unique_name(like.name.rpartition("/")[2])


def number_in(graph: Graph, value: int) -> Tensor:
    """Put a number that is counted with into ``graph``."""
    return graph.constant(COUNTED.type(value))


def loop_in(
    graph: Graph, like: Node, cond: Graph, body: Graph, inputs: Sequence[Tensor], count: int, names: Sequence[str]
) -> tuple[Tensor, ...]:  # fmt: skip
    """Put a loop of ``count`` variables into ``graph``; gives its results."""
    specs = tuple([(t.dtype, t.shape) for t in inputs[:count]])
    attrs = {
        **like.attrs, "cond": cond, "body": body, "n_vars": count, "names": tuple(names), "specs": specs,
        "invariants": tuple([shape for _, shape in specs]),
    }  # fmt: skip
    made = Node(graph, WHILE, tuple(inputs), attrs, specs, name_in(graph, like), like.location)
    graph.nodes.append(made)
    return made.outputs
