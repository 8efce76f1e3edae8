"""Types for annotations: what functions take, and what a decorated function is to a checker."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

from autoloop_runtime.ir.argument_types import ArrayLike as ArrayLike
from autoloop_runtime.ir.argument_types import Axes as Axes
from autoloop_runtime.ir.argument_types import Axis as Axis
from autoloop_runtime.ir.argument_types import DimsLike as DimsLike
from autoloop_runtime.ir.argument_types import DTypeLike as DTypeLike
from autoloop_runtime.ir.argument_types import IndexLike as IndexLike

from .concrete import ConcreteFunction

P = ParamSpec("P")
Q = ParamSpec("Q")
R_co = TypeVar("R_co", covariant=True)
S = TypeVar("S")


class Decorated(Protocol[P, R_co]):
    """What ``autoloop.function`` makes of a function: a ``Function`` with the signature of what it decorates."""

    @property
    def python_function(self) -> Callable[P, R_co]:
        """The undecorated function."""

    @property
    def tracing_count(self) -> int:
        """How many times it was traced."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """Return the trace for such arguments."""

    @overload
    def __get__(self, instance: None, owner: Any = None) -> Decorated[P, R_co]: ...
    @overload
    def __get__(self: Decorated[Concatenate[S, Q], R_co], instance: S, owner: Any = None) -> Decorated[Q, R_co]: ...
