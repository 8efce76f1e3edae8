"""Makers of table entries: how an elementwise op, a reduction or any other primitive is declared.

An entry says four things once: how dtype and shape follow, the NumPy kernel, the code template and the
gradient. The makers add what all ops of a family share (promotion of operands, broadcasting, un-broadcasting of
gradients, docstrings) and register the public function and NumPy's counterpart.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from ..base import dtypes
from ..base.dtypes import DType
from ..base.shapes import TensorShape, broadcast_shapes
from ..ir.apply import apply
from ..ir.convert import as_constant, convert_to_tensor, to_array
from ..ir.numpy_arguments import Counterpart
from ..ir.op import OPS, Op, call, function, register
from ..ir.tensor import NUMPY_FUNCTIONS, NUMPY_UFUNCS, Tensor
from ..ir.traits import ELEMENTS, OPAQUE, Fails, Memory, NoRule, Traits

Function: TypeAlias = Callable[..., Any]
#: dtype of the (promoted) operands -> (dtype to compute in, dtype of the result)
Rule: TypeAlias = Callable[[DType], tuple[DType, DType]]


def publish(name: str, f: Function, doc: str | None = None, numpy: Any = None) -> Function:
    """Register ``f`` as the public function ``name`` and as what NumPy's ``numpy`` means on tensors."""
    f.__name__ = f.__qualname__ = name
    if doc is not None:
        f.__doc__ = doc
    for counterpart in numpy if isinstance(numpy, tuple) else (numpy,):
        if counterpart is not None:
            if isinstance(counterpart, np.ufunc):
                NUMPY_UFUNCS[counterpart] = f
            else:
                NUMPY_FUNCTIONS[counterpart] = Counterpart(counterpart, f)
    return function(name, f)


def public(*, numpy: Any = None, name: str | None = None) -> Callable[[Function], Function]:
    """Return the decorator form of ``publish``, for functions written out."""
    return lambda f: publish(name or f.__name__, f, numpy=numpy)


def primitive(
    name: str, infer: Function, kernel: Function, vjp: Function | NoRule, *, traits: Traits, **options: Any
) -> Op:
    """Add a primitive to the table."""
    return register(Op(name, infer, kernel, vjp, traits=traits, **options))


def op_of(f: Any) -> Op:
    """Return the primitive of a public function that one of the makers made."""
    return OPS[f.__name__]


def document(summary: str, parameters: Sequence[tuple[str, str]]) -> str:
    """Return a NumPy-style docstring; ``summary`` says what is returned."""
    rows = "".join(f"{n} : {t}\n" for n, t in (*parameters, ("name", "str, optional")))
    summary = summary if summary[:2].isupper() else summary[0].lower() + summary[1:]
    return f"Return {summary}\n\nParameters\n----------\n{rows}\nReturns\n-------\nTensor\n"


# -- dtype rules ------------------------------------------------------------------------------------------


def numeric(dtype: DType) -> tuple[DType, DType]:
    """Let numbers of any kind, booleans included, keep their dtype."""
    if dtype.kind not in "biufc":
        raise TypeError(f"dtype {dtype} has no arithmetic")
    return dtype, dtype


def arithmetic(dtype: DType) -> tuple[DType, DType]:
    """Let numbers keep their dtype; booleans have none of this."""
    if dtype.kind not in "iufc":
        raise TypeError(f"dtype {dtype} is not a number; cast it, e.g. cast(x, int32)")
    return dtype, dtype


def real_arithmetic(dtype: DType) -> tuple[DType, DType]:
    """Let real numbers keep their dtype."""
    if dtype.kind not in "iuf":
        raise TypeError(f"dtype {dtype} is not a real number")
    return dtype, dtype


def ordered(dtype: DType) -> tuple[DType, DType]:
    """Let real numbers and booleans keep their dtype."""
    if dtype.kind not in "biuf":
        raise TypeError(f"dtype {dtype} has no order")
    return dtype, dtype


def inexact(dtype: DType) -> tuple[DType, DType]:
    """Let integers leave the integers, see ``dtypes.division``."""
    dtype = dtypes.division(dtype)
    return dtype, dtype


def floating(dtype: DType) -> tuple[DType, DType]:
    """Do as ``inexact`` does, for real numbers only."""
    if dtype.kind == "c":
        raise TypeError(f"dtype {dtype} is complex; this is defined for real numbers only")
    return inexact(dtype)


def predicate(dtype: DType) -> tuple[DType, DType]:
    """Answer a question about numbers: booleans."""
    return numeric(dtype)[0], dtypes.bool_


def comparison(dtype: DType) -> tuple[DType, DType]:
    """Answer a question about ordered values: booleans."""
    return ordered(dtype)[0], dtypes.bool_


def equality(dtype: DType) -> tuple[DType, DType]:
    """Answer a question about values of any dtype: booleans."""
    return dtype, dtypes.bool_


def logical(_: DType) -> tuple[DType, DType]:
    """Take truth values; numbers are true when they are not zero."""
    return dtypes.bool_, dtypes.bool_


def bits(dtype: DType) -> tuple[DType, DType]:
    """Let integers and booleans keep their dtype."""
    if dtype.kind not in "biu":
        raise TypeError(f"dtype {dtype} has no bits to work on; integers and booleans have")
    return dtype, dtype


def integers(dtype: DType) -> tuple[DType, DType]:
    """Let integers keep their dtype."""
    if dtype.kind not in "iu":
        raise TypeError(f"dtype {dtype} is not an integer")
    return dtype, dtype


def _ruled(rule: Rule, dtype: DType, name: str) -> tuple[DType, DType]:
    try:
        return rule(dtype)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None


# -- operands ---------------------------------------------------------------------------------------------


def is_tensor(value: Any) -> bool:
    """Return true for a tensor, and for what stands for one (variables)."""
    return isinstance(value, Tensor) or hasattr(value, "__autoloop_tensor__")


def is_weak(value: Any) -> bool:
    """Return true for numbers that take the dtype of what they meet: Python's and NumPy scalars."""
    return isinstance(value, (bool, int, float, complex, np.number, np.bool_))


def _weak_sample(value: Any) -> Any:
    """Return a number with the kind of ``value`` if it is weak (a number, or nested lists of Python numbers)."""
    if is_weak(value):
        return value.item() if isinstance(value, np.generic) else value
    if isinstance(value, (list, tuple)) and value:
        samples = [_weak_sample(v) for v in value]
        if not any(s is None or isinstance(v, np.generic) for s, v in zip(samples, value)):
            return max(samples, key=lambda s: _KINDS.index(type(s)))
    return None


_KINDS = (bool, int, float, complex)
_NUMBERS = frozenset(_KINDS)


def operands(name: str, *values: Any) -> list[Tensor]:
    """Return the operands of a binary (or n-ary) op as tensors of one dtype.

    Raises
    ------
    TypeError
        If their dtypes have no common one.
    OverflowError
        If a Python int does not fit the dtype of the tensor it meets.
    """
    first, last = values[0], values[-1]
    if isinstance(first, Tensor):
        if all(isinstance(v, Tensor) and v.dtype == first.dtype for v in values):
            return list(values)
        if len(values) == 2 and type(last) in _NUMBERS:
            return list(_with_number(name, first, last))
    elif len(values) == 2 and type(first) in _NUMBERS and isinstance(last, Tensor):
        return list(_with_number(name, last, first))[::-1]
    weak = [None if isinstance(v, Tensor) else _weak_sample(v) for v in values]
    tensors = [convert_to_tensor(v) if w is None else None for v, w in zip(values, weak)]
    dtype = None
    try:
        for tensor in tensors:
            if tensor is not None:
                dtype = tensor.dtype if dtype is None else _promote(dtype, tensor.dtype)
        if dtype is None:
            dtype = dtypes.DEFAULTS[max((type(w) for w in weak), key=_KINDS.index)]
        for sample in weak:
            if sample is not None:
                dtype = dtypes.promote_weak(dtype, sample)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None
    out = []
    for value, tensor in zip(values, tensors):
        if tensor is None:
            plain = value.item() if isinstance(value, np.generic) else value
            out.append(as_constant(to_array(plain, dtype)))
        else:
            out.append(as_dtype(tensor, dtype))
    return out


def _with_number(name: str, tensor: Tensor, number: Any) -> tuple[Tensor, Tensor]:
    """Return a tensor and a Python number as tensors of one dtype."""
    try:
        dtype = dtypes.promote_weak(tensor.dtype, number)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None
    return as_dtype(tensor, dtype), as_constant(to_array(number, dtype))


def _promote(a: DType, b: DType) -> DType:
    return a if a.kind == b.kind == "U" else dtypes.promote(a, b)


def as_dtype(tensor: Tensor, dtype: DType) -> Tensor:
    """Return ``tensor`` cast to ``dtype`` if it has another (strings have one dtype, whatever their length)."""
    if tensor.dtype == dtype or tensor.dtype.kind == dtype.kind == "U":
        return tensor
    cast: Tensor = call("cast", tensor, dtype)
    return cast


# -- gradients --------------------------------------------------------------------------------------------


def unbroadcast(g: Tensor, x: Tensor) -> Tensor:
    """Return the gradient of a value that was broadcast from ``x``: ``g`` summed to the shape of ``x``."""
    have, want = g.shape, x.shape
    if have.is_fully_defined() and have == want:
        return g
    if have.rank is None or want.rank is None:
        return _sum_to(g, x)
    extra = len(have) - len(want)
    axes = list(range(extra))
    for axis, (h, w) in enumerate(zip(have.known[extra:], want.known)):
        if w == 1 and h != 1:
            axes.append(extra + axis)
        elif w is None and h != 1:
            return _sum_to(g, x)
    if not axes:
        return g
    kept: Tensor = call("sum", g, axis=tuple(axes), keepdims=True)
    if extra:
        kept = call("squeeze", kept, axis=tuple(range(extra)))
    return kept


def _sum_to(g: Tensor, x: Tensor) -> Tensor:
    summed: Tensor = apply(SUM_TO, [g, call("shape", x)], {"static": x.shape})
    return summed


def _sum_to_kernel(g: Any, shape: Any, static: TensorShape) -> Any:
    shape = tuple(shape.tolist())
    if g.shape == shape:
        return g
    extra = g.ndim - len(shape)
    axes = (*range(extra), *(extra + i for i, d in enumerate(shape) if d == 1 and g.shape[extra + i] != 1))
    return np.add.reduce(g, axis=axes, keepdims=True).reshape(shape)[()]


def broadcast_like(g: Tensor, x: Tensor) -> Tensor:
    """Return ``g`` broadcast to the shape of ``x``."""
    if x.shape.is_fully_defined() and g.shape == x.shape:
        return g
    spread: Tensor = call("broadcast_to", g, shape_of(x))
    return spread


def shape_of(x: Tensor) -> Any:
    """Return the shape of ``x``: static if fully known, else a tensor."""
    return x.shape if x.shape.is_fully_defined() else call("shape", x)


def reshape_like(g: Tensor, x: Tensor) -> Tensor:
    """Return ``g`` in the shape of ``x``."""
    reshaped: Tensor = call("reshape", g, shape_of(x))
    return reshaped


def dim(x: Tensor, axis: int) -> Any:
    """Return the extent of ``x`` along ``axis``: an int where known, else a scalar tensor."""
    known = x.shape.known[axis] if x.shape.rank is not None else None
    return call("shape", x)[axis] if known is None else known


def conjugated(x: Tensor) -> Tensor:
    """Return the complex conjugate of a complex tensor; a real one is its own."""
    if x.dtype.kind != "c":
        return x
    conj: Tensor = call("conj", x)
    return conj


SUM_TO = primitive(
    "sum_to",
    lambda g, shape, static: (g.dtype, static),
    _sum_to_kernel,
    lambda g, outputs, inputs, attrs: (broadcast_like(g, inputs[0]), None),
    traits=OPAQUE.but(memory=Memory.VIEW, fails=Fails.UNKNOWN_SHAPES),
)


# -- makers -----------------------------------------------------------------------------------------------


_OPERATORS: dict[Any, Any] = {
    operator.add: np.add, operator.sub: np.subtract, operator.mul: np.multiply, operator.truediv: np.divide,
    operator.floordiv: np.floor_divide, operator.mod: np.remainder, operator.neg: np.negative,
    operator.abs: np.absolute, operator.lt: np.less, operator.le: np.less_equal, operator.gt: np.greater,
    operator.ge: np.greater_equal, operator.eq: np.equal, operator.ne: np.not_equal, operator.and_: np.bitwise_and,
    operator.or_: np.bitwise_or, operator.xor: np.bitwise_xor, operator.invert: np.invert,
}  # fmt: skip


def _into(kernel: Function) -> str | None:
    """Return the template of ``Op.into`` for a kernel that is one of NumPy's ufuncs."""
    ufunc = _OPERATORS.get(kernel, kernel)
    if not isinstance(ufunc, np.ufunc):
        return None
    return f"np.{ufunc.__name__}({', '.join(f'{{{i}}}' for i in range(ufunc.nin))}, out={{out}})"


def unary(
    name: str,
    kernel: Function,
    code: str | None,
    grad: Function | NoRule,
    *,
    rule: Rule = arithmetic,
    doc: str,
    numpy: Any = None,
    traits: Traits = ELEMENTS,
    holomorphic: bool = True,
    **options: Any,
) -> Function:
    """Declare an elementwise function of one argument.

    Parameters
    ----------
    name : str
        Of the op and of the public function.
    kernel : callable
        Works on arrays and NumPy scalars of the computing dtype.
    code : str or None
        Template, see ``Op.code``.
    grad : callable or NoRule
        ``grad(g, y, x)`` gives the gradient of ``x``; or why there is none.
    rule : Rule
        Which dtypes it takes and gives.
    doc : str
        One sentence.
    numpy : callable or tuple of callables, optional
        NumPy's counterpart.
    traits : Traits
        Where they are not those of arithmetic.
    holomorphic : bool
        ``grad`` is the complex derivative; it is then given the conjugates of complex values.
    options
        More fields of the ``Op``.
    """

    def infer(x: Tensor) -> Any:
        return rule(x.dtype)[1], x.shape

    def vjp(g: Tensor, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
        assert not isinstance(grad, NoRule)
        y, x = outputs[0], inputs[0]
        return [grad(g, conjugated(y), conjugated(x)) if holomorphic else grad(g, y, x)]

    op = primitive(
        name, infer, kernel, grad if isinstance(grad, NoRule) else vjp, code=code, doc=doc, traits=traits,
        **{"into": _into(kernel), **options},
    )  # fmt: skip

    def f(x: Any, name: str | None = None) -> Any:
        x = convert_to_tensor(x)
        return apply(op, [as_dtype(x, _ruled(rule, x.dtype, op.name)[0])], None, name)

    return publish(name, f, document(doc, [("x", "tensor-like")]), numpy)


def binary(
    name: str,
    kernel: Function,
    code: str | None,
    grad: Function | NoRule,
    *,
    rule: Rule = arithmetic,
    doc: str,
    numpy: Any = None,
    traits: Traits = ELEMENTS,
    **options: Any,
) -> Function:
    """Declare an elementwise function of two arguments that promotes and broadcasts.

    Parameters
    ----------
    grad : callable or NoRule
        ``grad(g, z, x, y)`` gives the gradients (or ``None``) of ``x`` and ``y``, before un-broadcasting.
    options
        More fields of the ``Op``.

    See ``unary`` for the others.
    """

    def infer(x: Tensor, y: Tensor) -> Any:
        return rule(x.dtype)[1], broadcast_static(name, x, y)

    def vjp(g: Tensor, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
        assert not isinstance(grad, NoRule)
        x, y = inputs
        parts = grad(g, conjugated(outputs[0]), conjugated(x), conjugated(y))
        return [None if part is None else unbroadcast(part, v) for part, v in zip(parts, inputs)]

    op = primitive(
        name, infer, kernel, grad if isinstance(grad, NoRule) else vjp, code=code, doc=doc, traits=traits,
        **{"into": _into(kernel), **options},
    )  # fmt: skip

    def f(x: Any, y: Any, name: str | None = None) -> Any:
        x, y = operands(op.name, x, y)
        dtype = _ruled(rule, x.dtype, op.name)[0]
        return apply(op, [as_dtype(x, dtype), as_dtype(y, dtype)], None, name)

    return publish(name, f, document(doc, [("x, y", "tensor-like, broadcast together")]), numpy)


def broadcast_static(name: str, *tensors: Tensor) -> TensorShape:
    """Return the static shape of broadcasting the operands of ``name``; ``ValueError`` names it and the shapes."""
    try:
        return broadcast_shapes(*[t.shape for t in tensors])
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
