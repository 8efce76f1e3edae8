"""What is called for somebody: which functions call those that they are given, who is told of what these change, and
what a callable of any kind has, looked up behind the user's back: nothing of the user's runs for that."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import Any, TypeVar

from .forks import undivided

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
_MISSING = object()

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


def listener() -> types.ModuleType | None:
    """Return the module ``logs``, which tells ``logging`` what is done; None if no program has loaded that: then nobody
    listens."""
    if "logging" not in sys.modules:
        return None
    with undivided():
        from . import logs

    return logs


def tell_waiting() -> None:
    """Tell ``logging`` what has waited for a lock, which is free now."""
    if (logs := listener()) is not None:
        logs.tell()


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


#: what has no attributes but its own, and those of its class
_PLAIN = {types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, type}


def attribute_of(value: Any, name: str, default: Any = None) -> Any:
    """Return an attribute of a value, or a default if it has none.

    ``getattr`` asks ``__getattr__`` and ``__getattribute__`` of the user's for what is not there. These may change
    something, print, give anything, or raise another error than ``AttributeError``, as that of a dict does that gives
    its items as attributes. So may properties of the user's.
    """
    kind = type(value)
    if kind in _PLAIN:
        return getattr(value, name, default)
    if _is_computed(kind, name):
        return default
    if not _is_answered(kind):
        return getattr(value, name, default)
    plain: Any = type if isinstance(value, type) else object
    try:
        return plain.__getattribute__(value, name)
    except AttributeError:
        return default


def _is_computed(kind: type, name: str) -> bool:
    """Return whether an attribute of objects of a class is what a function of the user's gives, as of a property."""
    for cls in kind.__mro__:
        if name in cls.__dict__:
            given = type(cls.__dict__[name])
            return given is property or isinstance(getattr(given, "__get__", None), types.FunctionType)
    return False


def module_of(value: Any) -> str:
    """Return the name of the module that a class or function says it is of; "" where it says anything else."""
    name = attribute_of(value, "__module__")
    return name if isinstance(name, str) else ""


def origin_of(value: Any) -> str:
    """Return the name of the outermost package that a class or function says it is of."""
    return module_of(value).partition(".")[0]


def file_of(value: Any) -> str:
    """Return the file of the module that a class or function says it is of; "" where there is none, and for the program
    itself: another process, where that is a library that starts it, is sent what says that it is of the program."""
    name = module_of(value)
    file = getattr(sys.modules.get(name), "__dict__", {}).get("__file__") if name != "__main__" else None
    return file if isinstance(file, str) else ""


def owner_of(f: Any) -> Any:
    """Return the object that a method is one of, or the module of a function in C; None for any other callable.

    An object of the user's may hold anything under ``__self__``, or have a property of that name. It is no method for
    that: nobody is to take its calls for those of what it holds there. Nor is such an object one that is bound, which
    has no name to be called by.
    """
    if type(f) is types.MethodType:
        return None if attribute_of(f.__func__, "__name__") is None else f.__self__
    if type(f) is types.BuiltinFunctionType:
        return f.__self__
    for cls in type(f).__mro__:
        if "__self__" in cls.__dict__:
            is_kept = isinstance(cls.__dict__["__self__"], types.GetSetDescriptorType | types.MemberDescriptorType)
            is_in_python = "__slots__" in cls.__dict__ and origin_of(cls) != "autoloop"
            return attribute_of(f, "__self__") if is_kept and not is_in_python else None
    return None


def code_of(value: Any) -> types.CodeType | None:
    """Return the code of a function of Python's, or of a method of such; None if it is another value."""
    code = attribute_of(value, "__code__")
    return code if isinstance(code, types.CodeType) else None


def named_as(made: T, function: Any) -> T:
    """Return what was made of a callable with its name, texts and attributes, as ``functools.update_wrapper`` does."""
    for name in functools.WRAPPER_ASSIGNMENTS:
        if (found := attribute_of(function, name, _MISSING)) is not _MISSING:
            setattr(made, name, found)
    vars(made).update(attribute_of(function, "__dict__", {}))
    made.__wrapped__ = function  # type: ignore[attr-defined]
    return made


def _is_answered(kind: type) -> bool:
    for cls in kind.__mro__:
        if "__getattr__" in cls.__dict__:
            return origin_of(cls) not in ("autoloop", "autoloop_runtime")
    return isinstance(kind.__getattribute__, types.FunctionType)
