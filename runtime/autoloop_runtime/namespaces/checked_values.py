"""What the run itself makes sure of, where the value is an array of another library."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.shapes import TensorShape
from ..ir.checks import CHECK_INVARIANT, CHECK_PREDICATE, CHECK_PROMISE
from .foreign_rows import Call, computed


class _Seen:
    """The dtype and the shape of an array, as NumPy has them, for those who look at nothing else."""

    __slots__ = ("dtype", "shape")

    def __init__(self, call: Call, value: Any) -> None:
        self.dtype, shape = call.namespace.spec(value)
        self.shape: Any = TensorShape(shape) if None in shape else shape


@computed(CHECK_PROMISE, CHECK_INVARIANT, when="both")
def _fits(call: Call, value: Any, **attrs: Any) -> Any:
    call.op.kernel(_Seen(call, value), **attrs)
    return value


@computed(CHECK_PREDICATE)
def _decides(call: Call, value: Any, what: str) -> Any:
    seen = _Seen(call, value)
    if seen.dtype.kind == "b" and seen.shape == ():
        return np.bool_(bool(value))
    return call.op.kernel(seen, what)


@computed(CHECK_PREDICATE, when="later")
def _will_decide(call: Call, value: Any, what: str) -> Any:
    seen = _Seen(call, value)
    if seen.dtype.kind != "b" or seen.shape != ():
        call.op.kernel(seen, what)
    return value
