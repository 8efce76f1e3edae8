"""Parts of arrays, and single elements of them: read, written, looked at as values; and values that change places."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.graph import Node
from ..ir.elements import BOOL
from ..ir.moving import Extent
from .context import Context
from .nests import store
from .values import Array, Nothing, Rows, Scalar, Shape, Splat, Value, buffers, fills, parts_of, resolve, size_of


def shifted(ctx: Context, array: Array, offset: int | str, shape: Shape, strides: Shape) -> Array:
    """Return a part of ``array`` that starts ``offset`` elements further on."""
    pointer = array.pointer
    if offset != 0:
        text = offset if isinstance(offset, str) else ctx.step(offset)
        pointer = ctx.writer.let(f"getelementptr {array.t.memory}, ptr {pointer}, i64 {text}")
    return Array(pointer, array.t, shape, strides, array.buffer, array.owned)


def reverse(ctx: Context, x: Array, axis: int) -> Array:
    """Return ``x`` backwards along an axis that is not empty, unless the run decides that."""
    n, stride, let = x.shape[axis], x.strides[axis], ctx.writer.let
    offset: int | str = 0
    if isinstance(n, Extent):
        offset = let(f"mul nsw i64 {let(f'sub nsw i64 {ctx.extent(n)}, 1')}, {ctx.step(stride)}")
    else:
        offset = (n - 1) * stride
    strides = tuple([-s if a == axis else s for a, s in enumerate(x.strides)])
    return shifted(ctx, x, offset, x.shape, strides)


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
    if not isinstance(value, Array) or value.pointer != place.pointer:
        return False
    return fills(value) or (value.shape, value.strides) == (place.shape, place.strides)


def _shuffled(value: Value, place: Array) -> bool:
    """Return whether ``value`` is another view of the very memory it must be copied to."""
    if isinstance(value, Array) and fills(value):
        return False  # the same order: copied onto itself at worst
    return place.buffer in set(buffers(value))


# -- parts of one array -------------------------------------------------------------------------------------


def move(ctx: Context, source: Array, place: Array) -> None:
    """Copy ``source``, which broadcasts to the shape of ``place``, there: its elements may be in the same memory.

    Where both step alike, the one that lies first in memory is copied in that order, and the other backwards, as
    ``memmove`` does: nothing is written before it is read. Otherwise the elements are copied elsewhere first.
    """
    if 0 in place.shape:
        return
    alike = source.shape == place.shape and _steps(source) == _steps(place)
    for axis, n in enumerate(place.shape) if alike else ():
        if n != 1 and place.strides[axis] < 0:
            source, place = reverse(ctx, source, axis), reverse(ctx, place, axis)
    axes = _outer_axes(place) if alike else None
    if axes is None:
        copy: Array = ctx.temporary(source.t, source.shape)
        store(ctx, source, copy)
        store(ctx, copy, place)
        return
    size = place.t.size * size_of(place.shape)
    for axis in axes:
        size //= place.shape[axis]
    ahead = ctx.writer.let(f"icmp ule ptr {place.pointer}, {source.pointer}") if axes else ""
    _move_rows(ctx, source, place, axes, ahead, size)


def _steps(array: Array) -> list[int]:
    """Return the strides of ``array`` along axes that it has more than one element of."""
    return [s for s, n in zip(array.strides, array.shape) if n != 1]


def _outer_axes(array: Array) -> list[int] | None:
    """Return, from the one with the largest steps, the axes around those along which ``array`` has no gaps; None if the
    elements are not in the order of their addresses then."""
    outer: list[int] = []
    filled, behind = 1, 1
    for axis in sorted(range(len(array.shape)), key=lambda k: array.strides[k]):
        n, stride = array.shape[axis], array.strides[axis]
        if n == 1:
            continue
        if stride < behind:
            return None
        if not outer and stride == filled:
            filled *= n
        else:
            outer.append(axis)
        behind += (n - 1) * stride
    return outer[::-1]


def _move_rows(ctx: Context, source: Array, place: Array, axes: Sequence[int], ahead: str, size: int) -> None:
    """Move ``size`` bytes at each index along ``axes``, from the last on unless ``ahead``."""
    let, pointers = ctx.writer.let, f"ptr {place.pointer}, ptr {source.pointer}"
    if not axes:
        ctx.writer.do(f"call void @llvm.memmove.p0.p0.i64({pointers}, i64 {size}, i1 false)")
        return
    axis, n = axes[0], place.shape[axes[0]]
    with ctx.writer.loop(n, ctx.module.loop_id()) as loop:
        last = let(f"sub nuw nsw i64 {n - 1}, {loop.index}")
        at = let(f"select i1 {ahead}, i64 {loop.index}, i64 {last}")
        offset = let(f"mul nsw i64 {at}, {place.strides[axis]}")
        parts = [shifted(ctx, one, offset, one.shape, one.strides) for one in (source, place)]
        _move_rows(ctx, parts[0], parts[1], axes[1:], ahead, size)
