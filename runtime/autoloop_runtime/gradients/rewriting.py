"""Structured nodes extended: loops with more variables, conditionals with more results.

A gradient needs values of a forward loop that the loop did not hand out. A larger node takes its place
(``Node.instead``), and everybody who holds its outputs keeps them. New variables and results come after the existing
ones, and what was added once is found again by the next gradient (``extension``). Whoever holds a node asks for the one
that is there ``now``.
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
from .extension import extension


@contextmanager
def building(graph: Graph, location: Location = ()) -> Iterator[None]:
    """Nodes made inside go into ``graph``, without the control dependencies that happen to be in force.

    They are told of at ``location`` unless the user has a line of his own for them.
    """
    chain: list[Graph] = []
    up: Graph | None = graph
    while up is not None:
        chain.append(up)
        up = up.parent
    before = [(g, g.control, g.otherwise) for g in chain]
    for g in chain:
        g.control = []
    graph.otherwise = location
    try:
        with graph.as_default():
            yield
    finally:
        for g, control, otherwise in before:
            g.control, g.otherwise = control, otherwise


@contextmanager
def before(node: Node, offset: int = 0) -> Iterator[None]:
    """Put what is built inside before ``node`` in its graph."""
    graph = node.graph
    count = len(graph.nodes)
    with building(graph, node.location):
        yield
    made = graph.nodes[count:]
    del graph.nodes[count:]
    position = graph.nodes.index(node.now) + offset
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
    node = node.now
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
    inputs = (*node.inputs[:first], *[v.init for v in loop_vars], *node.inputs[first:])
    node.graph.exchange(node, node.instead(None, inputs, attrs, specs))
    with building(body, node.location):
        body.outputs += step(body.inputs[first:last])
    adopt_captures(node)
    return first


def adopt_captures(node: Node) -> None:
    """Let a structured node pass on what its sub-graphs have captured since it was made."""
    node = node.now
    graphs = node.subgraphs
    count = len(node.inputs) - (node.op is COND)  # a predicate is not passed on
    fresh = [{i: o for o, i in g.captured_inputs() if i in set(g.inputs[count:])} for g in graphs]
    outer = list(dict.fromkeys(o for table in fresh for o in table.values()))
    for graph, table in zip(graphs, fresh):
        inner = {o: i for i, o in table.items()}
        kept = graph.inputs[:count]
        graph.inputs = kept + [inner[o] if o in inner else graph.parameter(o.dtype, o.shape, "capture") for o in outer]
    if outer:
        node.graph.exchange(node, node.instead(None, (*node.inputs, *outer)))


def trip_counter(node: Node) -> int:
    """Return the position of a loop variable that counts 0, 1, 2, ...: one of the user's, or one more."""
    known = extension(node.attrs["body"])
    if known.trips is None:
        position = _own_counter(node.now)
        if position is None:
            with before(node):
                zero = as_constant(np.int64(0))
            counter = LoopVar("trips", zero, SCALAR)
            position = add_variables(node, [counter], lambda ns: [ops.add(ns[0], 1)])
        known.trips = position
    return known.trips


def trips_of(node: Node) -> Tensor:
    """Return how many iterations the loop ``node`` ran, an output of it."""
    position = trip_counter(node)
    return node.now.outputs[position]


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
    known = extension(body).saved
    if tensor not in known:
        counter = trip_counter(node)
        with before(node):
            empty = stacks.empty()
        saved = LoopVar("saved", empty, SCALAR)
        swap = _swaps(node, tensor)
        position = add_variables(node, [saved], lambda ss: [stacks.push(ss[0], body.inputs[counter], tensor, swap)])
        known[tensor] = position
    return node.now.outputs[known[tensor]]


def complete_stack_of(node: Node, k: int) -> Tensor:
    """Return the stack of loop variable ``k`` with its final value on top:
    one entry more than there were iterations."""
    known = extension(node.attrs["body"]).complete
    if k not in known:
        begun = node.attrs["body"].inputs[k]
        stack = stack_of(node, begun)
        trips = trips_of(node)
        with after(node):
            known[k] = stacks.push(stack, trips, node.now.outputs[k], _swaps(node, begun))
    return known[k]


def _swaps(node: Node, saved: Tensor) -> bool:
    """Return whether what the loop ``node`` saves of a tensor may leave memory."""
    return bool(node.attrs["swap_memory"]) and not is_small(saved)


# -- conditionals -----------------------------------------------------------------------------------------


def result_of(node: Node, branch: Graph, tensor: Tensor) -> Tensor:
    """Return the value of a branch's tensor as an output of the Cond ``node``; meaningless if the other branch ran."""
    known = extension(branch).results
    if tensor not in known:
        values = []
        for graph in (node.attrs["then"], node.attrs["else"]):
            with building(graph, node.location):
                values.append(tensor if graph is branch else _nothing(tensor))
        known[tensor] = add_result(node, values[0], values[1])
    return node.now.outputs[known[tensor]]


def add_result(node: Node, then: Tensor, otherwise: Tensor) -> int:
    """Give a Cond node one more result, from a tensor of each branch; gives its position."""
    node = node.now
    position = len(node.outputs)
    shape = then.shape.most_general(otherwise.shape)
    for graph, value in ((node.attrs["then"], then), (node.attrs["else"], otherwise)):
        graph.outputs.append(value)
    attrs = {**node.attrs, "specs": (*node.attrs["specs"], (then.dtype, shape))}
    adopt_captures(node.graph.exchange(node, node.instead(None, None, attrs, [(then.dtype, shape)])))
    return position


def _nothing(like: Tensor) -> Tensor:
    """Return a value that fits the static shape of ``like`` and takes no memory."""
    return stacks.empty() if like.dtype == dtypes.variant else constant_zeros(like)
