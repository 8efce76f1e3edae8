"""Loops: ``Loop``, whose condition is written before it and once more at the end of its body.

A collection that takes one element in each iteration, and is not looked at before the loop is over, is no variable of
the ``Loop`` but what it collects: nothing is copied from iteration to iteration.
"""

from __future__ import annotations

from autoloop_runtime.base.dtypes import DType, variant
from autoloop_runtime.base.shapes import SCALAR
from autoloop_runtime.collections import saved_stacks, tensor_array_ops
from autoloop_runtime.ir.graph import Graph, Node
from autoloop_runtime.ir.structured import WHILE
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ops.arithmetic import ADD

from .onnx_branches import shape_of
from .onnx_values import BOOL, INT64, Value
from .onnx_writer import Writer, rule


@rule(WHILE)
def _while(writer: Writer, node: Node, *operands: Value) -> list[Value]:
    cond, body, count = node.attrs["cond"], node.attrs["body"], node.attrs["n_vars"]
    collected = {k: item for k in range(count) if (item := _collects(writer, node, k)) is not None}
    carried = [k for k in range(count) if k not in collected]
    captured = list(operands[count:])
    for k in collected:  # what puts it there is not written
        writer.skip(body.outputs[k].node, operands[k])
    with_known = dict(writer.known)
    begins = writer.inline(cond, operands)[0]
    writer.known = with_known
    with writer.body() as scope:
        iteration, going = _input(writer, "iteration", INT64), _input(writer, "going", BOOL)
        names = node.attrs["names"]
        inputs = {k: _input(writer, names[k], operands[k].dtype) for k in carried}
        values = [inputs.get(k, operands[k]) for k in range(count)]
        following = writer.inline(body, [*values, *captured])
        rows = [writer.own(writer.of(item)) for item in collected.values()]
        goes_on = writer.own(writer.inline(cond, [*following, *captured])[0])
        results = [writer.own(following[k]) for k in carried]
        shapes = {k: shape_of(writer, body.inputs[k]) for k in carried}
        graph = writer.graph(
            scope, "body",
            [writer.described(iteration, SCALAR), writer.described(going, SCALAR),
             *[writer.described(inputs[k], shapes[k]) for k in carried]],
            [writer.described(goes_on, SCALAR), *[writer.described(one, shapes[k]) for one, k in zip(results, carried)],
             *[writer.described(one, item.shape) for one, item in zip(rows, collected.values())]],
        )  # fmt: skip
    dtypes = [*[operands[k].dtype for k in carried], *[one.dtype for one in rows]]
    made = writer.several("Loop", [None, begins, *[operands[k] for k in carried]], dtypes, body=graph)
    found = dict(zip([*carried, *collected], made))
    for k in collected:
        found[k] = _whole(writer, node, k, operands[k], found[k])
    return [found[k] for k in range(count)]


def _input(writer: Writer, name: str, dtype: DType) -> Value:
    return Value(writer, writer.name(name), dtype)


# -- what a loop collects -----------------------------------------------------------------------------------------


def _collects(writer: Writer, node: Node, k: int) -> Tensor | None:
    """Return the element that variable ``k`` takes in each iteration, if it is a collection that does nothing else."""
    body: Graph = node.attrs["body"]
    given, made = body.inputs[k], body.outputs[k]
    if given.dtype != variant or made.node is None or made.node.graph is not body:
        return None
    push = made.node
    appends = push.op in (saved_stacks.PUSH, saved_stacks.SWAP_PUSH)
    if not appends and push.op is not tensor_array_ops.WRITE:
        return None
    if push.inputs[0] is not given or push.inputs[2].dtype == variant:
        return None
    element = writer.flows.of(given)
    sizes = [one for one in _uses(body, given) if one is not push]
    if not appends:
        at_end = sizes and push.inputs[1].node is sizes[0] and _is_size(sizes[0])
        if at_end and len(sizes) == 1 and len(_uses(body, sizes[0].outputs[0])) == 1:
            sizes = []
        elif not _counts(node, push.inputs[1]) or element.grows:
            return None
    if sizes or _uses(body, made) or _uses(node.attrs["cond"], node.attrs["cond"].inputs[k]):
        return None
    if (appends or element.grows) and not (element.is_known or _begins_empty(node, k)):
        return None  # it may hold nothing of which the extents are known
    if sum(one is given for one in body.outputs) or sum(one is made for one in body.outputs) > 1:
        return None
    return push.inputs[2]


def _is_size(node: Node) -> bool:
    return node.op is tensor_array_ops.SIZE


def _uses(graph: Graph, tensor: Tensor) -> list[Node]:
    """Return the nodes of a graph that take a tensor."""
    return [node for node in graph.nodes if any(one is tensor for one in node.inputs)]


def _counts(node: Node, place: Tensor) -> bool:
    """Return whether a place in the body is the number of the iteration: a variable from 0 on in steps of 1."""
    body: Graph = node.attrs["body"]
    for k, given in enumerate(body.inputs[: node.attrs["n_vars"]]):
        if given is place:
            first, following = node.inputs[k].constant_value(), body.outputs[k].node
            if first is None or first != 0 or following is None or following.op is not ADD:
                return False
            a, b = following.inputs
            step = b.constant_value() if a is given else None
            return step is not None and bool(step == 1)
    return False


def _whole(writer: Writer, node: Node, k: int, before: Value, rows: Value) -> Value:
    """Return a collection of what was in it before the loop and the rows that this has collected."""
    element = writer.flows.of(node.outputs[k])
    push = node.attrs["body"].outputs[k].node
    if push.op is not tensor_array_ops.WRITE or element.grows:
        return rows if _begins_empty(node, k) else writer.concat([before, rows])
    rest = before.slice(rows.extent(0).reshape(1), writer.ints([2**62]), [0])
    if element.is_known:
        return writer.concat([rows, rest])
    missing = before.extent(0) - rows.extent(0)
    dims = writer.concat([missing.unsqueeze(0), rows.shape().slice([1], [2**62], [0])])
    return writer.concat([rows, writer.const(element.dtype.type(0)).expand(dims)])


def _begins_empty(node: Node, k: int) -> bool:
    """Return whether variable ``k`` is a collection known to be empty before the loop."""
    begun = node.inputs[k].node
    if begun is None or begun.op is not tensor_array_ops.NEW:
        return begun is not None and begun.op is saved_stacks.EMPTY
    return bool(begun.inputs[0].constant_value() == 0)
