"""Names of nodes: each is given out once in a root graph and all that is inside it; 1.x finds nodes by them."""

from __future__ import annotations

from .node import Node
from .tensor import Tensor


class Names:
    """The names given out so far."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        #: name -> how often it was asked for
        self._counts: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._counts)

    def unique(self, name: str) -> str:
        """Return ``name``, or with a number if it was given out: ``add``, ``add_1``, ..."""
        counts = self._counts
        count = counts.get(name, 0)
        counts[name] = count + 1
        if count == 0:
            return name
        candidate = f"{name}_{count}"
        while candidate in counts:
            count += 1
            candidate = f"{name}_{count}"
        counts[name] = count + 1
        counts[candidate] = 1
        return candidate


class NamedLookup:
    """What a graph can be asked by name."""

    nodes: list[Node]
    _names: Names

    def count_of_names(self) -> int:
        """Return how many names were given out: there are so many nodes, at least, in all graphs of a root."""
        return len(self._names)

    def get_operations(self) -> list[Node]:
        """Return the nodes in the order they were made."""
        return list(self.nodes)

    def get_operation_by_name(self, name: str) -> Node:
        """Return the node called ``name`` (``KeyError`` if there is none)."""
        for node in self.nodes:
            if node.name == name:
                return node
        raise KeyError(f"the graph has no operation named {name!r} [AL507]")

    def get_tensor_by_name(self, name: str) -> Tensor:
        """Return the tensor called ``"operation:output"`` (``KeyError``/``ValueError`` if there is none)."""
        operation, colon, index = name.rpartition(":")
        if not colon or not index.isdigit():
            raise ValueError(f"a tensor's name is 'operation:output', e.g. 'add:0', not {name!r} [AL507]")
        node = self.get_operation_by_name(operation)
        if int(index) >= len(node.outputs):
            raise KeyError(f"operation {operation!r} has {len(node.outputs)} outputs, not {int(index) + 1} [AL507]")
        return node.outputs[int(index)]
