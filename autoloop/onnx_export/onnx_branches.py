"""Branches: ``If``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from autoloop_runtime.base.dtypes import variant
from autoloop_runtime.base.shapes import TensorShape
from autoloop_runtime.ir.graph import Node
from autoloop_runtime.ir.structured import COND
from autoloop_runtime.ir.tensor import Tensor

from .onnx_values import Value
from .onnx_writer import Writer, rule


def shape_of(writer: Writer, tensor: Tensor) -> TensorShape:
    """Return what is known of the shape of what stands for a tensor in the model."""
    if tensor.dtype != variant:
        return tensor.shape
    found: TensorShape = writer.flows.of(tensor).rows
    return found


def choose(
    writer: Writer,
    condition: Value,
    shapes: Sequence[TensorShape],
    then: Callable[[], list[Value]],
    otherwise: Callable[[], list[Value]],
) -> list[Value]:
    """Write an ``If``: each branch is a function that writes it, and gives values that are made in it."""
    graphs, made = [], []
    for name, branch in (("then", then), ("else", otherwise)):
        with writer.body() as scope:
            made = branch()
            described = [writer.described(one, shape) for one, shape in zip(made, shapes)]
            graphs.append(writer.graph(scope, name, [], described))
    dtypes = [one.dtype for one in made]
    return writer.several("If", [condition], dtypes, then_branch=graphs[0], else_branch=graphs[1])


@rule(COND)
def _cond(writer: Writer, node: Node, condition: Value, *captured: Value) -> list[Value]:
    shapes = [shape_of(writer, tensor) for tensor in node.outputs]

    def branch(name: str) -> Callable[[], list[Value]]:
        return lambda: [writer.own(one) for one in writer.inline(node.attrs[name], captured)]

    if condition.known is not None:
        return writer.inline(node.attrs["then" if condition.known else "else"], captured)
    if not node.outputs:
        return []
    return choose(writer, condition, shapes, branch("then"), branch("else"))
