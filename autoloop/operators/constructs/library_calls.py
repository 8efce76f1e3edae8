"""Functions of ``math`` and NumPy that take tensors only by way of converted code.

``np.stack(out)`` runs over its argument before a tensor has a say: so converted code calls what stands here instead.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base import nest
from autoloop_runtime.base.callbacks import owner_of
from autoloop_runtime.base.dtypes import of_numbers
from autoloop_runtime.base.stand_ins import UnknownWhileTracing
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.graph import theirs_here
from autoloop_runtime.ir.numpy_protocols import counterpart_of
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.text_operators import refused_by_numpy
from autoloop_runtime.ir.tracers import (
    ArrayTracer,
    NumberTracer,
    TextTracer,
    as_numpy_gives,
    ask_numpy,
    kind_of,
    marked,
    written_or_asked,
)
from autoloop_runtime.ir.written_results import is_reference, place_of_out, refuse_array, takes_out, without_out
from autoloop_runtime.ops.operands import fitted

from ... import operators
from ...errors import programs_own
from ...left_to_python import refuse_unknown
from ..staging.staged_values import answer, is_staged, stands_for
from ..staging.standins import is_growing

_MAKING_ARRAYS = (np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray)


def _stack(arrays: Any, axis: Any = 0, *others: Any, **more: Any) -> Any:
    if is_growing(arrays) and not (others or more):
        operators.refuse_empty(arrays, np.stack)
        made = ops.moveaxis(convert_to_tensor(arrays), 0, axis) if axis else arrays.stack()
        return marked(kind_of((arrays,), ArrayTracer), made)
    return by_numpy(np.stack)(arrays, axis, *others, **more)


def _concatenate(arrays: Any, /, axis: Any = 0, *others: Any, **more: Any) -> Any:
    if not is_growing(arrays):
        return by_numpy(np.concatenate)(arrays, axis, *others, **more)
    if axis != 0 or len(arrays.arrays) != 1 or others or more:
        raise TypeError(
            f"np.concatenate of the list {arrays.name!r}, which grows in a loop, works along axis 0 only [AL019]"
        )
    operators.refuse_empty(arrays, np.concatenate)
    return marked(kind_of((arrays,), ArrayTracer), arrays.arrays[0].concat())


def _block(arrays: Any) -> Any:
    if any(is_growing(leaf) for leaf in nest.flatten(arrays)):
        refuse_unknown("np.block of a list that grows in a loop on tensors", "use np.concatenate(values)")
    return by_numpy(np.block)(arrays)


def _matrices(*args: Any, **kwargs: Any) -> NoReturn:
    """Refuse ``np.bmat``, which gives None for what it does not know, and so for a tensor."""
    refuse_unknown("np.bmat on tensors", "use np.block, an array of two axes, and a @ b")


def _extents(function: Any, a: Any, *axis: Any) -> Any:
    """Return ``np.shape`` or ``np.size``: of an array numbers of Python's, whatever the run decides."""
    array = operators.array_of(a) if is_growing(a) else a
    if isinstance(array, list | tuple) and any(map(is_staged, nest.flatten(array))):
        array = by_numpy(np.asarray)(array)
    if axis or not isinstance(array, ArrayTracer) or array.shape.rank is None:
        made = by_numpy(function)(array, *axis)
        return answer(ops.cast(made, np.int64), made) if isinstance(made, ArrayTracer) else made
    return operators.attribute(array, function.__name__)


def _numbers_given_dtype(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Return the arguments of ``np.array`` or the like, which asks nothing of a list whose dtype is given."""
    has_dtype = function in _MAKING_ARRAYS and (args[1] if len(args) > 1 else kwargs.get("dtype")) is not None
    if not has_dtype or not args or not is_growing(args[0]) or len(args[0].kinds) != 1:
        return args
    if args[0].arrays[0].element_shape.rank != 0:
        return operators.array_of(args[0]), *args[1:]
    return marked(kind_of(args[:1], ArrayTracer), args[0].numbers()), *args[1:]


def from_iterable(iterable: Any, dtype: Any, count: int = -1, *, like: Any = None) -> Any:
    """Return ``np.fromiter``, of elements that may be for the graph."""
    refuse_dtype(np.fromiter, dtype)
    count = operator.index(count)
    made = list(operators.elements(iterable) if count < 0 else itertools.islice(operators.elements(iterable), count))
    if like is not None or not any(map(is_staged, made)):
        return np.fromiter(made, dtype, count, like=like)
    if len(made) < count:
        np.fromiter(range(len(made)), int, count)  # says that it is too short
    if any(np.ndim(one) if not isinstance(one, Tensor) else one.shape.rank for one in made):
        raise programs_own(ValueError("setting an array element with a sequence."))
    return by_numpy(np.array)(made, dtype)[: None if count >= -1 else 0]  # which is NumPy's for less


def _counterpart(function: Any) -> Callable[..., Any]:
    return counterpart_of(function) or function


def _part(value: Any) -> Any:
    """Return what NumPy makes of an argument of a ufunc: an array, of a list which holds tensors."""
    if not holds_staged_inside(value):
        return value
    made, theirs = by_numpy(np.asarray)(value), theirs_here()
    return made if theirs is None else theirs.taken_over(np.asarray, (value,), made)


def by_numpy(function: Any) -> Callable[..., Any]:
    """Return what takes a staged argument in place of a function of NumPy's that would not ask it."""

    def of_staged(*args: Any, **kwargs: Any) -> Any:
        if of_ufunc(function):  # which asks arrays, but not the elements of lists
            is_index = function.__name__ == "at"  # whose tuple is one index of several axes
            if is_index and args and isinstance(args[0], list | tuple):
                raise programs_own(TypeError("first operand must be array"))
            made = [one if is_index and type(one) is tuple else _part(one) for one in args]
            return function(*made, **kwargs)
        if any(isinstance(one, TextTracer) for one in (*args, *kwargs.values())):
            refused_by_numpy()
        args, kwargs = operators.given_exactly(function, _numbers_given_dtype(function, args, kwargs), kwargs)
        out, others, named = None, args, kwargs
        if takes_out(function):
            out, others, named = without_out(place_of_out(function), args, kwargs)
        if is_reference(out, function):
            from autoloop_runtime.ir.overlapping_copies import check_pieces

            check_pieces(function, out, others)
            return written_or_asked(function, out, of_staged(*others, **named), args, kwargs)
        if out is not None:
            refuse_array(function, out)
        try:
            return as_numpy_gives(function, args, kwargs, _counterpart(function)(*args, **kwargs))
        except Exception as error:
            ask_numpy(function, args, kwargs, error)
            raise

    return of_staged


def of_ufunc(function: Any) -> bool:
    """Return whether a callable is a ufunc, or a method of one."""
    return isinstance(function, np.ufunc) or isinstance(owner_of(function), np.ufunc)


def giving_arrays(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return a call of a ufunc which gives arrays, also without axes, if it is given ``out=...``: NumPy tells none of
    those whom it asks of that."""

    def called(*args: Any, **kwargs: Any) -> Any:
        made = call(*args, **kwargs)
        if kwargs.get("out") is not ...:
            return made
        return tuple(map(_as_array, made)) if isinstance(made, tuple) else _as_array(made)

    return called


def _as_array(value: Any) -> Any:
    return by_numpy(np.asarray)(value) if isinstance(value, ArrayTracer) else value


def not_asked(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return whether a function of NumPy's may overlook what is staged: it asks its first argument, not all others."""
    first, *others = (*args, *kwargs.values()) or (None,)
    return holds_staged_inside(first) or (not isinstance(first, Tensor) and any(map(holds_staged, others)))


def elements_not_asked(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return whether a list among the arguments holds what is staged."""
    return any(map(holds_staged_inside, (*args, *kwargs.values())))


def any_staged(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return whether an argument is staged."""
    return any(map(holds_staged, (*args, *kwargs.values())))


def holds_staged_inside(value: Any) -> bool:
    """Return whether an argument is something that holds tensors, which NumPy's functions do not ask what they mean."""
    return not isinstance(value, Tensor) and holds_staged(value)


#: scalars of NumPy's that hold no numbers, or give the object itself
_OF_NO_NUMBERS = (np.datetime64, np.timedelta64, np.object_, np.void)


def as_scalar(of: type[np.generic]) -> Callable[..., Any]:
    """Return ``np.float32`` and its like as what takes a staged value, too."""

    def made(*args: Any, **kwargs: Any) -> Any:
        if of in _OF_NO_NUMBERS and any(map(holds_staged, (*args, *kwargs.values()))):
            raise UnknownWhileTracing(f"a numpy.{of.__name__} of what only the run knows is no number for a graph")
        if kwargs or len(args) != 1 or not holds_staged(args[0]):
            return of(*args, **kwargs)
        value = args[0]
        if isinstance(value, list | tuple) and not issubclass(of, np.character):
            return by_numpy(np.array)(value, of)
        if isinstance(value, TextTracer) or issubclass(of, np.character):
            refused_by_numpy()
        if isinstance(value, NumberTracer):  # which has to fit, as Python's own
            return marked(kind_of(args, ArrayTracer), fitted(value.plain, of_numbers(of)))
        return marked(kind_of(args, ArrayTracer), ops.cast(convert_to_tensor(value), of_numbers(of)))

    return made


def _limits(of: Any) -> Callable[..., Any]:
    """Return ``np.finfo`` or ``np.iinfo`` as what takes a staged number or scalar; of arrays NumPy has none."""

    def made(asked: Any) -> Any:
        if isinstance(asked, ArrayTracer) and not asked.is_scalar:
            raise programs_own(
                ValueError(f"np.{of.__name__} takes a dtype, not an array: write np.{of.__name__}(x.dtype) [AL026]")
            )
        return of(asked.dtype if isinstance(asked, Tensor) else asked)

    return made


def _of_dtypes(function: Any) -> Callable[..., Any]:
    """Return a function of dtypes, of which arrays and numbers are none, though what stands for them has one that NumPy
    would ask for."""

    def made(*args: Any, **kwargs: Any) -> Any:
        given = (*args, *kwargs.values())
        for one in given:
            refuse_dtype(function, one)
        return function(*args, **kwargs)

    return made


def refuse_dtype(function: Any, dtype: Any) -> None:
    """Raise what NumPy does of an array; leave it to NumPy to say that a number, or what one is a part of, is no
    dtype."""
    if getattr(dtype, "is_scalar", True) is False:
        raise programs_own(TypeError("Cannot construct a dtype from an array"))
    if isinstance(dtype, NumberTracer | TextTracer) or (isinstance(dtype, list | tuple) and holds_staged(dtype)):
        raise UnknownWhileTracing(f"numpy.{function.__name__}: Cannot interpret what only the run knows as a data type")


def _of_memory(function: Any, instead: str) -> Callable[..., Any]:
    """Return a function that asks where arrays lie, which is nowhere while a graph is built."""

    def made(*args: Any, **kwargs: Any) -> Any:
        if any_staged(args, kwargs):
            refuse_unknown(f"np.{function.__name__} asks for memory, which is none while a graph is built", instead)
        return function(*args, **kwargs)

    return made


def new_array(shape: Any, dtype: Any = float, *others: Any, order: Any = None, **more: Any) -> Any:
    """Return ``np.ndarray(shape)``, an array to be filled."""
    if others or more:
        raise TypeError("np.ndarray of a buffer is a view that a graph cannot follow: use reshape, or a slice [AL029]")
    return by_numpy(np.empty)(shape, dtype, order or "C")


def _callbacks() -> Any:
    """Return the module of those that call the user's functions, which most programs do without."""
    from . import numpy_callbacks

    return numpy_callbacks


def vectorized(f: Any) -> Callable[..., Any]:
    """Return an object of ``np.vectorize`` as what takes staged arguments."""
    return lambda *args, **kwargs: _callbacks().vectorized(f)(*args, **kwargs)


STAGED_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.block: _block,
    np.bmat: _matrices,
    np.shape: lambda a: _extents(np.shape, a),
    np.size: lambda a, axis=None: _extents(np.size, a, *([] if axis is None else [axis])),
    np.apply_along_axis: lambda *args, **kwargs: _callbacks().apply_along_axis(*args, **kwargs),
    np.apply_over_axes: lambda *args, **kwargs: _callbacks().apply_over_axes(*args, **kwargs),
    np.concatenate: _concatenate,
    np.dtype: _of_dtypes(np.dtype),
    np.finfo: _limits(np.finfo),
    np.frombuffer: _of_memory(np.frombuffer, "write x.view(dtype), or call it before the decorated function"),
    np.iinfo: _limits(np.iinfo),
    np.isscalar: lambda element: issubclass(stands_for(element), (np.generic, bool, int, float, complex, str, bytes)),
    np.may_share_memory: _of_memory(np.may_share_memory, "call it on what the decorated function gives"),
    np.issubdtype: _of_dtypes(np.issubdtype),
    np.piecewise: lambda *args, **kwargs: _callbacks().piecewise(*args, **kwargs),
    np.promote_types: _of_dtypes(np.promote_types),
    np.shares_memory: _of_memory(np.shares_memory, "call it on what the decorated function gives"),
    np.stack: _stack,
}

for _plain, _staged in (*STAGED_FUNCTIONS.items(), (np.fromiter, from_iterable)):
    _staged.__qualname__ = _plain.__name__  # by which Python says that arguments do not fit


def holds_staged(value: Any) -> bool:
    """Return whether an argument is, or is a list or tuple that holds, something for the graph."""
    if isinstance(value, list | tuple):
        return any(is_growing(leaf) or is_staged(leaf) for leaf in nest.flatten(value))
    return is_growing(value) or is_staged(value)
