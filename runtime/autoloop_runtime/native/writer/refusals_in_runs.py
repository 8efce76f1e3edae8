"""Which checks of machine code may fail where NumPy goes on: whoever runs the function then begins it anew."""

from __future__ import annotations

from ...ir.graph import Node
from ...ops.index import Input, Slice
from .context import Check
from .registry import entry_of


def may_refuse(check: Check) -> str:
    """Return why machine code could not go on where ``check`` has failed and the kernel raises nothing; empty if the
    kernel always raises."""
    node = check.node
    if _has_moving_slices(node):
        return "a slice is cut short where the array ends, so its extent depends on values"
    entry = entry_of(node.op)
    return "" if entry is None else entry.refuses


def _has_moving_slices(node: Node) -> bool:
    """Return whether values say where a slice of the index of ``node`` begins or ends: NumPy cuts it short."""
    entries = node.attrs["index"].entries if "index" in node.attrs else ()
    ends = [end for e in entries if isinstance(e, Slice) for end in (e.start, e.stop, e.step)]
    return any(isinstance(end, Input) for end in ends)
