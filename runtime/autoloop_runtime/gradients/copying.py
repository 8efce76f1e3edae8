"""Second copies: of a loop's body, to be run and differentiated on its own, and of whole graphs inside others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ..analysis.needed import needed_nodes
from ..collections.variables import READ, Variable
from ..ir.graph import CONST, PARAMETER, Graph, Node, current_graph
from ..ir.tensor import Tensor
from .extension import Extension, extension

#: variable -> the value that stands for what is read of it
Held = Mapping[Variable, Tensor]
_NOTHING: Held = MappingProxyType({})


def copied(graph: Graph, outputs: Sequence[Tensor], parent: Graph) -> tuple[Graph, dict[Tensor, Tensor]]:
    """Return a copy below ``parent`` of what ``outputs`` of a sub-graph need.

    Returns
    -------
    Graph, dict
        The copy, with ``outputs`` but without ``inputs``; and for each tensor its copy. All parameters are copied.
        Constants stay copies of the tensors that they are copies of.
    """
    live = needed_nodes(outputs) | {t.op for t in graph.inputs}
    return _copy(graph, parent, {}, live, outputs)


def twin(copy: Graph, tensor: Tensor) -> Tensor | None:
    """Return what stands in ``copy`` for ``tensor``, if that is of the graph that it is a copy of, or that one's
    original.

    The gradient function of a ``custom_gradient`` keeps tensors of the graph it was made in, also such as nothing else
    needs; those are copied now.
    """
    for source, of in extension(copy).sources:
        original = tensor if tensor.graph is source else twin(source, tensor)
        if original is not None:
            missing = needed_nodes([original]) - {t.op for t in of}
            copy.nodes += [_twin_node(node, copy, {}, of) for node in source.nodes if node in missing]
            return of[original]
    return None


def inlined(graph: Graph, inputs: Sequence[Tensor], held: Held | None = None) -> list[Tensor]:
    """Return the outputs of ``graph`` for ``inputs``, computed by copies of its nodes in the current graph.

    ``held``: what stands for the variables that are read in it; by default they are read again.
    """
    of = _inline(graph, inputs, held or {})
    return [of[t] for t in graph.outputs]


def absorbed(graph: Graph, inputs: Sequence[Tensor]) -> list[Tensor]:
    """Return what ``inlined`` does, for once: the current graph replaces ``graph``, also for further derivatives."""
    into = current_graph()
    assert into is not None
    of = _inline(graph, inputs, {})
    extension(into).sources.append((graph, of))
    return [of[t] for t in graph.outputs]


def copied_after(nodes: Sequence[Node], into: Graph, of: dict[Tensor, Tensor]) -> list[Node]:
    """Return copies in ``into`` of some nodes of a graph, in their order.

    ``of`` has the copies of what they take, but for constants, and gets those of what they give.
    """
    for node in nodes:
        of.update((t, into.capture(t)) for t in node.inputs if t not in of)
    made = []
    for node in nodes:
        made.append(_twin_node(node, into, {}, of))
        into.nodes.append(made[-1])
    return made


def _inline(graph: Graph, inputs: Sequence[Tensor], held: Held) -> dict[Tensor, Tensor]:
    """Return copies of the nodes of ``graph`` in the current graph: for each tensor its copy."""
    into = current_graph()
    assert into is not None
    of = dict(zip(graph.inputs, [into.capture(t) for t in inputs]))
    concrete = {inner: outer for outer, inner in graph.constants.items()}
    live = needed_nodes(graph.outputs)
    for node in graph.nodes:
        if node not in live:
            continue
        if node.op is CONST and node.outputs[0] in concrete:
            # it remains one of the same tensor, with regard to which a derivative may be wanted
            of[node.outputs[0]] = into.capture(concrete[node.outputs[0]])
        elif node.op is not PARAMETER:
            _take(node, into, {}, of, held)
    return of


def _copy(
    graph: Graph, parent: Graph, around: Mapping[Tensor, Tensor], live: set[Node] | None, outputs: Sequence[Tensor],
    held: Held = _NOTHING,
) -> tuple[Graph, dict[Tensor, Tensor]]:  # fmt: skip
    """Return what ``copied`` does; ``around`` has the copies of tensors of the graphs around,
    ``live`` the nodes (all if None)."""
    made = Graph(graph.prefix, parent)
    of: dict[Tensor, Tensor] = {}
    extension(made).sources.append((graph, of))
    for node in graph.nodes:
        if live is None or node in live:
            _take(node, made, around, of, held)
    made.captures |= {around.get(outer, outer): of[inner] for outer, inner in graph.captures.items() if inner in of}
    made.constants |= {concrete: of[inner] for concrete, inner in graph.constants.items() if inner in of}
    made.outputs = [of[t] for t in outputs]
    return made, of


def _take(
    node: Node, made: Graph, around: Mapping[Tensor, Tensor], of: dict[Tensor, Tensor], held: Held = _NOTHING
) -> None:
    """Add a copy of ``node`` to ``made``, or what is held for it, and note it in ``of``."""
    if node.op is READ and node.attrs["variable"] in held:
        of.update(zip(node.outputs, (made.capture(held[node.attrs["variable"]]), of[node.inputs[-1]])))
    else:
        made.nodes.append(_twin_node(node, made, around, of, held))


def _twin_node(
    node: Node, made: Graph, around: Mapping[Tensor, Tensor], of: dict[Tensor, Tensor], held: Held = _NOTHING
) -> Node:
    """Return a copy of ``node`` for the graph ``made``, noted in ``of``."""
    attrs = {
        key: _copy_below(value, made, {**around, **of}, held) if isinstance(value, Graph) else value
        for key, value in node.attrs.items()
    }
    specs = [(t.dtype, t.shape) for t in node.outputs]
    inputs, controls = ([of[t] for t in tensors] for tensors in (node.inputs, node.control_inputs))
    copy = Node(
        made, node.op, tuple(inputs), attrs, specs, node.name, node.location, tuple(controls), node.declared
    )  # fmt: skip
    of.update(zip(node.outputs, copy.outputs))
    return copy


def _copy_below(graph: Graph, parent: Graph, around: Mapping[Tensor, Tensor], held: Held) -> Graph:
    """Return a copy of a graph inside the one that is copied, whole."""
    made, of = _copy(graph, parent, around, None, graph.outputs, held)
    made.inputs = [of[t] for t in graph.inputs]
    known = extension(graph).carried(of)
    known.sources += extension(made).sources
    made.records[Extension] = known
    return made
