"""How NumPy's element-wise functions are called: in a loop of dtypes that the operands are cast to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...base.dtypes import of_numbers
from ...base.parsing import signature_of
from ...ir.numpy_arguments import is_neutral
from ...ir.numpy_protocols import UFUNC_METHODS, ufunc_counterpart_of
from ...ir.tensor import Tensor
from ..operands import as_dtype, weak_type
from .counterparts import as_operand, refused

#: what functions of vectors and matrices take besides
_AXES = ("axes", "axis", "keepdims")


def loop_of(ufunc: Any, inputs: Sequence[Any], casting: Any = "same_kind", dtype: Any = None) -> list[Any]:
    """Return the dtypes that NumPy computes in: of the inputs, then of the outputs; Python numbers are weak.

    Raises
    ------
    TypeError
        If there is no such loop.
    """
    kinds = [as_operand(x).dtype if weak_type(x) in (None, bool) else weak_type(x) for x in inputs]
    asked = {} if dtype is None else {"signature": (*[None] * ufunc.nin, *[of_numbers(dtype)] * ufunc.nout)}
    return list(ufunc.resolve_dtypes((*kinds, *[None] * ufunc.nout), casting=casting, **asked))


def in_loop(ufunc: Any, inputs: Sequence[Any], casting: Any = "same_kind", dtype: Any = None) -> list[Tensor]:
    """Return the operands as tensors of the dtypes that NumPy computes in."""
    return [as_operand(x, one) for x, one in zip(inputs, loop_of(ufunc, inputs, casting, dtype))]


def _called(ufunc: Any, *inputs: Any, casting: Any = "same_kind", dtype: Any = None, **others: Any) -> Any:
    """Return ``ufunc(*inputs)``; what ``others`` ask for is refused."""
    ours = ufunc_counterpart_of(ufunc)
    if ours is None:
        return NotImplemented
    own = {} if ufunc.signature is None else {k: others.pop(k) for k in _AXES if k in others}
    for argument, value in others.items():
        if argument == "keepdims" or not is_neutral(argument, value):  # which NumPy does not take, whatever it is
            refused(ufunc, argument)
    if own:
        return _on_axes(ufunc, ours, inputs, own)
    if dtype is None and casting == "same_kind":
        return ours(*inputs)
    loop = loop_of(ufunc, inputs, casting, dtype)
    if _is_usual(loop, ufunc, inputs):  # an int out of bounds can be compared
        return ours(*inputs)
    made = ours(*[as_operand(x, one) for x, one in zip(inputs, loop)])
    if ufunc.nout == 1:
        return as_dtype(made, loop[-1])
    return tuple([as_dtype(one, to) for one, to in zip(made, loop[ufunc.nin :])])


def _is_usual(loop: Sequence[Any], ufunc: Any, inputs: Sequence[Any]) -> bool:
    """Return whether NumPy computes in these dtypes without being told so."""
    try:
        return list(loop) == loop_of(ufunc, inputs)
    except TypeError:  # of booleans there is no difference, but of what they are cast to
        return False


def _on_axes(ufunc: Any, ours: Any, inputs: Sequence[Any], own: dict[str, Any]) -> Any:
    """Return what a function of vectors and matrices gives of axes that are not the last."""
    parameters = signature_of(ours).parameters
    for argument, value in own.items():
        if argument not in parameters and (argument == "keepdims" or not is_neutral(argument, value)):
            refused(ufunc, argument, "move the axes of the operands instead: numpy.moveaxis(x, axis, -1)")
    return ours(*inputs, **{argument: value for argument, value in own.items() if argument in parameters})


UFUNC_METHODS["__call__"] = _called
