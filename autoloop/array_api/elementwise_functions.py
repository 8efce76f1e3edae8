"""Element-wise functions that are NumPy's own, for tensors whatever the operands are."""

from __future__ import annotations

import numpy as np
from autoloop_runtime.ir.argument_types import ArrayLike
from autoloop_runtime.ir.array_kinds import computing
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ops.operands import operands

from .numpy_calls import computed


@computing
def nextafter(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """Return the number after ``x1`` in the direction of ``x2``.

    Parameters
    ----------
    x1, x2 : tensor-like, broadcast together

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.nextafter(al.constant([0.0]), al.constant([1.0])) > 0)
    Tensor([ True], shape=(1,), dtype=bool)
    """
    return computed(np.nextafter, *operands("nextafter", x1, x2))


@computing
def positive(x: ArrayLike) -> Tensor:
    """Return ``+x``.

    Parameters
    ----------
    x : tensor-like

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.positive(al.constant([1, -2])))
    Tensor([ 1 -2], shape=(2,), dtype=int32)
    """
    return computed(np.positive, x)


@computing
def signbit(x: ArrayLike) -> Tensor:
    """Return whether the sign bit is set: of negative numbers and of ``-0.0``.

    Parameters
    ----------
    x : tensor-like

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.signbit(al.constant([-1.0, 1.0])))
    Tensor([ True False], shape=(2,), dtype=bool)
    """
    return computed(np.signbit, x)
