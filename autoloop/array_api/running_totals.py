"""Running sums and products as the standard has them: in a dtype that is asked for, with what they start at."""

from __future__ import annotations

from collections.abc import Callable

from autoloop_runtime import ops
from autoloop_runtime.ir.argument_types import ArrayLike, Axis, DTypeLike
from autoloop_runtime.ir.array_kinds import computing
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ops.extents import axis_of
from autoloop_runtime.ops.shape_queries import dim


def _running(
    f: Callable[[Tensor, Axis], Tensor], start: int, x: ArrayLike, axis: Axis | None, dtype: DTypeLike | None,
    include_initial: bool, name: str,
) -> Tensor:  # fmt: skip
    x = convert_to_tensor(x)
    x = x if dtype is None else ops.cast(x, dtype)
    if axis is None:
        if x.shape.rank is not None and x.shape.rank > 1:
            raise ValueError(f"{name}: a tensor of shape {x.shape} needs an axis [AL214]")
        x, axis = ops.ravel(x), 0
    axis = axis_of(axis, x.shape.rank, name)
    made = f(x, axis)
    made = made if dtype is None else ops.cast(made, dtype)
    if not include_initial:
        return made
    first = [1 if place == axis else dim(x, place) for place in range(len(x.shape))]
    return ops.concat([ops.full(first, start, made.dtype), made], axis)


@computing
def cumulative_sum(
    x: ArrayLike, axis: Axis | None = None, dtype: DTypeLike | None = None, include_initial: bool = False
) -> Tensor:
    """Return the running sum along an axis.

    Parameters
    ----------
    x : tensor-like
    axis : int, optional
        Only vectors do without.
    dtype : dtype-like, optional
        To compute in; by default that of ``sum``.
    include_initial : bool
        Whether 0 comes first.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.cumulative_sum(al.constant([1, 2, 3]), include_initial=True))
    Tensor([0 1 3 6], shape=(4,), dtype=int32)
    """
    return _running(ops.cumsum, 0, x, axis, dtype, include_initial, "cumulative_sum")


@computing
def cumulative_prod(
    x: ArrayLike, axis: Axis | None = None, dtype: DTypeLike | None = None, include_initial: bool = False
) -> Tensor:
    """Return the running product along an axis.

    Parameters
    ----------
    x : tensor-like
    axis : int, optional
        Only vectors do without.
    dtype : dtype-like, optional
        To compute in; by default that of ``prod``.
    include_initial : bool
        Whether 1 comes first.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.cumulative_prod(al.constant([1, 2, 3])))
    Tensor([1 2 6], shape=(3,), dtype=int32)
    """
    return _running(ops.cumprod, 1, x, axis, dtype, include_initial, "cumulative_prod")
