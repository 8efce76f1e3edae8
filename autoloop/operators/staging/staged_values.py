"""Telling values that are computed by a graph from plain Python values."""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar
from typing import Any, TypeGuard

from autoloop_runtime import ops
from autoloop_runtime.base import nest
from autoloop_runtime.base.contexts import Setting
from autoloop_runtime.collections.variables import Variable
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.graph import CONST, current_graph
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ops.operands import CAST

from ..constructs.overloads import method_of
from .standins import StandIn, opened

# Tensors (by id) that stand for Python numbers of the loops being traced: their dtypes may still settle.
_PROVISIONAL: ContextVar[frozenset[int]] = ContextVar("autoloop_provisional", default=frozenset())


def provisional(tensors: Iterable[Tensor]) -> Setting[None]:
    """Mark tensors, for the time of a trace, as Python numbers that have no dtype of their own yet."""
    return Setting(None, (_PROVISIONAL, _PROVISIONAL.get() | {id(tensor) for tensor in tensors}))


def is_provisional(value: Any) -> bool:
    """Return whether a tensor stands for a Python number whose dtype may still settle."""
    return id(value) in _PROVISIONAL.get()


def settled_as(tensor: Tensor, dtype: Any) -> Tensor:
    """Return a provisional tensor in the dtype it turned out to have, made where the tensor itself was."""
    assert tensor.node is not None
    with tensor.node.graph.as_default():
        cast: Tensor = ops.cast(tensor, dtype)
    return cast


def meets_tensor(result: Tensor) -> bool:
    """Return whether a tensor of its dtype, other than what stands for Python numbers, went into ``result``."""
    seen, pending = set[int](), [result]
    while pending:
        tensor = pending.pop()
        if id(tensor) in seen or is_provisional(tensor):
            continue
        seen.add(id(tensor))
        node = tensor.node
        if node is None or node.op is CONST:
            if tensor.shape.rank != 0:
                return True
            continue
        same = [one for one in node.inputs if one.dtype == result.dtype]
        if not same and node.op is not CAST:
            return True
        pending += same
    return False


def is_staged(value: Any) -> TypeGuard[Tensor]:
    """Return whether a decision on ``value`` must be left to the graph.

    A concrete tensor counts while a graph is being built: the user who writes ``constant(0)`` in a function
    asks for a loop in the graph.
    """
    if isinstance(value, Tensor):
        return value.node is not None or current_graph() is not None
    return isinstance(value, Variable) and current_graph() is not None


def asked(value: Any) -> Any:
    """Return what a condition decides on; an object of the user's is asked as Python asks it."""
    if isinstance(value, bool | Tensor):
        return value
    if isinstance(value, StandIn):
        return opened(value).decision()
    for name in ("__bool__", "__len__"):
        if (method := method_of(value, name)) is not None:
            return asked(method())
    return value


def truth(value: Any) -> Tensor:
    """Return a staged value's truth as a boolean scalar tensor: a number is true if it is not zero.

    Raises
    ------
    ValueError
        If it has more than one element.
    """
    tensor = convert_to_tensor(value)
    if tensor.shape.rank not in (0, None):
        if tensor.shape.is_fully_defined() and tensor.size == 1:
            tensor = ops.reshape(tensor, ())
        else:
            raise ValueError(
                f"the truth value of a tensor of shape {tensor.shape} is ambiguous; reduce it with "
                f"autoloop.any(...) or autoloop.all(...)"
            )
    if tensor.dtype.kind != "b":
        tensor = ops.not_equal(tensor, 0)
    return tensor


def subject(value: Any, looks_inside: bool) -> Any:
    """Return the subject of a ``match`` that asks for a class of Python's or NumPy's.

    Raises
    ------
    TypeError
        If a tensor would be asked, which stands for an array or a number of the user's and is neither.
    """
    if is_staged(value) or (looks_inside and any(map(is_staged, nest.flatten(value)))):
        raise TypeError(
            "`match` asks a tensor here for the class of a number or an array, which it only stands for: compare "
            "values, `case 3 | 4`, or ask for its dtype by `if`"
        )
    return value
