"""Functions of ``math``, and of NumPy's, in place of which something else is called for tensors: loaded with the first.

``math.sqrt(x)`` asks its argument for a float before a tensor has a say: so converted code calls what stands here
instead. Of a tensor it gives a tensor, as autoloop's own function of the name does.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base import dtypes
from autoloop_runtime.base.stand_ins import UnknownWhileTracing
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.numpy_protocols import ufunc_counterpart_of
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import kind_of, number_of
from autoloop_runtime.ops.exact_numbers import truncated
from autoloop_runtime.ops.python_math import defined

from ...conversion.callables import STAGED_FUNCTIONS
from ...errors import programs_own
from ..staging.staged_values import answer, is_staged
from . import library_calls as libraries
from .library_functions import library
from .math_functions import asking, one_element, refuse_complex, tried
from .pythons_words import in_pythons_words


def _float(value: Any) -> Any:
    """Return what ``float`` makes of an argument, as a tensor."""
    if not is_staged(value):
        math.isnan(value)  # says what is no number, or too large
        return convert_to_tensor(np.float64(value))
    refuse_complex(value)
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
            return asking(f, float)(*args)
        return number_of(args)(exact(*map(_float, args)))

    return of_floats


def _ufunc(theirs: np.ufunc) -> Callable[..., Any]:
    return lambda *args: (ufunc_counterpart_of(theirs) or theirs)(*args)


def _whole(of: Callable[..., Any], rounded: Callable[..., Any]) -> Callable[..., Any]:
    def of_number(x: Any) -> Any:
        refuse_complex(x)
        tried(of, x)
        if kind_of((x,)) is Tensor:
            return answer(truncated(rounded(x)), x)
        tensor = one_element(float, x)
        return answer(truncated(tensor if tensor.dtype.kind in "biu" else rounded(tensor)), x)

    return of_number


def _parts(f: Callable[[Any], Any], *kinds: type) -> Callable[[Any], Any]:
    """Return a function that gives several numbers."""
    each = [asking(lambda x, k=k: f(x)[k], kind) for k, kind in enumerate(kinds)]
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


_MATH: dict[Any, Callable[..., Any]] = {
    math.acos: _function(math.acos, ops.arccos),
    math.acosh: _function(math.acosh, ops.arccosh),
    math.asin: _function(math.asin, ops.arcsin),
    math.asinh: _function(math.asinh, ops.arcsinh, fails=False),
    math.atan: _function(math.atan, ops.arctan, fails=False),
    math.atan2: _function(math.atan2, ops.arctan2, fails=False, arguments=2),
    math.atanh: _function(math.atanh, ops.arctanh),
    math.cbrt: _function(math.cbrt, ops.cbrt, fails=False),
    math.ceil: _whole(math.ceil, ops.ceil),
    math.comb: asking(math.comb, int),
    math.copysign: _function(math.copysign, ops.copysign, fails=False, arguments=2),
    math.cos: _function(math.cos, ops.cos),
    math.cosh: _function(math.cosh, ops.cosh),
    math.degrees: _function(math.degrees, _ufunc(np.degrees), fails=False),
    math.dist: asking(math.dist, float),
    math.erf: _function(math.erf, ops.erf, fails=False),
    math.erfc: asking(math.erfc, float),
    math.exp: _function(math.exp, ops.exp),
    math.exp2: _function(math.exp2, ops.exp2),
    math.expm1: _function(math.expm1, ops.expm1),
    math.fabs: _function(math.fabs, ops.abs, fails=False),
    math.factorial: asking(math.factorial, int),
    math.floor: _whole(math.floor, ops.floor),
    math.fmod: _function(math.fmod, _ufunc(np.fmod), arguments=2),
    math.frexp: _parts(math.frexp, float, int),
    math.fsum: asking(math.fsum, float),
    math.gamma: asking(math.gamma, float),
    math.gcd: asking(math.gcd, int),
    math.hypot: _function(math.hypot, ops.hypot, fails=False, arguments=2),
    math.isclose: asking(math.isclose, bool),
    math.isfinite: _told(ops.isfinite),
    math.isinf: _told(ops.isinf),
    math.isnan: _told(ops.isnan),
    math.isqrt: asking(math.isqrt, int),
    math.lcm: asking(math.lcm, int),
    math.ldexp: asking(math.ldexp, float),
    math.lgamma: asking(math.lgamma, float),
    math.log: _logarithm,
    math.log10: _function(math.log10, ops.log10),
    math.log1p: _function(math.log1p, ops.log1p),
    math.log2: _function(math.log2, ops.log2),
    math.modf: _parts(math.modf, float, float),
    math.nextafter: asking(math.nextafter, float),
    math.perm: asking(math.perm, int),
    math.pow: _function(math.pow, ops.pow, arguments=2),
    math.prod: _prod,
    math.radians: _function(math.radians, _ufunc(np.radians), fails=False),
    math.remainder: asking(math.remainder, float),
    math.sin: _function(math.sin, ops.sin),
    math.sinh: _function(math.sinh, ops.sinh),
    math.sqrt: _function(math.sqrt, ops.sqrt),
    math.tan: _function(math.tan, ops.tan),
    math.tanh: _function(math.tanh, ops.tanh, fails=False),
    math.trunc: _whole(math.trunc, ops.trunc),
    math.ulp: asking(math.ulp, float),
}


OF_LIBRARIES = {
    plain: library(plain, staged if plain not in _MATH else in_pythons_words(plain, staged))
    for plain, staged in (libraries.STAGED_FUNCTIONS | _MATH).items()
}
assert OF_LIBRARIES.keys() == STAGED_FUNCTIONS
