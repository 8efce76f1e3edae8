"""Index arrays side by side, or beside numbers, slices and masks: ``a[rows, cols]``, ``a[i, places]``, ``a[:, m]``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...base.dataclass import replace
from ...ir.graph import Node
from ...ops.index import Input
from ..ir.elements import INT64
from ..typing.index_shapes import Kinds, index_kinds
from ..typing.static_slices import number_of
from ..typing.told_extents import selected
from ..writer.context import Context
from ..writer.memory import put, seen, shifted
from ..writer.nests import Nest
from ..writer.node_writer import agree, array_of, flush
from ..writer.values import Array, Scalar, Shape, Value, resolve
from .element_index import index_of
from .selecting_rules import places_in

#: writes what belongs to a point: given the place in the array and the row that belongs to it
Write = Callable[[Array, Array], None]


class Points:
    """The places that an index with arrays names in ``x``; ``first``: of the inputs that are parts of it.

    Attributes
    ----------
    shape : tuple of int
        Of what the index names.
    """

    def __init__(self, ctx: Context, node: Node, first: int, values: Sequence[Value], x: Array) -> None:
        flush(ctx)
        self._ctx, self._node, self._values, self._x = ctx, node, values, x
        self._kinds: Kinds = index_kinds(node, first, ctx.types)
        self.shape: Shape = self._kinds.shape
        self._arrays: dict[int, Value] = {}
        self._offset: int | str = 0
        shape, strides = list[int](), list[int]()
        for axis, entry in self._kinds.axes:
            if axis is None:
                shape.append(1)
                strides.append(0)
            elif isinstance(entry, (Input, int)):
                self._point(axis, entry, first)
            else:
                parts = [number_of(part, node, first, ctx.types) for part in (entry.start, entry.stop, entry.step)]
                rows = range(*slice(*parts).indices(x.shape[axis]))
                self._move(rows.start * x.strides[axis] if len(rows) else 0)
                shape.append(len(rows))
                strides.append(rows.step * x.strides[axis])
        self._rest, self._strides = tuple(shape), tuple(strides)
        agree(ctx, node, values, list(self._arrays.values()), self._kinds.points)

    def _point(self, axis: int, entry: Any, first: int) -> None:
        value: Value = Scalar(str(entry), INT64)
        if isinstance(entry, Input):
            value = resolve(self._values[first + entry.position])
        if isinstance(value, Scalar):
            at = index_of(self._ctx, self._node, value, self._x.shape[axis], self._values)
            self._move(self._ctx.writer.let(f"mul nsw i64 {at}, {self._ctx.step(self._x.strides[axis])}"))
            return
        if value.t.kind != "b":  # type: ignore[union-attr]
            self._arrays[axis] = array_of(self._ctx, value)
            return
        count = selected(self._node.inputs[first + entry.position], self._ctx.types)
        self._arrays[axis] = places_in(self._ctx, self._node, self._values, value, self._x.shape[axis], count)

    def _move(self, step: int | str) -> None:
        if self._offset == 0:
            self._offset = step
        elif step != 0:
            before, step = (s if isinstance(s, str) else self._ctx.step(s) for s in (self._offset, step))
            self._offset = self._ctx.writer.let(f"add nsw i64 {before}, {step}")

    def each(self, rows: Array, write: Write, is_update: bool = False) -> None:
        """Write something for each point; all are checked before where that is an *update*, and no loop's."""
        if is_update and not self._ctx.loops:
            self._over(rows, None)
        self._over(rows, write)

    def _over(self, rows: Array, write: Write | None) -> None:
        points, let = self._kinds.points, self._ctx.writer.let
        if 0 in points:
            return
        at, depth = self._kinds.at, len(points)
        places = replace(rows, shape=points, strides=rows.strides[at : at + depth])
        nest = Nest(self._ctx, points, [*self._arrays.values(), places])
        with nest.loops(sequential=True):
            offset = self._offset
            for axis, array in self._arrays.items():
                index = Scalar(nest.element(array), array.t)  # type: ignore[union-attr]
                place = index_of(self._ctx, self._node, index, self._x.shape[axis], self._values)
                step = let(f"mul nsw i64 {place}, {self._ctx.step(self._x.strides[axis])}")
                offset = step if offset == 0 else let(f"add nsw i64 {offset}, {step}")
            if write is None:
                return
            strides = rows.strides[:at] + rows.strides[at + depth :]
            row = replace(rows, pointer=nest.address(places), shape=self._rest, strides=strides)
            write(shifted(self._ctx, self._x, offset, self._rest, self._strides), row)


def at_points(ctx: Context, node: Node, values: list[Value]) -> Value:
    """Return what an index with arrays names."""
    if isinstance(values[0], Scalar):
        ctx.refuse(node, "an index makes an array of a value without axes")
    x = array_of(ctx, values[0])
    points = Points(ctx, node, 1, [x, *values[1:]], x)
    out = ctx.result(node.outputs[0], x.t, points.shape)
    points.each(out, lambda place, row: put(ctx, seen(ctx, place), row))
    return seen(ctx, out)
