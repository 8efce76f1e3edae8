"""A loop as a graph of its own, which goes on from any state and stops after any number of iterations.

The state of a loop is explicit: its variables. So whoever runs it may hand it over at an iteration boundary.
"""

from __future__ import annotations

import numpy as np

from .. import ops
from ..base.dataclass import dataclass
from ..base.dtypes import int64
from ..base.shapes import SCALAR
from ..ir.graph import CONST, Graph, Node
from ..ir.stages import Stage, come_to
from ..ir.tensor import Tensor
from .rewrite import Copy, rewrite


@dataclass(frozen=True)
class Resumable:
    """A loop that goes on from its state.

    Attributes
    ----------
    graph : Graph
        Inputs: how many iterations it may do, the values of ``variables``, the values of ``captured``. Outputs: how
        many iterations it did, fewer if the loop is over, and the values of ``variables``.
    variables : tuple of int
        Which loop variables: all but the effect token.
    captured : tuple of int
        Which inputs of the node behind the loop variables: all but constants.
    """

    graph: Graph
    variables: tuple[int, ...]
    captured: tuple[int, ...]


def resumable(node: Node) -> Resumable:
    """Return the loop ``node``, with a name of its own graph but the same names and lines inside."""
    attrs, n = node.attrs, int(node.attrs["n_vars"])
    token = attrs["token"]
    variables = tuple([k for k in range(n) if k != token])
    captured = tuple([k for k in range(n, len(node.inputs)) if node.inputs[k].op.op is not CONST])
    graph = Graph(node.graph.prefix, None, node.graph.ordered)
    limit = graph.parameter(int64, SCALAR, "limit")
    given: dict[int, Tensor] = {}
    for k in (*variables, *captured):
        tensor = node.inputs[k]
        shape = attrs["invariants"][k] if k < n else tensor.shape
        given[k] = graph.parameter(tensor.dtype, shape, attrs["names"][k] if k < n else "capture")
    for k, tensor in enumerate(node.inputs):
        if k == token:
            given[k] = graph.constant(np.True_, "token")
        elif k not in given:
            given[k] = graph.constant(tensor.op.attrs["value"], tensor.op.name)
    zero = graph.constant(int64.type(0), "turn")
    values = [given[k] for k in range(len(node.inputs))]
    inner = {key: rewrite(attrs[key], Copy.again, graph) for key in ("cond", "body")}
    for key, sub in inner.items():
        leading, rest = sub.inputs[:n], sub.inputs[n:]
        turn, most = sub.parameter(int64, SCALAR, "turn"), sub.parameter(int64, SCALAR, "limit")
        sub.inputs = [*leading, turn, *rest, most]
        with sub.as_default():
            if key == "cond":
                sub.outputs[0] = ops.logical_and(ops.less(turn, most), sub.outputs[0])
            else:
                sub.outputs.insert(n, ops.add(turn, sub.constant(int64.type(1))))
    attrs = {
        **attrs, **inner, "n_vars": n + 1, "names": (*attrs["names"], "turn"),
        "invariants": (*attrs["invariants"], SCALAR), "specs": (*attrs["specs"], (int64, SCALAR)),
    }  # fmt: skip
    specs = [(t.dtype, t.shape) for t in node.outputs] + [(int64, SCALAR)]
    inputs = (*values[:n], zero, *values[n:], limit)
    made = Node(graph, node.op, inputs, attrs, specs, node.name, node.location)
    graph.nodes.append(made)
    graph.outputs = [made.outputs[n], *[made.outputs[k] for k in variables]]
    come_to(graph, Stage.STRUCTURED)
    return Resumable(graph, variables, captured)
