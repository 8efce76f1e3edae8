"""Operands of linear algebra: what NumPy asks of a matrix, in its order and words."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ir.tensor import Tensor
from ..operands import as_dtype
from .counterparts import as_operand


def floats(x: Any) -> Tensor:
    """Return an operand, integers and booleans as float64."""
    x = as_operand(x)
    return as_dtype(x, np.dtype(np.float64)) if x.dtype.kind in "biu" else x


def supported(*tensors: Tensor) -> None:
    """Raise ``TypeError`` for what LAPACK has no numbers for."""
    for x in tensors:
        if x.dtype.kind not in "fc" or x.dtype == np.float16:
            raise TypeError(f"array type {x.dtype} is unsupported in linalg")


def stacked(x: Tensor) -> Tensor:
    """Return a matrix, or a stack of them."""
    rank = x.shape.rank
    if rank is not None and rank < 2:
        raise np.linalg.LinAlgError(f"{rank}-dimensional array given. Array must be at least two-dimensional")
    return x


def squared(x: Tensor) -> Tensor:
    """Return a square matrix, or a stack of them."""
    stacked(x)
    if x.shape.rank is not None and None not in x.shape.known[-2:] and x.shape.known[-1] != x.shape.known[-2]:
        raise np.linalg.LinAlgError(f"Last 2 dimensions of the array must be square, got shape {x.shape}")
    return x


def matrix(a: Any) -> Tensor:
    """Return an operand as a matrix of floats, or a stack of them."""
    x = stacked(floats(a))
    supported(x)
    return x


def square(a: Any) -> Tensor:
    """Return an operand as a square matrix of floats, or a stack of them."""
    x = squared(floats(a))
    supported(x)
    return x
