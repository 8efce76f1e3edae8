"""How ops that work element by element are declared: promotion, broadcasting and its transpose are theirs by family."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.dtypes import DType
from ..ir.apply import apply
from ..ir.argument_types import ArrayLike
from ..ir.array_kinds import GivenElsewhere, catching, computed_elsewhere
from ..ir.numpy_protocols import UFUNC_OPERATORS
from ..ir.op import Op, call, function
from ..ir.tensor import Tensor
from ..ir.tracers import ArrayTracer
from ..ir.traits import ELEMENTS, NoRule, Traits
from .broadcasting import broadcast_static, unbroadcast
from .define import Example, Function, document, op_of, primitive, publish
from .dtype_rules import Rule, of_ufunc
from .operands import promoted

if TYPE_CHECKING:
    from .public_functions import Binary, Unary


def conjugated(x: Tensor) -> Tensor:
    """Return the complex conjugate of a complex tensor; a real one is its own."""
    if x.dtype.kind != "c":
        return x
    conj: Tensor = call("conj", x)
    return conj


_OPERATORS: dict[Any, Any] = {
    operator.add: np.add, operator.sub: np.subtract, operator.mul: np.multiply, operator.truediv: np.divide,
    operator.floordiv: np.floor_divide, operator.mod: np.remainder, operator.neg: np.negative,
    operator.abs: np.absolute, operator.lt: np.less, operator.le: np.less_equal, operator.gt: np.greater,
    operator.ge: np.greater_equal, operator.eq: np.equal, operator.ne: np.not_equal, operator.and_: np.bitwise_and,
    operator.or_: np.bitwise_or, operator.xor: np.bitwise_xor, operator.invert: np.invert,
    operator.lshift: np.left_shift, operator.rshift: np.right_shift,
}  # fmt: skip


def ufunc_of(kernel: Function) -> Any:
    """Return the ufunc of NumPy's that a kernel is, or is Python's sign for; else None."""
    ufunc = _OPERATORS.get(kernel, kernel)
    return ufunc if isinstance(ufunc, np.ufunc) else None


def _into(kernel: Function) -> str | None:
    """Return the template of ``Op.into`` for a kernel that is one of NumPy's ufuncs."""
    ufunc = ufunc_of(kernel)
    if ufunc is None:
        return None
    return f"np.{ufunc.__name__}({', '.join(f'{{{i}}}' for i in range(ufunc.nin))}, out={{out}})"


def _rule(rule: Rule | None, numpy: Any) -> Rule:
    """Return the rule of a row: its own, or that of the ufunc it is the counterpart of."""
    return rule or of_ufunc(numpy[0] if isinstance(numpy, tuple) else numpy)


def _of_one(op: Op, by: Rule) -> Unary:
    #: of strings there is no end
    as_they_are: set[DType] = set()

    @catching
    def f(x: ArrayLike, name: str | None = None) -> Tensor:
        if type(x) is Tensor and x.dtype in as_they_are:
            return apply(op, (x,), None, name)
        try:
            inputs = promoted(op.name, by, x)
        except GivenElsewhere:
            made: Tensor = computed_elsewhere(f, x, name)
            return made
        if inputs[0] is x and x.dtype.kind in "biufc":
            as_they_are.add(x.dtype)
        return apply(op, inputs, None, name)

    return f


def _of_two(op: Op, by: Rule) -> Binary:
    #: of strings there is no end
    as_they_are: set[tuple[DType, DType]] = set()

    @catching
    def f(x: ArrayLike, y: ArrayLike, name: str | None = None) -> Tensor:
        if type(x) is type(y) is Tensor and (x.dtype, y.dtype) in as_they_are:
            return apply(op, (x, y), None, name)
        try:
            inputs = promoted(op.name, by, x, y)
        except GivenElsewhere:
            made: Tensor = computed_elsewhere(f, x, y, name)
            return made
        if inputs[0] is x and inputs[1] is y and x.dtype.kind in "biufc":
            as_they_are.add((x.dtype, y.dtype))
        return apply(op, inputs, None, name)

    return f


def unary(
    name: str,
    kernel: Function,
    code: str | None,
    grad: Function | NoRule,
    *,
    rule: Rule | None = None,
    doc: str,
    numpy: Any = None,
    aliases: Sequence[str] = (),
    example: Example | None = None,
    traits: Traits = ELEMENTS,
    holomorphic: bool = True,
    **options: Any,
) -> Unary:
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
    rule : Rule, optional
        Which dtypes it takes and gives; by default those of ``numpy``, a ufunc.
    doc : str
        One sentence.
    numpy : callable or tuple of callables, optional
        NumPy's counterpart.
    aliases : sequence of str
        What others call it.
    example : tuple of str, optional
        For the docstring: a call, and what ``print`` shows of its result.
    traits : Traits, where not those of arithmetic
    holomorphic : bool
        ``grad`` is the complex derivative; it is then given the conjugates of complex values.
    options
        More fields of the ``Op``.
    """

    by = _rule(rule, numpy)

    def infer(x: Tensor) -> Any:
        return by(x.dtype)[1], x.shape

    def vjp(g: Tensor, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
        assert not isinstance(grad, NoRule)
        y, x = outputs[0], inputs[0]
        return [grad(g, conjugated(y), conjugated(x)) if holomorphic else grad(g, y, x)]

    op = primitive(
        name, infer, kernel, grad if isinstance(grad, NoRule) else vjp, code=code, doc=doc, traits=traits,
        **{"into": _into(kernel), "strict": True, **options},
    )  # fmt: skip
    return publish(name, _of_one(op, by), document(doc, [("x", "tensor-like")], example), numpy, aliases)


def binary(
    name: str,
    kernel: Function,
    code: str | None,
    grad: Function | NoRule,
    *,
    rule: Rule | None = None,
    doc: str,
    numpy: Any = None,
    aliases: Sequence[str] = (),
    example: Example | None = None,
    traits: Traits = ELEMENTS,
    **options: Any,
) -> Binary:
    """Declare an elementwise function of two arguments that promotes and broadcasts.

    Parameters
    ----------
    grad : callable or NoRule
        ``grad(g, z, x, y)`` gives the gradients (or ``None``) of ``x`` and ``y``, before un-broadcasting.
    options
        More fields of the ``Op``.

    See ``unary`` for the others.
    """

    by = _rule(rule, numpy)

    def infer(x: Tensor, y: Tensor) -> Any:
        return by(x.dtype, y.dtype)[2], broadcast_static(name, x, y)

    def vjp(g: Tensor, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
        assert not isinstance(grad, NoRule)
        x, y = inputs
        parts = grad(g, conjugated(outputs[0]), conjugated(x), conjugated(y))
        return [None if part is None else unbroadcast(part, v, outputs[0]) for part, v in zip(parts, inputs)]

    op = primitive(
        name, infer, kernel, grad if isinstance(grad, NoRule) else vjp, code=code, doc=doc, traits=traits,
        **{"into": _into(kernel), "strict": True, **options},
    )  # fmt: skip
    text = document(doc, [("x, y", "tensor-like, broadcast together")], example)
    return publish(name, _of_two(op, by), text, numpy, aliases)


# -- what has no axes: NumPy's scalars have operators of their own ------------------------------------------
#
# They and the loops of ufuncs differ in the last bits where the loop is one of vectors: of products, squares and sizes
# of complex numbers, and of powers. A function of NumPy's always takes its loop. An operator takes that, too, of arrays
# without axes, and of scalars of which none has the dtype of the result.


def may_lack_axes(operands: Sequence[Tensor]) -> bool:
    """Return whether what operands make may be without axes."""
    return all(x.shape.rank in (0, None) for x in operands)


def operator_takes_loop(dtype: DType, *operands: Any) -> bool:
    """Return whether the operator of what has no axes, of which it makes ``dtype``, is the loop of its ufunc."""
    of_scalars = []
    for x in operands:
        if isinstance(x, ArrayTracer):
            if not (x.is_scalar or x.may_be_scalar):
                return True
        elif isinstance(x, np.ndarray):
            return True
        elif not isinstance(x, np.generic):
            continue
        of_scalars.append(x.dtype)
    return bool(of_scalars) and dtype not in of_scalars


def is_complex(x: Any) -> bool:
    """Return whether an operand is complex: an array, or a number of Python's."""
    if not hasattr(x, "dtype"):
        return isinstance(x, complex)
    kind: str | None = getattr(x.dtype, "kind", None)
    return kind == "c" if kind is not None else "complex" in str(x.dtype)  # of another library's


def of_complex(f: Function, loop: Op, ufunc: Any) -> Callable[..., Any]:
    """Return the counterpart of ``ufunc``, and make the operator known that takes its loop where NumPy's does.

    Parameters
    ----------
    f : callable
        The public function of one op, which computes what the operator of scalars does.
    loop : Op
        What computes complex numbers without axes as ``ufunc`` does.
    """
    op, rule = op_of(f), of_ufunc(ufunc)

    @catching
    def counterpart(*operands: Any, name: str | None = None) -> Any:
        try:
            if not any(map(is_complex, operands)):
                return f(*operands, name=name)
            inputs = promoted(op.name, rule, *operands)
        except GivenElsewhere:
            return computed_elsewhere(counterpart, *operands, name=name)
        return apply(loop if may_lack_axes(inputs) else op, inputs, None, name)

    @catching
    def operator(*operands: Any) -> Any:
        try:
            if not any(map(is_complex, operands)):
                return f(*operands)
            inputs = promoted(op.name, rule, *operands)
        except GivenElsewhere:
            return computed_elsewhere(operator, *operands)
        takes_loop = may_lack_axes(inputs) and operator_takes_loop(inputs[0].dtype, *operands)
        return apply(loop if takes_loop else op, inputs)

    function(f"operator_{op.name}", operator)
    UFUNC_OPERATORS[ufunc] = operator
    return counterpart
