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
from autoloop_runtime.ir.numpy_protocols import counterpart_of

from ..staging.growing_list import GrowingList
from ..staging.staged_values import is_staged


def _whole(rounded: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x: ops.cast(rounded(x), dtypes.int32)


def _log(x: Any, base: Any = None) -> Any:
    return ops.log(x) if base is None else ops.divide(ops.log(x), ops.log(base))


def _stack(arrays: Any, axis: Any = 0, *others: Any, **more: Any) -> Any:
    if isinstance(arrays, GrowingList) and not (others or more):
        return ops.moveaxis(convert_to_tensor(arrays), 0, axis) if axis else arrays.stack()
    return _counterpart(np.stack)(arrays, axis, *others, **more)


def _concatenate(arrays: Any, /, axis: Any = 0, *others: Any, **more: Any) -> Any:
    if not isinstance(arrays, GrowingList):
        return _counterpart(np.concatenate)(arrays, axis, *others, **more)
    if axis != 0 or len(arrays.arrays) != 1 or others or more:
        raise TypeError(f"np.concatenate of the list {arrays.name!r}, which grows in a loop, works along axis 0 only")
    return arrays.arrays[0].concat()


def _counterpart(function: Any) -> Callable[..., Any]:
    return counterpart_of(function) or function


def by_numpy(function: Any) -> Callable[..., Any]:
    """Return what takes a staged argument in place of a function of NumPy's that would not ask it."""

    def of_staged(*args: Any, **kwargs: Any) -> Any:
        if not isinstance(function, np.ufunc):
            return _counterpart(function)(*args, **kwargs)
        return function(*[_counterpart(np.asarray)(one) if holds_staged(one) else one for one in args], **kwargs)

    return of_staged


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
    np.concatenate: _concatenate,
    np.stack: _stack,
}


def holds_staged(value: Any) -> bool:
    """Return whether an argument is, or is a list or tuple that holds, something for the graph."""
    if isinstance(value, list | tuple):
        return any(isinstance(leaf, GrowingList) or is_staged(leaf) for leaf in nest.flatten(value))
    return isinstance(value, GrowingList) or is_staged(value)
