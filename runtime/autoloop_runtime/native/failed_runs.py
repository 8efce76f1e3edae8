"""What a run of machine code that failed raises: as the kernel tells it that fails for the same operands."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..collections import saved_stacks as saved_ops
from ..collections.versioned_array import ArrayValue
from ..ir.failures import annotate
from .call_memory import copied
from .kernels import swap_file
from .native_function import Function
from .toolchain.fp_flags import HAD_ERRORS
from .typing.adjoints import TABLES
from .typing.facts import Shape
from .typing.refusal import refusal
from .writer.context import OUT_OF_MEMORY, Check, Operand
from .writer.refusals_in_runs import may_refuse


def failure_of(
    function: Function, code: int, start: int, done: int, owners: object, give_back: Callable[[], object]
) -> BaseException:  # fmt: skip
    """Return the failure that a return code stands for.

    Parameters
    ----------
    function : Function
        What was run.
    code : int
        What it returned.
    start : int
        The address of its report.
    done : int
        How many iterations its outermost loop had done before.
    owners
        They keep the memory that operands lie in, if it is not that of stacks.
    give_back : callable
        Gives back its stacks; called before the kernel runs.
    """
    if code == OUT_OF_MEMORY:
        return MemoryError("there is no memory for the values that the gradient needs [AL604]")
    if code == HAD_ERRORS:
        give_back()
        return FloatingPointError("the run has had floating-point errors [AL607]")
    check = function.checks[code - 1]
    counts = [ctypes.c_int64.from_address(start + 8 * k).value for k in range(len(check.loops))]
    frames = [(loop, n + (0 if k else done)) for k, (loop, n) in enumerate(zip(check.loops, counts))][::-1]
    if check.node.op in TABLES:
        return refusal(check.node, may_refuse(check))
    look = _copy_of if function.stacks else partial(_seen, owners)
    if check.raised is not None:
        if function.stacks:
            give_back()
        return annotate(check.raised(), check.node, frames)
    operands = [_operand(o, start, look) for o in check.operands]
    if function.stacks:
        give_back()
    if check.node.op is saved_ops.SWAP_PUSH:
        return annotate(swap_file.failure(), check.node, frames)
    inputs = operands[: len(check.node.operands)]
    try:
        with np.errstate(all="ignore"):
            check.node.op.kernel(*inputs, **check.node.attrs)
    except Exception as error:
        return annotate(error, check.node, frames)
    why = may_refuse(check)
    return refusal(check.node, why) if why else annotate(RuntimeError(_disagreement(check)), check.node, frames)


def _disagreement(check: Check) -> str:
    return f"machine code rejected the operands of {check.node.name!r}, its kernel takes them; this is a defect"


def _operand(operand: Operand, start: int, look: Callable[[int | None, Any, Shape, Shape], Any]) -> Any:
    """Return the value of an operand of an operation that failed; ``look`` gives the array at an address."""
    slot = start + 8 * operand.slot
    if operand.kind in ("rows", "grown"):
        return (_array_value if operand.kind == "rows" else _grown_value)(operand, slot)
    assert operand.dtype is not None
    shape = list(map(int, operand.shape))
    for axis, place in operand.extents:
        shape[axis] = ctypes.c_int64.from_address(start + 8 * place).value
    if operand.kind == "shape":
        return np.broadcast_to(np.zeros((), operand.dtype), shape)
    if operand.kind == "scalar":
        value = np.frombuffer(ctypes.string_at(slot, operand.dtype.itemsize), operand.dtype)[0]
        return np.full(shape, value) if shape else value
    steps = list(operand.strides)
    for axis, place in operand.steps:
        steps[axis] = ctypes.c_int64.from_address(start + 8 * place).value
    strides = tuple([step * operand.dtype.itemsize for step in steps])
    return look(ctypes.c_void_p.from_address(slot).value, operand.dtype, tuple(shape), strides)


class _Seen:
    """An array where it is, for NumPy to look at; ``owners`` keep its memory."""

    def __init__(self, owners: object, address: int, dtype: Any, shape: Shape, strides: Shape) -> None:
        self.owners = owners
        self.__array_interface__ = {
            "version": 3, "data": (address, True), "typestr": dtype.str, "shape": shape, "strides": strides,
        }  # fmt: skip


def _seen(owners: object, address: int | None, dtype: Any, shape: Shape, strides: Shape) -> Any:
    return np.asarray(_Seen(owners, address, dtype, shape, strides)) if address else copied(None, dtype, shape)


def _copy_of(address: int | None, dtype: Any, shape: Shape, strides: Shape) -> Any:
    return _seen(None, address, dtype, shape, strides).copy()


def _grown_value(operand: Operand, slot: int) -> Any:
    """Return a TensorArray with the elements that were appended."""
    stack_type = operand.extra
    value = ArrayValue.empty(stack_type.spec, 0)
    stack = ctypes.c_void_p.from_address(slot).value
    length = ctypes.c_int64.from_address(slot + 8).value
    if not stack or not length:
        return value
    dtype, shape = stack_type.element
    items = copied(ctypes.c_void_p.from_address(stack).value, dtype, (length, *shape))
    return value.write_all(range(length), [item[()] for item in items])


def _array_value(operand: Operand, slot: int) -> Any:
    """Return a TensorArray in which the same elements are written."""
    rows = operand.extra
    items = copied(ctypes.c_void_p.from_address(slot).value, rows.dtype, operand.shape)
    written = copied(ctypes.c_void_p.from_address(slot + 8).value, np.dtype(bool), operand.shape[:1])
    places = np.flatnonzero(written).tolist()
    value = ArrayValue.empty(rows.spec, rows.size)
    value = value.write_all(places, [items[i] for i in places])
    if rows.clear:
        used = copied(ctypes.c_void_p.from_address(slot + 16).value, np.dtype(bool), operand.shape[:1])
        for index in np.flatnonzero(used).tolist():
            value.read(index, rows.spec.element_shape)
    return value
