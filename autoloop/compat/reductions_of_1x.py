"""Reductions as 1.x has them: its names of arguments, the first axis where it takes that, integers that stay what they
are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base import dtypes
from autoloop_runtime.base.dtypes import int64
from autoloop_runtime.ir.argument_types import ArrayLike, Axes, DTypeLike
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.tensor import Tensor

from .building import building, one_of

__all__ = [
    "argmax", "argmin", "count_nonzero", "cumprod", "cumsum", "norm", "reduce_all", "reduce_any",
    "reduce_logsumexp", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_sum",
]  # fmt: skip


class Reduction(Protocol):
    """A function that reduces axes of its first argument, all of them by default."""

    def __call__(
        self, input_tensor: ArrayLike, axis: Axes | None = None, keepdims: bool | None = None, name: str | None = None,
        reduction_indices: Axes | None = None, keep_dims: bool | None = None,
    ) -> Tensor:  # fmt: skip
        """Return the values for each element of the axes that stay."""


def _plain(axis: Any) -> Any:
    """Return axes as the functions below take them."""
    if isinstance(axis, (list, np.ndarray)):
        return tuple(int(a) for a in np.ravel(axis))
    return axis


def _reduction(f: Callable[..., Tensor], name: str, stays: bool = False, of_bools: bool = False) -> Reduction:
    def reduced(
        input_tensor: ArrayLike, axis: Axes | None = None, keepdims: bool | None = None, name: str | None = None,
        reduction_indices: Axes | None = None, keep_dims: bool | None = None,
    ) -> Tensor:  # fmt: skip
        x = convert_to_tensor(input_tensor)
        if of_bools and x.dtype != dtypes.bool_:
            raise TypeError(f"{reduced.__name__}: the input must be bool, got {x.dtype} [AL905]")
        along = one_of(reduced.__name__, axis=axis, reduction_indices=reduction_indices)
        keeps = bool(one_of(reduced.__name__, keepdims=keepdims, keep_dims=keep_dims))
        made = f(x, _plain(along), keeps, name=name)
        # sums and means of integers have the dtype of these, as in C++: they wrap, and are cut off
        return ops.cast(made, x.dtype) if stays and made.dtype != x.dtype else made

    reduced.__name__ = reduced.__qualname__ = name
    reduced.__doc__ = f.__doc__
    return building(reduced)


reduce_sum = _reduction(ops.sum, "reduce_sum", stays=True)
reduce_prod = _reduction(ops.prod, "reduce_prod", stays=True)
reduce_mean = _reduction(ops.mean, "reduce_mean", stays=True)
reduce_max = _reduction(ops.max, "reduce_max")
reduce_min = _reduction(ops.min, "reduce_min")
reduce_all = _reduction(ops.all, "reduce_all", of_bools=True)
reduce_any = _reduction(ops.any, "reduce_any", of_bools=True)
reduce_logsumexp = _reduction(ops.logsumexp, "reduce_logsumexp")


def _position(f: Callable[..., Tensor], name: str, word: str) -> Callable[..., Tensor]:
    def found(
        input: ArrayLike, axis: Any = None, name: str | None = None, dimension: Any = None,
        output_type: DTypeLike = int64,
    ) -> Tensor:  # fmt: skip
        along = one_of(found.__name__, axis=axis, dimension=dimension)
        made = f(input, _plain(0 if along is None else along), name=name)
        return ops.cast(made, output_type) if made.dtype != dtypes.as_dtype(output_type) else made

    found.__name__ = found.__qualname__ = name
    found.__doc__ = f"Return where the {word} element along an axis is: along the first, if none is named."
    return building(found)


argmax = _position(ops.argmax, "argmax", "greatest")
argmin = _position(ops.argmin, "argmin", "least")


@building
def count_nonzero(
    input_tensor: ArrayLike | None = None, axis: Axes | None = None, keepdims: bool | None = None,
    dtype: DTypeLike = int64, name: str | None = None, reduction_indices: Axes | None = None,
    keep_dims: bool | None = None, input: ArrayLike | None = None,
) -> Tensor:  # fmt: skip
    """Return how many elements are not zero, of ``dtype``."""
    x = convert_to_tensor(one_of("count_nonzero", input=input, input_tensor=input_tensor))
    along = one_of("count_nonzero", axis=axis, reduction_indices=reduction_indices)
    keeps = bool(one_of("count_nonzero", keepdims=keepdims, keep_dims=keep_dims))
    return ops.cast(ops.count_nonzero(x, _plain(along), keeps), dtype, name=name)


@building
def cumsum(
    x: ArrayLike, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """Return sums of the elements so far along an axis, the first by default."""
    made = ops.cumsum(x, _plain(axis), exclusive, reverse, name)
    return ops.cast(made, convert_to_tensor(x).dtype)


@building
def cumprod(
    x: ArrayLike, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """Return products of the elements so far along an axis, the first by default."""
    made = ops.cumprod(x, _plain(axis), exclusive, reverse, name)
    return ops.cast(made, convert_to_tensor(x).dtype)


@building
def norm(
    tensor: ArrayLike, ord: Any = "euclidean", axis: Any = None, keepdims: bool | None = None, name: str | None = None,
    keep_dims: bool | None = None,
) -> Tensor:  # fmt: skip
    """Return a norm of vectors (of all elements, without ``axis``) or of matrices (two axes).

    Parameters
    ----------
    ord : "euclidean", "fro", 1, 2, numpy.inf or a positive number
        Of matrices "euclidean", "fro", 1 and numpy.inf.

    Raises
    ------
    TypeError
        If the elements are no floats.
    ValueError
        If there is no such norm.
    """
    x = convert_to_tensor(tensor)
    if x.dtype.kind not in "fc":
        raise TypeError(f"norm: the elements must be floating, got {x.dtype} [AL905]")
    keeps = bool(one_of("norm", keepdims=keepdims, keep_dims=keep_dims))
    axes = _plain(axis)
    is_matrix = isinstance(axes, tuple) and len(axes) == 2
    if not (ord in ("euclidean", "fro", 1, 2, np.inf) or (not isinstance(ord, str) and ord > 0 and not is_matrix)):
        raise ValueError(
            f"norm: 'ord' must be 'euclidean', 'fro', 1, 2, numpy.inf or a positive number, got {ord!r} [AL905]"
        )
    if ord == "fro" and not is_matrix:
        raise ValueError("norm: ord='fro' is of matrices: give two axes [AL905]")
    if is_matrix and ord == 2:
        raise ValueError("norm: ord=2 of matrices is not there; 'euclidean' is the root of the sum of squares [AL905]")
    size = ops.abs(x)
    if is_matrix and ord in (1, np.inf):
        inner, outer = axes if ord == 1 else axes[::-1]
        found = ops.max(ops.sum(size, inner, True), outer, True)
        return ops.identity(found if keeps else ops.squeeze(found, axes), name=name)
    if ord in ("euclidean", "fro", 2):
        return ops.sqrt(ops.sum(size * size, axes, keeps), name=name)
    if ord == 1:
        return ops.sum(size, axes, keeps, name=name)
    if ord == np.inf:
        return ops.max(size, axes, keeps, name=name)
    return ops.pow(ops.sum(ops.pow(size, ord), axes, keeps), 1.0 / ord, name=name)
