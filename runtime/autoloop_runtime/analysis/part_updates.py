"""Which operations give a part of an array its next value: ``a[1:] += b``, in a graph three nodes.

What is read of the array, computed with and written back to the same place can be computed in that place.
"""

from __future__ import annotations

from ..ir.graph import Node
from ..ir.tensor import Tensor
from ..ops.index import Slice
from ..ops.indexing import SET_ITEM
from .aliasing import gathers, reads_part, writes_part
from .uses import Readers


def updated_part(reading: Readers, node: Node) -> tuple[Node, int] | None:
    """Return what computes the value that ``node`` writes to a part of an array, and which of its inputs is that part
    before; None if it is no such write, or others read that value."""
    if not writes_part(node) or node.inputs[1] not in reading or reading.only(node.inputs[1]) is None:
        return None
    value = node.inputs[1]
    made = value.node
    if made is None or made not in reading.place or made.op.into is None or not made.op.traits.elementwise:
        return None
    if made.declared or made.control_inputs or made.op.into.count("{out}") != 1:
        return None
    for k, part in enumerate(made.inputs):
        if part.dtype == value.dtype and _has_form_of(value, part, made) and _is_part(reading, part, node):
            return made, k
    return None


def is_whole(node: Node) -> bool:
    """Return whether the index of ``node`` names all of an array: ``x[:]``, ``x[...]``."""
    return all(entry is Ellipsis or entry == Slice(None, None, None) for entry in node.attrs["index"].entries)


def _has_form_of(value: Tensor, part: Tensor, made: Node) -> bool:
    """Return whether an operation gives an array of the form of one of its operands."""
    if value.shape.rank in (0, None):
        return False
    if value.shape.is_fully_defined():
        return part.shape == value.shape
    # one that is larger along an axis would not fit into the part, either
    return part.shape.rank == value.shape.rank


def _is_part(reading: Readers, part: Tensor, node: Node) -> bool:
    """Return whether ``part`` is read of the array of ``node`` where that writes, for nobody but one operation."""
    if part is node.inputs[0]:
        return node.op is SET_ITEM and bool(node.attrs["index"].entries == (Ellipsis,))
    return reading.only(part) is not None and reads_part(part.op, node) and not gathers(part.op)
