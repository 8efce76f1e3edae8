"""Tensors broadcast together without being combined."""

from __future__ import annotations

from functools import reduce

from autoloop_runtime import ops
from autoloop_runtime.base import dtypes
from autoloop_runtime.ir.argument_types import ArrayLike
from autoloop_runtime.ir.array_kinds import computing
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ops.broadcasting import broadcast_static
from autoloop_runtime.ops.shape_queries import shape_of


@computing
def broadcast_arrays(*arrays: ArrayLike) -> list[Tensor]:
    """Return tensors broadcast together, as a list.

    Parameters
    ----------
    *arrays : tensor-like

    Returns
    -------
    list of Tensor

    Examples
    --------
    >>> x, y = al.broadcast_arrays([1, 2], [[3], [4]])
    >>> print(x)
    Tensor([[1 2]
     [1 2]], shape=(2, 2), dtype=int32)
    """
    tensors = [convert_to_tensor(array) for array in arrays]
    if not tensors:
        return []
    broadcast_static("broadcast_arrays", *tensors)  # which says what does not fit
    common = shape_of(reduce(ops.logical_or, [ops.zeros_like(t, dtypes.bool_) for t in tensors]))
    return [ops.broadcast_to(t, common) for t in tensors]
