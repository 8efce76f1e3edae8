"""What masks select, side by side: as many elements as there turn out to be, in memory for as many as there can be."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...base.dataclass import replace
from ...ir.graph import Node
from ...ops.selection import ARGWHERE
from ..ir.casts import cast
from ..ir.elements import BOOL, INT64
from ..ir.moving import Extent, is_moving
from ..writer.context import Context
from ..writer.memory import put, seen, shifted
from ..writer.nests import Nest, accumulate, store
from ..writer.node_writer import agree, array_of, flush
from ..writer.registry import rule
from ..writer.values import Array, Count, Scalar, Value, buffers, resolve

#: writes what belongs to an element of a mask, given how many before it were true and the element
Step = Callable[[str, str, Nest], str]


def _over(ctx: Context, mask: Value, operands: Sequence[Value], step: Step) -> str:
    """Go over the elements of a mask in order with the number that ``step`` gives; gives the last one."""
    shape = mask.shape  # type: ignore[union-attr]
    if 0 in shape:
        return "0"
    nest = Nest(ctx, shape, [mask, *operands])

    def along(count: str, nest: Nest) -> str:
        text = cast(ctx.writer, ctx.module, nest.element(mask), mask.t, BOOL)  # type: ignore[union-attr]
        return step(count, text, nest)

    return accumulate(nest, INT64, "0", along, True)


def _more(ctx: Context, count: str, chosen: str) -> str:
    return ctx.writer.let(f"add nuw nsw i64 {count}, {ctx.writer.let(f'zext i1 {chosen} to i64')}")


def _chosen(ctx: Context, write: Callable[[str, Nest], None]) -> Step:
    """Return the step of ``_over`` that writes what is selected, and nothing else."""

    def step(count: str, chosen: str, nest: Nest) -> str:
        def one() -> str:
            write(count, nest)
            return ctx.writer.let(f"add nuw nsw i64 {count}, 1")

        return ctx.writer.either(chosen, "i64", one, lambda: count)

    return step


def _kept(ctx: Context, extent: int, write: Callable[[str, Nest], None]) -> Step:
    """Return the step of ``_over`` that writes what is selected into ``extent`` places."""
    if not isinstance(extent, Extent) or ctx.has_extent(extent):
        return _chosen(ctx, write)  # behind the last one that is selected there is no room

    def step(count: str, chosen: str, nest: Nest) -> str:
        # without a branch: what is not selected is written too, and the next one over it; for all there is room
        write(count, nest)
        return _more(ctx, count, chosen)

    return step


def _know(ctx: Context, extent: int, text: str) -> None:
    """Let ``extent`` be what was counted, unless it is known: of a mask that is."""
    if isinstance(extent, Extent) and not ctx.has_extent(extent):
        ctx.block.extents[extent] = text


def _fit(ctx: Context, node: Node, values: Sequence[Value], x: Value, mask: Value) -> None:
    """Check that a mask has the extents of the first axes of ``x``."""
    lead = x.shape[: len(mask.shape)]  # type: ignore[union-attr]
    if is_moving((*lead, *mask.shape)):  # type: ignore[union-attr]
        if any((n == 1) != (m == 1) for n, m in zip(lead, mask.shape)):  # type: ignore[union-attr]
            ctx.refuse(node, "whether the mask has the shape of the array depends on values")
        agree(ctx, node, values, [mask], lead)


def selected(ctx: Context, node: Node, values: Sequence[Value]) -> Value:
    """Return the elements of an array, or its rows, that a mask of the first axes selects."""
    flush(ctx)
    x, mask = (resolve(v) for v in values)
    _fit(ctx, node, values, x, mask)
    tensor = node.outputs[0]
    out = ctx.result(tensor, ctx.type_of(tensor), ctx.shape_of(tensor))
    rows = len(out.shape) > 1
    base: Value = x
    if rows:
        x = array_of(ctx, x)
        depth = len(mask.shape)  # type: ignore[union-attr]
        base = replace(x, shape=x.shape[:depth], strides=x.strides[:depth])

    def place(count: str) -> Array:
        step = out.strides[0]
        offset = count if step == 1 else ctx.writer.let(f"mul nuw nsw i64 {count}, {ctx.step(step)}")
        return shifted(ctx, out, offset, out.shape[1:], out.strides[1:])

    def keep(count: str, nest: Nest) -> None:
        put(ctx, Scalar(nest.element(base), out.t), place(count))

    def keep_row(count: str, nest: Nest) -> None:
        assert isinstance(x, Array) and isinstance(base, Array)
        row = replace(x, pointer=nest.address(base), shape=out.shape[1:], strides=x.strides[len(base.shape) :])
        store(ctx, row, place(count))

    step = _chosen(ctx, keep_row) if rows else _kept(ctx, out.shape[0], keep)
    _know(ctx, out.shape[0], _over(ctx, mask, [base], step))
    return out


def places_in(
    ctx: Context, node: Node, values: Sequence[Value], mask: Value, extent: int, count: int
) -> Array:  # fmt: skip
    """Return the ``count`` places along an axis of ``extent`` elements where a mask of it is true."""
    places = Count("0", "1", INT64, (extent,), (1,))
    out: Array = ctx.temporary(INT64, (count,))

    def keep(done: str, nest: Nest) -> None:
        put(ctx, Scalar(nest.element(places), INT64), shifted(ctx, out, done, (), ()))

    _know(ctx, count, _over(ctx, mask, [places], _kept(ctx, count, keep)))
    return out


def as_many(ctx: Context, node: Node, values: Sequence[Value]) -> Array:
    """Return what is assigned to what a mask selects, of as many elements: that is checked, nothing changed yet."""
    x, mask, source = resolve(values[0]), resolve(values[2]), array_of(ctx, values[1])
    _fit(ctx, node, values, x, mask)
    count = _over(ctx, mask, [], lambda count, chosen, nest: _more(ctx, count, chosen))
    same = ctx.writer.let(f"icmp eq i64 {count}, {ctx.extent(source.shape[0])}")
    why = "one value is assigned to several, which depends on values" if is_moving(source.shape) else ""
    ctx.check(same, node, values, refuses=why)
    if set(buffers(x)).isdisjoint(buffers(source)):
        return source
    copy: Array = ctx.temporary(source.t, source.shape)
    store(ctx, source, copy)
    return copy


def assigned(ctx: Context, source: Array, mask: Value, out: Array, again: bool = False) -> None:
    """Assign the elements of ``source``, one after another, to those of ``out`` that a mask selects; and *again* from
    the first one, if they are fewer."""

    def take(count: str, chosen: str, nest: Nest) -> str:
        address = nest.address(out)

        def write() -> str:
            place = ctx.writer.let(f"urem i64 {count}, {source.shape[0]}") if again else count
            step = ctx.writer.let(f"mul nsw i64 {place}, {ctx.step(source.strides[0])}")
            put(ctx, seen(ctx, shifted(ctx, source, step, (), ())), replace(out, pointer=address, shape=(), strides=()))
            return ctx.writer.let(f"add nuw nsw i64 {count}, 1")

        return ctx.writer.either(chosen, "i64", write, lambda: count)

    _over(ctx, mask, [out], take)


@rule(ARGWHERE, complexes=True)
def _argwhere(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    value, shape = resolve(values[0]), ctx.shape_of(node.inputs[0])
    if isinstance(value, Scalar):
        ctx.refuse(node, "its operand has no axes")
    out = ctx.result(node.outputs[0], INT64, ctx.shape_of(node.outputs[0]))
    axes = range(len(shape))
    places = [Count("0", "1", INT64, shape, tuple([int(a == axis) for a in axes])) for axis in axes]

    def keep(count: str, nest: Nest) -> None:
        row = shifted(ctx, out, ctx.writer.let(f"mul nuw nsw i64 {count}, {len(shape)}"), (), ())
        for axis, one in enumerate(places):
            put(ctx, Scalar(nest.element(one), INT64), shifted(ctx, row, axis, (), ()))

    _know(ctx, out.shape[0], _over(ctx, value, places, _kept(ctx, out.shape[0], keep)))
    return [out]
