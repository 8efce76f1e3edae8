"""Functions and types that a file may name: of numbers alone, from modules without a world; and exceptions."""

from __future__ import annotations

import builtins
import cmath
import math
import operator
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..base.dataclass import dataclass

_METHODS = (types.MethodDescriptorType, types.WrapperDescriptorType)

_OPERATORS = (operator.add, operator.floordiv, operator.mod, operator.mul, operator.sub, operator.truediv)
#: attributes of exceptions that a trace sets, for itself
_MARKS = "__autoloop_"


def _functions() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for module in (math, cmath):
        found |= {f"{module.__name__}.{name}": f for name, f in vars(module).items() if callable(f) and name[0] != "_"}
    for kind in (bool, int, float, complex):
        found[kind.__name__] = kind
        found |= {
            f"{kind.__name__}.{name}": f for name, f in vars(kind).items() if isinstance(f, _METHODS) and name[0] != "_"
        }
    found |= {f.__name__: f for f in (abs, bin, chr, divmod, hex, len, max, min, oct, ord, pow, round, str)}
    found |= {f"operator.{f.__name__}": f for f in _OPERATORS}
    return found


#: name -> function, and the other way round, by identity
FUNCTIONS: Mapping[str, Callable[..., Any]] = _functions()
NAME_OF: Mapping[int, str] = {id(f): name for name, f in FUNCTIONS.items()}
#: NumPy's ufuncs of numbers
UFUNC_NAMES = frozenset(name for name, f in vars(np).items() if isinstance(f, np.ufunc) and f.__name__ == name)

#: the exceptions that a saved function can raise
EXCEPTIONS: Mapping[str, type[Exception]] = {
    **{name: one for name, one in vars(builtins).items() if isinstance(one, type) and issubclass(one, Exception)},
    "LinAlgError": np.linalg.LinAlgError,
}


def exception_name(kind: Any) -> str | None:
    """Return what a file calls a type of exceptions; None if it cannot name it."""
    name = getattr(kind, "__name__", "")
    return name if EXCEPTIONS.get(name) is kind else None


@dataclass(frozen=True, eq=False)
class Argument:
    """The place of a value that the run gives.

    Attributes
    ----------
    position : int
    is_number : bool
        Whether it is to be a number of Python's.
    """

    position: int
    is_number: bool = False

    def of(self, values: Sequence[Any]) -> Any:
        """Return the value."""
        value = values[self.position]
        if self.is_number:
            return np.asarray(value).item()
        return str(value) if getattr(value, "dtype", None) is not None and value.dtype.kind == "U" else value


def filled(value: Any, values: Sequence[Any]) -> Any:
    """Return tuples, lists and dicts with values in the places of arguments."""
    if isinstance(value, Argument):
        return value.of(values)
    if isinstance(value, dict):
        return {key: filled(one, values) for key, one in value.items()}
    return type(value)([filled(one, values) for one in value]) if type(value) in (tuple, list) else value


@dataclass(frozen=True, eq=False)
class MadeException:
    """Makes an exception of the values of a run.

    Attributes
    ----------
    kind : type
    args : tuple
        With ``Argument`` in the places of values.
    """

    kind: type[Exception]
    args: tuple[Any, ...]

    def __call__(self, *values: Any) -> BaseException:
        return self.kind(*filled(self.args, values))


@dataclass(frozen=True, eq=False)
class GivenArguments:
    """Gives the arguments that a function of Python's is called with.

    Attributes
    ----------
    args : tuple
    kwargs : dict
        Both with ``Argument`` in the places of values.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def __call__(self, parts: Sequence[Any]) -> tuple[Any, Any]:
        return filled(self.args, parts), filled(self.kwargs, parts)


class _Asked:
    """What stands for a value, to see what becomes of it."""

    def __init__(self, position: int) -> None:
        self.position = position

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
        made = np.empty((), object)
        made[()] = Argument(self.position, True)
        return made


def _found(value: Any) -> Any:
    if isinstance(value, _Asked):
        return Argument(value.position)
    if isinstance(value, dict):
        return {key: _found(one) for key, one in value.items()}
    return type(value)([_found(one) for one in value]) if type(value) in (tuple, list) else value


def exception_made(factory: Callable[..., Any], count: int) -> MadeException | None:
    """Return the same as a factory of exceptions as what a file can say; None if it cannot."""
    if type(factory) is MadeException:
        return factory
    try:
        error = factory(*map(_Asked, range(count)))
    except Exception:
        return None
    is_plain = error.__cause__ is None and not error.__suppress_context__
    is_plain = is_plain and all(name.startswith(_MARKS) for name in getattr(error, "__dict__", ()))
    if exception_name(type(error)) is None or not is_plain:
        return None
    args = _found(tuple(error.args))
    is_oserror = isinstance(error, OSError) and getattr(error, "filename", None) is not None
    return None if is_oserror else MadeException(type(error), args)


def arguments_given(given: Callable[..., Any], count: int) -> GivenArguments | None:
    """Return what gives arguments as what a file can say; None if it cannot."""
    if type(given) is GivenArguments:
        return given
    try:
        args, kwargs = given([_Asked(k) for k in range(count)])
    except Exception:
        return None
    return GivenArguments(tuple(_found(tuple(args))), _found(dict(kwargs)))
