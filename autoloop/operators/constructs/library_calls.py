"""Functions of ``math`` and NumPy that take tensors only by way of converted code.

``math.sqrt(x)`` asks its argument for a float, and ``np.stack(out)`` runs over its argument, before a tensor has a
say: so converted code calls what stands here instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base import dtypes, nest
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.numpy_arguments import refuse
from autoloop_runtime.ir.numpy_protocols import NUMPY_FUNCTIONS

from ..staging.growing_list import GrowingList
from ..staging.staged_values import is_staged


def _whole(rounded: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x: ops.cast(rounded(x), dtypes.int32)


def _log(x: Any, base: Any = None) -> Any:
    return ops.log(x) if base is None else ops.divide(ops.log(x), ops.log(base))


def _stack(*args: Any, **kwargs: Any) -> Any:
    _, named = NUMPY_FUNCTIONS[np.stack].arguments(args, kwargs)
    arrays, axis = named["values"], named.get("axis", 0)
    if isinstance(arrays, GrowingList):
        return ops.moveaxis(convert_to_tensor(arrays), 0, axis) if axis else arrays.stack()
    return ops.stack(_rows(arrays), axis)


def _array(value: Any, dtype: Any = None, *, ndmin: int = 0, ndmax: int = 0, **more: Any) -> Any:
    if ndmin or ndmax:
        refuse("numpy.array", "ndmin" if ndmin else "ndmax")
    return _asarray(value, dtype, **more)


def _asarray(value: Any, dtype: Any = None, order: Any = None, *, copy: Any = None, **more: Any) -> Any:
    if order not in (None, "K", "C"):
        refuse("numpy.array", "order")
    given = next((argument for argument, value in more.items() if not (value is None or value is False)), None)
    if given is not None:
        refuse("numpy.array", given)
    tensor = convert_to_tensor(value)
    return tensor if dtype is None else ops.cast(tensor, dtype)


def _concatenate(*args: Any, **kwargs: Any) -> Any:
    _, named = NUMPY_FUNCTIONS[np.concatenate].arguments(args, kwargs)
    arrays, axis = named["values"], named.get("axis", 0)
    if isinstance(arrays, GrowingList):
        if axis != 0 or len(arrays.arrays) != 1:
            raise TypeError(
                f"np.concatenate of the list {arrays.name!r}, which grows in a loop, works along axis 0 only"
            )
        return arrays.arrays[0].concat()
    return ops.concat(_rows(arrays), axis)


def _rows(arrays: Any) -> list[Any]:
    return [convert_to_tensor(one) for one in arrays] if isinstance(arrays, list | tuple) else arrays


STAGED_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    math.ceil: _whole(ops.ceil),
    math.cos: ops.cos,
    math.cosh: ops.cosh,
    math.exp: ops.exp,
    math.expm1: ops.expm1,
    math.fabs: ops.abs,
    math.floor: _whole(ops.floor),
    math.log: _log,
    math.log10: ops.log10,
    math.log1p: ops.log1p,
    math.log2: ops.log2,
    math.pow: ops.pow,
    math.sin: ops.sin,
    math.sinh: ops.sinh,
    math.sqrt: ops.sqrt,
    math.tan: ops.tan,
    math.tanh: ops.tanh,
    np.array: _array,
    np.asarray: _asarray,
    np.concatenate: _concatenate,
    np.stack: _stack,
}


def holds_staged(value: Any) -> bool:
    """Return whether an argument is, or is a list or tuple that holds, something for the graph."""
    if isinstance(value, list | tuple):
        return any(isinstance(leaf, GrowingList) or is_staged(leaf) for leaf in nest.flatten(value))
    return isinstance(value, GrowingList) or is_staged(value)
