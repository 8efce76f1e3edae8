"""Ops that work element by element, over arrays that are computed later: NumPy's kernels, chunk by chunk."""

from __future__ import annotations

from typing import Any

from ..base.dtypes import DType
from ..ops.arithmetic import RECIPROCAL
from ..ops.bounds import RELU
from ..ops.complex_numbers import COMPLEX, IMAG, REAL
from ..ops.identities import COPIED
from ..ops.operands import CAST
from ..ops.powers import CBRT, ERF, EXP2, POW, POW_IN_LOOP, RSQRT, SIGMOID, SOFTPLUS
from ..ops.selection import WHERE
from .chunk_kernels import chunkwise
from .foreign_rows import Call, computed

computed(
    CBRT, COMPLEX, ERF, EXP2, IMAG, POW, POW_IN_LOOP, REAL, RECIPROCAL, RELU, RSQRT, SIGMOID, SOFTPLUS, WHERE,
    when="later",
)(chunkwise)  # fmt: skip


@computed(CAST, when="later")
def _cast(call: Call, x: Any, dtype: DType) -> Any:
    return chunkwise(call, x, dtype=dtype)


@computed(COPIED, when="later")
def _copied(call: Call, x: Any) -> Any:
    return x.copy()  # what is built never changes, but an array of it does: ``x[0] = 1``
