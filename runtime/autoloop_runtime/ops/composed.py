"""Functions made of others: NumPy's that people reach for inside loops."""

from __future__ import annotations

from typing import Any

from ..base import dtypes
from ..base.stand_ins import UnknownExtent
from ..ir.argument_types import ArrayLike, Axes, Axis
from ..ir.convert import convert_to_tensor
from ..ir.tensor import Tensor
from .arithmetic import abs as absolute
from .arithmetic import divide, subtract
from .array import expand_dims, reshape, swapaxes
from .broadcasting import broadcast_to
from .complex_numbers import conj
from .define import public
from .dots import dot
from .dtype_rules import inexact
from .extents import axis_of
from .filled import zeros_like
from .identities import identity
from .joining import concat, stack, unstack
from .linalg import matmul
from .logic import equal, isfinite, isnan, not_equal
from .operands import cast, is_tensor, operands
from .reducing import sum as total
from .reductions import all as every
from .reductions import max, mean, min
from .selection import argwhere, where
from .shape_queries import size

__all__ = [
    "allclose", "array_equal", "average", "count_nonzero", "cross", "diff", "hstack", "inner", "isclose",
    "meshgrid", "nonzero", "ptp", "vdot", "vstack",
]  # fmt: skip


@public(aliases=("is_close",))
def isclose(
    a: ArrayLike, b: ArrayLike, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False, name: str | None = None
) -> Tensor:
    """Return true where ``abs(a - b) <= atol + rtol * abs(b)``.

    Parameters
    ----------
    a, b : tensor-like, broadcast together
    rtol, atol : float
    equal_nan : bool
        Whether nan is close to nan.
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.isclose([1.0, 2.0], [1.0, 2.1]))
    Tensor([ True False], shape=(2,), dtype=bool)
    """
    a, b = operands("isclose", a, b)
    dtype = inexact(a.dtype)[0]
    x, y = cast(a, dtype), cast(b, dtype)
    known = isfinite(y)
    least = where(known, y, zeros_like(y))  # inf - inf would be said to be invalid, where NumPy says nothing
    near = known & (absolute(x - least) <= atol + rtol * absolute(least))
    near = near | equal(x, y)
    if equal_nan:
        near = near | (isnan(x) & isnan(y))
    return identity(near, name=name)


@public()
def allclose(
    a: ArrayLike, b: ArrayLike, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False, name: str | None = None
) -> Tensor:
    """Return whether all elements are close, see ``isclose``.

    Parameters
    ----------
    a, b : tensor-like, broadcast together
    rtol, atol : float
    equal_nan : bool
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.allclose([1.0, 2.0], [1.0, 2.0000001]))
    Tensor(True, shape=(), dtype=bool)
    """
    return every(isclose(a, b, rtol, atol, equal_nan), name=name)


@public()
def count_nonzero(x: ArrayLike, axis: Axes | None = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """Return how many elements are not zero; int64.

    Parameters
    ----------
    x : tensor-like
    axis : int or tuple of int, optional
        All axes by default.
    keepdims : bool
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.count_nonzero([0, 3, 4]))
    Tensor(2, shape=(), dtype=int64)
    """
    return total(cast(cast(convert_to_tensor(x), dtypes.bool_), dtypes.int64), axis, keepdims, name)


@public()
def nonzero(x: ArrayLike, name: str | None = None) -> tuple[Tensor, ...]:
    """Return the indices of the elements that are not zero, one int64 vector per axis, as a tuple.

    Parameters
    ----------
    x : tensor-like
    name : str, optional

    Returns
    -------
    tuple of Tensor

    Examples
    --------
    >>> rows, columns = al.nonzero([[0, 1], [1, 0]])
    >>> print(rows)
    Tensor([0 1], shape=(2,), dtype=int64)
    """
    x = convert_to_tensor(x)
    if x.shape.rank == 0:
        raise ValueError("nonzero: a tensor of no dimensions has no indices; use reshape(x, [1]) [AL209]")
    return tuple(unstack(argwhere(x), axis=1, name=name))


@public()
def diff(
    x: ArrayLike, n: int = 1, axis: Axis = -1, name: str | None = None, *, prepend: ArrayLike | None = None,
    append: ArrayLike | None = None,
) -> Tensor:  # fmt: skip
    """Return the difference of each element and the one before it along an axis.

    Parameters
    ----------
    x : tensor-like
    n : int
        How often differences are taken.
    axis : int
    name : str, optional
    prepend, append : tensor-like, optional
        What stands before and after ``x`` along the axis, if differences are taken.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.diff([1, 4, 9]))
    Tensor([3 5], shape=(2,), dtype=int32)
    """
    x = convert_to_tensor(x)
    if n == 0:
        return x
    ends = [part for part in (prepend, x, append) if part is not None]
    x = concat(ends, axis) if len(ends) > 1 else x
    if x.shape.rank is None:
        raise UnknownExtent("diff: the rank of the tensor must be known; declare it with set_shape")
    lead = (slice(None),) * axis_of(axis, len(x.shape), "diff")
    if n < 0:
        raise ValueError(f"diff: order must be non-negative but got {n}")
    for _ in range(n):
        later, earlier = x[(*lead, slice(1, None))], x[(*lead, slice(None, -1))]
        x = (not_equal if x.dtype.kind == "b" else subtract)(later, earlier, name=name)
    return x


def _rows(values: Any) -> list[Tensor]:
    """Return tensors with at least one axis."""
    parts = unstack(convert_to_tensor(values)) if is_tensor(values) else operands("concat", *values)
    return [reshape(p, [1]) if p.shape.rank == 0 else p for p in parts]


@public()
def vstack(values: ArrayLike, name: str | None = None) -> Tensor:
    """Return tensors one above another: vectors count as rows.

    Parameters
    ----------
    values : sequence of tensor-like
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.vstack([[1, 2], [3, 4]]))
    Tensor([[1 2]
     [3 4]], shape=(2, 2), dtype=int32)
    """
    return concat([expand_dims(p, 0) if p.shape.rank == 1 else p for p in _rows(values)], 0, name)


@public()
def hstack(values: ArrayLike, name: str | None = None) -> Tensor:
    """Return tensors side by side: vectors one after another.

    Parameters
    ----------
    values : sequence of tensor-like
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.hstack([[1, 2], [3]]))
    Tensor([1 2 3], shape=(3,), dtype=int32)
    """
    parts = _rows(values)
    return concat(parts, 0 if parts[0].shape.rank == 1 else 1, name)


@public()
def meshgrid(*vectors: ArrayLike, indexing: str = "xy", name: str | None = None) -> list[Tensor]:
    """Return the coordinates of a grid, one tensor per vector.

    Parameters
    ----------
    *vectors : tensor-like
    indexing : {"xy", "ij"}
        Whether the first vector runs along the second axis or along the first.
    name : str, optional

    Returns
    -------
    list of Tensor

    Examples
    --------
    >>> x, y = al.meshgrid([1, 2], [3, 4])
    >>> print(y)
    Tensor([[3 3]
     [4 4]], shape=(2, 2), dtype=int32)
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing must be 'xy' or 'ij', got {indexing!r} [AL210]")
    count = len(vectors)
    order = list(range(count))
    if indexing == "xy" and count > 1:
        order[0], order[1] = 1, 0
    spread = []
    for axis, vector in zip(order, vectors):
        form = [1] * count
        form[axis] = -1
        spread.append(reshape(vector, form))
    shape: list[ArrayLike] = [0] * count
    for axis, vector in zip(order, vectors):
        shape[axis] = size(vector)
    return [broadcast_to(part, shape, name=name) for part in spread]


@public()
def inner(a: ArrayLike, b: ArrayLike, name: str | None = None) -> Tensor:
    """Return the sum of products over the last axes.

    Parameters
    ----------
    a, b : tensor-like
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.inner([1, 2], [3, 4]))
    Tensor(11, shape=(), dtype=int32)
    """
    a, b = operands("inner", a, b)
    return dot(a, b if b.shape.rank in (None, 0, 1) else swapaxes(b, -1, -2), name)


@public()
def vdot(a: ArrayLike, b: ArrayLike, name: str | None = None) -> Tensor:
    """Return the sum of the products of all elements, those of ``a`` conjugated.

    Parameters
    ----------
    a, b : tensor-like
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.vdot([1j, 2], [1j, 3]))
    Tensor((7+0j), shape=(), dtype=complex128)
    """
    a, b = operands("vdot", a, b)
    return matmul(conj(reshape(a, [-1])), reshape(b, [-1]), name=name)


@public()
def array_equal(a: ArrayLike, b: ArrayLike, name: str | None = None) -> Tensor:
    """Return whether the shapes and all elements are equal; the shapes must be known while the graph is built.

    Parameters
    ----------
    a, b : tensor-like
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.array_equal([1, 2], [1, 2]))
    Tensor(True, shape=(), dtype=bool)
    """
    a, b = convert_to_tensor(a), convert_to_tensor(b)
    if not a.shape.is_compatible_with(b.shape):
        return convert_to_tensor(False)
    if not (a.shape.is_fully_defined() and b.shape.is_fully_defined()):
        raise UnknownExtent(f"array_equal: the shapes must be known, got {a.shape} and {b.shape}")
    return every(equal(a, b), name=name)


@public()
def average(
    x: ArrayLike, axis: Axis | None = None, weights: ArrayLike | None = None, name: str | None = None
) -> Tensor:
    """Return the mean, weighted if ``weights`` are given.

    Parameters
    ----------
    x : tensor-like
    axis : int, optional
        All axes by default.
    weights : tensor-like, optional
        Of the shape of ``x``, or a vector along ``axis``.
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.average([1.0, 3.0], weights=[3.0, 1.0]))
    Tensor(1.5, shape=(), dtype=float32)
    """
    if weights is None:
        return mean(x, axis, name=name)
    x, weights = operands("average", x, weights)
    if weights.shape.rank == 1 and x.shape.rank not in (1, None) and axis is not None:
        form = [1] * len(x.shape)
        form[axis_of(axis, len(x.shape), "average")] = -1
        weights = reshape(weights, form)
    spread = weights + zeros_like(x)
    return divide(total(x * weights, axis), total(spread, axis), name=name)


@public()
def ptp(x: ArrayLike, axis: Axes | None = None, name: str | None = None) -> Tensor:
    """Return the largest element minus the smallest.

    Parameters
    ----------
    x : tensor-like
    axis : int or tuple of int, optional
        All axes by default.
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.ptp([1, 5, 3]))
    Tensor(4, shape=(), dtype=int32)
    """
    return subtract(max(x, axis), min(x, axis), name=name)


@public()
def cross(a: ArrayLike, b: ArrayLike, name: str | None = None) -> Tensor:
    """Return the cross product of vectors of three along the last axis.

    Parameters
    ----------
    a, b : tensor-like
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]))
    Tensor([0. 0. 1.], shape=(3,), dtype=float32)
    """
    a, b = operands("cross", a, b)
    for x in (a, b):
        if x.shape.rank is not None and x.shape.rank and x.shape.known[-1] not in (None, 3):
            raise ValueError(f"cross: the last axis must have three elements, got shape {x.shape} [AL209]")
    a1, a2, a3 = (a[..., i] for i in range(3))
    b1, b2, b3 = (b[..., i] for i in range(3))
    return stack([a2 * b3 - a3 * b2, a3 * b1 - a1 * b3, a1 * b2 - a2 * b1], -1, name)
