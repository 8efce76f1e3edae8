"""Methods of the user's classes that Python calls by itself: which there are, and how converted code calls one."""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np
from autoloop_runtime.base.callbacks import origin_of
from autoloop_runtime.ir.graph import current_graph
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import ArrayTracer, DecidedNumber, NumberTracer, TextTracer, ZeroDimArray

from ... import conversion, operators
from ...conversion.callables import is_convertible_function, is_written
from ...conversion.pipeline import convert_callee
from .standins import StandIn

#: the types of what graphs compute
TENSORS = (Tensor, ArrayTracer, ZeroDimArray, TextTracer, NumberTracer, DecidedNumber)
_BUILT_IN = (bool, int, float, complex, str, list, tuple, dict, set, type(None), *TENSORS)
#: what says how an object is shown
TEXTS = ("__str__", "__repr__", "__format__")
#: what Python looks at before it gives it to who asks -> who asks
CHECKED: dict[str, Callable[[Any], Any]] = {
    "__bool__": bool, "__complex__": complex, "__float__": float, "__index__": operator.index, "__int__": int,
    "__iter__": iter, "__len__": len,
}  # fmt: skip


def method_of(value: Any, name: str) -> Any:
    """Return a special method of the user's, converted and bound; None if there is none to convert.

    What it gives is what Python gives to who asks: an int of ``__len__``, for one.
    """
    method = _converted_method(value, name)
    return method if method is None or name not in CHECKED else functools.partial(_checked, name, method)


def _checked(name: str, method: types.MethodType, *args: Any, **kwargs: Any) -> Any:
    made = method(*args, **kwargs)
    if type(made) is bool and name == "__bool__":
        return made
    return operators.accepted_answer(name, method.__self__, made)


def _converted_method(value: Any, name: str) -> Any:
    kind = type(value)
    if kind in _BUILT_IN or current_graph() is None:
        return None
    owner = next((cls for cls in kind.__mro__ if name in vars(cls)), kind)
    found = vars(owner).get(name)
    if not isinstance(found, types.FunctionType):
        return None
    if is_written(found) and is_convertible_function(found):
        return types.MethodType(convert_callee(found), value)
    written = conversion.written_for(owner, found)
    return None if written is None else types.MethodType(convert_callee(written, explicit=True), value)


def shows_attributes(kind: type) -> bool:
    """Return whether the text of an object of a class is that of all of its attributes."""
    method: Any = kind.__repr__
    return method is types.SimpleNamespace.__repr__


def says_itself(value: Any) -> bool:
    """Return whether methods that are written in Python say how an object is shown, in what is traced, or all of its
    attributes do: the run may find others."""
    kind = type(value)
    if current_graph() is None:
        return False
    if issubclass(kind, (str, int, float, complex, np.ndarray, np.generic, type, Tensor, StandIn)):
        return False
    if origin_of(kind) in ("autoloop", "autoloop_runtime"):
        return False
    written = any(isinstance(getattr(kind, name), types.FunctionType) for name in TEXTS)
    return written or shows_attributes(kind)
