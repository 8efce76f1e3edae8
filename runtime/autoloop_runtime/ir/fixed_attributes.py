"""What of an array of the user's cannot be set in a trace: ``x.shape = ...`` would change it for all that hold it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .tensor import Tensor
from .tracers import ArrayTracer

_INSTEAD = {"dtype": "x = x.view(dtype)", "shape": "x = x.reshape(shape)", "strides": "a view, x[::2], x.T"}
_SLOT = vars(Tensor)["dtype"]


def _not_set(name: str) -> Callable[[Any, Any], None]:
    def put(self: Any, value: Any) -> None:
        raise TypeError(f"x.{name} = ... of an array in a traced function: write {_INSTEAD[name]}")

    return put


def _dtype_set_once(self: Any, value: Any) -> None:
    if hasattr(self, "dtype"):
        _not_set("dtype")(self, value)
    _SLOT.__set__(self, value)


for _name in ("shape", "strides"):
    _held = next(vars(kind)[_name] for kind in ArrayTracer.__mro__ if _name in vars(kind))
    setattr(ArrayTracer, _name, property(_held.fget, _not_set(_name)))
ArrayTracer.dtype = property(_SLOT.__get__, _dtype_set_once)  # type: ignore[misc, assignment]
