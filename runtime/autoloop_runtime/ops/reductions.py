"""Reductions over axes, running sums, and what is made of them."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import dtypes
from ..base.dtypes import DType
from ..base.shapes import SCALAR, TensorShape
from ..ir.apply import apply
from ..ir.convert import convert_to_tensor
from ..ir.op import call
from ..ir.tensor import Tensor
from ..ir.traits import MADE, NO_GRADIENT, REDUCING, Fails, NoRule, Price, Traits
from .define import (
    Function,
    Rule,
    _ruled,
    as_dtype,
    broadcast_like,
    conjugated,
    dim,
    document,
    floating,
    inexact,
    logical,
    op_of,
    ordered,
    primitive,
    public,
    publish,
    reshape_like,
)
from .elementwise import abs as absolute
from .elementwise import cast, exp, length
from .extents import axes_of, axis_of, product


def _summed(dtype: DType) -> tuple[DType, DType]:
    """Return numbers keep their dtype, booleans are counted as int32."""
    if dtype.kind not in "biufc":
        raise TypeError(f"dtype {dtype} has no arithmetic")
    dtype = dtypes.int32 if dtype.kind == "b" else dtype
    return dtype, dtype


def _extreme(dtype: DType) -> tuple[DType, DType]:
    return _summed(ordered(dtype)[0])


def _position(dtype: DType) -> tuple[DType, DType]:
    return ordered(dtype)[0], dtypes.int64


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
    expanded: Tensor = call("expand_dims", y, attrs["axis"])
    return expanded


#: of no elements there is no largest one
_LARGEST = REDUCING.but(fails=Fails.NO_ELEMENTS)
_POSITION = MADE.but(fails=Fails.MAYBE)


def reduction(
    name: str, kernel: Function, grad: Function | NoRule, *, rule: Rule, doc: str, numpy: Any = None,
    traits: Traits = REDUCING,
) -> Function:  # fmt: skip
    """Declare a reduction.

    Parameters
    ----------
    kernel : callable
        ``kernel(x, axis=..., keepdims=...)``.
    grad : callable or NoRule
        ``grad(g, y, x, attrs)`` gives the gradient of ``x``; ``g`` and ``y`` have the reduced axes as 1s.
    traits : Traits
        Where they are not those of a sum.

    The others as for ``define.unary``.
    """

    def infer(x: Tensor, axis: Any, keepdims: bool) -> Any:
        return rule(x.dtype)[1], reduced(x.shape, axis, keepdims)

    def vjp(g: Tensor, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
        assert not isinstance(grad, NoRule)
        x = inputs[0]
        return [broadcast_like(grad(restore(g, x, attrs), restore(outputs[0], x, attrs), x, attrs), x)]

    op = primitive(
        name, infer, kernel,
        grad if isinstance(grad, NoRule) else vjp, doc=doc, traits=traits,
    )  # fmt: skip

    def f(x: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
        x = convert_to_tensor(x)
        x = as_dtype(x, _ruled(rule, x.dtype, op.name)[0])
        attrs = {"axis": axes_of(axis, x.shape.rank, op.name), "keepdims": bool(keepdims)}
        return apply(op, [x], attrs, name)

    parameters = [
        ("x", "tensor-like"),
        ("axis", "int or tuple of int, optional\n    All axes by default."),
        ("keepdims", "bool\n    Keep the reduced axes, with extent 1."),
    ]
    return publish(name, f, document(doc, parameters), numpy)


def _count(x: Any, axis: tuple[int, ...] | None) -> Any:
    if axis is None:
        return x.size
    count = 1
    for a in axis:
        count *= x.shape[a]
    return count


def _mean(x: Any, axis: Any, keepdims: bool) -> Any:
    wide: Any = dtypes.float32 if x.dtype == dtypes.float16 else x.dtype
    add: Any = np.add
    total = add.reduce(x, axis=axis, keepdims=keepdims, dtype=wide)
    return (total / _count(x, axis)).astype(x.dtype)


def _accumulated(ufunc: Any) -> Function:
    """Return a reduction in the dtype of its input, where NumPy would widen integers."""
    return lambda x, axis, keepdims: ufunc.reduce(x, axis=axis, keepdims=keepdims, dtype=x.dtype)


def _logsumexp(x: Any, axis: Any, keepdims: bool) -> Any:
    top = np.max(x, axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, x.dtype.type(0))
    out = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
    return out if keepdims else np.squeeze(out, axis=axis)[()]


def _arg(kernel: Function) -> Function:
    def arg(x: Any, axis: Any, keepdims: bool) -> Any:
        if axis is not None and len(axis) not in (1, x.ndim):
            raise ValueError(f"{kernel.__name__}: axis must be one integer or None, got {axis}")
        return kernel(x, axis=axis[0] if axis and len(axis) == 1 else None, keepdims=keepdims)

    return arg


def _mean_grad(g: Tensor, y: Tensor, x: Tensor, attrs: Any) -> Any:
    axes = attrs["axis"]
    known = product([x.shape.known[a] for a in axes]) if axes is not None and x.shape.rank is not None else None
    if known is not None:
        return g / builtins.max(known, 1)
    return g * (cast(call("size", y), g.dtype) / cast(call("size", x), g.dtype))


def _extreme_grad(g: Tensor, y: Tensor, x: Tensor, attrs: Any) -> Any:
    hits = cast(call("equal", x, y), g.dtype)
    return hits * (g / sum(hits, attrs["axis"], keepdims=True))


def _logsumexp_grad(g: Tensor, y: Tensor, x: Tensor, attrs: Any) -> Any:
    """Return the share of each element; infinities that are the largest share, as equal elements do."""
    endless = call("isinf", y)
    hits = cast(call("equal", x, y), x.dtype)
    gap = call("where", endless, 0, x - y)
    return g * call("where", endless, hits / sum(hits, attrs["axis"], keepdims=True), exp(gap))


def _prod_grad(g: Tensor, y: Tensor, x: Tensor, attrs: Any) -> Any:
    """Return the product of the other elements, made of running products from both ends: right at zeros too."""
    y, x = conjugated(y), conjugated(x)
    rank, axes = x.shape.rank, attrs["axis"]
    if axes is None:
        return g * reshape_like(_others(call("ravel", x)), x)
    if not axes:
        return g
    if len(axes) == 1:
        return g * _others(x, axes[0])
    if rank is None:
        return g * y / x
    order = [a for a in range(rank) if a not in axes] + list(axes)
    moved = call("transpose", x, order)
    lead = [dim(x, a) for a in order[: rank - len(axes)]]
    flat = call("reshape", moved, [*lead, -1])
    return g * call("transpose", reshape_like(_others(flat), moved), np.argsort(order).tolist())


def _others(x: Tensor, axis: int = -1) -> Any:
    """Return for each element the product of the others along an axis."""
    return cumprod(x, axis, exclusive=True) * cumprod(x, axis, exclusive=True, reverse=True)


# fmt: off
sum = reduction(
    "sum", _accumulated(np.add), lambda g, y, x, attrs: g, rule=_summed,
    doc="The sum; integers keep their dtype, booleans count as int32.", numpy=np.sum,
)
prod = reduction(
    "prod", _accumulated(np.multiply), _prod_grad, rule=_summed,
    doc="The product; integers keep their dtype.", numpy=np.prod,
)
max = reduction(
    "max", np.maximum.reduce, _extreme_grad, rule=_extreme, doc="The largest element.", traits=_LARGEST,
    numpy=(np.max, np.amax),
)
min = reduction(
    "min", np.minimum.reduce, _extreme_grad, rule=_extreme, doc="The smallest element.", traits=_LARGEST,
    numpy=(np.min, np.amin),
)
mean = reduction(
    "mean", _mean, _mean_grad, rule=inexact,
    doc="The arithmetic mean; of integers a float.", numpy=np.mean,
)
any = reduction(
    "any", np.logical_or.reduce, NO_GRADIENT, rule=logical, doc="True if any element is true.", numpy=np.any,
)
all = reduction(
    "all", np.logical_and.reduce, NO_GRADIENT, rule=logical, doc="True if all elements are true.", numpy=np.all,
)
argmax = reduction(
    "argmax", _arg(np.argmax), NO_GRADIENT, traits=_POSITION, rule=_position,
    doc="The index of the first largest element (of the flattened tensor without ``axis``), int64.",
    numpy=np.argmax,
)
argmin = reduction(
    "argmin", _arg(np.argmin), NO_GRADIENT, traits=_POSITION, rule=_position,
    doc="The index of the first smallest element (of the flattened tensor without ``axis``), int64.",
    numpy=np.argmin,
)
logsumexp = reduction(
    "logsumexp", _logsumexp, _logsumexp_grad, rule=floating, traits=_LARGEST.but(price=Price.FUNCTION),
    doc="``log(sum(exp(x)))``, without overflow.",
)
# fmt: on

# -- running sums and products ----------------------------------------------------------------------------


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


def _scan(name: str, ufunc: Any, grad: Function, doc: str, numpy: Any) -> Function:
    op = primitive(
        name, lambda x, axis, exclusive, reverse: (x.dtype, x.shape), _scan_kernel(ufunc),
        lambda g, outputs, inputs, attrs: [grad(g, outputs[0], inputs[0], attrs)], doc=doc, traits=MADE,
    )  # fmt: skip

    def f(x: Any, axis: Any = None, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Any:
        x = convert_to_tensor(x)
        x = as_dtype(x, _ruled(_summed, x.dtype, op.name)[0])
        if axis is None:
            axis, x = 0, call("reshape", x, [-1])
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
    return publish(name, f, document(doc, parameters), numpy)


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
    made: Tensor = apply(SUM_BETWEEN, [a, b], {"axis": axis, "reverse": reverse})
    return made


def _cumprod_grad(g: Tensor, y: Tensor, x: Tensor, attrs: Any) -> Any:
    """Return the product before an element times what follows it, without a division: right at zeros, too."""
    axis, exclusive, reverse = attrs["axis"], attrs["exclusive"], attrs["reverse"]
    y, x = conjugated(y), conjugated(x)
    if exclusive:
        return y * _sum_between(x, g, axis, not reverse)
    return cumprod(x, axis, exclusive=True, reverse=reverse) * (g + _sum_between(x, g * x, axis, not reverse))


cumsum = _scan("cumsum", np.add, _cumsum_grad, "The running sum along an axis; integers keep their dtype.", np.cumsum)
cumprod = _scan("cumprod", np.multiply, _cumprod_grad, "The running product along an axis.", np.cumprod)

# -- softmax ----------------------------------------------------------------------------------------------


def _softmax_kernel(x: Any, axis: int) -> Any:
    e = np.exp(x - np.maximum.reduce(x, axis=axis, keepdims=True))
    return e / np.add.reduce(e, axis=axis, keepdims=True)


def _log_softmax_kernel(x: Any, axis: int) -> Any:
    shifted = x - np.maximum.reduce(x, axis=axis, keepdims=True)
    return shifted - np.log(np.add.reduce(np.exp(shifted), axis=axis, keepdims=True))


def _normalisation(name: str, kernel: Function, grad: Function, doc: str) -> Function:
    op = primitive(
        name, lambda x, axis: (x.dtype, x.shape), kernel,
        lambda g, outputs, inputs, attrs: [grad(g, outputs[0], attrs["axis"])], doc=doc,
        traits=MADE.but(fails=Fails.NO_ELEMENTS, price=Price.FUNCTION),
    )  # fmt: skip

    def f(x: Any, axis: int = -1, name: str | None = None) -> Any:
        x = convert_to_tensor(x)
        x = as_dtype(x, _ruled(floating, x.dtype, op.name)[0])
        return apply(op, [x], {"axis": axis_of(axis, x.shape.rank, op.name)}, name)

    return publish(name, f, document(doc, [("x", "tensor-like"), ("axis", "int")]))


softmax = _normalisation(
    "softmax", _softmax_kernel, lambda g, y, axis: y * (g - sum(g * y, axis, keepdims=True)),
    "``exp(x)`` divided by its sum along ``axis``.",
)  # fmt: skip
log_softmax = _normalisation(
    "log_softmax", _log_softmax_kernel, lambda g, y, axis: g - exp(y) * sum(g, axis, keepdims=True),
    "The logarithm of ``softmax``.",
)  # fmt: skip

# -- composed ---------------------------------------------------------------------------------------------


@public(numpy=np.var)
def var(x: Any, axis: Any = None, keepdims: bool = False, ddof: int = 0, name: str | None = None) -> Any:
    """Return the variance.

    Parameters
    ----------
    x : tensor-like
    axis : int or tuple of int, optional
        All axes by default.
    keepdims : bool
    ddof : int
        Taken from the number of elements before it divides.
    name : str, optional
    """
    x = convert_to_tensor(x)
    x = as_dtype(x, inexact(x.dtype)[0])
    away = x - mean(x, axis, keepdims=True)
    squares = away * away if x.dtype.kind != "c" else absolute(away) ** 2
    spread = mean(squares, axis, keepdims, name)
    if ddof == 0:
        return spread
    count = cast(call("size", x), spread.dtype) / cast(call("size", spread), spread.dtype)
    return spread * (count / (count - ddof))


@public(numpy=np.std)
def std(x: Any, axis: Any = None, keepdims: bool = False, ddof: int = 0, name: str | None = None) -> Any:
    """Return the standard deviation: the square root of ``var``.

    Parameters
    ----------
    x : tensor-like
    axis : int or tuple of int, optional
    keepdims : bool
    ddof : int
    name : str, optional
    """
    return length(var(x, axis, keepdims, ddof), name)


@public()
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """Return the norm of vectors, or the Frobenius norm of the whole tensor.

    Parameters
    ----------
    x : tensor-like
    ord : {None, "euclidean", "fro", 0, 1, 2, inf, other number}
        Vector norms; ``None`` is 2, 0 counts what is not zero.
    axis : int or tuple of int, optional
        All axes by default.
    keepdims : bool
    name : str, optional
    """
    x = convert_to_tensor(x)
    x = as_dtype(x, inexact(x.dtype)[0])
    size = absolute(x)
    if ord in (None, 2, "euclidean", "fro"):
        squares = x * x if x.dtype.kind != "c" else size * size
        return length(sum(squares, axis, keepdims), name)
    if ord == 1:
        return sum(size, axis, keepdims, name)
    if ord == 0:
        return sum(cast(call("not_equal", size, 0), size.dtype), axis, keepdims, name)
    if ord in (np.inf, -np.inf):
        return (max if ord > 0 else min)(size, axis, keepdims, name)
    if isinstance(ord, str):
        raise ValueError(f"norm: ord must be a number, 'euclidean' or 'fro', got {ord!r}")
    total = sum(size**ord, axis, keepdims)
    if ord < 0:
        return total ** (1 / ord)
    tip = call("equal", total, 0)
    return call("where", tip, total, call("where", tip, 1, total) ** (1 / ord), name=name)


# -- the primitives of functions that a maker made --------------------------------------------------------

SUM = op_of(sum)
PROD = op_of(prod)
MAX = op_of(max)
MIN = op_of(min)
MEAN = op_of(mean)
ANY = op_of(any)
ALL = op_of(all)
ARGMAX = op_of(argmax)
ARGMIN = op_of(argmin)
CUMSUM = op_of(cumsum)
CUMPROD = op_of(cumprod)
SOFTMAX = op_of(softmax)
LOG_SOFTMAX = op_of(log_softmax)
LOGSUMEXP = op_of(logsumexp)
