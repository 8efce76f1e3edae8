"""NumPy's functions that join arrays: the dtype is that of all, or what is asked for as far as casting allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.dtypes import of_numbers
from ...base.stand_ins import cast_refused
from ...ir.tensor import Tensor
from .. import joining
from ..array import ravel
from ..operands import as_dtype, is_tensor
from .counterparts import as_operand, copied_operands, counterpart, known, unsupported
from .numpy_reductions import numpy_axis


def _parts(theirs: Any, values: Any, dtype: Any, casting: Any) -> list[Tensor]:
    """Return what is to be joined, in one dtype."""
    if is_tensor(values):
        rows = as_operand(values)
        if rows.shape.rank == 0:
            raise ValueError(f"{theirs.__name__}: zero-dimensional arrays cannot be concatenated")
        values = joining.unstack(rows)
    parts = [as_operand(one) for one in values]
    if not parts:
        raise ValueError(f"{theirs.__name__}: need at least one array")
    return of_one_dtype(theirs, parts, dtype, casting)


def of_one_dtype(theirs: Any, parts: Sequence[Tensor], dtype: Any = None, casting: Any = "same_kind") -> list[Tensor]:
    """Return tensors in their common dtype, or in ``dtype`` where ``casting`` allows that (``TypeError``)."""
    wanted = np.result_type(*[part.dtype for part in parts]) if dtype is None else of_numbers(dtype)
    for part in parts:
        if not np.can_cast(part.dtype, wanted, casting):
            raise cast_refused(part.dtype, wanted, casting, f"{theirs.__name__}: ")
    return [as_dtype(part, wanted) for part in parts]


def _concatenated(theirs: Any, parts: list[Tensor], axis: Any) -> Tensor:
    axis = known(theirs, axis=axis)
    if axis is None:
        parts, axis = [ravel(part) for part in parts], 0
    if any(part.shape.rank == 0 for part in parts):
        raise ValueError(f"{theirs.__name__}: zero-dimensional arrays cannot be concatenated")
    numpy_axis(theirs, axis, parts[0])
    return joining.concat(parts, axis)


@counterpart(np.concatenate)
def concatenate(
    arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = "same_kind"
) -> Tensor:
    """Return ``np.concatenate``."""
    unsupported(np.concatenate, out=out)
    if axis is None and dtype is None and isinstance(arrays, (list, tuple)) and arrays:  # Python's numbers are weak
        arrays = copied_operands(*arrays)
    return _concatenated(np.concatenate, _parts(np.concatenate, arrays, dtype, casting), axis)


@counterpart(np.stack)
def stack(arrays: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = "same_kind") -> Tensor:
    """Return ``np.stack``."""
    unsupported(np.stack, out=out)
    parts = _parts(np.stack, arrays, dtype, casting)
    if not all(part.shape.is_compatible_with(parts[0].shape) for part in parts):
        raise ValueError("stack: all input arrays must have the same shape")
    return joining.stack(parts, known(np.stack, axis=axis))
