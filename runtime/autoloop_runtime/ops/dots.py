"""NumPy's ``dot`` and what it is made of: products of matrices as BLAS has them, where one element is a factor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.stand_ins import UnknownExtent
from ..ir.apply import apply
from ..ir.argument_types import ArrayLike, Axes
from ..ir.convert import convert_to_tensor
from ..ir.tensor import Tensor
from .arithmetic import add, multiply
from .array import reshape, transpose
from .define import public
from .dtype_rules import numeric, ruled
from .extents import axes_of
from .linalg import DOT, matmul
from .logic import isfinite, logical_or, not_equal
from .operands import operands
from .selection import where
from .shape_queries import dim

__all__ = ["dot", "tensordot"]


@public()
def dot(a: ArrayLike, b: ArrayLike, name: str | None = None) -> Tensor:
    """Return NumPy's ``dot``: the product of scalars, vectors and matrices.

    Parameters
    ----------
    a, b : tensor-like
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.dot([1, 2], [3, 4]))
    Tensor(11, shape=(), dtype=int32)
    """
    a, b = operands("dot", a, b)
    if a.shape.rank is None or b.shape.rank is None:
        raise UnknownExtent("dot: the ranks of the operands must be known; declare them with set_shape")
    if not len(a.shape) or not len(b.shape):
        return _scaled(a, b, name)
    if len(b.shape) > 2:
        return tensordot(a, b, ([len(a.shape) - 1], [len(b.shape) - 2]), name)
    if len(a.shape) <= 2 and (_is_one(a) or _is_one(b)) and a.shape.known[-1] == b.shape.known[0]:
        first, second = (reshape(x, []) if _is_one(x) else x for x in (a, b))
        made = _scaled(first, second)
        dims = [dim(x, axis) for x, axis in [(a, 0)][: len(a.shape) - 1] + [(b, 1)][: len(b.shape) - 1]]
        return reshape(made, dims, name)
    if None in (a.shape.known[-1], b.shape.known[0]):
        ruled(numeric, "dot", a.dtype)
        return apply(DOT, [a, b], None, name)
    return matmul(a, b, name=name)


def _is_one(x: Tensor) -> bool:
    """Return whether an operand is known to have one element."""
    return all(n == 1 for n in x.shape.known)


def _scaled(a: Tensor, b: Tensor, name: str | None = None) -> Tensor:
    """Return the product with a scalar: BLAS adds it to zeros, and does not look at what it multiplies with 0."""
    made = multiply(a, b, name=name)
    if made.dtype.char not in "fdFD" or made.shape.rank not in (1, 2) or _is_one(made):
        return made
    scalar, array = (a, b) if a.shape.rank == 0 else (b, a)
    zero = convert_to_tensor(made.dtype.type(0))
    return where(logical_or(not_equal(scalar, zero), isfinite(array)), add(made, zero), zero)


@public()
def tensordot(a: ArrayLike, b: ArrayLike, axes: int | Sequence[Axes] = 2, name: str | None = None) -> Tensor:
    """Return the sum of products over axes of ``a`` and of ``b``.

    Parameters
    ----------
    a, b : tensor-like
    axes : int, or pair of (sequences of) int
        The last ``axes`` of ``a`` with the first of ``b``, or which with which.
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.tensordot([[1, 2], [3, 4]], [1, 1], axes=1))
    Tensor([3 7], shape=(2,), dtype=int32)
    """
    a, b = operands("tensordot", a, b)
    if a.shape.rank is None or b.shape.rank is None:
        raise UnknownExtent("tensordot: the ranks of the operands must be known; declare them with set_shape")
    if isinstance(axes, int):
        axes = (range(len(a.shape) - axes, len(a.shape)), range(axes))
    of_a = axes_of(_listed(axes[0]), len(a.shape), "tensordot") or ()
    of_b = axes_of(_listed(axes[1]), len(b.shape), "tensordot") or ()
    if len(of_a) != len(of_b):
        raise ValueError(f"tensordot: {len(of_a)} axes of the first against {len(of_b)} of the second [AL206]")
    for i, j in zip(of_a, of_b):
        if None is not a.shape.known[i] != b.shape.known[j] is not None:
            raise ValueError(
                f"tensordot: shape-mismatch for sum: axis {i} of shape {a.shape} against axis {j} of shape {b.shape}"
                " [AL206]"
            )
    left = [i for i in range(len(a.shape)) if i not in of_a]
    right = [j for j in range(len(b.shape)) if j not in of_b]
    several = len(left) > 1 or len(right) > 1
    made = dot(_folded(a, [left, list(of_a)], left), _folded(b, [list(of_b), right], right), None if several else name)
    return reshape(made, [*[dim(a, i) for i in left], *[dim(b, j) for j in right]], name) if several else made


def _listed(axes: Any) -> Any:
    return tuple(axes) if isinstance(axes, (list, tuple, range, np.ndarray)) else (axes,)


def _folded(x: Tensor, groups: list[list[int]], rest: list[int]) -> Tensor:
    """Return ``x`` with one axis for each group of axes; of the ``rest`` of them there may be none."""
    order = [axis for group in groups for axis in group]
    made = x if order == sorted(order) else transpose(x, order)
    groups = [group for group in groups if group or group is not rest]
    if all(len(group) == 1 for group in groups):
        return made
    return reshape(made, [_extent(x, group) for group in groups])


def _extent(x: Tensor, axes: Sequence[int]) -> Any:
    made: Any = 1
    for axis in axes:
        made = made * dim(x, axis)
    return made
