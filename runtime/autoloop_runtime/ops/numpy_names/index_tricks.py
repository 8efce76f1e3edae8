"""Indices and rows written with brackets: ``np.ix_``, ``np.r_``, ``np.c_``, ``np.mgrid``, ``np.ogrid``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import dtypes
from .. import array, selection
from ..operands import as_dtype
from .axes_of_numpy import rank_of
from .counterparts import as_operand, counterpart


@counterpart(np.ix_)
def ix_(*args: Any) -> Any:
    """Return ``np.ix_``."""
    made = []
    for k, one in enumerate(args):
        x = as_operand(one)
        if rank_of(np.ix_, x) != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if x.dtype.kind == "b":
            x = selection.argwhere(x)[:, 0]
        if x.shape[0] == 0:
            x = as_dtype(x, dtypes.int64)
        made.append(array.reshape(x, [-1 if a == k else 1 for a in range(len(args))]))
    return tuple(made)
