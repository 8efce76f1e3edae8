"""Results of branches that are Python numbers in one run and arrays with axes in another.

In the function they are arrays: a number beside an array is what an array without axes of its dtype is. The caller
would get an array where plain Python gives the number, so they are refused as results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from autoloop_runtime.base.dataclass import dataclass, field
from autoloop_runtime.ir.number_operators import number_type
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import ArrayTracer


@dataclass(eq=False)
class _Noted:
    """The tensors of a root graph that may be numbers; a trace has one thread."""

    of: set[Tensor] = field(default_factory=set)

    def copy(self) -> _Noted:
        return _Noted(set(self.of))


def note(tensors: Sequence[Tensor]) -> None:
    """Note that these may be numbers."""
    for tensor in tensors:
        if tensor.node is not None:
            tensor.node.graph.root.record(_Noted).of.add(tensor.plain)


def _is_noted(value: Any) -> bool:
    if not isinstance(value, Tensor) or value.node is None:
        return False
    return value.plain in value.node.graph.root.record(_Noted).of


def is_number_beside_array(one: Any, other: Any) -> bool:
    """Return whether what two sides of a branch leave is a number on one and an array with axes on the other."""
    if _is_noted(one) or _is_noted(other):
        return True
    if (number_type(one) is None) == (number_type(other) is None):
        return False
    array = one if number_type(one) is None else other
    return bool(array.ndim) if isinstance(array, np.ndarray) else isinstance(array, ArrayTracer) and \
        array.shape.rank != 0  # fmt: skip


def refuse_result(leaf: Any) -> None:
    """Refuse what a function gives that is a number in one run and an array in another.

    Raises
    ------
    TypeError
        If it is.
    """
    if isinstance(leaf, ArrayTracer) and _is_noted(leaf):
        raise TypeError(
            "what the function gives is a Python number after one branch and an array after the other, which only the "
            "run tells apart: let the number be an array, np.zeros_like(x) or np.asarray(0.0)"
        )
