"""Comparison, logic and bits, element by element."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.dtypes import is_integer, uint64
from ..ir.apply import apply
from ..ir.argument_types import ArrayLike
from ..ir.convert import convert_to_tensor, is_number
from ..ir.op import Neutral, Op
from ..ir.tensor import Tensor
from ..ir.traits import NO_GRADIENT
from .define import Example, op_of, public
from .dtype_rules import logical, of_ufunc
from .elementwise import binary, unary
from .operands import cast, promoted, weak_type

if TYPE_CHECKING:
    from .public_functions import Binary

__all__ = [
    "bitwise_and", "bitwise_or", "bitwise_xor", "equal", "greater", "greater_equal", "invert", "isfinite",
    "isinf", "isnan", "left_shift", "less", "less_equal", "logical_and", "logical_not", "logical_or",
    "logical_xor", "not_equal", "right_shift",
]  # fmt: skip


#: how the answers of the two parts of complex numbers become one
_OF_PARTS = {"eq": "and", "ne": "or"}


def _of_parts(asked: str, join: str, others: str) -> str:
    """Return the template that asks both parts of a complex number, and makes one answer of two.

    ``asked`` of its parts and those of ``others``.
    """
    parts = "; ".join(f"extractelement $t {number}, i32 {k}" for number in ("$x", others) for k in (0, 1))
    return f"{parts}; {asked} $r $1, $3; {asked} $r $2, $4; {join} i1 $5, $6"


def _compare(name: str, kernel: Any, sign: str, numpy: Any, llvm: str, *, example: Example) -> Binary:
    """Declare a comparison; ``llvm``: how LLVM calls it for signed, for unsigned numbers and for floats."""
    signed, unsigned, ordered = llvm.split()
    templates = {
        "i": f"icmp {signed} $t $x, $y", "bu": f"icmp {unsigned} $t $x, $y", "f": f"fcmp {ordered} $t $x, $y",
    }  # fmt: skip
    if signed in _OF_PARTS:  # NumPy orders complex scalars other than the elements of arrays
        templates["c"] = _of_parts(f"fcmp {ordered}", _OF_PARTS[signed], "$y")
    doc = f"``x {sign} y``, element by element; a boolean tensor."
    plain = binary(
        name,
        kernel,
        f"{{0}} {sign} {{1}}",
        NO_GRADIENT,
        doc=doc,
        numpy=numpy,
        llvm=templates,
        numbers=True,
        example=example,
    )
    op, rule = op_of(plain), of_ufunc(numpy)

    @public(name=name, numpy=numpy)
    def f(x: ArrayLike, y: ArrayLike, name: str | None = None) -> Tensor:
        if type(x) is type(y) is Tensor and x.dtype is y.dtype:  # what many are, and fast
            return plain(x, y, name)
        try:
            a, b = promoted(op.name, rule, _whole(x, y), _whole(y, x))
        except OverflowError:
            answer = _of_all(op, x, y, name)
            if answer is None:
                raise
            return answer
        return apply(op, [a, b], None, name) if a.dtype.kind == b.dtype.kind else _across_signs(op, a, b, name)

    f.__doc__ = plain.__doc__
    return f


def _whole(number: Any, other: Any) -> Any:
    """Return an operand; a Python int that a graph computes is all there beside integers that may not hold it."""
    if type(number) is Tensor or not isinstance(number, Tensor) or weak_type(number) is not int:
        return number
    dtype = getattr(other, "dtype", None)
    return number.plain if dtype is not None and is_integer(dtype) else number


def _of_all(op: Op, x: Any, y: Any, name: str | None) -> Tensor | None:
    """Return the comparison of integers with a Python int that is out of their bounds: one answer for all of them."""
    numbers = [is_number(v) and isinstance(v, int) for v in (x, y)]
    tensor = convert_to_tensor(x if numbers[1] else y)
    if numbers[0] == numbers[1] or not is_integer(tensor.dtype):
        return None
    answer = op.kernel(0, y) if numbers[1] else op.kernel(x, 0)
    return (equal if answer else not_equal)(tensor, tensor, name)


def _across_signs(op: Op, x: Tensor, y: Tensor, name: str | None) -> Tensor:
    """Return the comparison of int64 with uint64, which no integer dtype holds both of."""
    signed = x if x.dtype.kind == "i" else y
    negative = less(signed, 0)
    among_others = apply(op, [cast(x, uint64), cast(y, uint64)])
    answer = op.kernel(-1, 0) if signed is x else op.kernel(0, -1)
    if answer:
        return logical_or(negative, among_others, name)
    return logical_and(logical_not(negative), among_others, name)


equal = _compare(
    "equal",
    operator.eq,
    "==",
    np.equal,
    "eq eq oeq",
    example=("al.equal([1, 2], [1, 3])", "Tensor([ True False], shape=(2,), dtype=bool)"),
)
not_equal = _compare(
    "not_equal",
    operator.ne,
    "!=",
    np.not_equal,
    "ne ne une",
    example=("al.not_equal([1, 2], [1, 3])", "Tensor([False  True], shape=(2,), dtype=bool)"),
)
less = _compare(
    "less",
    operator.lt,
    "<",
    np.less,
    "slt ult olt",
    example=("al.less([1, 2], 2)", "Tensor([ True False], shape=(2,), dtype=bool)"),
)
less_equal = _compare(
    "less_equal",
    operator.le,
    "<=",
    np.less_equal,
    "sle ule ole",
    example=("al.less_equal([1, 2], 1)", "Tensor([ True False], shape=(2,), dtype=bool)"),
)
greater = _compare(
    "greater",
    operator.gt,
    ">",
    np.greater,
    "sgt ugt ogt",
    example=("al.greater([1, 2], 1)", "Tensor([False  True], shape=(2,), dtype=bool)"),
)
greater_equal = _compare(
    "greater_equal",
    operator.ge,
    ">=",
    np.greater_equal,
    "sge uge oge",
    example=("al.greater_equal([1, 2], 2)", "Tensor([False  True], shape=(2,), dtype=bool)"),
)

# fmt: off
isnan = unary(
    "isnan", np.isnan, "np.isnan({0})", NO_GRADIENT, doc="True where ``x`` is nan.", numpy=np.isnan,
    aliases=("is_nan",),
    llvm={"biu": "=false", "f": "fcmp uno $t $x, $x", "c": _of_parts("fcmp uno", "or", "$x")},
    example=("al.isnan([1.0, np.inf, np.nan])", "Tensor([False False  True], shape=(3,), dtype=bool)"),
)
isinf = unary(
    "isinf", np.isinf, "np.isinf({0})", NO_GRADIENT,
    doc="True where ``x`` is infinite.", numpy=np.isinf, aliases=("is_inf",),
    llvm={"biu": "=false", "f": "~abs $x; fcmp oeq $t $1, $inf"},
    example=("al.isinf([1.0, np.inf, np.nan])", "Tensor([False  True False], shape=(3,), dtype=bool)"),
)
isfinite = unary(
    "isfinite", np.isfinite, "np.isfinite({0})", NO_GRADIENT,
    doc="True where ``x`` is neither infinite nor nan.", numpy=np.isfinite, aliases=("is_finite",),
    llvm={"biu": "=true", "f": "~abs $x; fcmp olt $t $1, $inf"},
    example=("al.isfinite([1.0, np.inf, np.nan])", "Tensor([ True False False], shape=(3,), dtype=bool)"),
)
logical_and = binary(
    "logical_and", operator.and_, "{0} & {1}", NO_GRADIENT, rule=logical,
    doc="True where both are; numbers count as true where they are not zero.", numpy=np.logical_and,
    neutral=Neutral(1, swaps=True), truth="{0} and {1}", idempotent=True,
    llvm={"biu": "and $t $x, $y"},
    example=("al.logical_and([True, False], True)", "Tensor([ True False], shape=(2,), dtype=bool)"),
)
logical_or = binary(
    "logical_or", operator.or_, "{0} | {1}", NO_GRADIENT, rule=logical,
    doc="True where either is.", numpy=np.logical_or,
    neutral=Neutral(0, swaps=True), truth="{0} or {1}", idempotent=True,
    llvm={"biu": "or $t $x, $y"},
    example=("al.logical_or([True, False], False)", "Tensor([ True False], shape=(2,), dtype=bool)"),
)
logical_xor = binary(
    "logical_xor", operator.xor, "{0} ^ {1}", NO_GRADIENT, rule=logical,
    doc="True where exactly one is.", numpy=np.logical_xor,
    neutral=Neutral(0, swaps=True),
    llvm={"biu": "xor $t $x, $y"},
    example=("al.logical_xor([True, False], True)", "Tensor([False  True], shape=(2,), dtype=bool)"),
)
logical_not = unary(
    "logical_not", operator.invert, "~{0}", NO_GRADIENT, rule=logical, doc="True where ``x`` is not.",
    numpy=np.logical_not,
    undoes_itself=True, truth="not {0}",
    llvm={"b": "xor $t $x, true"},
    example=("al.logical_not([True, False])", "Tensor([False  True], shape=(2,), dtype=bool)"),
)
bitwise_and = binary(
    "bitwise_and", operator.and_, "{0} & {1}", NO_GRADIENT, doc="``x & y``; for booleans, logical.",
    numpy=np.bitwise_and,
    truth="{0} and {1}", idempotent=True,
    llvm={"biu": "and $t $x, $y"},
    example=("al.bitwise_and(6, 3)", "Tensor(2, shape=(), dtype=int32)"),
)
bitwise_or = binary(
    "bitwise_or", operator.or_, "{0} | {1}", NO_GRADIENT, doc="``x | y``; for booleans, logical.",
    numpy=np.bitwise_or,
    neutral=Neutral(0, swaps=True), truth="{0} or {1}", idempotent=True,
    llvm={"biu": "or $t $x, $y"},
    example=("al.bitwise_or(6, 3)", "Tensor(7, shape=(), dtype=int32)"),
)
bitwise_xor = binary(
    "bitwise_xor", operator.xor, "{0} ^ {1}", NO_GRADIENT, doc="``x ^ y``; for booleans, logical.",
    numpy=np.bitwise_xor,
    neutral=Neutral(0, swaps=True),
    llvm={"biu": "xor $t $x, $y"},
    example=("al.bitwise_xor(6, 3)", "Tensor(5, shape=(), dtype=int32)"),
)
invert = unary(
    "invert", operator.invert, "~{0}", NO_GRADIENT, doc="``~x``; for booleans, logical.",
    numpy=(np.invert, np.bitwise_not), aliases=("bitwise_invert",),
    truth="not {0}",
    llvm={"b": "xor $t $x, true", "iu": "xor $t $x, -1"},
    example=("al.invert([0, 1])", "Tensor([-1 -2], shape=(2,), dtype=int32)"),
)
left_shift = binary(
    "left_shift", operator.lshift, "{0} << {1}", NO_GRADIENT, doc="``x << y``.", numpy=np.left_shift,
    aliases=("bitwise_left_shift",),
    neutral=Neutral(0, "iu"),
    llvm={"iu": "@shl_iu $x, $y"},
    example=("al.left_shift(1, [1, 4])", "Tensor([ 2 16], shape=(2,), dtype=int32)"),
)
right_shift = binary(
    "right_shift", operator.rshift, "{0} >> {1}", NO_GRADIENT, doc="``x >> y``.", numpy=np.right_shift,
    aliases=("bitwise_right_shift",),
    neutral=Neutral(0, "iu"),
    llvm={"i": "@shr_i $x, $y", "u": "@shr_u $x, $y"},
    example=("al.right_shift(16, [1, 4])", "Tensor([8 1], shape=(2,), dtype=int32)"),
)
# fmt: on

# -- the primitives of functions that a maker made --------------------------------------------------------

EQUAL = op_of(equal)
NOT_EQUAL = op_of(not_equal)
LESS = op_of(less)
LESS_EQUAL = op_of(less_equal)
GREATER = op_of(greater)
GREATER_EQUAL = op_of(greater_equal)
ISNAN = op_of(isnan)
ISFINITE = op_of(isfinite)
LOGICAL_AND = op_of(logical_and)
LOGICAL_OR = op_of(logical_or)
BITWISE_AND = op_of(bitwise_and)
RIGHT_SHIFT = op_of(right_shift)
