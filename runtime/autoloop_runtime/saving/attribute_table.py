"""What attributes of operations may be in a file: by name, which means the same in every row of the table of ops.

What is not stated here is neither written nor read.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from ..base.shapes import TensorShape
from ..collections.array_buffer import ArraySpec
from ..collections.variables import Variable
from ..ir.structured import check_gradient_memory
from ..ops.effects import Text
from ..ops.index import Index
from .known_functions import NAME_OF, UFUNC_NAMES, GivenArguments, MadeException, exception_name

Test: TypeAlias = Callable[[Any], bool]

#: no integer is larger, nor smaller than its negative
MOST_INT = 1 << 63
#: what a kernel is tried with while shapes are inferred may say of sizes
MOST_TRIED = 1 << 24
_WORD = re.compile(r"[A-Za-z0-9_]{0,40}")
_EQUATION = re.compile(r"[A-Za-z ,.>-]{0,400}")
_SPEC = re.compile(r"(?!.*\d{5})[^{}\n]{0,40}")
_MOST_TEXT = 1 << 16


def _is_none(value: Any) -> bool:
    return value is None


def _is_bool(value: Any) -> bool:
    return type(value) is bool


def _is_int(value: Any) -> bool:
    return type(value) is int and -MOST_INT <= value <= MOST_INT


def _is_float(value: Any) -> bool:
    return type(value) is float


def _is_word(value: Any) -> bool:
    """Return whether a text is a name among a few: such stand in generated code."""
    return type(value) is str and _WORD.fullmatch(value) is not None


def _is_text(value: Any) -> bool:
    return type(value) is str and len(value) <= _MOST_TEXT


def _is_equation(value: Any) -> bool:
    return type(value) is str and _EQUATION.fullmatch(value) is not None


def _is_template(value: Any) -> bool:
    """Return whether a text is a template of values alone: no attribute or element of them, no width without end."""
    if not _is_text(value):
        return False
    try:
        fields = list(string.Formatter().parse(value))
    except ValueError:
        return False
    return all(
        name is None or (name in ("", *map(str, range(100))) and conversion in (None, "r", "s", "a") and _is_spec(spec))
        for _, name, spec, conversion in fields
    )


def _is_spec(spec: str | None) -> bool:
    return not spec or _SPEC.fullmatch(spec) is not None


def _is_stream(value: Any) -> bool:
    return value in ("stdout", "stderr")


def _is_dtype(value: Any) -> bool:
    return isinstance(value, np.dtype)


def _is_shape(value: Any) -> bool:
    return isinstance(value, TensorShape)


def _is_type(value: Any) -> bool:
    return value in (bool, int, float, complex)


def _is_number(value: Any) -> bool:
    return _is_int(value) or _is_float(value) or (isinstance(value, np.generic) and value.dtype.kind in "biuf")


def _is_memory(value: Any) -> bool:
    try:
        check_gradient_memory(value)
    except (TypeError, ValueError):
        return False
    return True


def _is_spec_of_output(value: Any) -> bool:
    return type(value) is tuple and len(value) == 2 and _is_dtype(value[0]) and _is_shape(value[1])


def _of(kind: type) -> Test:
    return lambda value: type(value) is kind


def _any(*tests: Test) -> Test:
    return lambda value: any(test(value) for test in tests)


def _tuple(test: Test) -> Test:
    return lambda value: type(value) is tuple and all(map(test, value))


def _known(value: Any) -> bool:
    return id(value) in NAME_OF


_INTS = _tuple(_is_int)
_AXES = _any(_is_none, _is_int, _INTS)
_EXTENTS = _any(_is_none, _tuple(_any(_is_none, _is_int)))
_OPTIONAL_INT = _any(_is_none, _is_int)
_OPTIONAL_NUMBER = _any(_is_none, _is_number)
_OPTIONAL_WORD = _any(_is_none, _is_word)
_RANGE = _any(_is_none, _is_number, _tuple(_any(_is_none, _is_number, _tuple(_is_number))))

#: attribute -> what it may be
ATTRIBUTES: dict[str, Test] = {
    **dict.fromkeys(
        ("aligned", "assume_unique", "back_prop", "check_finite", "descending", "endpoint", "equal_nan", "exclusive",
         "hermitian", "in_order", "invert", "keepdims", "keyed", "lower", "reverse", "right", "squared", "swap_memory",
         "unit_diagonal", "weighted"), _is_bool,
    ),
    **dict.fromkeys(
        ("argument", "begun", "d", "interval", "k", "minlength", "n_vars", "ndigits", "num", "offset",
         "parallel_iterations", "shift", "size", "trans"), _is_int,
    ),
    **dict.fromkeys(("count", "cut", "most", "n", "token"), _OPTIONAL_INT),
    **dict.fromkeys(("axes", "axis", "kth"), _AXES),
    **dict.fromkeys(("dims", "pads", "pair", "sizes"), _any(_INTS, _tuple(_INTS))),
    **dict.fromkeys(("UPLO", "assume_a", "bitorder", "kind", "method", "mode", "norm", "side"), _OPTIONAL_WORD),
    **dict.fromkeys(("ends", "numbers", "parts", "weak"), _tuple(_is_bool)),
    **dict.fromkeys(("message", "of_none", "said", "words"), _is_text),
    **dict.fromkeys(("rcond", "rtol", "tol", "number"), _OPTIONAL_NUMBER),
    **dict.fromkeys(("dtype", "to"), _any(_is_none, _is_dtype)),
    **dict.fromkeys(("shape", "static"), _is_shape),
    "bins": _any(_is_none, _is_int, _tuple(_OPTIONAL_INT)),
    "equation": _is_equation,
    "error": lambda value: exception_name(value) is not None,
    "factory": _of(MadeException),
    "function": _any(_is_word, _known),
    "given": _of(GivenArguments),
    "gradient_memory": _is_memory,
    "high": _OPTIONAL_NUMBER,
    "index": _of(Index),
    "invariants": _tuple(_is_shape),
    "known": _EXTENTS,
    "low": _OPTIONAL_NUMBER,
    "names": _tuple(_is_text),
    "operation": _known,
    "order": _any(_OPTIONAL_WORD, _is_int),
    "range": _RANGE,
    "ranged": _tuple(_any(_is_none, _is_type)),
    "spec": _of(ArraySpec),
    "specs": _tuple(_is_spec_of_output),
    "stream": _is_stream,
    "template": _is_template,
    "text": _any(_is_none, _of(Text)),
    "ufunc": lambda value: isinstance(value, np.ufunc) and value.__name__ in UFUNC_NAMES,
    "value": _any(_of(np.ndarray), lambda value: isinstance(value, np.generic)),
    "variable": _of(Variable),
}  # fmt: skip


def size_said(attrs: Any) -> int:
    """Return what the integers in attributes multiply to: how large what they name may be."""
    product, pending = 1, list(attrs.values())
    while pending:
        value = pending.pop()
        if type(value) is tuple:
            pending += value
        elif type(value) is int and abs(value) > 1:
            product = min(product * abs(value), MOST_INT)
    return product
