"""``x.name`` and ``getattr(x, 'name')``, of arrays and of objects whose properties the user has written.

And ``o.v = x``, ``o.v += x`` and ``del o.v``, where methods of the user's do that.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.ir.graph import current_graph, theirs_here
from autoloop_runtime.ir.numpy_results import lacking
from autoloop_runtime.ir.text_operators import called_method
from autoloop_runtime.ir.tracers import ArrayTracer, NumberTracer, TextTracer, Tracer, ZeroDimArray

from ... import operators
from ...conversion.callables import is_users_class
from ...conversion.known_names import OF_GENERATORS, OF_NAMESPACES
from ...conversion.pipeline import convert_callee
from ...left_to_python import refuse_unknown
from ..mutation.rebinding import ask_names, ask_namespace, leave_covered
from ..mutation.what_objects_are import leave_what_it_is
from ..staging.container_contents import in_class, is_data_descriptor
from ..staging.maybe_numbers import MaybeNumber
from ..staging.mixed_numbers import MixedNumber, class_of_code
from ..staging.staged_values import stands_for
from ..staging.standins import StandIn, instances_have, known_class
from ..staging.undefined import MaybeUnset
from ..staging.users_methods import method_of
from .overloads import update_in_place


def attribute(owner: Any, name: str) -> Any:
    """Return ``owner.name``; the getter of a property of the user's is converted.

    An array tells its extents as Python's numbers, also those that only the run knows; what it lacks it lacks, whatever
    the tensor that stands for it has.
    """
    if name == "__class__":
        if isinstance(owner, ArrayTracer) and (theirs := theirs_here()) is not None:
            theirs.check_class(owner)
        return stands_for(owner) if isinstance(owner, Tracer) else known_class(owner) or owner.__class__
    if type(owner) is MaybeNumber:
        owner = owner.asked_for(name)
    if isinstance(owner, TextTracer):
        return _of_text(owner, name)
    if isinstance(owner, ArrayTracer) and (theirs := theirs_here()) is not None:
        theirs.check_meaning(owner, name)
        if name == "dtype":
            return theirs.dtype(owner)
    if isinstance(owner, ArrayTracer) and name in ("shape", "size", "nbytes") and owner.shape.rank is not None:
        extents = extents_of(owner)
        each = owner.dtype.itemsize if name == "nbytes" else 1
        if name != "shape":
            return functools.reduce(operator.mul, extents, each)
        return extents if (theirs := theirs_here()) is None else theirs.shape(owner, extents)
    if isinstance(owner, MixedNumber):
        return _of_mixed(owner, name)
    kind = stands_for(owner) if type(owner) in _OF_NUMPY_AND_PYTHON else known_class(owner)
    if kind is not None and not instances_have(kind, name):
        raise lacking(kind, name)
    if type(owner) in _OF_NUMPY_AND_PYTHON:
        return _of_array(owner, name)
    if name in OF_NAMESPACES or name in OF_GENERATORS:
        operators.leave_generators((owner,), f"{name!r} of a generator of random numbers is asked for")
    if name in OF_NAMESPACES:
        (ask_names if name == "__dir__" else ask_namespace)(owner)
    plain: Any = object.__getattribute__
    if current_graph() is None or type(owner).__getattribute__ is not plain:
        return getattr(owner, name)
    found = in_class(type(owner), name)
    if isinstance(found, property) and found.fget is not None:
        return convert_callee(found.fget)(owner)
    if isinstance(found, functools.cached_property):
        if type(vars(owner).get(name)) is MaybeUnset:
            raise TypeError(
                f"whether the cached property {name!r} is there only the run knows, for it is first asked for in a "
                f"loop or branch on tensors: ask for it before [AL016]"
            )
        if name not in vars(owner):
            vars(owner)[name] = convert_callee(found.func)(owner)
    if (method := method_of(found, "__get__")) is not None and _is_asked_first(owner, name, found):
        return method(owner, type(owner))
    return getattr(owner, name)


def _of_array(owner: Any, name: str) -> Any:
    """Return what an array or number has under a name; what stands for it may lack that, which no handler may see."""
    try:
        return getattr(owner, name)
    except AttributeError:
        refuse_unknown(
            f"x.{name} is not there while a graph is built",
            "ask for it outside of the decorated function",
        )


def mixed_has(owner: MixedNumber, name: str) -> bool:
    """Return whether a number of several types has an attribute, if all of these agree on it."""
    found = _types_have(owner, name)
    if len(found) > 1:
        refuse_unknown(f"{name!r} is asked of {owner.described()}", "make it a number of one type, float(x)")
    return found.pop()


def _types_have(owner: MixedNumber, name: str) -> set[bool]:
    return {instances_have(class_of_code(code), name) for code in owner.types}


def _of_mixed(owner: MixedNumber, name: str) -> Any:
    """Return what a number of several types has under a name; where it is of one that lacks it the run raises."""
    if not any(_types_have(owner, name)):
        raise lacking(class_of_code(min(owner.types)), name)
    if name not in vars(StandIn):
        with suppress(AttributeError):
            return getattr(owner, name)  # once: the run may raise there
    refuse_unknown(f"{name!r} is asked of {owner.described()}", "make it a number of one type, float(x)")


def _is_asked_first(owner: Any, name: str, found: Any) -> bool:
    return is_data_descriptor(found) or name not in getattr(owner, "__dict__", ())


def set_attribute(owner: Any, name: str, value: Any) -> None:
    """Do ``owner.name = value``; setters, ``__set__`` and ``__setattr__`` of the user's are converted.

    A class may be anywhere, and what it has be found by an object that perhaps has its own: converted code asks here.
    """
    if isinstance(owner, type):
        leave_covered(owner, name)
    leave_what_it_is(owner, name)
    method = _changing(owner, name, "__setattr__", "__set__", "fset")
    if method is None:
        setattr(owner, name, value)
    else:
        method(value)


def update_attribute(owner: Any, name: str, sign: str, value: Callable[[], Any]) -> None:
    """Do ``owner.name += value()``, or with another ``sign``."""
    set_attribute(owner, name, update_in_place(attribute(owner, name), sign, value()))


def delete_attribute(owner: Any, name: str) -> None:
    """Do ``del owner.name``."""
    if isinstance(owner, type):
        leave_covered(owner, name)
    leave_what_it_is(owner, name)
    method = _changing(owner, name, "__delattr__", "__delete__", "fdel")
    if method is None:
        delattr(owner, name)
    else:
        method()


def _changing(owner: Any, name: str, of_owner: str, of_descriptor: str, of_property: str) -> Callable[..., Any] | None:
    """Return the method of the user's that sets or deletes an attribute, converted; None if there is none."""
    kind = type(owner)
    if current_graph() is None or not is_users_class(kind):
        return None
    if (method := method_of(owner, of_owner)) is not None:
        return functools.partial(method, name)
    if getattr(kind, of_owner) is not getattr(object, of_owner):
        return None
    found = in_class(kind, name)
    if isinstance(found, property):
        function = getattr(found, of_property)
        return None if function is None else functools.partial(convert_callee(function), owner)
    method = method_of(found, of_descriptor)
    return None if method is None else functools.partial(method, owner)


_OF_NUMPY_AND_PYTHON = (ArrayTracer, ZeroDimArray, NumberTracer)


def _of_text(owner: TextTracer, name: str) -> Any:
    if not hasattr(str, name):
        raise lacking(str, name)
    return functools.partial(called_method, name, owner)


def extents_of(array: ArrayTracer) -> tuple[Any, ...]:
    """Return the shape of an array as its user knows it: a tuple of ints."""
    known = array.shape.as_list()
    if None not in known:
        return tuple(known)
    measured = ops.cast(ops.shape(array), np.int64)
    return tuple([NumberTracer(ops.getitem(measured, k)) if n is None else n for k, n in enumerate(known)])


def getter(asking: operator.attrgetter[Any]) -> Callable[[Any], Any]:
    """Return an ``operator.attrgetter`` as what asks as converted code does."""
    names = asking.__reduce__()[1]

    def asked(owner: Any) -> Any:
        found = [functools.reduce(attribute, name.split("."), owner) for name in names]
        return found[0] if len(found) == 1 else tuple(found)

    return asked
