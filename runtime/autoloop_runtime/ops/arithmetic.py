"""Sums, products, quotients and signs, element by element."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir.numpy_protocols import NUMPY_UFUNCS
from ..ir.op import Neutral
from ..ir.traits import FUNCTION, NO_GRADIENT
from . import later_rows
from .define import op_of
from .dtype_rules import of_ufunc
from .elementwise import binary, is_complex, of_complex, operator_takes_loop, unary
from .logic import equal
from .operands import cast

if TYPE_CHECKING:
    from .public_functions import Binary

__all__ = [
    "abs", "add", "copysign", "divide", "floor_divide", "mod", "multiply", "negative", "reciprocal", "sign",
    "square", "subtract",
]  # fmt: skip

add = binary(
    "add", operator.add, "{0} + {1}", lambda g, z, x, y: (g, g),
    doc="``x + y``; of booleans, whether either is true.", numpy=np.add,
    neutral=Neutral(0, "biuf", swaps=True, negative_zero=True),
    numbers=True,
    llvm={"b": "or $t $x, $y", "iu": "add $t $x, $y", "f": "fadd $t $x, $y", "c": "@add_c $x, $y"},
    example=("al.add([1, 2], 3)", "Tensor([4 5], shape=(2,), dtype=int32)"),
)  # fmt: skip
subtract = binary(
    "subtract", operator.sub, "{0} - {1}", lambda g, z, x, y: (g, -g), doc="``x - y``.", numpy=np.subtract,
    aliases=("sub",),
    neutral=Neutral(0, "iuf", negative_zero=False),
    numbers=True,
    llvm={"iu": "sub $t $x, $y", "f": "fsub $t $x, $y", "c": "@subtract_c $x, $y"},
    example=("al.subtract([5, 6], 1)", "Tensor([4 5], shape=(2,), dtype=int32)"),
)  # fmt: skip
multiply = binary(
    "multiply", operator.mul, "{0} * {1}", lambda g, z, x, y: (g * y, g * x),
    doc="``x * y``; of booleans, whether both are true.", numpy=np.multiply, aliases=("mul",),
    neutral=Neutral(1, swaps=True),
    numbers=True,
    llvm={"b": "and $t $x, $y", "iu": "mul $t $x, $y", "f": "fmul $t $x, $y", "c": "@multiply_c $x, $y",
          "v": "@multiply_in_arrays_c $x, $y"},
    example=("al.multiply([1, 2], 3)", "Tensor([3 6], shape=(2,), dtype=int32)"),
)  # fmt: skip
divide = binary(
    "divide", operator.truediv, "{0} / {1}", lambda g, z, x, y: (g / y, -g * z / y),
    doc="``x / y``; integers are divided as floats.",
    numpy=(np.divide, np.true_divide), aliases=("div", "truediv"),
    neutral=Neutral(1, "f"),
    llvm={"f": "fdiv $t $x, $y", "c": "@divide_c $x, $y"},
    example=("al.divide(7, 2)", "Tensor(3.5, shape=(), dtype=float64)"),
)  # fmt: skip
floor_divide = binary(
    "floor_divide", operator.floordiv, "{0} // {1}", NO_GRADIENT,
    doc="``x // y``, rounded down; an integer divided by zero gives 0.",
    numpy=np.floor_divide, aliases=("floordiv",), traits=FUNCTION,
    neutral=Neutral(1, "iu"),
    numbers=True,
    llvm={"i": "@floordiv_i $x, $y", "u": "@floordiv_u $x, $y", "f": "@floordiv_f $x, $y"},
    example=("al.floor_divide([7, -7], 2)", "Tensor([ 3 -4], shape=(2,), dtype=int32)"),
)  # fmt: skip
mod = binary(
    "mod", operator.mod, "{0} % {1}", lambda g, z, x, y: (g, -g * later_rows.floor(x / y)),
    doc="``x % y`` with the sign of ``y``; an integer modulo zero gives 0.",
    numpy=(np.mod, np.remainder), aliases=("floormod", "remainder"), traits=FUNCTION,
    example=("al.mod([7, -7], 3)", "Tensor([1 2], shape=(2,), dtype=int32)"),
    numbers=True,
    llvm={"i": "@mod_i $x, $y", "u": "@mod_u $x, $y", "f": "@mod_f $x, $y"},
)  # fmt: skip
negative = unary(
    "negative", operator.neg, "-{0}", lambda g, y, x: -g, doc="``-x``.", numpy=np.negative, aliases=("neg",),
    undoes_itself=True,
    llvm={"iu": "sub $t 0, $x", "f": "fneg $t $x", "c": "@negative_c $x"},
    example=("al.negative([1, -2])", "Tensor([-1  2], shape=(2,), dtype=int32)"),
)  # fmt: skip


def faster_operator(kinds: str, power: str, other: str) -> Callable[[Any], str]:
    """Return what writes a power, of arrays of some kinds: NumPy's operator calls the function, at less cost.

    That of scalars does not.
    """
    return lambda node: power if node.inputs[0].dtype.kind in kinds and node.inputs[0].shape.rank else other


reciprocal = unary(
    "reciprocal", np.reciprocal, "np.reciprocal({0})", lambda g, y, x: -g * y * y,
    doc="``1 / x``, of integers rounded towards zero.", numpy=np.reciprocal,
    code_of=faster_operator("fc", "{0} ** -1", "np.reciprocal({0})"),
    llvm={"f": "fdiv $t 1.0, $x"},
    example=("al.reciprocal([2.0, 4.0])", "Tensor([0.5  0.25], shape=(2,), dtype=float32)"),
)  # fmt: skip
square = unary(
    "square", np.square, "np.square({0})", lambda g, y, x: g * (2 * x),
    doc="``x * x``.", numpy=np.square, scalar={"f": "{0} * {0}"},
    code_of=faster_operator("iufc", "{0} ** 2", "np.square({0})"),
    llvm={"iu": "mul $t $x, $x", "f": "fmul $t $x, $x", "c": "@multiply_c $x, $x",
          "v": "@multiply_in_arrays_c $x, $x"},
    example=("al.square([2, 3])", "Tensor([4 9], shape=(2,), dtype=int32)"),
)  # fmt: skip


def _sign_grad(g: Any, y: Any, x: Any) -> Any:
    """Return zeros for real numbers; a complex ``x / abs(x)`` turns with ``x``:
    what of ``g`` lies along ``y`` is lost."""
    if x.dtype.kind != "c":
        return later_rows.zeros_like(g)
    size = abs(x)
    along = later_rows.real(g * later_rows.conj(y))
    return later_rows.where(
        equal(size, 0), 0, (g - y * cast(along, g.dtype)) / cast(later_rows.where(size > 0, size, 1), g.dtype)
    )


sign = unary(
    "sign", np.sign, "np.sign({0})", _sign_grad, holomorphic=False,
    doc="-1, 0 or 1 with the sign of ``x``; ``x / abs(x)`` for complex numbers.", numpy=np.sign,
    llvm={"i": "@sign_i $x", "u": "icmp ne $t $x, 0; zext i1 $1 to $t", "f": "@sign_f $x"},
    example=("al.sign([-3, 0, 2])", "Tensor([-1  0  1], shape=(3,), dtype=int32)"),
)  # fmt: skip


def _abs_grad(g: Any, y: Any, x: Any) -> Any:
    return cast(g, x.dtype) * sign(x) if x.dtype.kind == "c" else g * sign(x)


abs = unary(
    "abs", operator.abs, "abs({0})", _abs_grad, holomorphic=False,
    doc="The absolute value; real for complex numbers.", numpy=np.absolute,
    llvm={
        "bu": "=$x", "i": "call $t @llvm.abs.$s($t $x, i1 false)", "f": "call $t @llvm.fabs.$s($t $x)",
        "c": "extractelement $t $x, i32 0; extractelement $t $x, i32 1; ~libm:hypot $1, $2",
        "v": "@length_c $x; extractelement $t $1, i32 0",
    },
    example=("al.abs([-2, 3])", "Tensor([2 3], shape=(2,), dtype=int32)"),
)  # fmt: skip
copysign: Binary = binary(
    "copysign", np.copysign, "np.copysign({0}, {1})",
    lambda g, z, x, y: (g * copysign(1.0, x) * copysign(1.0, y), None),
    doc="``x`` with the sign of ``y``.", numpy=np.copysign,
    llvm={"f": "call $t @llvm.copysign.$s($t $x, $t $y)"},
    example=("al.copysign([1.0, 2.0], [-1.0, 1.0])", "Tensor([-1.  2.], shape=(2,), dtype=float32)"),
)  # fmt: skip

#: what the loops of ufuncs make of complex numbers without axes, see ``elementwise``
_multiply_in_loop = binary(
    "multiply_in_loop", np.multiply, "np.multiply({0}, {1})", lambda g, z, x, y: (g * y, g * x),
    rule=of_ufunc(np.multiply), doc="``np.multiply(x, y)``.",
    llvm={"c": "@multiply_in_arrays_c $x, $y"},
)  # fmt: skip
_abs_in_loop = unary(
    "abs_in_loop", np.absolute, "np.absolute({0})", _abs_grad, holomorphic=False,
    rule=of_ufunc(np.absolute), doc="``np.absolute(x)``.",
    llvm={"c": "@length_c $x; extractelement $t $1, i32 0"},
)  # fmt: skip

ABS = op_of(abs)
ADD = op_of(add)
SUBTRACT = op_of(subtract)
MULTIPLY = op_of(multiply)
DIVIDE = op_of(divide)
FLOOR_DIVIDE = op_of(floor_divide)
MOD = op_of(mod)
SQUARE = op_of(square)
NEGATIVE = op_of(negative)
RECIPROCAL = op_of(reciprocal)


def numpy_square(x: Any) -> Any:
    """Return ``np.square(x)``, which of a scalar is the operator's square, of an array without axes that of a loop."""
    in_loop = is_complex(x) and x.shape.rank == 0 and operator_takes_loop(x.dtype, x)
    return _multiply_in_loop(x, x) if in_loop else square(x)


NUMPY_UFUNCS[np.square] = numpy_square
for _f, _loop, _ufunc in ((multiply, _multiply_in_loop, np.multiply), (abs, _abs_in_loop, np.absolute)):
    NUMPY_UFUNCS[_ufunc] = of_complex(_f, op_of(_loop), _ufunc)
