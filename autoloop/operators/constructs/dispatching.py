"""Objects of the standard library that look at what they are called with before converted code has a say."""

from __future__ import annotations

import copy
import functools
import operator
import types
from collections.abc import Callable
from typing import Any

from autoloop_runtime.base.callbacks import attribute_of, owner_of
from autoloop_runtime.ir.tracers import Tracer

from ... import operators
from ...conversion.known_effects import MANAGER, METHOD_DISPATCH, SINGLE_DISPATCH, is_made_by, is_replace
from ...conversion.pipeline import convert_callee
from ..mutation.rebinding import inside, refuse_untold_inside, refuse_untold_names
from ..staging.maybe_same import leave_shared
from ..staging.staged_values import stands_for
from ..staging.users_methods import method_of
from .constructions import constructing


def dispatching(f: Any) -> Callable[..., Any] | None:
    """Return what asks and calls as converted code does in place of such an object; None if ``f`` is none."""
    if isinstance(f, operator.attrgetter):
        return operators.getter(f)
    if isinstance(f, operator.methodcaller):
        name, args, kwargs = _method_called(f)
        return lambda owner: operators.call(operators.attribute(owner, name))(*args, **kwargs)
    if is_made_by(f, SINGLE_DISPATCH):
        return functools.partial(_dispatched, f, f.dispatch, lambda one: one)
    if is_made_by(f, METHOD_DISPATCH):
        return functools.partial(_dispatched, f, f.register.__self__.dispatcher.dispatch, _bound_as(f))
    if f is copy.copy or f is copy.deepcopy:
        return functools.partial(_copied, f)
    if is_replace(f):
        return functools.partial(_replaced, f)
    helper, owner = attribute_of(f, "__func__", f), owner_of(f)
    if is_made_by(helper, MANAGER):
        made = _managing(helper)
        return made if owner is None else functools.partial(made, owner)
    return None


def _copied(f: Any, value: Any, *memo: Any) -> Any:
    """Return a copy of an object, which its class may say how to make."""
    method = method_of(value, f"__{f.__name__}__")
    if method is None:
        if f is copy.deepcopy:
            leave_shared(value)
            refuse_untold_inside(value, are_copied=True)
        refuse_untold_names(value, is_copied=True)
        operators.leave_generators(
            (value,) if f is copy.copy else inside((value,)), "a generator of random numbers is copied"
        )
        made = f(value, *memo)
        operators.note_copied((made,) if f is copy.copy else inside((made,)))
        return made
    return method() if f is copy.copy else method(*(memo or ({},)))


def _replaced(f: Any, value: Any, /, **changes: Any) -> Any:
    """Return ``dataclasses.replace``, which calls the class."""
    construct = constructing(type(value), operators.call)
    fields = getattr(value, "__dataclass_fields__", {}).values()
    if construct is None or not all(one.init for one in fields) or not all(hasattr(value, one.name) for one in fields):
        return f(value, **changes)
    return construct(**{**{one.name: getattr(value, one.name) for one in fields if one.init}, **changes})


def _managing(helper: types.FunctionType) -> types.FunctionType:
    """Return what ``contextlib.contextmanager`` would have made of the converted twin of a generator."""
    cells = tuple([types.CellType(convert_callee(cell.cell_contents)) for cell in helper.__closure__ or ()])
    return types.FunctionType(helper.__code__, helper.__globals__, helper.__name__, None, cells)


def _dispatched(f: Any, dispatch: Any, bound: Callable[[Any], Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call the function that ``functools.singledispatch`` has for the type of the first argument."""
    if not args:
        return f(*args, **kwargs)  # raises what Python raises
    kind = stands_for(args[0]) if isinstance(args[0], Tracer) else args[0].__class__
    return operators.call(bound(dispatch(kind)))(*args, **kwargs)


def _bound_as(method: types.FunctionType) -> Callable[[Any], Any]:
    """Return what binds a function as ``functools.singledispatchmethod`` does in this method of it."""
    held = dict(zip(method.__code__.co_freevars, method.__closure__ or (), strict=True))
    return lambda one: one.__get__(held["obj"].cell_contents, held["cls"].cell_contents)


def _method_called(f: operator.methodcaller) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """Return the method's name and the arguments, from what pickling is told."""
    made: Any = f.__reduce__()
    if made[0] is operator.methodcaller:
        return made[1][0], made[1][1:], {}
    return made[0].args[0], made[1], made[0].keywords
