"""Which tensors may share memory, as the rows say it (``Traits.memory``), and who keeps hold of an array.

A node *looks* at an input if nothing of that input's memory can be seen after it through its outputs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..ir.graph import Graph, Node
from ..ir.structured import COND, WHILE
from ..ir.tensor import Tensor
from ..ir.traits import Memory
from ..ops.array import RESHAPE, TRANSPOSE
from ..ops.index import Input, Slice
from ..ops.indexing import GETITEM
from .uses import CONTROL, Readers, readers


def is_fresh(tensor: Tensor) -> bool:
    """Return whether the value is an array that only this tensor can see, as long as it is read once."""
    return tensor.op.op.traits.memory is Memory.FRESH or gathers(tensor.op)


def gathers(node: Node) -> bool:
    """Return whether elements are picked by arrays or truth values, ``x[True]``, which gives a copy of them."""
    return node.op is GETITEM and any(t.shape.rank not in (0, None) or t.dtype.kind == "b" for t in node.inputs[1:])


def writes_part(node: Node) -> bool:
    """Return whether ``node`` gives an array with another value of a part of it, which can be read on its own."""
    return node.op.taking is not None and node.op.taking.part is not None


def reads_part(reader: Node, writer: Node) -> bool:
    """Return whether ``reader`` gives the part of the same array that ``writer`` writes."""
    taking = writer.op.taking
    if taking is None or taking.part is None or reader.op is not taking.part.read:
        return False
    before, after = reader.inputs, (writer.inputs[0], *writer.inputs[2:])
    same = len(before) == len(after) and all(a is b for a, b in zip(before, after))
    return same and reader.attrs == writer.attrs


def may_write_over(node: Node) -> bool:
    """Return whether ``node`` assigns to a part of an array what may be another part of it: NumPy may write over what
    it still has to read.

    It copies first where parts have several axes, and parts of a line with the same step from the end that is safe.
    """
    array, value, *positions = node.inputs
    if value.shape.rank == 0 or with_bases([value]).isdisjoint(with_bases([array])):
        return False
    entries = node.attrs["index"].entries
    rank, is_basic = array.shape.rank, all(t.shape.rank == 0 and t.dtype.kind in "iu" for t in positions)
    if is_basic and rank is not None and rank - sum(isinstance(one, int | Input) for one in entries) > 1:
        return False
    is_line = array.shape.rank == 1 and value.op.op is GETITEM and value.op.inputs[0] is array
    return not (is_basic and is_line and _has_unit_steps(entries) and _has_unit_steps(value.op.attrs["index"].entries))


def _has_unit_steps(entries: Iterable[Any]) -> bool:
    return all(isinstance(one, Slice) and one.step in (None, 1) for one in entries)


def changes_part(node: Node) -> bool:
    """Return whether ``node`` puts an array that was changed in a part of another."""
    taking = node.inputs[1].op.op.taking if writes_part(node) else None
    return taking is not None and taking.is_update


def with_views(graph: Graph, tensors: Iterable[Tensor]) -> set[Tensor]:
    """Return ``tensors``, and what may be a view of one of them in ``graph``."""
    found = set(tensors)
    if found:
        for node in graph.nodes:
            if gives_view(node) and node.inputs[0] in found:
                found.update(node.outputs)
    return found


def is_whole_view(node: Node) -> bool:
    """Return whether a node gives all elements of its first input in another form: a view, or a copy if there is
    none."""
    return node.op is RESHAPE or node.op is TRANSPOSE


def with_bases(tensors: Iterable[Tensor]) -> set[Tensor]:
    """Return ``tensors``, and those that they may be views of."""
    found = set(tensors)
    for tensor in tuple(found):
        while tensor.node is not None and gives_view(tensor.node):
            tensor = tensor.node.inputs[0]
            found.add(tensor)
    return found


def only_looks(node: Node, index: int) -> bool:
    """Return whether ``node`` keeps nothing of its input ``index``: no view, no reference."""
    if index == CONTROL:
        return True
    if node.op is WHILE:
        return index >= node.attrs["n_vars"] and all(_parameter_looked_at(g, index) for g in node.subgraphs)
    if node.op is COND:
        return index > 0 and all(_parameter_looked_at(g, index - 1) for g in node.subgraphs)
    if node.op is GETITEM:
        is_number = node.inputs[0].shape.rank is not None and node.outputs[0].shape.rank == 0
        return index > 0 or is_number or gathers(node)
    if writes_part(node):
        return index != 0
    return node.op.traits.memory is Memory.FRESH


def _parameter_looked_at(graph: Graph, index: int) -> bool:
    return looked_at(readers(graph), graph.inputs[index])


def gives_view(node: Node) -> bool:
    """Return whether what ``node`` gives may lie in the memory of its first input."""
    return node.op.traits.memory is Memory.VIEW and not gathers(node)


def looked_at(reading: Readers, tensor: Tensor, end: int | None = None) -> bool:
    """Return whether all that read ``tensor`` only look at it; through views too,
    none of them after the node at ``end``."""
    limit = len(reading.place) if end is None else end
    return all(
        n is not None and (i == CONTROL or (reading.place[n] <= limit and looks(reading, n, i, limit)))
        for n, i in reading.of(tensor)
    )


def looks(reading: Readers, node: Node, index: int, end: int) -> bool:
    """Return as ``only_looks``; or ``node`` makes a view which, up to the node at ``end``, others only look at."""
    if only_looks(node, index):
        return True
    return index == 0 and gives_view(node) and all(looked_at(reading, t, end) for t in node.outputs)
