"""The parameters of a function, and its calls in one canonical form.

The canonical form is a tuple with a value for each parameter, in their order: keyword arguments stand in the place
of their parameter and defaults are filled in. A function with star parameters has another: its positional arguments,
and behind them a ``Named`` of the others if there are any.
"""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from autoloop_runtime.base import nest
from autoloop_runtime.base.parsing import called_as
from autoloop_runtime.ir.tensor import Tensor

from .keys import SCALARS, constant_key

if TYPE_CHECKING:
    from .call_form import CallForm

_MISSING = inspect.Parameter.empty
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
#: these are called as they were: what their signatures say of defaults need not be what leaving them out means
_NOT_PYTHON = (np.ufunc, type(np.sum), types.BuiltinFunctionType, types.MethodDescriptorType)
_STARRED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class Named(dict[str, Any]):
    """The named arguments of a call of a function with star parameters, in their order."""


nest.register(
    Named, lambda one: (tuple(one.values()), tuple(one), tuple(one)), lambda names, given: Named(zip(names, given))
)


class Parameters:
    """What a function can be called with; immutable.

    Attributes
    ----------
    names : tuple of str
    starred : bool
        There is a ``*args`` or ``**kwargs``.
    plain : int
        How many positional arguments make a canonical call as they are; -1 if none do.
    """

    __slots__ = ("_as_given", "_defaults", "_places", "_positional", "_signature", "names", "plain", "starred")

    def __init__(self, parameters: Sequence[inspect.Parameter]) -> None:
        self._signature = inspect.Signature(parameters)
        self.names = tuple([p.name for p in parameters])
        self.starred = any(p.kind in _STARRED for p in parameters)
        self._positional = sum(p.kind in _POSITIONAL for p in parameters)
        self.plain = self._positional if self._positional == len(parameters) else -1
        kinds = [p.kind for p in parameters]
        #: how many positional arguments make a canonical call of a function with star parameters as they are
        self._as_given = range(0)
        if self.starred and inspect.Parameter.KEYWORD_ONLY not in kinds:
            many = sys.maxsize if inspect.Parameter.VAR_POSITIONAL in kinds else self._positional + 1
            self._as_given = range(self._positional, many)
        self._defaults = [p.default for p in parameters]
        #: where a keyword argument belongs
        self._places = {
            p.name: i for i, p in enumerate(parameters) if p.kind is not inspect.Parameter.POSITIONAL_ONLY
        }  # fmt: skip

    @classmethod
    def of(cls, f: Callable[..., Any]) -> Parameters:
        """Return those of ``f``; any, for what is not written in Python or is NumPy's."""
        if not isinstance(f, _NOT_PYTHON):
            try:
                return cls(list(called_as(f).parameters.values()))
            except ValueError:
                pass
        return cls([
            inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL),
            inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD),
        ])  # fmt: skip

    @property
    def every(self) -> list[inspect.Parameter]:
        """The parameters."""
        return list(self._signature.parameters.values())

    def without_first(self) -> Parameters:
        """Return those of the bound method; its instance may be one of the ``*args``."""
        every = self.every
        return Parameters(every if every and every[0].kind is every[0].VAR_POSITIONAL else every[1:])

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Return the canonical form of a call (``TypeError`` if it does not fit)."""
        count = len(args)
        if not kwargs and count in self._as_given:
            return args
        if not self.starred and count <= self._positional:
            made = [*args, *self._defaults[count:]]
            places = self._places
            for name, value in kwargs.items():
                place = places.get(name, -1)
                if place < count:
                    break  # unknown, or given twice
                made[place] = value
            else:
                if not any(value is _MISSING for value in made):
                    return tuple(made)
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return self.join(bound.args, bound.kwargs)

    def split(self, call: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments that a call in canonical form stands for."""
        if self.starred:
            return (call[:-1], call[-1]) if call and type(call[-1]) is Named else (call, {})
        count = self._positional
        return call[:count], dict(zip(self.names[count:], call[count:]))

    def join(self, positional: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        """Return the canonical form that ``split`` gave."""
        if self.starred:
            return (*positional, Named(named)) if named else positional
        return (*positional, *named.values())

    def default(self, name: str) -> Any:
        """Return the default of a parameter; ``inspect.Parameter.empty`` if there is none."""
        place = self._places.get(name)
        return _MISSING if place is None else self._defaults[place]

    def from_place(self, count: int, names: Sequence[str]) -> list[tuple[str | None, Any]] | None:
        """Return what stands for each parameter behind ``count`` of them in calls that name some: a name of these, or a
        default; None if no call with such names is right."""
        made = [(name if name in names else None, self.default(name)) for name in self.names[count:]]
        known = sum(name is not None and name in self._places for name, _ in made)
        is_whole = all(name is not None or default is not _MISSING for name, default in made)
        return made if is_whole and known == len(names) else None

    def leaf_names(self, call: tuple[Any, ...]) -> list[str]:
        """Return one readable name per leaf of a call in canonical form."""
        return [name for name, arg in self.named(call) for _ in nest.flatten(arg, expand_composites=True)]

    def named(self, call: tuple[Any, ...]) -> list[tuple[str, Any]]:
        """Return each argument of a call in canonical form with a readable name."""
        return self._starred_names(*self.split(call)) if self.starred else [*zip(self.names, call)]

    def _starred_names(self, positional: tuple[Any, ...], named: dict[str, Any]) -> list[tuple[str, Any]]:
        star = next((p.name for p in self._signature.parameters.values() if p.kind is p.VAR_POSITIONAL), "")
        names = list(self.names[: self._positional])
        names += [f"{star}_{k}" for k in range(len(positional) - len(names))]
        return [*zip(names, positional), *named.items()]


class CalledAs:
    """A trace of which may be known how it was called."""

    __slots__ = ()
    called_as: CallForm | None = None  # of those that somebody has asked for

    @property
    def structured_input_signature(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional and named arguments of the function, with a ``TensorSpec`` for each that is an input."""
        assert self.called_as is not None
        return self.called_as.structured_input_signature


def in_pythons_words(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> TypeError | None:
    """Return what Python says of a call of ``f`` that does not fit its parameters; None where those are not its own."""
    if type(f) is not types.FunctionType or hasattr(f, "__wrapped__") or hasattr(f, "__signature__"):
        return None
    try:
        f(*args, **kwargs)  # nothing of it runs
    except TypeError as error:
        return error.with_traceback(None)
    return None


def has_defaults_of(converted: Any, function: Any) -> bool:
    """Return whether a conversion has the defaults of a function: a trace puts stand-ins in their place, which are gone
    with it."""
    if not isinstance(function, types.FunctionType):
        return True
    return function.__defaults__ is converted.__defaults__ and function.__kwdefaults__ is converted.__kwdefaults__


# -- the structure of a call in its key: two dicts with the same keys have one to ``optree``, to Python an order, too --

#: types of what no dict is in
_LEAVES = frozenset({*SCALARS, np.ndarray, np.float64, np.int64, Tensor})


class Form:
    """The structure of a call in a key: with the keys of its dicts as they are, in their order."""

    __slots__ = ("orders", "structure")

    def __init__(self, structure: Any, orders: tuple[Any, ...]) -> None:
        self.structure, self.orders = structure, orders

    def __hash__(self) -> int:
        return hash((self.structure, self.orders))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Form) and self.structure == other.structure and self.orders == other.orders

    def __repr__(self) -> str:
        return repr(self.structure)


def flattened(call: tuple[Any, ...]) -> tuple[list[Any], Any]:
    """Return the leaves of a call and what stands for its structure in keys."""
    leaves, structure = nest.flatten_with_structure(call, expand_composites=True)
    return leaves, form_of(call, structure)


def form_of(call: Any, structure: Any) -> Any:
    """Return what stands for the structure of a call in keys; itself where it has no dicts."""
    if type(structure) is nest.Flat:
        return structure
    orders: list[Any] = []
    _add_orders(call, orders)
    return Form(structure, tuple(orders)) if orders else structure


def structure_of(form: Any) -> Any:
    """Return the structure that something stands for in keys."""
    return form.structure if type(form) is Form else form


def _add_orders(value: Any, orders: list[Any]) -> None:
    """Add the keys of each dict in a structure, in their order."""
    kind = type(value)
    if kind in _LEAVES:
        return
    if issubclass(kind, dict):
        orders.append(tuple([key if type(key) is str else constant_key(key) for key in dict.__iter__(value)]))
        for one in dict.values(value):
            _add_orders(one, orders)
    elif issubclass(kind, (tuple, list)):
        for one in value:
            if type(one) not in _LEAVES:
                _add_orders(one, orders)
    elif hasattr(kind, "__dataclass_fields__"):
        for one in getattr(value, "__dict__", {}).values():
            if type(one) not in _LEAVES:
                _add_orders(one, orders)
