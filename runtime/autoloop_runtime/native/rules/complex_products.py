"""Products of small matrices of complex numbers, and sums of products: loops over their parts."""

from __future__ import annotations

from ...base.dataclass import replace
from ...ops.arithmetic import ADD, MULTIPLY
from ..ir.casts import joined, parts_of
from ..ir.elements import literal
from ..writer.context import Context
from ..writer.nests import Nest, accumulate_all, apply, over_kept, store
from ..writer.values import Array, Splat


def write_product(ctx: Context, a: Array, b: Array, out: Array, as_sums: bool) -> None:
    """Write ``out = a @ b`` element by element ``as_sums``, or row after row, so that what is contiguous is the inner
    loop."""
    (m, k), n, t = a.shape, b.shape[1], out.t
    left = replace(a, shape=(m, n, k), strides=(a.strides[0], 0, a.strides[1]))
    right = replace(b, shape=(m, n, k), strides=(0, b.strides[1], b.strides[0]))
    into = replace(out, shape=(m, n, k), strides=(*out.strides, 0))
    if as_sums:
        nest = Nest(ctx, into.shape, [left, right, into], (2,))
        over_kept(nest, lambda: nest.store(into, sum_of_products(nest, left, right)))
        return
    store(ctx, Splat(literal(0, t), t, out.shape), out)
    nest = Nest(ctx, into.shape, [left, right, into], (2,), (0, 2, 1))

    def level() -> None:
        if nest.depth < len(nest.extents):
            with nest.level(sequential=nest.reduces[nest.depth]):
                level()
            return
        product = apply(ctx, MULTIPLY, t, [t, t], [nest.element(left), nest.element(right)])
        nest.store(into, apply(ctx, ADD, t, [t, t], [nest.load(into), product]))

    level()


def sum_of_products(nest: Nest, left: Array, right: Array) -> str:
    """Return the sum of products of complex numbers over all loops that are not open yet."""
    writer, t, part = nest.writer, left.t, left.t.part

    def step(totals: list[str], nest: Nest) -> list[str]:
        pair = [nest.element(left), nest.element(right)]
        product = parts_of(writer, apply(nest.ctx, MULTIPLY, t, [t, t], pair), t)
        return [writer.let(f"fadd reassoc {part.name} {x}, {y}") for x, y in zip(totals, product)]

    zero = literal(0, part)
    return joined(writer, accumulate_all(nest, [(part, zero), (part, zero)], step), t)
