"""Functions of ``math`` on staged numbers, and builtins that ask one: Python's values, errors and types of results.

``math.sqrt(x)`` asks its argument for a float before a tensor has a say: so converted code calls what stands here
instead. Of a tensor it gives a tensor, as autoloop's own function of the name does.
"""

from __future__ import annotations

import functools
import math
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base import dtypes, nest
from autoloop_runtime.base.stand_ins import UnknownWhileTracing
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.number_operators import CARRIERS, number_type
from autoloop_runtime.ir.numpy_protocols import ufunc_counterpart_of
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.text_operators import of_texts
from autoloop_runtime.ir.tracers import ArrayTracer, NumberTracer, Tracer, ZeroDimArray, kind_of, marked, number_of
from autoloop_runtime.ops.exact_numbers import truncated
from autoloop_runtime.ops.python_math import asked, defined

from ...errors import mark_programs_own, programs_own
from ...left_to_python import leave_unknown, refuse_unknown
from ..staging.growing_list import GrowingList
from ..staging.numbers_or_arrays import noted
from ..staging.raising import Raising, raise_unless
from ..staging.staged_values import answer, is_staged


def tried(of: Callable[..., Any], value: Any) -> None:
    """Let a function of Python's say whether it takes what a tracer stands for."""
    number = number_type(value)
    if isinstance(value, ArrayTracer) and value.shape.rank is not None:
        ones = np.ones([1] * len(value.shape), value.dtype)
        example: Any = ones if type(value) is ZeroDimArray else ones[()]
    elif number is not None:
        example = number(1)
    else:
        return
    _called(of, example)


def of_one_kind(of: Callable[..., Any], value: Any) -> None:
    """Leave to plain Python, if it can run it, what Python makes of a number or of an array, where it may be either."""
    if isinstance(value, ArrayTracer) and (value.shape.rank is None or noted(value) is not None):
        refuse_unknown(
            f"{of.__name__}() is given what is an array with axes in one run and has none in another",
            "let it be one of both before, x = np.atleast_1d(x)",
        )


def _called(of: Callable[..., Any], example: Any) -> None:
    """Let what a function of Python's raises be the program's own failure."""
    try:
        of(example)
    except Exception as error:
        mark_programs_own(error)
        raise


def one_element(number: Callable[..., Any], value: Any) -> Any:
    """Return a number, or the one element of an array if NumPy makes a Python number of that."""
    tensor = convert_to_tensor(value)
    if tensor.shape.rank is None and isinstance(value, ArrayTracer):
        extents = ops.shape(tensor)
        taken = ops.equal(ops.size(tensor), 1) if _takes_rows(number) else ops.equal(ops.size(extents), 0)
        raise_unless(taken, Raising(TypeError, functools.partial(_said_of_shape, number)), extents)
        return ops.reshape(tensor, ())
    if tensor.shape.rank in (0, None):
        return tensor
    if tensor.shape.is_fully_defined() and tensor.size == 1:
        tried(number, value)
        return ops.reshape(tensor, ())
    if isinstance(value, ArrayTracer) and tensor.shape.is_fully_defined():
        _called(number, np.broadcast_to(tensor.dtype.type(0), tensor.shape.as_tuple()))
    raise programs_own(
        TypeError(
            f"only arrays of one element can be made a Python {number.__name__}, this one has the shape {tensor.shape}"
        )
    )


@functools.cache
def _takes_rows(number: Callable[..., Any]) -> bool:
    """Return whether NumPy makes a Python number of an array with axes, too, that has one element: it once has."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _said_of_shape(number, [1]) is None


def _said_of_shape(number: Callable[..., Any], shape: Any) -> Any:
    """Return what a function of Python's raises for an array of a shape; None if it takes it."""
    try:
        number(np.zeros(tuple(shape)))
    except TypeError as error:
        return error.with_traceback(None)
    return None


def _refuse_complex(*values: Any) -> None:
    """Let plain Python take the real part of a complex scalar of NumPy's, which tells so by a warning."""
    if any(isinstance(value, ArrayTracer) and value.dtype.kind == "c" for value in values):
        raise UnknownWhileTracing("a real number is needed, not NumPy's complex one: write z.real")


def _float(value: Any) -> Any:
    """Return what ``float`` makes of an argument, as a tensor."""
    if not is_staged(value):
        return convert_to_tensor(np.float64(value))
    _refuse_complex(value)
    tensor = one_element(float, value)
    if tensor.dtype.kind == "c":
        raise programs_own(TypeError("must be real number, not complex"))
    return ops.cast(tensor, dtypes.float64)


def _function(f: Any, row: Callable[..., Any], fails: bool = True, arguments: int = 1) -> Callable[..., Any]:
    """Return a function of floats; where it has no value it ``fails``."""
    exact = defined(f, row) if fails else row

    def of_floats(*args: Any) -> Any:
        if kind_of(args) is Tensor:
            return row(*args)
        if len(args) != arguments:
            return _asking(f, float)(*args)
        return number_of(args)(exact(*map(_float, args)))

    return of_floats


def _ufunc(theirs: np.ufunc) -> Callable[..., Any]:
    return lambda *args: (ufunc_counterpart_of(theirs) or theirs)(*args)


def _whole(of: Callable[..., Any], rounded: Callable[..., Any]) -> Callable[..., Any]:
    def of_number(x: Any) -> Any:
        _refuse_complex(x)
        tried(of, x)
        if kind_of((x,)) is Tensor:
            return answer(truncated(rounded(x)), x)
        tensor = one_element(float, x)
        return answer(truncated(tensor if tensor.dtype.kind in "biu" else rounded(tensor)), x)

    return of_number


def _asking(f: Callable[..., Any], kind: type) -> Callable[..., Any]:
    """Return a function that Python itself computes, as a number of type ``kind``; or as text."""

    def called(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = nest.flatten_with_structure((args, kwargs))
        given = [leaf.stack() if isinstance(leaf, GrowingList) else leaf for leaf in leaves]
        args, kwargs = nest.unflatten(structure, given)
        if kind is float or f.__module__ == "math":
            _refuse_complex(*given)
        made = asked(f, kind, args, kwargs, lambda tensor: not isinstance(tensor, ArrayTracer))
        return marked(kind_of(given, ArrayTracer) if kind is str else number_of(given), made)

    return called


def _parts(f: Callable[[Any], Any], *kinds: type) -> Callable[[Any], Any]:
    """Return a function that gives several numbers."""
    each = [_asking(lambda x, k=k: f(x)[k], kind) for k, kind in enumerate(kinds)]
    return lambda x: tuple([one(x) for one in each])


def _prod(values: Any, /, *, start: Any = 1) -> Any:
    if isinstance(values, list | tuple):
        for value in values:
            start = start * value
        return start
    raise UnknownWhileTracing("math.prod of what is computed by a graph takes a list of numbers: write np.prod(x)")


def _told(row: Callable[..., Any]) -> Callable[[Any], Any]:
    return lambda x: answer(row(x if kind_of((x,)) is Tensor else _float(x)), x)


def _logarithm(x: Any, *base: Any) -> Any:
    """Return ``math.log(x, base)``, which is a quotient of two logarithms."""
    if kind_of((x, *base)) is Tensor:
        return ops.log(x) if not base else ops.divide(ops.log(x), ops.log(*base))
    of_floats = _function(math.log, ops.log)
    made, *divisor = [of_floats(one) if is_staged(one) else math.log(one) for one in (x, *base)]
    return operator.truediv(made, *divisor) if divisor else made


STAGED_MATH: dict[Any, Callable[..., Any]] = {
    math.acos: _function(math.acos, ops.arccos),
    math.acosh: _function(math.acosh, ops.arccosh),
    math.asin: _function(math.asin, ops.arcsin),
    math.asinh: _function(math.asinh, ops.arcsinh, fails=False),
    math.atan: _function(math.atan, ops.arctan, fails=False),
    math.atan2: _function(math.atan2, ops.arctan2, fails=False, arguments=2),
    math.atanh: _function(math.atanh, ops.arctanh),
    math.cbrt: _function(math.cbrt, ops.cbrt, fails=False),
    math.ceil: _whole(math.ceil, ops.ceil),
    math.comb: _asking(math.comb, int),
    math.copysign: _function(math.copysign, ops.copysign, fails=False, arguments=2),
    math.cos: _function(math.cos, ops.cos),
    math.cosh: _function(math.cosh, ops.cosh),
    math.degrees: _function(math.degrees, _ufunc(np.degrees), fails=False),
    math.dist: _asking(math.dist, float),
    math.erf: _function(math.erf, ops.erf, fails=False),
    math.erfc: _asking(math.erfc, float),
    math.exp: _function(math.exp, ops.exp),
    math.exp2: _function(math.exp2, ops.exp2),
    math.expm1: _function(math.expm1, ops.expm1),
    math.fabs: _function(math.fabs, ops.abs, fails=False),
    math.factorial: _asking(math.factorial, int),
    math.floor: _whole(math.floor, ops.floor),
    math.fmod: _function(math.fmod, _ufunc(np.fmod), arguments=2),
    math.frexp: _parts(math.frexp, float, int),
    math.fsum: _asking(math.fsum, float),
    math.gamma: _asking(math.gamma, float),
    math.gcd: _asking(math.gcd, int),
    math.hypot: _function(math.hypot, ops.hypot, fails=False, arguments=2),
    math.isclose: _asking(math.isclose, bool),
    math.isfinite: _told(ops.isfinite),
    math.isinf: _told(ops.isinf),
    math.isnan: _told(ops.isnan),
    math.isqrt: _asking(math.isqrt, int),
    math.lcm: _asking(math.lcm, int),
    math.ldexp: _asking(math.ldexp, float),
    math.lgamma: _asking(math.lgamma, float),
    math.log: _logarithm,
    math.log10: _function(math.log10, ops.log10),
    math.log1p: _function(math.log1p, ops.log1p),
    math.log2: _function(math.log2, ops.log2),
    math.modf: _parts(math.modf, float, float),
    math.nextafter: _asking(math.nextafter, float),
    math.perm: _asking(math.perm, int),
    math.pow: _function(math.pow, ops.pow, arguments=2),
    math.prod: _prod,
    math.radians: _function(math.radians, _ufunc(np.radians), fails=False),
    math.remainder: _asking(math.remainder, float),
    math.sin: _function(math.sin, ops.sin),
    math.sinh: _function(math.sinh, ops.sinh),
    math.sqrt: _function(math.sqrt, ops.sqrt),
    math.tan: _function(math.tan, ops.tan),
    math.tanh: _function(math.tanh, ops.tanh, fails=False),
    math.trunc: _whole(math.trunc, ops.trunc),
    math.ulp: _asking(math.ulp, float),
}


def of_number(f: Callable[..., Any], kind: type) -> Callable[[Any], Any]:
    """Return ``hash``, ``bin`` and their like, which the run calls with a scalar or number."""

    def called(value: Any) -> Any:
        if not isinstance(value, Tracer):
            leave_unknown(f"{f.__name__}() is asked of what only the run knows")
            raise TypeError(
                f"{f.__name__}() takes no tensor, of which only a run has the value: call it with what the call gives"
            )
        of_one_kind(f, value)
        tried(f, value)
        return _asking(f, kind)(value)

    return called


def staged_round(number: Any, ndigits: Any = None) -> Any:
    """Return ``round``, whose arguments have these names."""
    if number_type(number) is bool:
        number = +number
    if isinstance(number, NumberTracer):
        return round(number, ndigits)
    of_one_kind(round, number)
    tried(round, number)
    if ndigits is None:
        made = ops.round(number)
        return answer(ops.cast(made, dtypes.int64) if made.shape.rank else truncated(made), number)
    return marked(kind_of((number,)), ops.round(number, ndigits))


#: ``pow`` of three ints
_modular_power = _asking(pow, int)


def staged_pow(base: Any, exponent: Any, modulus: Any = None) -> Any:
    """Return ``pow``."""
    if modulus is None:
        return base**exponent
    if kind_of((base, exponent, modulus)) is Tensor:
        return base**exponent % modulus
    return _modular_power(base, exponent, modulus)


def converting_to(number: type[complex]) -> Callable[..., Any]:
    """Return ``int`` or ``float``: a number of 64 bits."""

    def cast(value: Any, *base: Any) -> Any:
        if base:
            return of_texts(number, number, value, *base)
        tensor = one_element(number, value)
        if tensor.dtype.kind == "c":
            said = f"{number.__name__}() argument must be a string or a real number, not"
            if not isinstance(value, NumberTracer):  # NumPy gives the real part, and warns
                raise UnknownWhileTracing(f"{said} 'numpy.{tensor.dtype}': write {number.__name__}(x.real)")
            raise programs_own(TypeError(f"{said} 'complex'"))
        if number is int:
            return answer(truncated(tensor), value)
        return answer(ops.cast(tensor, CARRIERS[number]), value)

    return cast


def as_index(value: Any) -> Any:
    """Return ``operator.index``: an integer as a Python number."""
    tried(operator.index, value)
    return answer(truncated(one_element(int, value)), value)


def as_complex(real: Any, imag: Any = 0) -> Any:
    parts = [ops.cast(one_element(complex, part), dtypes.complex128) for part in (real, imag)]
    if isinstance(imag, int) and imag == 0:
        return answer(parts[0], real)
    return answer(ops.add(parts[0], ops.multiply(parts[1], 1j)), real, imag)
