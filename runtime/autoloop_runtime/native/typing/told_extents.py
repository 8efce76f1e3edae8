"""Extents that a tensor tells: ``np.zeros(len(x[m]))``, ``np.ones(x[:k].shape)``, ``np.arange(2 * m.sum() + 1)``.

They must have a bound, for memory is laid out before the run: that of other extents, of which they are sums, products
and parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from ...collections.saved_stacks import READ
from ...collections.tensor_array_ops import SIZE as ELEMENTS
from ...ir.graph import Node
from ...ir.tensor import Tensor
from ...ops.arithmetic import ADD, FLOOR_DIVIDE, MULTIPLY, SUBTRACT
from ...ops.array import RESHAPE
from ...ops.exact_numbers import EXACT_ADD, EXACT_MULTIPLY, EXACT_SUBTRACT
from ...ops.identities import IDENTITY
from ...ops.indexing import GETITEM
from ...ops.joining import STACK
from ...ops.operands import CAST
from ...ops.reducing import SUM
from ...ops.shape_queries import SHAPE, SIZE
from ..ir.moving import Extent
from .facts import Shape, Types
from .intervals import interval, outermost
from .refusal import refuse

#: for more elements than this no memory is laid out before it is known how many there are
_MOST_ELEMENTS = 1 << 24
#: where nothing says how many a list has, it is laid out as an array of so many, and of so many bytes
_SUPPOSED, _SUPPOSED_BYTES = 1 << 20, 1 << 28
#: what gives the same number
_SAME = (CAST, IDENTITY)
#: how large a number can be that is computed of two others, neither of them negative
_MOST: dict[Any, Callable[[int, int], int]] = {
    **dict.fromkeys((ADD, EXACT_ADD), lambda a, b: a + b),
    **dict.fromkeys((MULTIPLY, EXACT_MULTIPLY), lambda a, b: a * b),
    FLOOR_DIVIDE: lambda a, b: a,
}
#: what may be less than 0: no extent then, and no bound of what is computed of it
_LESS = (SUBTRACT, EXACT_SUBTRACT)


def selected(mask: Tensor, types: Types) -> int:
    """Return how many elements of ``mask`` are true: a number, as the trace has it, where the mask is known."""
    given = outermost(mask, types)
    if given in types.constants:
        return int(np.count_nonzero(types.constants[given]))
    return Extent(prod(types.shapes[mask]), ("true", id(given)))


def elements_of(node: Node, flow: Tensor, element: Shape, types: Types) -> Extent:
    """Return how many elements a TensorArray has that grows, of which ``node`` makes an array; ``element`` is the shape
    of one. Where nothing says how many at most it is checked that they are not more than memory is laid out for."""
    flow = outermost(flow, types)
    room = types.rooms.get(flow)
    if room is not None and room[0] is None and room[1] <= _MOST_ELEMENTS:
        return Extent(room[1], ("elements", id(flow)))
    most = min(_SUPPOSED, _SUPPOSED_BYTES // max(prod(element) * node.outputs[0].dtype.itemsize, 1))
    if not most:
        refuse(node, "how many elements the TensorArray has depends on values, and nothing says how many at most")
    return Extent(most, ("elements", id(flow)))


def broadcast(node: Node, shapes: Sequence[Shape]) -> Shape:
    """Return the shape to which ``shapes`` broadcast if, as is checked when it runs, no extent of the run's is another.

    An extent that is known is that of all; of those that are not, the first says it.
    """
    rank = max(map(len, shapes))
    out = []
    for axis in range(-rank, 0):
        there = [shape[axis] for shape in shapes if len(shape) >= -axis]
        wide = [n for n in there if n != 1]
        known = {n for n in wide if not isinstance(n, Extent)}
        if len(known) > 1:
            refuse(node, f"it fails for these shapes: {tuple(shapes)!r}")
        out.append(known.pop() if known else wide[0] if wide else 1)
    return tuple(out)


def shape_told(node: Node, dims: Tensor, types: Types) -> Shape:
    """Return the shape that a vector tells ``node``."""
    return tuple([e if isinstance(e, int) else extent_told(node, e, types) for e in _entries(node, dims, types)])


def _entries(node: Node, dims: Tensor, types: Types) -> list[Any]:
    """Return the entries of a vector that tells a shape: numbers, extents, or scalar tensors."""
    dims = outermost(dims, types)
    if dims in types.constants:
        return [int(n) for n in types.constants[dims]]
    made = dims.op
    if made.op is SHAPE:
        return [*types.shapes[made.inputs[0]]]
    if made.op is STACK:
        return [*made.inputs]
    if made.op is RESHAPE and made.inputs[0].shape.rank == 0:
        return [made.inputs[0]]
    if made.op in _SAME or (made.op is RESHAPE and made.inputs[0].shape.rank == 1):
        return _entries(node, made.inputs[0], types)
    if made.op is READ and dims.shape.is_fully_defined():  # a shape that the loop behind has saved for its gradient
        return [Extent(_SUPPOSED, ("entry", id(dims), k)) for k in range(dims.shape.as_tuple()[0])]
    refuse(node, "the shape of its result depends on values, and what tells it is no shape or list of numbers")


def extent_told(node: Node, entry: Tensor, types: Types, may_be_less: bool = True) -> int:
    """Return the extent that a scalar tells ``node``, which has a bound; ``may_be_less``: less than 0, too."""
    entry = outermost(entry, types)
    if entry in types.constants:
        return int(types.constants[entry])
    made = entry.op
    if made.op in _SAME and made.inputs[0].dtype.kind in "iu":
        return _in_range(node, extent_told(node, made.inputs[0], types, may_be_less), entry)
    if made.op is GETITEM and len(made.inputs) == 1 and made.inputs[0].shape.rank == 1:
        (at,) = made.attrs["index"].entries
        if isinstance(at, int):
            found = _entries(node, made.inputs[0], types)[at]
            return found if isinstance(found, int) else extent_told(node, found, types, may_be_less)
    if made.op is ELEMENTS:
        return elements_of(node, made.inputs[0], (), types)
    if made.op is SIZE:
        shape = types.shapes[made.inputs[0]]
        return shape[0] if len(shape) == 1 else Extent(prod(shape), ("of", id(entry)))
    if made.op is SUM and made.outputs[0].shape.rank == 0 and made.inputs[0].op.op is CAST:
        counted = made.inputs[0].op.inputs[0]
        if counted.dtype.kind == "b":
            return _in_range(node, selected(counted, types), entry)
    between = interval(entry, types, types.loops)
    if between is not None and (between[0] >= 0 or may_be_less):
        return Extent(max(between[1], 0), ("of", id(entry)))
    if made.op in _MOST or (made.op in _LESS and may_be_less):
        parts = [int(extent_told(node, t, types, False)) for t in made.inputs]
        if min(parts) >= 0:
            most = parts[0] if made.op in _LESS else _MOST[made.op](*parts)
            return Extent(most, ("of", id(entry)))
    refuse(node, "the shape of its result depends on values, and it is not known how large that can be")


def _in_range(node: Node, extent: int, told: Tensor) -> int:
    """Return an extent that ``told`` is unless it has too few bits for that."""
    if int(extent) > np.iinfo(told.dtype).max:
        refuse(node, f"the shape of its result depends on values, and {told.dtype} may be too small for it")
    return extent
