"""Which checks of machine code may fail where NumPy goes on: whoever runs the function then begins it anew."""

from __future__ import annotations

from .context import Check
from .registry import entry_of

#: why a list is not made an array where nothing says how many elements it can have
TOO_MANY = "it has more than {:,} elements, for which memory is laid out where nothing says how many there can be"


def may_refuse(check: Check) -> str:
    """Return why machine code could not go on where ``check`` has failed and the kernel raises nothing; empty if the
    kernel always raises."""
    entry = entry_of(check.node.op)
    return check.refuses or ("" if entry is None else entry.refuses)
