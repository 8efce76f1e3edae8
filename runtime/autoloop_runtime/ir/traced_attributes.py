"""What arrays and NumPy scalars that a graph computes have under a dot besides what tensors have.

A scalar has what arrays have not, ``x[0].is_integer()``. Of an array of the user's nothing is set in a trace:
``x.shape = ...`` would change it for all that hold it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..base.stand_ins import UnknownWhileTracing
from .op import call
from .tensor import Tensor
from .tracers import ArrayTracer, TextTracer, ZeroDimArray, number_of

#: of which it is found out at once what NumPy's scalars have
_SCALARS: tuple[type[np.generic], ...] = (np.float64, np.float32, np.int64, np.bool_, np.complex128)


def _is_integer(self: ArrayTracer) -> Any:
    if self.dtype.kind != "f":
        return True
    x = self.plain
    return number_of((self,))(call("logical_and", call("isfinite", x), call("equal", x, call("floor", x))))


def _asked(self: ArrayTracer, of: Callable[[Any], Any], kind: type) -> Any:
    """Return what Python's own function gives of the scalar: a number of type ``kind``, or text."""
    made = call("number_asked", of, kind, (self.plain,), {}, lambda tensor: False)
    return TextTracer(made) if kind is str else number_of((self,))(made)


def _ratio(self: ArrayTracer) -> Any:
    parts = (lambda x: x.as_integer_ratio()[0], lambda x: x.as_integer_ratio()[1])
    return tuple([_asked(self, part, int) for part in parts])


#: method of NumPy's scalars -> what it gives
_METHODS: dict[str, Callable[[ArrayTracer], Any]] = {
    "is_integer": _is_integer,
    "as_integer_ratio": _ratio,
    "bit_count": lambda self: _asked(self, lambda x: x.bit_count(), int),
    "hex": lambda self: _asked(self, lambda x: x.hex(), str),
}
#: the others
_ATTRIBUTES: dict[str, Callable[[ArrayTracer], Any]] = {"numerator": lambda self: self, "denominator": lambda self: 1}


def _attribute(name: str) -> property:
    def found(self: ArrayTracer) -> Any:
        kind = np.ndarray if self.shape.rank != 0 or type(self) is ZeroDimArray else self.dtype.type
        theirs = getattr(kind, name, None)
        if theirs is None:
            said = f"'{kind.__module__}.{kind.__name__}' object has no attribute {name!r}"
            raise AttributeError(said, name=name, obj=kind)
        if name in _METHODS:
            return functools.partial(_METHODS[name], self)
        return _ATTRIBUTES[name](self) if name in _ATTRIBUTES else theirs  # what needs no value is the class's own

    return property(found)


_known = {name for kind in Tensor.__mro__ for name in vars(kind)}
for _kind in {kind: None for scalar in _SCALARS for kind in scalar.__mro__}:
    for _name in vars(_kind):
        if _name[0] != "_" and _name not in _known:
            _known.add(_name)
            setattr(ArrayTracer, _name, _attribute(_name))


# -- what is not set --------------------------------------------------------------------------------------

_INSTEAD = {"dtype": "x = x.view(dtype)", "shape": "x = x.reshape(shape)", "strides": "a view, x[::2], x.T"}
_SLOT = vars(Tensor)["dtype"]


def _not_set(name: str) -> Callable[[Any, Any], None]:
    def put(self: Any, value: Any) -> None:
        raise UnknownWhileTracing(f"x.{name} = ... of an array in a traced function: write {_INSTEAD[name]}")

    return put


def _dtype_set_once(self: Any, value: Any) -> None:
    if hasattr(self, "dtype"):
        _not_set("dtype")(self, value)
    _SLOT.__set__(self, value)


for _name in ("shape", "strides"):
    _held = next(vars(kind)[_name] for kind in ArrayTracer.__mro__ if _name in vars(kind))
    setattr(ArrayTracer, _name, property(_held.fget, _not_set(_name)))
ArrayTracer.dtype = property(_SLOT.__get__, _dtype_set_once)  # type: ignore[misc, assignment]
