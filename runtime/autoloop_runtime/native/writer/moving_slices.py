"""Slices whose extent the run decides: where they begin and how many elements they have, cut as NumPy cuts them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ir.graph import Node
from ...ops.index import Slice
from ..ir.casts import cast
from ..ir.elements import INT64
from ..ir.moving import Extent
from ..typing.static_slices import number_of
from .context import Context
from .values import Scalar, Value, resolve


def int_of(ctx: Context, value: Value) -> str:
    """Return an integer as an i64; one that is larger becomes the largest, as where NumPy cuts a slice."""
    value = resolve(value)
    assert isinstance(value, Scalar)
    text = cast(ctx.writer, ctx.module, value.text, value.t, INT64)
    if (value.t.kind, value.t.size) == ("u", 8):
        text = ctx.writer.let(f"call i64 @llvm.umin.i64(i64 {text}, i64 {2**63 - 1})")
    return text


def begin(
    ctx: Context, node: Node, first: int, values: Sequence[Value], entry: Slice, extent: int, taken: Extent
) -> str:  # fmt: skip
    """Return where a slice of an axis of ``extent`` begins; how many elements it takes is computed as ``taken``."""
    step = 1 if entry.step is None else number_of(entry.step, node, first, ctx.types)
    assert step
    size, let = ctx.extent(extent), ctx.writer.let
    low, high = ("0", size) if step > 0 else ("-1", let(f"sub nsw i64 {size}, 1"))

    def end(part: Any, missing: str) -> str:
        if part is None:
            return missing
        known = number_of(part, node, first, ctx.types)
        at = str(known) if known is not None else int_of(ctx, values[first + part.position])
        if known is None or known < 0:
            behind = let(f"icmp slt i64 {at}, 0")
            at = let(f"select i1 {behind}, i64 {let(f'add i64 {at}, {size}')}, i64 {at}")
            at = let(f"call i64 @llvm.smax.i64(i64 {at}, i64 {low})")
        return let(f"call i64 @llvm.smin.i64(i64 {at}, i64 {high})")

    start = end(entry.start, low if step > 0 else high)
    stop = end(entry.stop, high if step > 0 else low)
    if not ctx.has_extent(taken):
        span = let(f"sub nsw i64 {stop}, {start}" if step > 0 else f"sub nsw i64 {start}, {stop}")
        span = let(f"call i64 @llvm.smax.i64(i64 {span}, i64 0)")
        if abs(step) > 1:
            span = let(f"udiv i64 {let(f'add nuw nsw i64 {span}, {abs(step) - 1}')}, {abs(step)}")
        ctx.block.extents[taken] = span
    return start
