"""A tensor where NumPy's functions are called: ours take their place, or NumPy's run on the value."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.stand_ins import UnknownWhileTracing
from .asked_for_text import array_is_asked
from .followers import refuse_leaving
from .numpy_arguments import (
    as_in_numpy,
    ask_of_odd,
    full_name,
    is_neutral,
    is_operator,
    refuse,
    refuse_found,
    refuse_nones,
    telling_none_apart,
)
from .python_protocols import INSTEAD, refuse_symbolic

#: ufunc of NumPy's -> our public function of its operands; filled while the ops floor is imported, as are the others
NUMPY_UFUNCS: dict[Any, Callable[..., Any]] = {}
#: the same of those whose operator computes scalars in another way -> our function of that
UFUNC_OPERATORS: dict[Any, Callable[..., Any]] = {}
#: function of NumPy's -> what takes its arguments where tensors take part
NUMPY_FUNCTIONS: dict[Any, Callable[..., Any]] = {}
_TOLD_APART: dict[Any, Callable[..., Any]] = {}
#: method of ufuncs ("__call__", "reduce", ...) -> what takes the ufunc and the arguments of that
UFUNC_METHODS: dict[str, Callable[..., Any]] = {}
#: functions of NumPy's that give a Python number, not an array; filled with the tables above
NUMPY_NUMBERS: set[Any] = set()
#: asked for what is not in the tables above: each may load more of them; filled while modules are imported
NUMPY_DOORS: list[Callable[[Any], None]] = []


def counterpart_of(theirs: Any) -> Callable[..., Any] | None:
    """Return what a function of NumPy's means where tensors take part, None if there is nothing."""
    found = _TOLD_APART.get(theirs)
    if found is None and (ours := _found(NUMPY_FUNCTIONS, theirs, theirs)) is not None:
        found = _TOLD_APART[theirs] = telling_none_apart(theirs, ours)
    return found


def ufunc_counterpart_of(theirs: Any) -> Callable[..., Any] | None:
    """Return what an element-wise function means where tensors take part, None if there is nothing."""
    return _found(NUMPY_UFUNCS, theirs, theirs)


def _found(table: dict[Any, Callable[..., Any]], key: Any, theirs: Any) -> Callable[..., Any] | None:
    found = table.get(key)
    if found is None:
        for door in NUMPY_DOORS:
            door(theirs)
        found = table.get(key)
    return found


class NumpyProtocols:
    """What NumPy asks of an operand that is none of its arrays."""

    __slots__ = ()
    __array_priority__ = 1000

    if TYPE_CHECKING:
        _value: Any
        node: Any

        @property
        def name(self) -> str: ...
        @property
        def value(self) -> Any: ...

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if self.node is not None:
            array_is_asked()
            refuse_symbolic(self, "an array (numpy.asarray)")
        refuse_leaving(self, "an array (numpy.asarray)", INSTEAD)
        out = np.asarray(self._value, dtype=dtype)
        return out.copy() if copy or copy is None else out

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if not kwargs and method == "__call__":  # what nearly all are
            ours = NUMPY_UFUNCS.get(ufunc)
            if ours is not None:
                if ufunc in UFUNC_OPERATORS and isinstance(inputs[0], np.generic) and is_operator(sys._getframe(1)):
                    return UFUNC_OPERATORS[ufunc](*inputs)  # of a scalar that is asked first, and lets nobody go first
                for x in inputs:
                    if isinstance(x, (list, tuple)):
                        return ours(*[as_in_numpy(x) if isinstance(x, (list, tuple)) else x for x in inputs])
                return ours(*inputs)
        name = f"numpy.{ufunc.__name__}" if method == "__call__" else f"numpy.{ufunc.__name__}.{method}"
        refuse_nones(name, kwargs)
        ask_of_odd(ufunc if method == "__call__" else getattr(ufunc, method), kwargs, *inputs, **kwargs)
        out = kwargs.pop("out", None)
        if out is not None:
            if not (out[0] is inputs[0] and is_operator(sys._getframe(1))):
                refuse(name, "out")
            refuse_found(out[0])
            return NumpyProtocols.__array_ufunc__(self, ufunc, method, *inputs, **kwargs)
        called = _found(UFUNC_METHODS, method, ufunc)
        made = NotImplemented if called is None else called(ufunc, *inputs, **kwargs)
        return _without_counterpart(name, getattr(ufunc, method), inputs, kwargs) if made is NotImplemented else made

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        ours = counterpart_of(func)
        if ours is None:
            if not is_neutral("out", kwargs.get("out")):
                refuse(full_name(func), "out")
            return _without_counterpart(full_name(func), func, args, kwargs)
        return ours(*args, **kwargs)


def _without_counterpart(name: str, func: Any, args: Any, kwargs: Any) -> Any:
    """Answer for a NumPy function we have no op for: computed now if every argument is a value."""

    ours: list[Any] = []

    def concrete(arg: Any) -> Any:
        if isinstance(arg, NumpyProtocols):
            if arg.node is not None:
                raise UnknownWhileTracing(
                    f"{name} has no counterpart for a symbolic tensor; use autoloop's functions "
                    f"or py_function (tensor {arg.name})"
                )
            ours.append(arg)
            return arg.value
        return type(arg)(map(concrete, arg)) if isinstance(arg, (list, tuple)) else arg

    made = func(*map(concrete, args), **{k: concrete(v) for k, v in kwargs.items()})
    if (made is None and any(isinstance(arg, np.ndarray) for arg in args)) or _has_floats(made):
        for tensor in ours:
            refuse_leaving(tensor, f"{name} (which has no counterpart here)", INSTEAD)
    return made


def _has_floats(value: Any) -> bool:
    """Return true for floats and complex numbers, and for sequences and arrays that hold some."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "O":  # what np.frompyfunc gives
        value = value.ravel().tolist()
    if isinstance(value, (list, tuple)):
        return any(map(_has_floats, value))
    return isinstance(value, (float, complex)) or (
        isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fc"
    )
