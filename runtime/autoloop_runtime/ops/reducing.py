"""How a reduction over axes is declared, and the sum, which gradients are made of."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import dtypes
from ..base.dtypes import DType
from ..base.shapes import SCALAR, TensorShape
from ..ir.apply import apply
from ..ir.argument_types import ArrayLike, Axes, DTypeLike
from ..ir.array_kinds import GivenElsewhere, catching, computed_elsewhere
from ..ir.convert import convert_to_tensor
from ..ir.op import ruled_in
from ..ir.tensor import Tensor
from ..ir.traits import REDUCING, NoRule, Traits
from .array import expand_dims
from .broadcasting import broadcast_like
from .define import Example, Function, document, op_of, primitive, publish
from .dtype_rules import Rule, numeric, ruled
from .extents import axes_of
from .operands import as_dtype

if TYPE_CHECKING:
    from .public_functions import Reduction, Summation

__all__ = ["sum"]


def sum_dtypes(dtype: DType) -> tuple[DType, ...]:
    """Let numbers keep their dtype, but for booleans and narrow integers, which become 32 bits wide."""
    if dtype.kind in "biu" and dtype.itemsize < 4:
        dtype = dtypes.uint32 if dtype.kind == "u" else dtypes.int32
    return numeric(dtype)


def reduced(shape: TensorShape, axis: tuple[int, ...] | None, keepdims: bool) -> TensorShape:
    """Return the static shape after a reduction over ``axis`` (``None``: all)."""
    if not keepdims and (axis is None or axis == tuple(range(shape.rank or 0)) != ()):
        return SCALAR
    if shape.rank is None:
        return shape
    gone = {a % builtins.max(len(shape), 1) for a in axes_of(axis, len(shape), "reduction") or ()}
    kept = [1 if i in gone else d for i, d in enumerate(shape) if keepdims or i not in gone]
    return TensorShape(kept)


def restore(y: Tensor, x: Tensor, attrs: Any) -> Tensor:
    """Return ``y``, a reduction of ``x``, with the reduced axes back as 1s."""
    if attrs["keepdims"] or attrs["axis"] is None or not attrs["axis"]:
        return y
    return expand_dims(y, attrs["axis"])


def reduction(
    name: str, kernel: Function, grad: Function | NoRule, *, rule: Rule, doc: str, numpy: Any = None,
    aliases: Sequence[str] = (), traits: Traits = REDUCING, example: Example | None = None,
) -> Reduction:  # fmt: skip
    """Declare a reduction.

    Parameters
    ----------
    kernel : callable
        ``kernel(x, axis=..., keepdims=...)``.
    grad : callable or NoRule
        ``grad(g, y, x, attrs)`` gives the gradient of ``x``; ``g`` and ``y`` have the reduced axes as 1s.
    traits : Traits
        Where they are not those of a sum.

    The others as for ``elementwise.unary``.
    """

    def infer(x: Tensor, axis: Any, keepdims: bool) -> Any:
        return rule(x.dtype)[1], reduced(x.shape, axis, keepdims)

    def vjp(g: Tensor, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
        assert not isinstance(grad, NoRule)
        x = inputs[0]
        return [broadcast_like(grad(restore(g, x, attrs), restore(outputs[0], x, attrs), x, attrs), x)]

    op = primitive(
        name, infer, kernel,
        grad if isinstance(grad, NoRule) else vjp, doc=doc, traits=traits, strict=True,
    )  # fmt: skip
    as_they_are: set[DType] = set()

    @catching
    def f(x: ArrayLike, axis: Axes | None = None, keepdims: bool = False, name: str | None = None) -> Tensor:
        try:
            given = x = convert_to_tensor(x)
        except GivenElsewhere:
            made: Tensor = computed_elsewhere(f, x, axis, keepdims, name)
            return made
        if x.dtype not in as_they_are:
            x = as_dtype(x, ruled(rule, op.name, x.dtype)[0])
            if x is given:
                as_they_are.add(x.dtype)
        attrs = {"axis": axes_of(axis, x.shape.rank, op.name), "keepdims": bool(keepdims)}
        return apply(op, [x], attrs, name)

    parameters = [
        ("x", "tensor-like"),
        ("axis", "int or tuple of int, optional\n    All axes by default."),
        ("keepdims", "bool\n    Keep the reduced axes, with extent 1."),
    ]
    return publish(name, f, document(doc, parameters, example), numpy, aliases)


def summation(
    name: str, ufunc: Any, grad: Function, *, doc: str, aliases: Sequence[str] = (), example: Example
) -> Summation:  # fmt: skip
    """Declare a reduction by a ufunc that adds up: in another dtype, if one is asked for."""
    reduced_by = reduction(name, accumulated(ufunc), grad, rule=sum_dtypes, doc=doc, example=example)

    @catching
    def f(
        x: ArrayLike, axis: Axes | None = None, keepdims: bool = False, name: str | None = None, *,
        dtype: DTypeLike | None = None,
    ) -> Tensor:  # fmt: skip
        try:
            if dtype is None:
                return reduced_by(x, axis, keepdims, name)
            wanted = dtypes.as_dtype(dtype)
            return as_dtype(reduced_by(as_dtype(convert_to_tensor(x), wanted), axis, keepdims, name), wanted)
        except GivenElsewhere:
            made: Tensor = computed_elsewhere(f, x, axis, keepdims, name, dtype=dtype)
            return made

    text = f"{reduced_by.__doc__}".replace(_NAME, f"{_NAME}dtype : dtype-like, optional\n    To compute in.\n")
    return publish(name, f, text, aliases=aliases)


_NAME = "name : str, optional\n"


def accumulated(ufunc: Any) -> Function:
    """Return a reduction in the dtype of its input, where NumPy would widen integers."""
    return lambda x, axis, keepdims: ufunc.reduce(x, axis=axis, keepdims=keepdims, dtype=x.dtype)


sum = summation(
    "sum", np.add, lambda g, y, x, attrs: g,
    doc="The sum; of integers of less than 32 bits and of booleans an int32 or uint32.", aliases=("reduce_sum",),
    example=("al.sum([[1, 2], [3, 4]], axis=0)", "Tensor([4 6], shape=(2,), dtype=int32)"),
)  # fmt: skip

SUM = op_of(sum)


ruled_in("reduction_rules", SUM)
