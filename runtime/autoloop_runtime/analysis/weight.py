"""Which nodes are worth handing to another thread.

Handing a node over costs some ten microseconds; a kernel for which that is much is cheaper where its inputs are.
"""

from __future__ import annotations

import enum

from ..ir.graph import Node
from ..ir.prices import Price
from .aliasing import is_fresh
from .cost import HEAVY, estimate, sized
from .sizes import bytes_of, may_hold_memory

#: where no static shape tells, arrays with more elements than this make a kernel heavy
ELEMENTS = 16_384


#: arrays with fewer bytes than this may be in a cache when they are read again
BULKY = 1 << 25


class Weight(enum.IntEnum):
    """How costly a node is, as far as static shapes tell."""

    LIGHT = 0
    #: known only when the inputs are there
    UNKNOWN = 1
    HEAVY = 2


def weigh(node: Node) -> Weight:
    """Return the weight of a node of the structured graph."""
    sizes = [t.shape.num_elements() for t in sized(node)]
    known = [s for s in sizes if s is not None]
    if len(known) < len(sizes):
        return Weight.HEAVY if known and max(known) > ELEMENTS else Weight.UNKNOWN
    return Weight.HEAVY if estimate(node) > HEAVY else Weight.LIGHT


def is_bulky(node: Node) -> bool:
    """Return whether ``node`` does little but go through memory that no cache holds, so that another one beside it
    gains little."""
    if node.op.traits.price not in (Price.ARITHMETIC, Price.PART, Price.PICK):
        return False
    return any((bytes_of(t) or 0) >= BULKY for t in node.outputs)


def holds_memory(node: Node) -> bool:
    """Return whether an input may be large, or a part of what is, so that it must be dropped as soon as it has been
    used."""
    return any(may_hold_memory(t) or (t.shape.rank != 0 and not is_fresh(t)) for t in node.inputs)
