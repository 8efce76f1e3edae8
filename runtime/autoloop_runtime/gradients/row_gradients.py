"""Gradients that are only some rows of a tensor: those of ``gather``, which then need no zeros for the other rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import ops
from ..collections.sparse import IndexedSlices
from ..ir.convert import convert_to_tensor
from ..ir.graph import Node
from ..ir.tensor import Tensor
from ..ops.indexing import INDEX_ADD
from ..ops.shape_queries import shape_of
from .activity import Key
from .reversal import ROW


def row_parts(parts: Sequence[Tensor]) -> list[Node] | None:
    """Return the nodes that made ``parts``, if each of them adds rows into zeros."""
    nodes = [p.node for p in parts if p.node is not None and p.node.op is INDEX_ADD]
    return nodes if nodes and len(nodes) == len(parts) and all(map(_adds_rows, nodes)) else None


def _adds_rows(node: Node) -> bool:
    """Return whether the one index says which rows; a mask says it of elements, and how many only at run time."""
    return bool(node.attrs["index"] == ROW and node.inputs[2].dtype.kind in "iu")


def slices(nodes: Sequence[Node], like: Key) -> IndexedSlices:
    """Return the sum of what ``nodes`` add, without the zeros; a gradient of ``like``."""
    made = [rows(n.inputs[1], n.inputs[2], like) for n in nodes]
    total = made[0]
    for other in made[1:]:
        total = total + other
    return total


def rows(values: Tensor, indices: Tensor, like: Key) -> IndexedSlices:
    """Return ``values`` at ``indices`` (of any rank,
    negative ones from the end) as slices of a tensor like ``like``."""
    shape = shape_of(convert_to_tensor(like))
    extent = shape[0]
    inner = list(shape[1:]) if like.shape.is_fully_defined() else shape[1:]
    flat = ops.reshape(indices, [-1])
    flat = ops.where(ops.less(flat, 0), ops.add(flat, ops.cast(extent, flat.dtype)), flat)
    target: Any = [-1, *inner] if isinstance(inner, list) else ops.concat([[-1], inner], 0)
    vector: Any = list(shape) if isinstance(inner, list) else shape
    return IndexedSlices(ops.reshape(values, target), flat, vector)
