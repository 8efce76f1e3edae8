"""Objects of the user's classes that converted code makes: ``C(x)`` runs ``__init__`` as other methods run."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from autoloop_runtime.ir.graph import current_graph

from ...conversion.callables import initializer_of
from ...errors import programs_own

_AFTER = "__post_init__"
#: what a wrapper takes over of a class: asked for its annotations, one without any makes itself an empty dict of them
_NAMES = ("__module__", "__name__", "__qualname__", "__doc__")


def constructing(kind: Any, call: Callable[[Any], Any]) -> Callable[..., Any] | None:
    """Return what to call in place of a class; None if nothing of the user's is to be converted in it.

    Parameters
    ----------
    kind : object
        What is called.
    call : callable
        Gives what converted code calls in place of a method.
    """
    if current_graph() is None or (function := initializer_of(kind)) is None:
        return None

    def made(*args: Any, **kwargs: Any) -> Any:
        new = kind.__new__(kind, *args, **kwargs)
        if not isinstance(new, kind):
            return new
        method = call(types.MethodType(function, new))
        if function.__name__ == _AFTER:
            vars(new)[_AFTER] = functools.partial(_once, new, method)  # which the method that is made from text calls
            kind.__init__(new, *args, **kwargs)
        elif (result := method(*args, **kwargs)) is not None:
            raise programs_own(TypeError(f"__init__() should return None, not '{type(result).__name__}'"))
        return new

    return functools.wraps(kind, _NAMES, ())(made)


def _once(new: Any, method: Callable[..., Any], *args: Any) -> None:
    del vars(new)[_AFTER]
    method(*args)
