"""Parts of arrays in the memory of these: what integers and slices index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ir.graph import Node
from ...ops.index import Input, Slice
from ..ir.casts import cast
from ..ir.elements import INT64
from ..ir.moving import Extent, is_moving
from ..typing.intervals import interval
from ..typing.moving_extents import entries_of, sliced
from ..typing.static_slices import number_of, span_of, step_of
from ..writer.context import Context
from ..writer.memory import shifted
from ..writer.moving_slices import begin
from ..writer.values import Array, Scalar, Shape, Value, resolve
from .element_index import index_of

_CUT_SHORT = "a slice is cut short where the array ends, so its extent depends on values"


class Basic:
    """An index of ints, slices, new axes and integer scalars, as an offset, a shape and strides.

    ``assigned`` is the shape of what is assigned to it: slices may be shorter where the array ends if it has no axes.
    """

    def __init__(
        self, ctx: Context, node: Node, first: int, values: Sequence[Value], x: Array, assigned: Shape | None = None
    ) -> None:
        self.ctx, self.node, self.first, self.values, self.x = ctx, node, first, values, x
        self.assigned = assigned
        self.offset: int | str = 0
        self.shape: list[int] = []
        self.strides: list[int] = []
        axis = 0
        entries = entries_of(node, len(x.shape))
        for place, entry in enumerate(entries):
            if entry is None:
                self.shape.append(1)
                self.strides.append(0)
                continue
            if isinstance(entry, Slice):
                after = sum(one is None or isinstance(one, Slice) for one in entries[place + 1 :])
                self._slice(entry, axis, after)
            else:
                self._point(entry, axis)
            axis += 1

    def _known(self, part: Any) -> Any:
        if not isinstance(part, Input):
            return part
        tensor = self.node.inputs[self.first + part.position]
        if tensor not in self.ctx.types.constants:
            self.ctx.refuse(self.node, "the extent of a slice depends on values")
        return int(self.ctx.types.constants[tensor])

    def _slice(self, entry: Slice, axis: int, after: int) -> None:
        extent, stride = self.x.shape[axis], self.x.strides[axis]
        types = self.ctx.types
        taken = sliced(entry, extent, self.node, self.first, types)
        span, step = span_of(entry, self.node, self.first, types), step_of(entry, self.node, self.first, types)
        begins = span is not None and step is not None and not isinstance(extent, Extent) and span <= extent
        cut = begins and self.assigned == ()
        if cut and span and step and not self._is_inside(entry, span, extent):
            taken = Extent(-(-span // step), object())
        if isinstance(taken, Extent) and entry != Slice(None, None, None):
            at = begin(self.ctx, self.node, self.first, self.values, entry, extent, taken)
            self._move(at if stride == 1 else self.ctx.writer.let(f"mul nsw i64 {at}, {self.ctx.step(stride)}"))
            self.shape.append(taken)
            by = 1 if entry.step is None else number_of(entry.step, self.node, self.first, types)
            assert by is not None
            self.strides.append(by * stride)
            return
        if isinstance(extent, Extent):  # all of it
            self.shape.append(extent)
            self.strides.append(stride)
            return
        if begins and span and step:
            at = self._start(entry, span, extent, after)
            self._move(at if stride == 1 else self.ctx.writer.let(f"mul nsw i64 {at}, {self.ctx.step(stride)}"))
            self.shape.append(-(-span // step))
            self.strides.append(step * stride)
            return
        rows = range(*slice(*[self._known(p) for p in (entry.start, entry.stop, entry.step)]).indices(extent))
        if len(rows):
            self._move(rows.start * stride)
        self.shape.append(len(rows))
        self.strides.append(rows.step * stride)

    def _is_inside(self, entry: Slice, span: int, extent: int) -> bool:
        """Return whether a slice of tensors that is ``span`` long is known to end where the array does, or before."""
        ctx = self.ctx
        known = interval(self.node.inputs[self.first + entry.start.position], ctx.types, [n for n, _ in ctx.loops])
        return known is not None and known[0] >= 0 and known[1] <= extent - span

    def _start(self, entry: Slice, span: int, extent: int, after: int) -> str:
        """Return where a slice of tensors begins, checked to be ``span`` long; so many axes are *after* it."""
        ctx, let, ends = self.ctx, self.ctx.writer.let, []
        for part in (entry.start, entry.stop):
            value = resolve(self.values[self.first + part.position])
            assert isinstance(value, Scalar)
            end = cast(ctx.writer, ctx.module, value.text, value.t, INT64)
            behind = let(f"icmp slt i64 {end}, 0")
            ends.append(let(f"select i1 {behind}, i64 {let(f'add i64 {end}, {extent}')}, i64 {end}"))
        if self._is_inside(entry, span, extent):
            return ends[0]
        inside = let(f"icmp ule i64 {ends[0]}, {extent - span}")
        whole = let(f"icmp eq i64 {let(f'sub i64 {ends[1]}, {ends[0]}')}, {span}")
        # what has a certain number of elements fits nowhere else
        fits = self.assigned is not None and len(self.assigned) > after and self.assigned[-1 - after] != 1
        refuses = "" if fits and not is_moving(self.assigned or ()) else _CUT_SHORT
        ctx.check(let(f"and i1 {inside}, {whole}"), self.node, self.values, refuses=refuses)
        return ends[0]

    def _point(self, entry: Any, axis: int) -> None:
        extent, stride, ctx = self.x.shape[axis], self.x.strides[axis], self.ctx
        if isinstance(entry, int) and not isinstance(extent, Extent):
            self._move((entry + extent if entry < 0 else entry) * stride)
            return
        if isinstance(entry, int):
            at = index_of(ctx, self.node, Scalar(str(entry), INT64), extent, self.values)
        else:
            place = self.first + entry.position
            at = index_of(ctx, self.node, self.values[place], extent, self.values, self.node.inputs[place])
        self._move(at if stride == 1 else ctx.writer.let(f"mul nsw i64 {at}, {ctx.step(stride)}"))

    def _move(self, step: int | str) -> None:
        if isinstance(step, int) and isinstance(self.offset, int):
            self.offset += step
        elif step != 0:
            if self.offset == 0:
                self.offset = step
                return
            before, step = (s if isinstance(s, str) else self.ctx.step(s) for s in (self.offset, step))
            self.offset = self.ctx.writer.let(f"add nsw i64 {before}, {step}")

    def part(self) -> Array:
        """Return the indexed part of the array."""
        return shifted(self.ctx, self.x, self.offset, tuple(self.shape), tuple(self.strides))
