"""Changing structured nodes in place: loops get more variables, conditionals more results.

A gradient needs values of a forward loop that the loop did not hand out. The node is extended rather than rebuilt, so
that everybody who holds its outputs keeps them. New variables and results come after the existing ones, and what was
added once is found again by the next gradient (the keys below, in the ``collections`` of the sub-graph).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import dtypes
from ..graph import Graph, Node, as_constant
from ..registry import call
from ..shapes import SCALAR, TensorShape
from ..tensor import Tensor
from . import stacks
from .accumulators import constant_zeros

_TRIPS = "gradient: trip counter"  # [position of the variable]
_SAVED = "gradient: stacks"  # [(tensor of the body, position of its stack), ...]
_COMPLETE = "gradient: complete stacks"  # [(position of a variable, its stack with the final value), ...]
_RESULTS = "gradient: results"  # [(tensor of the branch, position of the result), ...]


@contextmanager
def building(graph: Graph) -> Iterator[None]:
    """Nodes made inside go into ``graph``, without the control dependencies that happen to be in force."""
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


@contextmanager
def before(node: Node) -> Iterator[None]:
    """What is built inside comes before ``node`` in its graph."""
    graph = node.graph
    count = len(graph.nodes)
    with building(graph):
        yield
    made = graph.nodes[count:]
    del graph.nodes[count:]
    position = graph.nodes.index(node)
    graph.nodes[position:position] = made


# -- loops ------------------------------------------------------------------------------------------------


def add_variable(node: Node, name: str, init: Tensor, shape: TensorShape, step: Callable[[Tensor], Tensor]) -> int:
    """Give a While node one more variable.

    Parameters
    ----------
    init : Tensor
        Its initial value, in the graph of ``node`` and before it.
    shape : TensorShape
        Its invariant.
    step : callable
        The next value, built in the body from the parameter it is given.

    Returns
    -------
    int
        The position of the variable among inputs and outputs.
    """
    attrs: dict[str, Any] = dict(node.attrs)
    position: int = attrs["n_vars"]
    body: Graph = attrs["body"]
    for graph in (attrs["cond"], body):
        graph.parameter(init.dtype, shape, name)
        graph.inputs.insert(position, graph.inputs.pop())
    with building(body):
        body.outputs.append(step(body.inputs[position]))
    attrs["n_vars"] = position + 1
    attrs["names"] += (name,)
    attrs["invariants"] += (shape,)
    attrs["specs"] += ((init.dtype, shape),)
    node.attrs = attrs
    node.inputs = (*node.inputs[:position], init, *node.inputs[position:])
    node.outputs += (Tensor(None, init.dtype, shape, node, position),)
    return position


def trip_counter(node: Node) -> int:
    """The position of a loop variable that counts 0, 1, 2, ...: one of the user's, or one more."""
    known = node.attrs["body"].collections.setdefault(_TRIPS, [])
    if not known:
        position = _own_counter(node)
        if position is None:
            with before(node):
                zero = as_constant(np.int64(0))
            position = add_variable(node, "trips", zero, SCALAR, lambda n: call("add", n, 1))
        known.append(position)
    found: int = known[0]
    return found


def trips_of(node: Node) -> Tensor:
    """How many iterations the loop ``node`` ran, an output of it."""
    position = trip_counter(node)
    return node.outputs[position]


def _own_counter(node: Node) -> int | None:
    for k in range(node.attrs["n_vars"]):
        start = node.inputs[k].constant_value()
        wide = node.inputs[k].dtype.itemsize >= 4  # a narrow one might wrap round on the way
        if wide and start is not None and start.ndim == 0 and start == 0 and constant_step(node, k) == 1:
            return k
    return None


def constant_step(node: Node, k: int) -> int | None:
    """By how much an integer variable grows in every iteration, if that is always the same and known."""
    body: Graph = node.attrs["body"]
    parameter, made = body.inputs[k], body.outputs[k].node
    if parameter.dtype.kind not in "iu" or parameter.shape.rank != 0 or made is None or len(made.inputs) != 2:
        return None
    left, right = made.inputs
    if made.op.name == "add" and right is parameter:
        left, right = right, left
    step = right.constant_value()
    if made.op.name not in ("add", "subtract") or left is not parameter or step is None or step.ndim:
        return None
    return int(step) if made.op.name == "add" else -int(step)


def stack_of(node: Node, tensor: Tensor) -> Tensor:
    """The stack, an output of the loop ``node``, of the values that a tensor of its body takes."""
    body: Graph = node.attrs["body"]
    known = body.collections.setdefault(_SAVED, [])
    for saved, position in known:
        if saved is tensor:
            found: Tensor = node.outputs[position]
            return found
    counter = trip_counter(node)
    with before(node):
        empty = stacks.empty()
    position = add_variable(node, "saved", empty, SCALAR, lambda s: stacks.push(s, body.inputs[counter], tensor))
    known.append((tensor, position))
    return node.outputs[position]


def complete_stack_of(node: Node, k: int) -> Tensor:
    """The stack of loop variable ``k`` with its final value on top: one entry more than there were iterations."""
    known = node.attrs["body"].collections.setdefault(_COMPLETE, [])
    made: Tensor
    for position, made in known:
        if position == k:
            return made
    stack = stack_of(node, node.attrs["body"].inputs[k])
    with building(node.graph):
        made = stacks.push(stack, trips_of(node), node.outputs[k])
    known.append((k, made))
    return made


# -- conditionals -----------------------------------------------------------------------------------------


def result_of(node: Node, branch: Graph, tensor: Tensor) -> Tensor:
    """The value of a branch's tensor as an output of the Cond ``node``; meaningless if the other branch ran."""
    known = branch.collections.setdefault(_RESULTS, [])
    for saved, position in known:
        if saved is tensor:
            found: Tensor = node.outputs[position]
            return found
    for graph in (node.attrs["then"], node.attrs["else"]):
        with building(graph):
            graph.outputs.append(tensor if graph is branch else _nothing(tensor))
    position = len(node.outputs)
    node.attrs = {**node.attrs, "specs": (*node.attrs["specs"], (tensor.dtype, tensor.shape))}
    node.outputs += (Tensor(None, tensor.dtype, tensor.shape, node, position),)
    known.append((tensor, position))
    return node.outputs[position]


def _nothing(like: Tensor) -> Tensor:
    """A value that fits the static shape of ``like`` and takes no memory."""
    return stacks.empty() if like.dtype == dtypes.variant else constant_zeros(like)
