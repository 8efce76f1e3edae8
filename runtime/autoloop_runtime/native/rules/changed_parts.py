"""Parts of arrays that are changed where they lie, ``b = a[10:]``, ``b[i] = 3``: in a graph that is a part, another one
that is made of it, and an array that has this one in its place."""

from __future__ import annotations

from collections.abc import Sequence

from ...analysis.aliasing import reads_part
from ...ir.graph import Node
from ...ir.tensor import Tensor
from ...ops.index import Input
from ...ops.indexing import SET_ITEM
from ..writer.context import Context
from ..writer.node_writer import value_of
from ..writer.values import Array, Value, buffers, resolve


def indices_of(node: Node, first: int) -> list[Tensor]:
    """Return the tensors in the brackets of ``node``, which are its inputs from the *first* on."""
    return [node.inputs[first + e.position] for e in node.attrs["index"].entries if isinstance(e, Input)]


def is_basic(ctx: Context, node: Node, first: int) -> bool:
    """Return whether they are integers: what is indexed is a part in the memory of the array."""
    return all(ctx.shape_of(t) == () and t.dtype.kind in "iu" for t in indices_of(node, first))


def put_back_by(ctx: Context, node: Node, x: Value, others: Sequence[Value]) -> Node | None:
    """Return what puts the part ``x`` of an array, when ``node`` and others have changed it, back to where it was, if
    nobody else wants either as it is: then it is changed there."""
    x, uses, tensor = resolve(x), ctx.block.plan.uses, node.outputs[0]
    source, before = node.inputs[0].op, node.inputs[0]
    if not isinstance(x, Array) or not x.owned or any(x.buffer in buffers(one) for one in others):
        return None
    while source.op is SET_ITEM and is_basic(ctx, source, 2) and uses.only(before) is not None:
        before, source = source.inputs[0], source.inputs[0].op
    if source not in uses.place or not source.inputs:
        return None
    while True:
        reader, index = uses.only(tensor) or (None, 0)
        if reader is None or reader.subgraphs:
            return None
        if index == 1 and reads_part(source, reader):
            break
        if index != 0 or reader.op is not SET_ITEM or not is_basic(ctx, reader, 2):
            return None
        tensor = reader.outputs[0]
    whole = resolve(value_of(ctx, reader.inputs[0]))
    if not isinstance(whole, Array) or whole.buffer != x.buffer or reader.inputs[0] is not source.inputs[0]:
        return None
    return reader if _is_free_but_for_one(ctx, reader.inputs[0], whole) else None


def _is_free_but_for_one(ctx: Context, tensor: Tensor, array: Array) -> bool:
    """Return whether ``tensor``, which is in memory as ``array``, is still to be read once, and nobody else wants that
    memory as it is."""
    block = ctx.block
    if block.left.get(tensor) != 1:
        return False
    block.left[tensor] = 0
    free = ctx.is_free(array)
    block.left[tensor] = 1
    if not any(one is tensor for one in block.live):  # it was taken from there, as one that is read no more
        block.live.append(tensor)
    return free
