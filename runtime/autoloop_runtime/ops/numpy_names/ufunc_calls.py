"""How NumPy's element-wise functions are called: in a loop of dtypes that the operands are cast to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir.numpy_arguments import is_neutral
from ...ir.numpy_protocols import NUMPY_UFUNCS, UFUNC_METHODS
from ...ir.tensor import Tensor
from ..operands import as_dtype
from .counterparts import as_operand, refused

_PYTHON_NUMBERS = (int, float, complex)


def loop_of(ufunc: Any, inputs: Sequence[Any], casting: Any = "same_kind", dtype: Any = None) -> list[Any]:
    """Return the dtypes that NumPy computes in: of the inputs, then of the outputs; Python numbers are weak.

    Raises
    ------
    TypeError
        If there is no such loop.
    """
    kinds = [type(x) if type(x) in _PYTHON_NUMBERS else as_operand(x).dtype for x in inputs]
    asked = {} if dtype is None else {"signature": (*[None] * ufunc.nin, *[np.dtype(dtype)] * ufunc.nout)}
    return list(ufunc.resolve_dtypes((*kinds, *[None] * ufunc.nout), casting=casting, **asked))


def in_loop(ufunc: Any, inputs: Sequence[Any], casting: Any = "same_kind", dtype: Any = None) -> list[Tensor]:
    """Return the operands as tensors of the dtypes that NumPy computes in."""
    return [as_operand(x, one) for x, one in zip(inputs, loop_of(ufunc, inputs, casting, dtype))]


def _called(ufunc: Any, *inputs: Any, casting: Any = "same_kind", dtype: Any = None, **others: Any) -> Any:
    """Return ``ufunc(*inputs)``; what ``others`` ask for is refused."""
    ours = NUMPY_UFUNCS.get(ufunc)
    if ours is None:
        return NotImplemented
    for argument, value in others.items():
        if not is_neutral(argument, value):
            refused(ufunc, argument)
    if dtype is None and casting == "same_kind":
        return ours(*inputs)
    loop = loop_of(ufunc, inputs, casting, dtype)
    made = ours(*[as_operand(x, one) for x, one in zip(inputs, loop)])
    if ufunc.nout == 1:
        return as_dtype(made, loop[-1])
    return tuple([as_dtype(one, to) for one, to in zip(made, loop[ufunc.nin :])])


UFUNC_METHODS["__call__"] = _called
