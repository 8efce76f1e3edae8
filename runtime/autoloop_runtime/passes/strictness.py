"""What can fail is computed although nobody needs it, in functions of NumPy arrays: plain Python would raise, too.

A result that is never used is pruned, and an exception that computing it would raise with it. In a graph that is
``strict`` each operation that may fail and that no output needs becomes one that is needed: on the top level its result
is one more output of the graph; in a branch or in the body of a loop a result, or the next value of a variable, waits
for it. What is left out all the same: the gradient's own operations.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..analysis.failure import can_fail
from ..analysis.inside import nodes_inside
from ..analysis.observable import is_barrier
from ..analysis.passed_on import Origins, is_fixed
from ..base.dtypes import string
from ..base.forks import undivided
from ..ir.graph import PARAMETER, Graph, Node
from ..ir.structured import WHILE
from ..ir.tensor import Tensor
from ..ops.identities import IDENTITY
from ..ops.later_rows import is_range
from .rewrite import Copy


def keep_failures(graph: Graph) -> Graph:
    """Return a strict graph with what it would raise needed; others are given back as they are."""
    if not graph.strict or not any(map(_raises, nodes_inside(graph))):
        return graph
    graph = _waiting(graph, None)
    unneeded = _unneeded(graph)
    if not unneeded:
        return graph
    copy = Copy(graph, Copy.keep)
    for node in graph.nodes:
        copy.keep(node)
    return copy.finish(None, [*graph.outputs, *unneeded])


def _raises(node: Node) -> bool:
    """Return whether an operation on numbers and texts may raise, and a user's program with it.

    So may one that reads an element of a list. Of effects, and else of lists, others know what is left out, and what a
    loop counts through it counts without its range.
    """
    if node.op is WHILE and node.attrs["cond"].outputs[0].shape.rank is None:
        return True  # what the test of a loop gives may turn out to be an array
    if is_barrier(node) or (is_range(node.op) and _is_counted(node)) or not can_fail(node):
        return False
    reads = node.op.traits.raises is IndexError
    return reads or all(t.dtype.kind in "biufc" or t.dtype == string for t in (*node.inputs, *node.outputs))


def _is_counted(node: Node) -> bool:
    """Return whether a range has as many integers as there are: floats may be none, and a step no step."""
    step = node.inputs[2].constant_value()
    return node.outputs[0].dtype.kind in "iu" and step is not None and bool(step != 0)


def may_raise(tensor: Tensor) -> bool:
    """Return whether a pass that has no use for a tensor any more might lose what computing it raises."""
    assert tensor.node is not None
    if not tensor.node.graph.root.strict:
        return False
    todo, seen = [tensor], {tensor}
    while todo:
        node = todo.pop().op
        is_from_outside = node.op is PARAMETER and node.graph is not node.graph.root
        if is_from_outside or _raises(node) or any(map(_raises, nodes_inside(*node.subgraphs))):
            return True
        more = [one for one in (*node.inputs, *node.control_inputs) if one not in seen]
        todo += more
        seen.update(more)
    return False


def _waiting(graph: Graph, parent: Graph | None) -> Graph:
    """Return the graph with what is inside its loops and branches needed by some result of theirs."""
    if not any(node.subgraphs for node in graph.nodes):
        return graph
    copy = Copy(graph, Copy.keep, parent)
    for node in graph.nodes:
        if not any(map(_raises, nodes_inside(*node.subgraphs))):
            copy.keep(node)
            continue
        made = {key: _anchored(_waiting(node.attrs[key], copy.graph), copy.graph, _places(node, key))
                for key in node.op.graphs}  # fmt: skip
        copy.keep(node, attrs={**node.attrs, **made})
    return copy.finish()


def _places(node: Node, key: str) -> list[int]:
    """Return which outputs of a graph inside ``node`` may wait: a loop's variables that change, but its token."""
    count = len(node.attrs[key].outputs)
    if node.op is not WHILE or key != "body":
        return [*range(count)][:1]
    return [k for k in range(count) if k != node.attrs["token"] and not is_fixed(node, k)][-1:]


def _anchored(graph: Graph, parent: Graph, places: Sequence[int]) -> Graph:
    unneeded = _unneeded(graph)
    if not unneeded or not places:
        return graph
    copy = Copy(graph, Copy.keep, parent)
    for node in graph.nodes:
        copy.keep(node)
    (place,) = places
    waits, last = graph.outputs[place], unneeded[0].op
    made = Node(
        copy.graph, IDENTITY, (copy.stands(waits),), {}, [(waits.dtype, waits.shape)], f"{last.name}/waits",
        last.location, tuple([copy.stands(t) for t in unneeded]),
    )  # fmt: skip
    copy.graph.nodes.append(made)
    done = copy.finish()
    done.outputs[place] = made.outputs[0]
    return done


def _unneeded(graph: Graph) -> list[Tensor]:
    """Return tensors of the graph that its outputs do not need, and of which may be raised, or inside whose nodes."""
    raising = {node for node in nodes_inside(graph) if _raises(node)}
    if not raising:
        return []
    with undivided():
        from ..analysis.needed import Needed

    origins = Origins()
    missing = raising - Needed(graph.outputs, (), origins).nodes
    found: list[Tensor] = []
    for node in graph.nodes if missing else ():
        if node in missing:
            found.append(node.outputs[0])
        elif node.subgraphs:
            for tensor in node.outputs:
                inside = Needed([tensor], node.inputs, origins).nodes & missing
                if inside:
                    found.append(tensor)
                    missing -= inside
    return found
