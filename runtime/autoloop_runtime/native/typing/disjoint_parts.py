"""Parts of one array that have no element in common: ``x[:, j]`` and ``x[:, j - 1]``, ``x[0]`` and ``x[1:]``.

What is computed of the one can be written to the other element by element, as it is computed.
"""

from __future__ import annotations

from typing import Any

from ...ir.graph import Node
from ...ops.index import Input, Slice
from .facts import Types
from .intervals import Sum, sum_of
from .moving_extents import entries_of


def are_apart(reader: Node, writer: Node, types: Types) -> bool:
    """Return whether the part that ``reader`` takes of an array is apart from the one of it that ``writer`` writes.

    Both take basic indices, which are in range where they run.
    """
    shape = types.shapes[writer.inputs[0]]
    pairs = [[e for e in entries_of(node, len(shape)) if e is not None] for node in (reader, writer)]
    return any(_differ((reader, 1, a), (writer, 2, b), extent, types) for a, b, extent in zip(*pairs, shape))


def _differ(one: tuple[Node, int, Any], other: tuple[Node, int, Any], extent: int, types: Types) -> bool:
    """Return whether no place along an axis is named by both entries."""
    if not isinstance(extent, int) or extent == 0:
        return False
    at, other_at = _index(*one, types), _index(*other, types)
    if at is not None and other_at is not None:
        return at[0] is other_at[0] and (at[1] - other_at[1]) % extent != 0
    taken, other_taken = _places(one[2], at, extent), _places(other[2], other_at, extent)
    if taken is None or other_taken is None:
        return False
    return taken[1] <= other_taken[0] or other_taken[1] <= taken[0]


def _index(node: Node, first: int, entry: Any, types: Types) -> Sum | None:
    """Return the index of one place along an axis; None if ``entry`` is a slice or cannot be told."""
    if isinstance(entry, Slice):
        return None
    if not isinstance(entry, Input):
        return None, int(entry)
    return sum_of(node.inputs[first + entry.position], types)


def _places(entry: Any, index: Sum | None, extent: int) -> tuple[int, int] | None:
    """Return the first place along an axis that ``entry`` may name and the one behind the last, if they are known."""
    if index is not None:
        base, at = index
        return None if base is not None else (at % extent, at % extent + 1)
    if not isinstance(entry, Slice):
        return None
    parts = (entry.start, entry.stop, entry.step)
    if any(isinstance(part, Input) for part in parts):
        return None
    taken = range(*slice(*parts).indices(extent))
    return (min(taken), max(taken) + 1) if taken else (0, 0)
