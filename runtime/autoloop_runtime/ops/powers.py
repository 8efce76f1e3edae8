"""Powers and roots, exponentials and logarithms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import dtypes
from ..ir.apply import apply
from ..ir.argument_types import ArrayLike
from ..ir.array_kinds import GivenElsewhere, catching, computed_elsewhere
from ..ir.numpy_protocols import UFUNC_OPERATORS
from ..ir.op import Neutral, Op, function, ruled_in
from ..ir.tensor import Tensor
from ..ir.traits import FUNCTION, Fails
from . import error_function
from .arithmetic import faster_operator, numpy_square, reciprocal
from .broadcasting import broadcast_static, unbroadcast
from .define import op_of, primitive, public, publish
from .dtype_rules import floating, of_ufunc
from .elementwise import binary, conjugated, may_lack_axes, operator_takes_loop, unary
from .logic import equal, isinf, logical_and
from .operands import promoted
from .selection import where

if TYPE_CHECKING:
    from .public_functions import Unary

__all__ = [
    "cbrt", "erf", "exp", "exp2", "expm1", "hypot", "log", "log1p", "log2", "log10", "logaddexp", "pow",
    "rsqrt", "sigmoid", "softplus", "sqrt",
]  # fmt: skip

exp = unary(
    "exp", np.exp, "np.exp({0})", lambda g, y, x: g * y, doc="``e ** x``.", numpy=np.exp, traits=FUNCTION,
    libm="exp",
    example=("al.exp([0.0, 1.0])", "Tensor([1.     2.7183], shape=(2,), dtype=float32)"),
)  # fmt: skip
expm1 = unary(
    "expm1", np.expm1, "np.expm1({0})", lambda g, y, x: g * (y + 1),
    doc="``exp(x) - 1``, precise near 0.", numpy=np.expm1, traits=FUNCTION,
    libm="expm1",
    example=("al.expm1([0.0, 1.0])", "Tensor([0.     1.7183], shape=(2,), dtype=float32)"),
)  # fmt: skip
exp2 = unary(
    "exp2", np.exp2, "np.exp2({0})", lambda g, y, x: g * y * math.log(2),
    doc="``2 ** x``.", numpy=np.exp2, traits=FUNCTION,
    libm="exp2",
    example=("al.exp2([0.0, 3.0])", "Tensor([1. 8.], shape=(2,), dtype=float32)"),
)  # fmt: skip
log = unary(
    "log", np.log, "np.log({0})", lambda g, y, x: g / x,
    doc="The natural logarithm; nan for negative real numbers.", numpy=np.log, traits=FUNCTION,
    libm="log",
    example=("al.log([1.0, 10.0])", "Tensor([0.     2.3026], shape=(2,), dtype=float32)"),
)  # fmt: skip
log1p = unary(
    "log1p", np.log1p, "np.log1p({0})", lambda g, y, x: g / (1 + x),
    doc="``log(1 + x)``, precise near 0.", numpy=np.log1p, traits=FUNCTION,
    libm="log1p",
    example=("al.log1p([0.0, 1.0])", "Tensor([0.     0.6931], shape=(2,), dtype=float32)"),
)  # fmt: skip
log2 = unary(
    "log2", np.log2, "np.log2({0})", lambda g, y, x: g / (x * math.log(2)),
    doc="The logarithm to base 2.", numpy=np.log2, traits=FUNCTION,
    libm="log2",
    example=("al.log2([1.0, 8.0])", "Tensor([0. 3.], shape=(2,), dtype=float32)"),
)  # fmt: skip
log10 = unary(
    "log10", np.log10, "np.log10({0})", lambda g, y, x: g / (x * math.log(10)),
    doc="The logarithm to base 10.", numpy=np.log10, traits=FUNCTION,
    libm="log10",
    example=("al.log10([1.0, 100.0])", "Tensor([0. 2.], shape=(2,), dtype=float32)"),
)  # fmt: skip


def _logaddexp_grad(g: Any, z: Any, x: Any, y: Any) -> Any:
    """Return the share of each operand; equal infinities, which have no difference, share, too."""
    same = logical_and(equal(x, y), isinf(x))
    gap = where(same, 0, x - y)
    return g * sigmoid(gap), g * sigmoid(-gap)


sigmoid: Unary = unary(
    "sigmoid", lambda x: 1 / (1 + np.exp(-x)), "1 / (1 + np.exp(-{0}))", lambda g, y, x: g * y * (1 - y),
    rule=of_ufunc(np.exp), doc="``1 / (1 + exp(-x))``.",
    into="np.divide(1, np.add(1, np.exp(np.negative({0}, out={out}), out={out}), out={out}), out={out})",
    traits=FUNCTION,
    llvm={"f": "fneg $t $x; ~exp $1; fadd $t $2, 1.0; fdiv $t 1.0, $3"},
    example=("al.sigmoid([0.0, 1.0])", "Tensor([0.5    0.7311], shape=(2,), dtype=float32)"),
)  # fmt: skip
logaddexp = binary(
    "logaddexp", np.logaddexp, "np.logaddexp({0}, {1})", _logaddexp_grad,
    doc="``log(exp(x) + exp(y))``, without overflow.", numpy=np.logaddexp, traits=FUNCTION,
    # the larger + log1p(exp(-gap)); equal infinities have no difference
    llvm={
        "f": "fsub $t $x, $y; ~abs $1; fcmp oeq $t $x, $y; select i1 $3, $t 0.0, $t $2; fneg $t $4; ~exp $5; "
        "~log1p $6; ~maximum $x, $y; fadd $t $8, $7",
    },
    example=("al.logaddexp([1.0], [2.0])", "Tensor([2.3133], shape=(1,), dtype=float32)"),
)  # fmt: skip
softplus = unary(
    "softplus", lambda x: np.logaddexp(x, 0), "np.logaddexp({0}, 0)", lambda g, y, x: g * sigmoid(x),
    rule=floating, doc="``log(1 + exp(x))``, without overflow.", traits=FUNCTION,
    # log(1 + exp(x)) = max(x, 0) + log1p(exp(-|x|))
    llvm={"f": "~abs $x; fneg $t $1; ~exp $2; ~log1p $3; ~relu $x; fadd $t $5, $4"},
    example=("al.softplus([0.0, 1.0])", "Tensor([0.6931 1.3133], shape=(2,), dtype=float32)"),
)  # fmt: skip
erf = unary(
    "erf", error_function.erf, None,
    lambda g, y, x: g * (2 / math.sqrt(math.pi)) * exp(-x * x),
    rule=floating, doc="The error function.", traits=FUNCTION,
    libm="erf",
    example=("al.erf([0.0, 1.0])", "Tensor([0.     0.8427], shape=(2,), dtype=float32)"),
)  # fmt: skip


def _pow_kernel(x: Any, y: Any, squared: bool = False) -> Any:
    return x**y


def _pow_into(x: Any, y: Any, out: Any) -> Any:
    """Put ``x ** y`` into ``out``, which may be one of both."""
    if np.may_share_memory(out, y) or out.dtype.kind in "biu":  # of integers it may fail
        np.copyto(out, x**y)
        return out
    if out is not x:
        np.copyto(out, x)
    out **= y  # as the operator does, which squares and takes roots where the number says so
    return out


def _pow_vjp(g: Tensor, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    x, y = inputs
    by_x, by_y = _pow_grad(g, conjugated(outputs[0]), conjugated(x), conjugated(y), attrs.get("squared", False))
    return [unbroadcast(by_x, x, outputs[0]), unbroadcast(by_y, y, outputs[0])]


def _pow_grad(g: Any, z: Any, x: Any, y: Any, squared: bool) -> Any:
    if squared:
        slope = 2 * x  # which does not move with y: only where y is a number that nobody can name
    else:
        # x ** 0 is 1 for every x: flat at 0, too, where x ** (y - 1) is infinite
        corner = logical_and(equal(x, 0), equal(y, 0))
        slope = y * x ** where(corner, 1, y - 1)
    # 0 ** y is 0 for every y above 0; of negative bases there is no logarithm
    return g * slope, g * z * log(where(equal(x, 0), 1, x))


_POWERS = of_ufunc(np.power)
POW = primitive(
    "pow", lambda x, y, squared=False: (_POWERS(x.dtype, y.dtype)[2], broadcast_static("pow", x, y)), _pow_kernel,
    _pow_vjp,
    code="{0} ** {1}", into="{by}({0}, {1}, {out})", into_by=_pow_into, traits=FUNCTION.but(fails=Fails.INTEGERS),
    neutral=Neutral(1, "iuf"),
    llvm={"iu": "@pow_i $x, $y", "f": "~libm:pow $x, $y", "c": "@power_c $x, $y"},
)  # fmt: skip
POW_IN_LOOP = primitive(
    "pow_in_loop", lambda x, y, squared=False: POW.infer(x, y), lambda x, y, squared=False: np.power(x, y), _pow_vjp,
    doc="``np.power(x, y)`` of floats without axes, see ``elementwise``.",
    code="np.power({0}, {1})", into="np.power({0}, {1}, out={out})", traits=FUNCTION,
    llvm={"f": "~libm:pow $x, $y"},
)  # fmt: skip


@public()
def pow(x: ArrayLike, y: ArrayLike, name: str | None = None) -> Tensor:
    """Return ``x ** y``. An integer to a negative integer power is a ``ValueError``.

    Parameters
    ----------
    x, y : tensor-like, broadcast together
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.pow([1, 2, 3], 2))
    Tensor([1 4 9], shape=(3,), dtype=int32)
    """
    return _power(POW, promoted("pow", _POWERS, x, y), y, name)


def _power(op: Op, inputs: list[Tensor], exponent: Any, name: str | None = None) -> Tensor:
    squared = type(exponent) in (int, float) and exponent == 2 and dtypes.is_inexact(inputs[0].dtype)
    return apply(op, inputs, {"squared": True} if squared else None, name)


def numpy_power(x: ArrayLike, y: ArrayLike, name: str | None = None) -> Tensor:
    """Return ``np.power(x, y)``."""
    inputs = promoted("pow", _POWERS, x, y)
    in_loop = inputs[0].dtype.kind == "f" and may_lack_axes(inputs)
    return _power(POW_IN_LOOP if in_loop else POW, inputs, y, name)


publish("numpy_power", numpy_power, numpy=np.power)


def _length_grad(g: Any, y: Any, x: Any) -> Any:
    tip = equal(y, 0)
    return where(tip, 0, g / (2 * where(tip, 1, y)))


def _hypot_grad(g: Any, z: Any, x: Any, y: Any) -> Any:
    """Return slopes that are flat at the tip, as those of ``abs`` are."""
    tip = equal(z, 0)
    size = where(tip, 1, z)
    return where(tip, 0, g * x / size), where(tip, 0, g * y / size)


sqrt = unary(
    "sqrt", np.sqrt, "np.sqrt({0})", lambda g, y, x: g / (2 * y),
    doc="The square root; nan for negative real numbers.", numpy=np.sqrt,
    code_of=faster_operator("fc", "{0} ** 0.5", "np.sqrt({0})"),
    llvm={"f": "call $t @llvm.sqrt.$s($t $x)", "c": "~complex:csqrt $x"},
    example=("al.sqrt([4.0, 2.0])", "Tensor([2.     1.4142], shape=(2,), dtype=float32)"),
)  # fmt: skip
length = unary(
    "length", np.sqrt, "np.sqrt({0})", _length_grad, rule=of_ufunc(np.sqrt),
    doc="The square root of a sum of squares; its slope at 0 is that of ``abs``, 0.",
    llvm={"f": "call $t @llvm.sqrt.$s($t $x)"},
)  # fmt: skip
rsqrt = unary(
    "rsqrt", lambda x: 1 / np.sqrt(x), "1 / np.sqrt({0})", lambda g, y, x: g * y / x / -2,
    rule=of_ufunc(np.sqrt), doc="``1 / sqrt(x)``.", into="np.divide(1, np.sqrt({0}, out={out}), out={out})",
    llvm={"f": "call $t @llvm.sqrt.$s($t $x); fdiv $t 1.0, $1"},
    example=("al.rsqrt([4.0, 16.0])", "Tensor([0.5  0.25], shape=(2,), dtype=float32)"),
)  # fmt: skip
cbrt = unary(
    "cbrt", np.cbrt, "np.cbrt({0})", lambda g, y, x: g / (3 * y * y),
    doc="The cube root.", numpy=np.cbrt, traits=FUNCTION,
    libm="cbrt",
    example=("al.cbrt([8.0, -27.0])", "Tensor([ 2. -3.], shape=(2,), dtype=float32)"),
)  # fmt: skip
hypot = binary(
    "hypot", np.hypot, "np.hypot({0}, {1})", _hypot_grad,
    doc="``sqrt(x**2 + y**2)``.", numpy=np.hypot, traits=FUNCTION,
    llvm={"f": "~libm:hypot $x, $y"},
    example=("al.hypot(3.0, 4.0)", "Tensor(5.0, shape=(), dtype=float32)"),
)  # fmt: skip

SQRT = op_of(sqrt)
#: what NumPy's operator computes, of arrays, for a Python number of one type: of which kinds, and by which function
_OF_OPERATOR: dict[tuple[type, float], tuple[str, Any]] = {
    (int, 2): ("biufc", numpy_square), (int, -1): ("fc", reciprocal), (float, 0.5): ("fc", sqrt),
}  # fmt: skip


@catching
def operator_pow(x: Any, y: Any) -> Tensor:
    """Return what ``x ** y`` is to NumPy, whose operator calls another function for a few numbers of Python's.

    They are faster than ``np.power``; of complex numbers they differ from it in the last bit, and of an array of
    booleans in the dtype. Scalars have an operator of their own, which calls none of them.
    """
    kinds, function_of = _OF_OPERATOR.get((type(y), y), ("", None)) if type(y) in (int, float) else ("", None)
    if function_of is None or x.dtype.kind not in kinds or _is_scalar(x):
        try:
            inputs = promoted("pow", _POWERS, x, y)
        except GivenElsewhere:
            found: Tensor = computed_elsewhere(operator_pow, x, y)
            return found
        dtype = inputs[0].dtype
        in_loop = dtype.kind == "f" and may_lack_axes(inputs) and operator_takes_loop(dtype, x, y)
        return _power(POW_IN_LOOP if in_loop else POW, inputs, y)
    made: Tensor = function_of(x)
    return made


def _is_scalar(x: Any) -> bool:
    """Return whether ``x`` is a scalar, or may be one; booleans are only where they say so."""
    rank = x.shape.rank
    if x.dtype.kind == "b":
        return bool(getattr(x, "is_scalar", False))
    return rank is None or (rank == 0 and bool(getattr(x, "is_scalar", True)))


function("operator_pow", operator_pow)
UFUNC_OPERATORS[np.power] = operator_pow
EXP = op_of(exp)
LOG = op_of(log)
CBRT = op_of(cbrt)
ERF = op_of(erf)
EXP2 = op_of(exp2)
RSQRT = op_of(rsqrt)
SIGMOID = op_of(sigmoid)
SOFTPLUS = op_of(softplus)


ruled_in("power_rules", POW, POW_IN_LOOP)
