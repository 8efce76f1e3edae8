"""Operations that change a part of an array where it lies: ``b = a[n:]``, ``b[0] = 7``, ``a[1:].sort()``.

In a graph that is a part which is read, another one that is made of it, and an array that has this one in its place.
Where nobody else reads the one or the other, one operation changes the part in the memory of the array.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..analysis.aliasing import changes_part, reads_part
from ..analysis.uses import Readers, readers
from ..ir.graph import Graph, Node
from ..ir.op import Op, Taking
from ..ir.tensor import Tensor
from ..ir.traits import UPDATING, NoRule
from ..ops.identities import COPIED
from ..ops.index import Input, Slice
from ..ops.indexing import SET_ITEM
from .prune import prune
from .rewrite import Copy, rewrite


def with_parts_in_place(graph: Graph) -> Graph:
    """Return ``graph`` with such operations."""
    made = rewrite(graph, functools.partial(_visit, functools.cache(readers)))
    return graph if made is graph else prune(made)


def _visit(reading: Callable[[Graph], Readers], copy: Copy, node: Node) -> None:
    """Keep a node, or put one in its place that changes the part that it writes."""
    change = None
    if changes_part(node):
        change = _changed_part(reading(copy.source), node)
    if change is None:
        copy.keep(node)
        return
    array, _, *index = node.inputs
    inputs = [copy.stands(t) for t in (array, *index, *change.inputs[1:])]
    attrs = {"part": dict(node.attrs), "count": len(index), "attrs": dict(change.attrs)}
    copy.exchange(node, _joined(node.op, change.op), inputs, attrs, change.location)


def _changed_part(reading: Readers, node: Node) -> Node | None:
    """Return what makes the value that ``node`` writes of the part that is there; None if others look at that."""
    change = node.inputs[1].op
    if change not in reading.place or reading.only(node.inputs[1]) is None:
        return None
    part: Tensor = change.inputs[0]
    if part.shape.rank in (0, None) or part.shape.rank != node.inputs[1].shape.rank:
        return None
    if part.op.op is COPIED and reading.only(part) is not None:
        part = part.op.inputs[0]
    source = part.op
    if source not in reading.place or reading.only(part) is None or not reads_part(source, node):
        return None
    if any(one.declared or one.control_inputs for one in (node, change, change.inputs[0].op, source)):
        return None
    if node.op is SET_ITEM and not _is_basic(node):
        return None
    return change if change.inputs[0].dtype == source.outputs[0].dtype else None


def _is_basic(node: Node) -> bool:
    """Return whether the index of ``node`` gives a view and cannot fail."""
    known = node.inputs[0].shape.is_fully_defined()
    for entry in node.attrs["index"].entries:
        if isinstance(entry, Input) or (isinstance(entry, int) and not known):
            return False
        if isinstance(entry, Slice) and isinstance(entry.step, Input):
            return False
    return not any(t.shape.rank != 0 for t in node.inputs[2:])


@functools.cache
def _joined(writer: Op, op: Op) -> Op:
    """Return the operation that changes a part of its first input, the one that ``writer`` writes, as ``op`` changes an
    array."""
    taking, whole = op.taking, writer.taking
    assert taking is not None and whole is not None and whole.part is not None
    change, view = taking.kernel, whole.part.view

    def write(x: Any, *values: Any, part: Any, count: int, attrs: Any) -> Any:
        change(view(x, *values[:count], **part), *values[count:], **attrs)
        return x

    def kernel(x: Any, *values: Any, part: Any, count: int, attrs: Any) -> Any:
        return write(np.array(x), *values, part=part, count=count, attrs=attrs)

    return Op(
        f"{op.name}_of_part",
        lambda x, *_, **__: (x.dtype, x.shape),
        kernel,
        NoRule.NO_RULE,
        traits=UPDATING.but(fails=op.traits.fails, raises=op.traits.raises),
        taking=Taking(write, (0,), is_update=True),
    )
