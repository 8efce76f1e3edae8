"""NumPy's reductions over axes: small integers add up in 64 bits, ``where`` leaves elements out, ``initial`` begins."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ir.tensor import Tensor
from .. import reducing
from ..operands import as_dtype
from ..selection import where as chosen
from .counterparts import NO_VALUE, as_numpy_dtype, as_operand, counterpart, known, unsupported


def wide(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype in which NumPy adds and multiplies: integers and booleans are at least 64 bits wide."""
    if dtype.kind in "bi":
        return np.result_type(dtype, np.int64)
    return np.result_type(dtype, np.uint64) if dtype.kind == "u" else dtype


def kept(keepdims: Any) -> bool:
    """Return the argument ``keepdims`` as a bool."""
    return keepdims is not NO_VALUE and bool(keepdims)


def is_given(argument: Any) -> bool:
    """Return whether an argument was given that NumPy tells apart from None."""
    return argument is not NO_VALUE


def everywhere(where: Any) -> bool:
    """Return whether an argument ``where`` leaves nothing out."""
    return where is NO_VALUE or where is True


@counterpart(np.sum)
def sum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE,
    where: Any = NO_VALUE,
) -> Tensor:  # fmt: skip
    """Return ``np.sum``."""
    unsupported(np.sum, out=out)
    x = as_operand(a)
    x = as_dtype(x, wide(x.dtype) if dtype is None else as_numpy_dtype(dtype))
    if not everywhere(where):
        x = chosen(as_operand(where, bool), x, np.zeros((), x.dtype)[()])
    made = as_dtype(reducing.sum(x, known(np.sum, axis=axis), kept(keepdims)), x.dtype)
    return made + as_operand(initial, x.dtype) if is_given(initial) else made
