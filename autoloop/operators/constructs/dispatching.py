"""Objects of the standard library that look at what they are called with before converted code has a say."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

from autoloop_runtime.ir.tracers import Tracer

from ...conversion.callables import is_singledispatch
from ...conversion.pipeline import convert_callee
from ..staging.staged_values import stands_for
from .attributes import attribute, getter


def dispatching(f: Any) -> Callable[..., Any] | None:
    """Return what asks and calls as converted code does in place of such an object; None if ``f`` is none."""
    if isinstance(f, operator.attrgetter):
        return getter(f)
    if isinstance(f, operator.methodcaller):
        name, args, kwargs = _method_called(f)
        return lambda owner: convert_callee(attribute(owner, name))(*args, **kwargs)
    if is_singledispatch(f):
        return functools.partial(_dispatched, f)
    return None


def _dispatched(f: Any, *args: Any, **kwargs: Any) -> Any:
    """Call the function that ``functools.singledispatch`` has for the type of the first argument."""
    if not args:
        return f(*args, **kwargs)  # raises what Python raises
    kind = stands_for(args[0]) if isinstance(args[0], Tracer) else args[0].__class__
    return convert_callee(f.dispatch(kind))(*args, **kwargs)


def _method_called(f: operator.methodcaller) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """Return the method's name and the arguments, from what pickling is told."""
    made: Any = f.__reduce__()
    if made[0] is operator.methodcaller:
        return made[1][0], made[1][1:], {}
    return made[0].args[0], made[1], made[0].keywords
