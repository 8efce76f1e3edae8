"""Builtins that ask a staged number: Python's values, errors and types of results."""

from __future__ import annotations

import functools
import operator
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base import dtypes, nest
from autoloop_runtime.base.stand_ins import UnknownWhileTracing
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.number_operators import CARRIERS, number_type
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.text_operators import of_texts
from autoloop_runtime.ir.tracers import (
    ArrayTracer,
    NumberTracer,
    TextTracer,
    Tracer,
    ZeroDimArray,
    kind_of,
    marked,
    number_of,
)
from autoloop_runtime.ops.exact_numbers import truncated
from autoloop_runtime.ops.python_math import asked

from ...errors import mark_programs_own, programs_own
from ...left_to_python import leave_unknown, refuse_unknown
from ..staging.growing_list import GrowingList
from ..staging.numbers_or_arrays import noted
from ..staging.raising import Raising, raise_unless
from ..staging.staged_values import answer


def tried(of: Callable[..., Any], *values: Any, **named: Any) -> None:
    """Let a function of Python's say whether it takes what tracers stand for."""
    given = (*values, *named.values())
    if any(isinstance(value, Tensor) and not isinstance(value, Tracer) for value in given):
        return  # which says itself what is wrong
    examples = list(map(_example, given))
    if named or any(example is not value for example, value in zip(examples, given, strict=True)):
        _called(of, *examples[: len(values)], **dict(zip(named, examples[len(values) :])))


def _example(value: Any) -> Any:
    """Return what has the type of a value that is computed by a run; any other value itself."""
    number = number_type(value)
    if isinstance(value, TextTracer):
        return "1"
    if isinstance(value, ArrayTracer) and value.shape.rank is not None:
        ones = np.ones([1] * len(value.shape), value.dtype)
        return ones if type(value) is ZeroDimArray else ones[()]
    return number(1) if number is not None else value


def of_one_kind(of: Callable[..., Any], value: Any) -> None:
    """Leave to plain Python, if it can run it, what Python makes of a number or of an array, where it may be either."""
    if isinstance(value, ArrayTracer) and (value.shape.rank is None or noted(value) is not None):
        refuse_unknown(
            f"{of.__name__}() is given what is an array with axes in one run and has none in another",
            "let it be one of both before, x = np.atleast_1d(x)",
        )


def _called(of: Callable[..., Any], *examples: Any, **named: Any) -> None:
    """Let what a function of Python's raises be the program's own failure."""
    try:
        of(*examples, **named)
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
            " [AL026]"
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


def refuse_complex(*values: Any) -> None:
    """Let plain Python take the real part of a complex scalar of NumPy's, which tells so by a warning."""
    if any(isinstance(value, ArrayTracer) and value.dtype.kind == "c" for value in values):
        raise UnknownWhileTracing("a real number is needed, not NumPy's complex one: write z.real")


def asking(f: Callable[..., Any], kind: type) -> Callable[..., Any]:
    """Return a function that Python itself computes, as a number of type ``kind``; or as text."""

    def called(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = nest.flatten_with_structure((args, kwargs))
        given = [leaf.stack() if isinstance(leaf, GrowingList) else leaf for leaf in leaves]
        args, kwargs = nest.unflatten(structure, given)
        if any(type(one) is ZeroDimArray for one in args):  # the run has scalars, of which Python may say otherwise
            with suppress(ValueError, ArithmeticError):  # of values, which are not those of the run
                tried(f, *args)
        if kind is float or f.__module__ == "math":
            refuse_complex(*given)
        made = asked(f, kind, args, kwargs, lambda tensor: not isinstance(tensor, ArrayTracer))
        return marked(kind_of(given, ArrayTracer) if kind is str else number_of(given), made)

    return called


def of_number(f: Callable[..., Any], kind: type) -> Callable[[Any], Any]:
    """Return ``hash``, ``bin`` and their like, which the run calls with a scalar or number."""

    def called(value: Any) -> Any:
        if not isinstance(value, Tracer):
            leave_unknown(f"{f.__name__}() is asked of what only the run knows")
            raise TypeError(
                f"{f.__name__}() takes no tensor, of which only a run has the value: call it with what the call gives"
                " [AL026]"
            )
        of_one_kind(f, value)
        tried(f, value)
        return asking(f, kind)(value)

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
_modular_power = asking(pow, int)


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
            texts = "a string, a bytes-like object" if number is int else "a string"
            said = f"{number.__name__}() argument must be {texts} or a real number, not"
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


_NOT_GIVEN = object()


def as_complex(real: Any = 0, imag: Any = _NOT_GIVEN) -> Any:
    """Return ``complex``, whose arguments have these names."""
    if imag is _NOT_GIVEN:
        return answer(ops.cast(one_element(complex, real), dtypes.complex128), real)
    tried(complex, real, imag)
    first, second = one_element(complex, real), one_element(complex, imag)
    if second.dtype.kind == "c" and second.dtype != dtypes.complex128:
        refuse_complex(imag)  # it is no Python complex
    re, im = (ops.cast(ops.real(part), dtypes.float64) for part in (first, second))
    if second.dtype.kind == "c":  # ``real + imag * 1j``, whose products would make a nan of an infinite part
        re = ops.subtract(re, ops.imag(second))
    if first.dtype.kind == "c":
        im = ops.add(im, ops.cast(ops.imag(first), dtypes.float64))
    elif isinstance(real, ZeroDimArray):  # which has a part that is 0.0, and no -0.0 is left of that
        im = ops.add(im, 0.0)
    return answer(ops.complex(re, im), real, imag)
