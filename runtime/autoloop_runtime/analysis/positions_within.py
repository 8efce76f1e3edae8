"""Which nodes in the body of a loop cannot fail because of what its counter shows: elements of an array that are no
more than there are iterations.
"""

from __future__ import annotations

from ..ir.graph import Node
from ..ir.tensor import Tensor
from ..ops.index import Input, Slice
from ..ops.indexing import GETITEM
from .failure import can_fail
from .induction import constant_step, first_value, trip_count, widened
from .uses import place_of


def can_fail_in(node: Node, loop: Node | None) -> bool:
    """Return true unless the node is known to give a value for all inputs, or for those that it has in the body of
    ``loop``."""
    if not can_fail(node):
        return False
    return loop is None or node.op is not GETITEM or node.graph is not loop.attrs["body"] or not _is_within(node, loop)


def _is_within(node: Node, loop: Node) -> bool:
    """Return whether a part of an array is named by slices, known numbers and counters that stay within it."""
    shape, entries, given = node.inputs[0].shape, node.attrs["index"].entries, node.inputs[1:]
    if not shape.is_fully_defined() or len(entries) > len(shape.as_tuple()):
        return False
    for entry, extent in zip(entries, shape.as_tuple()):
        if isinstance(entry, Slice):
            if any(isinstance(part, Input) for part in (entry.start, entry.stop, entry.step)):
                return False
        elif isinstance(entry, Input):
            if not _stays_within(given[entry.position], extent, loop):
                return False
        elif type(entry) is not int or not -extent <= entry < extent:
            return False
    return True


def _stays_within(tensor: Tensor, extent: int, loop: Node) -> bool:
    """Return whether a number is a position among so many in every iteration."""
    number = widened(tensor)
    k = place_of(loop.attrs["body"].inputs[: loop.attrs["n_vars"]], number)
    if k is None or number.shape.rank != 0:
        return False
    trips, first, step = trip_count(loop), first_value(loop, k), constant_step(loop, k)
    if trips is None or first is None or step is None:
        return False
    if trips == 0:
        return True
    last = first + step * (trips - 1)
    return -extent <= min(first, last) and max(first, last) < extent
