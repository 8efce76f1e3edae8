"""What Python's operators give of an array or number in a trace and of what is neither: text, ``None``, a sequence.

NumPy compares its arrays with anything, element by element, and what is no number equals none of them. All else Python
and NumPy refuse, in words that depend on the types only: so a 1 is asked in place of what the run will compute. But its
scalars and Python's numbers repeat sequences, ``[0] * n``, and how often only the run knows.
"""

from __future__ import annotations

import operator
import types
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from ..base.stand_ins import UnknownWhileTracing
from .graph import theirs_here
from .number_operators import number_type, type_of_carrier
from .op import call
from .tensor import Tensor
from .tensor_operators import BINARY, COMPARISONS
from .tracers import ArrayTracer, NumberTracer, ZeroDimArray

_TEXTS = (str, bytes, bytearray)
_REPEATED = (list, tuple, deque, *_TEXTS)
#: what a named tuple has of a tuple
_OPERATORS = ("__add__", "__mul__", "__rmul__")
#: types of operands that no array of numbers is made of
_NO_NUMBERS = frozenset((
    str, bytes, np.str_, np.bytes_, type(None), type, dict, set, frozenset, types.FunctionType,
    types.BuiltinFunctionType,
))  # fmt: skip


def _example(of: Any) -> Any:
    """Return what has the type of a value that is computed by a run."""
    if isinstance(of, NumberTracer):
        return type_of_carrier(of.dtype)(1)
    return np.ones((), of.dtype)[()] if of.is_scalar else np.ones(1, of.dtype)


def _answer(number: Any, other: Any, plain: Callable[[Any, Any], Any], reflected: bool) -> Any:
    """Return what an operator gives of a number or array and of what is none.

    Raises
    ------
    TypeError
        If Python or NumPy refuses it; if it is a sequence that is to be repeated.
    """
    example = _example(number)
    made = plain(other, example) if reflected else plain(example, other)
    if isinstance(other, _REPEATED) and isinstance(made, _REPEATED):
        instead = "" if isinstance(other, _TEXTS) else ": use np.zeros(n), np.full(n, value) or np.tile(values, n)"
        raise UnknownWhileTracing(
            f"a {type(other).__name__} cannot be repeated as often as only the run knows{instead}"
        )
    if not isinstance(made, np.ndarray):
        return made
    same = call("full", call("shape", number.plain), made[0])
    return (ZeroDimArray if number.shape.rank == 0 else ArrayTracer)(same)


def _is_sequence(value: Any) -> bool:
    """Return whether a value is a sequence of Python's, or of a class that leaves its operators to that."""
    kind, base = type(value), next((one for one in _REPEATED if isinstance(value, one)), None)
    return base is not None and (kind is base or all(getattr(kind, one) is getattr(base, one) for one in _OPERATORS))


def _has_no_products(value: Any) -> bool:
    """Return whether a value is a number, of Python's or NumPy's, of which there are no products of matrices."""
    if isinstance(value, ArrayTracer):
        return value.is_scalar and not value.storage.is_without_axes
    return isinstance(value, np.generic) or number_type(value) is not None


_WIDEST = np.dtype(np.clongdouble).char


def _beside_widest(value: Any, other: Any) -> Any:
    """Return an operand of a ``clongdouble``: beside an array NumPy makes a complex number of two doubles of an int,
    beside a scalar it does not, if that has 64 bits."""
    is_scalar = _has_no_products(value)
    if is_scalar and type(other) is int and -(1 << 63) <= other < 1 << 63:
        return np.longdouble(other)
    if not is_scalar and isinstance(other, NumberTracer) and other.dtype.kind == "i":
        return type(other)(call("cast", other.plain, np.dtype(complex)))
    return other


def _operator(kind: type, name: str, reflected: bool) -> None:
    of_numbers, plain = getattr(kind, name), _PLAIN[name.replace("__r", "__", 1) if reflected else name]
    repeats, compares = plain is operator.mul, name.strip("_") in (*COMPARISONS, "eq", "ne")

    def operated(self: Any, other: Any) -> Any:
        if compares and isinstance(other, (bytearray, memoryview)):  # which compare memory where they stand first
            raise UnknownWhileTracing(f"a {type(other).__name__} and an array are compared: make an array of it first")
        if type(other) in _NO_NUMBERS and self.dtype.kind in "biufc":
            return _answer(self, other, plain, reflected)
        if _is_sequence(other) and (kind is NumberTracer or (repeats and self.is_scalar)):
            return _answer(self, other, plain, reflected)
        if plain is operator.matmul and _has_no_products(self) and _has_no_products(other):
            return _answer(self, _example(other) if isinstance(other, Tensor) else other, plain, reflected)
        if plain is operator.matmul and _has_no_products(self) and not isinstance(other, Tensor | np.ndarray):
            return NotImplemented
        if (theirs := theirs_here()) is not None:
            theirs.check_beside(*((other, self) if reflected else (self, other)), name.strip("_"))
            if not compares:
                theirs.check_operands(self, other, plain is operator.truediv)
        if self.dtype.char == _WIDEST:
            other = _beside_widest(self, other)
        elif isinstance(other, ArrayTracer) and other.dtype.char == _WIDEST:
            self = _beside_widest(other, self)
        return of_numbers(self, other)

    setattr(kind, name, operated)


_NAMES = {name: name if name not in ("and", "or") else f"{name}_" for name in (*BINARY, *COMPARISONS, "eq", "ne")}
_PLAIN: dict[str, Callable[[Any, Any], Any]] = {f"__{one}__": getattr(operator, name) for one, name in _NAMES.items()}
_PLAIN["__divmod__"] = divmod
for _kind in (ArrayTracer, NumberTracer):
    for _name in (*_NAMES, "divmod"):
        _operator(_kind, f"__{_name}__", False)
        if _name in BINARY or _name == "divmod":
            _operator(_kind, f"__r{_name}__", True)
