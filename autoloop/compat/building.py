"""How functions of 1.x build: in the implicit default graph where no other is active."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec, TypeVar

from autoloop_runtime.ir.graph import Graph, current_graph
from autoloop_runtime.running.session import get_default_graph

P = ParamSpec("P")
R = TypeVar("R")

PAGE = "docs/names-of-1.x.md"


def building(f: Callable[P, R]) -> Callable[P, R]:
    """Return ``f``, to be called in the implicit default graph where no other is active."""

    @functools.wraps(f)
    def build(*args: P.args, **kwargs: P.kwargs) -> R:
        if current_graph() is not None:
            return f(*args, **kwargs)
        with get_default_graph().as_default():
            return f(*args, **kwargs)

    return build


def default_root() -> Graph:
    """Return the default graph, of which loops and branches are parts: what has collections, a seed and scopes."""
    return get_default_graph().root


def refuse(name: str, **arguments: Any) -> None:
    """Raise if an argument asks for what there is not."""
    for argument, value in arguments.items():
        if value is not None and value is not False:
            raise TypeError(f"{name} does not take the argument {argument!r}; leave it out [AL902]")


def after(*operations: Any) -> AbstractContextManager[None]:
    """Let what is made inside run only after operations."""
    return get_default_graph().control_dependencies(operations)


def one_of(name: str, **given: Any) -> Any:
    """Return an argument that has two names, of which one may be given: the newer name comes first."""
    (new, value), (old, other) = given.items()
    if other is None:
        return value
    if value is not None:
        raise ValueError(f"{name}: cannot specify both {old!r} and {new!r} [AL903]")
    return other


def missing(module: str, name: str, hints: Mapping[str, str]) -> NoReturn:
    """Raise that there is no such name, with what to use instead.

    Raises
    ------
    AttributeError
        Always.
    """
    first = f"module 'autoloop.compat.{module}' has no attribute {name!r}"
    if name.startswith("_"):
        raise AttributeError(first)
    hint = hints.get(name, "of 1.x there is what loops need")
    raise AttributeError(f"{first}: {hint}; see {PAGE} [AL912]")


class Names(types.SimpleNamespace):
    """Functions of 1.x under a name of theirs; who asks for another one is told what there is instead."""

    _called: str = "v1"  # where it is copied, what it has is asked for first
    _hints: Mapping[str, str] = types.MappingProxyType({})

    def __init__(self, _called: str = "v1", _hints: Mapping[str, str] | None = None, /, **names: Any) -> None:
        super().__init__(**names)
        self._called, self._hints = _called, _hints or {}

    if not TYPE_CHECKING:  # who would take every name for one that is there

        def __getattr__(self, name: str) -> Any:
            missing(self._called, name, self._hints)

    def __dir__(self) -> list[str]:
        return [name for name in vars(self) if not name.startswith("_")]
