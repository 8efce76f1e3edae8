"""Functions of Python's numbers that a graph computes: where ``math`` raises, and what only Python itself computes.

The value comes from a row of arrays, which gives nan or an infinity where ``math`` has no value; it is looked at, and
where it is none Python is asked, which raises or agrees. What has no row is computed by Python's own function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import nest
from ..base.dtypes import DType, float64, string
from ..base.shapes import SCALAR
from ..ir.apply import apply
from ..ir.number_operators import CARRIERS
from ..ir.op import function, ruled_in
from ..ir.tensor import Tensor
from ..ir.traits import MADE, NO_GRADIENT, NO_RULE, VIEWING, Fails
from .define import primitive
from .exact_numbers import fitting
from .operands import cast


def _defined_kernel(z: Any, *xs: Any, function: Callable[..., Any]) -> Any:
    if not np.isfinite(z):
        made = function(*[x.item() for x in xs])  # which may raise
        if isinstance(made, complex):
            raise ValueError(
                f"{function.__name__} of {xs[0].item()!r} is complex: make it complex before, complex(x) [AL216]"
            )
        return np.float64(made)
    return z


#: the value of a function of floats, which is no infinity or nan unless Python's is
DEFINED = primitive(
    "defined_number", lambda z, *xs, function: (z.dtype, z.shape), _defined_kernel,
    lambda g, outputs, inputs, attrs: [g, *[None] * (len(inputs) - 1)],
    traits=VIEWING.but(fails=Fails.MAYBE, raises=(ArithmeticError, ValueError)),
)  # fmt: skip


def defined(f: Callable[..., Any], row: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return ``row``, that computes Python's ``f`` of float64 numbers, raising what ``f`` raises."""
    return lambda *xs: apply(DEFINED, [row(*xs), *xs], {"function": f})


def _rounded_kernel(x: Any, ndigits: int) -> Any:
    return np.float64(round(x.item(), ndigits))


#: a float to some decimal places: what Python finds by its decimal digits
ROUNDED = primitive(
    "rounded_number", lambda x, ndigits: (float64, SCALAR), _rounded_kernel, NO_GRADIENT,
    traits=MADE.but(fails=Fails.MAYBE, raises=ArithmeticError),
)  # fmt: skip


def _asked_kernel(*values: Any, function: Callable[..., Any], given: Any, numbers: Sequence[bool], dtype: DType) -> Any:
    parts = [value.item() if number else value for value, number in zip(values, numbers)]
    args, kwargs = given(parts)
    return fitting(function(*args, **kwargs), dtype)


_TRAITS = MADE.but(fails=Fails.MAYBE, raises=(ArithmeticError, ValueError))
#: what Python's own function gives
_ASKED = {
    True: primitive(
        "python_number", lambda *xs, dtype, **more: (dtype, SCALAR), _asked_kernel, NO_RULE, traits=_TRAITS
    ),
    False: primitive(
        "python_count", lambda *xs, dtype, **more: (dtype, SCALAR), _asked_kernel, NO_GRADIENT, traits=_TRAITS
    ),
}  # fmt: skip
#: those that give ints, and floats
ASKED_FOR_INTS, ASKED_FOR_FLOATS = _ASKED[False], _ASKED[True]


def asked(f: Callable[..., Any], kind: type, args: Any, kwargs: Any, is_number: Callable[[Any], bool]) -> Tensor:
    """Return the value of type ``kind`` that Python's ``f`` gives when the graph runs.

    Parameters
    ----------
    f : callable
    kind : type
        bool, int or float; or str, for text.
    args, kwargs
        Numbers, scalars and arrays, alone or in lists.
    is_number : callable
        Tells of a tensor among them whether it stands for a number of Python's own.
    """
    leaves, structure = nest.flatten_with_structure((tuple(args), dict(kwargs)))
    tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]

    def given(parts: Sequence[Any]) -> Any:
        remaining = iter(parts)
        return nest.unflatten(structure, [next(remaining) if isinstance(leaf, Tensor) else leaf for leaf in leaves])

    dtype = string if kind is str else CARRIERS[kind]
    attrs = {"function": f, "given": given, "numbers": tuple(map(is_number, tensors)), "dtype": dtype}
    return apply(_ASKED[kind is float], [tensor.plain for tensor in tensors], attrs)


def rounded(x: Tensor, ndigits: int) -> Tensor:
    """Return ``round(x, ndigits)`` of a Python float."""
    return apply(ROUNDED, [cast(x, float64)], {"ndigits": ndigits})


function("number_round", rounded)
function("number_asked", asked)


ruled_in("exact_number_rules", ROUNDED, DEFINED)
