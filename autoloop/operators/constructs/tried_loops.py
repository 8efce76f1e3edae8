"""Loops of Python's that are built as loops of the graph, and given up where that does not do the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoloop_runtime.ir.array_storage import Block
from autoloop_runtime.ir.graph import current_graph
from autoloop_runtime.ir.records import decided, forget_since
from autoloop_runtime.ir.rollback import mark, rollback

from ..mutation.heap_snapshot import snapshots
from ..mutation.held_before import has_changed, restore
from ..mutation.side_effects import Outside
from ..staging.container_contents import fill
from ..staging.maybe_same import MovedLists
from ..staging.raising import LeftBehind
from ..staging.staged_blocks import WrittenOut
from ..staging.standins import is_growing
from ..staging.taken_containers import leave_endless, places_in


class Tried:
    """A loop that is built into the present graph, and given up if it does not do the same as written out.

    Parameters
    ----------
    outside : Outside
        What its body changes.
    values, names : sequence
        Its variables.

    Attributes
    ----------
    graph : Graph
        Where it is built.
    block : Block
        To be entered while it is built.
    """

    def __init__(self, outside: Outside, values: Sequence[Any], names: Sequence[str]) -> None:
        graph = current_graph()
        assert graph is not None
        leave_endless(names, values)
        self.block = Block(graph, every=True)
        self.graph, self._begun, self._decided = graph, mark(graph), decided(graph)
        self._left_behind = LeftBehind in graph.root.records
        self._before, self._variables = snapshots(outside.roots, values, names)
        containers = {id(one): one for value in values for _, one in places_in(value) if not is_growing(one)}
        self._held = [(one, one.copy()) for one in containers.values()]
        self._moved = graph.record(MovedLists).copy()

    def undo(self) -> None:
        """Give it up.

        Raises
        ------
        WrittenOut
            If it has changed something that cannot be put back.
        """
        self.block.undo()
        rollback(self.graph, self._begun)
        forget_since(self.graph, self._decided)
        if not self._left_behind:
            self.graph.root.records.pop(LeftBehind, None)
        for one, held in self._held:  # lists that were to grow are marked as such
            fill(one, held)
        self.graph.records[MovedLists] = self._moved
        restore(self._before, self._variables)
        if any(map(has_changed, self._before)):
            raise WrittenOut
