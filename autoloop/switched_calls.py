"""What runs calls while a block says so: plain Python, an executor other than ``auto``, or one with checkpoints."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from autoloop_runtime.base.asked_checkpoints import asked_checkpoints
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
    if function.keeps_checkpoints:  # it is what was given for another
        return None
    if asked_checkpoints() is not None:
        return _with_checkpoints(function, executor)
    if executor == function.executor:
        return None
    return function.by_executor.get(executor) or function.by_executor.setdefault(executor, function.run_by(executor))


def _with_checkpoints(function: Function, executor: str) -> Function:
    """Return the same function, whose loops are kept; where it cannot be a graph it is refused."""
    name = f"{executor} with checkpoints"
    if name not in function.by_executor:
        made: Function = function.run_by(executor)
        made.keeps_checkpoints = made.needs_graph = True
        function.by_executor.setdefault(name, made)
    return function.by_executor[name]
