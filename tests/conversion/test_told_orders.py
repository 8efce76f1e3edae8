"""The order in which arrays are told to lie in memory, and that of their bytes."""

from __future__ import annotations

from typing import Any

import autoloop as al
import numpy as np
import pytest
from written_out import program

BYTES = [
    *[f"x.tobytes({order!r})" for order in "CFAKk"],
    *[f"x.T.tobytes({order!r})" for order in "CFAK"],
    "x.tobytes(order='K')", "x[:, ::2].tobytes('K')", "x.T[1:].tobytes('K')",
]  # fmt: skip
REQUIRED = [
    "np.require(x, 'f4', 'F')", "np.require(x, dtype='f4', requirements='f')", "np.require(x, 'f4', ['F', 'W'])",
    "np.require(x.T, 'f4', 'C')", "np.require(x.T, 'f4', ['O', 'C_CONTIGUOUS'])", "np.require(x.T, 'f4')",
    "np.require(x, 'f4', ['FORTRAN'])", "np.require(x, 'f4', [])",
]  # fmt: skip
MADE = [
    "np.asarray(x + 1, order='F')", "np.asarray(x + 1, None, 'F')", "np.asarray(x.T + 1, order='C')",
    "np.asanyarray(x + 1, order='F')", "np.asarray_chkfinite(x + 1, order='F')", "np.ascontiguousarray(x.T + 1)",
    "np.require(x + 1, None, 'F')", "np.require(x.T + 1, None, 'C')", "np.asarray(x * 2, float, order='F')",
]  # fmt: skip
COPIES = [
    f"{part}.copy({order!r})" for part in ("x", "x.T", "x[:, ::2]", "x.T[1:]", "x[::-1].T") for order in "CFAKk"
]  # fmt: skip


@pytest.mark.parametrize("text", [*BYTES, *REQUIRED, *MADE, *COPIES])
def test_arrays_lie_and_give_bytes_as_they_are_told(text: str) -> None:
    f = program(text, ["x"])
    g = al.function(f)
    told = [_told(one(np.arange(12.0).reshape(3, 4))) for one in (f, g, g)]
    assert told[1] == told[2] == told[0]


def _told(made: Any) -> Any:
    return made if isinstance(made, bytes) else (made.tolist(), made.dtype, made.strides, made.flags.writeable)
