"""Changing a graph by making another: the one way passes make new graphs of old ones.

What a pass leaves as it is, nodes and whole sub-graphs, is in both graphs afterwards, so that a pass costs little more
than a look at each node. Between passes, therefore, ``Node.graph`` and ``Graph.parent`` may name an earlier version of
a graph, of the same ``lineage``; ``detached`` makes a graph that shares nothing with any other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import is_
from typing import Any

from ..base.locations import Location
from ..ir.graph import CONST, PARAMETER, Graph, Node
from ..ir.op import Op
from ..ir.tensor import Tensor


class Copy:
    """A graph being made of another, node by node, by a *visitor*.

    The visitor is called with each node in order and must say what stands for its outputs: by ``keep`` (the
    same node again), ``constant`` or ``replace``. ``keep`` visits the graphs inside a node with the same visitor.

    Attributes
    ----------
    graph : Graph
        The new graph.
    of : dict
        Tensor of the old graph -> tensor of the new one, for those that are not the same; see ``stands``.
    """

    def __init__(self, source: Graph, visit: Visit, parent: Graph | None = None) -> None:
        self.source = source
        self.visit = visit
        self.graph = Graph(source.prefix, parent, source.ordered)
        self.graph.lineage = self.lineage = source.lineage
        self.of: dict[Tensor, Tensor] = {}

    def stands(self, tensor: Tensor) -> Tensor:
        """Return what stands for ``tensor`` in the new graph."""
        return self.of.get(tensor, tensor)

    def inputs(self, node: Node) -> list[Tensor]:
        """Return what stands for the inputs of ``node``."""
        of = self.of
        return [of.get(t, t) for t in node.inputs] if of else [*node.inputs]

    def keep(
        self,
        node: Node,
        inputs: Sequence[Tensor] | None = None,
        attrs: Mapping[str, Any] | None = None,
        outputs: Sequence[int] | None = None,
        waits: Sequence[Tensor] = (),
    ) -> Node:
        """Put ``node`` into the new graph: itself if nothing about it changes, else another in its place.

        Parameters
        ----------
        inputs : sequence of Tensor, optional
            Other inputs, of the new graph.
        attrs : mapping, optional
            Other attributes; by default the same, graphs among them rewritten.
        outputs : sequence of int, optional
            Which outputs the node has in the new graph; by default all.
        waits : sequence of Tensor, optional
            What it waits for besides, of the new graph.
        """
        own = node.graph.lineage is self.lineage  # else it stood in a graph inside this one, or outside
        if own and inputs is None and attrs is None and outputs is None and not waits and self._untouched(node):
            self.graph.nodes.append(node)
            return node
        if inputs is None:
            inputs = self.inputs(node)
        if attrs is None:
            attrs = self._attrs(node)
        if outputs is None:
            outputs = range(len(node.outputs))
        control = (*self._control(node), *waits)
        if (
            own
            and len(outputs) == len(node.outputs)
            and _identical(inputs, node.inputs)
            and _equal(attrs, node.attrs)
            and _identical(control, node.control_inputs)
        ):
            self.graph.nodes.append(node)
            return node
        return self._another(node, inputs, attrs, outputs, control)

    def _untouched(self, node: Node) -> bool:
        """Return whether the node has no graphs inside, and what it takes is still the same."""
        if node.op.graphs:
            return False
        changed = self.of.keys()
        if not changed:
            return True
        return changed.isdisjoint(node.inputs) and (not node.control_inputs or changed.isdisjoint(node.control_inputs))

    def again(self, node: Node) -> Node:
        """Put a copy of ``node``, and of all graphs inside it, into the new graph."""
        every = range(len(node.outputs))
        return self._another(node, self.inputs(node), self._attrs(node), every, self._control(node))

    def _another(
        self, node: Node, inputs: Sequence[Tensor], attrs: Mapping[str, Any], outputs: Sequence[int],
        control: tuple[Tensor, ...],
    ) -> Node:  # fmt: skip
        kept = [node.outputs[i] for i in outputs]
        specs = [(t.dtype, t.shape) for t in kept]
        declared = node.declared
        if declared:
            declared = {j: declared[i] for j, i in enumerate(outputs) if i in declared}
        made = Node(self.graph, node.op, tuple(inputs), attrs, specs, node.name, node.location, control, declared)
        self.graph.nodes.append(made)
        self.of.update(zip(kept, made.outputs))
        return made

    def _control(self, node: Node) -> tuple[Tensor, ...]:
        return tuple([self.stands(t) for t in node.control_inputs]) if node.control_inputs else ()

    def _attrs(self, node: Node) -> Mapping[str, Any]:
        graphs = node.op.graphs
        if not graphs:
            return node.attrs
        return {**node.attrs, **{key: rewrite(node.attrs[key], self.visit, self.graph) for key in graphs}}

    def replace(self, node: Node, tensors: Sequence[Tensor]) -> None:
        """Let ``tensors`` of the new graph stand for the outputs of ``node``."""
        self.of.update(zip(node.outputs, tensors))

    def exchange(
        self, node: Node, op: Op, inputs: Sequence[Tensor], attrs: Mapping[str, Any], location: Location,
        waits: Sequence[Tensor] = (),
    ) -> None:  # fmt: skip
        """Put an operation that gives what ``node`` gives into the new graph in its place; it waits for ``waits``."""
        specs = [(t.dtype, t.shape) for t in node.outputs]
        made = Node(self.graph, op, tuple(inputs), attrs, specs, node.name, location, tuple(waits))
        self.graph.nodes.append(made)
        self.replace(node, made.outputs)

    def constant(self, node: Node, value: Any) -> Tensor:
        """Return a constant in place of ``node``, under its name."""
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
        given = set(graph.inputs)
        for node in graph.nodes:
            if node.op is not PARAMETER or node.outputs[0] not in given:
                self.visit(self, node)
        return [self.stands(t) for t in graph.outputs]

    def finish(self, inputs: Sequence[Tensor] | None = None, outputs: Sequence[Tensor] | None = None) -> Graph:
        """Return the new graph, with inputs and outputs; the old one if nothing about it changed.

        Parameters
        ----------
        inputs, outputs : sequence of Tensor, optional
            Tensors of the old graph to be those of the new one; by default all.
        """
        source, graph = self.source, self.graph
        up, before = graph.parent, source.parent
        stays = up is before or (up is not None and before is not None and up.lineage is before.lineage)
        if stays and not self.of and inputs is None and outputs is None and graph.nodes == source.nodes:
            return source  # what nearly all are
        graph.inputs = [self._parameter(t) for t in (source.inputs if inputs is None else inputs)]
        graph.outputs = [self.stands(t) for t in (source.outputs if outputs is None else outputs)]
        ends = (graph.inputs, source.inputs), (graph.outputs, source.outputs)
        if stays and graph.nodes == source.nodes and all(_identical(a, b) for a, b in ends):
            return source
        graph.token = None if source.token is None else self.stands(source.token)
        if source.put_at_once:
            graph.put_at_once = dict(self._put_at_once())
        return graph

    def _put_at_once(self) -> Iterator[tuple[Tensor, int]]:
        """Yield what stands for such values alone: what is computed for others, too, may be there too early."""
        stand = Counter(map(id, self.of.values()))
        for tensor, position in (self.source.put_at_once or {}).items():
            made = self.stands(tensor)
            if made is tensor or (made.op.graph is self.graph and stand[id(made)] == 1):
                yield made, position

    def _parameter(self, tensor: Tensor) -> Tensor:
        """Return the parameter in place of ``tensor``: itself, if what is read in its place is a constant."""
        made = self.stands(tensor)
        return made if made.op.op is PARAMETER else tensor


Visit = Callable[[Copy, Node], object]


def _identical(a: Sequence[Tensor], b: Sequence[Tensor]) -> bool:
    return len(a) == len(b) and all(map(is_, a, b))


def _equal(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    """Return whether the attributes of a structured node are the same (for those of any other: the same object)."""
    if a is b:
        return True
    return all(a[k] is v or (isinstance(v, (int, tuple)) and a[k] == v) for k, v in b.items())


def rewrite(graph: Graph, visit: Visit, parent: Graph | None = None) -> Graph:
    """Return ``graph`` as ``visit`` makes it; see ``Copy``."""
    copy = Copy(graph, visit, parent)
    for node in graph.nodes:
        visit(copy, node)
    return copy.finish()


def detached(graph: Graph, parent: Graph | None = None) -> Graph:
    """Return a copy of ``graph``, below ``parent``, that has no node in common with any other graph.

    It is what ``rewrite(graph, Copy.again)`` gives, written out: this makes a third of all nodes.
    """
    made = Graph(graph.prefix, parent, graph.ordered)
    made.lineage, nodes = graph.lineage, made.nodes
    of: dict[Tensor, Tensor] = {}
    for node in graph.nodes:
        attrs, control = node.attrs, node.control_inputs
        if node.op.graphs:
            attrs = {**attrs, **{key: detached(attrs[key], made) for key in node.op.graphs}}
        if control:
            control = tuple([of.get(t, t) for t in control])
        inputs, specs = tuple([of.get(t, t) for t in node.inputs]), [(t.dtype, t.shape) for t in node.outputs]
        copy = Node(made, node.op, inputs, attrs, specs, node.name, node.location, control, node.declared)
        nodes.append(copy)
        of.update(zip(node.outputs, copy.outputs))
    made.inputs = [of.get(t, t) for t in graph.inputs]
    made.outputs = [of.get(t, t) for t in graph.outputs]
    made.token = None if graph.token is None else of.get(graph.token, graph.token)
    if graph.put_at_once:
        made.put_at_once = {of.get(t, t): position for t, position in graph.put_at_once.items()}
    return made


def constant_of(tensor: Tensor) -> Any:
    """Return the value of a constant, ``None`` for any other tensor."""
    node = tensor.node
    return node.attrs["value"] if node is not None and node.op is CONST else None


def gathered(graph: Graph, nodes: Sequence[Node], feeds: Sequence[Tensor], fetches: Sequence[Tensor]) -> Graph:
    """Return a graph of copies of ``nodes`` of ``graph``, in their order, and of the constants that they read.

    Parameters
    ----------
    feeds : sequence of Tensor
        What they read besides: the inputs of the new graph.
    fetches : sequence of Tensor
        Which of their outputs are outputs of the new graph.
    """
    copy = Copy(graph, Copy.again)
    for tensor in feeds:
        copy.of[tensor] = copy.graph.parameter(tensor.dtype, tensor.shape, tensor.op.name)
    for node in nodes:
        for tensor in node.inputs:
            if tensor.op.op is CONST and tensor not in copy.of:
                copy.again(tensor.op)
        copy.again(node)
    copy.graph.outputs = [copy.of[t] for t in fetches]
    return copy.graph
