"""Reductions over axes but the sum, and what is made of them."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import dtypes
from ..base.dtypes import DType
from ..ir.apply import apply
from ..ir.argument_types import ArrayLike, Axes, Axis
from ..ir.convert import convert_to_tensor
from ..ir.op import ruled_in
from ..ir.prices import Price
from ..ir.tensor import Tensor
from ..ir.traits import MADE, NO_GRADIENT, REDUCING, Fails
from .arithmetic import abs as absolute
from .array import ravel, reshape, reshape_like, transpose
from .define import Example, Function, document, op_of, primitive, public, publish
from .dtype_rules import floating, inexact, logical, ordered, ruled
from .elementwise import conjugated
from .extents import axis_of, product
from .logic import equal, isinf, not_equal
from .operands import as_dtype, cast
from .powers import exp, length
from .reducing import reduction, sum, summation
from .running_sums import cumprod
from .selection import where
from .shape_queries import dim, size

if TYPE_CHECKING:
    from .public_functions import Normalisation

__all__ = [
    "all", "any", "argmax", "argmin", "log_softmax", "logsumexp", "max", "mean", "min", "norm", "prod",
    "softmax", "std", "var",
]  # fmt: skip


def _position(dtype: DType) -> tuple[DType, DType]:
    return ordered(dtype)[0], dtypes.int64


#: of no elements there is no largest one
_LARGEST = REDUCING.but(fails=Fails.NO_ELEMENTS)

_POSITION = MADE.but(fails=Fails.MAYBE)


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
    made = total / np.intp(_count(x, axis))  # which is no number of Python's: NumPy divides in a wider dtype
    return made.astype(wide).astype(x.dtype)


def _logsumexp(x: Any, axis: Any, keepdims: bool) -> Any:
    top = np.max(x, axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, x.dtype.type(0))
    out = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
    return out if keepdims else np.squeeze(out, axis=axis)[()]


def _arg(kernel: Function) -> Function:
    def arg(x: Any, axis: Any, keepdims: bool) -> Any:
        if axis is not None and (len(axis) not in (1, x.ndim) or len(axis) > x.ndim):
            raise ValueError(f"{kernel.__name__}: axis must be one integer or None, got {axis} [AL207]")
        return kernel(x, axis=axis[0] if axis and len(axis) == 1 else None, keepdims=keepdims)

    return arg


def _mean_grad(g: Tensor, y: Tensor, x: Tensor, attrs: Any) -> Any:
    axes = attrs["axis"]
    known = product([x.shape.known[a] for a in axes]) if axes is not None and x.shape.rank is not None else None
    if known is not None:
        return g / builtins.max(known, 1)
    return g * (cast(size(y), g.dtype) / cast(size(x), g.dtype))


def _extreme_grad(g: Tensor, y: Tensor, x: Tensor, attrs: Any) -> Any:
    hits = cast(equal(x, y), g.dtype)
    return hits * (g / sum(hits, attrs["axis"], keepdims=True))


def _logsumexp_grad(g: Tensor, y: Tensor, x: Tensor, attrs: Any) -> Any:
    """Return the share of each element; infinities that are the largest share, as equal elements do."""
    endless = isinf(y)
    hits = cast(equal(x, y), x.dtype)
    gap = where(endless, 0, x - y)
    return g * where(endless, hits / sum(hits, attrs["axis"], keepdims=True), exp(gap))


def _prod_grad(g: Tensor, y: Tensor, x: Tensor, attrs: Any) -> Any:
    """Return the product of the other elements, made of running products from both ends: right at zeros too."""
    y, x = conjugated(y), conjugated(x)
    rank, axes = x.shape.rank, attrs["axis"]
    if axes is None:
        return g * reshape_like(_others(ravel(x)), x)
    if not axes:
        return g
    if len(axes) == 1:
        return g * _others(x, axes[0])
    if rank is None:
        return g * y / x
    order = [a for a in range(rank) if a not in axes] + list(axes)
    moved = transpose(x, order)
    lead = [dim(x, a) for a in order[: rank - len(axes)]]
    flat = reshape(moved, [*lead, -1])
    return g * transpose(reshape_like(_others(flat), moved), np.argsort(order).tolist())


def _others(x: Tensor, axis: int = -1) -> Any:
    """Return for each element the product of the others along an axis."""
    return cumprod(x, axis, exclusive=True) * cumprod(x, axis, exclusive=True, reverse=True)


prod = summation(
    "prod", np.multiply, _prod_grad,
    doc="The product, of the dtypes of ``sum``.", aliases=("reduce_prod",),
    example=("al.prod([[1, 2], [3, 4]], axis=0)", "Tensor([3 8], shape=(2,), dtype=int32)"),
)  # fmt: skip
max = reduction(
    "max", np.maximum.reduce, _extreme_grad, rule=ordered, doc="The largest element.", traits=_LARGEST,
    aliases=("reduce_max",),
    example=("al.max([[1, 5], [7, 2]], axis=0)", "Tensor([7 5], shape=(2,), dtype=int32)"),
)  # fmt: skip
min = reduction(
    "min", np.minimum.reduce, _extreme_grad, rule=ordered, doc="The smallest element.", traits=_LARGEST,
    aliases=("reduce_min",),
    example=("al.min([[1, 5], [7, 2]], axis=0)", "Tensor([1 2], shape=(2,), dtype=int32)"),
)  # fmt: skip
mean = reduction(
    "mean", _mean, _mean_grad, rule=inexact,
    doc="The arithmetic mean; of integers a float.", aliases=("reduce_mean",),
    example=("al.mean([[1.0, 2.0], [3.0, 4.0]], axis=0)", "Tensor([2. 3.], shape=(2,), dtype=float32)"),
)  # fmt: skip
any = reduction(
    "any", np.logical_or.reduce, NO_GRADIENT, rule=logical, doc="True if any element is true.",
    aliases=("reduce_any",),
    example=("al.any([[False, False], [True, False]], axis=1)", "Tensor([False  True], shape=(2,), dtype=bool)"),
)  # fmt: skip
all = reduction(
    "all", np.logical_and.reduce, NO_GRADIENT, rule=logical, doc="True if all elements are true.",
    aliases=("reduce_all",),
    example=("al.all([[True, False], [True, True]], axis=0)", "Tensor([ True False], shape=(2,), dtype=bool)"),
)  # fmt: skip
argmax = reduction(
    "argmax", _arg(np.argmax), NO_GRADIENT, traits=_POSITION, rule=_position,
    doc="The index of the first largest element (of the flattened tensor without ``axis``), int64.",
    example=("al.argmax([[1, 5], [7, 2]], axis=1)", "Tensor([1 0], shape=(2,), dtype=int64)"),
)  # fmt: skip
argmin = reduction(
    "argmin", _arg(np.argmin), NO_GRADIENT, traits=_POSITION, rule=_position,
    doc="The index of the first smallest element (of the flattened tensor without ``axis``), int64.",
    example=("al.argmin([[1, 5], [7, 2]], axis=1)", "Tensor([0 1], shape=(2,), dtype=int64)"),
)  # fmt: skip
logsumexp = reduction(
    "logsumexp", _logsumexp, _logsumexp_grad, rule=floating, traits=_LARGEST.but(price=Price.FUNCTION),
    doc="``log(sum(exp(x)))``, without overflow.", aliases=("reduce_logsumexp",),
    example=("al.logsumexp([[1.0, 1.0]], axis=1)", "Tensor([1.6931], shape=(1,), dtype=float32)"),
)  # fmt: skip


def _softmax_kernel(x: Any, axis: int) -> Any:
    e = np.exp(x - np.maximum.reduce(x, axis=axis, keepdims=True, initial=-np.inf))
    return e / np.add.reduce(e, axis=axis, keepdims=True)


def _log_softmax_kernel(x: Any, axis: int) -> Any:
    shifted = x - np.maximum.reduce(x, axis=axis, keepdims=True, initial=-np.inf)
    return shifted - np.log(np.add.reduce(np.exp(shifted), axis=axis, keepdims=True))


def _normalisation(
    name: str, kernel: Function, grad: Function, doc: str, *, example: Example
) -> Normalisation:  # fmt: skip
    op = primitive(
        name, lambda x, axis: (x.dtype, x.shape), kernel,
        lambda g, outputs, inputs, attrs: [grad(g, outputs[0], attrs["axis"])], doc=doc,
        traits=MADE.but(price=Price.FUNCTION),
    )  # fmt: skip

    def f(x: ArrayLike, axis: Axis = -1, name: str | None = None) -> Tensor:
        x = convert_to_tensor(x)
        x = as_dtype(x, ruled(floating, op.name, x.dtype)[0])
        return apply(op, [x], {"axis": axis_of(axis, x.shape.rank, op.name)}, name)

    return publish(name, f, document(doc, [("x", "tensor-like"), ("axis", "int")], example))


softmax = _normalisation(
    "softmax", _softmax_kernel, lambda g, y, axis: y * (g - sum(g * y, axis, keepdims=True)),
    "``exp(x)`` divided by its sum along ``axis``.",
    example=("al.softmax([1.0, 2.0])", "Tensor([0.2689 0.7311], shape=(2,), dtype=float32)"),
)  # fmt: skip

log_softmax = _normalisation(
    "log_softmax", _log_softmax_kernel, lambda g, y, axis: g - exp(y) * sum(g, axis, keepdims=True),
    "The logarithm of ``softmax``.",
    example=("al.log_softmax([1.0, 1.0])", "Tensor([-0.6931 -0.6931], shape=(2,), dtype=float32)"),
)  # fmt: skip


@public(aliases=("reduce_variance",))
def var(
    x: ArrayLike, axis: Axes | None = None, keepdims: bool = False, ddof: float = 0, name: str | None = None, *,
    correction: float = 0,
) -> Tensor:  # fmt: skip
    """Return the variance.

    Parameters
    ----------
    x : tensor-like
    axis : int or tuple of int, optional
        All axes by default.
    keepdims : bool
    ddof : int or float
        Taken from the number of elements before it divides.
    name : str, optional
    correction : int or float
        The array API's name of ``ddof``.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.var([1.0, 3.0]))
    Tensor(1.0, shape=(), dtype=float32)
    """
    ddof = ddof or correction
    x = convert_to_tensor(x)
    x = as_dtype(x, inexact(x.dtype)[0])
    away = x - mean(x, axis, keepdims=True)
    squares = away * away if x.dtype.kind != "c" else absolute(away) ** 2
    spread = mean(squares, axis, keepdims, name)
    if ddof == 0:
        return spread
    count = cast(size(x), spread.dtype) / cast(size(spread), spread.dtype)
    left = count - ddof
    return spread * (count / where(left > 0, left, float("nan")))


@public(aliases=("reduce_std",))
def std(
    x: ArrayLike, axis: Axes | None = None, keepdims: bool = False, ddof: float = 0, name: str | None = None, *,
    correction: float = 0,
) -> Tensor:  # fmt: skip
    """Return the standard deviation: the square root of ``var``.

    Parameters
    ----------
    x : tensor-like
    axis : int or tuple of int, optional
    keepdims : bool
    ddof : int or float
    name : str, optional
    correction : int or float
        The array API's name of ``ddof``.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.std([1.0, 3.0]))
    Tensor(1.0, shape=(), dtype=float32)
    """
    return length(var(x, axis, keepdims, ddof, correction=correction), name)


@public()
def norm(
    x: ArrayLike,
    ord: float | str | None = None,
    axis: Axes | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
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

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.norm([3.0, 4.0]))
    Tensor(5.0, shape=(), dtype=float32)
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
        return sum(cast(not_equal(size, 0), size.dtype), axis, keepdims, name)
    if ord in (np.inf, -np.inf):
        return (max if ord > 0 else min)(size, axis, keepdims, name)
    if isinstance(ord, str):
        raise ValueError(f"norm: ord must be a number, 'euclidean' or 'fro', got {ord!r} [AL210]")
    total = sum(cast(size**ord, size.dtype), axis, keepdims)
    with np.errstate(divide="ignore"):  # an order of 0 among several is NumPy's inf
        root = np.reciprocal(ord, dtype=total.dtype)  # as wide as the numbers are
    if ord < 0:
        of_small: Tensor = total**root
        return of_small
    tip = equal(total, 0)
    return where(tip, total, where(tip, 1, total) ** root, name=name)


PROD = op_of(prod)
MAX = op_of(max)
MIN = op_of(min)
MEAN = op_of(mean)
ANY = op_of(any)
ALL = op_of(all)
ARGMAX = op_of(argmax)
ARGMIN = op_of(argmin)
SOFTMAX = op_of(softmax)
LOG_SOFTMAX = op_of(log_softmax)
LOGSUMEXP = op_of(logsumexp)


ruled_in("reduction_rules", PROD, MAX, MIN, ANY, ALL, MEAN, ARGMAX, ARGMIN)
ruled_in("softmax_rules", SOFTMAX, LOG_SOFTMAX, LOGSUMEXP)
