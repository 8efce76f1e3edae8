"""Shapes with extents that the run decides, and which operations there are of such arrays.

They begin with slices whose ends are tensors: ``x[:k]``, ``a[i + 1 :, j]``, ``v[rows[i] : rows[i + 1]]``, and with what
masks select: ``x[m]``, ``np.nonzero(m)``. How many elements there are is computed when they are taken; the array that
they are taken of says how many it can be. What can be done with them is the table at the end: the rules of those
operations are written for it, and all others are refused, for to them such an extent would be its bound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...collections.accumulators import ACCUMULATE_AT
from ...ir.graph import Node
from ...ops.array import EXPAND, FLIP, RESHAPE, SQUEEZE, TRANSPOSE
from ...ops.broadcasting import BROADCAST_TO, SUM_TO
from ...ops.creation import RANGE
from ...ops.filled import FILL
from ...ops.gathering import GATHER
from ...ops.identities import COPIED
from ...ops.index import Input, Slice
from ...ops.indexing import ADD_AT, GETITEM, INDEX_ADD, SET_ITEM
from ...ops.joining import CONCAT, STACK, UNSTACK
from ...ops.linalg import DOT, MATMUL, SQUARES
from ...ops.operands import CAST
from ...ops.powers import POW
from ...ops.reducing import SUM
from ...ops.reductions import ALL, ANY, ARGMAX, ARGMIN, MAX, MEAN, MIN, PROD
from ...ops.running_sums import CUMPROD, CUMSUM
from ...ops.selection import ARGWHERE, WHERE
from ...ops.shape_queries import SHAPE, SIZE
from ...ops.sorting import ARGSORT, SORT
from ..ir.moving import Extent, is_moving
from .facts import Shape, Types
from .index_shapes import index_kinds
from .intervals import outermost
from .refusal import refuse
from .static_slices import number_of, span_of, step_of
from .told_extents import broadcast, extent_told, selected, shape_told

_WHOLE = Slice(None, None, None)
#: element-wise operations without a template whose rules are written for all shapes
_BY_RULE = (CAST, WHERE, POW)


def entries_of(node: Node, rank: int) -> list[Any]:
    """Return the entries of an index, the ellipsis written out, masks counted as the axes they stand for."""
    entries = list(node.attrs["index"].entries)
    used = sum(1 for e in entries if e is not None and e is not Ellipsis)
    fill = [Slice(None, None, None)] * (rank - used)
    at = entries.index(Ellipsis) if Ellipsis in entries else len(entries)
    return [*entries[:at], *fill, *entries[at + 1 :]]


def sliced(entry: Slice, extent: int, node: Node, first: int, types: Types) -> int:
    """Return how many elements ``entry`` takes of an axis: the run decides it where the axis or an end is its."""
    if entry == Slice(None, None, None):
        return extent
    parts = [number_of(part, node, first, types) for part in (entry.start, entry.stop, entry.step)]
    known = all(n is not None or part is None for n, part in zip(parts, (entry.start, entry.stop, entry.step)))
    if known and not isinstance(extent, Extent):
        return len(range(*slice(*parts).indices(extent)))
    if not isinstance(extent, Extent):
        span, step = span_of(entry, node, first, types), step_of(entry, node, first, types)
        if span and step and span <= extent:
            return -(-span // step)
    by = 1 if entry.step is None else parts[2]
    if not by:
        refuse(node, "the step of a slice depends on values")
    ends = [_name(part, n, node, first, types) for part, n in zip((entry.start, entry.stop), parts)]
    return Extent(-(-int(extent) // abs(by)), (extent, *ends, by))


def _name(part: Any, known: int | None, node: Node, first: int, types: Types) -> object:
    """Return what tells an end of a slice from another: the number, or whose value it is."""
    if part is None or known is not None:
        return known
    return "of", id(outermost(node.inputs[first + part.position], types))


def moving_shape(node: Node, types: Types) -> Shape:
    """Return the shape of the results of ``node``, of which, or of whose operands, the run decides an extent."""
    rule = _RULES.get(node.op)
    if rule is None and node.op.traits.elementwise and not node.op.stateful:
        rule = _pointwise if node.op.llvm or node.op.libm is not None or node.op in _BY_RULE else None
    if rule is None or node.declared:
        shapes = ", ".join(repr(types.shapes[t]) for t in node.operands if is_moving(types.shapes.get(t, ())))
        refuse(node, f"the shape of its operand, {shapes}, depends on values")
    return rule(node, types)


def may_begin(node: Node) -> bool:
    """Return whether the run may decide an extent of the result of ``node`` though none of its operands."""
    return node.op in _BEGINNINGS and not node.declared


def part_shape(node: Node, first: int, types: Types) -> Shape:
    """Return the shape of what an index names: numbers, slices and new axes, or whole axes and an array of integers, or
    a mask of the first axes."""
    full, out = types.shapes[node.inputs[0]], list[int]()
    mask = mask_of(node, first)
    if mask is not None:
        return selected(mask, types), *full[len(types.shapes[mask]) :]
    entries = entries_of(node, len(full))
    arrays = [e for e in entries if isinstance(e, Input) and _is_array(node.inputs[first + e.position], types)]
    if arrays:
        return index_kinds(node, first, types).shape
    axis = 0
    for entry in entries:
        if entry is None:
            out.append(1)
            continue
        if isinstance(entry, Slice):
            out.append(sliced(entry, full[axis], node, first, types))
        elif isinstance(entry, int) and not isinstance(full[axis], Extent) and not -full[axis] <= entry < full[axis]:
            refuse(node, f"it fails for these shapes: index {entry} is out of bounds for axis {axis}")
        axis += 1
    return tuple(out)


def mask_of(node: Node, first: int) -> Any:
    """Return the mask of the first axes that is the index of ``node``, whole axes behind it; None if that is another
    one."""
    index = node.attrs["index"].entries
    if not index or not isinstance(index[0], Input) or any(e not in (Ellipsis, _WHOLE) for e in index[1:]):
        return None
    mask = node.inputs[first + index[0].position]
    return mask if mask.dtype.kind == "b" and mask.shape.rank else None


def _is_array(tensor: Any, types: Types) -> bool:
    return types.shapes[tensor] != () or tensor.dtype.kind == "b"


def _pointwise(node: Node, types: Types) -> Shape:
    return broadcast(node, [types.shapes[t] for t in node.operands])


def _same(node: Node, types: Types) -> Shape:
    return types.shapes[node.inputs[0]]


def _added_to(node: Node, types: Types) -> Shape:
    """Return the shape of what is added to at an index of numbers, slices and new axes."""
    if any(_is_array(t, types) for t in node.inputs[2:]):
        refuse(node, "it adds at places of arrays, and their number depends on values")
    if node.op is INDEX_ADD:
        return shape_told(node, node.inputs[0], types)
    return types.shapes[node.inputs[0]]


def _transposed(node: Node, types: Types) -> Shape:
    shape, axes = types.shapes[node.inputs[0]], node.attrs["axes"]
    return shape[::-1] if axes is None else tuple([shape[a] for a in axes])


def _expanded(node: Node, types: Types) -> Shape:
    full, axes = types.shapes[node.inputs[0]], node.attrs["axis"]
    rank, rest = len(full) + len(axes), iter(full)
    new = [a % rank for a in axes]
    return tuple([1 if a in new else next(rest) for a in range(rank)])


def _reshaped(node: Node, types: Types) -> Shape:
    """Return the shape of an array that gets or loses axes of extent 1: of others strides are not known beforehand.

    That the extent of a line is the one asked for is checked when it runs.
    """
    full, known = types.shapes[node.inputs[0]], node.attrs["known"]
    if len(full) == 1 and known is not None and len(known) == 1:
        return full if known[0] in (None, -1) else (known[0],)
    there = [n for n in full if n != 1]
    rest = iter(there)
    out = tuple([1 if n == 1 else next(rest, 0) for n in known]) if len(node.inputs) == 1 else ()
    told = [n for n in known or () if n != 1]
    fits = [isinstance(n, Extent) if wanted == -1 else n == wanted for n, wanted in zip(there, told)]
    if not out or len(told) != len(there) or not all(fits):
        refuse(node, f"the shape of its operand, {full}, depends on values, and not only axes of extent 1 come and go")
    return out


def _reduced(node: Node, types: Types) -> Shape:
    shape, axis = types.shapes[node.inputs[0]], node.attrs["axis"]
    gone = range(len(shape)) if axis is None else [a % len(shape) for a in axis]
    kept = [1 if a in gone else n for a, n in enumerate(shape)]
    return tuple(kept) if node.attrs["keepdims"] else tuple([n for a, n in enumerate(shape) if a not in gone])


def _place_of(node: Node, types: Types) -> Shape:
    """Return the shape of places along one axis: those among all elements would be counted with a run's extents."""
    if len(types.shapes[node.inputs[0]]) != 1 and len(node.attrs["axis"] or ()) != 1:
        refuse(node, "the shape of its operand depends on values, and it counts along several axes")
    return _reduced(node, types)


def _multiplied(node: Node, types: Types) -> Shape:
    a, b = (types.shapes[t] for t in node.inputs)
    if max(len(a), len(b)) > 2:
        refuse(node, "of several matrices whose extents depend on values it has no machine code")
    return a[:-1] + b[1:]


def _without(node: Node, types: Types) -> Shape:
    """Return the shape without axes of extent 1, of which the run decides none."""
    shape, axes = types.shapes[node.inputs[0]], node.attrs["axis"]
    if (axes is None and is_moving(shape)) or any(isinstance(shape[a], Extent) for a in axes or ()):
        refuse(node, "whether an axis has one element depends on values; name the axes that have one")
    gone = [a % len(shape) for a in axes or ()]
    return tuple([n for a, n in enumerate(shape) if a not in gone])


def _gathered(node: Node, types: Types) -> Shape:
    full, taken = (types.shapes[t] for t in node.inputs)
    axis = node.attrs["axis"] % len(full)
    return full[:axis] + taken + full[axis + 1 :]


def _joined(node: Node, types: Types) -> Shape:
    shapes = [types.shapes[t] for t in node.inputs]
    axis = node.attrs["axis"] % len(shapes[0])
    along = [shape[axis] for shape in shapes]
    moving = [n for n in along if isinstance(n, Extent)]
    known = sum(n for n in along if not isinstance(n, Extent))
    total = Extent(sum(map(int, along)), ("sum", known, *moving)) if moving else known
    rest = [shape[:axis] + shape[axis + 1 :] for shape in shapes]
    common = _one_of(node, rest)
    return common[:axis] + (total,) + common[axis:]


def _stacked(node: Node, types: Types) -> Shape:
    common = _one_of(node, [types.shapes[t] for t in node.inputs])
    axis = node.attrs["axis"] % (len(common) + 1)
    return common[:axis] + (len(node.inputs),) + common[axis:]


def _one_of(node: Node, shapes: Sequence[Shape]) -> Shape:
    """Return the shape that all of ``shapes`` are, which is checked when it runs."""
    if any(1 in shape for shape in shapes) and any(1 not in shape for shape in shapes):
        refuse(node, f"whether the shapes {', '.join(map(repr, shapes))} are equal depends on values")
    return broadcast(node, shapes)


def _unstacked(node: Node, types: Types) -> Shape:
    shape = types.shapes[node.inputs[0]]
    axis = node.attrs["axis"] % len(shape)
    if isinstance(shape[axis], Extent):
        refuse(node, "how many parts there are depends on values")
    return shape[:axis] + shape[axis + 1 :]


def _true(node: Node, types: Types) -> Shape:
    if not types.shapes[node.inputs[0]]:
        refuse(node, "the shape of its result depends on values")
    return selected(node.inputs[0], types), len(types.shapes[node.inputs[0]])


def _filled(node: Node, types: Types) -> Shape:
    return shape_told(node, node.inputs[1], types)


def _broadcast_to(node: Node, types: Types) -> Shape:
    """Return the shape that is told of what each axis of has one element, or as many as told."""
    shape = shape_told(node, node.inputs[1], types)
    full = types.shapes[node.inputs[0]]
    if len(full) > len(shape) or any(n != 1 and n != wanted for n, wanted in zip(full[::-1], shape[::-1])):
        refuse(node, f"whether an array of shape {full} broadcasts to {shape} depends on values")
    return shape


def _summed_to(node: Node, types: Types) -> Shape:
    """Return the shape that is told, to which axes in front, and those that have one element there, are summed."""
    shape = shape_told(node, node.inputs[1], types)
    full = types.shapes[node.inputs[0]]
    if len(full) < len(shape) or any(n not in (1, had) for n, had in zip(shape[::-1], full[::-1])):
        refuse(node, f"whether shape {full} is summed to {shape} depends on values")
    return shape


def _counted(node: Node, types: Types) -> Shape:
    start, limit, step = node.inputs
    from_zero = types.constants.get(start) == 0 and types.constants.get(step) == 1
    if not from_zero or node.outputs[0].dtype.kind not in "iu":
        refuse(node, "the shape of its result depends on values")
    return (extent_told(node, limit, types),)


#: those whose results may have extents that the run decides, though their operands have none
_BEGINNINGS = (GETITEM, ARGWHERE, FILL, BROADCAST_TO, RANGE, INDEX_ADD)
_RULES: dict[Any, Callable[[Node, Types], Shape]] = {
    GETITEM: lambda node, types: part_shape(node, 1, types),
    ARGWHERE: _true,
    FILL: _filled,
    SUM_TO: _summed_to,
    BROADCAST_TO: _broadcast_to,
    RANGE: _counted,
    EXPAND: _expanded,
    SQUEEZE: _without,
    RESHAPE: _reshaped,
    SHAPE: lambda node, types: (len(types.shapes[node.inputs[0]]),),
    SIZE: lambda node, types: (),
    TRANSPOSE: _transposed,
    GATHER: _gathered,
    CONCAT: _joined,
    STACK: _stacked,
    UNSTACK: _unstacked,
    **dict.fromkeys((SET_ITEM, FLIP, COPIED, CUMSUM, CUMPROD, SORT, ARGSORT), _same),
    **dict.fromkeys((ADD_AT, INDEX_ADD, ACCUMULATE_AT), _added_to),
    **dict.fromkeys((ARGMAX, ARGMIN), _place_of),
    **dict.fromkeys((MATMUL, DOT), _multiplied),
    SQUARES: lambda node, types: (),
    **dict.fromkeys((SUM, PROD, MAX, MIN, ANY, ALL, MEAN), _reduced),
}
