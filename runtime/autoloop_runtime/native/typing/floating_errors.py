"""Which of the floating-point errors that NumPy tells of machine code of an operation has, too: the same, or more.

That is known of what the processor computes, of functions of the C library, and of what computes nothing. Of most ops
nothing is said: their kernels are several operations of NumPy's, or machine code computes them in another way.
"""

from __future__ import annotations

import numpy as np

from ...base.dtypes import DType
from ...base.enumeration import Enum, auto
from ...collections import tensor_array_ops as lists
from ...ir.graph import CONST, PARAMETER, Node
from ...ir.op import Op
from ...ir.structured import COND, WHILE
from ...ir.tensor import Tensor
from ...ops import arithmetic, exact_numbers, logic, powers, rounding, trigonometry
from ...ops.arithmetic import ABS, ADD, DIVIDE, FLOOR_DIVIDE, MOD, MULTIPLY, NEGATIVE, SQUARE, SUBTRACT
from ...ops.array import EXPAND, FLIP, RESHAPE, SQUEEZE, TRANSPOSE
from ...ops.bounds import MAXIMUM, MINIMUM
from ...ops.broadcasting import BROADCAST_TO
from ...ops.define import op_of
from ...ops.filled import FILL
from ...ops.gathering import GATHER, GATHER_ND, TAKE_ALONG
from ...ops.identities import COPIED, IDENTITY
from ...ops.indexing import GETITEM, SET_ITEM
from ...ops.joining import CONCAT, SPLIT, STACK, UNSTACK
from ...ops.operands import CAST
from ...ops.powers import POW, POW_IN_LOOP, SQRT
from ...ops.python_math import DEFINED
from ...ops.reducing import SUM
from ...ops.reductions import ALL, ANY, ARGMAX, ARGMIN, MAX, MEAN, MIN
from ...ops.running_sums import CUMPROD, CUMSUM
from ...ops.selection import WHERE
from ...ops.shape_queries import RANK, SHAPE, SIZE
from ..toolchain.fp_flags import tells_errors


class Errors(Enum):
    """What is known of the errors of an operation."""

    #: it has none
    NONE = auto()
    #: machine code has them, if it does the operation
    NOTED = auto()
    UNKNOWN = auto()


#: what moves elements, compares them or takes them apart, and what ends the run where it does not fit
_NONE: frozenset[Op] = frozenset([
    CONST, PARAMETER, WHILE, COND, IDENTITY, COPIED, EXPAND, FLIP, RESHAPE, SQUEEZE, TRANSPOSE, BROADCAST_TO, FILL,
    GATHER, GATHER_ND, TAKE_ALONG, GETITEM, CONCAT, SPLIT, STACK, UNSTACK, MAXIMUM, MINIMUM, ALL, ANY, ARGMAX, ARGMIN,
    MAX, MIN, WHERE, RANK, SHAPE, SIZE, DEFINED,
    exact_numbers.DIVISOR, exact_numbers.QUOTIENT_FITS, exact_numbers.EXACT_ADD, exact_numbers.EXACT_SUBTRACT,
    exact_numbers.EXACT_MULTIPLY, exact_numbers.EXACT_SHIFT, exact_numbers.SHIFT_COUNT, exact_numbers.PLACE,
    exact_numbers.EXACT_FLOAT, exact_numbers.FLOAT_POWER, exact_numbers.TRUNCATED,
    logic.EQUAL, logic.NOT_EQUAL, logic.LESS, logic.LESS_EQUAL, logic.GREATER, logic.GREATER_EQUAL, logic.ISNAN,
    logic.ISFINITE, logic.LOGICAL_AND, logic.LOGICAL_OR, logic.BITWISE_AND, logic.RIGHT_SHIFT,
    lists.NEW, lists.WRITE, lists.READ, lists.READ_LISTED, lists.REPLACE, lists.STACK, lists.SIZE,
    *map(op_of, (logic.isinf, logic.logical_not, logic.logical_xor, logic.bitwise_or, logic.bitwise_xor, logic.invert,
                 logic.left_shift, arithmetic.copysign, rounding.floor, rounding.ceil, rounding.trunc, rounding.rint)),
])  # fmt: skip
#: what the processor computes, or a function of the C library that tells it; of sums there is code that looks at them
_NOTED: frozenset[Op] = frozenset([
    ADD, SUBTRACT, MULTIPLY, DIVIDE, SQUARE, SQRT, POW, POW_IN_LOOP, SUM, MEAN, CUMSUM, CUMPROD,
    *map(op_of, (
        arithmetic.reciprocal, powers.exp, powers.expm1, powers.exp2, powers.log, powers.log1p, powers.log2,
        powers.log10, powers.cbrt, powers.hypot, trigonometry.sin, trigonometry.cos, trigonometry.tan,
        trigonometry.arcsin, trigonometry.arccos, trigonometry.arctan, trigonometry.sinh, trigonometry.cosh,
        trigonometry.tanh, trigonometry.arcsinh, trigonometry.arccosh, trigonometry.arctanh, trigonometry.arctan2,
    )),
])  # fmt: skip
#: the floats that processors compute with
_FLOATS = "fd"


def errors_of(node: Node) -> Errors:
    """Return what is known of the errors of ``node``."""
    op, tensors = node.op, (*node.inputs, *node.outputs)
    kinds = {t.dtype.kind for t in tensors}
    if _is_idle(node):
        return Errors.NONE
    if op is CONST:
        return _of_constant(node)
    if op in _NONE:
        return Errors.NONE
    if op is SET_ITEM:
        return Errors.NONE if node.inputs[0].dtype == node.inputs[1].dtype else Errors.UNKNOWN
    if op is CAST:
        return _of_cast(*node.inputs, *node.outputs)
    has_axes = node.outputs[0].shape.rank not in (0, None)
    if op in (NEGATIVE, ABS):
        return Errors.NONE if kinds == {"f"} or has_axes else Errors.UNKNOWN
    if kinds <= set("biu"):
        if op in (SUM, CUMSUM, CUMPROD):
            return Errors.NONE
        if op in (ADD, SUBTRACT, MULTIPLY):  # of scalars NumPy tells where they wrap round
            return Errors.NONE if has_axes else Errors.NOTED
        return Errors.NONE if op in (FLOOR_DIVIDE, MOD) and _divides(node.inputs[1]) else Errors.UNKNOWN
    is_noted = op in _NOTED and all(t.dtype.char in _FLOATS for t in tensors) and _is_told(op, node.outputs[0].dtype)
    return Errors.NOTED if is_noted else Errors.UNKNOWN


def _is_told(op: Op, dtype: DType) -> bool:
    """Return whether a function of the C library that is the machine code of ``op`` has the errors that NumPy's has;
    what the processor computes is one for both."""
    name = op.libm or (op.llvm or {}).get("f", "").partition("~libm:")[2].partition(" ")[0]
    return not name or tells_errors(name, dtype, op.kernel, 1 if op.libm else 2)


def _of_constant(node: Node) -> Errors:
    """Return what is known of a constant: one of few bits that is no number may be what an error has left, of a number
    of Python's that does not fit."""
    value = np.asarray(node.attrs["value"])
    is_known = value.dtype.kind not in "fc" or value.dtype.char == "d" or bool(np.isfinite(value).all())
    return Errors.NONE if is_known and value.dtype.kind != "c" else Errors.UNKNOWN


def _of_cast(x: Tensor, y: Tensor) -> Errors:
    kinds = x.dtype.kind + y.dtype.kind
    if kinds == "ff" and x.dtype.char in _FLOATS and y.dtype.char in _FLOATS:
        return Errors.NOTED if y.dtype.itemsize < x.dtype.itemsize else Errors.NONE
    return Errors.NONE if kinds[0] in "biu" and (kinds[1] in "biu" or y.dtype.char in _FLOATS) else Errors.UNKNOWN


def _is_idle(node: Node) -> bool:
    """Return whether an operation gives one of its operands: the other one does nothing."""
    neutral = node.op.neutral
    if neutral is None:
        return False
    values = [t.constant_value() for t in (node.inputs if neutral.swaps else node.inputs[1:])]
    return any(value is not None and bool(np.all(value == neutral.value)) for value in values)


def _divides(divisor: Tensor) -> bool:
    """Return whether an integer may be a divisor of any other without an error."""
    if divisor.op.op in (exact_numbers.DIVISOR, exact_numbers.QUOTIENT_FITS):
        return True
    value = divisor.constant_value()
    return value is not None and bool(np.all(value != 0) and np.all(value != -1))
