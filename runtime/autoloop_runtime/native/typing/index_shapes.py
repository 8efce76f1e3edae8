"""Which axes arrays in an index stand for, and where in the result those are: as NumPy has it."""

from __future__ import annotations

from typing import Any

from ...base.dataclass import dataclass
from ...ir.graph import Node
from ...ops.index import Input, Slice
from ..ir.moving import is_moving
from .facts import Shape, Types
from .refusal import refuse
from .static_slices import number_of
from .told_extents import broadcast, selected


@dataclass(frozen=True)
class Kinds:
    """An index with arrays, taken apart.

    Attributes
    ----------
    axes : tuple of (int or None, entry)
        The axis of each entry, ``None`` of a new one.
    points : tuple of int
        To what the arrays broadcast.
    at : int
        At which axis of the result these axes begin.
    shape : tuple of int
        Of the result.
    """

    axes: tuple[tuple[int | None, Any], ...]
    points: Shape
    at: int
    shape: Shape


def index_kinds(node: Node, first: int, types: Types) -> Kinds:
    """Return the index of ``node``, whose tensors are its inputs from ``first`` on."""
    full, given = types.shapes[node.inputs[0]], node.attrs["index"].entries
    used = sum(1 for e in given if e is not None and e is not Ellipsis)
    axes: list[tuple[int | None, Any]] = []
    shapes: list[Shape] = []
    before: list[int] = []
    behind: list[int] = []
    state = 0  # before the arrays, among them, behind them; 3: they stand apart
    axis = 0
    for entry in given:
        for one in [Slice(None, None, None)] * (len(full) - used) if entry is Ellipsis else [entry]:
            is_point = isinstance(one, (Input, int)) and not isinstance(one, bool)
            if is_point:
                state = {0: 1, 1: 1}.get(state, 3)
                if isinstance(one, Input):
                    shapes.append(_shape_of(node, node.inputs[first + one.position], full, axis, types))
            else:
                extent = 1 if one is None else _taken(node, one, first, full[axis], types)
                (behind if state else before).append(extent)
                state = 2 if state == 1 else state
            axes.append((None if one is None else axis, one))
            axis += one is not None
        if entry is Ellipsis and state == 1:
            state = 2
    axes += [(k, Slice(None, None, None)) for k in range(axis, len(full))]
    behind += full[axis:]
    _check_counts(node, shapes)
    points = broadcast(node, shapes)
    at = 0 if state == 3 else len(before)
    rest = (*before, *behind)
    return Kinds(tuple(axes), points, at, rest[:at] + points + rest[at:])


def _shape_of(node: Node, tensor: Any, full: Shape, axis: int, types: Types) -> Shape:
    shape = types.shapes[tensor]
    if tensor.dtype.kind != "b":
        return shape
    if len(shape) != 1 or is_moving((shape[0], full[axis])) or shape[0] != full[axis]:
        refuse(node, "beside other parts of an index a mask has machine code if it has one axis, of known extent")
    return (selected(tensor, types),)


def _check_counts(node: Node, shapes: list[Shape]) -> None:
    """Refuse index arrays side by side of which one is as long as the run says: of one element it is repeated."""
    counts = {shape[-1] for shape in shapes if shape and shape != (1,)}
    if len(counts) > 1 and is_moving(tuple(counts)):
        refuse(node, "which of the arrays in an index has one element, which is repeated, depends on values")


def _taken(node: Node, entry: Slice, first: int, extent: int, types: Types) -> int:
    """Return how many elements a slice beside arrays takes."""
    if entry == Slice(None, None, None) and not is_moving((extent,)):
        return extent
    parts = [number_of(part, node, first, types) for part in (entry.start, entry.stop, entry.step)]
    known = all(n is not None or part is None for n, part in zip(parts, (entry.start, entry.stop, entry.step)))
    if not known or is_moving((extent,)):
        refuse(node, "beside arrays in an index the extent of a slice depends on values")
    return len(range(*slice(*parts).indices(extent)))
