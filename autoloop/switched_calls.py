"""What runs calls while ``config`` says so: plain Python, or an executor other than ``auto``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from autoloop_runtime.base.config import get_executor, runs_as_python

if TYPE_CHECKING:
    from .function import Function


def otherwise(function: Function, receiver: tuple[Any, ...] | None) -> Callable[..., Any] | None:
    """Return what takes a call of a function; None if that is the function itself.

    Parameters
    ----------
    function : Function
    receiver : tuple or None
        The instance of a method, for plain Python; None if what takes it has to be a graph.
    """
    if receiver is not None and runs_as_python() and not function.needs_graph:
        return functools.partial(function.python_function, *receiver)
    executor = get_executor() if function.own_executor is None else function.executor
    if executor == function.executor:
        return None
    return function.by_executor.get(executor) or function.by_executor.setdefault(executor, function.run_by(executor))
