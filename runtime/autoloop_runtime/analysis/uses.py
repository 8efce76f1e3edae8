"""Who reads what, and where a value is read for the last time.

Positions are indices into ``graph.nodes``; ``END`` is where the graph's outputs are read.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from ..ir.graph import Graph, Node
from ..ir.tensor import Tensor

END = sys.maxsize
#: a node, and which of its inputs, ``CONTROL`` if it only waits; of a graph's output ``None``, and which of them
Read: TypeAlias = tuple[Node | None, int]
CONTROL = -1


class Readers:
    """What reads each tensor, in order: ``nodes``, one after the other, then ``outputs``.

    Parameters
    ----------
    nodes : iterable of Node
    outputs : iterable of Tensor, optional
    control : bool
        To wait for a tensor counts, too.
    computed_at : mapping
        Nodes that are not computed, and read nothing, where they stand, but where another one does, after them -> that.

    Attributes
    ----------
    place : dict
        The positions of the nodes, or of those where they are computed.
    """

    def __init__(
        self, nodes: Iterable[Node], outputs: Iterable[Tensor] = (), control: bool = True,
        computed_at: Mapping[Node, Node] = MappingProxyType({}),
    ) -> None:  # fmt: skip
        self.place: dict[Node, int] = {}
        self._reads: dict[Tensor, list[Read]] = {}
        for node in nodes:
            self.place[node] = len(self.place)
            for i, tensor in enumerate(node.inputs):
                self._reads.setdefault(tensor, []).append((node, i))
            if control:
                for tensor in node.control_inputs:
                    self._reads.setdefault(tensor, []).append((node, CONTROL))
        for j, tensor in enumerate(outputs):
            self._reads.setdefault(tensor, []).append((None, j))
        moved = {node: self.place[at] for node, at in computed_at.items() if node in self.place}
        if moved:
            self.place.update(moved)
            for reads in self._reads.values():
                reads.sort(key=lambda read: END if read[0] is None else self.place[read[0]])

    def __iter__(self) -> Iterator[Tensor]:
        """Iterate over what is read at all."""
        return iter(self._reads)

    def __contains__(self, tensor: object) -> bool:
        """Return whether anything reads ``tensor``."""
        return tensor in self._reads

    def of(self, tensor: Tensor) -> Sequence[Read]:
        """Return what reads ``tensor``, in order."""
        return self._reads.get(tensor, ())

    def nodes(self, tensor: Tensor) -> set[Node | None]:
        """Return the nodes that read ``tensor``; ``None`` among them if it is an output."""
        return {node for node, _ in self.of(tensor)}

    def count(self, tensor: Tensor) -> int:
        """Return how often ``tensor`` is read."""
        return len(self.of(tensor))

    def only(self, tensor: Tensor) -> Read | None:
        """Return what reads ``tensor``, if that is done once."""
        reads = self.of(tensor)
        return reads[0] if len(reads) == 1 else None

    def last(self, tensor: Tensor, at: Mapping[Node, int] | None = None) -> int:
        """Return the position of the last read of ``tensor``, -1 if there is none.

        ``at``: where nodes read, if not where they stand.
        """
        where = self.place if at is None else at
        if (read := self.only(tensor)) is not None:  # what most are
            return END if read[0] is None else where[read[0]]
        return max([END if node is None else where[node] for node, _ in self.of(tensor)], default=-1)


def readers(graph: Graph) -> Readers:
    """Return what reads each tensor of ``graph``."""
    return Readers(graph.nodes, graph.outputs)


def place_of(tensors: Iterable[Tensor], tensor: Tensor) -> int | None:
    """Return where ``tensor`` is first among ``tensors``, ``None`` if it is not there (``==`` of tensors is an
    operation, so ``list.index`` is no use)."""
    return next((i for i, t in enumerate(tensors) if t is tensor), None)


def places(tensors: Sequence[Tensor], tensor: Tensor) -> list[int]:
    """Return everywhere that ``tensor`` is among ``tensors``."""
    return [i for i, t in enumerate(tensors) if t is tensor]
