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
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import ArrayTracer, as_numpy_gives, kind_of, marked, number_of
from autoloop_runtime.ops.exact_numbers import truncated

from ..staging.growing_list import GrowingList
from ..staging.staged_values import answer, is_staged, stands_for


def _number(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of ``math``: it makes floats of its arguments, and gives a Python number, or a tensor."""

    def of_floats(*args: Any) -> Any:
        if kind_of(args) is Tensor:
            return f(*args)
        made = f(*[ops.cast(one, dtypes.float64) if is_staged(one) else float(one) for one in args])
        return number_of(args)(made)

    return of_floats


def _whole(rounded: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x: answer(truncated(rounded(x)), x)


def _log(x: Any, base: Any = None) -> Any:
    return ops.log(x) if base is None else ops.divide(ops.log(x), ops.log(base))


def _stack(arrays: Any, axis: Any = 0, *others: Any, **more: Any) -> Any:
    if isinstance(arrays, GrowingList) and not (others or more):
        made = ops.moveaxis(convert_to_tensor(arrays), 0, axis) if axis else arrays.stack()
        return marked(kind_of((arrays,), ArrayTracer), made)
    return by_numpy(np.stack)(arrays, axis, *others, **more)


def _concatenate(arrays: Any, /, axis: Any = 0, *others: Any, **more: Any) -> Any:
    if not isinstance(arrays, GrowingList):
        return by_numpy(np.concatenate)(arrays, axis, *others, **more)
    if axis != 0 or len(arrays.arrays) != 1 or others or more:
        raise TypeError(f"np.concatenate of the list {arrays.name!r}, which grows in a loop, works along axis 0 only")
    return marked(kind_of((arrays,), ArrayTracer), arrays.arrays[0].concat())


def _counterpart(function: Any) -> Callable[..., Any]:
    return counterpart_of(function) or function


def by_numpy(function: Any) -> Callable[..., Any]:
    """Return what takes a staged argument in place of a function of NumPy's that would not ask it."""

    def of_staged(*args: Any, **kwargs: Any) -> Any:
        if isinstance(function, np.ufunc):
            made = function(*[_counterpart(np.asarray)(one) if holds_staged(one) else one for one in args], **kwargs)
        else:
            made = _counterpart(function)(*args, **kwargs)
        return as_numpy_gives(function, (*args, *kwargs.values()), made)

    return of_staged


def as_scalar(of: type[np.generic]) -> Callable[..., Any]:
    """Return ``np.float32`` and its like as what takes a staged value, too."""

    def made(*args: Any, **kwargs: Any) -> Any:
        if kwargs or len(args) != 1 or not holds_staged(args[0]):
            return of(*args, **kwargs)
        return marked(kind_of(args, ArrayTracer), ops.cast(convert_to_tensor(args[0]), np.dtype(of)))

    return made


def _callbacks() -> Any:
    """Return the module of those that call the user's functions, which most programs do without."""
    from . import numpy_callbacks

    return numpy_callbacks


def vectorized(f: Any) -> Callable[..., Any]:
    """Return an object of ``np.vectorize`` as what takes staged arguments."""
    return lambda *args, **kwargs: _callbacks().vectorized(f)(*args, **kwargs)


STAGED_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    math.ceil: _whole(ops.ceil),
    math.cos: _number(ops.cos),
    math.cosh: _number(ops.cosh),
    math.exp: _number(ops.exp),
    math.expm1: _number(ops.expm1),
    math.fabs: _number(ops.abs),
    math.floor: _whole(ops.floor),
    math.log: _number(_log),
    math.log10: _number(ops.log10),
    math.log1p: _number(ops.log1p),
    math.log2: _number(ops.log2),
    math.pow: _number(ops.pow),
    math.sin: _number(ops.sin),
    math.sinh: _number(ops.sinh),
    math.sqrt: _number(ops.sqrt),
    math.tan: _number(ops.tan),
    math.tanh: _number(ops.tanh),
    np.apply_along_axis: lambda *args, **kwargs: _callbacks().apply_along_axis(*args, **kwargs),
    np.apply_over_axes: lambda *args, **kwargs: _callbacks().apply_over_axes(*args, **kwargs),
    np.concatenate: _concatenate,
    np.isscalar: lambda element: issubclass(stands_for(element), (np.generic, bool, int, float, complex)),
    np.piecewise: lambda *args, **kwargs: _callbacks().piecewise(*args, **kwargs),
    np.stack: _stack,
}


def holds_staged(value: Any) -> bool:
    """Return whether an argument is, or is a list or tuple that holds, something for the graph."""
    if isinstance(value, list | tuple):
        return any(isinstance(leaf, GrowingList) or is_staged(leaf) for leaf in nest.flatten(value))
    return isinstance(value, GrowingList) or is_staged(value)
