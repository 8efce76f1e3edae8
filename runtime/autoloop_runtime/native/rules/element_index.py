"""One element of an axis, named by a number."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.graph import Node
from ...ir.tensor import Tensor
from ..ir.casts import cast
from ..ir.elements import INT64
from ..ir.moving import Extent
from ..typing.intervals import interval
from ..writer.context import Context
from ..writer.values import Scalar, Value, resolve


def index_of(
    ctx: Context, node: Node, value: Value, extent: int, values: Sequence[Value], tensor: Tensor | None = None
) -> str:  # fmt: skip
    """Return an index as an i64 from 0, checked unless it is known to be inside; a negative one counts from the end.

    ``tensor``: what it is the value of.
    """
    value = resolve(value)
    assert isinstance(value, Scalar)
    writer, size = ctx.writer, ctx.extent(extent)
    at = cast(writer, ctx.module, value.text, value.t, INT64)
    known = None if tensor is None else interval(tensor, ctx.types, [loop for loop, _ in ctx.loops])
    inside = known is not None and not isinstance(extent, Extent) and -extent <= known[0] and known[1] < extent
    if inside and known is not None and known[0] >= 0:
        return at
    if value.t.kind == "i":
        behind = writer.let(f"icmp slt i64 {at}, 0")
        at = writer.let(f"select i1 {behind}, i64 {writer.let(f'add i64 {at}, {size}')}, i64 {at}")
    if not inside:
        ctx.check(writer.let(f"icmp ult i64 {at}, {size}"), node, values)
    return at
