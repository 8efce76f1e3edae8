"""What the run itself makes sure of, where the value is an array of another library."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.checks import CHECK_INVARIANT, CHECK_PREDICATE, CHECK_PROMISE
from .foreign_arrays import Seen
from .foreign_rows import Call, computed


@computed(CHECK_PROMISE, CHECK_INVARIANT, when="both")
def _fits(call: Call, value: Any, **attrs: Any) -> Any:
    call.op.kernel(Seen(call.namespace, value), **attrs)
    return value


@computed(CHECK_PREDICATE)
def _decides(call: Call, value: Any, what: str) -> Any:
    seen = Seen(call.namespace, value)
    if seen.dtype.kind == "b" and seen.shape == ():
        return np.bool_(bool(value))
    return call.op.kernel(seen, what)


@computed(CHECK_PREDICATE, when="later")
def _will_decide(call: Call, value: Any, what: str) -> Any:
    seen = Seen(call.namespace, value)
    if seen.dtype.kind != "b" or seen.shape != ():
        call.op.kernel(seen, what)
    return value
