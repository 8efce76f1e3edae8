"""Which nodes do something besides computing: print, fail by intention, read or write what is not in the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..base.stand_ins import ShownByRun
from ..ir.graph import PARAMETER, Graph, Node
from .inside import nodes_inside


def has_effect(node: Node) -> bool:
    """Return whether running ``node``, with all that is inside it, may be noticed but by its outputs, or depends on
    more than its inputs."""
    if node.op.effect or node.op.stateful:
        return True
    return any(one.op.effect or one.op.stateful for one in nodes_inside(*node.subgraphs))


def is_barrier(node: Node) -> bool:
    """Return whether no other node may be moved across ``node``."""
    return node.op.effect or node.op.stateful or bool(node.op.graphs)


def effects(graph: Graph) -> Iterator[Node]:
    """Return the nodes, in ``graph`` and the graphs inside it, that do something which would be noticed twice."""
    return (node for node in nodes_inside(graph) if node.op.effect)


def may_repeat(graph: Graph) -> bool:
    """Return whether nobody notices that ``graph`` runs twice, in the same state."""
    return all(node.op.ends_run or node.op.only_looks for node in effects(graph))


def may_go_on(graph: Graph) -> bool:
    """Return whether machine code may go on with ``graph``: it draws from generators, too, and once it has done so it
    is not given up."""
    return all(node.op.ends_run or node.op.only_looks or node.op.draws is not None for node in effects(graph))


def drawn_from(graph: Graph) -> tuple[Callable[[], Callable[[], None]], ...]:
    """Return what notes where the generators stand that a run asks, each gives what puts one back there."""
    return tuple([node.op.draws(node) for node in nodes_inside(graph) if node.op.draws is not None])


def starting_over(graph: Graph) -> tuple[Callable[[], Callable[[], None]], ...]:
    """Return what notes where the generators stand that a run asks, to be put back if plain Python starts it over.

    Nothing where no run may show that plain Python has to do it, or where more would be noticed of a run.
    """
    asking = drawn_from(graph)
    nodes = nodes_inside(graph) if asking else ()
    kinds = [getattr(node.attrs.get("factory"), "kind", None) for node in nodes if node.op.ends_run]
    is_left = any(isinstance(kind, type) and issubclass(kind, ShownByRun) for kind in kinds)
    return asking if is_left and may_go_on(graph) else ()


def only_computes(node: Node) -> bool:
    """Return whether the plain ``node`` computes its outputs from its inputs, waits for nothing else, and has no
    effect."""
    return not (node.op.effect or node.op.stateful or node.op.graphs or node.control_inputs or node.op is PARAMETER)


def is_pure(node: Node) -> bool:
    """Return whether the node does nothing but compute plain values from its inputs.

    What touches TensorArrays does not count, nor do nodes with promises to check.
    """
    if not only_computes(node):
        return False
    for tensor in (*node.inputs, *node.outputs):  # passes ask it of each node: a call less
        if tensor.dtype.kind == "O":
            return False
    return not node.declared
