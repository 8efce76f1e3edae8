"""Which nodes can fail: what may be computed although it might not have been, or without a place to report from.

Memory that runs out does not count.
"""

from __future__ import annotations

from ..base.shapes import TensorShape
from ..ir.graph import Graph, Node
from ..ir.structured import COND
from ..ir.traits import Fails
from ..ops.index import Input, Slice
from ..ops.indexing import GETITEM
from .inside import nodes_inside

_NUMBERS = "biufc"


def can_fail(node: Node) -> bool:
    """Return true unless the node is known to give a value for all inputs of its dtypes and static shapes."""
    op, fails = node.op, node.op.traits.fails
    if fails is Fails.NEVER:
        return False
    if op.effect or op.stateful or node.declared:
        return True
    tensors = (*node.inputs, *node.outputs)
    for t in tensors:  # no expression that makes a generator: several passes ask this of each node
        if t.dtype.kind not in _NUMBERS:
            return True
    if fails is Fails.SHAPES or fails is Fails.INTEGERS:
        of_values = fails is Fails.INTEGERS and node.outputs[0].dtype.kind in "iu"
        return of_values or (len(node.inputs) > 1 and not _broadcast_surely(node))
    if op is GETITEM and _takes_slices(node):
        return False
    if fails is Fails.MAYBE or not all(t.shape.is_fully_defined() for t in tensors):
        return True
    if op.extents is not None and not tells_extents(node):
        return True
    if fails is Fails.POSITIONS and op.positions is not None:
        return bool(node.inputs[op.positions])
    return fails is Fails.NO_ELEMENTS and any(0 in t.shape.known for t in node.inputs)


def tells_extents(node: Node) -> bool:
    """Return whether all extents that an operation is asked for are known while the graph is built.

    Of others the operand may say what they have to be: whether they are that, only the run sees.
    """
    if node.op.extents is None or len(node.inputs) <= node.op.extents[1]:
        return True
    known = node.attrs[node.op.extents[0]]
    if isinstance(known, TensorShape):
        return known.is_fully_defined()
    return known is not None and None not in known


def _takes_slices(node: Node) -> bool:
    """Return whether a part is named by slices alone, which may begin and end anywhere."""
    entries, rank = node.attrs["index"].entries, node.inputs[0].shape.rank
    if (
        rank is None
        or len(entries) > rank
        or any(t.shape.rank != 0 or t.dtype.kind not in "iu" for t in node.inputs[1:])
    ):
        return False
    return all(isinstance(one, Slice) and not isinstance(one.step, Input) for one in entries)


def _broadcast_surely(node: Node) -> bool:
    """Return whether the inputs' shapes are known to go together: they are fully known, or at most one is no scalar."""
    arrays = [t for t in node.inputs if t.shape.rank != 0]
    return len(arrays) < 2 or all(t.shape.is_fully_defined() for t in arrays)


def graph_can_fail(graph: Graph) -> bool:
    """Return whether any node in ``graph``, or in a graph inside it, can fail."""
    return any(
        node.declared or not _checked_statically(node) if node.subgraphs else can_fail(node)
        for node in nodes_inside(graph)
    )


def _checked_statically(node: Node) -> bool:
    """Return whether a structured node needs no run-time check of predicate or invariants."""
    if node.op is COND:
        return node.inputs[0].shape.rank == 0
    body, invariants = node.attrs["body"], node.attrs["invariants"]
    pairs = [*zip(node.inputs, invariants), *zip(body.outputs, invariants)]
    fits = all(t.shape.is_subsumed_by(s) or t.dtype.kind == "O" for t, s in pairs)
    return fits and node.attrs["cond"].outputs[0].shape.rank == 0
