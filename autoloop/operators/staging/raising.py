"""Errors of a run: what a node that raises raises, and raising unless something holds.

A trace makes an exception of the user's once. What of it only the run knows, its arguments, its attributes and those of
its cause, are values of the node that raises; and each run raises an exception of its own, so that what a caller sets
on one is not found on the next. Only an exception that was there before the trace is the very one that plain Python
raises.
"""

from __future__ import annotations

import contextlib
import types
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base import nest
from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.base.forks import undivided
from autoloop_runtime.ir.graph import Graph, current_graph
from autoloop_runtime.ir.number_operators import number_type
from autoloop_runtime.ir.tensor import Tensor

from ...conversion.cells import value_in
from ...errors import programs_own
from ...left_to_python import leave_unknown, ruled, unless_left
from .container_contents import ObjectsOfTrace, Whole, instance_attributes, is_instance, mapped, set_own
from .standins import StandIn, opened
from .users_methods import says_itself

E = TypeVar("E", bound=Exception)

#: what Python's own exceptions hold in places of their own
_MEMBERS = (types.MemberDescriptorType, types.GetSetDescriptorType)
_NO_MEMBERS = frozenset(("__dict__", "__traceback__", "__context__", "__cause__", "__suppress_context__", "args"))


# How messages call what the sides of a branch give as the function's value: there None is no value like others.
RETURN_VALUE = "return value"
RETURN = "what the two sides of an `if` on a tensor return"
#: the same where one has no `return` at its end
FALLEN = f"{RETURN} (each needs a `return`)"


def is_return_value(name: str) -> bool:
    """Return whether a variable holds what the function will give: nobody writes to an array after that."""
    return name == "return_value" or name.startswith("return_value_")


def refusal(what: str, error: E) -> E:
    """Return why a branch is not built: a `return` that is not there is asked for before plain Python is."""
    return ruled(error) if what == FALLEN else unless_left(error)


class LeftBehind:
    """Kept with a graph: a block that raises has changed something before, which plain Python leaves there."""

    def copy(self) -> LeftBehind:
        """Return the same."""
        return self


def leaves_behind(graph: Graph) -> bool:
    """Return whether a run that raises in a branch leaves out what plain Python would have changed there before."""
    return LeftBehind in graph.records


@dataclass(frozen=True, eq=False)
class Raising:
    """Makes the exception of a ``raise_error`` node; asked where the user's own ``except`` would have caught it.

    Attributes
    ----------
    kind : type
        Of the exception.
    make : callable
        Takes the values of the node's tensors, gives the exception.
    """

    kind: type
    make: Callable[..., BaseException]

    def __call__(self, *values: Any) -> BaseException:
        return self.make(*values)


def flat_kinds(kinds: tuple[Any, ...]) -> list[type]:
    """Return the exception types of an ``except`` clause, which may be tuples of tuples."""
    return [one for kind in kinds for one in (flat_kinds(kind) if isinstance(kind, tuple) else [kind])]


def raised_kind(error: Any) -> type[BaseException]:
    """Return the type of what a ``raise`` statement names, an exception or a type of exceptions."""
    kind: type[BaseException] = error if isinstance(error, type) else type(error)
    return kind


def catches(caught: Callable[[], tuple[Any, ...]] | None, error: Any) -> bool:
    """Return whether ``except`` clauses, of which ``caught`` gives the kinds, catch what is raised."""
    return caught is not None and issubclass(raised_kind(error), tuple(flat_kinds(caught())))


def raise_unless(holds: Tensor, raising: Raising, *values: Any) -> None:
    """Let the graph raise what ``raising`` makes of ``values`` if ``holds`` turns out false."""
    with undivided():
        from autoloop_runtime.control.while_loop import cond

    def refuse() -> tuple[()]:
        ops.raise_error(raising, *values)
        return ()

    cond(holds, lambda: (), refuse)


# -- exceptions that are made anew ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Remade:
    """How a run makes an exception.

    Attributes
    ----------
    make : callable
        Takes the values of the tensors, gives the exception.
    tensors : list of Tensor
    """

    make: Callable[..., BaseException]
    tensors: list[Any]


def remade(error: Any) -> Remade:
    """Return how a run makes an exception that a trace has made, or an object of an exception type."""
    if isinstance(error, type):
        return Remade(error, [])
    if not isinstance(error, BaseException):
        raise programs_own(TypeError("exceptions must derive from BaseException"))
    leaves, structure = nest.flatten_with_structure(_apart(_held(error)))
    for leaf in leaves:
        refuse_untold_text(leaf)
        _refuse_holding(leaf)
    parts = [_parts(leaf) for leaf in leaves]
    tensors = [tensor for mine, _ in parts for tensor in mine]
    if not tensors:
        refuse_untold_text(error)
        if _is_of_world(error):
            return Remade(lambda: error, [])
    kind, is_chained, cause = type(error), error.__suppress_context__, error.__cause__

    def make(*values: Any) -> BaseException:
        remaining = iter(values)
        filled = [rebuilt(*islice(remaining, len(mine))) for mine, rebuilt in parts]
        new = _made(kind, *nest.unflatten(structure, filled))
        if is_chained:
            new.__cause__ = cause
        return new

    return Remade(make, tensors)


def caused(one: Remade, cause: BaseException | None) -> Remade:
    """Return how a run makes an exception that is raised ``from cause``."""
    other = Remade(lambda: None, []) if cause is None else remade(cause)  # type: ignore[arg-type, return-value]
    count = len(one.tensors)

    def make(*values: Any) -> BaseException:
        error = one.make(*values[:count])
        error.__cause__ = other.make(*values[count:])  # sets `__suppress_context__`, too
        return error

    return Remade(make, [*one.tensors, *other.tensors])


def unknown_parts(error: BaseException) -> list[Any]:
    """Return what an exception holds that only the run knows."""
    args, members, attributes = _held(error)
    leaves = nest.flatten((*args, *members.values(), *attributes.values()))
    return [one for leaf in leaves for one in _inside(leaf) if _is_unknown(one)]


def refuse_untold_text(value: Any) -> None:
    """Refuse an object whose text the caller may ask for, if only the run knows that."""
    if says_itself(value):
        str(value), repr(value)  # whoever is asked for a text in there refuses


def _held(error: BaseException) -> tuple[tuple[Any, ...], dict[str, Any], dict[str, Any]]:
    """Return the arguments of an exception, the members that Python's class of it has, and its attributes."""
    base = _pythons_class(type(error))
    members: dict[str, Any] = {}
    for kind in base.__mro__[:-2]:  # not those of ``BaseException`` and ``object``
        for name, one in vars(kind).items():
            if isinstance(one, _MEMBERS) and name not in _NO_MEMBERS:
                with contextlib.suppress(AttributeError, TypeError):
                    members[name] = one.__get__(error)
    return tuple(error.args), members, instance_attributes(error)


def _pythons_class(kind: type[BaseException]) -> type[BaseException]:
    return next(one for one in kind.__mro__ if one.__module__ == "builtins" and issubclass(one, BaseException))


def _made(
    kind: type[BaseException], args: tuple[Any, ...], members: dict[str, Any], attributes: dict[str, Any]
) -> BaseException:
    """Return an exception that holds this; no method of the user's is called, for the trace has called it."""
    base: Any = _pythons_class(kind)
    new: BaseException = base.__new__(kind, *args)
    base.__init__(new, *args)
    for name, value in members.items():
        with contextlib.suppress(AttributeError, TypeError):  # those that cannot be set
            if getattr(new, name) is not value:
                object.__setattr__(new, name, value)
    for name, value in attributes.items():
        if name in _NO_MEMBERS:
            continue
        set_own(new, name, value)
    return new


def _apart(value: Any) -> Any:
    """Return a value with the objects that were there before the trace as leaves."""
    if _is_unknown(value):
        return value
    if _is_of_world(value) and not any(map(_is_unknown, nest.flatten(value))):
        return Whole(value)
    return mapped(value, _apart)


def _is_of_world(value: Any) -> bool:
    graph = current_graph()
    known = None if graph is None else graph.root.record(ObjectsOfTrace).is_of_world
    return known is not None and known(value)


def _refuse_holding(leaf: Any) -> None:
    """Refuse an object, made while the function is traced, that holds what only the run knows."""
    if any(one is not leaf and _is_unknown(one) for one in _inside(leaf)):
        what = f"an exception holds an object of the class {type(leaf).__name__!r}, and that what only the run knows"
        leave_unknown(what)
        raise TypeError(f"{what}: give the exception the value itself [AL026]")


def _inside(leaf: Any) -> Iterator[Any]:
    """Give a part of an exception, and what can be got at from it of what the trace has made."""
    todo, seen = [leaf], set[int]()
    while todo:
        one = todo.pop()
        yield one
        if id(one) in seen or _is_of_world(one):
            continue
        seen.add(id(one))
        if isinstance(one, BaseException):
            todo += nest.flatten(_held(one))
        elif isinstance(one, types.FunctionType):
            todo += nest.flatten([value_in(cell) for cell in one.__closure__ or ()])
            todo += nest.flatten([one.__defaults__, one.__kwdefaults__])
        elif is_instance(one):
            todo += nest.flatten([*instance_attributes(one).values()])


def _is_unknown(value: Any) -> bool:
    return isinstance(value, StandIn) or (isinstance(value, Tensor) and value.node is not None)


def _parts(leaf: Any) -> tuple[list[Any], Callable[..., Any]]:
    """Return the tensors that a part of an exception is made of, and what makes it of their values."""
    if isinstance(leaf, StandIn):
        parts: tuple[list[Any], Callable[..., Any]] = opened(leaf).parts()
        return parts
    if not isinstance(leaf, Tensor):
        known = leaf.value if type(leaf) is Whole else leaf
        return [], lambda: known
    if number_type(leaf) is not None:
        return [leaf], lambda value: np.asarray(value).item()
    return [leaf], lambda value: str(value) if getattr(value, "dtype", None) and value.dtype.kind == "U" else value
