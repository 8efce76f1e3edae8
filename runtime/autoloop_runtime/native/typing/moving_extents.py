"""Shapes with extents that the run decides, and which operations there are of such arrays.

They begin with slices whose ends are tensors: ``x[:k]``, ``a[i + 1 :, j]``, ``v[rows[i] : rows[i + 1]]``. How many
elements a slice has is computed when it is taken, as NumPy cuts it; the array that it is taken of says how many it can
be. What can be done with them is the table at the end: the rules of those operations are written for it, and all others
are refused, for to them such an extent would be its bound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...ir.graph import Node
from ...ops.array import EXPAND, FLIP, RESHAPE, TRANSPOSE
from ...ops.identities import COPIED
from ...ops.index import Input, Slice
from ...ops.indexing import GETITEM, SET_ITEM
from ...ops.linalg import MATMUL
from ...ops.operands import CAST
from ...ops.powers import POW
from ...ops.reducing import SUM
from ...ops.reductions import ALL, ANY, ARGMAX, ARGMIN, MAX, MEAN, MIN, PROD
from ...ops.selection import WHERE
from ...ops.shape_queries import SHAPE, SIZE
from ..ir.moving import Extent, is_moving
from .facts import Shape, Types
from .refusal import refuse
from .static_slices import number_of, span_of, step_of

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
    tensor = node.inputs[first + part.position]
    while tensor in types.outside:
        tensor = types.outside[tensor]
    return "of", id(tensor)


def moving_shape(node: Node, types: Types) -> Shape:
    """Return the shape of the result of ``node``, of which, or of whose operands, the run decides an extent."""
    rule = _RULES.get(node.op)
    if rule is None and node.op.traits.elementwise and not node.op.stateful:
        rule = _pointwise if node.op.llvm or node.op.libm is not None or node.op in _BY_RULE else None
    if rule is None or node.declared:
        shapes = ", ".join(repr(types.shapes[t]) for t in node.operands if is_moving(types.shapes.get(t, ())))
        refuse(node, f"the shape of its operand, {shapes}, depends on values")
    return rule(node, types)


def part_shape(node: Node, first: int, types: Types) -> Shape:
    """Return the shape of what an index names: numbers, slices and new axes, or whole axes and an array of integers."""
    full, out = types.shapes[node.inputs[0]], list[int]()
    entries = entries_of(node, len(full))
    arrays = [e for e in entries if isinstance(e, Input) and _is_array(node.inputs[first + e.position], types)]
    if arrays and (len(arrays) > 1 or any(e not in (arrays[0], Slice(None, None, None)) for e in entries)):
        refuse(node, "the shape of its result depends on values, and it is indexed with arrays")
    axis = 0
    for entry in entries:
        if entry is None:
            out.append(1)
            continue
        if isinstance(entry, Slice):
            out.append(sliced(entry, full[axis], node, first, types))
        elif entry in arrays:
            indices = node.inputs[first + entry.position]
            if indices.dtype.kind not in "iu":
                refuse(node, "the shape of its result, which a mask selects, depends on values")
            out.extend(types.shapes[indices])
        axis += 1
    return tuple(out)


def _is_array(tensor: Any, types: Types) -> bool:
    return types.shapes[tensor] != () or tensor.dtype.kind == "b"


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


def _pointwise(node: Node, types: Types) -> Shape:
    return broadcast(node, [types.shapes[t] for t in node.operands])


def _same(node: Node, types: Types) -> Shape:
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
    """Return the shape of an array that gets or loses axes of extent 1: of others strides are not known beforehand."""
    full, known = types.shapes[node.inputs[0]], node.attrs["known"]
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


_RULES: dict[Any, Callable[[Node, Types], Shape]] = {
    GETITEM: lambda node, types: part_shape(node, 1, types),
    SET_ITEM: _same,
    FLIP: _same,
    COPIED: _same,
    EXPAND: _expanded,
    RESHAPE: _reshaped,
    SHAPE: lambda node, types: (len(types.shapes[node.inputs[0]]),),
    SIZE: lambda node, types: (),
    TRANSPOSE: _transposed,
    MATMUL: _multiplied,
    **dict.fromkeys((ARGMAX, ARGMIN), _place_of),
    **dict.fromkeys((SUM, PROD, MAX, MIN, ANY, ALL, MEAN), _reduced),
}
