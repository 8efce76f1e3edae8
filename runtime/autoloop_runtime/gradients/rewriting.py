"""Changing structured nodes in place: loops get more variables, conditionals more results.

A gradient needs values of a forward loop that the loop did not hand out. The node is extended rather than rebuilt, so
that everybody who holds its outputs keeps them. New variables and results come after the existing ones, and what was
added once is found again by the next gradient (the keys of ``copying``, in the ``collections`` of the sub-graph).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from .. import ops
from ..analysis.induction import Known, counts_from
from ..base import dtypes
from ..base.locations import Location
from ..base.shapes import SCALAR
from ..collections import saved_stacks as stacks
from ..collections.accumulators import constant_zeros
from ..collections.swap import is_small
from ..ir.convert import as_constant
from ..ir.graph import Graph, Node
from ..ir.structured import COND, LoopVar
from ..ir.tensor import Tensor
from .copying import RESULTS, SAVED, TRIPS

_COMPLETE = "gradient: complete stacks"  # [(position of a variable, its stack with the final value), ...]


@contextmanager
def building(graph: Graph, location: Location = ()) -> Iterator[None]:
    """Nodes made inside go into ``graph``, without the control dependencies that happen to be in force.

    They are told of at ``location`` unless the user has a line of his own for them.
    """
    count = len(graph.nodes)
    chain: list[Graph] = []
    up: Graph | None = graph
    while up is not None:
        chain.append(up)
        up = up.parent
    controls = [g._control for g in chain]
    for g in chain:
        g._control = []
    try:
        with graph.as_default():
            yield
    finally:
        for g, control in zip(chain, controls):
            g._control = control
        for made in graph.nodes[count:]:
            made.location = made.location or location


@contextmanager
def before(node: Node, offset: int = 0) -> Iterator[None]:
    """Put what is built inside before ``node`` in its graph."""
    graph = node.graph
    count = len(graph.nodes)
    with building(graph, node.location):
        yield
    made = graph.nodes[count:]
    del graph.nodes[count:]
    position = graph.nodes.index(node) + offset
    graph.nodes[position:position] = made


def after(node: Node) -> AbstractContextManager[None]:
    """Put what is built inside right after ``node``, where it stays when what was made later is undone."""
    return before(node, 1)


# -- loops ------------------------------------------------------------------------------------------------


def add_variables(
    node: Node, loop_vars: Sequence[LoopVar], step: Callable[[Sequence[Tensor]], Sequence[Tensor]]
) -> int:
    """Give a While node more variables.

    Parameters
    ----------
    loop_vars : sequence of LoopVar
        Their initial values are in the graph of ``node`` and before it.
    step : callable
        Builds the next values in the body from the parameters it is given.

    Returns
    -------
    int
        The position of the first of them among inputs and outputs.
    """
    attrs: dict[str, Any] = dict(node.attrs)
    first: int = attrs["n_vars"]
    body: Graph = attrs["body"]
    for graph in (attrs["cond"], body):
        captured = graph.inputs[first:]
        del graph.inputs[first:]
        for v in loop_vars:
            graph.parameter(v.init.dtype, v.invariant, v.name)
        graph.inputs += captured
    last = first + len(loop_vars)
    specs = [(v.init.dtype, v.invariant) for v in loop_vars]
    attrs["n_vars"] = last
    attrs["names"] += tuple([v.name for v in loop_vars])
    attrs["invariants"] += tuple([v.invariant for v in loop_vars])
    attrs["specs"] += tuple(specs)
    node.attrs = attrs
    node.inputs = (*node.inputs[:first], *[v.init for v in loop_vars], *node.inputs[first:])
    node.outputs += tuple([Tensor(None, d, s, node, first + i) for i, (d, s) in enumerate(specs)])
    with building(body, node.location):
        body.outputs += step(body.inputs[first:last])
    adopt_captures(node)
    return first


def adopt_captures(node: Node) -> None:
    """Let a structured node pass on what its sub-graphs have captured since it was made."""
    graphs = node.subgraphs
    count = len(node.inputs) - (node.op is COND)  # a predicate is not passed on
    fresh = [{i: o for o, i in g.captured_inputs() if i in set(g.inputs[count:])} for g in graphs]
    outer = list(dict.fromkeys(o for table in fresh for o in table.values()))
    for graph, table in zip(graphs, fresh):
        inner = {o: i for i, o in table.items()}
        kept = graph.inputs[:count]
        graph.inputs = kept + [inner[o] if o in inner else graph.parameter(o.dtype, o.shape, "capture") for o in outer]
    node.inputs += tuple(outer)


def trip_counter(node: Node) -> int:
    """Return the position of a loop variable that counts 0, 1, 2, ...: one of the user's, or one more."""
    known = node.attrs["body"].collections.setdefault(TRIPS, [])
    if not known:
        position = _own_counter(node)
        if position is None:
            with before(node):
                zero = as_constant(np.int64(0))
            counter = LoopVar("trips", zero, SCALAR)
            position = add_variables(node, [counter], lambda ns: [ops.add(ns[0], 1)])
        known.append(position)
    found: int = known[0]
    return found


def trips_of(node: Node) -> Tensor:
    """Return how many iterations the loop ``node`` ran, an output of it."""
    position = trip_counter(node)
    return node.outputs[position]


class _Fixed:
    """What no session can change by what it is fed."""

    def value_of(self, tensor: Tensor) -> Any | None:
        return tensor.fixed_value()

    def is_scalar(self, tensor: Tensor) -> bool:
        return tensor.shape.rank == 0


#: what is known of loops while a graph is built
FIXED: Known = _Fixed()


def _own_counter(node: Node) -> int | None:
    for k in range(node.attrs["n_vars"]):
        dtype = node.inputs[k].dtype
        fits = dtype.kind == "i" and dtype.itemsize >= 4  # it must reach -1, and not wrap round on the way
        if fits and counts_from(node, k, FIXED) == 0:
            return k
    return None


def stack_of(node: Node, tensor: Tensor) -> Tensor:
    """Return the stack, an output of the loop ``node``, of the values that a tensor of its body takes."""
    body: Graph = node.attrs["body"]
    known = body.collections.setdefault(SAVED, [])
    for saved, position in known:
        if saved is tensor:
            found: Tensor = node.outputs[position]
            return found
    counter = trip_counter(node)
    with before(node):
        empty = stacks.empty()
    saved = LoopVar("saved", empty, SCALAR)
    swap = _swaps(node, tensor)
    position = add_variables(node, [saved], lambda ss: [stacks.push(ss[0], body.inputs[counter], tensor, swap)])
    known.append((tensor, position))
    return node.outputs[position]


def complete_stack_of(node: Node, k: int) -> Tensor:
    """Return the stack of loop variable ``k`` with its final value on top:
    one entry more than there were iterations."""
    known = node.attrs["body"].collections.setdefault(_COMPLETE, [])
    made: Tensor
    for position, made in known:
        if position == k:
            return made
    begun = node.attrs["body"].inputs[k]
    stack = stack_of(node, begun)
    trips = trips_of(node)
    with after(node):
        made = stacks.push(stack, trips, node.outputs[k], _swaps(node, begun))
    known.append((k, made))
    return made


def _swaps(node: Node, saved: Tensor) -> bool:
    """Return whether what the loop ``node`` saves of a tensor may leave memory."""
    return bool(node.attrs["swap_memory"]) and not is_small(saved)


# -- conditionals -----------------------------------------------------------------------------------------


def result_of(node: Node, branch: Graph, tensor: Tensor) -> Tensor:
    """Return the value of a branch's tensor as an output of the Cond ``node``; meaningless if the other branch ran."""
    known = branch.collections.setdefault(RESULTS, [])
    for saved, position in known:
        if saved is tensor:
            found: Tensor = node.outputs[position]
            return found
    values = []
    for graph in (node.attrs["then"], node.attrs["else"]):
        with building(graph, node.location):
            values.append(tensor if graph is branch else _nothing(tensor))
    position = add_result(node, values[0], values[1])
    known.append((tensor, position))
    return node.outputs[position]


def add_result(node: Node, then: Tensor, otherwise: Tensor) -> int:
    """Give a Cond node one more result, from a tensor of each branch; gives its position."""
    position = len(node.outputs)
    shape = then.shape.most_general(otherwise.shape)
    for graph, value in ((node.attrs["then"], then), (node.attrs["else"], otherwise)):
        graph.outputs.append(value)
    node.attrs = {**node.attrs, "specs": (*node.attrs["specs"], (then.dtype, shape))}
    node.outputs += (Tensor(None, then.dtype, shape, node, position),)
    adopt_captures(node)
    return position


def _nothing(like: Tensor) -> Tensor:
    """Return a value that fits the static shape of ``like`` and takes no memory."""
    return stacks.empty() if like.dtype == dtypes.variant else constant_zeros(like)
