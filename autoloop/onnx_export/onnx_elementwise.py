"""What works element by element: tables of what ONNX has under another name, and formulas of what it has not."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from autoloop_runtime.collections.accumulators import ACCUMULATE, SETTLE
from autoloop_runtime.ir.graph import Node
from autoloop_runtime.ir.op import Op
from autoloop_runtime.ops import arithmetic, bounds, complex_numbers, identities, logic, powers, rounding, trigonometry
from autoloop_runtime.ops.define import op_of
from autoloop_runtime.ops.numpy_names import numpy_ufuncs as ufuncs
from autoloop_runtime.ops.operands import CAST
from autoloop_runtime.ops.powers import POW, POW_IN_LOOP
from autoloop_runtime.ops.selection import WHERE

from . import onnx_formulas as formulas
from .onnx_refusals import refuse
from .onnx_values import BOOL, INT64, UINT64, Value
from .onnx_writer import RULES, Writer, rule

#: one operation of ONNX each
_ARITHMETIC: dict[Any, str] = {
    arithmetic.subtract: "Sub", arithmetic.divide: "Div", powers.exp: "Exp", powers.log: "Log", powers.sqrt: "Sqrt",
    powers.length: "Sqrt", trigonometry.sin: "Sin", trigonometry.cos: "Cos", trigonometry.tanh: "Tanh",
    rounding.floor: "Floor", rounding.ceil: "Ceil", rounding.rint: "Round", powers.erf: "Erf",
}  # fmt: skip
_COMPARISONS: dict[Any, str] = {
    logic.equal: "Equal", logic.less: "Less", logic.less_equal: "LessOrEqual", logic.greater: "Greater",
    logic.greater_equal: "GreaterOrEqual",
}  # fmt: skip
#: of booleans, and of the bits of integers
_BITS: dict[Any, tuple[str, str]] = {
    logic.bitwise_and: ("And", "BitwiseAnd"), logic.bitwise_or: ("Or", "BitwiseOr"),
    logic.bitwise_xor: ("Xor", "BitwiseXor"), logic.logical_and: ("And", "And"), logic.logical_or: ("Or", "Or"),
    logic.logical_xor: ("Xor", "Xor"), logic.invert: ("Not", "BitwiseNot"), logic.logical_not: ("Not", "Not"),
}  # fmt: skip
#: of numbers, and of booleans if there is such a thing
_OF_TRUTHS: dict[Any, tuple[str, str]] = {
    arithmetic.add: ("Add", "Or"), arithmetic.multiply: ("Mul", "And"), bounds.maximum: ("Max", "Or"),
    bounds.minimum: ("Min", "And"),
}  # fmt: skip
#: formulas of the values
_FORMULAS: dict[Any, Callable[..., Value]] = {
    arithmetic.floor_divide: formulas.floor_divide, arithmetic.mod: formulas.modulo,
    arithmetic.negative: lambda x: -x, arithmetic.reciprocal: formulas.reciprocal, arithmetic.square: lambda x: x * x,
    arithmetic.sign: formulas.sign, arithmetic.abs: formulas.absolute, arithmetic.copysign: formulas.copysign,
    powers.exp2: lambda x: x.writer.arithmetic("Pow", x.lift(2), x), powers.expm1: formulas.expm1,
    powers.log1p: formulas.log1p, powers.log2: lambda x: formulas.log(x) / math.log(2),
    powers.log10: lambda x: formulas.log(x) / math.log(10), powers.cbrt: formulas.cbrt, powers.hypot: formulas.hypot,
    powers.rsqrt: lambda x: 1 / formulas.sqrt(x), powers.sigmoid: lambda x: 1 / (formulas.exp(-x) + 1),
    powers.softplus: lambda x: formulas.logaddexp(x, x.lift(0)), powers.logaddexp: formulas.logaddexp,
    trigonometry.tan: lambda x: x.writer.arithmetic("Sin", x) / x.writer.arithmetic("Cos", x),
    trigonometry.arctan: formulas.arctan, trigonometry.arcsin: formulas.arcsin, trigonometry.arccos: formulas.arccos,
    trigonometry.arctan2: formulas.arctan2, trigonometry.sinh: formulas.sinh, trigonometry.cosh: formulas.cosh,
    trigonometry.arcsinh: formulas.arcsinh, trigonometry.arccosh: formulas.arccosh,
    trigonometry.arctanh: formulas.arctanh, rounding.trunc: formulas.trunc,
    bounds.relu: lambda x: x.writer.arithmetic("Max", x, x.lift(0)),
    logic.isnan: formulas.isnan, logic.isinf: formulas.isinf, logic.isfinite: formulas.isfinite,
    logic.not_equal: lambda x, y: ~x.equals(y), logic.left_shift: formulas.left_shift,
    logic.right_shift: formulas.right_shift,
    complex_numbers.real: lambda x: x, complex_numbers.conj: lambda x: x, complex_numbers.imag: lambda x: x * 0,
}  # fmt: skip
#: the same of NumPy's that have rows of their own
_OF_LIBRARIES: dict[Any, Callable[..., Value]] = {
    ufuncs.fmax: lambda x, y: formulas.without_nan("Max", x, y),
    ufuncs.fmin: lambda x, y: formulas.without_nan("Min", x, y),
    ufuncs.fmod: formulas.remainder, ufuncs.heaviside: formulas.heaviside,
    ufuncs.radians: lambda x: x * (math.pi / 180), ufuncs.deg2rad: lambda x: x * (math.pi / 180),
    ufuncs.degrees: lambda x: x * (180 / math.pi), ufuncs.rad2deg: lambda x: x * (180 / math.pi),
    ufuncs.positive: lambda x: x, ufuncs.signbit: formulas.signbit,
    ufuncs.logaddexp2: lambda x, y: formulas.logaddexp(x * math.log(2), y * math.log(2)) / math.log(2),
    ufuncs.float_power: lambda x, y: x.writer.arithmetic("Pow", x.to(np.float64), y.to(np.float64)),
}  # fmt: skip


def _entered(op: Op, write: Callable[..., Value]) -> None:
    RULES[op] = lambda writer, node, *operands: write(*operands)


for _f, _name in _ARITHMETIC.items():
    _entered(op_of(_f), lambda *xs, name=_name: xs[0].writer.arithmetic(name, *xs))
for _f, _name in _COMPARISONS.items():
    _entered(op_of(_f), lambda x, y, name=_name: formulas.compared(name, x, y))
for _f, _names in _BITS.items():
    _entered(op_of(_f), partial(formulas.of_bits, *_names))
for _f, _names in _OF_TRUTHS.items():
    _entered(op_of(_f), partial(formulas.of_numbers, *_names))
for _f, _formula in _FORMULAS.items():
    _entered(op_of(_f), _formula)
for _f, _formula in _OF_LIBRARIES.items():
    _entered(_f.op, _formula)


def _first(writer: Writer, node: Node, x: Value, *rest: Value) -> Value:
    return x


#: what is its first operand
rule(
    identities.IDENTITY, identities.COPIED, identities.STOP_GRADIENT, identities.ENSURE_SHAPE, SETTLE,
)(_first)  # fmt: skip


@rule(ACCUMULATE)
def _accumulated(writer: Writer, node: Node, total: Value, part: Value) -> Value:
    return formulas.of_numbers("Add", "Or", total, part)


@rule(WHERE)
def _where(writer: Writer, node: Node, condition: Value, x: Value, y: Value) -> Value:
    return condition.where(x, y)


@rule(CAST)
def _cast(writer: Writer, node: Node, x: Value) -> Value:
    wanted = node.attrs["dtype"]
    if wanted == UINT64 and x.dtype.kind == "f":  # which of what is negative is undefined
        return (x < 0).where(x.to(INT64).to(UINT64), x.to(UINT64))
    return x.to(wanted)


@rule(POW, POW_IN_LOOP)
def _power(writer: Writer, node: Node, x: Value, y: Value) -> Value:
    if x.dtype.kind == "f":
        return writer.arithmetic("Pow", x, y)
    known = node.inputs[1].constant_value()
    if known is None or known.size != 1 or not 0 <= int(known.reshape(-1)[0]) < 64:
        refuse(node, "of integers ONNX has only powers of exponents that are known: make the base a float before")
    exponent, made, square = int(known.reshape(-1)[0]), None, x
    while exponent:
        if exponent & 1:
            made = square if made is None else made * square
        exponent >>= 1
        square = square * square if exponent else square
    if made is None:
        made = (x * 0) + 1 if x.dtype != BOOL else x | ~x
    return made.expand(y.shape()) if known.ndim > x_rank(node) else made


def x_rank(node: Node) -> int:
    """Return the rank of the base."""
    return node.inputs[0].shape.rank or 0
