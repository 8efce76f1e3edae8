"""What the variables of a loop of the graph are if it makes no turn: arrays of another dtype, or Python numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base.shapes import TensorShape
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.tracers import ArrayTracer

from ...left_to_python import leave_unknown
from .loop_leaves import NAMES, Leaf
from .loop_variables import Variable
from .numbers_or_arrays import noted
from .undefined import spoken


def of_another_dtype(variables: Sequence[Variable]) -> list[tuple[int, Leaf]]:
    """Return the leaves that are arrays of another dtype on entry than later, and where their tensors are."""
    found, place = [], 0
    for variable in variables:
        at = place
        for leaf in variable.leaves:
            _leave_other_axes(leaf)
            if leaf.kind == NAMES[ArrayTracer] and leaf.tensors[0].shape.rank != 0 and variable.flag is None:
                before = noted(leaf.init)
                is_kept = before is not None and before.is_array
                if is_kept or (before is None and _dtype_on_entry(leaf.init) not in (None, leaf.tensors[0].dtype)):
                    found.append((at, leaf))
            at += len(leaf.loop_vars())
        place += len(variable.loop_vars())
    return found


def _leave_other_axes(leaf: Leaf) -> None:
    """Leave to plain Python what is of another dtype, and has no axes, where no iteration runs."""
    grows = leaf.tensors and leaf.tensors[0].shape.rank == 0 and leaf.shape is not None and leaf.shape.rank != 0
    before = leaf.init.dtype if isinstance(leaf.init, np.generic) else _dtype_on_entry(leaf.init)
    if grows and before not in (None, leaf.tensors[0].dtype):
        leave_unknown(
            f"{spoken(leaf.name)!r} has no axes, and is of dtype {before}, before a loop that makes an array of dtype "
            f"{leaf.tensors[0].dtype} of it, if it runs"
        )


def _dtype_on_entry(value: Any) -> Any:
    return value.dtype if isinstance(value, (ArrayTracer, np.ndarray)) else None


def unchanged(leaf: Leaf, none_ran: Any) -> tuple[Any, Any]:
    """Return whether an array is what it is on entry, after the loop, and that."""
    found = noted(leaf.init)
    if found is None or not found.is_array:
        return none_ran, convert_to_tensor(leaf.init)
    return ops.logical_and(none_ran, found.is_number), found.number


def begun_as_numbers(variables: Sequence[Variable]) -> list[tuple[int, Leaf]]:
    """Return the leaves that are Python numbers on entry and arrays with axes later, and where their tensors are."""
    found, place = [], 0
    for variable in variables:
        at = place
        for leaf in variable.leaves:
            shape = leaf.tensors[0].shape if leaf.shape is None and leaf.tensors else leaf.shape
            is_array = leaf.kind == NAMES[ArrayTracer] and TensorShape(shape).rank != 0
            before = noted(leaf.init)
            is_one = leaf.may_stay_number or (before is not None and not before.is_array)
            if is_array and is_one and (variable.flag is None or leaf.may_stay_number):
                found.append((at, leaf))
            at += len(leaf.loop_vars())
        place += len(variable.loop_vars())
    return found


def number_on_entry(leaf: Leaf) -> Any:
    """Return the number that a variable is before the first iteration; None where it may be others in the loop."""
    found = noted(leaf.init)
    return None if leaf.may_stay_number or found is None else found.number


def number_after(leaf: Leaf, none_ran: Any) -> tuple[Any, Any]:
    """Return whether a variable is a number after the loop, and which."""
    found = noted(leaf.init)
    if leaf.may_stay_number or found is None or found.is_number is None:
        return None, None
    return ops.logical_and(none_ran, found.is_number), found.number
