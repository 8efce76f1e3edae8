"""Parts of arrays, and single elements of them: read, written, looked at as values; and values that change places."""

from __future__ import annotations

from collections.abc import Sequence

from ...base.dataclass import replace
from ...ir.graph import Node
from ..ir.elements import BOOL
from .context import Context
from .nests import store
from .values import Array, Nothing, Rows, Scalar, Shape, Splat, Value, buffers, fills, parts_of, resolve


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


def is_one_value(value: Value) -> bool:
    """Return whether all elements are known to be equal, so that only the shape matters."""
    return isinstance(resolve(value), (Scalar, Splat))


def splat(ctx: Context, node: Node, value: Value, index: int = 0) -> Value:
    """Return ``value``, of which all elements are equal, in the shape of an output of ``node``."""
    value = resolve(value)
    assert isinstance(value, (Scalar, Splat))
    shape = ctx.shape_of(node.outputs[index])
    return Splat(value.text, value.t, shape) if shape else Scalar(value.text, value.t)


def move_all(ctx: Context, moves: Sequence[tuple[Value, Value]]) -> None:
    """Copy each value to its place, as if all at once."""
    pairs: list[tuple[Value, Array]] = []
    for value, place in moves:
        if isinstance(value, Nothing):
            assert isinstance(place, Rows)
            pairs.append((Splat("false", BOOL, place.written.shape), place.written))
            continue
        sources: Sequence[Value] = parts_of(value) if isinstance(value, Rows) else [value]
        pairs.extend((s, p) for s, p in zip(sources, parts_of(place)) if not _there(s, p))
    goals = {p.buffer for _, p in pairs}
    ready = []
    for value, place in pairs:
        if any(b in goals and b is not place.buffer for b in buffers(value)) or _shuffled(value, place):
            copy = ctx.temporary(place.t, place.shape)
            store(ctx, value, copy)
            value = copy
        ready.append((value, place))
    for value, place in ready:
        store(ctx, value, place)


def _there(value: Value, place: Array) -> bool:
    return isinstance(value, Array) and value.pointer == place.pointer and fills(value)


def _shuffled(value: Value, place: Array) -> bool:
    """Return whether ``value`` is another view of the very memory it must be copied to."""
    if isinstance(value, Array) and fills(value):
        return False  # the same order: copied onto itself at worst
    return place.buffer in set(buffers(value))
