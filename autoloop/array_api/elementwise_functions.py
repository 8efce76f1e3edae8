"""Element-wise functions that are NumPy's own, for tensors whatever the operands are."""

from __future__ import annotations

import numpy as np
from autoloop_runtime.ir.argument_types import ArrayLike
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ops.operands import operands

from .numpy_calls import computed


def nextafter(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """Return the number after ``x1`` in the direction of ``x2``.

    Parameters
    ----------
    x1, x2 : tensor-like, broadcast together
    """
    return computed(np.nextafter, *operands("nextafter", x1, x2))


def positive(x: ArrayLike) -> Tensor:
    """Return ``+x``.

    Parameters
    ----------
    x : tensor-like
    """
    return computed(np.positive, x)


def signbit(x: ArrayLike) -> Tensor:
    """Return whether the sign bit is set: of negative numbers and of ``-0.0``.

    Parameters
    ----------
    x : tensor-like
    """
    return computed(np.signbit, x)
