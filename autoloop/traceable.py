"""What is traced where somebody asks to see the graph of a callable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .bound_function import BoundFunction
from .derivative_functions import DerivativeFunction
from .function import Function


def traceable(f: Callable[..., Any], args: tuple[Any, ...] = ()) -> tuple[Function | BoundFunction, tuple[Any, ...]]:
    """Return a decorated function of which the trace is what a call of ``f`` runs, and the arguments as it takes them.

    Of what ``grad`` and ``value_and_grad`` give that is the function and its derivative in one.
    """
    if isinstance(f, (Function, BoundFunction)):
        return f, args
    if isinstance(f, DerivativeFunction) and (made := f.traced_as(args)) is not None:
        return made[0], tuple(made[1])
    return Function(f), args


def title_of(f: Callable[..., Any], function: Function | BoundFunction) -> str:
    """Return what people call a function: a derivative by what it was made of."""
    inner = f if isinstance(f, DerivativeFunction) else getattr(f, "python_function", f)
    return inner.title if isinstance(inner, DerivativeFunction) else function.name
