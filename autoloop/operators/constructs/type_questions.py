"""``isinstance``, ``type``, ``hasattr`` and ``getattr`` of what stands for values of the user's."""

from __future__ import annotations

import builtins
import types
from collections.abc import Sequence
from typing import Any

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base.locations import is_library_file
from autoloop_runtime.base.stand_ins import UnknownWhileTracing
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.graph import theirs_here
from autoloop_runtime.ir.numpy_results import lacking
from autoloop_runtime.ir.tracers import ArrayTracer, TextTracer, Tracer

from ...left_to_python import refuse_unknown
from ..mutation.rebinding import ask_names, ask_namespace
from ..staging.container_contents import in_class
from ..staging.mixed_numbers import MixedNumber
from ..staging.moved_lists import refuse_moved
from ..staging.optional import MaybeNone
from ..staging.staged_values import answer, is_staged, stands_for
from ..staging.standins import Maybe, StandIn, instances_have, known_class, opened, present
from ..staging.undefined import MaybeUnset
from .attributes import attribute, mixed_has
from .if_statement import if_exp
from .mixed_operators import is_instance

#: classes of what stands for values of the user's, of which there is an object to ask
_MADE = (np.ndarray, np.generic, bool, int, float, complex, str)


def _example(kind: Any) -> Any:
    return np.empty(0) if kind is np.ndarray else kind()


def _is_of_kind(kind: type, classes: Any) -> bool:
    """Return whether objects of a class are instances of another one, or of one of several."""
    if isinstance(classes, tuple):
        return builtins.any(_is_of_kind(kind, one) for one in classes)
    asked = in_class(type(classes), "__instancecheck__")
    if isinstance(classes, type) and classes is not kind and isinstance(asked, types.FunctionType):
        if not is_library_file(asked.__code__.co_filename):
            refuse_unknown(
                f"isinstance(..., {classes.__name__}) of what a run computes asks {type(classes).__name__}."
                "__instancecheck__, which may look at more than its class",
                "ask it of something else",
            )
        if getattr(classes, "_is_protocol", False) and issubclass(kind, _MADE):  # which looks for attributes
            return isinstance(_example(kind), classes)
    return issubclass(kind, classes)


def _isinstance(value: Any, classes: Any) -> Any:
    if (kind := known_class(value)) is not None:
        return _is_of_kind(kind, classes)
    if isinstance(value, MaybeNone):
        there, absent = _isinstance(opened(value).value, classes), isinstance(None, classes)
        is_set = opened(value).is_set
        return there if there == absent else answer(is_set if there else ops.logical_not(is_set))
    if isinstance(value, Maybe):
        return _isinstance(present(value), classes)
    if isinstance(value, Tracer):
        return _is_of_kind(_stands_for(value), classes)
    if isinstance(value, MixedNumber):
        return is_instance(value, classes, _isinstance)
    every: Sequence[Any] = classes if isinstance(classes, tuple) else (classes,)
    kinds = {bool: "b", int: "iub", float: "f", complex: "c"}
    if isinstance(value, classes):
        return True
    dtype = getattr(value, "dtype", None)
    if dtype is None or convert_to_tensor(value).shape.rank != 0:
        return False
    # A Python number that a loop on tensors has made a tensor is still a number to the user.
    return builtins.any(dtype.kind in kinds.get(one, "") for one in every)


def is_instance_of(value: Any, classes: Any) -> Any:
    """Return ``isinstance(value, classes)``."""
    refuse_moved(value)
    if (kind := known_class(value)) is not None:
        return _is_of_kind(kind, classes)
    asks = is_staged(value) or isinstance(value, Maybe | MixedNumber)
    return _isinstance(value, classes) if asks else isinstance(value, classes)


def type_of(*args: Any, **kwargs: Any) -> Any:
    """Return ``type(value)``; with more arguments the class that they make."""
    if len(args) == 1 and isinstance(args[0], MixedNumber):
        raise TypeError(f"type(...) of {args[0].described()}: ask isinstance(...) [AL020]")
    if len(args) != 1 or not isinstance(args[0], StandIn):
        return _stands_for(args[0]) if len(args) == 1 and isinstance(args[0], Tracer) else type(*args, **kwargs)
    return known_class(args[0]) or type(opened(args[0]).leaving())


def _refuse_untold(name: Any) -> None:
    if isinstance(name, TextTracer):
        raise UnknownWhileTracing("which attribute this is only the run knows: choose among the values by `if`")
    if not isinstance(name, str):
        hasattr(0, name)  # says that it has to be one


def _class_of(value: Any) -> type | None:
    """Return the class of what a value of ours stands for, if it is known; None of a value of the user's."""
    return _stands_for(value) if isinstance(value, Tracer) else known_class(value)


def _stands_for(value: Tracer) -> type:
    if isinstance(value, ArrayTracer) and (theirs := theirs_here()) is not None:
        theirs.check_class(value)
    return stands_for(value)


def has_attribute(value: Any, name: str) -> Any:
    """Return ``hasattr(value, name)``."""
    _refuse_untold(name)
    if isinstance(value, MixedNumber):
        return mixed_has(value, name)
    if isinstance(value, ArrayTracer) and (theirs := theirs_here()) is not None:
        return theirs.has(value, name)
    if (kind := _class_of(value)) is not None:
        return instances_have(kind, name)
    try:
        found = getattr(value, name)  # once: what finds it may be the user's
    except AttributeError:
        return False
    return answer(opened(found).is_set) if type(found) is MaybeUnset else True


def is_callable(value: Any) -> bool:
    """Return ``callable(value)``."""
    kind = _class_of(value)
    return callable(value) and not isinstance(value, MixedNumber) and (kind is None or instances_have(kind, "__call__"))


def names_in(*values: Any) -> list[str]:
    """Return ``dir(value)``."""
    (value,) = values or (None,)
    if isinstance(value, MixedNumber):
        refuse_unknown(f"dir() is asked of {value.described()}", "make it a number of one type, float(x)")
    if (kind := _class_of(value)) is not None:
        return dir(kind)
    ask_names(value)
    return dir(value)


def namespace_of(*values: Any) -> Any:
    """Return ``vars(value)``."""
    if len(values) != 1:
        return vars(*values)
    (value,) = values
    kind = _class_of(value)
    if isinstance(value, MixedNumber) or (kind is not None and not instances_have(kind, "__dict__")):
        return vars(0)  # raises what Python raises
    ask_namespace(value)
    return vars(value)


def attribute_or(value: Any, name: str, *default: Any) -> Any:
    """Return ``getattr(value, name)``, or with a default."""
    _refuse_untold(name)
    if default and isinstance(value, MixedNumber) and not mixed_has(value, name):
        return default[0]
    if isinstance(value, ArrayTracer) and (theirs := theirs_here()) is not None:
        return attribute(value, name) if not default or theirs.has(value, name) else default[0]
    if (kind := _class_of(value)) is not None and not instances_have(kind, name):
        if default:
            return default[0]
        raise lacking(kind, name)
    found = _found(value, name, *default)
    if type(found) is not MaybeUnset or not default:
        return found
    record = opened(found)
    return if_exp(answer(record.is_set), lambda: record.value, lambda: default[0])


def _found(value: Any, name: str, *default: Any) -> Any:
    try:
        return attribute(value, name)
    except AttributeError:
        if default:
            return default[0]
        raise
