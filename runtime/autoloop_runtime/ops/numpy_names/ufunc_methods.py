"""The methods of NumPy's ufuncs: ``np.add.reduce``, ``np.maximum.accumulate``, ``np.multiply.outer``, ``reduceat``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.dtypes import of_numbers
from ...base.stand_ins import UnknownWhileTracing
from ...ir.array_references import References
from ...ir.array_storage import array_written
from ...ir.numpy_protocols import UFUNC_METHODS
from ...ir.traits import NO_RULE
from ..array import reshape
from ..index import parse
from ..indexing import add_at
from ..operands import as_dtype
from ..shape_queries import dim
from . import numpy_reductions, numpy_running_sums, slopes_of_ufuncs
from .counterparts import NO_VALUE, as_operand, cast_safely
from .library_rows import library
from .numpy_reductions import everywhere, kept, numpy_axes, numpy_axis, wide
from .ufunc_calls import loop_of

#: ufunc -> what its reduction is, and what its running results are: those that have gradients and machine code
_REDUCED: dict[Any, Any] = {
    np.add: numpy_reductions.sum, np.multiply: numpy_reductions.prod, np.maximum: numpy_reductions.max,
    np.minimum: numpy_reductions.min, np.logical_and: numpy_reductions.all, np.logical_or: numpy_reductions.any,
}  # fmt: skip  # written here, at import
_RUNNING: dict[Any, Any] = {
    np.add: numpy_running_sums.cumsum, np.multiply: numpy_running_sums.cumprod,
}  # fmt: skip  # written here, at import


def _refused(ufunc: Any, method: str, argument: str) -> UnknownWhileTracing:
    return UnknownWhileTracing(
        f"numpy.{ufunc.__name__}.{method} does not take the argument {argument!r} where tensors take part; leave it out"
    )


def _dtype(dtype: Any) -> Any:
    return None if dtype is None else of_numbers(dtype)


def _reduced(
    ufunc: Any, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: Any = False,
    initial: Any = NO_VALUE, where: Any = True,
) -> Any:  # fmt: skip
    """Return ``ufunc.reduce(array)``."""
    if ufunc.nin != 2 or ufunc.nout != 1:
        raise ValueError(f"reduce only supported for binary functions (numpy.{ufunc.__name__})")
    x = as_operand(array)
    begun: dict[str, Any] = {} if initial is NO_VALUE or initial is None else {"initial": initial}
    ours = _REDUCED.get(ufunc)
    of_numbers = x.dtype.kind in "biuf" or ufunc in (np.add, np.multiply)
    masked: dict[str, Any] = {} if everywhere(where) else {"where": where}
    if ours is not None and of_numbers and not (begun and ufunc in (np.logical_and, np.logical_or)):
        if ufunc in (np.add, np.multiply):
            begun["dtype"] = dtype
        elif dtype is not None:
            x = as_operand(x, dtype)
        return ours(x, axis=axis, keepdims=keepdims, **begun, **masked)
    if begun or masked:
        raise _refused(ufunc, "reduce", "initial" if begun else "where")
    axes = numpy_axes(np.sum, axis, x)
    return slopes_of_ufuncs.reduce(x, ufunc=ufunc, axis=axes, dtype=_dtype(dtype), keepdims=kept(keepdims))


def _accumulated(ufunc: Any, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
    """Return ``ufunc.accumulate(array)``."""
    if ufunc.nin != 2 or ufunc.nout != 1:
        raise ValueError(f"accumulate only supported for binary functions (numpy.{ufunc.__name__})")
    x = as_operand(array)
    if x.shape.rank == 0:
        raise TypeError("cannot accumulate on a scalar")
    _refuse_several("accumulate", x, axis)
    ours = _RUNNING.get(ufunc)
    if ours is not None:
        return ours(x, axis, dtype)
    place = numpy_axis(np.cumsum, axis, x)
    return slopes_of_ufuncs.accumulate(x, ufunc=ufunc, axis=place, dtype=_dtype(dtype))


def _refuse_several(method: str, x: Any, axis: Any) -> None:
    """Raise as NumPy, to which None means all axes, where there are others than one."""
    if axis is None and x.shape.rank != 1:
        raise ValueError(f"{method} does not allow multiple axes")


def _taken_apart(ufunc: Any, array: Any, indices: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
    """Return ``ufunc.reduceat(array, indices)``."""
    x, places = as_operand(array), cast_safely(indices, np.int64)
    _refuse_several("reduceat", x, axis)
    place = numpy_axis(np.cumsum, axis, x)
    if ufunc in (np.add, np.multiply):
        x = as_dtype(x, wide(x.dtype) if dtype is None else of_numbers(dtype))
    return slopes_of_ufuncs.reduceat(x, places, ufunc=ufunc, axis=place, dtype=_dtype(dtype))


def _outer(ufunc: Any, A: Any, B: Any, /, **kwargs: Any) -> Any:
    """Return ``ufunc.outer(A, B)``: a call with axes of extent 1 put in between."""
    first, last = as_operand(A), as_operand(B)
    if not len(last.shape):
        return ufunc(first, last, **kwargs)
    extents = [dim(first, k) for k in range(len(first.shape))]
    return ufunc(reshape(first, [*extents, *[1] * len(last.shape)]), last, **kwargs)


def _at_kernel(x: Any, *inputs: Any, ufunc: Any, index: Any, count: int) -> Any:
    made = np.array(x)
    ufunc.at(made, index.resolve(inputs[:count]), *inputs[count:])
    return made


_at_places = library("ufunc_at", _at_kernel, "same", NO_RULE, dtype=lambda x, *inputs, ufunc, index, count: x.dtype)


def _at(ufunc: Any, a: Any, indices: Any, *operands: Any) -> None:
    """Do ``ufunc.at(a, indices, b)``: on each element as often as it is named."""
    if not isinstance(a, References):
        if isinstance(a, np.ndarray):
            array_written(a)
        raise TypeError(
            f"numpy.{ufunc.__name__}.at changes its first argument, which tensors do not: write a[indices] = ..., or "
            f"for sums a = autoloop.scatter_add(a, indices, values) [AL009]"
        )
    held = a.current()
    others = [as_operand(one) for one in operands]  # numbers of Python's among them are as strong as arrays, to NumPy
    if ufunc in (np.add, np.subtract) and loop_of(ufunc, [held, *others])[-1] == a.dtype:
        addends = as_dtype(others[0], a.dtype)
        a.absorb(add_at(held, indices, addends if ufunc is np.add else np.negative(addends)))
        return
    parsed, inputs = parse(indices)
    a.absorb(_at_places(held, *inputs, *others, ufunc=ufunc, index=parsed, count=len(inputs)))


UFUNC_METHODS.update(reduce=_reduced, accumulate=_accumulated, reduceat=_taken_apart, outer=_outer, at=_at)
