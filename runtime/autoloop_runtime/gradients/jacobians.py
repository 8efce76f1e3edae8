"""All derivatives of all elements of a tensor, one backward pass for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import ops
from ..base import dtypes
from ..ir.convert import convert_to_tensor
from ..ir.tensor import Tensor

#: the gradients of a tensor, when it starts with an array, with regard to each source
Back = Callable[[Any], Sequence[Any]]


def jacobians(y: Tensor, sources: Sequence[Any], back: Back, zeros: bool) -> list[Tensor | None]:
    """Return the derivatives of ``y`` with regard to each source, of shape ``y.shape + x.shape``.

    Of a complex ``y`` a row is the gradient of its real part where ``x`` is complex, as everywhere; where ``x`` is
    real, that of both parts. Where no path leads to ``x`` there are ``zeros``, or there is ``None``.

    Raises
    ------
    TypeError
        If ``y`` is not floating, or has no known shape.
    """
    if y.dtype.kind not in "fc" or not y.shape.is_fully_defined():
        raise TypeError(
            f"jacobian needs a function that returns floating tensors of known shape, not {y.shape} {y.dtype} [AL402]"
        )
    keys = [convert_to_tensor(x) for x in sources]
    of_both = [y.dtype.kind == "c" and x.dtype.kind == "f" for x in keys]
    of_real = _rows(y, back, 1)
    of_imaginary = _rows(y, back, 1j) if any(of_both) else []
    made: list[Tensor | None] = []
    for k, x in enumerate(keys):
        columns = [[row[k] for row in rows] for rows in (of_real, of_imaginary)]
        if not zeros and y.size and all(g is None for column in columns for g in column):
            made.append(None)
            continue
        real = _matrix(columns[0], x, y)
        made.append(_complex(real, _matrix(columns[1], x, y), y.dtype) if of_both[k] else real)
    return made


def _rows(y: Tensor, back: Back, unit: complex) -> list[Sequence[Any]]:
    made = []
    for k in range(y.size):
        one = np.zeros(y.size, y.dtype)
        one[k] = unit
        made.append(back(one.reshape(y.shape.as_tuple())[()]))
    return made


def _matrix(column: Sequence[Any], x: Tensor, y: Tensor) -> Tensor:
    shape = [*y.shape.as_tuple(), *x.shape.as_tuple()]
    made: Tensor
    if all(g is None for g in column):
        made = ops.zeros(shape, x.dtype)
    else:
        rows = [ops.zeros_like(x) if g is None else convert_to_tensor(g) for g in column]
        made = ops.reshape(ops.stack(rows), shape)
    return made


def _complex(real: Tensor, imaginary: Tensor, dtype: Any) -> Tensor:
    part = dtypes.real_of(dtype)
    made: Tensor = ops.complex(ops.cast(real, part), ops.cast(imaginary, part))
    return made
