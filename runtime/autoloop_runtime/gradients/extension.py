"""What gradients have added to a graph, and know of it: the one record of how a forward graph was extended.

It is kept with the graph it is about (``Graph.record``), so that what was added once is found again by the next
gradient. Nodes are never changed: an extended loop or conditional is another node in place of the first
(``Node.instead``), with more variables or results behind those it had. A graph is extended by one thread: the one that
traces it, or, when that is over, the one that holds the lock of ``compiled_calls``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..base.dataclass import dataclass, field
from ..ir.graph import Graph
from ..ir.op import Op
from ..ir.tensor import Tensor


@dataclass(eq=False)
class Extension:
    """What was added to a graph, or is known of it.

    Attributes
    ----------
    original : int or None
        Of a loop's body: the number of variables of the loop itself.
    trips, stores : int or None
        Of a loop's body: the position of the variable that counts iterations, and of the first checkpoint store.
    length : int or None
        Of a loop's body: how many iterations a segment between checkpoints has.
    saved : dict
        Of a loop's body: its tensor -> the position of the stack with the values it took.
    complete : dict
        Of a loop's body: the position of a variable -> its stack with the final value on top.
    results : dict
        Of a branch: its tensor -> the position of that among the results.
    described : list
        ``(op, tensor, attributes, result)`` of what was asked about tensors of the graph instead of saving them.
    sources : list
        ``(graph, tensor of it -> its copy)`` of the graphs whose nodes were copied into this one.
    """

    original: int | None = None
    trips: int | None = None
    stores: int | None = None
    length: int | None = None
    saved: dict[Tensor, int] = field(default_factory=dict)
    complete: dict[int, Tensor] = field(default_factory=dict)
    results: dict[Tensor, int] = field(default_factory=dict)
    described: list[tuple[Op, Tensor, Mapping[str, Any], Tensor]] = field(default_factory=list)
    sources: list[tuple[Graph, dict[Tensor, Tensor]]] = field(default_factory=list)

    def copy(self) -> Extension:
        """Return the same, to come back to."""
        sources = [(graph, dict(of)) for graph, of in self.sources]
        return Extension(
            self.original, self.trips, self.stores, self.length, dict(self.saved), dict(self.complete),
            dict(self.results), list(self.described), sources,
        )  # fmt: skip

    def carried(self, of: Mapping[Tensor, Tensor]) -> Extension:
        """Return what is true of a whole copy of the graph, too; ``of`` has the copies of its tensors."""
        saved, results = ({of[t]: position for t, position in table.items()} for table in (self.saved, self.results))
        return Extension(self.original, self.trips, self.stores, self.length, saved, results=results)


def extension(graph: Graph) -> Extension:
    """Return what is known of ``graph``."""
    return graph.record(Extension)
