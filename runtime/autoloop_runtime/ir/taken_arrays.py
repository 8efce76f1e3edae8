"""Arrays of other libraries that a graph takes as they are when it is built, where others would be constants of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .graph import current_graph
from .tensor import Tensor


class TakenArrays:
    """What takes them; a record of a root graph.

    Attributes
    ----------
    take : callable or None
        Gives the input that stands for an array.
    """

    def __init__(self) -> None:
        self.take: Callable[[Any], Tensor] | None = None

    def copy(self) -> TakenArrays:
        """Return one for another graph, which takes none."""
        return TakenArrays()


def taken_array(value: Any) -> Tensor | None:
    """Return the input of the graph being built that stands for an array; None if that takes none."""
    graph = current_graph()
    taken = None if graph is None else graph.root.records.get(TakenArrays)
    return None if taken is None or taken.take is None else taken.take(value)
