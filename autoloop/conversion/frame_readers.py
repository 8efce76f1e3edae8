"""What belongs to the frame it stands in: calls that see its variables, and `yield`, which leaves it for a while.

What holds one of these cannot move into a function of ours.
"""

from __future__ import annotations

import gast

from .known_names import FRAME_READERS
from .nodes import Node, children

YIELDS = (gast.Yield, gast.YieldFrom)


def is_frame_reader(node: Node) -> bool:
    """Return whether a node is such a call."""
    if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Name) or node.func.id not in FRAME_READERS:
        return False
    given = [one for one in node.args if not isinstance(one, gast.Starred)]
    return len(given) < FRAME_READERS[node.func.id]


def reads_frame(expression: Node) -> bool:
    """Return whether an expression holds such a call, or a `yield` (functions inside it have frames of their own)."""
    if is_frame_reader(expression) or isinstance(expression, YIELDS):
        return True
    return not isinstance(expression, gast.Lambda) and any(map(reads_frame, children(expression)))
