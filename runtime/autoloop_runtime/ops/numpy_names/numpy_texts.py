"""NumPy's texts of arrays and numbers: a run makes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.stand_ins import UnknownWhileTracing
from ...ir.number_operators import number_type
from ..python_math import asked
from .counterparts import NO_VALUE, as_operand, counterpart


def _text(theirs: Any, x: Any, **how: Any) -> Any:
    """Return what a function makes of an array, with the arguments that were given; of a value there is it is text."""
    given = {name: value for name, value in how.items() if value is not NO_VALUE}
    if any(isinstance(one, np.ndarray) or getattr(one, "is_scalar", True) is False for one in given.values()):
        raise UnknownWhileTracing(f"numpy.{theirs.__name__} writes to arrays that it takes for numbers")  # width -= 1
    tensor = as_operand(x).plain
    if tensor.node is None:
        return theirs(tensor.numpy(), **given)
    return asked(theirs, str, (tensor,), given, lambda one: number_type(one) is not None)


def _of_float(theirs: Any, x: Any, **how: Any) -> Any:
    if isinstance(x, (list, tuple)) or as_operand(x).dtype.kind == "c":
        raise UnknownWhileTracing(f"numpy.{theirs.__name__} takes real numbers; what it says of others NumPy knows")
    return _text(theirs, x, **how)


@counterpart(np.array2string)
def array2string(
    a: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None, separator: Any = " ",
    prefix: Any = "", *, formatter: Any = None, threshold: Any = None, edgeitems: Any = None, sign: Any = None,
    floatmode: Any = None, suffix: Any = "", legacy: Any = None,
) -> Any:  # fmt: skip
    """Return ``np.array2string``."""
    return _text(
        np.array2string, a, max_line_width=max_line_width, precision=precision, suppress_small=suppress_small,
        separator=separator, prefix=prefix, formatter=formatter, threshold=threshold, edgeitems=edgeitems, sign=sign,
        floatmode=floatmode, suffix=suffix, legacy=legacy,
    )  # fmt: skip


@counterpart(np.array_repr)
def array_repr(arr: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None) -> Any:
    """Return ``np.array_repr``."""
    return _text(np.array_repr, arr, max_line_width=max_line_width, precision=precision, suppress_small=suppress_small)


@counterpart(np.array_str)
def array_str(a: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None) -> Any:
    """Return ``np.array_str``."""
    return _text(np.array_str, a, max_line_width=max_line_width, precision=precision, suppress_small=suppress_small)


@counterpart(np.format_float_positional)
def format_float_positional(
    x: Any, precision: Any = None, unique: Any = True, fractional: Any = True, trim: Any = "k", sign: Any = False,
    pad_left: Any = None, pad_right: Any = None, min_digits: Any = None,
) -> Any:  # fmt: skip
    """Return ``np.format_float_positional``."""
    return _of_float(
        np.format_float_positional, x, precision=precision, unique=unique, fractional=fractional, trim=trim, sign=sign,
        pad_left=pad_left, pad_right=pad_right, min_digits=min_digits,
    )  # fmt: skip


@counterpart(np.format_float_scientific)
def format_float_scientific(
    x: Any, precision: Any = None, unique: Any = True, trim: Any = "k", sign: Any = False, pad_left: Any = None,
    exp_digits: Any = None, min_digits: Any = None,
) -> Any:  # fmt: skip
    """Return ``np.format_float_scientific``."""
    return _of_float(
        np.format_float_scientific, x, precision=precision, unique=unique, trim=trim, sign=sign, pad_left=pad_left,
        exp_digits=exp_digits, min_digits=min_digits,
    )  # fmt: skip
