"""Special methods that the user calls by name on a value of the run: ``x[0].__int__()`` is ``int(x[0])``."""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable
from typing import Any

from autoloop_runtime.ir.numpy_results import lacking
from autoloop_runtime.ir.tracers import ArrayTracer

from ... import operators
from ..staging.staged_values import stands_for

#: what Python would have of the value at once -> the function that the run answers
_ASKING: dict[str, Any] = {
    "__bool__": bool, "__complex__": complex, "__float__": float, "__index__": operator.index, "__int__": int,
    "__len__": len,
}  # fmt: skip


def special_method(f: types.MethodType) -> Callable[..., Any] | None:
    """Return what to call in place of a method of a value of the run; None if it is no special one, or may run."""
    owner, name = f.__self__, f.__name__
    if name not in _ASKING and name != "__contains__":
        return None
    kind = stands_for(owner)
    if isinstance(owner, ArrayTracer) and not hasattr(kind, name):
        raise lacking(kind, name)
    return (
        functools.partial(operators.STAGED[_ASKING[name]], owner)
        if name in _ASKING
        else lambda item: operators.in_(item, owner)
    )
