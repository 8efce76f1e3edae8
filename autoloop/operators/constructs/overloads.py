"""Operators of the user's own classes: ``a + b`` calls ``__add__``, which is converted as other methods are.

Python calls such methods by itself, so converted code spells the operators out where a class of the user's has
one: ``ops.binary(a, '+', b)``.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np
from autoloop_runtime.ir.graph import current_graph
from autoloop_runtime.ir.number_operators import as_number, is_float, of_numbers
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import ArrayTracer, NumberTracer, Tracer
from autoloop_runtime.ops.operands import is_tensor

from ... import operators
from ...errors import programs_own
from ..staging.staged_values import stands_for
from ..staging.users_methods import TENSORS, method_of
from .deferring_arrays import UFUNCS, as_objects_see, asks_numpy_first, says_itself

_BINARY: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "+": (operator.add, "add"),
    "-": (operator.sub, "sub"),
    "*": (operator.mul, "mul"),
    "/": (operator.truediv, "truediv"),
    "//": (operator.floordiv, "floordiv"),
    "%": (operator.mod, "mod"),
    "**": (operator.pow, "pow"),
    "@": (operator.matmul, "matmul"),
    "&": (operator.and_, "and"),
    "|": (operator.or_, "or"),
    "^": (operator.xor, "xor"),
    "<<": (operator.lshift, "lshift"),
    ">>": (operator.rshift, "rshift"),
}
_IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    f"{sign}=": getattr(operator, f"i{name}") for sign, (_, name) in _BINARY.items()
}
#: what a sequence says itself, but after the other operand
_OF_SEQUENCES = ("__add__", "__mul__")
_UNARY: dict[str, tuple[Callable[[Any], Any], str]] = {
    "-": (operator.neg, "__neg__"),
    "+": (operator.pos, "__pos__"),
    "~": (operator.invert, "__invert__"),
}
# The method of the left operand, and the one that the right operand has for it.
_COMPARISONS: dict[str, tuple[Callable[[Any, Any], Any], str, str]] = {
    "<": (operator.lt, "__lt__", "__gt__"),
    "<=": (operator.le, "__le__", "__ge__"),
    ">": (operator.gt, "__gt__", "__lt__"),
    ">=": (operator.ge, "__ge__", "__le__"),
    "==": (operator.eq, "__eq__", "__eq__"),
    "!=": (operator.ne, "__ne__", "__ne__"),
}


def binary(left: Any, sign: str, right: Any) -> Any:
    """Return ``left + right``, or with another sign."""
    plain, name = _BINARY[sign]
    if sign == "*" and current_graph() is not None and (_repeats(left, right) or _repeats(right, left)):
        raise TypeError(
            "a list cannot be repeated as often as a tensor says: use autoloop.zeros([n]) or autoloop.full([n], value)"
            " [AL026]"
        )
    return _operated(plain, left, right, f"__{name}__", f"__r{name}__")


def _repeats(sequence: Any, count: Any) -> bool:
    is_tensor = isinstance(count, Tensor) and not isinstance(count, Tracer)  # those say themselves what is wrong
    return type(sequence) is list and is_tensor and count.shape.rank == 0


def compare(left: Any, sign: str, right: Any) -> Any:
    """Return ``left < right``, or with another sign."""
    plain, name, mirrored = _COMPARISONS[sign]
    if type(left) is complex and sign in ("==", "!=") and isinstance(right, Tensor) and is_float(right):
        return of_numbers("eq" if sign == "==" else "ne", left, as_number(right))
    if sign == "!=" and method_of(left, "__ne__") is None and method_of(left, "__eq__") is not None:
        return operators.not_(compare(left, "==", right))  # a bool of Python's
    return _operated(plain, left, right, name, mirrored)


def unary(sign: str, value: Any) -> Any:
    """Return ``-value``, or with another sign."""
    plain, name = _UNARY[sign]
    method = method_of(value, name)
    return plain(value) if method is None else method()


def update(value: Any, sign: str, other: Any) -> Any:
    """Return what a name is bound to after ``value += other``, or with another sign."""
    method = method_of(value, f"__i{_BINARY[sign[:-1]][1]}__")
    if method is not None and (result := method(other)) is not NotImplemented:
        return result
    # an array and a tensor make a tensor: NumPy would be asked to write to the array; it is where no tensor takes part
    mixed = isinstance(value, np.ndarray) and is_tensor(other) and not isinstance(other, Tracer)
    mixed |= type(value) is ArrayTracer and value.is_scalar  # which has no in-place operators
    if method is None and hasattr(type(value), f"__i{_BINARY[sign[:-1]][1]}__") and not mixed:
        return _IN_PLACE[sign](value, other)
    return binary(value, sign[:-1], other)


def update_in_place(value: Any, sign: str, other: Any) -> Any:
    """Return what ``value += other`` leaves, or another sign; an array is written to, whoever else holds it."""
    if isinstance(value, np.ndarray):
        return _IN_PLACE[sign](value, other)
    return update(value, sign, other)


def _operated(plain: Callable[[Any, Any], Any], left: Any, right: Any, name: str, mirrored: str) -> Any:
    """Ask the operands in the order in which Python asks them."""
    own, other = method_of(left, name), method_of(right, mirrored)
    if own is None and other is None:
        return plain(left, right)
    if other is not None and asks_numpy_first(left, right, name):
        return _numpys(plain, left, right, name, mirrored)
    if isinstance(left, NumberTracer) and says_itself(left, right, name):
        return plain(left, right)
    if isinstance(left, (str, bytes, bytearray, list, tuple)) and other is not None and name in _OF_SEQUENCES:
        tried = other(left)  # of a sequence Python asks last, for it has no numbers to add
        return plain(left, right) if tried is NotImplemented else tried
    if own is None and (unconverted := getattr(type(left), name, None)) is not None and type(left) not in TENSORS:
        own = types.MethodType(unconverted, left)
    tries = [(own, right), (other, left)]
    if type(right) is not type(left) and issubclass(type(right), type(left)):
        tries.reverse()
    for method, operand in tries:
        if method is not None and (result := method(operand)) is not NotImplemented:
            return result
    return plain(left, right)  # raises what Python raises


def _numpys(plain: Callable[[Any, Any], Any], left: Any, right: Any, name: str, mirrored: str) -> Any:
    """Return what NumPy gives of an array or scalar of its own and an object that it does not let go first."""
    if (method := method_of(right, "__array_ufunc__")) is not None:
        made = method(UFUNCS[name], "__call__", left, right)
        if made is NotImplemented:
            raise programs_own(
                TypeError(
                    f"operand type(s) all returned NotImplemented from __array_ufunc__({UFUNCS[name]!r}, '__call__'): "
                    f"{stands_for(left).__name__!r}, {type(right).__name__!r}"
                )
            )
        return made
    number = as_objects_see(left, right)
    return plain(left, right) if number is left else _operated(plain, number, right, name, mirrored)
