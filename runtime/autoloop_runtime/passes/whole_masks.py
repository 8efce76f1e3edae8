"""What is done with the elements that a mask selects, said of whole arrays: ``x[m] = 2 * x[m]`` is a choice for each
element.

The elements of ``x[m]`` lie close together, as many as the mask happens to have; code that must know all shapes has no
word for that. Where they are only computed with, element by element, and then put back by the same mask, or added up,
the others may be computed along and thrown away: nothing of that can fail, and machine code tells nobody of nan.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..analysis.inside import nodes_inside
from ..analysis.observable import is_pure
from ..analysis.uses import CONTROL, Read, readers
from ..base.shapes import SCALAR, TensorShape
from ..ir.graph import CONST, Graph, Node
from ..ir.op import Op
from ..ir.tensor import Tensor
from ..ir.traits import Fails
from ..ops.arithmetic import DIVIDE
from ..ops.array import RESHAPE
from ..ops.indexing import GETITEM, SET_ITEM
from ..ops.operands import CAST
from ..ops.reducing import SUM
from ..ops.reductions import ALL, ANY, MEAN, PROD
from ..ops.selection import WHERE
from ..ops.shape_queries import SHAPE, SIZE
from .rewrite import Copy, detached, rewrite

#: what changes nothing of a reduction
_NEUTRAL: dict[Op, Any] = {SUM: 0, PROD: 1, ANY: False, ALL: True}
#: what is selected -> the mask that selects it
Masks = dict[Tensor, Tensor]


def with_whole_masks(graph: Graph) -> Graph:
    """Return ``graph`` with choices in place of what is selected by masks, computed with, and put back or added up."""
    if not any(node.op is GETITEM and _mask_of(node, 1) is not None for node in nodes_inside(graph)):
        return graph
    made = rewrite(graph, functools.partial(_visit, functools.cache(_selected)))
    if made is graph:
        return graph
    made = detached(made)
    made.donated = graph.donated
    return made


# -- what can be computed of whole arrays ------------------------------------------------------------------


def _mask_of(node: Node, first: int) -> Tensor | None:
    """Return the mask that is the whole index of ``node``, if it has the shape of the array."""
    if len(node.attrs["index"].entries) != 1 or len(node.inputs) != first + 1 or not _is_plain(node):
        return None
    mask, shape = node.inputs[first], node.inputs[0].shape
    fits = mask.dtype.kind == "b" and bool(mask.shape.rank) and shape.is_fully_defined()
    return mask if fits and mask.shape.is_fully_defined() and mask.shape.as_tuple() == shape.as_tuple() else None


def _is_plain(node: Node) -> bool:
    return not node.declared and not node.control_inputs and is_pure(node)


def _selected(graph: Graph) -> Masks:
    """Return all that ``graph`` selects by masks, or makes of that, which can be computed of whole arrays instead."""
    masks: Masks = {}
    for node in graph.nodes:
        mask = _mask_of(node, 1) if node.op is GETITEM else _common_mask(node, masks)
        if mask is not None:
            masks[node.outputs[0]] = mask
    reading = readers(graph)
    while True:
        lost = [t for t in masks if not all(_takes_whole(read, masks[t], masks) for read in reading.of(t))]
        for tensor in lost:
            del masks[tensor]
        stays = {t: m for t, m in masks.items() if t.op.op is GETITEM or _common_mask(t.op, masks) is m}
        if len(stays) == len(masks) and not lost:
            return masks
        masks = stays


def _common_mask(node: Node, masks: Masks) -> Tensor | None:
    """Return the mask that selects what ``node`` computes with, element by element, if that never fails."""
    if node.op is SET_ITEM:  # what ``x[m] += y`` puts into the part that it has taken
        takes_part = node.attrs["index"].entries == (Ellipsis,) and node.inputs[0].shape.rank == 1
    else:
        fails = node.op.traits.fails
        of_values = fails is Fails.INTEGERS and node.outputs[0].dtype.kind in "iu"
        takes_part = node.op.traits.elementwise and fails is not Fails.MAYBE and not of_values
    arrays = [t for t in node.inputs if t.shape.rank != 0] if takes_part else []
    mask = masks.get(arrays[0]) if arrays else None
    if mask is None or len(node.outputs) != 1 or not _is_plain(node):
        return None
    return mask if all(masks.get(t) is mask for t in arrays) else None


def _takes_whole(read: Read, mask: Tensor, masks: Masks) -> bool:
    """Return whether what reads something that ``mask`` selects can do with all of the array."""
    node, place = read
    if node is None or place == CONTROL or not _is_plain(node):
        return False
    if node.outputs[0] in masks:
        return True
    if node.op is SET_ITEM:
        return place == 1 and _mask_of(node, 2) is mask
    if node.op in _NEUTRAL or node.op is MEAN:
        t = node.inputs[0].dtype
        same = t == node.outputs[0].dtype and t.kind in "biuf" and t.itemsize * (t.kind == "f") != 2
        return same and not node.attrs["keepdims"] and node.attrs["axis"] in (None, (0,))
    return node.op in (SIZE, SHAPE)


# -- the same of whole arrays --------------------------------------------------------------------------------


def _visit(selected: Callable[[Graph], Masks], copy: Copy, node: Node) -> None:
    """Keep a node, or say it of whole arrays."""
    masks = selected(copy.source)
    value = node.inputs[1] if node.op is SET_ITEM else node.inputs[0] if node.inputs else None
    if node.outputs and node.outputs[0] in masks:
        copy.replace(node, [_element_by_element(copy, node, copy.stands(masks[node.outputs[0]]))])
    elif value is not None and value in masks:
        mask = copy.stands(masks[value])
        made = _put_back(copy, node, mask) if node.op is SET_ITEM else _reduced(copy, node, mask)
        copy.replace(node, [made])
    else:
        copy.keep(node)


def _make(
    copy: Copy, node: Node, op: Op, inputs: Sequence[Tensor], spec: tuple[Any, TensorShape], **attrs: Any
) -> Tensor:  # fmt: skip
    """Return the result of ``op`` in place of ``node``."""
    made = Node(copy.graph, op, tuple(inputs), attrs, [spec], node.name, node.location)
    copy.graph.nodes.append(made)
    return made.outputs[0]


def _element_by_element(copy: Copy, node: Node, mask: Tensor) -> Tensor:
    inputs = copy.inputs(node)
    if node.op is GETITEM:
        return inputs[0]
    if node.op is SET_ITEM:
        return _put_back(copy, node, mask)
    return _make(copy, node, node.op, inputs, (node.outputs[0].dtype, mask.shape), **node.attrs)


def _cast(copy: Copy, node: Node, x: Tensor, dtype: Any) -> Tensor:
    return x if x.dtype == dtype else _make(copy, node, CAST, [x], (dtype, x.shape), dtype=dtype)


def _put_back(copy: Copy, node: Node, mask: Tensor) -> Tensor:
    array, value, *_ = copy.inputs(node)
    return _make(copy, node, WHERE, [mask, _cast(copy, node, value, array.dtype), array], (array.dtype, array.shape))


def _reduced(copy: Copy, node: Node, mask: Tensor) -> Tensor:
    """Return the reduction of what the mask selects, or how much that is."""
    value, dtype = copy.inputs(node)[0], node.outputs[0].dtype
    over_all: dict[str, Any] = {"axis": tuple(range(len(mask.shape))), "keepdims": False}
    if node.op not in (SIZE, SHAPE):
        op = SUM if node.op is MEAN else node.op
        neutral = dtype.type(_NEUTRAL[op])
        other = _make(copy, node, CONST, (), (dtype, SCALAR), value=neutral)
        chosen = _make(copy, node, WHERE, [mask, value, other], (dtype, mask.shape))
        total = _make(copy, node, op, [chosen], (dtype, SCALAR), **over_all)
        if node.op is not MEAN:
            return total
    ones = _cast(copy, node, mask, np.dtype(np.int64))
    count = _cast(copy, node, _make(copy, node, SUM, [ones], (ones.dtype, SCALAR), **over_all), dtype)
    if node.op is SHAPE:
        return _make(copy, node, RESHAPE, [count], (dtype, node.outputs[0].shape), known=(1,))
    return count if node.op is SIZE else _make(copy, node, DIVIDE, [total, count], (dtype, SCALAR))
