"""Sums that have no floating-point errors in whatever order they are added up, for code that heeds errors.

NumPy adds in another order than machine code does, so that its sums may overflow on the way where ours do not. Neither
does if the sum of all sizes is far from overflowing. Sums underflow nowhere: what is too small to be a normal number is
exact.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...ir.graph import Node
from ..ir.elements import literal
from ..writer.context import Context
from ..writer.nests import Nest, accumulate
from ..writer.values import Scalar, Value, resolve

#: how far the greatest number must be, for what is lost of many small sizes that are added to a large one
_FAR = 1024


def check_bounded(ctx: Context, node: Node, values: Sequence[Value]) -> None:
    """End the function where a sum of some elements might have an error."""
    value = resolve(values[0])
    if not ctx.types.heeds or isinstance(value, Scalar) or value.t.kind != "f" or 0 in value.shape:  # type: ignore[union-attr]
        return
    t, let = value.t, ctx.writer.let  # type: ignore[union-attr]

    def step(total: str, nest: Nest) -> str:
        size = let(f"call {t.name} @llvm.fabs.{t.suffix}({t.name} {nest.element(value)})")
        return let(f"fadd reassoc {t.name} {total}, {size}")

    total = accumulate(Nest(ctx, value.shape, [value]), t, literal(0.0, t), step)  # type: ignore[union-attr]
    most = literal(np.finfo(node.inputs[0].dtype).max / _FAR, t)
    is_far = let(f"fcmp olt {t.name} {total}, {most}")  # an infinity or nan is not
    ctx.check(is_far, node, values, refuses="NumPy may have floating-point errors in it")
