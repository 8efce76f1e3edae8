"""Which nodes are worth handing to another thread.

Handing a node over costs some ten microseconds; a kernel below that is cheaper where its inputs are.
"""

from __future__ import annotations

import enum

from ..base.dtypes import variant
from ..ir.graph import Node
from ..ops.effects import PY_FUNCTION
from .cost import HEAVY
from .sizes import may_hold_memory

#: arrays with more elements than this make a kernel heavy
ELEMENTS = 16_384


class Weight(enum.IntEnum):
    """How costly a node is, as far as static shapes tell."""

    LIGHT = 0
    #: known only when the inputs are there
    UNKNOWN = 1
    HEAVY = 2


def weigh(node: Node) -> Weight:
    """Return the weight of a node of the structured graph."""
    op = node.op
    if op is PY_FUNCTION:  # no size says how long a user's function takes, and it may block
        return Weight.HEAVY
    data = [t for t in (*node.inputs, *node.outputs) if t.dtype != variant]
    sizes = [t.shape.num_elements() for t in data]
    known = [s for s in sizes if s is not None]
    if len(known) < len(sizes):
        return Weight.HEAVY if known and max(known) > ELEMENTS else Weight.UNKNOWN
    if op.cost is not None:
        inputs = node.inputs[:-1] if op.effect else node.inputs
        return Weight.HEAVY if op.cost(*inputs, **node.attrs) > HEAVY else Weight.LIGHT
    return Weight.HEAVY if known and max(known) > ELEMENTS else Weight.LIGHT


def holds_memory(node: Node) -> bool:
    """Return whether an input may be large, so that it must be dropped as soon as it has been used."""
    return any(map(may_hold_memory, node.inputs))
