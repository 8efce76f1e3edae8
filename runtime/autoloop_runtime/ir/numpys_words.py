"""What NumPy says of arrays that do not fit: a function of NumPy's arrays that fails while it is traced says the same.

The kernel of the operation is called with arrays of the same dtypes and shapes, of which nothing is computed: it fails
before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

#: kernels may copy what they are given
_MOST_ELEMENTS = 1 << 20


def inferred(op: Any, inputs: Sequence[Any], attrs: Mapping[str, Any], of_arrays: bool) -> list[Any]:
    """Return the ``(dtype, shape)`` of each output; of NumPy's arrays the error is told as NumPy tells it."""
    try:
        return list(op.specs(*inputs, **attrs))
    except ValueError as error:
        if of_arrays:
            _say_as_numpy(op, inputs, attrs, error)
        raise


def _say_as_numpy(op: Any, inputs: Sequence[Any], attrs: Mapping[str, Any], error: ValueError) -> None:
    """Let ``error``, which tells that ``inputs`` do not fit, say what NumPy says of them, if it fails likewise.

    It stays the same object: who handles it looks at where it was raised.

    Parameters
    ----------
    op : Op
    inputs : sequence of Tensor
    attrs : mapping
    error : ValueError
        What the rule of ``op`` has raised.
    """
    if type(error) is not ValueError or op.effect or op.stateful or op.graphs:
        return
    given = []
    for tensor in inputs:
        if not tensor.shape.is_fully_defined() or tensor.dtype.kind not in "biufc":
            return
        value = tensor.constant_value()
        shape = tensor.shape.as_tuple()
        if value is None and np.prod(shape, dtype=float) > _MOST_ELEMENTS:
            return
        given.append(np.broadcast_to(tensor.dtype.type(0), shape) if value is None else value)
    try:
        op.kernel(*given, **attrs)
    except ValueError as theirs:
        if type(theirs) is ValueError:
            error.args = (str(theirs),)
    except Exception:  # of a kernel that asks for more than shapes
        return
