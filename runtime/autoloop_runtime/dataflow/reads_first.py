"""Reads of an array come before a write to it, where the write can then be done in place.

The scheduler runs what has its inputs. A write whose array others have not read yet would have to copy that: so it
waits for them. They stand before it in the graph, or in the iteration before, so nothing waits for itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..analysis.aliasing import only_looks, with_bases
from ..analysis.inside import nodes_inside
from ..analysis.ownership import Ownership, find_owned
from ..analysis.uses import CONTROL, Readers, readers
from ..ir.graph import Graph, Node
from ..ir.structured import COND, WHILE
from ..ir.tensor import Tensor
from ..ops.identities import IDENTITY
from ..passes.rewrite import Copy


def with_reads_first(graph: Graph) -> Graph:
    """Return ``graph`` in which what is written to in place has been read by all others before."""
    owned = find_owned(graph)
    if not owned.in_place:
        return graph
    carried = {(loop.attrs["body"], k) for loop, k in owned.entered}
    return _ordered(graph, owned, carried, None)


def _ordered(graph: Graph, owned: Ownership, carried: set[tuple[Graph, int]], parent: Graph | None) -> Graph:
    copy, reading = Copy(graph, Copy.keep, parent), readers(graph)
    for node in graph.nodes:
        written = sorted(with_bases([node.inputs[k] for k in _written(node, owned)]), key=lambda t: t.name)
        first = {one: None for tensor in written for one in _reads(reading, tensor, node)}
        attrs = None
        if node.subgraphs:
            inside = {key: _ordered(node.attrs[key], owned, carried, copy.graph) for key in node.op.graphs}
            attrs = {**node.attrs, **inside}
        copy.keep(node, attrs=attrs, waits=_ends(copy, first))
    outputs = {}
    for k, tensor in enumerate(graph.outputs):
        waits = _ends(copy, _reads(reading, tensor)) if (graph, k) in carried else []
        if waits:
            held, specs = copy.stands(tensor), [(tensor.dtype, tensor.shape)]
            made = Node(
                copy.graph, IDENTITY, (held,), {}, specs, f"{tensor.op.name}/read", tensor.op.location, tuple(waits)
            )
            copy.graph.nodes.append(made)
            outputs[k] = made.outputs[0]
    done = copy.finish()
    for k, other in outputs.items():
        done.outputs[k] = other
    return done


def _written(node: Node, owned: Ownership) -> Iterator[int]:
    """Yield the inputs of ``node`` that it may write to."""
    if node in owned.in_place:
        yield owned.in_place[node]
    elif node.op is WHILE:
        yield from [k for k in range(node.attrs["n_vars"]) if (node, k) in owned.entered]
    elif node.op is COND and any(one in owned.in_place for one in nodes_inside(*node.subgraphs)):
        yield from [k for k in range(1, len(node.inputs)) if node.inputs[k].shape.rank != 0]


def _reads(reading: Readers, tensor: Tensor, writer: Node | None = None) -> Iterator[Node]:
    """Yield the nodes that read ``tensor``, or a view of it, before ``writer`` does."""
    end = len(reading.place) if writer is None else reading.place[writer]
    for node, index in reading.of(tensor):
        if node is None or node is writer or index == CONTROL or reading.place[node] > end:
            continue
        if only_looks(node, index) or not node.outputs:
            yield node
            continue
        for part in node.outputs:
            yield from _reads(reading, part, writer)


def _ends(copy: Copy, nodes: Iterable[Node]) -> list[Tensor]:
    """Return what says that ``nodes`` have run."""
    return [copy.stands(node.outputs[0]) for node in dict.fromkeys(nodes) if node.outputs]
