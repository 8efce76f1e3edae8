"""What is needed for given results: ``needed_nodes`` of one graph, ``Needed`` down to loop variables and branches.

``needed_nodes`` takes a structured node as a whole: who cuts a piece out of a graph, or copies one, asks no more.

``Needed`` is for who runs a graph as it is. It is one worklist over all sub-graphs, so that the cost is linear however
deep loops nest. A loop is pruned per variable: a variable is needed if its final value is, or if the condition or the
next value of another needed variable depends on it. So a fetched counter never pulls in the heavy chain beside it.

Two others ask something else. ``passes.prune`` makes a smaller graph, in which a variable that never changes needs
neither the loop nor its condition: what each result of a loop needs is a relation there, found for all results at once.
``gradients.activity`` asks what a *derivative* passes through: not predicates, nor what is no real number.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable

from ..ir.graph import Graph, Node
from ..ir.structured import COND, WHILE
from ..ir.tensor import Tensor
from .passed_on import Origins


def needed_nodes(
    targets: Iterable[Tensor],
    given: Container[Tensor] = (),
    also: Iterable[Node] = (),
    among: Container[Node] | None = None,
) -> set[Node]:
    """Return the nodes that compute ``targets``, or that those wait for, in all graphs that they are of.

    Parameters
    ----------
    given : container of Tensor
        What need not be computed.
    also : iterable of Node
        Nodes that are needed anyhow.
    among : container of Node, optional
        The nodes that are looked at; by default all.
    """
    found: set[Node] = set()
    pending = [t.op for t in targets if t not in given]
    pending += also
    while pending:
        node = pending.pop()
        if node not in found and (among is None or node in among):
            found.add(node)
            pending += [t.op for t in (*node.inputs, *node.control_inputs) if t not in given]
    return found


class Needed:
    """The tensors (of all sub-graphs) that ``fetches`` need, given that ``feeds`` are supplied.

    With ``origins`` what both branches pass on needs neither of them, nor what decides: so it is once passes have run.

    Attributes
    ----------
    tensors : set of Tensor
        Everything needed; for a structured node the needed outputs.
    nodes : set of Node
        The nodes that compute them.
    variables : dict of Node to set of int
        For each needed ``While`` node its needed loop variables.
    """

    def __init__(
        self, fetches: Iterable[Tensor], feeds: Collection[Tensor] = (), origins: Origins | None = None
    ) -> None:
        self._origins = origins
        self.tensors: set[Tensor] = set()
        self.nodes: set[Node] = set()
        self.variables: dict[Node, set[int]] = {}
        self._feeds = frozenset(feeds)
        # sub-graph -> the structured nodes it is part of (one, unless somebody shares a sub-graph)
        self._owners: dict[Graph, list[Node]] = {}
        self._parameters: dict[Tensor, tuple[Graph, int]] = {}
        self._todo: list[Tensor] = list(fetches)
        while self._todo:
            tensor = self._todo.pop()
            if tensor not in self.tensors:
                self.tensors.add(tensor)
                if tensor.node is not None and tensor not in self._feeds:
                    self._visit(tensor, tensor.node)

    def _visit(self, tensor: Tensor, node: Node) -> None:
        self.nodes.add(node)
        if node.op is WHILE:
            self._need_variable(node, tensor.index)
        elif self._origins and node.op is COND and (place := self._origins.source(node, tensor.index)) is not None:
            self._todo.append(node.inputs[place])
        elif node.op is COND:
            self._own(node)
            self._todo.append(node.inputs[0])
            self._todo.extend(g.outputs[tensor.index] for g in (node.attrs["then"], node.attrs["else"]))
        elif tensor in self._parameters:
            graph, position = self._parameters[tensor]
            for owner in self._owners[graph]:
                self._enter(owner, graph, position)
        else:
            self._todo.extend(node.inputs)
        self._todo.extend(node.control_inputs)

    def _need_variable(self, node: Node, k: int) -> None:
        body = node.attrs["body"]
        needed = self.variables.setdefault(node, set())
        if not needed:
            self.nodes.add(node)
            self._own(node)
            self._todo.append(node.attrs["cond"].outputs[0])
            self._todo.extend(node.control_inputs)
        if k not in needed:
            needed.add(k)
            self._todo += (node.inputs[k], body.outputs[k])
            if k == node.attrs.get("token") and len(node.attrs["cond"].outputs) > 1:
                self._todo.append(node.attrs["cond"].outputs[1])

    def _enter(self, owner: Node, graph: Graph, position: int) -> None:
        """Parameter ``position`` of ``graph`` is needed: so is what ``owner`` passes for it."""
        if owner.op is WHILE:
            if position < owner.attrs["n_vars"]:
                self._need_variable(owner, position)
            self._todo.append(owner.inputs[position])
        else:
            self._todo.append(owner.inputs[position + 1])

    def _own(self, node: Node) -> None:
        for graph in node.subgraphs:
            owners = self._owners.setdefault(graph, [])
            if node in owners:
                continue
            owners.append(node)
            for position, parameter in enumerate(graph.inputs):
                self._parameters[parameter] = (graph, position)
                if parameter in self.tensors:
                    self._enter(node, graph, position)
