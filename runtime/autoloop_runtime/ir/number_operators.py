"""Python's operators on Python numbers that a graph computes, with Python's results.

``True + True`` is 2, ``1 / 2`` a float, ``2 ** -1`` a float; what is a number among numbers is one. Beside an array or
tensor a number is what it is written out: it takes the other's dtype (``ops.operands``).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from ..base import dtypes
from ..base.dtypes import DType
from ..base.stand_ins import UnknownWhileTracing
from .convert import as_constant, to_array
from .op import call
from .tensor import Tensor
from .tensor_operators import BINARY, COMPARISONS, GOES_FIRST, Operators
from .tracers import (
    ArrayTracer,
    DecidedNumber,
    Kind,
    NumberTracer,
    as_python_calls,
    ask_numpy,
    kind_of,
    marked,
    meant,
    number_of,
)

Type: TypeAlias = type[complex]

_TYPES: tuple[Type, ...] = (bool, int, float, complex)
_OF_KIND: dict[str, Type] = {"b": bool, "i": int, "u": int, "f": float, "c": complex}
#: what carries a number of each type
CARRIERS: dict[type, DType] = {
    bool: dtypes.bool_, int: dtypes.int64, float: dtypes.float64, complex: dtypes.complex128,
}  # fmt: skip
_EQUALITY = {"eq": "equal", "ne": "not_equal"}
#: what numbers leave to the other operand, which is of NumPy's or a tensor
_NUMPYS = (Tensor, np.ndarray, np.generic)
#: the public functions behind Python's operators
_FUNCTIONS = {**BINARY, **COMPARISONS, **_EQUALITY}
#: where numbers of Python's raise and arrays do not
_EXACT = {
    "add": "number_add", "sub": "number_subtract", "mul": "number_multiply", "truediv": "number_divide",
    "floordiv": "number_floor_divide", "mod": "number_mod", "pow": "number_pow", "lshift": "number_left_shift",
    "rshift": "number_right_shift",
}  # fmt: skip
_BITWISE = {"and": "&", "or": "|", "xor": "^"}
_SHIFTS = {"lshift": "<<", "rshift": ">>"}
_ORDERS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}
#: what Python's complex numbers have not
_SIGNS = {**_BITWISE, **_SHIFTS, **_ORDERS, "floordiv": "//", "matmul": "@", "mod": "%", "divmod": "divmod()"}


def number_type(value: Any) -> Type | None:
    """Return the type of a Python number, or of the one that a tracer stands for; None for anything else."""
    if isinstance(value, NumberTracer):
        return _OF_KIND[value.dtype.kind]
    if isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic):
        return next(t for t in _TYPES if isinstance(value, t))
    return None


def beside(dtype: DType, number: Any) -> DType:
    """Return the dtype of what an array or tensor of ``dtype`` and a Python number make together."""
    if dtype.kind not in "biufc":
        raise UnknownWhileTracing(f"what is of dtype {dtype} in one run and a number in another has no dtype")
    kind = number_type(number)
    assert kind is not None
    common: DType = np.result_type(dtype, kind(1))
    return common


def carried(value: Any, as_type: Type | None = None) -> Tensor:
    """Return the tensor that carries a Python number, as one of another type if that is asked for."""
    dtype = CARRIERS[as_type or number_type(value) or complex]
    if isinstance(value, NumberTracer):
        tensor: Tensor = value.plain
        return tensor if tensor.dtype == dtype else call("cast", tensor, dtype)
    return as_constant(to_array(value, dtype))


def as_number(value: Any, kind: Kind | None = None) -> Any:
    """Return a number of Python's that is equal to a scalar: of a tensor or array a tracer, of ``kind``."""
    if not isinstance(value, (Tensor, np.ndarray, np.generic)):
        return value
    if not isinstance(value, Tensor):
        return value.item()
    if value.node is None:
        return value.value.item()
    dtype = CARRIERS[_OF_KIND[value.dtype.kind]]
    tensor = value.plain
    if tensor.dtype == np.uint64:
        tensor = call("python_int", tensor)
    return (kind or number_of((value,)))(tensor if tensor.dtype == dtype else call("cast", tensor, dtype))


def type_of_carrier(dtype: DType) -> Type:
    """Return the type of the Python numbers that a dtype carries."""
    return _OF_KIND[dtype.kind]


def widest(*types: Type) -> Type:
    """Return the type that numbers of all of ``types`` can have: a bool is an int, that a float, that a complex."""
    return max(types, key=_TYPES.index)


def _refused(name: str, one: Type, other: Type) -> TypeError:
    sign = _SIGNS[name]
    if name in _ORDERS:
        return TypeError(f"{sign!r} not supported between instances of {one.__name__!r} and {other.__name__!r}")
    return TypeError(f"unsupported operand type(s) for {sign}: {one.__name__!r} and {other.__name__!r}")


def _computed_in(name: str, one: Type, other: Type, exponent: Any) -> Type:
    """Return the type that both operands of an operator are taken to; ``TypeError`` if Python has none of it."""
    both = widest(one, other)
    if name == "truediv":
        return widest(both, float)
    if name in _BITWISE or name in _SHIFTS:
        if both not in (bool, int):
            raise _refused(name, one, other)
        return both if name in _BITWISE else int
    if name == "matmul" or (both is complex and name in _SIGNS):
        raise _refused(name, one, other)
    if name == "pow" and both in (bool, int):
        return float if isinstance(exponent, int) and exponent < 0 else int
    return both if name in _EQUALITY or name in _ORDERS else widest(both, int)


def _of_large(name: str, one: Any, other: Any) -> bool | None:
    """Return the answer to a comparison of an int with one of Python's that has more bits; None of any others."""
    if isinstance(one, Tensor) and type(other) is int and one.dtype.kind in "bi" and other.bit_length() > 63:
        return bool(getattr(operator, name)(0, other))
    if isinstance(other, Tensor) and type(one) is int and other.dtype.kind in "bi" and one.bit_length() > 63:
        return bool(getattr(operator, name)(one, 0))
    return None


def of_numbers(name: str, one: Any, other: Any) -> Any:
    """Return the number that one of Python's operators (``"add"``, ``"lt"``) makes of two numbers."""
    mine, theirs = number_type(one), number_type(other)
    assert mine is not None and theirs is not None
    if name in _ORDERS or name in _EQUALITY:
        known = _of_large(name, one, other)
        if known is not None:
            return known
    common = _computed_in(name, mine, theirs, other)
    made = call(_EXACT.get(name) or _FUNCTIONS[name], carried(one, common), carried(other, common))
    return number_of((one, other))(made)


def is_float(value: Any) -> bool:
    """Return whether a value is a float64 scalar, which behind a complex number Python takes for a float of its own."""
    return isinstance(value, np.float64) or (
        type(value) is ArrayTracer and value.is_scalar and value.dtype == dtypes.float64
    )


def _behind_complex(name: str, plain: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return a reflected operator of arrays: of a Python complex number and a float64 scalar Python makes a number."""

    def operated(self: ArrayTracer, other: Any) -> Any:
        if type(other) is complex and name not in _SIGNS and is_float(self):
            return of_numbers(name, other, as_number(self))
        return plain(self, other)

    return operated


def _is_foreign(kind: type) -> bool:
    return str(kind.__module__).partition(".")[0] not in ("autoloop", "autoloop_runtime")


def _operator(name: str, plain: Callable[[Any, Any], Any], reflected: bool) -> Callable[[Any, Any], Any]:
    def operated(self: NumberTracer, other: Any) -> Any:
        if type(other) in GOES_FIRST and not reflected:
            return NotImplemented
        if number_type(other) is not None:
            return of_numbers(name, other, self) if reflected else of_numbers(name, self, other)
        if not isinstance(other, _NUMPYS) and _is_foreign(type(other)):
            return NotImplemented  # though it may be an array to NumPy, it is none to Python's numbers
        if not reflected and self.dtype.kind == "c" and name not in _SIGNS and is_float(other):
            return of_numbers(name, self, as_number(other))
        try:
            made = plain(self, other)
        except Exception as error:
            ask_numpy(asked, (self, other), {}, error)
            raise
        return made if made is NotImplemented else marked(kind_of((other,)), made)

    asked = as_python_calls(f"__r{name}__" if reflected else f"__{name}__")

    return operated


def _unary(name: str, least: Type | None = None) -> Callable[[Any], Any]:
    def operated(self: NumberTracer) -> Any:
        mine = _OF_KIND[self.dtype.kind]
        if least is int and name == "invert" and mine not in (bool, int):
            raise TypeError(f"bad operand type for unary ~: {mine.__name__!r}")
        return type(self)(call(name, carried(self, widest(mine, least or bool))))

    return operated


def _positive(self: NumberTracer) -> Any:
    return type(self)(carried(self, int)) if self.dtype.kind == "b" else self


def _rounded(self: NumberTracer, ndigits: int | None = None) -> Any:
    if self.dtype.kind == "c":
        raise TypeError("type complex doesn't define __round__ method")
    if self.dtype.kind in "bi" and (ndigits is None or (isinstance(ndigits, int) and ndigits >= 0)):
        return type(self)(carried(self, int))
    if ndigits is None:
        return type(self)(call("python_int", call("round", self.plain)))
    if self.dtype.kind in "bi" or isinstance(ndigits, Tensor):
        kind = int if self.dtype.kind in "bi" else float
        return type(self)(call("number_asked", round, kind, (self, ndigits), {}, lambda tensor: True))
    return type(self)(call("number_round", self.plain, operator.index(ndigits)))


def _divmod(one: Any, other: Any) -> Any:
    mine, theirs = number_type(one), number_type(other)
    if mine is not None and theirs is not None and complex in (mine, theirs):
        raise _refused("divmod", mine, theirs)
    try:
        return one // other, one % other
    except TypeError as error:
        ask_numpy(divmod, (one, other), {}, error)
        raise


def _subscript(self: NumberTracer, index: Any) -> Any:
    """Return an element of what a tensor has decided, which the caller gets as one; numbers of Python's have none."""
    if not isinstance(self, DecidedNumber):
        raise TypeError(f"{_OF_KIND[self.dtype.kind].__name__!r} object is not subscriptable")
    return self.plain[index]


def _set_subscript(self: NumberTracer, index: Any, value: Any) -> None:
    operator.setitem(_OF_KIND[self.dtype.kind](1), index, value)  # type: ignore[call-overload]  # which says what it is


for _dunder in _FUNCTIONS:
    _plain = getattr(Operators, f"__{_dunder}__")
    setattr(NumberTracer, f"__{_dunder}__", _operator(_dunder, _plain, False))
for _dunder in BINARY:
    _plain = getattr(Operators, f"__r{_dunder}__")
    setattr(NumberTracer, f"__r{_dunder}__", _operator(_dunder, _plain, True))
    _reflected = f"__r{_dunder}__"
    setattr(ArrayTracer, _reflected, _behind_complex(_dunder, getattr(ArrayTracer, _reflected)))
for _dunder, _method in {
    "__neg__": _unary("number_negative", int), "__pos__": _positive, "__abs__": _unary("number_abs", int),
    "__invert__": _unary("invert", int), "__getitem__": _subscript,
    "__setitem__": _set_subscript, "__round__": _rounded, "__divmod__": _divmod,
    "__rdivmod__": lambda self, other: _divmod(other, self),
}.items():  # fmt: skip
    setattr(NumberTracer, _dunder, _method)


def _item(self: ArrayTracer, /, *args: Any) -> Any:
    """Return one element as a Python number, see ``Tensor.item``."""
    return as_number(self.plain.item(*args), number_of((self, *args)))


def _tolist(self: ArrayTracer) -> Any:
    """Return the elements as Python numbers in nested lists, see ``Tensor.tolist``."""
    return _as_numbers(self.plain.tolist())


def _as_numbers(value: Any) -> Any:
    return [_as_numbers(one) for one in value] if isinstance(value, list) else as_number(value, NumberTracer)


for _made, _method in (("item", _item), ("tolist", _tolist)):
    setattr(ArrayTracer, _made, meant(_method, _made))
