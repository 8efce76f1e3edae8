"""Parts of arrays, and single elements of them: read, written, looked at as values."""

from __future__ import annotations

from ...base.dataclass import replace
from .context import Context
from .nests import store
from .values import Array, Scalar, Shape, Value, resolve


def shifted(ctx: Context, array: Array, offset: int | str, shape: Shape, strides: Shape) -> Array:
    """Return a part of ``array`` that starts ``offset`` elements further on."""
    pointer = array.pointer
    if offset != 0:
        pointer = ctx.writer.let(f"getelementptr {array.t.memory}, ptr {pointer}, i64 {offset}")
    return Array(pointer, array.t, shape, strides, array.buffer, array.owned)


def reverse(ctx: Context, x: Array, axis: int) -> Array:
    """Return ``x`` backwards along an axis that is not empty."""
    offset = (x.shape[axis] - 1) * x.strides[axis]
    pointer = ctx.writer.let(f"getelementptr {x.t.memory}, ptr {x.pointer}, i64 {offset}")
    strides = tuple([-s if a == axis else s for a, s in enumerate(x.strides)])
    return replace(x, pointer=pointer, strides=strides)


def loaded(ctx: Context, array: Array) -> Scalar:
    """Return the first element of ``array``."""
    t = array.t
    raw = ctx.writer.let(f"load {t.memory}, ptr {array.pointer}, align {t.align}")
    return Scalar(ctx.writer.let(f"trunc i8 {raw} to i1") if t.kind == "b" else raw, t)


def put(ctx: Context, value: Value, array: Array) -> None:
    """Write ``value``, which may be a scalar, to ``array``."""
    value = resolve(value)
    if isinstance(value, Scalar) and array.shape == ():
        t = value.t
        text = ctx.writer.let(f"zext i1 {value.text} to i8") if t.kind == "b" else value.text
        ctx.writer.do(f"store {t.memory} {text}, ptr {array.pointer}, align {t.align}")
    else:
        store(ctx, value, array)


def seen(ctx: Context, array: Array) -> Value:
    """Return ``array``, or its element if it has no axes."""
    return array if array.shape else loaded(ctx, array)
