"""Which checks of machine code may fail where NumPy goes on: whoever runs the function then begins it anew."""

from __future__ import annotations

from ...collections import tensor_array_ops as array_ops
from ...ir.graph import Node
from ...ops.index import Input, Slice
from ..typing.adjoints import TABLES
from .context import Check
from .registry import entry_of


def may_refuse(check: Check) -> str:
    """Return why machine code could not go on where ``check`` has failed and the kernel raises nothing; empty if the
    kernel always raises."""
    node = check.node
    if node.op in TABLES:
        return "how many elements the collection has is not known"
    if node.op is array_ops.WRITE:
        return "an element is written behind the end of a TensorArray that grows"
    if _has_moving_slices(node):
        return "a slice is cut short where the array ends, so its extent depends on values"
    entry = entry_of(node.op)
    if entry is not None and entry.undecided:
        return "of these values machine code cannot decide it (rounding does, or too few bits)"
    return ""


def _has_moving_slices(node: Node) -> bool:
    """Return whether values say where a slice of the index of ``node`` begins or ends: NumPy cuts it short."""
    entries = node.attrs["index"].entries if "index" in node.attrs else ()
    ends = [end for e in entries if isinstance(e, Slice) for end in (e.start, e.stop, e.step)]
    return any(isinstance(end, Input) for end in ends)
