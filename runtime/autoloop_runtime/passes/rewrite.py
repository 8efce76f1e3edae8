"""Copying a graph while changing it: the one way passes make new graphs of old ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..graph import CONST, PARAMETER, Graph, Node
from ..tensor import Tensor


class Copy:
    """A graph being copied, node by node, by a *visitor*.

    The visitor is called with each node in order and must say what stands for its outputs: by ``keep`` (the
    same node again), ``constant`` or ``replace``. ``keep`` copies the graphs inside a node with the same visitor.

    Attributes
    ----------
    graph : Graph
        The new graph.
    of : dict
        Tensor of the old graph -> tensor of the new one.
    """

    def __init__(self, source: Graph, visit: Visit, parent: Graph | None = None) -> None:
        self.source = source
        self.visit = visit
        self.graph = Graph(source.prefix, parent, source.ordered)
        self.graph.collections = source.collections
        self.of: dict[Tensor, Tensor] = {}

    def inputs(self, node: Node) -> list[Tensor]:
        """What stands for the inputs of ``node``."""
        return [self.of[t] for t in node.inputs]

    def keep(
        self,
        node: Node,
        inputs: Sequence[Tensor] | None = None,
        attrs: Mapping[str, Any] | None = None,
        outputs: Sequence[int] | None = None,
    ) -> Node:
        """Copy ``node``.

        Parameters
        ----------
        inputs : sequence of Tensor, optional
            Other inputs, of the new graph.
        attrs : mapping, optional
            Other attributes; by default the same, graphs among them copied.
        outputs : sequence of int, optional
            Which outputs the new node has; by default all.
        """
        if inputs is None:
            inputs = self.inputs(node)
        if attrs is None:
            attrs = self._attrs(node)
        if outputs is None:
            outputs = range(len(node.outputs))
        kept = [node.outputs[i] for i in outputs]
        control = tuple([self.of[t] for t in node.control_inputs])
        specs = [(t.dtype, t.shape) for t in kept]
        made = Node(self.graph, node.op, tuple(inputs), attrs, specs, node.name, node.location, control)
        made.declared = {j: node.declared[i] for j, i in enumerate(outputs) if i in node.declared}
        self.graph.nodes.append(made)
        self.of.update(zip(kept, made.outputs))
        return made

    def _attrs(self, node: Node) -> Mapping[str, Any]:
        if not node.subgraphs:
            return node.attrs
        return {
            key: rewrite(value, self.visit, self.graph) if isinstance(value, Graph) else value
            for key, value in node.attrs.items()
        }

    def replace(self, node: Node, tensors: Sequence[Tensor]) -> None:
        """Let ``tensors`` of the new graph stand for the outputs of ``node``."""
        self.of.update(zip(node.outputs, tensors))

    def constant(self, node: Node, value: Any) -> Tensor:
        """A constant in place of ``node``, under its name."""
        output = node.outputs[0]
        made = Node(
            self.graph, CONST, (), {"value": value}, [(output.dtype, type(output.shape)(value.shape))],
            node.name, node.location,
        )  # fmt: skip
        self.graph.nodes.append(made)
        self.of[output] = made.outputs[0]
        return made.outputs[0]

    def inline(self, graph: Graph, args: Sequence[Tensor]) -> list[Tensor]:
        """Visit the nodes of ``graph`` here, with ``args`` for its inputs; gives what stands for its outputs."""
        self.of.update(zip(graph.inputs, args))
        for node in graph.nodes:
            if node.op is not PARAMETER or node.outputs[0] not in self.of:
                self.visit(self, node)
        return [self.of[t] for t in graph.outputs]

    def finish(self) -> Graph:
        """The new graph, with inputs and outputs."""
        source, graph = self.source, self.graph
        graph.inputs = [self.of[t] for t in source.inputs]
        graph.outputs = [self.of[t] for t in source.outputs]
        graph.token = self.of.get(source.token) if source.token is not None else None
        return graph


Visit = Callable[[Copy, Node], object]


def rewrite(graph: Graph, visit: Visit, parent: Graph | None = None) -> Graph:
    """A copy of ``graph`` as ``visit`` makes it; see ``Copy``."""
    copy = Copy(graph, visit, parent)
    for node in graph.nodes:
        visit(copy, node)
    return copy.finish()


def is_pure(node: Node) -> bool:
    """True if the node does nothing but compute plain values from its inputs.

    Structured nodes and what touches TensorArrays do not count, nor do nodes with promises to check or with
    control inputs.
    """
    return not (
        node.op.effect or node.op.stateful or node.op is PARAMETER or node.declared or node.control_inputs
        or node.subgraphs or any(t.dtype.kind == "O" for t in (*node.inputs, *node.outputs))
    )  # fmt: skip


def constant_of(tensor: Tensor) -> Any:
    """The value of a constant, ``None`` for any other tensor."""
    node = tensor.node
    return node.attrs["value"] if node is not None and node.op is CONST else None


def subgraph(graph: Graph, feeds: Sequence[Tensor], fetches: Sequence[Tensor]) -> Graph:
    """The part of ``graph`` that computes ``fetches`` from ``feeds``, as a graph with inputs and outputs.

    Raises
    ------
    ValueError
        If a placeholder is needed that is not fed.
    """
    fed = set(feeds)
    live = {t for t in fetches if t not in fed}
    needed: set[Node] = set()
    for node in reversed(graph.nodes):
        if any(t in live for t in node.outputs):
            needed.add(node)
            live.update(t for t in (*node.inputs, *node.control_inputs) if t not in fed)
    copy = Copy(graph, Copy.keep)
    for tensor in feeds:
        copy.of[tensor] = copy.graph.parameter(tensor.dtype, tensor.shape, tensor.op.name)
    for node in graph.nodes:
        if node in needed:
            if node.op is PARAMETER:
                raise ValueError(f"placeholder {node.outputs[0].name!r} needs a value: feed it")
            given = {t: copy.of[t] for t in node.outputs if t in fed}
            copy.keep(node)
            copy.of.update(given)
    copy.graph.outputs = [copy.of[t] for t in fetches]
    return copy.graph
