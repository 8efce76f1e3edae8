"""Types for annotations: what functions take, and what a decorated function is to a checker."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeAlias, TypeVar, overload

from autoloop_runtime.base.doors import listing as _listing
from autoloop_runtime.ir.argument_types import ArrayLike as ArrayLike
from autoloop_runtime.ir.argument_types import Axes as Axes
from autoloop_runtime.ir.argument_types import Axis as Axis
from autoloop_runtime.ir.argument_types import DimsLike as DimsLike
from autoloop_runtime.ir.argument_types import DTypeLike as DTypeLike
from autoloop_runtime.ir.argument_types import IndexLike as IndexLike
from autoloop_runtime.ir.argument_types import StandsForTensor as _StandsForTensor
from autoloop_runtime.ir.tensor import Tensor as _Tensor

from .concrete import ConcreteFunction as ConcreteFunction

if TYPE_CHECKING:
    from autoloop_runtime.collections.variables import Variable as _Variable

    from .lowering_ahead import Lowered as _Lowered

#: a shape, as array functions take it
ShapeLike: TypeAlias = DimsLike
#: a tensor, or what stands for one, as a variable does
TensorLike: TypeAlias = _Tensor | _StandsForTensor

P = ParamSpec("P")
Q = ParamSpec("Q")
R_co = TypeVar("R_co", covariant=True)
S = TypeVar("S")
X = TypeVar("X")

__all__ = [
    "ArrayLike", "Axes", "Axis", "ConcreteFunction", "DTypeLike", "Decorated", "DimsLike", "Gradient",
    "IndexLike", "ShapeLike", "TensorLike", "ValueAndGradient",
]  # fmt: skip
__dir__ = _listing(globals())


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

    def lower(self, *args: Any, **kwargs: Any) -> _Lowered:
        """Return the function as it is traced for such arguments, to be read, weighed and compiled."""

    @overload
    def __get__(self, instance: None, owner: Any = None) -> Decorated[P, R_co]: ...
    @overload
    def __get__(self: Decorated[Concatenate[S, Q], R_co], instance: S, owner: Any = None) -> Decorated[Q, R_co]: ...


class Gradient(Protocol[P]):
    """What ``grad`` makes of a function: the derivative by the first argument, of the kind of that."""

    @overload
    def __call__(self, x: _Variable, /, *args: P.args, **kwargs: P.kwargs) -> _Tensor: ...
    @overload
    def __call__(self, x: X, /, *args: P.args, **kwargs: P.kwargs) -> X: ...


class ValueAndGradient(Protocol[P, R_co]):
    """What ``value_and_grad`` makes of a function: its value, and what ``grad`` gives."""

    @overload
    def __call__(self, x: _Variable, /, *args: P.args, **kwargs: P.kwargs) -> tuple[R_co, _Tensor]: ...
    @overload
    def __call__(self, x: X, /, *args: P.args, **kwargs: P.kwargs) -> tuple[R_co, X]: ...
