"""Where Python raises: there a run of the model fails, at a node that is named for the reason and the user's line."""

from __future__ import annotations

import numpy as np
from autoloop_runtime.ir.graph import Node
from autoloop_runtime.ops import effects
from autoloop_runtime.ops.exact_numbers import (
    DIVISOR,
    EXACT_ADD,
    EXACT_FLOAT,
    EXACT_MULTIPLY,
    EXACT_SUBTRACT,
    FLOAT_POWER,
    PLACE,
    QUOTIENT_FITS,
    SHIFT_COUNT,
    TRUNCATED,
)
from autoloop_runtime.ops.numpy_names.data_checks import CHECKED
from autoloop_runtime.ops.operands import FITTED, FITTED_ELEMENT
from autoloop_runtime.ops.python_math import DEFINED

from . import onnx_formulas as formulas
from .onnx_values import BOOL, INT64, Value
from .onnx_writer import Writer, rule

_LEAST = np.iinfo(np.int64).min
_LARGE, _ZERO, _DOMAIN = "an int of more than 64 bits", "division by zero", "a value that Python raises for"


@rule(effects.RAISE)
def _raise(writer: Writer, node: Node, *operands: Value) -> list[Value]:
    return [_failed(writer, node, None, "raise")]


@rule(effects.ASSERT)
def _assert(writer: Writer, node: Node, condition: Value, *operands: Value) -> list[Value]:
    holds = ~(~condition.to(BOOL)).to(INT64).sum(None).to(BOOL)
    return [_failed(writer, node, holds, "assert")]


def _failed(writer: Writer, node: Node, holds: Value | None, what: str) -> Value:
    """Return the token after what may fail; that it does must not be known before the run."""
    before = writer.of(node.inputs[-1])
    never = ~writer.unknown_truth() if holds is None else holds
    return before & writer.passes(never, what)


@rule(CHECKED)
def _checked(writer: Writer, node: Node, x: Value, holds: Value) -> Value:
    all_hold = ~(~holds).to(INT64).sum(None).to(BOOL)
    return writer.checked(x, all_hold, "what NumPy raises for")


@rule(DIVISOR)
def _divisor(writer: Writer, node: Node, y: Value) -> Value:
    return writer.checked(y, ~y.equals(0), _ZERO)


@rule(QUOTIENT_FITS)
def _quotient_fits(writer: Writer, node: Node, y: Value, x: Value) -> Value:
    fits = ~(y.equals(0) | (y.equals(-1) & x.equals(_LEAST)))
    return writer.checked(y, fits, _ZERO)


@rule(SHIFT_COUNT)
def _shift_count(writer: Writer, node: Node, y: Value) -> Value:
    return writer.checked(y, y >= 0, "a negative shift count")


@rule(PLACE)
def _place(writer: Writer, node: Node, place: Value, size: Value) -> Value:
    wide, count = place.to(INT64), size.to(INT64)
    return writer.checked(place, (wide >= -count) & (wide < count), "an index out of range")


@rule(EXACT_ADD)
def _exact_add(writer: Writer, node: Node, x: Value, y: Value) -> Value:
    made = x + y
    return writer.checked(made, ~(((x < 0).equals(y < 0)) & ~(x < 0).equals(made < 0)), _LARGE)


@rule(EXACT_SUBTRACT)
def _exact_subtract(writer: Writer, node: Node, x: Value, y: Value) -> Value:
    made = x - y
    return writer.checked(made, (x < 0).equals(y < 0) | (x < 0).equals(made < 0), _LARGE)


@rule(EXACT_MULTIPLY)
def _exact_multiply(writer: Writer, node: Node, x: Value, y: Value) -> Value:
    made = x * y
    aside = y.equals(0) | y.equals(-1)
    safe = aside.where(1, y)
    fits = aside.where(
        ~(y.equals(-1) & x.equals(_LEAST)), (made / safe).equals(x) & ((made / safe) * safe).equals(made)
    )
    return writer.checked(made, fits, _LARGE)


@rule(EXACT_FLOAT)
def _exact_float(writer: Writer, node: Node, x: Value) -> Value:
    made = x.to(np.float64)
    return writer.checked(made, (made < 2.0**63) & made.to(x.dtype).equals(x), "an int that no float is equal to")


@rule(TRUNCATED)
def _truncated(writer: Writer, node: Node, x: Value) -> Value:
    limit = 2.0**63
    fits = x <= np.iinfo(np.int64).max if x.dtype.kind == "u" else (x < limit) & (x >= -limit)
    return writer.checked(x.to(INT64), fits, _LARGE)


@rule(FITTED, FITTED_ELEMENT)
def _fitted(writer: Writer, node: Node, x: Value) -> Value:
    dtype = node.attrs["dtype"]
    if dtype.kind not in "iu":
        return x.to(dtype)
    ends = np.iinfo(dtype)
    if x.dtype.kind == "f":
        fits = (x > float(ends.min) - 1) & (x < float(ends.max) + 1)
    elif x.dtype == INT64 and dtype.itemsize < 8:
        fits = (x >= int(ends.min)) & (x <= int(ends.max))
    else:
        fits = x >= max(int(ends.min), 0 if x.dtype.kind == "u" else _LEAST)
    return writer.checked(x.to(dtype), ~(~fits).to(INT64).sum(None).to(BOOL), "a number that does not fit")


@rule(FLOAT_POWER, DEFINED)
def _defined(writer: Writer, node: Node, z: Value, *xs: Value) -> Value:
    holds = formulas.isfinite(z)
    for x in xs:
        holds = holds | ~formulas.isfinite(x)
    return writer.checked(z, holds, _DOMAIN)
