"""What loops and branches pass on as it is: loop variables that never change, results that always equal an input."""

from __future__ import annotations

from ..ir.graph import Graph, Node
from ..ir.structured import WHILE
from ..ir.tensor import Tensor
from .uses import place_of


def is_fixed(node: Node, k: int) -> bool:
    """Return whether the body of the loop ``node`` plainly gives its variable ``k`` back: no iteration changes it."""
    body = node.attrs["body"]
    return body.outputs[k] is body.inputs[k]


class Origins:
    """Where the results of structured nodes come from, through loops and branches inside; each is found once."""

    def __init__(self) -> None:
        self._sources: dict[tuple[Node, int], int | None] = {}

    def source(self, node: Node, j: int) -> int | None:
        """Return the input that output ``j`` of a structured node always equals, if there is one.

        The initial value of a loop variable that never changes; what both branches of a Cond pass on.
        """
        known = self._sources.get((node, j), -1)
        if known == -1:
            known = self._variable(node, j) if node.op is WHILE else self._result(node, j)
            self._sources[node, j] = None if j in node.declared else known
        return self._sources[node, j]

    def origin(self, tensor: Tensor) -> Tensor:
        """Return the first tensor of its graph that ``tensor`` always equals."""
        while tensor.op.subgraphs:
            place = self.source(tensor.op, tensor.index)
            if place is None:
                break
            tensor = tensor.op.inputs[place]
        return tensor

    def fixed(self, node: Node, k: int) -> bool:
        """Return whether input ``k`` of a While is a loop variable that never changes."""
        return k < int(node.attrs["n_vars"]) and self.source(node, k) is not None

    def _variable(self, node: Node, k: int) -> int | None:
        body = node.attrs["body"]
        place = self._place(body, body.outputs[k])
        if place is None or k == node.attrs["token"] or not self._equal(node, place, k):
            return None
        return k if node.inputs[k].shape.is_subsumed_by(node.attrs["invariants"][k]) else None

    def _equal(self, node: Node, place: int, k: int) -> bool:
        """Return whether input ``place`` of a While, in every iteration, is the initial value of variable ``k``."""
        if place == k:
            return True
        return place >= node.attrs["n_vars"] and self.origin(node.inputs[place]) is self.origin(node.inputs[k])

    def _result(self, node: Node, j: int) -> int | None:
        then, other = (self._place(node.attrs[key], node.attrs[key].outputs[j]) for key in ("then", "else"))
        return None if then is None or then != other else then + 1

    def _place(self, graph: Graph, tensor: Tensor) -> int | None:
        """Return which input of ``graph`` the tensor always equals."""
        origin = self.origin(tensor)
        return place_of(graph.inputs, origin)
