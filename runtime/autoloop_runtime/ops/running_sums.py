"""Sums and products of all that comes before."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir.apply import apply
from ..ir.argument_types import ArrayLike, Axis
from ..ir.convert import convert_to_tensor
from ..ir.op import Taking, ruled_in
from ..ir.tensor import Tensor
from ..ir.traits import MADE
from .array import reshape
from .define import Example, Function, document, op_of, primitive, publish
from .dtype_rules import ruled
from .elementwise import conjugated
from .extents import axis_of
from .operands import as_dtype
from .reducing import sum_dtypes

if TYPE_CHECKING:
    from .public_functions import RunningSum

__all__ = ["cumprod", "cumsum"]


def _scan_kernel(ufunc: Any) -> Function:
    def kernel(x: Any, axis: int, exclusive: bool, reverse: bool) -> Any:
        if reverse:
            x = np.flip(x, axis)
        if exclusive:
            first = np.full_like(np.take(x, [0], axis) if x.shape[axis] else x, ufunc.identity)
            x = np.concatenate([first, np.take(x, range(x.shape[axis] - 1), axis)], axis) if x.shape[axis] else x
        out = ufunc.accumulate(x, axis=axis, dtype=x.dtype)
        return np.flip(out, axis) if reverse else out

    return kernel


def _scan_in_place(ufunc: Any) -> Function:
    plain = _scan_kernel(ufunc)

    def kernel(x: Any, axis: int, exclusive: bool, reverse: bool) -> Any:
        if exclusive or reverse:
            x[...] = plain(x, axis, exclusive, reverse)
        else:
            ufunc.accumulate(x, axis=axis, dtype=x.dtype, out=x)
        return x

    return kernel


def _scan(name: str, ufunc: Any, grad: Function, doc: str, *, example: Example) -> RunningSum:
    op = primitive(
        name, lambda x, axis, exclusive, reverse: (x.dtype, x.shape), _scan_kernel(ufunc),
        lambda g, outputs, inputs, attrs: [grad(g, outputs[0], inputs[0], attrs)], doc=doc, traits=MADE,
        taking=Taking(_scan_in_place(ufunc), (0,), is_update=True),
    )  # fmt: skip

    def f(
        x: ArrayLike, axis: Axis | None = None, exclusive: bool = False, reverse: bool = False, name: str | None = None
    ) -> Tensor:
        x = convert_to_tensor(x)
        x = as_dtype(x, ruled(sum_dtypes, op.name, x.dtype)[0])
        if axis is None:
            axis, x = 0, reshape(x, [-1])
        attrs = {
            "axis": axis_of(axis, x.shape.rank, op.name),
            "exclusive": bool(exclusive),
            "reverse": bool(reverse),
        }
        return apply(op, [x], attrs, name)

    parameters = [
        ("x", "tensor-like"),
        ("axis", "int, optional\n    By default the tensor is flattened first."),
        ("exclusive", "bool\n    Leave the element itself out."),
        ("reverse", "bool\n    Start at the end."),
    ]
    return publish(name, f, document(doc, parameters, example))


def _cumsum_grad(g: Tensor, y: Tensor, x: Tensor, attrs: Any) -> Any:
    return cumsum(g, attrs["axis"], attrs["exclusive"], not attrs["reverse"])


def _sum_between_kernel(a: Any, b: Any, axis: int, reverse: bool) -> Any:
    out = np.empty(b.shape, b.dtype)
    factors, terms, rows = (np.moveaxis(v, axis, 0) for v in (a, b, out))
    total: Any = np.zeros(rows.shape[1:], b.dtype)[()]
    order = builtins.range(len(rows))
    for i in reversed(order) if reverse else order:
        rows[i] = total
        total = factors[i] * total + terms[i]
    return out


def _sum_between_vjp(g: Tensor, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    # it is its own transpose from the other end; a factor stands between what comes before it and what comes after
    back = _sum_between(conjugated(inputs[0]), g, attrs["axis"], not attrs["reverse"])
    return [conjugated(outputs[0]) * back, back]


SUM_BETWEEN = primitive(
    "sum_between", lambda a, b, axis, reverse: (b.dtype, b.shape), _sum_between_kernel, _sum_between_vjp,
    doc="At each place the sum of b before it, each element times the product of a strictly between the two places.",
    traits=MADE,
)  # fmt: skip


def _sum_between(a: Tensor, b: Tensor, axis: int, reverse: bool) -> Tensor:
    return apply(SUM_BETWEEN, [a, b], {"axis": axis, "reverse": reverse})


def _cumprod_grad(g: Tensor, y: Tensor, x: Tensor, attrs: Any) -> Any:
    """Return the product before an element times what follows it, without a division: right at zeros, too."""
    axis, exclusive, reverse = attrs["axis"], attrs["exclusive"], attrs["reverse"]
    y, x = conjugated(y), conjugated(x)
    if exclusive:
        return y * _sum_between(x, g, axis, not reverse)
    return cumprod(x, axis, exclusive=True, reverse=reverse) * (g + _sum_between(x, g * x, axis, not reverse))


cumsum = _scan(
    "cumsum",
    np.add,
    _cumsum_grad,
    "The running sum along an axis, of the dtypes of ``sum``.",
    example=("al.cumsum([1, 2, 3])", "Tensor([1 3 6], shape=(3,), dtype=int32)"),
)

cumprod = _scan(
    "cumprod",
    np.multiply,
    _cumprod_grad,
    "The running product along an axis.",
    example=("al.cumprod([1, 2, 3])", "Tensor([1 2 6], shape=(3,), dtype=int32)"),
)

CUMSUM = op_of(cumsum)
CUMPROD = op_of(cumprod)


ruled_in("running_rules", CUMSUM, CUMPROD, SUM_BETWEEN)
