"""Which functions call functions that they are given, and who is told of what these change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

#: the attribute of such a function: the names of the parameters that take them
CALLS_BACK = "__autoloop_calls_back__"
#: true of those that make a graph of them, wherever they are called
TRACES = "__autoloop_traces__"


def calls_back(*names: str, traces: bool = True) -> Callable[[F], F]:
    """Mark a function that traces, or calls, what it is given as ``names``: converted code hands it converted ones."""

    def mark(f: F) -> F:
        setattr(f, CALLS_BACK, names)
        setattr(f, TRACES, traces)
        return f

    return mark


#: gives a context manager, from a function with what it is called with, and what tensors stand for there, for the time
#: in which it is called with tensors that nobody has given it: the front end's, which knows what functions can get at.
#: Added to at import only
WATCHES: list[Callable[[Sequence[Any], Sequence[tuple[Any, Any]]], AbstractContextManager[None]]] = []

#: gives the name of an array that the function being watched has found, None for any other
FOUND: ContextVar[Callable[[Any], str | None] | None] = ContextVar("autoloop_found", default=None)


def watched(*roots: Any, same: Sequence[tuple[Any, Any]] = ()) -> AbstractContextManager[None]:
    """Return a context manager for calling a function, one of ``roots``, with tensors in place of values.

    Parameters
    ----------
    *roots
        The function, and what it is called with.
    same : sequence of (Tensor, object)
        Tensors that it gets in place of what the caller has given.
    """
    return WATCHES[0](roots, same) if WATCHES else nullcontext()
