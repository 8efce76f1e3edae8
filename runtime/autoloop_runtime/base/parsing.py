"""Syntax trees, made by one thread at a time and by nothing in between.

Python 3.11 counts how deep the tree is that it is making in one number per interpreter. Where the collector runs while
it makes one, so may a finaliser, and with it another thread; if that makes a tree too, both get a ``SystemError``. So
here the collector waits meanwhile. Later versions collect between two instructions of Python's only.

``inspect.signature`` makes a tree of what a function written in C says of itself.
"""

from __future__ import annotations

import ast
import functools
import inspect
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any, Literal, overload

from .collector import NoCollection
from .forks import Kind, undivided
from .locations import is_own_file

_ONE_NUMBER_FOR_ALL = sys.version_info < (3, 12)

_lock = Kind("parsing", "a fork waits for the end of what it guards, which leaves nothing behind").lock()


def _alone(make: Callable[..., Any], *args: Any) -> Any:
    """Return ``make(*args)`` while the collector waits; it is back before a fork."""
    with _lock, undivided(), NoCollection():
        return make(*args)


@overload
def parse(source: str) -> ast.Module: ...
@overload
def parse(source: str, mode: Literal["eval"]) -> ast.Expression: ...
def parse(source: str, mode: Literal["exec", "eval"] = "exec") -> ast.AST:
    """Return the tree of ``source``; what Python finds odd in it, ``'\\d'``, it has told when it compiled that."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not _ONE_NUMBER_FOR_ALL:
            return ast.parse(source, mode=mode)
        tree: ast.AST = _alone(ast.parse, source, "<unknown>", mode)
        return tree


def signature_of(f: Callable[..., Any]) -> inspect.Signature:
    """Return ``inspect.signature(f)``; ``TypeError`` or ``ValueError`` where there is none."""
    if not (_ONE_NUMBER_FOR_ALL and _is_text(f)):
        return inspect.signature(f)
    signature: inspect.Signature = _alone(inspect.signature, f)
    return signature


def called_as(f: Callable[..., Any]) -> inspect.Signature:
    """Return with what ``f`` can be called, which need not be what it says of itself.

    ``functools.wraps`` lets a function of any arguments say the parameters of another, and ``__signature__`` says what
    its author likes; Python binds a call by neither. Our own functions take what they say.
    """
    if not isinstance(f, types.FunctionType | types.MethodType | functools.partial | type):
        call = next((vars(cls)["__call__"] for cls in type(f).__mro__ if "__call__" in vars(cls)), None)
        is_own = isinstance(call, types.FunctionType) and is_own_file(call.__code__.co_filename)
        f = types.MethodType(call, f) if isinstance(call, types.FunctionType) and not is_own else f
    if isinstance(f, types.FunctionType):
        return signature_of(_unmarked(f))
    if isinstance(f, types.MethodType) and isinstance(f.__func__, types.FunctionType):
        return signature_of(types.MethodType(_unmarked(f.__func__), f.__self__))
    if isinstance(f, functools.partial) and isinstance(f.func, types.FunctionType):
        return signature_of(functools.partial(_unmarked(f.func), *f.args, **f.keywords))
    return signature_of(f)


def _unmarked(f: types.FunctionType) -> types.FunctionType:
    """Return a function of the same parameters that says nothing of itself."""
    if not f.__dict__ or is_own_file(f.__code__.co_filename):
        return f
    made = types.FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    made.__kwdefaults__ = f.__kwdefaults__
    return made


def _is_text(f: Any) -> bool:
    """Return whether that makes a tree; then it calls nothing of the user's."""
    while isinstance(f, functools.partial):
        f = f.func
    of = f.__mro__[:-1] if isinstance(f, type) else () if inspect.isfunction(f) else (f,)
    return any(isinstance(getattr(one, "__text_signature__", None), str) for one in of)
