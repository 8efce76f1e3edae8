"""NumPy's floating-point warnings, off and on again around a run.

``np.errstate(all="ignore")`` makes an object and reads its settings anew each time, which takes as long as a dozen
operations on scalars. What it does in the end is to set a context variable; which one and to what is found out once,
by looking at a context inside it. Like all context variables it belongs to one thread (or task).
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, copy_context
from functools import partial
from typing import Any

import numpy as np


def _setting() -> tuple[ContextVar[Any], Any] | None:
    """Return the context variable that ``np.errstate`` sets, and its value without warnings."""
    outside = copy_context()
    with np.errstate(all="ignore"):
        inside = copy_context()
    changed = [v for v in inside if v not in outside or inside[v] is not outside[v]]
    return (changed[0], inside[changed[0]]) if len(changed) == 1 else None


def _enter() -> Any:
    manager = np.errstate(all="ignore")
    manager.__enter__()
    return manager


def _leave(manager: Any) -> None:
    manager.__exit__(None, None, None)


def _functions() -> tuple[Callable[[], Any], Callable[[Any], object]]:
    found = _setting()
    if found is None:  # a NumPy that keeps it elsewhere
        return _enter, _leave
    variable, value = found
    return partial(variable.set, value), variable.reset


#: ``token = silence()``; ``restore(token)``, in the same thread, brings back what was in force
silence, restore = _functions()
