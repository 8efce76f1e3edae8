"""A graph that stands alone, computed once more in the graph that is being built."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..base.locations import DEPTH, Location
from ..ir.graph import PARAMETER, Graph, Node
from ..ir.records import loop_records, record_loop
from ..ir.structured import WHILE
from ..ir.tensor import Tensor
from .graph_form import first_token


def replayed(graph: Graph, inputs: Sequence[Tensor], into: Graph) -> list[Tensor]:
    """Return the outputs of ``graph`` for ``inputs``: copies of its nodes are added to ``into``.

    Its effects come after those that there are by now, and before those that follow.
    """
    of = dict(zip(graph.inputs, [into.capture(t) for t in inputs]))
    begin = first_token(graph)
    if begin is not None:
        of[begin] = into.effect_token()
    given = {t.op for t in of}
    for node in graph.nodes:
        if node.op is not PARAMETER and node not in given:
            _copy(node, into, of, into.here())
    if begin is not None and into.ordered and graph.token is not None:
        into.token = of[graph.token]
    for record in loop_records(graph):
        record_loop(into, record)
    return [of[t] for t in graph.outputs]


def _copy(node: Node, into: Graph, of: dict[Tensor, Tensor], here: Location) -> None:
    inputs = tuple([of[t] for t in node.inputs])
    attrs: Mapping[str, Any] = node.attrs
    if node.op.graphs:
        inner = node.inputs[node.attrs["n_vars"] :] if node.op is WHILE else node.inputs[1:]
        graphs = {key: _copy_inside(attrs[key], into, here) for key in node.op.graphs}
        for made in graphs.values():
            _note_captures(made, [of[t] for t in inner], made.inputs[len(made.inputs) - len(inner) :])
        attrs = {**attrs, **graphs}
    control = tuple([of[t] for t in node.control_inputs])
    specs = [(t.dtype, t.shape) for t in node.outputs]
    name, location = into.root.unique_name(node.name), (*here, *node.location)[-DEPTH:]
    made_node = Node(into, node.op, inputs, attrs, specs, name, location, control, node.declared)
    into.nodes.append(made_node)
    into.root.declarations += len(node.declared)
    of.update(zip(node.outputs, made_node.outputs))


def _copy_inside(graph: Graph, parent: Graph, here: Location) -> Graph:
    made = Graph(graph.prefix, parent)
    of: dict[Tensor, Tensor] = {}
    for node in graph.nodes:
        _copy(node, made, of, here)
    made.inputs, made.outputs = [of[t] for t in graph.inputs], [of[t] for t in graph.outputs]
    made.token = None if graph.token is None else of.get(graph.token)
    made.token_input = None if graph.token_input is None else of.get(graph.token_input)
    return made


def _note_captures(graph: Graph, outer: Sequence[Tensor], inner: Sequence[Tensor]) -> None:
    """Say of the parameters of a graph inside, which of them stand for tensors outside."""
    for tensor, parameter in zip(outer, inner):
        if parameter is not graph.token_input and tensor not in graph.captures:
            graph.captures[tensor] = parameter
            graph.captured_from[parameter] = tensor
