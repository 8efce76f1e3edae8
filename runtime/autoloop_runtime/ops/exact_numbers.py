"""Arithmetic of Python numbers that a graph computes, where Python raises: a divisor of zero, an int past 64 bits.

What can be seen to stay within 64 bits (counters, lengths, what is made of few of them) is computed by the ops of
arrays, which wrap; everything else by rows that raise ``IntTooLarge``, or whose results are looked at: past 64 bits
Python goes on in exact arithmetic, and a graph has no values to carry.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.dtypes import DType, float64, int64, uint64
from ..base.shapes import SCALAR
from ..base.stand_ins import IntTooLarge, OfAnotherType
from ..ir.apply import apply
from ..ir.convert import as_constant, convert_to_tensor
from ..ir.op import function, ruled_in
from ..ir.tensor import Tensor
from ..ir.traits import MADE, NO_GRADIENT, VIEWING, Fails, Traits
from .arithmetic import abs, add, divide, floor_divide, mod, multiply, negative, subtract
from .bounds import maximum
from .define import op_of, primitive
from .dtype_rules import of_ufunc
from .elementwise import binary
from .int_bounds import bits, ends_of
from .logic import right_shift
from .operands import cast
from .powers import pow

if TYPE_CHECKING:
    from .public_functions import Binary

_LEAST, _MOST = -(2**63), 2**63 - 1
#: of a new number, and of one that is looked at and passed on
_RAISING = MADE.but(fails=Fails.MAYBE, raises=ArithmeticError, rematerialise=True)
_LOOKING = VIEWING.but(fails=Fails.MAYBE, raises=ArithmeticError)
#: of what has no such number: nan, fewer than no bits
_OF_VALUES = (ArithmeticError, ValueError)


def fitting(made: Any, dtype: DType) -> Any:
    """Return a number of Python's own as the scalar that carries it; ``IntTooLarge`` if it has more bits."""
    if dtype == int64 and not _LEAST <= made <= _MOST:
        raise IntTooLarge(f"the Python int {made} has more than the 64 bits that an int has in a graph")
    return dtype.type(made)


def _exact(name: str, operation: Callable[[Any, Any], Any], traits: Traits = _RAISING) -> Any:
    def kernel(x: Any, y: Any) -> Any:
        made = operation(int(x), int(y))
        if isinstance(made, float):
            raise OfAnotherType(f"{x} ** {y} is a float, and an int in other iterations: write float({x}) ** {y}")
        return fitting(made, int64)

    return primitive(name, lambda x, y: (int64, SCALAR), kernel, NO_GRADIENT, traits=traits)


EXACT_ADD = _exact("exact_add", operator.add)
EXACT_SUBTRACT = _exact("exact_subtract", operator.sub)
EXACT_MULTIPLY = _exact("exact_multiply", operator.mul)
EXACT_POWER = _exact("exact_power", operator.pow)
EXACT_SHIFT = _exact("exact_left_shift", operator.lshift, _RAISING.but(raises=_OF_VALUES))


def _divisor_kernel(x: Any, operation: Callable[[Any, Any], Any]) -> Any:
    if not x:
        zero = x.item()
        operation(zero, zero)  # which says what Python says
    return x


#: a divisor, which is not zero
DIVISOR = primitive(
    "divisor", lambda x, operation: (x.dtype, x.shape), _divisor_kernel, lambda g, outputs, inputs, attrs: [g],
    traits=_LOOKING,
)  # fmt: skip


def _quotient_kernel(y: Any, x: Any, operation: Callable[[Any, Any], Any]) -> Any:
    fitting(operation(int(x), int(y)), int64)  # which raises for zero
    return y


#: a divisor of an int, which is not zero, nor -1 below the least int of 64 bits
QUOTIENT_FITS = primitive(
    "fitting_divisor", lambda y, x, operation: (y.dtype, y.shape), _quotient_kernel, NO_GRADIENT, traits=_LOOKING
)


def _count_kernel(y: Any) -> Any:
    if y < 0:
        raise ValueError("negative shift count")
    return y


#: how far to shift, which is not negative
SHIFT_COUNT = primitive(
    "shift_count", lambda y: (y.dtype, y.shape), _count_kernel, NO_GRADIENT, traits=_LOOKING.but(raises=ValueError)
)


def _place_kernel(index: Any, size: Any, said: str, of_none: str) -> Any:
    if not -int(size) <= int(index) < int(size):
        raise IndexError((said if size else of_none).format(index=int(index), size=int(size)))
    return index


#: a place in one of Python's sequences, of which it says other words than NumPy of an array
PLACE = primitive(
    "place_in_sequence", lambda index, size, said, of_none: (index.dtype, index.shape), _place_kernel, NO_GRADIENT,
    traits=VIEWING.but(fails=Fails.MAYBE, raises=LookupError),
)  # fmt: skip


def place_in(index: Any, size: Any, said: str, of_none: str | None = None) -> Tensor:
    """Return an index that may count from the end of ``size`` elements; beyond them ``IndexError`` in these words, of
    no elements in those."""
    place, count = convert_to_tensor(index), cast(convert_to_tensor(size), int64)
    ends = ends_of(place)
    if isinstance(size, int) and ends is not None and -size <= ends[0] and ends[1] < size:
        return place
    return apply(PLACE, [place, count], {"said": said, "of_none": said if of_none is None else of_none})


def _exact_float_kernel(x: Any) -> Any:
    if float(x) != int(x):
        raise IntTooLarge(f"the int {x} may be a float in other runs, and no float of 64 bits is equal to it")
    return np.float64(x)


#: the float that is equal to an int
EXACT_FLOAT = primitive("exact_float", lambda x: (float64, SCALAR), _exact_float_kernel, NO_GRADIENT, traits=_RAISING)


def _power_kernel(z: Any, x: Any, y: Any) -> Any:
    if z.dtype.kind == "c":  # of which Python computes other last bits, and other infinities
        return np.complex128(x.item() ** y.item())
    if not np.isfinite(z):
        made = x.item() ** y.item()  # which may raise
        if isinstance(made, complex) and z.dtype.kind != "c":
            raise OfAnotherType(
                f"{x.item()!r} ** {y.item()!r} is complex: make the base complex before, complex(x) [AL216]"
            )
    return z


#: the power of Python floats, which is no infinity unless one of them is
FLOAT_POWER = primitive(
    "python_power", lambda z, x, y: (z.dtype, z.shape), _power_kernel,
    lambda g, outputs, inputs, attrs: [g, None, None], traits=_LOOKING,
)  # fmt: skip


def _ratio_kernel(x: Any, y: Any) -> Any:
    return np.complex128(x.item() / y.item()) if not (x.ndim or y.ndim) else x / y


#: the quotient of Python's complex numbers, which NumPy's differs from in the last bits
_ratio = binary(
    "python_ratio", _ratio_kernel, None, lambda g, z, x, y: (g / y, -g * z / y),
    rule=of_ufunc(np.divide), doc="``x / y`` of Python's complex numbers.",
    llvm={"c": "@divide_c $x, $y"},
)  # fmt: skip


RATIO = op_of(_ratio)


def _quotient(x: Tensor, y: Tensor) -> Tensor:
    return _ratio(x, y) if "c" in (x.dtype.kind, y.dtype.kind) else divide(x, y)


def _int_kernel(x: Any) -> Any:
    return fitting(int(x), int64)  # which raises for infinities, and for what is no number


#: ``int`` of a Python float, or of what has 64 bits without a sign
TRUNCATED = primitive(
    "python_int", lambda x: (int64, SCALAR), _int_kernel, NO_GRADIENT, traits=_RAISING.but(raises=_OF_VALUES)
)


def _checked(plain: Binary, exact: Any) -> Callable[[Tensor, Tensor], Tensor]:
    """Return the operator of ints that never wraps."""

    def operated(x: Tensor, y: Tensor) -> Tensor:
        if x.dtype != int64:
            return plain(x, y)
        mine, theirs = bits(x), bits(y)
        product = plain is multiply
        most = mine + theirs if product else max(mine, theirs) + 1
        return plain(x, y) if most <= 62 else apply(exact, [x, y])

    return operated


def _divided(
    plain: Callable[[Tensor, Tensor], Tensor], operation: Callable[[Any, Any], Any]
) -> Callable[[Tensor, Tensor], Tensor]:
    """Return a division, by what is not zero."""

    def operated(x: Tensor, y: Tensor) -> Tensor:
        known = y.constant_value()
        if operation is operator.floordiv and y.dtype == int64 and (known is None or known == -1) and bits(x) > 62:
            y = apply(QUOTIENT_FITS, [y, x], {"operation": operation})
        elif known is None or not known:
            y = apply(DIVISOR, [y], {"operation": operation})
        return plain(x, y)

    return operated


def _power(x: Tensor, y: Tensor) -> Tensor:
    if x.dtype == int64:
        known = y.constant_value()
        if known is not None and 1 < known <= 8:
            made = x
            for _ in range(int(known) - 1):
                made = _checked(multiply, EXACT_MULTIPLY)(made, x)
            return made
        return apply(EXACT_POWER, [x, y])
    return apply(FLOAT_POWER, [pow(x, y), x, y])


def _shifted(x: Tensor, y: Tensor) -> Tensor:
    return apply(EXACT_SHIFT, [x, y])


def _negated(x: Tensor) -> Tensor:
    if x.dtype != int64 or bits(x) <= 62:
        return negative(x)
    return apply(EXACT_SUBTRACT, [as_constant(np.int64(0)), x])


def _magnitude(x: Tensor) -> Tensor:
    return abs(x) if x.dtype != int64 or bits(x) <= 62 else maximum(x, _negated(x))


def _shifted_back(x: Tensor, y: Tensor) -> Tensor:
    known = y.constant_value()
    return right_shift(x, y if known is not None and known >= 0 else apply(SHIFT_COUNT, [y]))


def truncated(x: Tensor) -> Tensor:
    """Return ``int`` of a Python number."""
    if x.dtype == uint64:
        return apply(TRUNCATED, [x])
    if x.dtype.kind != "f":
        return cast(x, int64)
    return apply(TRUNCATED, [cast(x, float64)])


function("number_add", _checked(add, EXACT_ADD))
function("number_subtract", _checked(subtract, EXACT_SUBTRACT))
function("number_multiply", _checked(multiply, EXACT_MULTIPLY))
function("number_divide", _divided(_quotient, operator.truediv))
function("number_floor_divide", _divided(floor_divide, operator.floordiv))
function("number_mod", _divided(mod, operator.mod))
function("number_pow", _power)
function("number_left_shift", _shifted)
function("number_negative", _negated)
function("number_abs", _magnitude)
function("number_right_shift", _shifted_back)


def _exact_float(x: Tensor) -> Tensor:
    """Return an int as the float that is equal to it."""
    if x.dtype.kind == "b" or x.dtype.itemsize <= 4 or (x.dtype == int64 and bits(x) <= 53):
        return cast(x, float64)
    return apply(EXACT_FLOAT, [x])


function("number_float", _exact_float)
function("place_in", place_in)
function("python_int", truncated)


ruled_in(
    "exact_number_rules",
    EXACT_ADD,
    EXACT_SUBTRACT,
    EXACT_MULTIPLY,
    DIVISOR,
    EXACT_POWER,
    EXACT_SHIFT,
    SHIFT_COUNT,
    PLACE,
    EXACT_FLOAT,
    QUOTIENT_FITS,
    FLOAT_POWER,
    TRUNCATED,
)
