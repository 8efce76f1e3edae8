"""What can fail is computed although nobody needs it, in functions of NumPy arrays: plain Python would raise, too.

A result that is never used is pruned, and an exception that computing it would raise with it. In a graph that is
``strict`` each operation that may fail and that no output needs becomes one that is needed: on the top level its result
is one more output of the graph; in a branch or in the body of a loop a result, or the next value of a variable, waits
for it. What is left out all the same: the gradient's own operations.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..analysis.failure import can_fail
from ..analysis.inside import nodes_inside
from ..analysis.observable import is_barrier
from ..analysis.passed_on import Origins, is_fixed
from ..ir.graph import PARAMETER, Graph, Node
from ..ir.structured import COND, WHILE
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
    """Return whether an operation on numbers may raise, and a user's program with it.

    Of effects and lists others know what is left out, and what a loop counts through it counts without its range.
    """
    if node.op is WHILE and node.attrs["cond"].outputs[0].shape.rank is None:
        return True  # what the test of a loop gives may turn out to be an array
    if is_barrier(node) or is_range(node.op) or not can_fail(node):
        return False
    return all(t.dtype.kind in "biufc" for t in (*node.inputs, *node.outputs))


def may_raise(tensor: Tensor) -> bool:
    """Return whether a pass that has no use for a tensor any more might lose what computing it raises."""
    assert tensor.node is not None
    if not tensor.node.graph.root.strict:
        return False
    todo, seen = [tensor], {tensor}
    while todo:
        node = todo.pop().op
        if node.op is PARAMETER or _raises(node) or any(map(_raises, nodes_inside(*node.subgraphs))):
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


# -- what is reached from where ---------------------------------------------------------------------------------


def _unneeded(graph: Graph) -> list[Tensor]:
    """Return tensors of the graph that its outputs do not need, and of which may be raised, or inside whose nodes."""
    missing = {node for node in nodes_inside(graph) if _raises(node)} - _reached(graph, graph.outputs)[0]
    found: list[Tensor] = []
    for node in graph.nodes if missing else ():
        if node in missing:
            found.append(node.outputs[0])
        elif node.subgraphs:
            for j, tensor in enumerate(node.outputs):
                inside = _of_node(node, [j])[0] & missing
                if inside:
                    found.append(tensor)
                    missing -= inside
    return found


def _reached(graph: Graph, outputs: Iterable[Tensor]) -> tuple[set[Node], set[Tensor]]:
    """Return the nodes that may raise and are needed for the outputs, also inside others, and all tensors needed."""
    live = set(outputs)
    found: set[Node] = set()
    for node in reversed(graph.nodes):
        wanted = [j for j, t in enumerate(node.outputs) if t in live]
        if not wanted:
            continue
        live.update(node.control_inputs)
        if node.subgraphs:
            inside, places = _of_node(node, wanted)
            found |= inside
            live.update(node.inputs[i] for i in places)
            continue
        live.update(node.inputs)
        if _raises(node):
            found.add(node)
    return found, live


def _of_node(node: Node, wanted: Sequence[int]) -> tuple[set[Node], set[int]]:
    """Return the nodes inside a loop or branch that may raise and are needed for some results, and which inputs are."""
    if node.op is not WHILE:
        origins = Origins()
        passed = [origins.source(node, j) for j in wanted] if node.op is COND else [None]
        if None not in passed:
            return set(), {i for i in passed if i is not None}
        found, places = set(), {0}
        for key in node.op.graphs:
            sub = node.attrs[key]
            inside, live = _reached(sub, [sub.outputs[j] for j in wanted])
            found |= inside
            places |= {i + 1 for i, t in enumerate(sub.inputs) if t in live}
        return found, places
    cond, body, count = node.attrs["cond"], node.attrs["body"], node.attrs["n_vars"]
    found, live = _reached(cond, cond.outputs)
    places = {i for i, t in enumerate(cond.inputs) if t in live} | set(wanted)
    while True:
        inside, live = _reached(body, [body.outputs[k] for k in places if k < count])
        more = {i for i, t in enumerate(body.inputs) if t in live}
        if more <= places:
            return found | inside, places
        places |= more
