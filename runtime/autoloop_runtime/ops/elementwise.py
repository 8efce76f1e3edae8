"""Arithmetic and mathematical functions, element by element."""

from __future__ import annotations

import math as _math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import dtypes
from ..ir.apply import apply
from ..ir.convert import as_constant, convert_to_tensor
from ..ir.op import Neutral, call
from ..ir.tensor import Tensor
from ..ir.traits import ELEMENTS, FUNCTION, NO_GRADIENT, PASSING, VIEWING, Fails
from . import error_function
from .define import (
    Function,
    arithmetic,
    as_dtype,
    binary,
    broadcast_static,
    conjugated,
    floating,
    inexact,
    numeric,
    op_of,
    operands,
    ordered,
    primitive,
    public,
    real_arithmetic,
    unary,
    unbroadcast,
)

# -- casts and selection ----------------------------------------------------------------------------------


def _cast_kernel(x: Any, dtype: Any) -> Any:
    if x.dtype.kind == "c" and dtype.kind != "c":
        x = x.real
    return x.astype(dtype)


def _cast_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    source = inputs[0].dtype
    return [cast(g, source) if dtypes.is_inexact(source) and dtypes.is_inexact(g.dtype) else None]


CAST = primitive("cast", lambda x, dtype: (dtype, x.shape), _cast_kernel, _cast_vjp, traits=ELEMENTS)


@public(numpy=getattr(np, "astype", None))
def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """Return ``x`` with its elements converted to ``dtype``.

    Floats are truncated towards zero on the way to integers; integers that do not fit wrap; a complex number
    loses its imaginary part on the way to a real one.

    Parameters
    ----------
    x : tensor-like
    dtype : dtype-like
    name : str, optional
    """
    x, dtype = convert_to_tensor(x), dtypes.as_dtype(dtype)
    return x if x.dtype == dtype else apply(CAST, [x], {"dtype": dtype}, name)


def _where_kernel(condition: Any, x: Any, y: Any) -> Any:
    out: Any = np.where(condition, x, y)
    return out[()]


def _where_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    condition, x, y = inputs
    return [None, unbroadcast(where(condition, g, 0), x), unbroadcast(where(condition, 0, g), y)]


WHERE = primitive(
    "where",
    lambda condition, x, y: (x.dtype, broadcast_static("where", condition, x, y)),
    _where_kernel,
    _where_vjp,
    code="np.where({0}, {1}, {2})[()]",
    scalar={"biufc": "{1} if {0} else {2}"},
    traits=ELEMENTS,
)


@public()
def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """Return elements of ``x`` where ``condition`` is true, of ``y`` elsewhere; all three broadcast.

    Without ``x`` and ``y``: the indices of the true elements, of shape (number, rank) and dtype int64.

    Parameters
    ----------
    condition : tensor-like
        Numbers count as true where they are not zero.
    x, y : tensor-like, optional
    name : str, optional
    """
    condition = as_dtype(convert_to_tensor(condition), dtypes.bool_)
    if x is None and y is None:
        return call("argwhere", condition, name=name)
    if x is None or y is None:
        raise ValueError("where: give both x and y, or neither")
    return apply(WHERE, [condition, *operands("where", x, y)], None, name)


# -- arithmetic -------------------------------------------------------------------------------------------

add = binary(
    "add", operator.add, "{0} + {1}", lambda g, z, x, y: (g, g),
    rule=numeric, doc="``x + y``.", numpy=np.add,
    neutral=Neutral(0, "biuf", swaps=True, negative_zero=True),
    llvm={"b": "or $t $x, $y", "iu": "add $t $x, $y", "f": "fadd $t $x, $y"},
)  # fmt: skip
subtract = binary(
    "subtract", operator.sub, "{0} - {1}", lambda g, z, x, y: (g, -g), doc="``x - y``.", numpy=np.subtract,
    neutral=Neutral(0, "iuf", negative_zero=False),
    llvm={"iu": "sub $t $x, $y", "f": "fsub $t $x, $y"},
)  # fmt: skip
multiply = binary(
    "multiply", operator.mul, "{0} * {1}", lambda g, z, x, y: (g * y, g * x),
    rule=numeric, doc="``x * y``.", numpy=np.multiply,
    neutral=Neutral(1, swaps=True),
    llvm={"b": "and $t $x, $y", "iu": "mul $t $x, $y", "f": "fmul $t $x, $y"},
)  # fmt: skip
divide = binary(
    "divide", operator.truediv, "{0} / {1}", lambda g, z, x, y: (g / y, -g * z / y),
    rule=inexact, doc="``x / y``; integers are divided as floats (``dtypes.division``).",
    numpy=(np.divide, np.true_divide),
    neutral=Neutral(1, "f"),
    llvm={"f": "fdiv $t $x, $y"},
)  # fmt: skip
floor_divide = binary(
    "floor_divide", operator.floordiv, "{0} // {1}", NO_GRADIENT,
    rule=real_arithmetic, doc="``x // y``, rounded down; an integer divided by zero gives 0.",
    numpy=np.floor_divide, traits=FUNCTION,
    neutral=Neutral(1, "iu"),
    llvm={"i": "@floordiv_i $x, $y", "u": "@floordiv_u $x, $y", "f": "@floordiv_f $x, $y"},
)  # fmt: skip
mod = binary(
    "mod", operator.mod, "{0} % {1}", lambda g, z, x, y: (g, -g * floor(x / y)),
    rule=real_arithmetic, doc="``x % y`` with the sign of ``y``; an integer modulo zero gives 0.",
    numpy=(np.mod, np.remainder), traits=FUNCTION,
    llvm={"i": "@mod_i $x, $y", "u": "@mod_u $x, $y", "f": "@mod_f $x, $y"},
)  # fmt: skip


def _pow_kernel(x: Any, y: Any, squared: bool = False) -> Any:
    return x**y


def _pow_vjp(g: Tensor, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    x, y = inputs
    by_x, by_y = _pow_grad(g, conjugated(outputs[0]), conjugated(x), conjugated(y), attrs.get("squared", False))
    return [unbroadcast(by_x, x), unbroadcast(by_y, y)]


def _pow_grad(g: Any, z: Any, x: Any, y: Any, squared: bool) -> Any:
    if squared:
        slope = 2 * x  # which does not move with y: only where y is a number that nobody can name
    else:
        # x ** 0 is 1 for every x: flat at 0, too, where x ** (y - 1) is infinite
        corner = call("logical_and", call("equal", x, 0), call("equal", y, 0))
        slope = y * x ** where(corner, 1, y - 1)
    # 0 ** y is 0 for every y above 0; of negative bases there is no logarithm
    return g * slope, g * z * log(where(call("equal", x, 0), 1, x))


POW = primitive(
    "pow", lambda x, y, squared=False: (arithmetic(x.dtype)[1], broadcast_static("pow", x, y)), _pow_kernel, _pow_vjp,
    code="{0} ** {1}", traits=FUNCTION.but(fails=Fails.INTEGERS),
    neutral=Neutral(1, "iuf"),
    llvm={"iu": "@pow_i $x, $y", "f": "~libm:pow $x, $y"},
)  # fmt: skip


@public(numpy=np.power)
def pow(x: Any, y: Any, name: str | None = None) -> Any:
    """Return ``x ** y``. An integer to a negative integer power is a ``ValueError``.

    Parameters
    ----------
    x, y : tensor-like, broadcast together
    name : str, optional
    """
    number = y if type(y) in (int, float) else None
    x, y = operands("pow", x, y)
    try:
        dtype = arithmetic(x.dtype)[0]
    except TypeError as error:
        raise TypeError(f"pow: {error}") from None
    attrs = {"squared": True} if number == 2 and dtypes.is_inexact(dtype) else None
    return apply(POW, [as_dtype(x, dtype), as_dtype(y, dtype)], attrs, name)


def _larger_grad(g: Any, z: Any, x: Any, y: Any) -> Any:
    """Let equal operands share; where one is nan neither has a slope."""
    tie = call("equal", x, y)
    return where(tie, g / 2, where(x > y, g, 0)), where(tie, g / 2, where(x < y, g, 0))


def _smaller_grad(g: Any, z: Any, x: Any, y: Any) -> Any:
    return _larger_grad(g, z, y, x)


def _hypot_grad(g: Any, z: Any, x: Any, y: Any) -> Any:
    """Return slopes that are flat at the tip, as those of ``abs`` are."""
    tip = call("equal", z, 0)
    size = where(tip, 1, z)
    return where(tip, 0, g * x / size), where(tip, 0, g * y / size)


def _length_grad(g: Any, y: Any, x: Any) -> Any:
    tip = call("equal", y, 0)
    return where(tip, 0, g / (2 * where(tip, 1, y)))


def _logaddexp_grad(g: Any, z: Any, x: Any, y: Any) -> Any:
    """Return the share of each operand; equal infinities, which have no difference, share, too."""
    same = call("logical_and", call("equal", x, y), call("isinf", x))
    gap = where(same, 0, x - y)
    return g * sigmoid(gap), g * sigmoid(-gap)


def _sign_grad(g: Any, y: Any, x: Any) -> Any:
    """Return zeros for real numbers; a complex ``x / abs(x)`` turns with ``x``:
    what of ``g`` lies along ``y`` is lost."""
    if x.dtype.kind != "c":
        return zeros_of(g)
    size = call("abs", x)
    along = call("real", g * call("conj", y))
    return where(call("equal", size, 0), 0, (g - y * cast(along, g.dtype)) / cast(where(size > 0, size, 1), g.dtype))


# fmt: off
maximum = binary(
    "maximum", np.maximum, "np.maximum({0}, {1})",
    _larger_grad, rule=ordered, doc="The larger of ``x`` and ``y``; nan if either is.", numpy=np.maximum,
    scalar={"biu": "max({0}, {1})"},
    # of 0.0 and -0.0, which are equal, NumPy's loop over half precision gives the first, and those over other floats
    # give the second
    llvm={
        "b": "or $t $x, $y",
        "i": "call $t @llvm.smax.$s($t $x, $t $y)",
        "u": "call $t @llvm.umax.$s($t $x, $t $y)",
        "f": "@max_f $x, $y",
        "h": "@first_max_f $x, $y",
    },
)
minimum = binary(
    "minimum", np.minimum, "np.minimum({0}, {1})",
    _smaller_grad, rule=ordered, doc="The smaller of ``x`` and ``y``; nan if either is.", numpy=np.minimum,
    scalar={"biu": "min({0}, {1})"},
    llvm={
        "b": "and $t $x, $y",
        "i": "call $t @llvm.smin.$s($t $x, $t $y)",
        "u": "call $t @llvm.umin.$s($t $x, $t $y)",
        "f": "@min_f $x, $y",
        "h": "@first_min_f $x, $y",
    },
)
arctan2 = binary(
    "arctan2", np.arctan2, "np.arctan2({0}, {1})",
    lambda g, z, x, y: (g * y / (x * x + y * y), -g * x / (x * x + y * y)),
    rule=floating, doc="The angle whose tangent is ``x / y``, in the right quadrant.", numpy=np.arctan2,
    traits=FUNCTION,
    llvm={"f": "~libm:atan2 $x, $y"},
)
hypot = binary(
    "hypot", np.hypot, "np.hypot({0}, {1})", _hypot_grad,
    rule=floating, doc="``sqrt(x**2 + y**2)``.", numpy=np.hypot, traits=FUNCTION,
    llvm={"f": "~libm:hypot $x, $y"},
)
logaddexp = binary(
    "logaddexp", np.logaddexp, "np.logaddexp({0}, {1})", _logaddexp_grad,
    rule=floating, doc="``log(exp(x) + exp(y))``, without overflow.", numpy=np.logaddexp, traits=FUNCTION,
    # the larger + log1p(exp(-gap)); equal infinities have no difference
    llvm={
        "f": "fsub $t $x, $y; ~abs $1; fcmp oeq $t $x, $y; select i1 $3, $t 0.0, $t $2; fneg $t $4; ~exp $5; "
        "~log1p $6; ~maximum $x, $y; fadd $t $8, $7",
    },
)
copysign: Function = binary(
    "copysign", np.copysign, "np.copysign({0}, {1})",
    lambda g, z, x, y: (g * copysign(1.0, x) * copysign(1.0, y), None),
    rule=floating, doc="``x`` with the sign of ``y``.", numpy=np.copysign,
    llvm={"f": "call $t @llvm.copysign.$s($t $x, $t $y)"},
)
negative = unary(
    "negative", operator.neg, "-{0}", lambda g, y, x: -g, doc="``-x``.", numpy=np.negative,
    undoes_itself=True,
    llvm={"iu": "sub $t 0, $x", "f": "fneg $t $x"},
)
sign = unary(
    "sign", np.sign, "np.sign({0})", _sign_grad, holomorphic=False,
    doc="-1, 0 or 1 with the sign of ``x``; ``x / abs(x)`` for complex numbers.", numpy=np.sign,
    llvm={"i": "@sign_i $x", "u": "icmp ne $t $x, 0; zext i1 $1 to $t", "f": "@sign_f $x"},
)
reciprocal = unary(
    "reciprocal", lambda x: 1 / x, "1 / {0}", lambda g, y, x: -g * y * y,
    rule=inexact, doc="``1 / x``.", numpy=np.reciprocal, into="np.divide(1, {0}, out={out})",
    llvm={"f": "fdiv $t 1.0, $x"},
)
square = unary(
    "square", lambda x: x * x, "{0} * {0}", lambda g, y, x: g * (2 * x),
    doc="``x * x``.", numpy=np.square, into="np.multiply({0}, {0}, out={out})",
    llvm={"iu": "mul $t $x, $x", "f": "fmul $t $x, $x"},
)
# fmt: on


def zeros_of(g: Tensor) -> Any:
    """Return zeros like ``g``: the gradient of a function that is flat wherever it has one."""
    return call("zeros_like", g)


def _abs_grad(g: Any, y: Any, x: Any) -> Any:
    return cast(g, x.dtype) * sign(x) if x.dtype.kind == "c" else g * sign(x)


def _abs_rule(dtype: Any) -> Any:
    return numeric(dtype)[0], dtypes.real_of(dtype)


# fmt: off
abs = unary(
    "abs", operator.abs, "abs({0})", _abs_grad, rule=_abs_rule, holomorphic=False,
    doc="The absolute value; real for complex numbers.", numpy=(np.abs, np.fabs),
    llvm={"bu": "=$x", "i": "call $t @llvm.abs.$s($t $x, i1 false)", "f": "call $t @llvm.fabs.$s($t $x)"},
)
sqrt = unary(
    "sqrt", np.sqrt, "np.sqrt({0})", lambda g, y, x: g / (2 * y),
    rule=inexact, doc="The square root; nan for negative real numbers.", numpy=np.sqrt,
    llvm={"f": "call $t @llvm.sqrt.$s($t $x)"},
)
length = unary(
    "length", np.sqrt, "np.sqrt({0})", _length_grad, rule=inexact,
    doc="The square root of a sum of squares; its slope at 0 is that of ``abs``, 0.",
    llvm={"f": "call $t @llvm.sqrt.$s($t $x)"},
)
rsqrt = unary(
    "rsqrt", lambda x: 1 / np.sqrt(x), "1 / np.sqrt({0})", lambda g, y, x: g * y / x / -2,
    rule=inexact, doc="``1 / sqrt(x)``.", into="np.divide(1, np.sqrt({0}, out={out}), out={out})",
    llvm={"f": "call $t @llvm.sqrt.$s($t $x); fdiv $t 1.0, $1"},
)
cbrt = unary(
    "cbrt", np.cbrt, "np.cbrt({0})", lambda g, y, x: g / (3 * y * y),
    rule=floating, doc="The cube root.", numpy=np.cbrt, traits=FUNCTION,
    libm="cbrt",
)
exp = unary(
    "exp", np.exp, "np.exp({0})", lambda g, y, x: g * y, rule=inexact, doc="``e ** x``.", numpy=np.exp, traits=FUNCTION,
    libm="exp",
)
expm1 = unary(
    "expm1", np.expm1, "np.expm1({0})", lambda g, y, x: g * (y + 1),
    rule=inexact, doc="``exp(x) - 1``, precise near 0.", numpy=np.expm1, traits=FUNCTION,
    libm="expm1",
)
exp2 = unary(
    "exp2", np.exp2, "np.exp2({0})", lambda g, y, x: g * y * _math.log(2),
    rule=inexact, doc="``2 ** x``.", numpy=np.exp2, traits=FUNCTION,
    libm="exp2",
)
log = unary(
    "log", np.log, "np.log({0})", lambda g, y, x: g / x,
    rule=inexact, doc="The natural logarithm; nan for negative real numbers.", numpy=np.log, traits=FUNCTION,
    libm="log",
)
log1p = unary(
    "log1p", np.log1p, "np.log1p({0})", lambda g, y, x: g / (1 + x),
    rule=inexact, doc="``log(1 + x)``, precise near 0.", numpy=np.log1p, traits=FUNCTION,
    libm="log1p",
)
log2 = unary(
    "log2", np.log2, "np.log2({0})", lambda g, y, x: g / (x * _math.log(2)),
    rule=inexact, doc="The logarithm to base 2.", numpy=np.log2, traits=FUNCTION,
    libm="log2",
)
log10 = unary(
    "log10", np.log10, "np.log10({0})", lambda g, y, x: g / (x * _math.log(10)),
    rule=inexact, doc="The logarithm to base 10.", numpy=np.log10, traits=FUNCTION,
    libm="log10",
)
sin = unary(
    "sin", np.sin, "np.sin({0})", lambda g, y, x: g * cos(x), rule=inexact, doc="The sine.", numpy=np.sin,
    traits=FUNCTION,
    libm="sin",
)
cos: Function = unary(
    "cos", np.cos, "np.cos({0})", lambda g, y, x: -g * sin(x),
    rule=inexact, doc="The cosine.", numpy=np.cos, traits=FUNCTION,
    libm="cos",
)
tan = unary(
    "tan", np.tan, "np.tan({0})", lambda g, y, x: g * (1 + y * y),
    rule=inexact, doc="The tangent.", numpy=np.tan, traits=FUNCTION,
    libm="tan",
)
arcsin = unary(
    "arcsin", np.arcsin, "np.arcsin({0})", lambda g, y, x: g / sqrt(1 - x * x),
    rule=inexact, doc="The angle whose sine is ``x``.", numpy=np.arcsin, traits=FUNCTION,
    libm="asin",
)
arccos = unary(
    "arccos", np.arccos, "np.arccos({0})", lambda g, y, x: -g / sqrt(1 - x * x),
    rule=inexact, doc="The angle whose cosine is ``x``.", numpy=np.arccos, traits=FUNCTION,
    libm="acos",
)
arctan = unary(
    "arctan", np.arctan, "np.arctan({0})", lambda g, y, x: g / (1 + x * x),
    rule=inexact, doc="The angle whose tangent is ``x``.", numpy=np.arctan, traits=FUNCTION,
    libm="atan",
)
sinh = unary(
    "sinh", np.sinh, "np.sinh({0})", lambda g, y, x: g * cosh(x),
    rule=inexact, doc="The hyperbolic sine.", numpy=np.sinh, traits=FUNCTION,
    libm="sinh",
)
cosh: Function = unary(
    "cosh", np.cosh, "np.cosh({0})", lambda g, y, x: g * sinh(x),
    rule=inexact, doc="The hyperbolic cosine.", numpy=np.cosh, traits=FUNCTION,
    libm="cosh",
)
tanh = unary(
    "tanh", np.tanh, "np.tanh({0})", lambda g, y, x: g * (1 - y * y),
    rule=inexact, doc="The hyperbolic tangent.", numpy=np.tanh, traits=FUNCTION,
    libm="tanh",
)
arcsinh = unary(
    "arcsinh", np.arcsinh, "np.arcsinh({0})", lambda g, y, x: g / sqrt(x * x + 1),
    rule=inexact, doc="The inverse of ``sinh``.", numpy=np.arcsinh, traits=FUNCTION,
    libm="asinh",
)
arccosh = unary(
    "arccosh", np.arccosh, "np.arccosh({0})", lambda g, y, x: g / sqrt(x * x - 1),
    rule=inexact, doc="The inverse of ``cosh``.", numpy=np.arccosh, traits=FUNCTION,
    libm="acosh",
)
arctanh = unary(
    "arctanh", np.arctanh, "np.arctanh({0})", lambda g, y, x: g / (1 - x * x),
    rule=inexact, doc="The inverse of ``tanh``.", numpy=np.arctanh, traits=FUNCTION,
    libm="atanh",
)
sigmoid: Function = unary(
    "sigmoid", lambda x: 1 / (1 + np.exp(-x)), "1 / (1 + np.exp(-{0}))", lambda g, y, x: g * y * (1 - y),
    rule=inexact, doc="``1 / (1 + exp(-x))``.",
    into="np.divide(1, np.add(1, np.exp(np.negative({0}, out={out}), out={out}), out={out}), out={out})",
    traits=FUNCTION,
    llvm={"f": "fneg $t $x; ~exp $1; fadd $t $2, 1.0; fdiv $t 1.0, $3"},
)
relu = unary(
    "relu", lambda x: np.maximum(x, 0), "np.maximum({0}, 0)", lambda g, y, x: where(x > 0, g, 0),
    rule=real_arithmetic, doc="``maximum(x, 0)``.", into="np.maximum({0}, 0, out={out})",
    llvm={"i": "~maximum $x, 0", "u": "=$x", "f": "@max_f $x, 0.0", "h": "@first_max_f $x, 0.0"},
)
softplus = unary(
    "softplus", lambda x: np.logaddexp(x, 0), "np.logaddexp({0}, 0)", lambda g, y, x: g * sigmoid(x),
    rule=floating, doc="``log(1 + exp(x))``, without overflow.", traits=FUNCTION,
    # log(1 + exp(x)) = max(x, 0) + log1p(exp(-|x|))
    llvm={"f": "~abs $x; fneg $t $1; ~exp $2; ~log1p $3; ~relu $x; fadd $t $5, $4"},
)
# fmt: on

erf = unary(
    "erf", error_function.erf, None,
    lambda g, y, x: g * (2 / _math.sqrt(_math.pi)) * exp(-x * x),
    rule=floating, doc="The error function.", traits=FUNCTION,
    libm="erf",
)  # fmt: skip


# -- rounding: integers are their own -------------------------------------------------------------------------


def _rounding(name: str, kernel: Any, doc: str) -> Any:
    rounded = unary(
        name, kernel, f"np.{kernel.__name__}({{0}})", lambda g, y, x: zeros_of(g), rule=floating, doc=doc,
        llvm={"f": f"call $t @llvm.{name}.$s($t $x)"},
    )  # fmt: skip

    @public(name=name, numpy=kernel)
    def f(x: Any, name: str | None = None) -> Any:
        x = convert_to_tensor(x)
        return x if x.dtype.kind in "biu" else rounded(x, name)

    f.__doc__ = rounded.__doc__
    return f


floor: Function = _rounding("floor", np.floor, "The largest integer not above ``x``.")
ceil = _rounding("ceil", np.ceil, "The smallest integer not below ``x``.")
trunc = _rounding("trunc", np.trunc, "``x`` rounded towards zero.")
rint = _rounding("rint", np.rint, "The nearest integer, halves to even.")


@public(numpy=np.round)
def round(x: Any, decimals: int = 0, name: str | None = None) -> Any:
    """Return ``x`` rounded to ``decimals`` places, halves to even.

    Parameters
    ----------
    x : tensor-like
    decimals : int
        May be negative, for tens and hundreds.
    name : str, optional
    """
    x = convert_to_tensor(x)
    if x.dtype.kind in "biu":
        return x if decimals >= 0 else cast(round(cast(x, dtypes.float64), decimals), x.dtype)
    if decimals == 0:
        return rint(x, name)
    scale = 10.0 ** operator.abs(decimals)
    return rint(x * scale, name) / scale if decimals > 0 else rint(x / scale, name) * scale


@public(numpy=np.clip)
def clip(x: Any, min: Any = None, max: Any = None, name: str | None = None) -> Any:
    """Return ``x`` with its values limited to ``[min, max]``; either bound may be ``None``.

    Parameters
    ----------
    x : tensor-like
    min, max : tensor-like or None
    name : str, optional
    """
    x = convert_to_tensor(x)
    if min is None or max is None:
        x = x if min is None else maximum(x, min)
        return x if max is None else minimum(x, max, name)
    numbers = convert_to_tensor(min).shape.rank == 0 == convert_to_tensor(max).shape.rank
    return _within(minimum, _within(maximum, x, min, numbers), max, numbers, name)


def _within(limit: Function, x: Tensor, bound: Any, is_number: bool, name: str | None = None) -> Any:
    """Return ``limit`` of ``x`` and one of two bounds: where they are equal ``x`` stays if both bounds are numbers.

    So it is in NumPy; 0.0 and -0.0 show it. Of equal operands maximum and minimum give the second, and the first of
    half precision.
    """
    x, bound = operands("clip", x, bound)
    exchanged = is_number and x.dtype.kind == "f" and x.dtype != dtypes.float16
    return limit(bound, x, name) if exchanged else limit(x, bound, name)


# -- complex numbers --------------------------------------------------------------------------------------


def _part_rule(dtype: Any) -> Any:
    return dtype, dtypes.real_of(dtype)


_complex_real = unary(
    "real", lambda x: x.real, "{0}.real", lambda g, y, x: cast(g, x.dtype),
    rule=_part_rule, doc="The real part.", holomorphic=False, traits=PASSING,
)  # fmt: skip
_complex_imag = unary(
    "imag", lambda x: x.imag, "{0}.imag", lambda g, y, x: cast(g, x.dtype) * 1j,
    rule=_part_rule, doc="The imaginary part.", holomorphic=False, traits=PASSING,
)  # fmt: skip
_complex_conj = unary(
    "conj", np.conjugate, "np.conjugate({0})", lambda g, y, x: conj(g),
    rule=numeric, doc="The complex conjugate.", holomorphic=False,
)  # fmt: skip


def _part(name: str, of_complex: Any, of_real: Any, numpy: Any) -> Any:
    @public(name=name, numpy=numpy)
    def f(x: Any, name: str | None = None) -> Any:
        x = convert_to_tensor(x)
        return of_complex(x, name) if x.dtype.kind == "c" else of_real(x)

    f.__doc__ = of_complex.__doc__
    return f


real = _part("real", _complex_real, lambda x: x, np.real)
imag = _part("imag", _complex_imag, zeros_of, np.imag)
conj: Function = _part("conj", _complex_conj, lambda x: x, (np.conj, np.conjugate))


@public(numpy=np.angle)
def angle(x: Any, name: str | None = None) -> Any:
    """Return the angle of complex numbers in the plane, in radians.

    Parameters
    ----------
    x : tensor-like
    name : str, optional
    """
    x = convert_to_tensor(x)
    return arctan2(imag(x), real(x), name)


def _complex_infer(re: Tensor, im: Tensor) -> Any:
    return dtypes.complex_of(re.dtype), broadcast_static("complex", re, im)


def _complex_kernel(re: Any, im: Any) -> Any:
    out = np.empty(np.broadcast_shapes(re.shape, im.shape), dtypes.complex_of(re.dtype))
    out.real, out.imag = re, im
    return out[()]


COMPLEX = primitive(
    "complex", _complex_infer, _complex_kernel,
    lambda g, outputs, inputs, attrs: [unbroadcast(real(g), inputs[0]), unbroadcast(imag(g), inputs[1])],
    traits=ELEMENTS,
)  # fmt: skip


@public()
def complex(real: Any, imag: Any, name: str | None = None) -> Any:
    """Return complex numbers from their parts.

    Parameters
    ----------
    real, imag : tensor-like, broadcast together
    name : str, optional
    """
    parts = operands("complex", real, imag)
    dtype = floating(parts[0].dtype)[0]
    return apply(COMPLEX, [as_dtype(p, dtype) for p in parts], None, name)


# -- identities -------------------------------------------------------------------------------------------

IDENTITY = primitive(
    "identity",
    lambda x: (x.dtype, x.shape),
    lambda x: x,
    lambda g, outputs, inputs, attrs: [g],
    code="{0}",
    traits=PASSING,
    llvm={"biufp": "=$x"},
)
STOP_GRADIENT = primitive(
    "stop_gradient",
    lambda x: (x.dtype, x.shape),
    lambda x: x,
    NO_GRADIENT,
    code="{0}",
    traits=PASSING,
    llvm={"biuf": "=$x"},
)


@public()
def identity(x: Any, name: str | None = None) -> Any:
    """Return ``x`` itself, as a tensor of its own.

    Parameters
    ----------
    x : tensor-like
    name : str, optional
    """
    return apply(IDENTITY, [convert_to_tensor(x)], None, name)


@public()
def stop_gradient(x: Any, name: str | None = None) -> Any:
    """Return ``x``, through which no gradient flows; what has no other way to a result has the gradient ``None``.

    Parameters
    ----------
    x : tensor-like
    name : str, optional
    """
    return apply(STOP_GRADIENT, [convert_to_tensor(x)], None, name)


def _ensure_kernel(x: Any, shape: Any) -> Any:
    if not shape.matches(x.shape):
        raise ValueError(f"a tensor was declared to have shape {shape}, but its value has shape {x.shape}")
    return x


def _ensure_infer(x: Tensor, shape: Any) -> Any:
    try:
        return x.dtype, x.shape.merge_with(shape)
    except ValueError:
        raise ValueError(f"ensure_shape: the tensor has shape {x.shape}, not {shape}") from None


ENSURE_SHAPE = primitive(
    "ensure_shape",
    _ensure_infer,
    _ensure_kernel,
    lambda g, outputs, inputs, attrs: [g],
    traits=VIEWING.but(fails=Fails.MAYBE),
)


@public()
def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Any:
    """Return ``x``, checked to have a shape that fits ``shape``.

    Parameters
    ----------
    x : tensor-like
    shape : shape-like
        May have ``None`` dimensions.
    name : str, optional

    Raises
    ------
    ValueError
        Now if the static shape contradicts, else when the value is there.
    """
    x = convert_to_tensor(x)
    return apply(ENSURE_SHAPE, [x], {"shape": type(x.shape)(shape)}, name)


@public(numpy=np.nan_to_num)
def nan_to_num(
    x: Any, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None, name: str | None = None
) -> Any:
    """Return ``x`` with finite numbers in place of nan and the infinities.

    Parameters
    ----------
    x : tensor-like
    nan : float
    posinf, neginf : float, optional
        By default the largest and the smallest number of the dtype.
    name : str, optional
    """
    x = convert_to_tensor(x)
    if x.dtype.kind == "c":
        parts = [nan_to_num(call(part, x), nan, posinf, neginf) for part in ("real", "imag")]
        return call("complex", *parts)
    if x.dtype.kind != "f":
        return call("identity", x)
    info = np.finfo(x.dtype)
    replaced = where(call("isnan", x), as_constant(x.dtype.type(nan)), x, name)
    for infinity, number in (
        (np.inf, info.max if posinf is None else posinf),
        (-np.inf, info.min if neginf is None else neginf),
    ):
        replaced = where(call("equal", x, infinity), as_constant(x.dtype.type(number)), replaced)
    return replaced


# -- the primitives of functions that a maker made --------------------------------------------------------

ADD = op_of(add)
SUBTRACT = op_of(subtract)
MULTIPLY = op_of(multiply)
DIVIDE = op_of(divide)
SQUARE = op_of(square)
SQRT = op_of(sqrt)
EXP = op_of(exp)
LOG = op_of(log)
LOG1P = op_of(log1p)
MAXIMUM = op_of(maximum)
MINIMUM = op_of(minimum)
NEGATIVE = op_of(negative)
